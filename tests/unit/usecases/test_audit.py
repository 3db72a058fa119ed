"""Which topics an audit looks at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.broker.lines.table import UnknownBrokerError
from gitops.model.broker_settings import (
    SettingValue,
    assumed_settings,
    known_settings,
    with_known,
    with_probed,
)
from gitops.model.errors import NotThereError, OutsideError, RegistryRefusedError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    NamespacePolicies,
    SchemaCompatibilityStrategy,
    SettingRemark,
    SettingSource,
)
from gitops.model.state import RegistryState, Scope
from gitops.planning.rolling_upgrade import release_doubts
from gitops.ports import Progress, no_progress
from gitops.usecases.audit import AuditRequest, audit
from tests.support.fake_registry import FakeRegistry
from tests.support.protos import of_edition
from tests.support.states import (
    CREATED,
    ORDERS,
    STRING,
    avro,
    field,
    info,
    record,
    state,
    topic_state,
)

_BAD = info(record(field("a"), namespace="com.my-co"))
_OTHER = NamespaceName("shop", "hidden")
_LISTED, _ABSENT = TopicName(ORDERS, "listed"), TopicName(ORDERS, "absent")


def test_a_topic_that_the_broker_does_not_list_is_judged_if_the_files_name_it() -> None:
    held = state(topic_state(CREATED, _BAD), topic_state(_LISTED, STRING))
    registry = FakeRegistry(held, listed=[_LISTED])
    request = AuditRequest(as_if_broker="4.2")

    alone = audit(registry, request)
    named = audit(registry, replace(request, topics=frozenset({CREATED, _ABSENT})))

    assert (alone.counts.topics, alone.counts.changed) == (1, 0)
    assert (named.counts.topics, named.counts.changed) == (2, 1)
    assert any("my-co" in finding.message for finding in named.findings)


def test_a_namespace_that_may_not_be_listed_is_a_limit() -> None:
    other = TopicName(NamespaceName("shop", "payments"), "captured")
    held = state(topic_state(CREATED, STRING), topic_state(other, STRING))
    registry = FakeRegistry(held, listed=[other], unlisted=[ORDERS])

    report = audit(registry, AuditRequest())

    assert report.counts.topics == 1
    assert len(report.limits) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("present", "target"), [("3.0", "4.0"), ("4.0", "3.0"), ("3.0", None)])
def test_a_definition_that_nobody_can_read_for_its_depth_is_a_finding(
    present: str, target: str | None
) -> None:
    depth = 30_000
    deep = info(f'{{"type":"record","name":"R","fields":[],"x":{"[" * depth}{"]" * depth}}}')
    registry = FakeRegistry(state(topic_state(CREATED, deep)), listed=[CREATED])

    report = audit(registry, AuditRequest(broker=present, as_if_broker=target))

    assert "AUDIT-H002" in {finding.rule for finding in report.findings}


_SEEN = known_settings(
    {"release": "4.2.4"},
    SettingSource.LEARNED,
    limits=("The broker's configuration is not known: the role may not read it.",),
    doubts=(SettingRemark(key="release", message="the brokers are of different releases"),),
)


def test_what_it_was_decided_by_is_part_of_the_answer() -> None:
    registry = FakeRegistry(broker=with_known(assumed_settings(), _SEEN))

    report = audit(registry, AuditRequest())

    assert report.line == "4.2"
    assert report.broker.source("release") is SettingSource.LEARNED
    assert report.broker.source("schema_compatibility_strategy") is SettingSource.ASSUMED
    assert [finding.rule for finding in report.findings] == ["PLAN-R012"]


class _Probed(FakeRegistry):
    """A cluster whose second namespace shows its default strategy; the first may not be read."""

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        if _OTHER in scope.namespaces:
            raise RegistryRefusedError("not for you", status=403)
        if ORDERS in scope.namespaces:
            values: dict[str, SettingValue] = {
                "schema_compatibility_strategy": SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
            }
            self._broker = with_known(self._broker, with_probed(_SEEN, values))
        return super().observe(scope, progress)


def test_namespaces_show_the_strategy_that_the_role_may_not_read_before_topics_are_judged() -> None:
    held = state(topic_state(CREATED, avro(field("a", "int")), avro(field("a", "string"))))
    broker = with_known(assumed_settings(), _SEEN)
    asked = AuditRequest(namespaces=(_OTHER, ORDERS))

    probed = audit(_Probed(held, broker=broker, listed=[CREATED]), asked)
    assumed = audit(FakeRegistry(held, broker=broker, listed=[CREATED]), AuditRequest())

    assert "AUDIT-H001" not in {one.rule for one in probed.findings}
    (found,) = (one for one in assumed.findings if one.rule == "AUDIT-H001")
    assert found.message.endswith("; assumed: schemaCompatibilityStrategy FULL")


def test_each_namespace_is_judged_by_what_it_shows_itself() -> None:
    """However many with a strategy of their own come before the first that shows the broker's."""
    others = [NamespaceName("shop", f"n{number:02}") for number in range(60)]
    own = NamespacePolicies(schema_compatibility_strategy=SchemaCompatibilityStrategy.BACKWARD)
    topics = [TopicName(name, "t") for name in others]
    versions = (avro(field("a", "int")), avro(field("a", "string")))
    held = state(
        *(topic_state(topic, *versions) for topic in (*topics, CREATED)),
        namespaces=dict.fromkeys(others, own),
    )
    broker = with_known(assumed_settings(), _SEEN)

    report = audit(_Probed(held, broker=broker, listed=[*topics, CREATED]), AuditRequest())

    (found,) = (one for one in report.findings if one.rule == "AUDIT-H001")
    assert found.subjects == tuple(map(str, topics))
    assert "assumed" not in found.message
    assert report.broker.source("schema_compatibility_strategy") is SettingSource.PROBED


