"""Random classes of programs: the same fields as a POJO in Java and as classes in Python.

A class is a value here, and a source there. Fields are sorted by name, since Java's Avro sorts them
and Python's classes keep their order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Final

_JAVA: Final = {
    "string": "String", "bytes": "java.nio.ByteBuffer", "boolean": "Boolean", "int": "Integer",
    "long": "Long", "float": "Float", "double": "Double", "date": "java.time.LocalDate",
    "time": "java.time.LocalTime", "timestamp": "java.time.Instant", "uuid": "java.util.UUID",
    "decimal": "java.math.BigDecimal",
}  # fmt: skip
_PRIMITIVES: Final = {
    "boolean": "boolean", "int": "int", "long": "long", "float": "float", "double": "double",
}  # fmt: skip
_PYTHON: Final = {
    "string": "str", "bytes": "bytes", "boolean": "bool", "int": 'Annotated[int, "INT32"]',
    "long": "int", "float": 'Annotated[float, "FLOAT"]', "double": "float", "date": "date",
    "time": "time", "timestamp": "datetime", "uuid": "UUID",
    "decimal": 'Annotated[Decimal, "DECIMAL(9, 2)"]',
}  # fmt: skip
_DECIMAL: Final = '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}'
_STYLES: Final = {
    "dataclass": ("@dataclasses.dataclass(kw_only=True)", "", "dataclasses.field(default_factory="),
    "attrs": ("@attrs.define(kw_only=True)", "", "attrs.field(factory="),
    "pydantic": ("", "(pydantic.BaseModel)", "pydantic.Field(default_factory="),
}
STYLES: Final = tuple(_STYLES)
"""The kinds of class in Python with the same types."""

HEAD: Final = """from __future__ import annotations

import dataclasses
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Annotated, ClassVar
from uuid import UUID

import attrs
import pydantic

"""
"""The first lines of a module in Python."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A type: a plain one, `enum` or `record` with the name, `array` or `map` with its inside."""

    kind: str
    name: str = ""
    inside: Shape | None = None


@dataclass(frozen=True, slots=True)
class FieldShape:
    """A field; `default` is JSON, and None where there is none."""

    name: str
    shape: Shape
    optional: bool = False
    default: object = None


@dataclass(slots=True)
class ClassShape:
    """A record, or an enum with symbols."""

    name: str
    fields: list[FieldShape] = field(default_factory=list)
    symbols: tuple[str, ...] = ()


class RandomClasses:
    """Makes classes; each is a list in which the last one is the root."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - a test's classes
        self._made: list[ClassShape] = []

    def make(self, name: str) -> list[ClassShape]:
        """A root with what its fields need."""
        self._made = []
        self._record(name, 2)
        return self._made

    def _record(self, name: str, depth: int) -> Shape:
        names = sorted(self._random.sample("abcdefghijklmnop", self._random.randint(1, 8)))
        made = ClassShape(name)
        made.fields = [self._field(name, f"{each}Field", depth) for each in names]
        self._made.append(made)
        return Shape("record", name)

    def _field(self, owner: str, name: str, depth: int) -> FieldShape:
        if self._random.random() < 0.05:
            return FieldShape(name, Shape("record", owner), optional=True)
        shape = self._shape(f"{owner}{name[0].upper()}", depth, "decimal")
        optional = self._random.random() < 0.4
        default = self._default(shape) if not optional and self._random.random() < 0.3 else None
        return FieldShape(name, shape, optional, default)

    def _shape(self, name: str, depth: int, *more: str) -> Shape:
        plain = [each for each in _JAVA if each != "decimal"]
        kind = self._random.choice([*plain, *more, "enum", "array", "map", "record"])
        if kind == "enum":
            self._made.append(ClassShape(f"{name}E", symbols=("ONE", "TWO", "THREE")))
            return Shape("enum", f"{name}E")
        if kind in ("array", "map") and depth:
            return Shape(kind, inside=self._shape(f"{name}I", depth - 1))
        if kind == "record" and depth:
            return self._record(f"{name}R", depth - 1)
        return Shape(kind if kind in _JAVA else "string")

    def _default(self, shape: Shape) -> object:
        values = {
            "string": self._random.choice(["x", "", 'a "b"', "ä"]),
            "boolean": self._random.choice([True, False]),
            "int": self._random.randint(-9, 9),
            "long": self._random.randint(-(2**40), 2**40),
            "double": self._random.choice([0.5, -2.25]),
            "enum": "TWO",
            "array": [],
            "map": {},
        }
        return values.get(shape.kind)


# Java


def java_class(shape: ClassShape, *, nullable: bool) -> str:
    """A nested class; `nullable`: Pulsar's alwaysAllowNull, which needs no annotation."""
    if shape.symbols:
        return f"public enum {shape.name} {{ {', '.join(shape.symbols)} }}\n"
    fields = "".join(f"  {_java_field(each, nullable=nullable)}\n" for each in shape.fields)
    return f"public static class {shape.name} {{\n{fields}}}\n"


