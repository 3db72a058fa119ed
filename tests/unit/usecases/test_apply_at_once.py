"""Schemas of several topics are registered at once, and whatever stops one stops the rest well."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from gitops.interrupts import Interruption
from gitops.journal.reader import read_journal
from gitops.journal.writer import JournalFile
from gitops.model.apply_result import Result
from gitops.model.errors import (
    GitopsError,
    InterruptedApplyError,
    OutsideError,
    PartialApplyError,
    RegistryRefusedError,
    UnknownOutcomeError,
)
from gitops.model.journal import Outcome
from gitops.model.names import TopicName
from gitops.model.plan import Action, CreateNamespace, RegisterSchema, SetPolicy
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, Scope
from gitops.planning.apply_errors import AGAIN
from gitops.planning.plan import subject_of
from gitops.ports import Progress, no_progress
from gitops.usecases.apply import apply
from tests.support.fake_registry import FakeRegistry
from tests.support.plans import EVERYTHING
from tests.support.states import ORDERS, STRING

_WIDTH = 3
_NO = "incompatible schema"
_LONG = 60
_TOPICS = [TopicName(ORDERS, f"t{number}") for number in range(2 * _WIDTH)]
_LAST = SetPolicy(
    subject=ORDERS, change=PolicyChange(key="isAllowAutoUpdateSchema", before=None, after=False)
)
_ACTIONS: tuple[Action, ...] = (
    CreateNamespace(namespace=ORDERS),
    *(
        RegisterSchema(
            topic=topic, info=STRING, version=0, latest_version=None, strategy=Strategy.FULL
        )
        for topic in _TOPICS
    ),
    _LAST,
)
_PLAN = replace(EVERYTHING, observed={}, expected={}, actions=_ACTIONS)


class _Cluster(FakeRegistry):
    """Takes three requests at once; before a schema is stored `meanwhile` happens to its topic."""

    concurrency = _WIDTH

    def __init__(self, meanwhile: Callable[[TopicName], None]) -> None:
        super().__init__(versions=(0 for _ in count()))
        self._meanwhile = meanwhile
        self._lock = threading.Lock()

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        self._meanwhile(topic)
        with self._lock:
            return super().register_schema(topic, info)

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        with self._lock:
            return super().observe(scope, progress)

    def stored(self) -> set[TopicName]:
        state = self.observe(Scope(topics=frozenset(_TOPICS)))
        return {name for name, each in state.topics.items() if each.history.entries}


class _Together:
    """The first three topics wait for each other."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self._barrier = threading.Barrier(_WIDTH, then)

    def __call__(self, topic: TopicName) -> None:
        if topic in _TOPICS[:_WIDTH]:
            self._barrier.wait(_LONG)


def test_what_does_not_wait_for_each_other_is_carried_out_at_once() -> None:
    registry, here = _Cluster(_Together()), threading.get_ident()
    threads: set[int] = set()
    seen: list[int] = []

    done = apply(
        _PLAN,
        registry,
        lambda _what, number, _total: seen.append(number),
        lambda _result: threads.add(threading.get_ident()),
    )

    assert sorted(map(_ACTIONS.index, done)) == list(range(len(_ACTIONS)))
    assert (done[0], done[-1]) == (_ACTIONS[0], _LAST)
    assert [what for what, _ in registry.calls] == ["create", *["register"] * 6, "set"]
    assert threads == {here}
    assert (seen, seen[-1]) == (sorted(seen), len(_ACTIONS))


def test_where_one_fails_those_under_way_end_and_no_other_begins(tmp_path: Path) -> None:
    together, told = _Together(), list[Result]()

    def meanwhile(topic: TopicName) -> None:
        together(topic)
        if topic == _TOPICS[1]:
            raise OutsideError("the wire is cut")

    registry, journal = _Cluster(meanwhile), JournalFile(tmp_path / "journal")
    journal.begin({"plan": "", "registry": "", "address": "", "actions": 8, "doneBefore": 0})

    with pytest.raises(PartialApplyError) as raised:
        apply(_PLAN, registry, tell=told.append, journal=journal)

    begun = set(_TOPICS[:_WIDTH]) | registry.stored()
    assert registry.stored() == begun - {_TOPICS[1]}
    said = f"{len(registry.stored()) + 1} of 8 actions are done, then: the wire is cut"
    assert raised.value.what == said
    assert {subject_of(one.action): one.error is None for one in told[1:]} == {
        topic: topic != _TOPICS[1] for topic in begun
    }
    assert "set" not in [what for what, _ in registry.calls]
    (run,) = read_journal(journal.path)
    failed = [one.action["topic"] for one in run.attempts if one.outcome is Outcome.FAILED]
    assert (failed, run.count(Outcome.DONE)) == ([str(_TOPICS[1])], len(registry.stored()) + 1)


def _refused(_topic: TopicName) -> None:
    raise RegistryRefusedError(_NO, status=409)


def test_a_refusal_after_our_own_change_of_the_namespace_is_no_stale_plan() -> None:
    actions = (_ACTIONS[0], _LAST, _ACTIONS[1])

    with pytest.raises(PartialApplyError) as raised:
        apply(replace(_PLAN, actions=actions), _Cluster(_refused))

    assert raised.value.what == "2 of 3 actions are done, then: incompatible schema"
    assert raised.value.hint.startswith("change the files until the registry accepts them")