_ROLLING = known_settings(
    {"release": "4.0.7"},
    SettingSource.LEARNED,
    doubts=release_doubts(("4.0.7", "4.2.3", "4.2.4", "6.0.0")),
    other_releases=("4.2.3", "4.2.4", "6.0.0"),
)


def test_a_rolling_upgrade_is_judged_by_the_newest_line_in_the_cluster() -> None:
    registry = FakeRegistry(
        state(topic_state(CREATED, _BAD)),
        broker=with_known(assumed_settings(), _ROLLING),
        listed=[CREATED],
    )

    report = audit(registry, AuditRequest())

    assert (report.line, report.target, report.is_under_way) == ("4.0", "4.2", True)
    (bad,) = (one for one in report.findings if one.rule == "AUDIT-U001")
    assert bad.hint.startswith("on 4.0, at once, since the cluster has brokers of 4.2: delete the")
    assert report.steps[0].startswith("on 4.0, at once, since the cluster has brokers of 4.2, for")
    hints = {one.hint for one in report.findings if one.rule == "PLAN-R012"}
    assert all("judged as the upgrade from 4.0 to 4.2" in hint for hint in hints)


def test_a_line_that_is_asked_for_and_there_already_is_under_way() -> None:
    registry = FakeRegistry(broker=with_known(assumed_settings(), _ROLLING))

    report = audit(registry, AuditRequest(as_if_broker="4.2"))

    assert (report.target, report.is_under_way) == ("4.2", True)


def test_what_a_line_in_the_cluster_refuses_is_mended_first() -> None:
    """Of an edition later than 2026 5.0 alone stops; 4.2 is there, and takes no `my-co`."""
    later = topic_state(_LISTED, of_edition(1003))
    registry = FakeRegistry(
        state(later, topic_state(CREATED, _BAD)),
        broker=with_known(assumed_settings(), _ROLLING),
        listed=[CREATED, _LISTED],
    )

    report = audit(registry, AuditRequest(as_if_broker="5.0"))

    first, second, _ = report.steps
    at_once = "on 4.0, at once, since the cluster has brokers of 4.2"
    assert first.startswith(f"{at_once}, for {CREATED} (AUDIT-U001)")
    assert second.startswith(f"on 4.0, before the first broker of 5.0, for {_LISTED} (AUDIT-U001)")
    hints = {one.subjects: one.hint for one in report.findings if one.rule == "AUDIT-U001"}
    assert hints[str(CREATED),].startswith(at_once)
    assert hints[str(_LISTED),].startswith("on 4.0, before the first broker of 5.0: delete")


@pytest.mark.parametrize(
    ("asked", "between"),
    [
        (AuditRequest(), "judged as the upgrade from 3.0 to 4.2, which brokers"),
        (AuditRequest(as_if_broker="5.0"), "finish the upgrade; --as-if-broker 4.0 and"),
    ],
)
def test_the_lines_in_between_are_named(asked: AuditRequest, between: str) -> None:
    known = replace(_ROLLING, release="3.0.7", other_releases=("4.0.7", "4.2.4"))

    report = audit(FakeRegistry(broker=with_known(assumed_settings(), known)), asked)

    (hint,) = {one.hint for one in report.findings if one.rule == "PLAN-R012"}
    assert between in hint
    assert "--as-if-broker 4.0" in hint


@pytest.mark.parametrize(
    ("asked", "target"),
    [
        (AuditRequest(as_if_broker="5.0"), "5.0"),
        (AuditRequest(as_if_broker="4.0"), "4.0"),
        (AuditRequest(broker="4.0"), ""),
    ],
)
def test_a_line_that_is_named_comes_before_those_in_the_cluster(
    asked: AuditRequest, target: str
) -> None:
    report = audit(FakeRegistry(broker=with_known(assumed_settings(), _ROLLING)), asked)

    assert (report.target, report.is_under_way) == (target, False)
    hints = [one.hint for one in report.findings if one.rule == "PLAN-R012"]
    assert hints
    assert all("finish the upgrade" in hint for hint in hints)


