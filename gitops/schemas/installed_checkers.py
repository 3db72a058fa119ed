"""Checkers for a schema type that other packages add to this broker: entry points of one group.

They are looked for once in a process, when the first schema is compared. A decision stays a
function of its values and of the code that is installed, as with any import. Handing the checkers
down from each edge that decides (commands, registries, `serve`, plug-ins) would leave one of them
without, and its answer would differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from gitops.model.decision import StoredSchema
from gitops.model.errors import UsageError
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import AUTO_TYPES, SchemaType
from gitops.ports import IncompatibleSchemaError
from gitops.schemas.row import CheckList
from gitops.schemas.strategies import COMPATIBLE, End, LabelledSchema, Outcome, incompatible

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "gitops.compatibility_checkers"
"""The entry-point group: a name is a SchemaType, its object is a CompatibilityChecker."""

_Check = Callable[[Sequence[StoredSchema], StoredSchema, Strategy], None]

_CHECKED: Final = frozenset(SchemaType) - AUTO_TYPES - {SchemaType.KEY_VALUE}
"""A broker adds the checker for KEY_VALUE itself, which asks those of the halves."""


def load_installed_checkers() -> None:
    """Load each checker, as a broker does when it starts; raises UsageError."""
    for schema_type in _points():
        installed_checker(schema_type)


def installed_types() -> frozenset[SchemaType]:
    """The types that an installed package has a checker for."""
    return frozenset(_points())


@cache
def installed_checker(schema_type: SchemaType) -> CheckList | None:
    """The checker of an installed package for a type, None where there is none.

    Raises UsageError for one that cannot be used, and where two packages have one for a type or
    one has a name that is no type with a checker: a broker does not start with either.
    """
    point = _points().get(schema_type)
    return None if point is None else _check_list(_load(point, schema_type), _package(point))


@cache
def _points() -> Mapping[SchemaType, EntryPoint]:
    from importlib.metadata import entry_points

    grouped: dict[SchemaType, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        schema_type = _schema_type(point)
        entry_point = grouped.setdefault(schema_type, point)
        if entry_point.value != point.value:
            raise UsageError(
                f"several packages have a checker for {point.name}: "
                f"{', '.join(sorted((entry_point.value, point.value)))}",
                where=f"entry points '{GROUP}'",
                hint="uninstall all but one of them",
            )
    return grouped


def _schema_type(point: EntryPoint) -> SchemaType:
    if point.name not in {schema_type.value for schema_type in _CHECKED}:
        known = "KEY_VALUE is checked half by half" if point.name == "KEY_VALUE" else "unknown type"
        raise _unusable(point, known)
    return SchemaType(point.name)


def _load(point: EntryPoint, schema_type: SchemaType) -> _Check:
    try:
        checker: Any = point.load()
        own: object = checker.schema_type
        check: _Check = checker.check_compatible
    except (Exception, SystemExit) as error:
        raise _unusable(point, f"{type(error).__name__}: {error}") from error
    if not callable(check):
        raise _unusable(point, "its check_compatible is no method")
    if own is not schema_type:
        shown = own.value if isinstance(own, SchemaType) else repr(own)
        raise _unusable(point, f"its schema_type is {shown}")
    return check


def _check_list(check: _Check, package: str) -> CheckList:
    def check_list(
        existing: Sequence[LabelledSchema], candidate: LabelledSchema, strategy: Strategy
    ) -> Outcome:
        try:
            check(tuple(schema.schema for schema in existing), candidate.schema, strategy)
        except IncompatibleSchemaError as error:
            return incompatible(_one_line(str(error)) or f"the checker of {package} refuses it")
        except Exception as error:  # noqa: BLE001 - a broker answers 500 whatever a checker raises
            failure = _one_line(f"{type(error).__name__}: {error}")
            reason = f"the checker of {package} failed ({failure}): update or uninstall {package}"
            return Outcome(end=End.CRASHED, reason=reason)
        return COMPATIBLE

    return check_list


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


def _unusable(point: EntryPoint, why: str) -> UsageError:
    return UsageError(
        f"the checker for '{point.name}' cannot be used: {_one_line(why)} ({point.value})",
        where=f"entry points '{GROUP}'",
        hint=f"update or uninstall {_package(point)}",
    )
