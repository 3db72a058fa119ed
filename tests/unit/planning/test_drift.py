"""What a plan says of versions that are not in git."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.plan import (
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaDrift,
    SchemaWithoutEffect,
    UnknownVersion,
)
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.model.state import TopicState
from gitops.planning.drift import Provenance, add_drift
from gitops.planning.plan import make_plan
from tests.support.states import CREATED, INT64, STRING, avro, field, question, state, topic_state

_OPTIONAL = ["null", "string"]
_A = avro(field("a"))
_B = avro(field("a"), field("b", _OPTIONAL, default=None))
_C = avro(field("a"), field("c", _OPTIONAL, default=None))


class _Git:
    """Knows some versions, and notes what it is asked about."""

    def __init__(self, *declared: int, limit: str = "") -> None:
        self._declared = frozenset(declared)
        self._limit = limit
        self.asked: list[set[TopicName]] = []

    def __call__(self, histories: Mapping[TopicName, SchemaHistory]) -> Provenance:
        self.asked.append(set(histories))
        return Provenance(declared=dict.fromkeys(histories, self._declared), limit=self._limit)


def _plan(desired: SchemaInfo, held: TopicState, git: _Git, **severities: Severity) -> Plan:
    rules = {name.replace("_", "-"): severity for name, severity in severities.items()}
    asked = question(state(topic_state(CREATED, desired)), state(held), rules=rules)
    return add_drift(make_plan(asked), asked, git)


@pytest.mark.rule("PLAN-R010")
def test_a_latest_version_that_no_commit_declared() -> None:
    held = topic_state(CREATED, _A, _B)
    entries = tuple(replace(one, timestamp=1_795_212_345_678) for one in held.history.entries)
    held = replace(held, history=replace(held.history, entries=entries))

    past_git = _plan(_A, held, _Git(0))
    reverted = _plan(_A, held, _Git(0, 1))

    (drift,) = past_git.notices
    assert isinstance(drift, SchemaDrift)
    assert drift.unknown == (UnknownVersion(version=1, timestamp=1_795_212_345_678),)
    assert (drift.equal_version, drift.latest_version, drift.limit) == (0, 1, "")
    assert [(one.kind.value, one.path) for one in drift.changes] == [("+", "b")]
    (found,) = past_git.findings
    assert (found.rule, found.severity, found.subject) == (
        "PLAN-R010",
        Severity.WARNING,
        str(CREATED),
    )
    assert found.message == (
        "v1, the latest version, is not in git: registered 2026-11-20 22:05:45 UTC, by whom is "
        "unknown; adds b"
    )
    assert "pulsar-gitops drift --adopt shop/orders/created --registry local" in found.hint
    assert (past_git.actions, past_git.unchanged) == ((), 0)

    assert [type(one) for one in reverted.notices] == [SchemaWithoutEffect]
    assert [one.rule for one in reverted.findings] == ["PLAN-R003"]


def test_only_versions_after_the_newest_that_git_knows_are_unknown() -> None:
    held = topic_state(CREATED, _A, STRING, _B, INT64, _C)

    (drift,) = _plan(_A, held, _Git(2)).notices

    assert isinstance(drift, SchemaDrift)
    assert [one.version for one in drift.unknown] == [3, 4]
    # What the files have is known, whatever git's history says.
    (drift,) = _plan(_A, held, _Git()).notices
    assert isinstance(drift, SchemaDrift)
    assert [one.version for one in drift.unknown] == [1, 2, 3, 4]


def test_several_versions_past_git_are_all_named() -> None:
    (found,) = _plan(_A, topic_state(CREATED, _A, _B, _C), _Git(0)).findings

    assert found.message == (
        "v1 and v2, the latest versions, are not in git: v2 registered at an unknown time, by "
        "whom is unknown; adds c"
    )


def test_where_the_history_is_not_whole_the_doubt_is_told() -> None:
    limit = "the clone is shallow"

    made = _plan(_A, topic_state(CREATED, _A, _B), _Git(limit=limit))

    (drift,), (found,) = made.notices, made.findings
    assert isinstance(drift, SchemaDrift)
    assert drift.limit == limit
    assert found.message.startswith("v1, the latest version, is not in the files: registered ")
    assert found.message.endswith("; whether git contained it is unknown: the clone is shallow")


def test_a_new_version_that_would_follow_an_unknown_one_says_so() -> None:
    new = avro(field("a"), field("b", _OPTIONAL, default=None), field("d", _OPTIONAL, default=None))
    held = topic_state(CREATED, _A, _B)

    made = _plan(new, held, _Git(0))

    (action,), (found,) = made.actions, made.findings
    assert isinstance(action, RegisterSchema)
    assert action.findings == made.findings
    assert found.message.endswith("by whom is unknown; adds b")
    assert found.hint.endswith("otherwise this version is registered after it")
    # With the history cut, an earlier commit may have had it.
    assert _plan(new, held, _Git(0, limit="shallow")).findings == ()
    assert _plan(new, held, _Git(1)).findings == ()


def test_a_schema_that_is_refused_because_of_an_unknown_version_says_so() -> None:
    made = _plan(avro(field("b", "int")), topic_state(CREATED, _A, _B), _Git(0))

    (refused,) = made.notices
    assert isinstance(refused, RefusedSchema)
    assert "PLAN-R010" in {one.rule for one in refused.findings}
    assert {one.fingerprint for one in refused.findings} <= {
        one.fingerprint for one in made.findings
    }


def test_a_first_version_of_others_is_unknown_too() -> None:
    (found,) = _plan(_B, topic_state(CREATED, _A), _Git()).findings

    assert found.message == (
        "v0, the latest version, is not in git: registered at an unknown time, by whom is unknown"
    )


@pytest.mark.parametrize(
    "held",
    [
        topic_state(CREATED),
        topic_state(CREATED, _A),
        topic_state(CREATED, _B, _A),
        topic_state(CREATED, avro(field("a", doc="other words"))),
    ],
)
def test_git_is_only_asked_about_other_latest_versions(held: TopicState) -> None:
    git = _Git()

    assert _plan(_A, held, git) == _plan(_A, held, _Git(0, 1, 2))
    assert git.asked == []


def test_the_rule_can_be_rated() -> None:
    held = topic_state(CREATED, _A, _B)

    (found,) = _plan(_A, held, _Git(), PLAN_R010=Severity.ERROR).findings
    off = _plan(_A, held, _Git(), PLAN_R010=Severity.OFF)

    assert found.severity is Severity.ERROR
    assert (off.findings, [type(one) for one in off.notices]) == ((), [SchemaDrift])


def test_very_many_fields_are_counted() -> None:
    many = avro(field("a"), *(field(f"f{n}", _OPTIONAL, default=None) for n in range(7)))

    (found,) = _plan(_A, topic_state(CREATED, _A, many), _Git()).findings

    assert found.message.endswith("; adds f0, f1, f2, f3, f4 and 2 more")


def test_a_schema_that_cannot_be_compared_is_a_change_all_the_same() -> None:
    entry = SchemaEntry(version=1, info=INT64)
    held = replace(
        topic_state(CREATED, STRING),
        history=SchemaHistory(entries=(SchemaEntry(version=0, info=STRING), entry), next_version=2),
    )

    (found,) = _plan(STRING, held, _Git()).findings

    assert found.message.endswith("; changes type")