def _java_field(each: FieldShape, *, nullable: bool) -> str:
    notes = []
    if each.shape.kind == "decimal":  # the annotation is the whole type, null included
        text = f'["null",{_DECIMAL}]' if each.optional and not nullable else _DECIMAL
        notes.append(f"@org.apache.avro.reflect.AvroSchema({json.dumps(text)}) ")
    elif each.optional and not nullable:
        notes.append("@org.apache.avro.reflect.Nullable ")
    if has_default(each, nullable=nullable):
        text = json.dumps(json.dumps(each.default))
        notes.append(f"@org.apache.avro.reflect.AvroDefault({text}) ")
    kind = _java_type(each.shape)
    if not each.optional:
        kind = _PRIMITIVES.get(each.shape.kind, kind)
    return f"{''.join(notes)}public {kind} {each.name};"


def has_default(each: FieldShape, *, nullable: bool) -> bool:
    """With alwaysAllowNull Java gives a field that may be null a default that does not fit it."""
    fits = not nullable or each.shape.kind in _PRIMITIVES
    return each.default is not None and fits


def _java_type(shape: Shape) -> str:
    if shape.inside is not None:
        inside = _java_type(shape.inside)
        container = "java.util.List<" if shape.kind == "array" else "java.util.Map<String, "
        return f"{container}{inside}>"
    return shape.name or _JAVA[shape.kind]


# Python


def python_class(shape: ClassShape, style: str, namespace: str, *, nullable: bool) -> str:
    """The same class in Python, in a namespace of Avro."""
    if shape.symbols:
        return f"class {shape.name}(Enum):\n" + "".join(
            f"    {each} = {number}\n" for number, each in enumerate(shape.symbols)
        )
    decorator, bases, factory = _STYLES[style]
    lines = (_python_field(each, factory, nullable=nullable) for each in shape.fields)
    fields = "".join(f"    {line}\n" for line in lines)
    space = f"    _avro_namespace: ClassVar[str] = {namespace!r}\n"
    return f"{decorator}\nclass {shape.name}{bases}:\n{space}{fields}"


def _python_field(each: FieldShape, factory: str, *, nullable: bool) -> str:
    kind = _python_type(each.shape)
    if each.optional:
        return f"{each.name}: {kind} | None = None"
    if not has_default(each, nullable=nullable):
        return f"{each.name}: {kind}"
    if each.shape.inside is not None:
        return f"{each.name}: {kind} = {factory}{type(each.default).__name__})"
    is_enum = each.shape.kind == "enum"
    value = f"{each.shape.name}.{each.default}" if is_enum else repr(each.default)
    return f"{each.name}: {kind} = {value}"


def _python_type(shape: Shape) -> str:
    if shape.inside is not None:
        inside = _python_type(shape.inside)
        return f"list[{inside}]" if shape.kind == "array" else f"dict[str, {inside}]"
    return shape.name or _PYTHON[shape.kind]
