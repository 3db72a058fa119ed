"""How clients read JSON messages that another schema wrote: by names, and by the JSON value.

Seen with pulsar-client 4.0.7 for Java (Jackson), and with pulsar-client 3.13.0 for Python.
A field that a message does not contain is null, 0 or false to both, whatever the schema says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum as PythonEnum
from typing import Final

from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.schema import (
    Array,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    describe,
)
from gitops.schemas.row import Reason

_RULE: Final = "AVRO-R001"
JAVA_CLASS: Final = "AVRO-W013"


class Answer(PythonEnum):
    """Whether a client reads values of one type as another, best first."""

    READS = "reads every value"
    MAY_FAIL = "depends on the value, on the client or on its class"
    FAILS = "fails on every value"


_BEST_FIRST: Final = tuple(Answer)
_NUMBERS: Final = ("int", "long", "float", "double")
_WIDER: Final = {
    "int": ("int", "long", "float", "double"),
    "long": ("long", "float", "double"),
    "float": ("float", "double"),
    "double": ("double",),
}
"""Writer's number → reader's numbers that take each value; AVRO-W008 reports those that round."""

_TEXTS: Final = ("string", "bytes", "fixed", "enum")
_OBJECTS: Final = ("record", "map")

_OPEN: Final = ("java.", "com.fasterxml.jackson.databind.")
"""Packages of classes that the definition shows as records without fields."""

_PAIR: Final = "org.apache.avro.reflect.Pair"
"""Items of an array that is a map with keys of another class than text: an object in JSON."""

_JAVA_CLASSES: Final = frozenset(
    {"[C", "java.lang.Character", "java.math.BigDecimal", "java.math.BigInteger"}
)
"""Values of `java-class` with which the type does not tell text from numbers in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A place in both definitions; the pointers lead to types."""

    path: str = ""
    writer: str = ""
    reader: str = ""

    def inside(self, step: str, member: str) -> _Place:
        return _Place(
            path=self.path + step,
            writer=f"{self.writer}/{member}",
            reader=f"{self.reader}/{member}",
        )


def unread_json(writer: Schema, reader: Schema) -> Iterator[Reason]:
    """Where clients with `reader` fail on messages of `writer`, for certain or perhaps.

    What rules about accepted changes report is left out: symbols of enums, bytes as text and text
    as bytes, other logical types of one type.
    """
    yield from _Walk(writer, reader).reasons(writer, reader, _Place())


class _Walk:
    """Over both definitions; a pair of types is looked at once, so that recursion ends."""

    def __init__(self, writer: Schema, reader: Schema) -> None:
        self._writer, self._reader = Pointers(writer), Pointers(reader)
        self._seen: set[tuple[int, int]] = set()

    def reasons(self, writer: Schema, reader: Schema, place: _Place) -> Iterator[Reason]:
        if writer is reader:
            return
        if isinstance(writer, Union):
            for index, branch in enumerate(writer.branches):
                inner = replace(place, writer=f"{place.writer}/{index}")
                yield from self.reasons(branch, reader, inner)
            return
        if isinstance(reader, Union):
            yield from self._union(writer, reader, place)
            return
        answer = compare_types(writer, reader)
        if answer is not Answer.READS:
            yield _reason(writer, reader, place, answer)
            return
        match writer, reader:
            case Array(), Array():
                inner = place.inside("[]", "items")
                yield from self.reasons(writer.items, reader.items, inner)
            case Map(), Map():
                inner = place.inside("{}", "values")
                yield from self.reasons(writer.values, reader.values, inner)
            case Record(), Record() if (id(writer), id(reader)) not in self._seen:
                self._seen.add((id(writer), id(reader)))
                yield from self._fields(writer, reader, place.path)
            case _:
                pass

    def _union(self, writer: Schema, reader: Union, place: _Place) -> Iterator[Reason]:
        """By the branch that a client most likely takes: of that type and name, else the best."""
        answers = [compare_types(writer, branch) for branch in reader.branches]
        best = min(answers, key=_BEST_FIRST.index, default=Answer.FAILS)
        if best is not Answer.READS:
            yield _reason(writer, reader, place, best)
            return
        readable = [index for index, answer in enumerate(answers) if answer is best]
        name = describe(writer)
        same = [index for index in readable if describe(reader.branches[index]) == name]
        index = (same or readable)[0]
        inner = replace(place, reader=f"{place.reader}/{index}")
        yield from self.reasons(writer, reader.branches[index], inner)

    def _fields(self, writer: Record, reader: Record, path: str) -> Iterator[Reason]:
        for field in reader.all_fields:
            written = writer.by_name.get(field.name)
            if written is None or written is field:
                continue
            place = _Place(
                path=f"{path}.{field.name}" if path else field.name,
                writer=f"{self._writer.field(writer, written)}/type",
                reader=f"{self._reader.field(reader, field)}/type",
            )
            yield from self.reasons(written.type, field.type, place)


def compare_types(writer: Schema, reader: Schema) -> Answer:
    """Whether clients read values of `writer` as `reader`, neither of them a union.

    What is inside records, arrays and maps does not count.
    """
    written, read = writer.kind, reader.kind
    forms = (_java_form(writer), _java_form(reader))
    if written == read:
        is_alike = forms[0] == forms[1] and _size(writer) == _size(reader)
        return Answer.READS if is_alike else Answer.MAY_FAIL
    if any(forms) or _has_logical_type(writer) or _has_logical_type(reader):
        return Answer.MAY_FAIL
    if written == "null" or read == "null":
        return Answer.MAY_FAIL if written == "null" else Answer.FAILS
    if read in ("bytes", "fixed") and written not in _TEXTS:
        return Answer.MAY_FAIL
    if written in _NUMBERS:
        return _compare_number(written, read)
    if written == "boolean":
        return Answer.MAY_FAIL if read == "string" or read in _NUMBERS else Answer.FAILS
    if written in _TEXTS:
        return _compare_text(written, read)
    is_object = written in _OBJECTS and read in _OBJECTS
    return Answer.MAY_FAIL if is_object else Answer.FAILS


def _compare_number(written: str, read: str) -> Answer:
    if read in _WIDER[written]:
        return Answer.READS
    if read in _NUMBERS or read == "string":
        return Answer.MAY_FAIL
    is_whole = written in ("int", "long")
    return Answer.MAY_FAIL if is_whole and read in ("boolean", "enum") else Answer.FAILS


def _compare_text(written: str, read: str) -> Answer:
    if read in ("array", *_OBJECTS):
        return Answer.FAILS
    is_read = (written, read) in (
        ("enum", "string"),
        ("fixed", "bytes"),
        ("bytes", "string"),
        ("string", "bytes"),
    )
    return Answer.READS if is_read else Answer.MAY_FAIL


def _java_form(schema: Schema) -> str:
    """What decides how Java writes a value in JSON, where that is not the type; else empty."""
    match schema:
        case Record() if not schema.all_fields and schema.name.startswith(_OPEN):
            return schema.name
        case Array(items=Record() as item) if item.name.startswith(_PAIR):
            return "map"
        case Array() | Primitive() if schema.props.get("java-class") in _JAVA_CLASSES:
            return str(schema.props["java-class"])
        case _:
            return ""


def _differ_in_java_class(writer: Schema, reader: Schema) -> bool:
    classed = (Primitive, Array)
    is_same = isinstance(writer, classed) and writer.kind == reader.kind
    return is_same and bool({_java_form(writer), _java_form(reader)} & _JAVA_CLASSES)


def _has_logical_type(schema: Schema) -> bool:
    return isinstance(schema, Primitive | Fixed) and "logicalType" in schema.props


def _size(schema: Schema) -> int:
    return schema.size if isinstance(schema, Fixed) else 0


def _reason(writer: Schema, reader: Schema, place: _Place, answer: Answer) -> Reason:
    written, read = describe(writer), describe(reader)
    is_certain = answer is Answer.FAILS
    instead = "add a new field" if place.path else "use another topic"
    doubt = "" if is_certain else f" ({_doubt(writer, reader)})"
    message = f"{written} is read as {read}{doubt}"
    if is_certain:
        message = f"a reader of {read} cannot read {written} in JSON"
    keep = f"keep {written}" if writer.kind != "null" else "keep it nullable"
    return Reason(
        rule=JAVA_CLASS if _differ_in_java_class(writer, reader) else _RULE,
        message=message,
        path=place.path,
        writer_pointer=place.writer,
        reader_pointer=place.reader,
        hint=f"{keep}, or {instead} for {read}",
        writer_hint=f"keep {read}, or {instead} for {written}",
        is_certain=is_certain,
    )


def _doubt(writer: Schema, reader: Schema) -> str:
    """Why it depends, as a clause."""
    if isinstance(reader, Union):
        return "it depends on the value and the client"
    if any(_java_form(schema) or _has_logical_type(schema) for schema in (writer, reader)):
        return "it depends on the client's class"
    if writer.kind == "null":
        return "the client gets null, 0 or false, or fails"
    if reader.kind == "string":
        return "Java's client makes text of it, Python's fails"
    if reader.kind in ("bytes", "fixed") and writer.kind not in _TEXTS:
        return "Java's client fails, Python's gets the value as it is"
    if writer.kind == "boolean":
        return "Java's client fails, Python's gets the boolean"
    if writer.kind in _NUMBERS and reader.kind == "boolean":
        return "Java's client gets true for any number but 0, Python's fails"
    if writer.kind in ("float", "double") and reader.kind in ("int", "long"):
        return "Java's client cuts fractions off, Python's fails on them"
    if writer.kind in _NUMBERS and reader.kind in _NUMBERS:
        return f"not every {writer.kind} fits"
    if writer.kind in _TEXTS and not isinstance(reader, Enum):
        return "it depends on the text"
    return "it depends on the value and the client"
