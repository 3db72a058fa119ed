"""The Avro definition of a class with typed fields, in the form that Java's Avro prints."""

from __future__ import annotations

import enum
import json
from typing import Any, Final

from gitops.extraction.avro_defaults import DefaultMismatchError, Defaults
from gitops.extraction.avro_types import (
    NULL,
    NUMBERS,
    Avro,
    item_type,
    plain_type,
    union_members,
    unwrapped,
    value_type,
)
from gitops.extraction.class_fields import MISSING, ClassField, class_fields, has_fields
from gitops.extraction.extraction import Definition
from gitops.model.errors import UsageError

NAMESPACE: Final = "_avro_namespace"
"""The attribute of a class that is its namespace, as of `pulsar.schema.Record`."""

_HINT: Final = (
    "types with a schema: str, bytes, bool, int, float, Decimal, datetime, date, time, UUID, Enum, "
    "list, set, tuple[X, ...], dict[str, X], X | None, and classes of the same kind"
)
_HINTS: Final = {
    "Decimal": 'name its precision and scale: Annotated[Decimal, "DECIMAL(9, 2)"], with pydantic '
    "Field(max_digits=9, decimal_places=2)",
}


def definition_text(content: object) -> str:
    """The text of a definition as Java's client sends it: in one line, without blanks."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def class_definition(cls: type, *, always_allow_null: bool, jsr310: bool) -> Definition:
    """The definition of a class; raises UsageError for a field that no schema can have."""
    writer = _Writer(always_allow_null=always_allow_null, jsr310=jsr310)
    content = writer.record(cls, "")
    return Definition(content=content, classes=writer.classes, notes=tuple(writer.notes))


class _Writer:
    """Writes one definition: a named type at its first place, its name at all others."""

    def __init__(self, *, always_allow_null: bool, jsr310: bool) -> None:
        self._always_allow_null = always_allow_null
        self._jsr310 = jsr310
        self._definitions: dict[type, dict[str, Any]] = {}
        self._spaces: dict[type, str] = {}
        self._defaults = Defaults(self._definitions.get)
        self.classes: dict[str, type] = {}
        self.notes: list[str] = []

    def record(self, cls: type, space: str) -> Avro:
        """The record of a class inside a namespace."""
        own, known = self._name(cls, space)
        if known:
            return known
        definition = self._definitions[cls] = _named("record", cls, own, space)
        # Its own name may be among its fields, so that it is known before they are.
        definition["fields"] = []
        for field in class_fields(cls):
            definition["fields"].append(self._field(cls, field, own))
        return definition

    def _enum(self, cls: type[enum.Enum], space: str) -> Avro:
        own, known = self._name(cls, space)
        if known:
            return known
        definition = self._definitions[cls] = _named("enum", cls, own, space)
        definition["symbols"] = [member.name for member in cls]
        return definition

    def _name(self, cls: type, space: str) -> tuple[str, str]:
        """The namespace of a class, and the name to write where it is defined already."""
        own = getattr(cls, NAMESPACE, None)
        own = self._spaces.setdefault(cls, own if isinstance(own, str) else space)
        full = f"{own}.{cls.__name__}" if own else cls.__name__
        if self.classes.setdefault(full, cls) is not cls:
            other = self.classes[full]
            raise UsageError(
                f"two classes have the name {full} in Avro",
                where=f"{cls.__module__}:{cls.__qualname__} and {other.__module__}:"
                f"{other.__qualname__}",
                hint=f'give one a namespace: {NAMESPACE}: ClassVar[str] = "com.acme"',
            )
        written = cls.__name__ if own == space else full
        return own, written if cls in self._definitions else ""

    def _field(self, cls: type, field: ClassField, space: str) -> dict[str, Any]:
        where = f"{cls.__module__}:{cls.__qualname__}.{field.name}"
        avro = self._type(field.annotation, field.metadata, space, where)
        made = {"name": field.name, "type": avro}
        if field.doc:
            made["doc"] = field.doc
        if field.is_made:
            self.notes.append(
                f"{where} has no default in the schema: a function makes another one for each "
                "object"
            )
        if self._always_allow_null and avro not in NUMBERS:
            made["type"] = avro = _nullable(avro)
        if isinstance(avro, list) and NULL in avro and field.default in (MISSING, None):
            return made | {"type": _first(avro, NULL), "default": None}
        return made if field.default is MISSING else made | self._default(avro, field, where)

    def _default(self, avro: Avro, field: ClassField, where: str) -> dict[str, Any]:
        """The type with the one of the default first in a union, and the default."""
        for branch in avro if isinstance(avro, list) else [avro]:
            try:
                value = self._defaults.find(branch, field.default)
            except DefaultMismatchError:
                continue
            return {"type": _first(avro, branch), "default": value}
        raise UsageError(
            f"the default {field.default!r} does not fit the type of the field",
            where=where,
            hint="Avro accepts a default of the field's own type only",
        )

    def _type(self, given: object, metadata: tuple[object, ...], space: str, where: str) -> Avro:
        annotation, metadata = unwrapped(given, metadata)
        if members := union_members(annotation):
            return _union([self._type(member, metadata, space, where) for member in members])
        if (item := item_type(annotation)) is not None:
            return {"type": "array", "items": self._type(item, (), space, where)}
        if (value := value_type(annotation)) is not None:
            return {"type": "map", "values": self._type(value, (), space, where)}
        if annotation is None:
            return NULL
        result = self._class(annotation, metadata, space) if isinstance(annotation, type) else None
        if result is None:
            name = getattr(annotation, "__name__", None) or str(annotation)
            raise UsageError(
                f"Avro has no type for {name}", where=where, hint=_HINTS.get(name, _HINT)
            )
        return result

    def _class(self, cls: type, metadata: tuple[object, ...], space: str) -> Avro:
        if has_fields(cls):
            return self.record(cls, space)
        if issubclass(cls, enum.Enum):
            return self._enum(cls, space)
        return plain_type(cls, metadata, jsr310=self._jsr310)


def _named(kind: str, cls: type, own: str, space: str) -> dict[str, Any]:
    made: dict[str, Any] = {"type": kind, "name": cls.__name__}
    return made if own == space else made | {"namespace": own}


def _union(members: list[Avro]) -> Avro:
    """The union without unions in it; a single type is none."""
    flat: list[Avro] = []
    for member in members:
        flat += [
            value
            for value in (member if isinstance(member, list) else [member])
            if value not in flat
        ]
    return flat if len(flat) > 1 else flat[0]


def _nullable(avro: Avro) -> list[Avro]:
    items = avro if isinstance(avro, list) else [avro]
    return items if NULL in items else [NULL, *items]


def _first(avro: Avro, branch: Avro) -> Avro:
    """A union with one of its types at its beginning."""
    if not isinstance(avro, list):
        return avro
    return [branch, *(value for value in avro if value is not branch and value != branch)]
