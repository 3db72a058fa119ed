"""How Avro for Java 1.12.2 reads definitions, as a broker of Pulsar 5.0.1 gives them to it.

A type is known by its name once all of it is read, so that a reference within a record to that
record is one to a type that is defined later, and a second definition is compared with the first
as a whole. Avro 1.12.2 refuses references such as {"type": "B"}; the broker writes "B" in their
place before.
"""

from __future__ import annotations

import math
from typing import Final

from gitops.schemas.avro import avro_1_12
from gitops.schemas.avro.equality import equal
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.json_text import Json, blank_comments, check_end, read_value
from gitops.schemas.avro.names import DEFINED, Names, check_not_primitive, problem
from gitops.schemas.avro.schema import PRIMITIVES, Named, Schema

_KINDS: Final = PRIMITIVES | {"record", "error", "enum", "array", "map", "fixed"}


class QuickReader(avro_1_12.QuickReader):
    """One reading of a definition that is cut; any surprise is left to the other."""

    known_while_open = False

    def object_reference(self, name: str, at: str) -> Schema:
        """Left to the other, which writes it as a name first."""
        raise _object_reference(name, at)


class WholeReader(avro_1_12.WholeReader):
    """One reading of one definition as Avro 1.12.2 reads it."""

    known_while_open = False

    def __init__(self, *, strict: bool) -> None:
        super().__init__(strict=strict)
        self.names: Names = _NamesOfEqualTypes()
        self._space_errors: dict[str, AvroParseError] = {}

    def read_text(self, text: str, *, limited: bool) -> Schema:
        """The schema of a text, with names in the place of objects that only name a type.

        Jackson reads the text for that first, which it does without Avro's leniency: a text with
        comments stays as it is. What it writes then has no number that is infinite, and nothing of
        what follows the definition.
        """
        value, end = read_value(text, limited=limited)
        has_comments = blank_comments(text[:end]) != text[:end]
        if not has_comments and _has_object_reference(value):
            return self.finish(self.schema(_written_again(value), ""))
        schema = self.finish(self.schema(value, ""))
        check_end(text, end)
        return schema

    def enter(self, name: str, given: str | None, at: str) -> str:
        """The full name; that each part of it must be a name is looked at when it is defined."""
        try:
            return super().enter(name, given, at)
        except avro_1_12.NamespaceError as error:
            self._space_errors[error.full_name] = error
            return error.full_name

    def define(self, named: Named, at: str) -> None:
        """Make a type known, all of which is read."""
        if error := self._space_errors.get(named.name):
            raise error
        super().define(named, at)

    def object_reference(self, name: str, at: str) -> Schema:
        """An object that names a type, in a text with comments."""
        raise _object_reference(name, at)


def _object_reference(name: str, at: str) -> AvroParseError:
    message = f"'{name}' is not a kind of type: write the name alone in place of the object"
    return problem("bad-type", message, f"{at}/type")


def _has_object_reference(value: Json) -> bool:
    """Whether a definition, or a part of it that is a type, is an object that names a type."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict) and isinstance(kind := node.get("type"), str):
            if kind not in _KINDS:
                return True
            waiting += _parts(node)
    return False


def _parts(node: dict[str, Json]) -> list[Json]:
    """The types that an object which is a type consists of."""
    match node["type"], node:
        case "record" | "error", {"fields": list(fields)}:
            return [field.get("type") for field in fields if isinstance(field, dict)]
        case "array", {"items": items}:
            return [items]
        case "map", {"values": values}:
            return [values]
        case _:
            return []


def _written_again(node: Json) -> Json:
    """A type as the broker writes it, with names in the place of objects that name a type."""
    if isinstance(node, list):
        return [_written_again(branch) for branch in node]
    if not isinstance(node, dict):
        return _finite(node)
    kind = node.get("type")
    if isinstance(kind, str) and kind not in _KINDS:
        return kind
    written = {name: _finite(member) for name, member in node.items()}
    match kind, node:
        case "record" | "error", {"fields": list(fields)}:
            written["fields"] = [_written_field(field) for field in fields]
        case "array", {"items": items}:
            written["items"] = _written_again(items)
        case "map", {"values": values}:
            written["values"] = _written_again(values)
        case _:
            pass
    return written


def _written_field(field: Json) -> Json:
    if not (isinstance(field, dict) and "type" in field):
        return _finite(field)
    return {**_finite(field), "type": _written_again(field["type"])}


def _finite(value: Json) -> Json:
    """The value, with text in the place of infinite numbers."""
    match value:
        case dict():
            return {name: _finite(member) for name, member in value.items()}
        case list():
            return [_finite(item) for item in value]
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        case _:
            return value


class _NamesOfEqualTypes(Names):
    """Names that may be defined again, by an equal type; the first definition is referred to."""

    def add(self, schema: Named, at: str) -> None:
        """Make a type known that is at `at`, unless it is known already."""
        check_not_primitive(schema.name, at)
        known = self.known.setdefault(schema.name, schema)
        if known is not schema and not equal(known, schema):
            raise problem("redefined", f"{schema.name} is defined twice, and not alike", at)
        self.met.append(DEFINED)
