"""What is declared for the distribution is there."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import pytest

import gitops
from gitops.repository.documents.registry_kinds import GROUP, RegistryKind

OURS = [
    *entry_points(group="console_scripts", name="pulsar-gitops"),
    *(each for each in entry_points(group=GROUP) if each.module.startswith("gitops.")),
]


def test_the_command_and_both_built_in_registries_are_declared() -> None:
    assert [each.name for each in OURS] == ["pulsar-gitops", "embedded", "pulsar"]


@pytest.mark.parametrize("declared", OURS, ids=lambda each: each.name)
def test_every_entry_point_leads_to_a_function_or_a_kind_of_registry(
    declared: EntryPoint,
) -> None:
    found = declared.load()
    assert callable(found) or isinstance(found, RegistryKind)


def test_the_installed_version_is_the_one_in_the_code() -> None:
    (command,) = entry_points(group="console_scripts", name="pulsar-gitops")
    assert command.dist is not None
    assert command.dist.version == gitops.__version__
