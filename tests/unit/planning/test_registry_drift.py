"""Drift by three: the files, the registry, the snapshot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.drift import (
    Drift,
    DriftReport,
    NamespaceDeletion,
    PartitionDrift,
    PolicyDrift,
    SchemaDeletion,
    UnmanagedNamespace,
    UnmanagedTopic,
    VersionDrift,
    VersionLoss,
)
from gitops.model.names import NamespaceName
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, TopicPartitions, TopicState
from gitops.planning.drift import Provenance
from gitops.planning.plan import make_plan
from gitops.planning.registry_drift import DriftInput, find_drift
from tests.support.states import (
    CREATED,
    INT64,
    ORDERS,
    STRING,
    avro,
    field,
    question,
    state,
    topic_state,
)

_OPTIONAL = ["null", "string"]
_A = avro(field("a"))
_B = avro(field("a"), field("b", _OPTIONAL, default=None))
_C = avro(field("a"), field("b", _OPTIONAL, default=None), field("c", _OPTIONAL, default=None))
_LONG = avro(field("a", "long"))


def _report(
    desired: RegistryState,
    held: RegistryState,
    *declared: int,
    recorded: RegistryState | None = None,
    limit: str = "",
    **more: object,
) -> DriftReport:
    plan_input = question(desired, held)
    known = Provenance(declared={CREATED: frozenset(declared)}, limit=limit)
    found = DriftInput(
        plan_input=plan_input, plan=make_plan(plan_input), provenance=known, recorded=recorded
    )
    return find_drift(replace(found, **more))  # type: ignore[arg-type]  # by name


def _one(report: DriftReport) -> Drift:
    (found,) = report.drifts
    return found


def _policies(value: Strategy | None) -> RegistryState:
    return state(namespaces={ORDERS: NamespacePolicies(schema_compatibility_strategy=value)})


def _topic(*infos: SchemaInfo) -> RegistryState:
    return state(topic_state(CREATED, *infos))


def test_versions_after_the_newest_that_git_knows_are_outside_git() -> None:
    found = _one(_report(_topic(_A), _topic(_A, _B, _C), 0, recorded=_topic(_A, _B)))

    assert isinstance(found, VersionDrift)
    assert [(one.version, one.recorded) for one in found.versions] == [(1, True), (2, False)]
    assert [[each.path for each in one.changes] for one in found.versions] == [["b"], ["c"]]
    assert (found.definition.version, found.definition.is_new) == (0, False)
    assert not found.definition.consumers


def test_a_new_definition_is_asked_about_after_them() -> None:
    accepted = _one(_report(_topic(_C), _topic(_A, _B), 0))
    refused = _one(_report(_topic(_LONG), _topic(_A, _B), 0))

    assert isinstance(accepted, VersionDrift)
    assert (accepted.definition.version, accepted.definition.is_new) == (2, True)
    assert [one.recorded for one in accepted.versions] == [None]
    assert isinstance(refused, VersionDrift)
    assert refused.definition.version is None
    assert refused.definition.reasons
    assert refused.definition.consumers


def test_a_version_that_git_declared_waits_for_an_apply() -> None:
    report = _report(_topic(_C), _topic(_A, _B), 1)

    assert (report.drifts, report.pending) == ((), 1)


def test_a_first_version_of_others_differs_from_the_files() -> None:
    found = _one(_report(_topic(_A), _topic(_B)))

    assert isinstance(found, VersionDrift)
    assert [one.path for one in found.versions[0].changes] == ["b"]


def test_with_commits_missing_only_what_the_files_have_proves_anything() -> None:
    reverted = _report(_topic(_A), _topic(_A, _B), limit="the clone is shallow")
    changed = _report(_topic(_C), _topic(_A, _B), limit="the clone is shallow")

    found = _one(reverted)
    assert isinstance(found, VersionDrift)
    assert found.limit == "the clone is shallow"
    assert (changed.drifts, changed.pending) == ((), 1)
    assert changed.limits == (
        "Versions that only earlier files declared are unknown: the clone is shallow.",
    )


@pytest.mark.parametrize(
    ("recorded", "drifts"),
    [(None, True), (Strategy.FULL, True), (Strategy.FORWARD, True), (Strategy.BACKWARD, False)],
    ids=str,
)
def test_the_snapshot_tells_who_changed_a_policy(recorded: Strategy | None, drifts: bool) -> None:  # noqa: FBT001
    before = None if recorded is None else _policies(recorded)
    report = _report(_policies(Strategy.FULL), _policies(Strategy.BACKWARD), recorded=before)

    if not drifts:
        assert (report.drifts, report.pending) == ((), 1)
        return
    assert _one(report) == PolicyDrift(
        subject=ORDERS,
        key="schemaCompatibilityStrategy",
        files=Strategy.FULL,
        live=Strategy.BACKWARD,
        recorded=recorded,
        was_recorded=recorded is not None,
    )


def test_a_key_that_is_not_managed_drifts_from_the_snapshot() -> None:
    live, before = _policies(Strategy.FORWARD), _policies(Strategy.UNDEFINED)

    assert not _report(_policies(None), live).drifts
    assert not _report(_policies(None), _policies(None), recorded=before).drifts
    assert not _report(_policies(None), _policies(None), recorded=live).drifts
    unset = _one(_report(_policies(None), before, recorded=live))
    assert isinstance(unset, PolicyDrift)
    assert (unset.live, unset.recorded) == (Strategy.UNDEFINED, Strategy.FORWARD)
    found = _one(_report(_policies(None), live, recorded=before))
    assert isinstance(found, PolicyDrift)
    assert (found.files, found.live, found.recorded) == (
        None,
        Strategy.FORWARD,
        Strategy.UNDEFINED,
    )


def test_a_topics_own_policy() -> None:
    full = TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
    loose = TopicPolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)
    held = topic_state(CREATED, _A, policies=loose)

    found = _one(_report(state(topic_state(CREATED, _A, policies=full)), state(held)))
    gone = _report(
        state(topic_state(CREATED, _A, policies=full)), state(replace(held, exists=False))
    )

    assert isinstance(found, PolicyDrift)
    assert (found.subject, found.live) == (CREATED, Strategy.ALWAYS_COMPATIBLE)
    assert (gone.drifts, gone.pending) == ((), 1)


def test_a_schema_that_was_recorded_is_deleted_and_another_is_new() -> None:
    empty = topic_state(CREATED)
    tombstone = replace(empty, history=SchemaHistory(next_version=2))

    assert _report(_topic(_A), state(empty)).pending == 1
    assert _one(_report(_topic(_A), state(tombstone))) == SchemaDeletion(
        topic=CREATED, next_version=2
    )
    assert _one(_report(_topic(_A), state(empty), recorded=_topic(_A))) == SchemaDeletion(
        topic=CREATED, versions=(0,), begins_anew=True
    )
    gone = _one(_report(_topic(_A), state(replace(empty, exists=False)), recorded=_topic(_A, _B)))
    assert gone == SchemaDeletion(
        topic=CREATED, versions=(0, 1), topic_exists=False, begins_anew=True
    )
    only_schema = _report(
        _topic(_A), state(replace(tombstone, exists=False)), recorded=_topic(_A, _B)
    )
    assert _one(only_schema) == SchemaDeletion(topic=CREATED, versions=(0, 1), next_version=2)


def test_of_a_topic_that_was_never_created_only_the_schema_is_deleted() -> None:
    absent = {CREATED: TopicPartitions(topic=CREATED, exists=False)}
    recorded = replace(_topic(_A), partitions=absent)
    gone = state(TopicState(topic=CREATED, exists=False))

    found = _one(_report(_topic(_A), gone, recorded=recorded))

    assert found == SchemaDeletion(topic=CREATED, versions=(0,), begins_anew=True)


def test_a_declared_topic_that_was_deleted_is_no_pending_change() -> None:
    there = _partitioned(4)
    absent = {CREATED: TopicPartitions(topic=CREATED, exists=False)}
    gone = replace(state(TopicState(topic=CREATED, exists=False)), partitions=absent)

    deleted, never_made = (_report(there, gone, recorded=each) for each in (there, None))

    assert [type(one) for one in deleted.drifts] == [SchemaDeletion]
    assert (deleted.pending, never_made.pending) == (0, 1)


def test_recorded_versions_that_are_no_more() -> None:
    held = state(topic_state(CREATED, _A, after=2))

    assert _one(_report(_topic(_A), held, recorded=_topic(_B, _C))) == VersionLoss(
        topic=CREATED, versions=(0, 1)
    )
    # After a forced deletion the numbers begin anew.
    assert _one(_report(_topic(_A), _topic(_A), recorded=_topic(_B))) == VersionLoss(
        topic=CREATED, versions=(0,)
    )


def test_a_namespace_that_was_recorded_is_deleted_and_another_is_new() -> None:
    desired = _policies(Strategy.FULL)

    new = _report(desired, RegistryState())
    recorded = _report(desired, RegistryState(), recorded=_policies(Strategy.FULL))
    missing = {ORDERS: NamespaceState(namespace=ORDERS, exists=False)}
    unknown = _report(desired, RegistryState(), recorded=RegistryState(namespaces=missing))

    assert (new.drifts, new.pending, unknown.drifts) == ((), 1, ())
    assert recorded.drifts == (NamespaceDeletion(namespace=ORDERS),)


def test_what_no_file_declares() -> None:
    other = NamespaceName("shop", "other")
    policies = TopicPolicies(schema_validation_enforced=True)
    late = TopicState(topic=replace(CREATED, local_name="late"), policies=policies)

    report = _report(
        RegistryState(),
        RegistryState(),
        unmanaged=(late, topic_state(CREATED, STRING, INT64)),
        unmanaged_namespaces=(other,),
        without_schema=3,
    )

    assert report.drifts == (
        UnmanagedNamespace(namespace=other),
        UnmanagedTopic(topic=CREATED, type=SchemaType.INT64, versions=(0, 1)),
        UnmanagedTopic(topic=late.topic, policies={"schemaValidationEnforced": True}),
    )
    assert report.without_schema == 3


@pytest.mark.parametrize(
    ("live", "recorded", "drifts", "pending"),
    [(8, None, True, 0), (8, 4, True, 0), (8, 8, False, 1), (0, 4, True, 0), (4, 8, False, 0)],
)
def test_the_snapshot_tells_who_changed_the_partitions(
    live: int,
    recorded: int | None,
    drifts: bool,  # noqa: FBT001 - a row of the table
    pending: int,
) -> None:
    report = _report(
        _partitioned(4),
        _partitioned(live),
        0,
        recorded=None if recorded is None else _partitioned(recorded),
    )

    one = PartitionDrift(topic=CREATED, files=4, live=live, recorded=recorded)
    assert report.drifts == ((one,) if drifts else ())
    assert report.pending == pending


def _partitioned(count: int) -> RegistryState:
    partitions = {CREATED: TopicPartitions(topic=CREATED, count=count)}
    return replace(_topic(_A), partitions=partitions)


def test_a_strategy_set_by_hand_that_keeps_consumers_out_says_so() -> None:
    """Files and snapshot have BACKWARD, and the history breaks FULL_TRANSITIVE."""

    def registry(strategy: Strategy) -> RegistryState:
        policies = NamespacePolicies(schema_compatibility_strategy=strategy)
        return state(topic_state(CREATED, _A, _LONG), namespaces={ORDERS: policies})

    files = state(
        topic_state(CREATED, _LONG),
        namespaces={ORDERS: NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)},
    )
    live, harmless = registry(Strategy.FULL_TRANSITIVE), registry(Strategy.ALWAYS_COMPATIBLE)

    found = _one(_report(files, live, 0, 1, recorded=registry(Strategy.BACKWARD)))
    other = _one(_report(files, harmless, 0, 1, recorded=registry(Strategy.BACKWARD)))

    assert isinstance(found, PolicyDrift)
    (lockout,) = found.lockouts
    assert (lockout.rule, lockout.subject) == ("PLAN-R020", str(CREATED))
    assert lockout.message.startswith(
        "consumers with v1, the latest version, can no longer connect: "
        "schemaCompatibilityStrategy BACKWARD → FULL_TRANSITIVE: "
    )
    assert isinstance(other, PolicyDrift)
    assert other.lockouts == ()


def test_a_policy_that_the_files_do_not_manage_is_compared_with_the_snapshot() -> None:
    def registry(*, enforced: bool) -> RegistryState:
        policies = NamespacePolicies(schema_validation_enforced=enforced)
        return state(topic_state(CREATED, _A), namespaces={ORDERS: policies})

    files = state(topic_state(CREATED, _A), namespaces={ORDERS: NamespacePolicies()})
    report = _report(files, registry(enforced=True), 0, recorded=registry(enforced=False))

    found = _one(report)
    assert isinstance(found, PolicyDrift)
    assert [one.message.partition(" can")[0] for one in found.lockouts] == [
        "producers without a schema"
    ]
