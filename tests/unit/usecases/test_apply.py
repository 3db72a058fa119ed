"""What was reviewed is carried out, all of it and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.model.apply_result import Result
from gitops.model.errors import (
    GitopsError,
    OutsideError,
    PartialApplyError,
    RegistryRefusedError,
    UnknownOutcomeError,
)
from gitops.model.plan import (
    Action,
    CreateNamespace,
    DeleteSchema,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import BrokerSettings
from gitops.model.state import RegistryState, Scope
from gitops.planning.reviewed_plan import REPLAN
from gitops.ports import Progress, no_progress
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.usecases.apply import apply
from tests.support.apply_examples import (
    DESIRED,
    planned,
    registry_in_use,
)
from tests.support.fake_registry import FakeRegistry
from tests.support.plans import EVERYTHING as SHOWN
from tests.support.states import INT64, observe

EVERYTHING = replace(SHOWN, observed={}, expected={})
"""Of a registry of which nothing is known: its fingerprints are made up."""


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[EmbeddedRegistry]:
    """Holds an older schema, and two that a pruning plan deletes."""
    with registry_in_use(tmp_path / "registry.db") as opened:
        yield opened


# ------------------------------------------------------------------ carrying out


def test_a_plan_of_all_kinds_is_carried_out_and_leaves_nothing_to_do(
    registry: EmbeddedRegistry,
) -> None:
    plan = planned(registry)
    watched: list[tuple[int, int]] = []

    done = apply(plan, registry, lambda _what, count, total: watched.append((count, total)))

    assert {type(action) for action in done} == {
        CreateNamespace,
        SetPolicy,
        RegisterSchema,
        DeleteSchema,
    }
    assert done == plan.actions
    assert watched == [(i, len(done)) for i in range(len(done) + 1)]
    assert planned(registry).actions == ()


def test_the_calls_are_the_actions_in_order() -> None:
    registry = FakeRegistry(versions=[0, 4])

    assert apply(EVERYTHING, registry) == EVERYTHING.actions

    assert [what for what, _ in registry.calls] == [
        "create",
        "set",
        "set",
        "set",
        "register",
        "register",
        "delete",
    ]


def test_what_became_of_each_action_is_told() -> None:
    told: list[Result] = []

    with pytest.raises(PartialApplyError):
        apply(EVERYTHING, FakeRegistry(versions=[0, 9]), tell=told.append)

    assert tuple(one.action for one in told) == EVERYTHING.actions[:6]
    assert [one.version for one in told] == [None, None, None, None, 0, 9]
    assert [bool(one.error) for one in told] == [False] * 5 + [True]


def test_a_failure_of_the_first_action_is_told_as_it_is() -> None:
    with pytest.raises(Exception, match="the wire is cut") as raised:
        apply(EVERYTHING, FakeRegistry(fails_at=0))

    assert getattr(raised.value, "exit_code", None) == 4


@pytest.mark.parametrize("done", range(1, len(EVERYTHING.actions)))
def test_a_failure_after_that_says_how_far_it_came(done: int) -> None:
    registry = FakeRegistry(versions=[0, 4], fails_at=done)

    with pytest.raises(PartialApplyError) as raised:
        apply(EVERYTHING, registry)

    assert raised.value.exit_code == 6
    said = f"{done} of 7 actions {'is' if done == 1 else 'are'} done, then: the wire is cut"
    assert raised.value.what == said
    assert raised.value.hint == f"mend it; then {_AGAIN}"
    assert len(registry.calls) == done


def test_another_version_than_the_planned_one_is_said_to_be_registered() -> None:
    only = replace(EVERYTHING, actions=EVERYTHING.actions[5:6])

    said = r"order-created was registered as v9, not as v4"
    with pytest.raises(PartialApplyError, match=said) as raised:
        apply(only, FakeRegistry(versions=[9]))

    assert raised.value.exit_code == 6


def test_before_3_3_nobody_sees_how_many_versions_were_deleted() -> None:
    first = EVERYTHING.actions[4]
    assert isinstance(first, RegisterSchema)
    assert first.latest_version is None
    later = replace(first, latest_version=0)
    old = BrokerSettings(release="3.0.7")

    apply(replace(EVERYTHING, actions=(first,)), FakeRegistry(versions=[2], broker=old))

    for registry, action in (
        (FakeRegistry(versions=[2]), first),
        (FakeRegistry(versions=[2], broker=old), later),
    ):
        with pytest.raises(PartialApplyError, match="registered as v2, not as v0"):
            apply(replace(EVERYTHING, actions=(action,)), registry)


def test_another_version_in_the_middle_is_an_apply_in_part() -> None:
    with pytest.raises(PartialApplyError, match=r"4 of 7 .* registered as v9") as raised:
        apply(EVERYTHING, FakeRegistry(versions=[9]))

    assert raised.value.exit_code == 6


# ------------------------------------------------------------------ what to do next

_AGAIN = "run the same command again: it goes on where it stopped"
_REGISTRATION = 4


def _refused(status: int, hint: str = "") -> RegistryRefusedError:
    return RegistryRefusedError("no", status=status, hint=hint)


_CHANGE = f"change the files until the registry accepts them, then {REPLAN}"
_ERRORS: dict[str, tuple[Callable[[], GitopsError], str]] = {
    "failed": (lambda: OutsideError("gone"), _AGAIN),
    "to mend": (lambda: OutsideError("gone", hint="mend it"), f"mend it; then {_AGAIN}"),
    "unknown": (lambda: UnknownOutcomeError("the connection broke"), _AGAIN),
    "not allowed": (lambda: _refused(403, "it needs a role"), f"it needs a role; then {_AGAIN}"),
    "invalid": (lambda: _refused(422), _CHANGE),
}


@pytest.mark.parametrize("what", _ERRORS)
@pytest.mark.parametrize("done", [0, _REGISTRATION])
def test_one_thing_is_to_be_done_next(what: str, done: int) -> None:
    make, hint = _ERRORS[what]
    error = make()
    plan = replace(EVERYTHING, actions=EVERYTHING.actions[_REGISTRATION - done :])
    told: list[Result] = []

    with pytest.raises(PartialApplyError if done else type(error)) as raised:
        apply(plan, FakeRegistry(versions=[0, 4], fails_at=done, error=error), tell=told.append)

    assert isinstance(raised.value, GitopsError)
    assert raised.value.hint == hint
    assert told[-1].error
    assert told[-1].error.hint == hint


@pytest.mark.parametrize(
    ("action", "error", "hint"),
    [
        (0, _refused(404, "create the tenant"), f"create the tenant; then {_AGAIN}"),
        (1, _refused(409), _AGAIN),
        (_REGISTRATION, _refused(409), _CHANGE),
    ],
)
def test_what_helps_after_a_conflict_depends_on_the_action(
    action: int, error: GitopsError, hint: str
) -> None:
    only = replace(EVERYTHING, actions=EVERYTHING.actions[action : action + 1], observed={})

    with pytest.raises(RegistryRefusedError) as raised:
        apply(only, FakeRegistry(fails_at=0, error=error))

    assert raised.value.hint == hint


def test_another_version_than_planned_needs_a_new_plan() -> None:
    with pytest.raises(PartialApplyError) as raised:
        apply(EVERYTHING, FakeRegistry(versions=[9]), replan="plan anew")

    assert raised.value.hint == (
        "look at both with `pulsar-gitops schemas versions shop/orders/order-cancelled`, "
        "then plan anew"
    )


# ------------------------------------------------------------------ before and after each write


class _Lazy(FakeRegistry):
    """Shows what was written only after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__(versions=[0, 4])
        self._looks = looks
        self._shown = self._state

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        if self.calls:
            self._looks -= 1
        now, self._state = self._state, self._state if self._looks < 0 else self._shown
        seen = super().observe(scope, progress)
        self._state = now
        return seen


