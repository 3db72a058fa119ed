"""What a waiver lets in against Pulsar's will: however it ends, the topic is not left open."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.interrupts import interruption
from gitops.model.apply_result import Result
from gitops.model.errors import (
    GitopsError,
    InterruptedApplyError,
    OutsideError,
    PartialApplyError,
    RegistryRefusedError,
    StalePlanError,
)
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan, RegisterSchema, SetPolicy
from gitops.model.policy import NamespacePolicies, PolicyChange, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState
from gitops.model.waivers import Waiver
from gitops.planning.plan import make_plan
from gitops.planning.reviewed_plan import resume
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.reports.json.documents import applied_document
from gitops.usecases.apply import apply
from tests.support.apply_examples import written
from tests.support.states import (
    CREATED,
    INT64,
    ORDERS,
    STRING,
    avro,
    field,
    observe,
    question,
    state,
    topic_state,
)
from tests.support.waivers import refusal, waiver

_KEY = "schemaCompatibilityStrategy"
_OPEN = Strategy.ALWAYS_COMPATIBLE
_OLD, _BREAKING = avro(field("a")), avro(field("a"), field("b"))
_AFTER = TopicName(ORDERS, "later")
_STOPS: dict[str, Callable[[], BaseException]] = {
    "failed": lambda: OutsideError("the wire is cut"),
    "interrupted": KeyboardInterrupt,
}


class _Registry(EmbeddedRegistry):
    """Stops at the write number `stops_at`, before or after it was done; tells how it is left."""

    stops_at = -1
    stop: Callable[[], BaseException] = KeyboardInterrupt
    is_done_first = False
    dead_after = False
    writes = 0

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        self._write(lambda: super(_Registry, self).set_policies(subject, changes))

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        return self._write(lambda: super(_Registry, self).register_schema(topic, info)) or 0

    def _write(self, work: Callable[[], int | None]) -> int | None:
        number, self.writes = self.writes, self.writes + 1
        if 0 <= self.stops_at < number and self.dead_after:
            raise self.stop()
        if number != self.stops_at:
            return work()
        if self.is_done_first:
            work()
        raise self.stop()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[_Registry]:
    """Holds an older version."""
    opened = _Registry("local", tmp_path / "registry.db")
    opened.create_namespace(ORDERS)
    opened.register_schema(CREATED, _OLD)
    opened.writes = 0
    yield opened
    opened.close()


def _desired(wanted: Strategy | None) -> RegistryState:
    own = TopicPolicies(schema_compatibility_strategy=wanted)
    return state(
        topic_state(CREATED, _BREAKING, policies=own),
        topic_state(_AFTER, STRING),
        namespaces={ORDERS: NamespacePolicies()},
    )


def _planned(registry: _Registry, desired: RegistryState, *waivers: Waiver) -> Plan:
    return make_plan(question(desired, observe(registry, desired), waivers=waivers))


def _agreed(registry: _Registry, desired: RegistryState) -> Waiver:
    return waiver(refusal(_planned(registry, desired)).fingerprint)


def _own(registry: _Registry) -> Strategy | None:
    return observe(registry, _desired(None)).topics[CREATED].policies.schema_compatibility_strategy


def _versions(registry: _Registry) -> int:
    return len(observe(registry, _desired(None)).topics[CREATED].history.entries)


def _set(registry: _Registry, own: Strategy | None) -> None:
    registry.set_policies(CREATED, [PolicyChange(key=_KEY, before=None, after=own)])
    registry.writes = 0


_OWN = [(None, None), (None, Strategy.FULL), (Strategy.FULL, None), (Strategy.BACKWARD,) * 2]


@pytest.mark.parametrize(("wanted", "held"), _OWN)
def test_it_is_let_in_and_nothing_is_left_to_do(
    registry: _Registry, wanted: Strategy | None, held: Strategy | None
) -> None:
    _set(registry, held)
    desired = _desired(wanted)
    agreed = _agreed(registry, desired)
    plan = _planned(registry, desired, agreed)
    document = written(plan)

    assert apply(plan, registry) == plan.actions

    assert (_versions(registry), _own(registry)) == (2, wanted or held)
    again = _planned(registry, desired, agreed)
    assert again.actions == ()
    assert resume(document, again).done == len(plan.actions)


@pytest.mark.parametrize("how", _STOPS)
@pytest.mark.parametrize("is_done_first", [False, True], ids=["not done", "done"])
@pytest.mark.parametrize("step", range(3), ids=["opening", "registering", "closing"])
@pytest.mark.parametrize("own", _OWN)
def test_the_topic_is_closed_wherever_it_stops_and_the_same_plan_goes_on(
    registry: _Registry,
    own: tuple[Strategy | None, Strategy | None],
    step: int,
    is_done_first: bool,  # noqa: FBT001 - a parameter of a test
    how: str,
) -> None:
    wanted, held = own
    _set(registry, held)
    desired = _desired(wanted)
    agreed = _agreed(registry, desired)
    plan = _planned(registry, desired, agreed)
    document = written(plan)
    registry.stops_at, registry.is_done_first, registry.stop = step, is_done_first, _STOPS[how]
    told: list[Result] = []

    with pytest.raises((GitopsError, KeyboardInterrupt)):
        apply(plan, registry, tell=told.append)

    assert _own(registry) == (wanted or held)
    assert isinstance(told[-1].action, SetPolicy)
    assert told[-1].action.sets_back
    assert told[-1].error is None
    registry.stops_at = -1
    rest = _planned(registry, desired, agreed)
    resume(document, rest)
    apply(rest, registry)
    assert (_versions(registry), _own(registry)) == (2, wanted or held)
    assert _planned(registry, desired, agreed).actions == ()


@pytest.mark.parametrize("is_done_first", [False, True], ids=["not done", "done"])
@pytest.mark.parametrize("step", range(3), ids=["opening", "registering", "closing"])
@pytest.mark.parametrize(("wanted", "held"), _OWN)
def test_an_apply_that_was_killed_is_finished_by_the_next(
    registry: _Registry,
    wanted: Strategy | None,
    held: Strategy | None,
    step: int,
    is_done_first: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    _set(registry, held)
    desired = _desired(wanted)
    agreed = _agreed(registry, desired)
    plan = _planned(registry, desired, agreed)
    document = written(plan)
    registry.stops_at, registry.is_done_first, registry.dead_after = step, is_done_first, True
    registry.stop = _STOPS["interrupted"]
    with pytest.raises(KeyboardInterrupt):
        apply(plan, registry)

    registry.stops_at = -1
    rest = _planned(registry, desired, agreed)
    resume(document, rest)
    apply(rest, registry)

    assert (_versions(registry), _own(registry)) == (2, wanted or held)
    assert _planned(registry, desired, agreed).actions == ()


def test_where_it_cannot_be_closed_and_the_plan_is_void_the_hint_closes_it(
    registry: _Registry,
) -> None:
    desired = _desired(None)
    plan = _planned(registry, desired, _agreed(registry, desired))
    registry.stops_at, registry.dead_after = 1, True
    registry.stop = lambda: RegistryRefusedError("no", status=422)

    with pytest.raises(PartialApplyError) as caught:
        apply(plan, registry)

    assert caught.value.hint == (
        "set the strategy back: pulsar-gitops policies set shop/orders/created "
        "schemaCompatibilityStrategy= --registry local; then change the files until the registry "
        "accepts them, then make a new plan and have it reviewed"
    )


class _PressedAgain(_Registry):
    """Ctrl-C while a schema is registered, and another one while the topic is closed."""

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        if 0 <= self.stops_at < self.writes:
            signal.raise_signal(signal.SIGINT)
        super().set_policies(subject, changes)


def test_who_presses_ctrl_c_twice_leaves_no_topic_open(tmp_path: Path) -> None:
    with (
        interruption() as asked,
        closing(_PressedAgain("local", tmp_path / "registry.db")) as registry,
    ):
        registry.create_namespace(ORDERS)
        registry.register_schema(CREATED, _OLD)
        registry.writes = 0
        desired = _desired(None)
        plan = _planned(registry, desired, _agreed(registry, desired))
        registry.stops_at = 1
        with pytest.raises(InterruptedApplyError) as caught:
            apply(plan, registry, interruption=asked)
        assert _own(registry) is None
        assert caught.value.what == (
            "1 of 4 actions is done, then: interrupted; whether the request was carried out is "
            "not known; the strategy of shop/orders/created is set back"
        )


def test_where_it_cannot_be_closed_the_error_says_so(registry: _Registry) -> None:
    desired = _desired(None)
    plan = _planned(registry, desired, _agreed(registry, desired))
    registry.stops_at, registry.dead_after, registry.stop = 1, True, _STOPS["failed"]
    told: list[Result] = []

    with pytest.raises(PartialApplyError) as caught:
        apply(plan, registry, tell=told.append)

    assert "shop/orders/created could not be set back and may still be ALWAYS_COMPATIBLE" in (
        caught.value.what
    )
    assert caught.value.hint == (
        "run the same command again: it goes on where it stopped, and sets the strategy back"
    )
    assert [one.error is None for one in told] == [True, False, False]
    assert _own(registry) is _OPEN


def test_the_journal_says_what_was_set_back_and_what_was_not_tried(registry: _Registry) -> None:
    desired = _desired(None)
    plan = _planned(registry, desired, _agreed(registry, desired))
    registry.stops_at, registry.stop = 1, _STOPS["failed"]
    told: list[Result] = []
    with pytest.raises(PartialApplyError) as caught:
        apply(plan, registry, tell=told.append)

    assert caught.value.what == (
        "1 of 4 actions is done, then: the wire is cut; "
        "the strategy of shop/orders/created is set back"
    )
    journal = applied_document(plan, told, digest="", done_before=0)["results"]

    assert [(one["action"]["action"], one["outcome"]) for one in journal] == [
        ("SetPolicy", "done"),
        ("RegisterSchema", "failed"),
        ("SetPolicy", "done"),
        ("RegisterSchema", "notAttempted"),
    ]


def test_a_topic_that_is_not_open_yet_is_not_touched_where_another_fails(
    registry: _Registry,
) -> None:
    desired = state(topic_state(_AFTER, INT64), topic_state(CREATED, _BREAKING))
    plan = _planned(registry, desired, _agreed(registry, desired))
    first = next(one for one in plan.actions if getattr(one, "topic", None) == _AFTER)
    plan = replace(plan, actions=(first, *(one for one in plan.actions if one is not first)))
    registry.stops_at, registry.stop = 0, _STOPS["failed"]

    with pytest.raises(OutsideError, match="the wire is cut"):
        apply(plan, registry)

    assert registry.writes == 1


def test_a_topic_left_open_is_closed_where_another_action_fails_before_its_turn(
    registry: _Registry,
) -> None:
    desired = _desired(None)
    agreed = _agreed(registry, desired)
    _set(registry, _OPEN)
    plan = _planned(registry, desired, agreed)
    (later,) = (a for a in plan.actions if isinstance(a, RegisterSchema) and a.topic == _AFTER)
    plan = replace(plan, actions=(later, *(one for one in plan.actions if one is not later)))
    registry.stops_at, registry.stop = 0, _STOPS["failed"]

    with pytest.raises(OutsideError, match="the wire is cut"):
        apply(plan, registry)

    assert _own(registry) is None


def test_who_is_overtaken_sets_back_and_says_so(registry: _Registry) -> None:
    desired = _desired(None)
    agreed = _agreed(registry, desired)
    plan = _planned(registry, desired, agreed)
    document = written(plan)

    def overtake(_what: str, count: int, _total: int) -> None:
        if count == 1:
            EmbeddedRegistry.register_schema(registry, CREATED, INT64)

    with pytest.raises(PartialApplyError) as caught:
        apply(plan, registry, overtake)

    assert isinstance(caught.value.__cause__, StalePlanError)
    assert _own(registry) is None
    with pytest.raises(StalePlanError):
        resume(document, _planned(registry, desired, agreed))
