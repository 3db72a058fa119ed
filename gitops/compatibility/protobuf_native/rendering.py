"""Fields as people write them in a `.proto` file."""

from __future__ import annotations

from typing import Final

from gitops.compatibility.protobuf_native.descriptors import Label, Type
from gitops.compatibility.protobuf_native.schema import Field, Message, short_name

_LONGEST: Final = 500
"""Messages may nest without end: what is behind so many characters of a path is left out."""

_LABELS: Final = {Label.REPEATED: "repeated ", Label.REQUIRED: "required "}


def render_type(field: Field) -> str:
    """`int32`, `Item`, `group Item`, `map<string, Item>`: the type without its label."""
    entry = field.entry
    if entry is not None:
        return f"map<{_of_entry(entry, 1)}, {_of_entry(entry, 2)}>"
    if field.named is None:
        return field.type.name.lower()
    name = short_name(field.named.full_name)
    return f"group {name}" if field.type is Type.GROUP else name


def render_labelled(field: Field) -> str:
    """`repeated int32`: the type with its label; `optional` is not said."""
    label = "" if field.entry else _LABELS.get(field.label, "")
    return f"{label}{render_type(field)}"


def render_field(field: Field) -> str:
    """`repeated int32 = 7`, with the default if there is one."""
    default = "" if field.default is None else f" [default = {field.default}]"
    return f"{render_labelled(field)} = {field.number}{default}"


def join(path: str, name: str) -> str:
    """The path of a field below that of its message."""
    above = path if len(path) < _LONGEST else f"{path[:_LONGEST]}…"
    return f"{above}.{name}" if above else name


def _of_entry(entry: Message, number: int) -> str:
    """Keys have the number 1 and values 2; a hand-made entry may lack one of them."""
    found = next((field for field in entry.fields if field.number == number), None)
    return "?" if found is None or found.entry is not None else render_type(found)
