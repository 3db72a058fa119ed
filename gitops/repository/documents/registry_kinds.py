"""The kinds of registry that are installed: each an entry point, whose name is its `kind:`.

What is loaded here holds the settings of a kind. What connects to a registry is imported once one
is opened.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, reduce
from importlib.metadata import EntryPoint, entry_points
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field, create_model, model_validator

from gitops.model.config import RegistryConfig
from gitops.model.errors import UsageError
from gitops.ports import Registry
from gitops.repository.documents.base import problem
from gitops.repository.documents.registry_settings import RegistryDocument
from gitops.repository.suggestions import did_you_mean_or_list

GROUP: Final = "gitops.registries"
"""The entry-point group: a name is a kind, its object is a RegistryKind."""

_BUILT_IN: Final = frozenset({"embedded", "pulsar"})

C = TypeVar("C", bound=RegistryConfig)


# Without slots: on Python 3.11 RegistryKind[…](…) fails with them.
@dataclass(frozen=True, kw_only=True)
class RegistryKind(Generic[C]):
    """A kind of registry: what its settings are, and how one is opened.

    `document` has the keys of gitops.yaml, and its `model()` gives the C that `open` gets, with
    the registry's name and the repository's root. `open` imports what it needs by itself, so that
    commands that open nothing do not pay for it. It raises UsageError for settings that cannot be
    used.
    """

    document: type[RegistryDocument]
    open: Callable[[str, C, Path], Registry]


def kind_names(offered: Iterable[EntryPoint] | None = None) -> tuple[str, ...]:
    """The names of the kinds that are installed, sorted."""
    return tuple(sorted({point.name for point in _points(offered)}))


def find_kind(name: str, offered: Iterable[EntryPoint] | None = None) -> EntryPoint:
    """The entry point of this kind.

    Raises UsageError where there is none, or where two packages offer the same kind: which of
    them answers must not depend on the order in which they were installed.
    """
    points = _points(offered)
    grouped = {point.value: point for point in points if point.name == name}
    if not grouped:
        known = did_you_mean_or_list(name, kind_names(points))
        install = "install pulsar-schema-gitops again, or the plug-in that offers this kind"
        raise UsageError(
            f"no registry of kind '{name}' is installed",
            where=f"entry points '{GROUP}'",
            hint=f"{known}; or {install}" if known else install,
        )
    if len(grouped) > 1:
        raise UsageError(
            f"several packages offer registries of kind '{name}': {', '.join(sorted(grouped))}",
            where=f"entry points '{GROUP}'",
            hint="uninstall all but one of them",
        )
    return next(iter(grouped.values()))


def load_kind(name: str, offered: Iterable[EntryPoint] | None = None) -> RegistryKind[Any]:
    """The kind of this name; raises UsageError where none can be had, or one that is none."""
    point = find_kind(name, offered)
    try:
        value = point.load()
    except (Exception, SystemExit) as error:
        raise _unusable(point, f"{type(error).__name__}: {error}") from error
    if not isinstance(value, RegistryKind):
        raise _unusable(point, f"it is no RegistryKind, but {type(value).__name__}")
    if not _is_document(value.document):
        raise _unusable(point, "its document is no RegistryDocument with a method model()")
    return value


@cache
def documents(offered: tuple[EntryPoint, ...] | None = None) -> tuple[type[RegistryDocument], ...]:
    """The settings of each kind that is installed, by the kind's name; `kind` is a literal there.

    A kind that cannot be used has settings that are always wrong and say why: who does not use
    it does not notice.
    """
    return tuple(_document(name, offered) for name in kind_names(offered))


def any_document(offered: tuple[EntryPoint, ...] | None = None) -> Any:  # noqa: ANN401 - a type
    """The type of a registry's settings: of the kind that its `kind` names.

    Raises UsageError where the built-in kinds are missing, as where this package is not installed.
    """
    if missing := _BUILT_IN.difference(kind_names(offered)):
        raise UsageError(
            f"no registry of kind {' or '.join(sorted(missing))} is installed",
            where=f"entry points '{GROUP}'",
            hint="install pulsar-schema-gitops again",
        )
    return Annotated[reduce(or_, documents(offered)), Field(discriminator="kind")]


def _points(offered: Iterable[EntryPoint] | None) -> tuple[EntryPoint, ...]:
    return _installed_kinds() if offered is None else tuple(offered)


@cache
def _installed_kinds() -> tuple[EntryPoint, ...]:
    """Looked for once: that reads the metadata of every package."""
    return tuple(entry_points(group=GROUP))


def _document(name: str, offered: tuple[EntryPoint, ...] | None) -> type[RegistryDocument]:
    try:
        base = load_kind(name, offered).document
    except UsageError as error:
        base = _unusable_document(error)
    fields: Any = {"kind": (Literal[name], ...)}
    return create_model(
        base.__name__, __base__=base, __module__=base.__module__, __doc__=base.__doc__, **fields
    )


def _unusable_document(error: UsageError) -> type[RegistryDocument]:
    """Settings that are wrong whatever they are."""

    class UnusableDocument(RegistryDocument):
        """The settings of a kind that cannot be used."""

        model_config = ConfigDict(extra="allow")

        @model_validator(mode="before")
        @classmethod
        def _refuse(cls, _value: object) -> object:
            raise problem("REPO-R012", error.what, error.hint)

        def model(self) -> RegistryConfig:
            raise error

    return UnusableDocument


def _unusable(point: EntryPoint, why: str) -> UsageError:
    package = point.dist.name if point.dist else "its package"
    return UsageError(
        f"kind '{point.name}' cannot be used: {why} ({point.value})",
        where=f"entry points '{GROUP}'",
        hint=f"update or uninstall {package}",
    )


def _is_document(value: object) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, RegistryDocument)
        and not inspect.isabstract(value)
    )
