"""Guards of a change, one by one."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from gitops.checks.changed_topics import (
    schema_unmanaged,
    share_exceeded,
    topic_removed,
    topic_renamed,
)
from gitops.checks.edited_snapshots import snapshots_edited
from gitops.checks.loosened_policies import (
    LoosenedPolicy,
    accepted_by_policy_change,
    default_policies,
    effective_policies,
    loosened_policies,
    policy_loosened,
)
from gitops.checks.weakened_limits import limits_weakened
from gitops.model.config import Config, SafetyConfig
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import RefusedSchema
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    PolicyChange,
    PolicyValue,
    TopicPolicies,
)
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.waivers import LimitWaiver
from gitops.planning.limit_waivers import count_changes, unneeded_limit_findings

TOPIC = TopicName.parse("shop/orders/created")
SPACE = TOPIC.namespace
WHERE = Location(file="namespaces/shop/orders/created.yaml", line=3, column=1)
SAFETY = SafetyConfig()
DAY = datetime.date(2030, 6, 30)
ALLOWED = SafetyConfig(allow_deletions=True)


@pytest.mark.rule("CHECK-R001")
def test_a_manifest_that_is_gone() -> None:
    for found in (topic_removed(TOPIC, WHERE, SAFETY), schema_unmanaged(TOPIC, WHERE, SAFETY)):
        assert (found.rule, found.severity) == ("CHECK-R001", Severity.ERROR)
        assert found.location
        assert (str(found.location), found.subject) == (str(WHERE), "shop/orders/created")
    assert topic_removed(TOPIC, WHERE, SAFETY).location == replace(WHERE, in_base=True)
    assert topic_removed(TOPIC, WHERE, ALLOWED).severity is Severity.WARNING


def test_what_is_allowed_already_is_not_advised() -> None:
    for make in (topic_removed, schema_unmanaged):
        assert "safety.allowDeletions" in make(TOPIC, WHERE, SAFETY).hint
        assert "safety.allowDeletions" not in make(TOPIC, WHERE, ALLOWED).hint
    assert "; or `plan --prune` deletes" in topic_removed(TOPIC, WHERE, ALLOWED).hint


@pytest.mark.rule("CHECK-R002")
def test_a_topic_by_another_name() -> None:
    new = TopicName(SPACE, "placed")
    found = topic_renamed(new, TOPIC, WHERE, SAFETY)
    assert (found.rule, found.severity) == ("CHECK-R002", Severity.ERROR)
    assert "shop/orders/created becomes shop/orders/placed" in found.message
    assert "topic: created" in found.hint
    moved = topic_renamed(TopicName.parse("shop/other/created"), TOPIC, WHERE, SAFETY)
    assert "topic:" not in moved.hint, "the folder says the namespace"
    assert moved.hint.endswith("namespaces/shop/orders")
    assert topic_renamed(new, TOPIC, WHERE, ALLOWED).severity is Severity.WARNING


@pytest.mark.rule("CHECK-R003")
@pytest.mark.parametrize(
    ("before", "after", "is_loosened"),
    [
        (Strategy.FULL, Strategy.BACKWARD, True),
        (Strategy.FULL, Strategy.ALWAYS_COMPATIBLE, True),
        (Strategy.BACKWARD_TRANSITIVE, Strategy.BACKWARD, True),
        (Strategy.BACKWARD, Strategy.FULL, False),
        (Strategy.BACKWARD, Strategy.FORWARD, False),
        (Strategy.FULL, Strategy.FULL, False),
        (Strategy.FULL, None, False),
    ],
)
def test_a_policy_that_lets_more_through(
    before: Strategy, after: Strategy | None, *, is_loosened: bool
) -> None:
    head = NamespacePolicies(schema_compatibility_strategy=after)
    found = loosened_policies(SPACE, head, {"schemaCompatibilityStrategy": before})
    assert bool(found) is is_loosened
    for one in found:
        said = policy_loosened(one, WHERE)
        assert (said.rule, said.severity, said.subject) == (
            "CHECK-R003",
            Severity.WARNING,
            "shop/orders",
        )
        assert after
        assert f"{before.value} → {after.value}" in said.message


@pytest.mark.slow
def test_flags_that_let_more_through() -> None:
    held: dict[str, PolicyValue] = {
        "isAllowAutoUpdateSchema": False,
        "schemaValidationEnforced": True,
    }
    looser = NamespacePolicies(is_allow_auto_update_schema=True, schema_validation_enforced=False)
    stricter = NamespacePolicies(is_allow_auto_update_schema=False, schema_validation_enforced=True)
    assert [one.change.key for one in loosened_policies(SPACE, looser, held)] == [
        "isAllowAutoUpdateSchema",
        "schemaValidationEnforced",
    ]
    assert not loosened_policies(SPACE, stricter, held)
    topic = loosened_policies(TOPIC, TopicPolicies(schema_validation_enforced=False), held)
    assert "of topic shop/orders/created" in policy_loosened(topic[0], None).message


def test_what_is_in_force_is_the_files_the_registrys_or_what_is_above() -> None:
    above = default_policies(BrokerSettings())
    none = NamespacePolicies()
    undefined = NamespacePolicies(schema_compatibility_strategy=Strategy.UNDEFINED)
    forward = NamespacePolicies(schema_compatibility_strategy=Strategy.FORWARD)
    backward = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)

    def strategy(base: NamespacePolicies, observed: NamespacePolicies) -> PolicyValue:
        return effective_policies(base, observed, above)["schemaCompatibilityStrategy"]

    assert strategy(forward, backward) is Strategy.FORWARD
    assert strategy(none, backward) is Strategy.BACKWARD
    assert strategy(undefined, backward) is Strategy.BACKWARD
    assert strategy(none, undefined) is Strategy.FULL
    assert effective_policies(none, none, above)["isAllowAutoUpdateSchema"] is True
    flags = NamespacePolicies(is_allow_auto_update_schema=False)
    assert effective_policies(flags, none, above)["isAllowAutoUpdateSchema"] is False


@pytest.mark.rule("CHECK-R004")
def test_what_only_the_new_policy_lets_in() -> None:
    why = Finding(rule="AVRO-R002", severity=Severity.ERROR, message="'a' has no default")
    refused = RefusedSchema(
        topic=TOPIC,
        info=SchemaInfo(type=SchemaType.AVRO, schema="{}"),
        latest_version=1,
        strategy=Strategy.FULL,
        findings=(why,),
    )
    found = accepted_by_policy_change(refused, Strategy.BACKWARD, WHERE)
    assert (found.rule, found.severity) == ("CHECK-R004", Severity.ERROR)
    assert "loosens its strategy from FULL to BACKWARD" in found.message
    assert "'a' has no default" in found.message


@pytest.mark.rule("CHECK-R005")
@pytest.mark.parametrize(
    ("touched", "topics", "is_told"),
    [(3, 10, False), (4, 10, True), (9, 9, False), (0, 10, False), (0, 0, False), (31, 100, True)],
)
def test_the_share_of_topics_that_a_change_alters(
    touched: int, topics: int, *, is_told: bool
) -> None:
    names = [TopicName.of(SPACE, f"t{number}") for number in range(touched)]
    changes = count_changes(dict.fromkeys(names, "0" * 32), (), DAY)
    found = share_exceeded(changes, topics, SAFETY)
    assert [one.rule for one in found] == ["CHECK-R005"] * is_told


@pytest.mark.rule("CHECK-R005")
def test_a_waiver_takes_the_topics_that_it_names_out_of_the_share() -> None:
    names = [TopicName.of(SPACE, f"t{number}") for number in range(5)]
    changed = {name: f"{number:032x}" for number, name in enumerate(names)}
    waiver = LimitWaiver(
        name="big",
        topics={name: changed[name] for name in names[1:]},
        reason="a new header\nfor all",
        approved_by="@acme/platform",
        expires=DAY,
        location=Location(file="waivers/big.yaml"),
    )

    def found(
        waivers: list[LimitWaiver], today: datetime.date = DAY
    ) -> list[tuple[Severity, str, str]]:
        changes = count_changes(changed, waivers, today)
        findings = share_exceeded(changes, 10, SAFETY)
        return [(one.severity, one.message, one.hint) for one in findings]

    ((severity, message, hint),) = found([waiver])
    assert (severity, message) == (Severity.INFO, "5 of 10 topics change, more than 30%")
    assert "waivers/big.yaml, approved by @acme/platform" in hint
    assert '"a new header for all"' in hint
    # Another schema than the approved one counts, and so does every topic once it has expired.
    others = dict.fromkeys(names, "f" * 32)
    ((severity, _, _),) = found([replace(waiver, topics=others)])
    assert severity is Severity.ERROR
    ((severity, _, hint),) = found([waiver], DAY + datetime.timedelta(days=1))
    assert (severity, "--waivers waivers/" in hint) == (Severity.ERROR, True)
    assert list(unneeded_limit_findings([waiver], changed, DAY)) == []
    (unneeded,) = unneeded_limit_findings([waiver], {}, DAY)
    assert (unneeded.rule, unneeded.subject) == ("WAIVER-R003", "waivers/big.yaml")


def config(safety: SafetyConfig = SAFETY, **rules: Severity) -> Config:
    named = {rule.replace("_", "-"): severity for rule, severity in rules.items()}
    return Config(registries={}, default_registry="", safety=safety, rules=named)


@pytest.mark.rule("CHECK-R007")
def test_history_that_is_edited() -> None:
    files = [f"snapshots/local/shop/orders/{name}.json" for name in "abcdefg"]
    found = snapshots_edited(files, Location(file=files[0]))
    assert (found.rule, found.severity) == ("CHECK-R007", Severity.WARNING)
    assert found.message.endswith(f"{files[4]}, 2 more")
    assert "more" not in snapshots_edited(files[:5], Location(file=files[0])).message


def at(key: tuple[str, str]) -> Location:
    return Location(file=".".join(key))


@pytest.mark.rule("CHECK-R006")
def test_limits_that_are_weakened() -> None:
    weak = SafetyConfig(max_changed_share=1.0, min_topics=99, allow_deletions=True)
    found = limits_weakened(config(), config(weak, CHECK_R001=Severity.OFF), at)
    assert [one.message for one in found] == [
        "safety.maxChangedShare is raised: 30% → 100%",
        "safety.minTopics is raised: 10 → 99",
        "safety.allowDeletions is set",
        "CHECK-R001 gets a lower severity: error → off",
    ]
    assert {one.rule for one in found} == {"CHECK-R006"}
    assert [str(one.location) for one in found][2:] == ["safety.allowDeletions", "rules.CHECK-R001"]


def test_limits_that_are_strengthened_or_stay() -> None:
    strict = SafetyConfig(max_changed_share=0.1, min_topics=1)
    assert not limits_weakened(config(), config(strict, CHECK_R003=Severity.ERROR), at)
    assert not limits_weakened(config(), config(), at)
    # What Pulsar decides is not a matter of configuration.
    assert not limits_weakened(config(), config(AVRO_R001=Severity.OFF), at)
    # Nor does a rule count that there is not.
    assert not limits_weakened(config(NO_RULE=Severity.ERROR), config(), at)
    lowered = replace(config(), rules={})
    assert limits_weakened(config(CHECK_R003=Severity.ERROR), lowered, at)


def test_a_loosened_policy_says_both_values() -> None:
    change = PolicyChange(key="schemaValidationEnforced", before=True, after=False)
    found = policy_loosened(LoosenedPolicy(subject=NamespaceName("a", "b"), change=change), WHERE)
    assert found.message == "schemaValidationEnforced of namespace a/b is loosened: true → false"