@pytest.mark.parametrize(
    ("others", "kind", "said"),
    [
        (lambda: OutsideError("gone"), RegistryRefusedError, _NO),
        (
            lambda: UnknownOutcomeError("cut"),
            PartialApplyError,
            "0 of 3 actions are done, then: incompatible schema (2 more have an unknown outcome)",
        ),
    ],
)
def test_the_error_of_several_tells_whether_one_may_have_been_carried_out(
    others: Callable[[], OutsideError], kind: type[Exception], said: str
) -> None:
    together, told = _Together(), list[Result]()
    first_told = threading.Event()

    def meanwhile(topic: TopicName) -> None:
        together(topic)
        if topic == _TOPICS[0]:
            _refused(topic)
        first_told.wait(_LONG)
        raise others()

    def tell(result: Result) -> None:
        told.append(result)
        first_told.set()

    with pytest.raises(kind) as raised:
        apply(replace(_PLAN, actions=_ACTIONS[1 : 1 + _WIDTH]), _Cluster(meanwhile), tell=tell)

    assert (str(raised.value), len(told)) == (said, _WIDTH)


def test_after_a_crash_those_under_way_end_and_nothing_is_written_later() -> None:
    together = _Together()

    def meanwhile(topic: TopicName) -> None:
        together(topic)
        if topic == _TOPICS[0]:
            raise ZeroDivisionError

    registry, told = _Cluster(meanwhile), list[Result]()

    with pytest.raises(ZeroDivisionError):
        apply(_PLAN, registry, tell=told.append)

    assert registry.stored() == {subject_of(one.action) for one in told[1:]}
    assert registry.stored() >= set(_TOPICS[1:_WIDTH])


class _FullDisk:
    """A Journal without room for the outcome of the second attempt."""

    def __init__(self) -> None:
        self.intents = 0

    def intend(self, action: Action, *, closes: bool = False, follows: bool = False) -> int:
        del action, closes, follows
        self.intents += 1
        return self.intents

    def conclude(self, number: int, version: int | None, error: GitopsError | None) -> None:
        del version, error
        if number == 2:
            raise OutsideError("the journal cannot be written")


def test_what_was_done_and_cannot_be_written_down_is_done_and_stops_the_rest() -> None:
    registry, told = _Cluster(_Together()), list[Result]()

    with pytest.raises(PartialApplyError, match="the journal cannot be written"):
        apply(_PLAN, registry, tell=told.append, journal=_FullDisk())

    assert {subject_of(one.action) for one in told[1:]} == registry.stored()
    assert all(one.error is None for one in told)


def test_topics_of_a_registry_that_takes_one_request_go_in_the_order_of_the_plan() -> None:
    registry = FakeRegistry(versions=[0, 1])
    topic, other = _ACTIONS[1], _ACTIONS[2]
    assert isinstance(topic, RegisterSchema)
    assert isinstance(other, RegisterSchema)
    actions = (topic, other, replace(topic, version=1))

    with pytest.raises(PartialApplyError):  # the other one gets 1, as the fake counts
        apply(replace(_PLAN, actions=actions), registry)

    assert [about for _, about in registry.calls] == [(topic.topic, STRING), (other.topic, STRING)]


def test_after_ctrl_c_those_under_way_end_and_no_other_begins() -> None:
    interruption = Interruption()
    registry = _Cluster(_Together(interruption.ask))

    with pytest.raises(InterruptedApplyError, match=r"4 of 8 actions are done, then: interrupted"):
        apply(_PLAN, registry, interruption=interruption)

    assert registry.stored() == set(_TOPICS[:_WIDTH])


def test_who_does_not_wait_for_the_answers_learns_which_outcomes_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interruption, told = Interruption(), list[Result]()
    under_way, held = threading.Barrier(_WIDTH + 1), threading.Event()
    before = interruption.wait

    def hold(_topic: TopicName) -> None:
        under_way.wait(_LONG)
        held.wait(_LONG)

    waits = count()

    def wait(call: Callable[[], object]) -> object:
        if len(told) == 1 and next(waits) == 2 * _WIDTH:  # each topic was looked at
            under_way.wait(_LONG)
            interruption.ask()
            raise KeyboardInterrupt
        return before(call)

    monkeypatch.setattr(interruption, "wait", wait)
    journal = JournalFile(tmp_path / "journal")
    journal.begin({"plan": "", "registry": "", "address": "", "actions": 8, "doneBefore": 0})

    with pytest.raises(InterruptedApplyError) as raised:
        apply(_PLAN, _Cluster(hold), tell=told.append, interruption=interruption, journal=journal)
    held.set()

    assert raised.value.hint == AGAIN
    assert [type(one.error) for one in told[1:]] == [UnknownOutcomeError] * _WIDTH
    (run,) = read_journal(journal.path)
    assert (run.count(Outcome.UNKNOWN), len(run.attempts)) == (_WIDTH, _WIDTH + 1)