def test_releases_of_one_line_are_no_upgrade() -> None:
    known = replace(_ROLLING, release="4.2.3", other_releases=("4.2.4",))

    report = audit(FakeRegistry(broker=with_known(assumed_settings(), known)), AuditRequest())

    assert (report.target, report.is_under_way) == ("", False)


def test_undefined_is_no_strategy_to_judge_by() -> None:
    asked = AuditRequest(as_if_strategy=SchemaCompatibilityStrategy.UNDEFINED)

    with pytest.raises(UsageError, match="the next level decides"):
        audit(FakeRegistry(), asked)


@pytest.mark.parametrize("asked", [AuditRequest(broker=""), AuditRequest(as_if_broker="")])
def test_an_empty_line_is_none(asked: AuditRequest) -> None:
    with pytest.raises(UnknownBrokerError):
        audit(FakeRegistry(), asked)


def test_of_a_name_nothing_is_passed_over_that_a_clusters_own_release_may_have() -> None:
    cluster = FakeRegistry(broker=with_known(assumed_settings(), _SEEN))

    with pytest.raises(UnknownBrokerError, match=r"no profile of Pulsar 4\.2\.4-legacy"):
        audit(cluster, AuditRequest(as_if_broker="4.2.4-legacy"))


def test_a_line_that_is_named_is_no_longer_assumed() -> None:
    report = audit(FakeRegistry(broker=assumed_settings()), AuditRequest(broker="4.2"))

    assert report.line == "4.2"
    assert report.broker.source("release") is SettingSource.NAMED


def test_a_topic_that_may_not_be_read_leaves_the_others() -> None:
    topics = [TopicName(ORDERS, f"t{number:02}") for number in range(9)]
    held = state(*(topic_state(topic, STRING) for topic in topics))
    registry = FakeRegistry(held, listed=topics, unread=topics[3:5])

    report = audit(registry, AuditRequest())

    assert (report.counts.topics, report.counts.versions) == (7, 7)
    assert report.limits == (f"{ORDERS}: 2 of 9 topics: not for you",)


def test_a_namespace_whose_policies_may_not_be_read_is_a_limit() -> None:
    other = TopicName(NamespaceName("shop", "payments"), "captured")
    held = state(topic_state(CREATED, STRING), topic_state(other, STRING))

    report = audit(FakeRegistry(held, listed=[CREATED, other], unread=[ORDERS]), AuditRequest())

    assert report.counts.topics == 1
    assert report.limits == (f"{ORDERS}: its policies or its list of topics: not for you",)


def test_an_audit_that_may_read_nothing_is_no_good_one() -> None:
    registry = FakeRegistry(state(topic_state(CREATED, STRING)), listed=[CREATED], unread=[ORDERS])

    with pytest.raises(OutsideError, match=f"nothing can be read: {ORDERS}: .*: not for you"):
        audit(registry, AuditRequest())


def test_credentials_that_end_midway_end_the_audit() -> None:
    registry = FakeRegistry(
        state(topic_state(CREATED, STRING)), listed=[CREATED], unread=[CREATED], refusal=401
    )

    with pytest.raises(RegistryRefusedError):
        audit(registry, AuditRequest())


def test_namespaces_may_be_named() -> None:
    other = TopicName(NamespaceName("shop", "payments"), "captured")
    held = state(topic_state(CREATED, STRING), topic_state(other, STRING))
    registry = FakeRegistry(held, listed=[CREATED, other])

    assert audit(registry, AuditRequest(namespaces=(ORDERS, ORDERS))).counts.topics == 1
    with pytest.raises(NotThereError, match="shop/none"):
        audit(registry, AuditRequest(namespaces=(NamespaceName("shop", "none"),)))


def test_a_broker_that_dies_midway_ends_the_audit() -> None:
    class Dying(FakeRegistry):
        def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
            if scope.topics:
                raise OutsideError("no answer from the registry")
            return super().observe(scope, progress)

    held = state(topic_state(CREATED, STRING))
    with pytest.raises(OutsideError, match="no answer"):
        audit(Dying(held, listed=[CREATED]), AuditRequest(as_if_broker="5.0"))


@pytest.mark.rule("AUDIT-H008")
def test_a_topic_that_the_broker_cannot_show_is_a_finding_and_the_others_are_judged() -> None:
    topics = [TopicName(ORDERS, f"t{number:02}") for number in range(9)]
    held = state(*(topic_state(topic, STRING) for topic in topics))
    broken = dict.fromkeys(topics[3:5], "the registry answered 500: EXTERNAL")
    registry = FakeRegistry(held, listed=topics, broken=broken)

    report = audit(registry, AuditRequest(as_if_broker="5.0"))

    (found,) = (one for one in report.findings if one.rule == "AUDIT-H008")
    assert [member.subject for member in found.members] == [str(topic) for topic in broken]
    assert "the registry answered 500: EXTERNAL" in found.message
    assert (report.counts.topics, report.counts.versions) == (7, 7)
    whole = audit(FakeRegistry(held, listed=topics), AuditRequest())
    assert "AUDIT-H008" not in {one.rule for one in whole.findings}