def test_nothing_is_written_to_what_somebody_else_has_changed_meanwhile(
    registry: EmbeddedRegistry,
) -> None:
    plan = planned(registry)
    *_, last = (one for one in plan.actions if isinstance(one, RegisterSchema))
    told: list[Result] = []

    def tell(result: Result) -> None:
        told.append(result)
        if len(told) == plan.actions.index(last):  # just before it
            registry.register_schema(last.topic, INT64)

    said = f"topic {last.topic} changed since the plan was made"
    with pytest.raises(PartialApplyError, match=said):
        apply(plan, registry, tell=tell)

    assert told[-1].action == last
    assert len(observe(registry, DESIRED).topics[last.topic].history.entries) == 1 + (
        last.latest_version is not None
    )


def test_what_a_cluster_shows_a_little_later_is_waited_for() -> None:
    only = replace(EVERYTHING, actions=EVERYTHING.actions[3:4])
    paused: list[float] = []

    assert apply(only, _Lazy(looks=3), pause=paused.append) == only.actions

    assert paused == [0.05, 0.1, 0.2]


def test_a_write_that_does_not_stay_is_named_and_is_not_done_again() -> None:
    only = replace(EVERYTHING, actions=EVERYTHING.actions[3:4])
    registry, told = _Lazy(looks=99), list[Result]()

    with pytest.raises(PartialApplyError, match="it was carried out, and after that") as raised:
        apply(only, registry, tell=told.append, pause=lambda _seconds: None)

    assert raised.value.exit_code == 6
    assert [what for what, _ in registry.calls] == ["set"]


class _Lines:
    """A Journal of words; it fails on the entry number `full_at`."""

    def __init__(self, full_at: int = -1) -> None:
        self.lines: list[str] = []
        self._full_at = full_at

    def intend(self, action: Action, *, closes: bool = False, follows: bool = False) -> int:
        word = "close" if closes else "follow" if follows else "intend"
        self._write(f"{word} {type(action).__name__}")
        return len(self.lines)

    def conclude(self, number: int, version: int | None, error: GitopsError | None) -> None:
        assert number == len(self.lines)
        self._write(f"{error or 'done'} {version}")

    def _write(self, line: str) -> None:
        if len(self.lines) == self._full_at:
            raise OutsideError("the journal cannot be written")
        self.lines.append(line)


def test_the_journal_has_the_intent_before_the_write_and_the_outcome_after_it() -> None:
    only = replace(EVERYTHING, actions=EVERYTHING.actions[3:5])
    journal = _Lines()
    seen: list[list[str]] = []

    class Looking(FakeRegistry):
        """Looks into the journal at each write."""

        def _call(self, what: str, about: object) -> None:
            seen.append(list(journal.lines))
            super()._call(what, about)

    apply(only, Looking(versions=[0]), journal=journal)

    assert journal.lines == [
        "intend SetPolicy",
        "done None",
        "intend RegisterSchema",
        "done 0",
    ]
    assert seen == [journal.lines[:1], journal.lines[:3]]


@pytest.mark.parametrize(("full_at", "calls"), [(0, 0), (1, 1), (2, 1), (3, 2)])
def test_without_a_journal_nothing_more_is_written(full_at: int, calls: int) -> None:
    only = replace(EVERYTHING, actions=EVERYTHING.actions[3:5])
    registry = FakeRegistry(versions=[0])

    with pytest.raises(GitopsError, match="the journal cannot be written") as raised:
        apply(only, registry, journal=_Lines(full_at))

    assert len(registry.calls) == calls
    assert raised.value.exit_code in (4, 6)
