"""Drift written into files: each subject as a whole or not at all, with a reason where not."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gitops.model.drift import (
    DefinitionAnswer,
    Drift,
    NamespaceDeletion,
    PartitionDrift,
    PolicyDrift,
    SchemaDeletion,
    UnmanagedNamespace,
    UnmanagedTopic,
    VersionDrift,
    VersionLoss,
    VersionOutsideGit,
)
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.repository.loader import load
from gitops.repository.writing.adoption import Adoption, AdoptionInput, adopt
from tests.support.states import STRING, avro, field, record, state, topic_state
from tests.support.trees import repository

_SPACE = NamespaceName("a", "b")
_T, _U = TopicName(_SPACE, "t"), TopicName(_SPACE, "u")
_FOLDER = "namespaces/a/b"
_HEAD = "apiVersion: pulsar-gitops/v1\nkind: "
_MONEY = {"type": "fixed", "name": "Money", "namespace": "n", "size": 8}
_STRATEGY = "schemaCompatibilityStrategy"
_NAMESPACE = f"{_HEAD}Namespace\nnamespace: a/b\n{_STRATEGY}: FULL # ours\n"


def _manifest(name: str, more: str = "") -> str:
    return f"{_HEAD}Topic\n# {name}\nschema: {{type: AVRO, definition: {name}.avsc}}\n{more}"


def _files(**more: str) -> dict[str, bytes | str]:
    """Two topics that share a type."""
    definition = json.dumps(record(field("id"), field("m", "n.Money")))
    files = {
        "types/money.avsc": json.dumps(_MONEY),
        f"{_FOLDER}/namespace.yaml": _NAMESPACE,
        **{f"{_FOLDER}/{name}.yaml": _manifest(name) for name in ("t", "u")},
        **{f"{_FOLDER}/{name}.avsc": definition for name in ("t", "u")},
    }
    return {**files, **more}


def _adopt(
    drifts: Sequence[Drift],
    observed: RegistryState,
    files: Mapping[str, bytes | str] | None = None,
    *,
    dirty: Collection[str] = (),
    overrides: Mapping[NamespaceName, NamespacePolicies] | None = None,
) -> Adoption:
    tree = repository(files or _files())

    def uncommitted(paths: Collection[str]) -> list[str]:
        return [path for path in paths if path in dirty]

    return adopt(
        AdoptionInput(
            tree=tree,
            repository=load(tree),
            drifts=drifts,
            observed=observed,
            overrides=overrides or {},
            uncommitted=uncommitted,
        )
    )


def _versions(topic: TopicName) -> VersionDrift:
    answer = DefinitionAnswer(version=0)
    return VersionDrift(topic=topic, versions=(VersionOutsideGit(version=1),), definition=answer)


def _policy(subject: NamespaceName | TopicName, live: Strategy | None) -> PolicyDrift:
    return PolicyDrift(subject=subject, key=_STRATEGY, files=Strategy.FULL, live=live)


def _held(topic: TopicName, *fields: dict[str, Any], size: int = 8) -> TopicState:
    money = {**_MONEY, "size": size}
    return topic_state(topic, avro(field("id"), field("m", money), *fields))


def _why(adoption: Adoption) -> str:
    (error,) = adoption.refused.values()
    return f"{error.what} | {error.hint}"


def test_a_definition_keeps_its_references_and_the_manifest_stays() -> None:
    found = _adopt([_versions(_T)], state(_held(_T, field("x", "int"))))

    assert (found.adopted, found.refused, set(found.files)) == ((_T,), {}, {f"{_FOLDER}/t.avsc"})
    written = json.loads(found.files[f"{_FOLDER}/t.avsc"])
    assert [one["type"] for one in written["fields"]] == ["string", "n.Money", "int"]


@pytest.mark.slow
def test_a_shared_type_that_differs_is_changed_for_all_or_for_none() -> None:
    one = _adopt([_versions(_T)], state(_held(_T, size=9)))
    both = _adopt([_versions(_T), _versions(_U)], state(_held(_T, size=9), _held(_U, size=9)))

    assert (one.adopted, one.files) == ((), {})
    assert "would change a/b/u" in _why(one)
    assert "by hand" in _why(one)
    assert (both.adopted, set(both.files)) == ((_T, _U), {"types/money.avsc", f"{_FOLDER}/t.avsc"})


def test_what_cannot_be_adopted_holds_back_nothing_else() -> None:
    found = _adopt(
        [_versions(_T), _versions(_U)], state(_held(_T, size=9), _held(_U, field("x", "int")))
    )

    assert (found.adopted, tuple(found.refused)) == ((_U,), (_T,))
    assert set(found.files) == {f"{_FOLDER}/u.avsc"}


@pytest.mark.slow
@pytest.mark.parametrize("names", [("t.avsc",), ("t.avsc", "u.avsc")])
def test_nothing_is_written_over_a_change_that_is_not_committed(names: Sequence[str]) -> None:
    dirty = [f"{_FOLDER}/{name}" for name in names]
    observed = state(_held(_T, field("x", "int")), _held(_U, field("x", "int")))

    found = _adopt([_versions(_T), _versions(_U)], observed, dirty=dirty)

    assert [str(one) for one in found.refused] == [f"a/b/{name[0]}" for name in names]
    why = found.refused[_T]
    assert why.what == f"{_FOLDER}/t.avsc has changes that are not committed"
    assert why.hint == "commit or stash them, and run the command again"
    assert f"{_FOLDER}/t.avsc" not in found.files


def test_a_policy_of_a_namespace_keeps_its_comment_and_goes_where_none_is_set() -> None:
    for live, line in (
        (Strategy.BACKWARD, f"{_STRATEGY}: BACKWARD # ours\n"),
        (Strategy.UNDEFINED, f"{_STRATEGY}: UNDEFINED # ours\n"),
        (None, ""),
    ):
        found = _adopt([_policy(_SPACE, live)], state())

        text = found.files[f"{_FOLDER}/namespace.yaml"].decode()
        assert text == f"{_HEAD}Namespace\nnamespace: a/b\n{line}"


def test_a_policy_that_only_this_registry_has_is_edited_by_hand() -> None:
    own = {_SPACE: NamespacePolicies(schema_compatibility_strategy=Strategy.FULL)}

    found = _adopt([_policy(_SPACE, Strategy.BACKWARD)], state(), overrides=own)

    assert f"gitops.yaml has {_STRATEGY} of a/b for this registry alone" in _why(found)


def test_a_namespace_without_a_file_gets_one() -> None:
    files = _files()
    del files[f"{_FOLDER}/namespace.yaml"]
    live = {_SPACE: NamespacePolicies(schema_compatibility_strategy=Strategy.FORWARD)}

    found = _adopt([_policy(_SPACE, Strategy.FORWARD)], state(namespaces=live), files)

    assert set(found.files) - {path for path in found.files if path.startswith(".schemas/")} == {
        f"{_FOLDER}/namespace.yaml"
    }
    assert b"schemaCompatibilityStrategy: FORWARD\n" in found.files[f"{_FOLDER}/namespace.yaml"]


def test_policies_of_a_topic_and_its_version_are_one_change() -> None:
    policies = TopicPolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    held = replace(_held(_T, field("x", "int")), policies=policies)
    own = "policies: {schemaCompatibilityStrategy: FULL} # why\n"
    files = {**_files(), f"{_FOLDER}/t.yaml": _manifest("t", own)}
    drifts: list[Drift] = [_versions(_T), _policy(_T, Strategy.BACKWARD)]

    found = _adopt(drifts, state(held), files)
    stuck = _adopt(drifts, state(held), files, dirty=[f"{_FOLDER}/t.yaml"])
    gone = _adopt([_policy(_T, None)], state(_held(_T)), files)

    assert set(found.files) == {f"{_FOLDER}/t.avsc", f"{_FOLDER}/t.yaml"}
    assert "policies: # why\n  schemaCompatibilityStrategy: BACKWARD\n" in (
        found.files[f"{_FOLDER}/t.yaml"].decode()
    )
    assert (stuck.files, tuple(stuck.refused)) == ({}, (_T,))
    assert gone.files[f"{_FOLDER}/t.yaml"].decode() == _manifest("t")


@pytest.mark.parametrize(
    ("declared", "live", "written"),
    [
        ("partitions: 4", 8, "partitions: 8"),
        ("partitions: 4", 0, "create: true"),
        ("create: true", 8, "partitions: 8"),
    ],
)
def test_partitions_are_adopted_beside_policies(declared: str, live: int, written: str) -> None:
    policies = TopicPolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    held = replace(_held(_T), policies=policies)
    files = {**_files(), f"{_FOLDER}/t.yaml": _manifest("t", f"{declared} # why\n")}
    partitions = PartitionDrift(topic=_T, files=4, live=live, recorded=4)

    found = _adopt([_policy(_T, Strategy.BACKWARD), partitions], state(held), files)

    text = found.files[f"{_FOLDER}/t.yaml"].decode()
    assert written in text
    assert declared not in text
    assert "  schemaCompatibilityStrategy: BACKWARD\n" in text
    assert found.adopted == (_T,)


def test_a_deleted_topic_loses_its_manifest_and_what_only_it_used() -> None:
    drifts = [SchemaDeletion(topic=one) for one in (_T, _U)]
    observed = state(topic_state(_T), topic_state(_U))

    one = _adopt(drifts[:1], observed)
    both = _adopt(drifts, observed)

    assert one.removed == (f"{_FOLDER}/t.avsc", f"{_FOLDER}/t.yaml")
    assert one.unused == ()
    assert both.unused == ("types/money.avsc",)
    assert not both.files


def test_a_topic_without_a_schema_keeps_its_policies() -> None:
    policies = TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
    files = {**_files(), f"{_FOLDER}/t.yaml": _manifest("t", f"policies: {{{_STRATEGY}: FULL}}\n")}
    held = replace(topic_state(_T), policies=policies)

    found = _adopt([SchemaDeletion(topic=_T)], state(held), files)

    assert found.removed == (f"{_FOLDER}/t.avsc",)
    assert b"schema:" not in found.files[f"{_FOLDER}/t.yaml"]


def test_what_others_use_of_a_deleted_topic_stays() -> None:
    waiver = (
        f"{_HEAD}Waiver\ntopic: a/b/t\nfingerprint: {'a' * 32}\nreason: r\napprovedBy: '@x'\n"
        "expires: 2999-01-01\n"
    )
    client = (
        f"{_HEAD}Client\nname: c\nowner: '@x'\nconsumes:\n- topic: a/b/t\n  subscription: s\n"
        f"  schema: {{type: AVRO, definition: ../{_FOLDER}/t.avsc}}\n"
    )
    files = {**_files(), "clients/c.yaml": client, "waivers/w.yaml": waiver}
    assert load(repository(files)).findings == ()

    found = _adopt([SchemaDeletion(topic=_T)], state(topic_state(_T)), files)

    # The client's definition is the topic's own file, and stays.
    assert found.removed == (f"{_FOLDER}/t.yaml",)


def test_a_deleted_namespace_goes_once_its_topics_are_gone() -> None:
    gone: list[Drift] = [NamespaceDeletion(namespace=_SPACE)]
    topics: list[Drift] = [SchemaDeletion(topic=one) for one in (_T, _U)]
    observed = state(topic_state(_T), topic_state(_U))

    left = _adopt(gone, observed)
    found = _adopt([*gone, *topics], observed)
    files = _files()
    del files[f"{_FOLDER}/namespace.yaml"]
    without_file = _adopt([*gone, *topics], observed, files)

    assert "a/b has manifests, such as that of a/b/t" in _why(left)
    assert (set(found.adopted), found.refused) == ({_SPACE, _T, _U}, {})
    assert f"{_FOLDER}/namespace.yaml" in found.removed
    assert (without_file.refused, len(without_file.removed)) == ({}, 4)


def test_what_is_unmanaged_gets_manifests() -> None:
    other = NamespaceName("a", "new")
    topic, late = TopicName(other, "n"), TopicName(_SPACE, "late")
    observed = state(topic_state(topic, STRING), _held(late))
    namespaces = {**observed.namespaces, other: NamespaceState(namespace=other)}
    drifts: list[Drift] = [UnmanagedNamespace(namespace=other), UnmanagedTopic(topic=topic)]

    found = _adopt([*drifts, UnmanagedTopic(topic=late)], replace(observed, namespaces=namespaces))

    assert set(found.adopted) == {other, topic, late}
    assert {path for path in found.files if path.startswith("namespaces/")} == {
        "namespaces/a/new/namespace.yaml",
        "namespaces/a/new/n.yaml",
        f"{_FOLDER}/late.avsc",
        f"{_FOLDER}/late.yaml",
    }
    assert b'"n.Money"' in found.files[f"{_FOLDER}/late.avsc"]


def test_lost_versions_are_in_no_file() -> None:
    found = _adopt([VersionLoss(topic=_T, versions=(0,))], state(_held(_T)))

    assert (found.files, found.adopted) == ({}, ())
    assert "pulsar-gitops snapshot" in _why(found)
