"""The differences between two Avro schemas, as changes of named places."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping

from gitops.model.plan import ChangeKind, SchemaChange
from gitops.schemas.avro.aliases import Aliases, aliases_for
from gitops.schemas.avro.equality import json_key
from gitops.schemas.avro.field_matching import match_changed
from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.resolution import PROMOTIONS
from gitops.schemas.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Missing,
    Primitive,
    Record,
    Schema,
    Union,
    branch_name,
    describe,
    short_name,
)

# Avro types and defaults as short text.


def render_type(schema: Schema) -> str:
    """`long`, `[null, string]`, `array<Item>`, `bytes (decimal 10,2)` and so on."""
    return _plain(schema) + _logical(schema.props)


def render_field(field: Field) -> str:
    """The type, and the default if there is one."""
    return render_type(field.type) + render_default(field.default)


def render_default(default: Json | Missing) -> str:
    """` = null`, or nothing where there is none."""
    return "" if isinstance(default, Missing) else f" = {render_json(default)}"


def render_json(value: Json) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _plain(schema: Schema) -> str:
    match schema:
        case Record() | Enum() | Fixed():
            return short_name(schema.name)
        case Array():
            return f"array<{render_type(schema.items)}>"
        case Map():
            return f"map<{render_type(schema.values)}>"
        case Union():
            return "[" + ", ".join(render_type(branch) for branch in schema.branches) + "]"
        case _:
            return schema.kind


def _logical(props: Mapping[str, Json]) -> str:
    logical = props.get("logicalType")
    if not isinstance(logical, str):
        return ""
    numbers = [str(props[key]) for key in ("precision", "scale") if key in props]
    return f" ({' '.join([logical, ','.join(numbers)]).strip()})"


IGNORED = "Pulsar ignores this"


def differences(before: Schema, after: Schema) -> tuple[SchemaChange, ...]:
    """Every difference, in the order of the new schema.

    Of records that hang together in a chain of thousands it is only said that they differ.
    """
    try:
        return tuple(_Diff(aliases_for(before, after)).schemas(before, after, ""))
    except RecursionError:
        return (_change(describe(after), "", "", "nested too deep to be compared"),)


class _Diff:
    """One comparison; a pair of records is compared once, so recursion ends."""

    def __init__(self, aliases: Aliases) -> None:
        self.aliases = aliases
        self.seen: set[tuple[int, int]] = set()

    def schemas(self, before: Schema, after: Schema, path: str) -> Iterator[SchemaChange]:
        match before, after:
            case Record(), Record():
                yield from self._records(before, after, path)
            case Enum(), Enum():
                yield from _names(before, after, path)
                yield from _symbols(before, after, path)
            case Fixed(), Fixed():
                yield from _names(before, after, path)
                yield from _value(path, "size", before.size, after.size)
            case Array(), Array():
                yield from self.schemas(before.items, after.items, f"{path}[]")
            case Map(), Map():
                yield from self.schemas(before.values, after.values, f"{path}{{}}")
            case Union(), Union():
                yield from self._unions(before, after, path)
            case _ if before.kind != after.kind:
                yield _change(path, *_kinds(before, after), _promotion(before, after))
                return
            case _:
                pass
        yield from _props(before.props, after.props, path)

    def _records(self, before: Record, after: Record, path: str) -> Iterator[SchemaChange]:
        if (id(before), id(after)) in self.seen:
            return
        self.seen.add((id(before), id(after)))
        yield from _names(before, after, path)
        matched = match_changed(before, after, self.aliases.fields_of(before))
        for new in after.all_fields:
            old = matched.get(new.name)
            place = _join(path, new.name)
            if old is None:
                yield SchemaChange(kind=ChangeKind.ADDED, path=place, after=render_field(new))
            else:
                yield from self._fields(old, new, place)
        kept = {old.name for old in matched.values()}
        for old in before.all_fields:
            if old.name not in kept:
                place = _join(path, old.name)
                yield SchemaChange(kind=ChangeKind.REMOVED, path=place, before=render_field(old))
        yield from _field_order(before, after, path)

    def _fields(self, old: Field, new: Field, path: str) -> Iterator[SchemaChange]:
        if old.name != new.name:
            yield _change(path, f"name {old.name}", f"name {new.name}", "renamed by its alias")
        yield from self.schemas(old.type, new.type, path)
        if _default_key(old) != _default_key(new):
            yield _change(path, f"default{_or_none(old)}", f"default{_or_none(new)}", "")
        yield from _value(path, "order", old.order, new.order)
        yield from _props(old.props or {}, new.props or {}, path)
        if old.name == new.name:
            yield from _ignored(path, "aliases", old.aliases, new.aliases)
        yield from _ignored(path, "doc", old.doc, new.doc)

    def _unions(self, before: Union, after: Union, path: str) -> Iterator[SchemaChange]:
        old = {branch_name(branch): branch for branch in before.branches}
        new = {branch_name(branch): branch for branch in after.branches}
        if list(old) != list(new):
            yield _change(path, render_type(before), render_type(after), _union_note(old, new))
        for name, branch in new.items():
            if name in old:
                yield from self.schemas(old[name], branch, path)


def _union_note(old: Mapping[str, Schema], new: Mapping[str, Schema]) -> str:
    added = [name for name in new if name not in old]
    removed = [name for name in old if name not in new]
    if not added and not removed:
        return "other order"
    words = [f"+ {', '.join(added)}"] if added else []
    return " ".join(words + ([f"- {', '.join(removed)}"] if removed else []))


def _names(
    before: Record | Enum | Fixed, after: Record | Enum | Fixed, path: str
) -> Iterator[SchemaChange]:
    place = path or after.name
    yield from _value(place, "name", before.name, after.name)
    yield from _ignored(place, "aliases", before.aliases, after.aliases)
    yield from _ignored(place, "doc", before.doc, after.doc)


def _symbols(before: Enum, after: Enum, path: str) -> Iterator[SchemaChange]:
    place = path or after.name
    known, kept = set(before.symbols), set(after.symbols)
    for symbol in after.symbols:
        if symbol not in known:
            yield SchemaChange(kind=ChangeKind.ADDED, path=place, after=f"symbol {symbol}")
    for symbol in before.symbols:
        if symbol not in kept:
            yield SchemaChange(kind=ChangeKind.REMOVED, path=place, before=f"symbol {symbol}")
    if before.symbols != after.symbols and known == kept:
        yield _change(place, ", ".join(before.symbols), ", ".join(after.symbols), "other order")
    yield from _ignored(place, "enum default", before.default, after.default)


def _field_order(before: Record, after: Record, path: str) -> Iterator[SchemaChange]:
    old = [f.name for f in before.all_fields if f.name in after.by_name]
    new = [f.name for f in after.all_fields if f.name in before.by_name]
    if old != new:
        place = path or after.name
        yield _change(place, ", ".join(old), ", ".join(new), "fields in another order")


def _props(
    before: Mapping[str, Json], after: Mapping[str, Json], path: str
) -> Iterator[SchemaChange]:
    for name in sorted({*before, *after}):
        keys = [json_key(side[name]) if name in side else None for side in (before, after)]
        if keys[0] != keys[1]:
            old, new = (render_json(s[name]) if name in s else "–" for s in (before, after))
            yield _change(path, f"{name} {old}", f"{name} {new}", "")


def _value(path: str, what: str, before: object, after: object) -> Iterator[SchemaChange]:
    if before != after:
        yield _change(path, f"{what} {before}", f"{what} {after}", "")


def _ignored(path: str, what: str, before: object, after: object) -> Iterator[SchemaChange]:
    if before != after:
        yield SchemaChange(
            kind=ChangeKind.CHANGED, path=path, after=f"{what} only", note=IGNORED, ignored=True
        )


def _change(path: str, before: str, after: str, note: str) -> SchemaChange:
    return SchemaChange(kind=ChangeKind.CHANGED, path=path, before=before, after=after, note=note)


def _kinds(before: Schema, after: Schema) -> tuple[str, str]:
    """Both types; with their kinds where a record has become an enum of the same name."""
    shown = render_type(before), render_type(after)
    return shown if shown[0] != shown[1] else (describe(before), describe(after))


def _promotion(before: Schema, after: Schema) -> str:
    both = isinstance(before, Primitive) and isinstance(after, Primitive)
    if both and after.kind in PROMOTIONS.get(before.kind, ()):
        return "promoted for readers"
    return ""


def _default_key(field: Field) -> Hashable:
    """Equal for two defaults exactly if the broker takes them for one; None for none."""
    return json_key(field.default) if field.has_default else None


def _or_none(field: Field) -> str:
    return render_default(field.default) or " –"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
