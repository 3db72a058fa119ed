"""Which kinds of registry are installed, and what becomes of one that cannot be used."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Final

import pytest
from pydantic import ValidationError

from gitops.model.errors import UsageError
from gitops.registries.embedded.kind import KIND as EMBEDDED
from gitops.registries.pulsar.kind import KIND as PULSAR
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.repository.documents.registry_kinds import (
    GROUP,
    RegistryKind,
    any_document,
    documents,
    find_kind,
    kind_names,
    load_kind,
)
from gitops.repository.documents.registry_settings import RegistryDocument


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group=GROUP)


OURS: Final = point("pulsar", "gitops.registries.pulsar.kind:KIND")
OTHER: Final = point("embedded", "gitops.registries.embedded.kind:KIND")
HALF: Final = RegistryKind[PulsarConfig](document=RegistryDocument, open=PULSAR.open)  # type: ignore[type-abstract]


def test_both_built_in_kinds_are_installed() -> None:
    assert {"embedded", "pulsar"} <= set(kind_names())
    assert load_kind("embedded") is EMBEDDED
    assert load_kind("pulsar") is PULSAR


def test_the_entry_point_of_the_kind_is_found() -> None:
    assert find_kind("pulsar", [OTHER, OURS]) is OURS


def test_the_same_entry_point_seen_twice_is_one() -> None:
    assert find_kind("pulsar", [OURS, point(OURS.name, OURS.value)]) is not None


def test_a_kind_that_nobody_offers_is_named_with_what_is_meant() -> None:
    with pytest.raises(UsageError, match="kind 'pulsr'") as raised:
        find_kind("pulsr", [OTHER, OURS])
    assert raised.value.hint.startswith("did you mean pulsar?")


def test_two_packages_with_one_kind_are_both_named() -> None:
    with pytest.raises(UsageError, match=r"gitops\.registries\.pulsar.*plugin:open"):
        find_kind("pulsar", [OURS, point("pulsar", "plugin:open")])


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_package:KIND", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("gitops.registries.pulsar.kind:NONE", "AttributeError"),
        ("gitops.registries.pulsar.registry:open_registry", "no RegistryKind, but function"),
        (f"{__name__}:HALF", "no RegistryDocument with a method"),
    ],
)
def test_a_kind_that_cannot_be_used_says_why_and_what_to_do(
    value: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys
    import types

    here = types.ModuleType(__name__)
    here.HALF = HALF  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, __name__, here)
    with pytest.raises(UsageError, match=why) as raised:
        load_kind("odd", [point("odd", value)])
    assert value in raised.value.what
    assert raised.value.hint.startswith("update or uninstall")


def test_settings_of_a_kind_that_cannot_be_used_are_wrong_and_others_are_not() -> None:
    offered = (OTHER, OURS, point("odd", "no_such_package:KIND"))
    embedded, odd, _ = documents(offered)
    assert embedded.model_validate({"kind": "embedded", "path": "x"}).model().address == "x"
    with pytest.raises(ValidationError, match="cannot be used: ModuleNotFoundError"):
        odd.model_validate({"kind": "odd", "any": 1})


def test_without_the_built_in_kinds_nothing_is_read() -> None:
    with pytest.raises(UsageError, match="no registry of kind embedded is installed"):
        any_document((OURS,))


def test_the_name_of_the_entry_point_is_the_kind() -> None:
    (document,) = documents((point("mine", OTHER.value),))
    assert document.model_validate({"kind": "mine", "path": "x"}).model().kind == "mine"
    with pytest.raises(ValidationError):
        document.model_validate({"kind": "embedded", "path": "x"})
