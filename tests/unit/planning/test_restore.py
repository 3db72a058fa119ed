"""Whether a recorded history can get its numbers back, and in which steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from gitops.model.names import TopicName
from gitops.model.plan import (
    CreateNamespace,
    CreateTopic,
    DeleteSchema,
    Hold,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import BrokerSettings, NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.restore import Restore, TopicRestore, UnfinishedRestore
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.model.state import NamespaceState, RegistryState, TopicPartitions, TopicState
from gitops.planning.restore import RestoreInput, check_restore, prove_restore
from tests.support.states import CREATED, INT64, ORDERS, STRING, avro, field, state, topic_state

ONE: Final = avro(field("id"))
TWO: Final = avro(field("number"))
DOCUMENTED: Final = avro(field("id"), doc="an order")
"""For a broker the same as ONE."""
OTHER: Final = TopicName(ORDERS, "other")


def prove(
    recorded: RegistryState,
    live: RegistryState | None = None,
    *,
    unreadable: Mapping[TopicName, str] | None = None,
    unfinished: UnfinishedRestore | None = None,
) -> Restore:
    live = live or empty_like(recorded)
    unread = unreadable or {}
    return prove_restore(
        RestoreInput(
            source="production",
            recorded=recorded,
            live=replace(live, topics={k: v for k, v in live.topics.items() if k not in unread}),
            registry="local",
            address="local.db",
            broker=BrokerSettings(),
            unreadable=unread,
            unfinished=unfinished or UnfinishedRestore(),
        )
    )


def empty_like(recorded: RegistryState) -> RegistryState:
    """A registry that has nothing of it."""
    return RegistryState(
        namespaces={n: NamespaceState(namespace=n, exists=False) for n in recorded.namespaces},
        topics={topic: TopicState(topic=topic) for topic in recorded.topics},
    )


def only(found: Restore) -> TopicRestore:
    (topic,) = found.topics
    return topic


def reason(found: Restore) -> str:
    (obstacle,) = found.obstacles
    return obstacle.reason


# ------------------------------------------------------------------ one history


def test_all_versions_are_registered_in_their_order() -> None:
    found = prove(state(topic_state(CREATED, ONE, TWO)))

    assert (only(found).deletions, only(found).versions) == ((), (0, 1))
    registered = [one for one in found.plan.actions if isinstance(one, RegisterSchema)]
    assert [(one.info, one.version, one.latest_version) for one in registered] == [
        (ONE, 0, None),
        (TWO, 1, 0),
    ]


def test_numbers_before_the_first_version_become_deletions() -> None:
    found = prove(state(topic_state(CREATED, ONE, after=3)))

    assert (only(found).deletions, only(found).versions) == ((0, 1, 2), (3,))
    kinds = [one for one in found.plan.actions if not isinstance(one, CreateNamespace)]
    assert [type(one) for one in kinds] == [DeleteSchema] * 3 + [RegisterSchema]


def test_a_history_that_ends_in_a_deletion_becomes_deletions() -> None:
    gone = TopicState(topic=CREATED, history=SchemaHistory(next_version=2))

    found = prove(state(gone))

    assert (only(found).deletions, only(found).versions) == ((0, 1), ())


def test_what_is_there_is_not_made_again() -> None:
    recorded = state(topic_state(CREATED, ONE, TWO))

    assert only(prove(recorded, state(topic_state(CREATED, ONE)))).versions == (1,)
    assert only(prove(recorded, recorded)).is_there
    assert prove(recorded, recorded).plan.actions == ()


def test_deletions_that_are_there_are_not_made_again() -> None:
    recorded = state(topic_state(CREATED, ONE, after=3))
    partly = TopicState(topic=CREATED, history=SchemaHistory(next_version=2))

    assert only(prove(recorded, state(partly))).deletions == (2,)


def test_later_versions_of_the_registry_are_left_alone() -> None:
    recorded = state(topic_state(CREATED, ONE))

    assert only(prove(recorded, state(topic_state(CREATED, ONE, TWO)))).is_there


# ------------------------------------------------------------------ obstacles


def test_an_equal_schema_would_shift_the_numbers() -> None:
    found = prove(state(topic_state(CREATED, ONE, DOCUMENTED, TWO)))

    assert reason(found) == "v1 equals v0: the broker would answer v0 and store nothing"
    assert found.obstacles[0].versions == (1, 2)
    assert found.plan.actions == ()


def test_an_invalid_schema_would_be_refused() -> None:
    broken = replace(ONE, schema="{")

    found = prove(state(topic_state(CREATED, ONE, broken)))

    assert reason(found).startswith("the broker would refuse v1: ")
    assert found.obstacles[0].versions == (1,)


def test_another_schema_in_the_registry_is_an_obstacle() -> None:
    found = prove(state(topic_state(CREATED, ONE, INT64)), state(topic_state(CREATED, TWO)))

    assert reason(found) == "v0 of the registry is another schema"
    assert found.obstacles[0].versions == (0, 1)
    assert found.obstacles[0].hint.endswith(
        "schemas delete --force shop/orders/created --registry local --yes"
    )


def test_other_properties_are_another_schema() -> None:
    owned = replace(ONE, properties={"owner": "x"})

    found = prove(state(topic_state(CREATED, owned)), state(topic_state(CREATED, ONE)))

    assert reason(found) == "v0 of the registry is another schema"


def test_numbers_that_are_used_up_are_an_obstacle() -> None:
    used = TopicState(topic=CREATED, history=SchemaHistory(next_version=2))

    found = prove(state(topic_state(CREATED, ONE, TWO, INT64)), state(used))

    assert reason(found) == (
        "a deletion in the registry is v1: the next version is v2, and v0 is to be made"
    )
    assert found.obstacles[0].versions == (0, 1)


def test_a_schema_where_none_was_left_is_an_obstacle() -> None:
    gone = TopicState(topic=CREATED, history=SchemaHistory(next_version=2))

    assert reason(prove(state(gone), state(topic_state(CREATED, ONE)))) == "the registry has v0"


def test_a_missing_version_between_two_is_an_obstacle() -> None:
    entries = (SchemaEntry(version=0, info=ONE), SchemaEntry(version=2, info=TWO))
    holed = TopicState(topic=CREATED, history=SchemaHistory(entries=entries, next_version=3))

    found = prove(state(holed))

    assert reason(found) == "no v1 is recorded, and a v2 after it"
    assert found.obstacles[0].versions == (2,)


def test_numbers_after_the_last_version_are_an_obstacle() -> None:
    entries = (SchemaEntry(version=0, info=ONE),)
    cut = TopicState(topic=CREATED, history=SchemaHistory(entries=entries, next_version=3))

    assert reason(prove(state(cut))) == "v0 is recorded, and nothing up to v3"


def test_a_topic_on_which_the_registry_fails_is_an_obstacle() -> None:
    recorded = state(topic_state(CREATED, ONE))

    found = prove(recorded, unreadable={CREATED: "No such ledger exists"})

    assert reason(found) == "the registry fails on its schemas: No such ledger exists"
    assert found.obstacles[0].versions == (0,)


def test_a_missing_tenant_is_an_obstacle() -> None:
    recorded = state(topic_state(CREATED, ONE))
    absent = NamespaceState(namespace=ORDERS, exists=False, tenant_exists=False)

    found = prove(recorded, replace(empty_like(recorded), namespaces={ORDERS: absent}))

    assert reason(found) == "there is no tenant shop"


def test_policies_of_a_topic_that_does_not_exist_are_an_obstacle() -> None:
    own = TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
    recorded = state(topic_state(CREATED, ONE, policies=own))
    live = replace(empty_like(recorded), topics={CREATED: TopicState(topic=CREATED, exists=False)})

    assert reason(prove(recorded, live)).startswith("the snapshot has policies for the topic")


def test_a_topic_that_existed_is_created_with_its_partitions_before_its_versions() -> None:
    own = TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
    partitions = {CREATED: TopicPartitions(topic=CREATED, count=4)}
    recorded = replace(state(topic_state(CREATED, ONE, policies=own)), partitions=partitions)
    live = replace(
        empty_like(recorded),
        topics={CREATED: TopicState(topic=CREATED, exists=False)},
        partitions={CREATED: TopicPartitions(topic=CREATED, exists=False)},
    )

    found = prove(recorded, live)

    assert found.obstacles == ()
    assert [type(one) for one in found.plan.actions] == [
        CreateNamespace,
        CreateTopic,
        RegisterSchema,
        SetPolicy,
    ]
    assert CreateTopic(topic=CREATED, partitions=4) in found.plan.actions


@pytest.mark.parametrize(
    ("recorded", "live", "reason", "hint"),
    [
        (4, 2, "2 partitions in the registry, 4 partitions in the snapshot", "--partitions 4"),
        (2, 4, "4 partitions in the registry, 2 partitions in the snapshot", "cannot change"),
        (0, 1, "1 partition in the registry, no partitions in the snapshot", "cannot change"),
        (3, 0, "no partitions in the registry, 3 partitions in the snapshot", "cannot change"),
    ],
)
def test_another_number_of_partitions_is_left_and_no_obstacle(
    recorded: int, live: int, reason: str, hint: str
) -> None:
    topic = topic_state(CREATED, ONE)
    counts = [{CREATED: TopicPartitions(topic=CREATED, count=n)} for n in (recorded, live)]

    found = prove(
        replace(state(topic), partitions=counts[0]),
        replace(empty_like(state(topic)), partitions=counts[1]),
    )

    (left,) = found.left
    assert (left.subject, left.reason) == (CREATED, reason)
    assert hint in left.hint
    assert found.obstacles == ()
    assert only(found).versions == (0,)


@pytest.mark.parametrize(
    "live",
    [
        TopicPartitions(topic=CREATED, count=4),
        TopicPartitions(topic=CREATED, exists=False),
        TopicPartitions(topic=CREATED),
    ],
)
def test_partitions_that_are_as_recorded_or_to_be_made_or_unknown_are_not_named(
    live: TopicPartitions,
) -> None:
    topic = topic_state(CREATED, ONE)
    recorded = TopicPartitions(topic=CREATED, count=4)

    found = prove(
        replace(state(topic), partitions={CREATED: recorded}),
        replace(empty_like(state(topic)), partitions={CREATED: live}),
    )

    assert found.left == ()


def test_one_obstacle_holds_back_all_topics() -> None:
    found = prove(state(topic_state(CREATED, ONE, DOCUMENTED), topic_state(OTHER, ONE)))

    assert len(found.topics) == 2
    assert found.plan.actions == ()


# ------------------------------------------------------------------ policies


def policies_of(found: Restore) -> list[tuple[object, object, Hold | None]]:
    return [
        (one.change.key, one.change.after, one.hold)
        for one in found.plan.actions
        if isinstance(one, SetPolicy)
    ]


STRATEGY: Final = "schemaCompatibilityStrategy"
AUTO_UPDATE: Final = "isAllowAutoUpdateSchema"


def test_a_namespace_is_held_loose_for_further_versions_and_set_back() -> None:
    full = NamespacePolicies(
        schema_compatibility_strategy=Strategy.FULL, is_allow_auto_update_schema=True
    )
    recorded = state(topic_state(CREATED, ONE, TWO), namespaces={ORDERS: full})

    assert policies_of(prove(recorded)) == [
        (STRATEGY, Strategy.ALWAYS_COMPATIBLE, Hold.BEGIN),
        (AUTO_UPDATE, False, Hold.BEGIN),
        (STRATEGY, Strategy.FULL, Hold.END),
        (AUTO_UPDATE, True, Hold.END),
    ]


def test_first_versions_need_no_loose_strategy() -> None:
    full = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL)

    found = prove(state(topic_state(CREATED, ONE), namespaces={ORDERS: full}))

    assert policies_of(found) == [(STRATEGY, Strategy.FULL, None)]


def test_a_namespace_in_which_nothing_is_missing_is_not_held() -> None:
    full = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL)
    recorded = state(topic_state(CREATED, ONE, TWO), namespaces={ORDERS: full})
    live = state(topic_state(CREATED, ONE, TWO))

    assert policies_of(prove(recorded, live)) == [(STRATEGY, Strategy.FULL, None)]


def test_what_a_killed_restore_left_is_set_back() -> None:
    full = NamespacePolicies(
        schema_compatibility_strategy=Strategy.FULL, is_allow_auto_update_schema=True
    )
    left = NamespacePolicies(
        schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE, is_allow_auto_update_schema=False
    )
    recorded = state(topic_state(CREATED, ONE, TWO), namespaces={ORDERS: full})
    live = state(topic_state(CREATED, ONE), namespaces={ORDERS: left})

    assert policies_of(prove(recorded, live)) == [
        (STRATEGY, Strategy.FULL, Hold.END),
        (AUTO_UPDATE, True, Hold.END),
    ]


def test_a_topic_with_a_strategy_of_its_own_is_held_loose_too() -> None:
    own = TopicPolicies(schema_compatibility_strategy=Strategy.FULL)
    recorded = state(topic_state(CREATED, ONE, TWO, policies=own))
    live = state(topic_state(CREATED, ONE, policies=own))

    found = [one for one in prove(recorded, live).plan.actions if isinstance(one, SetPolicy)]

    assert [(one.change.after, one.hold) for one in found if one.subject == CREATED] == [
        (Strategy.ALWAYS_COMPATIBLE, Hold.BEGIN),
        (Strategy.FULL, Hold.END),
    ]


# ------------------------------------------------------------------ the check after it


@pytest.mark.parametrize(
    ("live", "difference"),
    [
        (topic_state(CREATED, ONE, STRING), ""),
        (topic_state(CREATED, ONE), "there is no v1"),
        (topic_state(CREATED, ONE, INT64), "v1 is another schema"),
    ],
)
def test_a_difference_after_a_restore_is_found(live: TopicState, difference: str) -> None:
    found = check_restore(state(topic_state(CREATED, ONE, STRING)), state(live))

    assert found.differences == ({CREATED: difference} if difference else {})
    assert found.versions == (0 if difference else 2)


def test_a_next_version_that_is_too_low_is_found() -> None:
    gone = TopicState(topic=CREATED, history=SchemaHistory(next_version=2))

    found = check_restore(state(gone), state(TopicState(topic=CREATED)))

    assert found.differences == {CREATED: "the next version is v0, not v2"}


def test_recorded_policies_that_lock_out_clients_of_later_versions_are_not_restored() -> None:
    strict = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL_TRANSITIVE)
    loose = NamespacePolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)
    later, lost = topic_state(CREATED, ONE, TWO), TopicState(topic=OTHER)
    recorded = state(
        topic_state(CREATED, ONE), topic_state(OTHER, ONE), namespaces={ORDERS: strict}
    )

    kept = prove(recorded, state(later, lost, namespaces={ORDERS: loose}))
    in_journal = prove(
        state(later, topic_state(OTHER, ONE), namespaces={ORDERS: strict}),
        state(later, lost, namespaces={ORDERS: loose}),
    )
    restored = prove(recorded, state(topic_state(CREATED, ONE), lost, namespaces={ORDERS: loose}))

    (left,) = kept.left
    assert left.subject == ORDERS
    assert "consumers with v1, the latest version" in left.reason
    assert not [one for one in kept.plan.actions if isinstance(one, SetPolicy)]
    assert in_journal.left == kept.left
    assert restored.left == ()
    assert [one.change.after for one in restored.plan.actions if isinstance(one, SetPolicy)] == [
        Strategy.FULL_TRANSITIVE
    ]


def test_a_namespace_that_an_unfinished_restore_created_gets_the_recorded_policies() -> None:
    strict = NamespacePolicies(schema_compatibility_strategy=Strategy.FULL_TRANSITIVE)
    recorded = state(topic_state(CREATED, ONE, TWO), namespaces={ORDERS: strict})
    live = state(topic_state(CREATED, ONE), namespaces={ORDERS: NamespacePolicies()})

    kept = prove(recorded, live)
    continued = prove(recorded, live, unfinished=UnfinishedRestore(created=frozenset({ORDERS})))

    assert [difference.subject for difference in kept.left] == [ORDERS]
    assert continued.left == ()
    assert (STRATEGY, Strategy.FULL_TRANSITIVE, Hold.END) in policies_of(continued)
