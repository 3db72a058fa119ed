"""Fields to values as the reader sees them, and what there is to count."""

from __future__ import annotations

from typing import Any

from gitops.compatibility.protobuf_native.descriptors import Type
from gitops.replay.kernel.protobuf.decoding import Found, decode
from gitops.replay.kernel.protobuf.definition import default_of
from gitops.replay.kernel.protobuf.plan import Fields, Slot
from gitops.replay.kernel.protobuf.scalars import Raw, value_of
from gitops.replay.kernel.walk import Counted, What


def read(plan: Fields, payload: bytes) -> tuple[dict[str, Any], list[Counted]]:
    """The value of a payload, and what there is to count; raises Unreadable."""
    counted = [Counted("", What.READ)]
    return _message(plan, decode(plan, payload), counted), counted


def _message(plan: Fields, found: Found, counted: list[Counted]) -> dict[str, Any]:
    values = {
        slot.field.name: (
            _field(slot, found.values[number], counted)
            if number in found.values and not _is_unwritten(slot, found.values[number])
            else _absent(slot, counted)
        )
        for number, slot in plan.slots.items()
    }
    for _, path, numbers in plan.oneofs:
        chosen = [plan.slots[number].field.name for number in numbers if number in found.values]
        name = chosen[0] if chosen else "null"
        counted += (Counted(path, What.READ), Counted(path, What.BRANCH, name))
        if not chosen:
            counted.append(Counted(path, What.NULLS))
    counted += [Counted(path, What.DROPPED) for path in found.dropped]
    return values


def _is_unwritten(slot: Slot, value: Any) -> bool:  # noqa: ANN401 - raw
    """A zero that its writer knows nothing of is as good as absent."""
    if slot.written is not None or slot.field.presence or slot.field.repeated:
        return False
    return not value_of(slot.field.type, value)


def _absent(slot: Slot, counted: list[Counted]) -> Any:  # noqa: ANN401 - any value
    """A writer leaves out zeros, lists without items, and what is not set."""
    if slot.written is None:
        counted.append(Counted(slot.path, What.DEFAULTED))
    else:
        counted.append(Counted(slot.path, What.READ))
        if slot.retyped and not (slot.field.presence or slot.field.repeated):
            counted.append(Counted(slot.path, What.PROMOTED))
        if slot.field.presence:
            counted.append(Counted(slot.path, What.NULLS))
        elif slot.field.type is Type.ENUM and not slot.field.repeated:
            counted += of_enum(slot, 0)
    if slot.field.repeated:
        return {} if slot.field.entry is not None else []
    default = default_of(slot.field)
    return named(slot, 0) if slot.field.type is Type.ENUM and default == 0 else default


def _field(slot: Slot, value: Any, counted: list[Counted]) -> Any:  # noqa: ANN401 - raw, then any
    if not slot.field.repeated:
        return _single(slot, value, counted)
    counted.append(Counted(slot.path, What.READ))
    if slot.field.entry is None:
        return [_single(slot, one, counted) for one in value]
    return _entries(slot, value, counted)


def _entries(slot: Slot, entries: dict[Any, Found], counted: list[Counted]) -> dict[Any, Any]:
    inner = slot.inner or Fields(path=slot.item)
    values: dict[Any, Any] = {}
    for key, entry in entries.items():
        within: list[Counted] = []
        values[key] = _message(inner, entry, within)["value"]
        counted += [one for one in within if one.path != f"{slot.item}.key"]
    return values


def _single(slot: Slot, value: Any, counted: list[Counted]) -> Any:  # noqa: ANN401 - raw, then any
    counted.append(Counted(slot.item, What.READ))
    if slot.retyped:
        counted.append(Counted(slot.item, What.PROMOTED))
    if isinstance(value, Found):
        return _message(slot.inner or Fields(path=slot.item), value, counted)
    found = value_of(slot.field.type, value)
    if slot.field.type is Type.ENUM:
        counted += of_enum(slot, found)
        return named(slot, found)
    if _is_changed(slot, value, found):
        counted.append(Counted(slot.item, What.CHANGED))
    return found


def named(slot: Slot, number: int) -> str | int:
    """The first name of an enum's number, else the number."""
    names = (slot.names or {}).get(number)
    return names[0] if names else number


def of_enum(slot: Slot, number: int) -> list[Counted]:
    """The symbol; a number that has no name, or another one than the writer's, is changed."""
    if slot.names is None:
        return []
    name = named(slot, number)
    counted = [Counted(slot.item, What.SYMBOL, str(name))] if isinstance(name, str) else []
    written = (slot.written_names or {}).get(number)
    if isinstance(name, int) or (written is not None and name not in written):
        counted.append(Counted(slot.item, What.CHANGED))
    return counted


def _is_changed(slot: Slot, raw: Raw, found: Any) -> bool:  # noqa: ANN401 - a scalar
    if slot.field.type is Type.STRING:
        return "\ufffd" in found and found.encode() != raw
    if slot.written is None or not slot.retyped or isinstance(found, bytes):
        return False
    try:
        return bool(value_of(slot.written.type, raw) != found)
    except (TypeError, AttributeError):
        return False
