"""The fields of dataclasses, attrs classes and pydantic models, as one kind of value."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from gitops.model.errors import UsageError

MISSING: Final = dataclasses.MISSING
"""The default of a field that has none."""

_EMPTY: Final = (list, dict, set, frozenset, tuple, str, bytes, int, float, bool)
"""What makes the same value at each call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassField:
    """A field: its type as the class annotates it, what goes with the type, and its default.

    `default` is MISSING where there is none; `is_made` where a function makes one that a schema
    cannot have, since it may be another one each time.
    """

    name: str
    annotation: Any
    metadata: tuple[object, ...] = ()
    default: object = MISSING
    is_made: bool = False
    doc: str = ""


def is_pydantic(cls: type) -> bool:
    """Whether it is a pydantic model, or a pydantic dataclass."""
    return "__pydantic_fields__" in vars(cls)


def is_attrs(cls: type) -> bool:
    """Whether it is made by attrs, old or new."""
    return "__attrs_attrs__" in vars(cls)


def is_dataclass(cls: type) -> bool:
    """Whether it is a dataclass itself; a subclass that is not decorated has other fields."""
    return "__dataclass_fields__" in vars(cls)


def has_fields(cls: object) -> bool:
    """Whether `class_fields` reads it."""
    return isinstance(cls, type) and any(test(cls) for test, _ in _READERS)


def class_fields(cls: type) -> tuple[ClassField, ...]:
    """The fields in the order of the class; raises UsageError for types that are not there."""
    read = next(read for test, read in _READERS if test(cls))
    try:
        return tuple(read(cls))
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise UsageError(
            f"the types of {cls.__qualname__} cannot be resolved: {error}",
            where=f"{cls.__module__}:{cls.__qualname__}",
            hint="import the names that its annotations use at the top of the module, outside of "
            "TYPE_CHECKING",
        ) from error


def _pydantic_fields(cls: Any) -> Iterator[ClassField]:  # noqa: ANN401 - pydantic's own
    if not getattr(cls, "__pydantic_complete__", True) and hasattr(cls, "model_rebuild"):
        cls.model_rebuild(raise_errors=False)
    for name, field in cls.__pydantic_fields__.items():
        default, is_made = _default(
            MISSING if field.is_required() else field.default, field.default_factory
        )
        yield ClassField(
            name=name,
            annotation=field.annotation,
            metadata=tuple(field.metadata),
            default=default,
            is_made=is_made,
            doc=field.description or "",
        )


def _attrs_fields(cls: Any) -> Iterator[ClassField]:  # noqa: ANN401 - attrs' own
    import attrs

    types = typing.get_type_hints(cls, include_extras=True)
    for field in cls.__attrs_attrs__:
        factory = field.default if isinstance(field.default, attrs.Factory) else None  # type: ignore[arg-type]
        value = MISSING if field.default is attrs.NOTHING else field.default
        default, is_made = _default(value, factory and factory.factory)
        annotation = types.get(field.name, field.type)
        yield ClassField(name=field.name, annotation=annotation, default=default, is_made=is_made)


def _dataclass_fields(cls: Any) -> Iterator[ClassField]:  # noqa: ANN401 - any dataclass
    types = typing.get_type_hints(cls, include_extras=True)
    for field in dataclasses.fields(cls):
        factory = None if field.default_factory is MISSING else field.default_factory
        default, is_made = _default(field.default, factory)
        yield ClassField(
            name=field.name, annotation=types[field.name], default=default, is_made=is_made
        )


_Reader = tuple[Callable[[type], bool], Callable[[Any], Iterator[ClassField]]]
_READERS: Final[tuple[_Reader, ...]] = (
    (is_pydantic, _pydantic_fields),
    (is_attrs, _attrs_fields),
    (is_dataclass, _dataclass_fields),
)


def _default(value: object, factory: Any) -> tuple[object, bool]:  # noqa: ANN401 - any callable
    """The default that a schema can have, and whether there is another one."""
    if factory is None:
        return value, False
    if factory in _EMPTY or has_fields(factory):
        return factory(), False
    return MISSING, True
