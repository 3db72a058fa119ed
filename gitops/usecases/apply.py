"""Carries out exactly what was reviewed."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Any, Final, assert_never

from gitops.broker.lines.table import line_of
from gitops.interrupts import Interruption
from gitops.model.apply_result import Result
from gitops.model.errors import (
    GitopsError,
    InterruptedApplyError,
    OutsideError,
    PartialApplyError,
    RegistryRefusedError,
    StalePlanError,
    UnknownOutcomeError,
    UnverifiedOutcomeError,
)
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    Plan,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.state import RegistryState
from gitops.planning import fingerprints
from gitops.planning.apply_errors import AGAIN, next_step, partial_error
from gitops.planning.plan import subject_of
from gitops.planning.read_back import difference, subject_scope, written_scope
from gitops.planning.reviewed_plan import REPLAN, subject_list
from gitops.planning.waves import Chain, is_one_history, waves
from gitops.ports import (
    ConcurrentRegistry,
    Journal,
    NoJournal,
    Progress,
    Registry,
    no_progress,
)
from gitops.side_by_side import Call, Work, run_side_by_side


def apply(  # noqa: PLR0913 - all but two are for the command line, by name
    plan: Plan,
    registry: Registry,
    progress: Progress = no_progress,
    tell: Callable[[Result], None] = lambda _result: None,
    *,
    interruption: Interruption | None = None,
    replan: str = REPLAN,
    journal: Journal | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> tuple[Action, ...]:
    """Carry out every action, and `tell` what became of each that was tried.

    A registry that takes several requests at once gets as many topics together (see `waves`).

    Before each write the action's subject has to be as the plan, or an action before, left it, and
    a topic that loses its schema only while it is empty has to have no messages.
    After it the registry has to answer what was written; of a history that grows by several entries
    in a row, before the first and after the last. The journal has the intent before the
    write and the outcome after it. Nothing is ever written twice.

    Where one fails, or it is asked to stop, what is under way comes to its end, and nothing else
    begins. Raises the error of the one that failed first: PartialApplyError where another may have
    been carried out, StalePlanError where none was and somebody else has changed its subject.
    Raises InterruptedApplyError where it was asked to stop. However it ends, a topic that was
    loosened for a waiver is set back, with a Result of its own. An error's hint ends
    with the one thing to do next: the same command again, or `replan` where that cannot help.
    """
    run = _Run(
        plan=plan,
        registry=registry,
        progress=progress,
        tell=tell,
        interruption=interruption or Interruption(),
        replan=replan,
        journal=journal or NoJournal(),
        pause=pause,
        left=dict(plan.observed),
        last={subject_of(action): action for action in plan.actions},
    )
    try:
        error = run.carry_on()
    except BaseException:
        run.set_back()
        raise
    if error is None:
        return tuple(run.done)
    closed = run.set_back()
    other_errors = run.errors[1:]
    if (
        run.done
        or any(result.error for result in closed)
        or (other_errors and run.may_have_written)
    ):
        raise partial_error(error, len(run.done), plan, closed, other_errors) from error
    raise error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One apply: what it is given, what became of the actions, and how these left each subject.

    `left` are fingerprints, of a topic as long as its `last` action is not done.
    Threads only run `_check_unmoved` and `_write`, each for a topic that no other thread is about.
    """

    plan: Plan
    registry: Registry
    progress: Progress
    tell: Callable[[Result], None]
    interruption: Interruption
    replan: str
    journal: Journal
    pause: Callable[[float], None]
    left: dict[str, str]
    last: dict[TenantName | NamespaceName | TopicName, Action]
    tried: list[Action] = field(default_factory=list)
    done: list[Action] = field(default_factory=list)
    errors: list[GitopsError] = field(default_factory=list)

    def carry_on(self) -> GitopsError | None:
        """Add to `done` what is; answers the error that stopped it first."""
        total = len(self.plan.actions)
        width = self.registry.concurrency if isinstance(self.registry, ConcurrentRegistry) else 1
        for wave in waves(self.plan.actions) if width > 1 else [[self.plan.actions]]:
            works = (self._work(chain) for chain in wave)
            run_side_by_side(works, width if len(wave) > 1 else 1, self.interruption.wait)
            if self.errors:
                return self._interrupted_error(self.errors[0]) or self.errors[0]
        if len(self.done) < total:
            return InterruptedApplyError("interrupted", hint=AGAIN)
        self.progress("applying", total, total)
        return None

    @property
    def may_have_written(self) -> bool:
        """Whether one of the actions that failed may have been carried out."""
        carried_out = UnknownOutcomeError | PartialApplyError
        return any(isinstance(error, carried_out) for error in self.errors)

    @property
    def _is_stopping(self) -> bool:
        return bool(self.errors) or self.interruption.asked

    def _work(self, chain: Chain) -> Work:
        """Carry out a chain, as far as nothing stops the apply."""
        try:
            for before, action, after in zip(
                (None, *chain), chain, (*chain[1:], None), strict=False
            ):
                if self._is_stopping:
                    return
                self.progress("applying", len(self.done), len(self.plan.actions))
                is_first = not is_one_history(before, action)
                is_last = not is_one_history(action, after)
                yield from self._attempt(action, is_first=is_first, is_last=is_last)
        except BaseException:
            self.interruption.ask()  # the others end what they have begun
            raise

    def _attempt(
        self, action: Action, *, is_first: bool, is_last: bool
    ) -> Generator[Call, Any, None]:
        """Look, write and read back, unless the apply stops before the write."""
        try:
            if is_first and not (yield from self._is_unmoved(action)):
                return
            if self._is_stopping:
                return
            number = self.journal.intend(action, follows=not is_first)
        except GitopsError as error:
            self._add(Result(action=action, error=error))
            return
        self.tried.append(action)
        try:
            result: Result = yield partial(self._write, action, is_last=is_last)
        except KeyboardInterrupt:
            result = Result(action=action, error=UnknownOutcomeError("interrupted"))
        self._add(result)
        self._conclude(number, result)

    def _is_unmoved(self, action: Action) -> Generator[Call, Any, bool]:
        """Raises where it has moved; false where nobody waits for the answer."""
        try:
            yield partial(self._check_unmoved, action)
        except KeyboardInterrupt:
            return False
        return True

    def _conclude(self, number: int, result: Result) -> None:
        """Write it down; what cannot be stops the apply, and was done nevertheless."""
        try:
            self.journal.conclude(number, result.version, result.error)
        except GitopsError as error:
            error.hint = next_step(result.action, error, self.replan)
            self.errors.append(error)

    def _add(self, result: Result) -> None:
        if result.error:
            result.error.hint = next_step(result.action, result.error, self.replan)
            self.errors.append(result.error)
        else:
            self.done.append(result.action)
        self.tell(result)

    def _interrupted_error(self, error: GitopsError) -> InterruptedApplyError | None:
        """Where somebody did not wait for the answer, that is what stopped it."""
        if not (self.interruption.asked and isinstance(error, UnknownOutcomeError)):
            return None
        return InterruptedApplyError(error.what, where=error.where, hint=error.hint)

    def _write(self, action: Action, *, is_last: bool) -> Result:
        version = None
        try:
            version = _carry_out(action, self.registry)
            _expect(action, version, self.registry)
            if is_last:
                self._read_back(action, version)
        except RegistryRefusedError as refused:
            moved = self._stale_subjects(action) if refused.status in _CONFLICTS else []
            return Result(action=action, error=_stale(refused, moved) if moved else refused)
        except GitopsError as error:
            return Result(action=action, version=version, error=error)
        return Result(action=action, version=version)

    def _check_unmoved(self, action: Action) -> None:
        """Raises StalePlanError where somebody else has changed its subject."""
        now = self.registry.observe(subject_scope(action))
        if moved := self._moved(now):
            raise StalePlanError(f"{subject_list(moved)} changed since the plan was made")

    def _read_back(self, action: Action, version: int | None) -> None:
        """Raises PartialApplyError unless the registry has what was written.

        Raises UnverifiedOutcomeError where that is not known: a read may well be repeated.
        A cluster writes a topic's policies into a topic, and reads them from there a little later
        (Pulsar 4.0.7): so it is asked again for some seconds.
        """
        is_last = self.last[subject_of(action)] is action
        scope = written_scope(action) if is_last else subject_scope(action)
        for seconds in (*_PATIENCE, None):
            try:
                state = self.registry.observe(scope)
            except OutsideError as error:
                raise UnverifiedOutcomeError(error.what, where=error.where) from error
            value = difference(action, version, state)
            if not value:
                if scope.topic_policies:  # or else it is the last to be asked for
                    self.left.update(fingerprints.state_fingerprints(state))
                return
            if seconds is not None:
                self.pause(seconds)
        raise PartialApplyError(
            f"it was carried out, and after that {value}",
            where=self.registry.address,
            hint="see who else changes it",
        )

    def _stale_subjects(self, action: Action) -> list[str]:
        """Who of the action's topic and namespace is not as the plan and what is done left it."""
        scope = subject_scope(action)
        scope = replace(scope, namespaces=scope.namespaces | {t.namespace for t in scope.topics})
        try:
            now = self.registry.observe(scope)
        except OutsideError:  # the refusal says more
            return []
        return self._moved(now)

    def _moved(self, now: RegistryState) -> list[str]:
        seen = fingerprints.state_fingerprints(now)
        return [name for name, print_ in seen.items() if self.left.get(name) not in (None, print_)]

    def set_back(self) -> list[Result]:
        """Close every topic that may be open where an apply stops; answers what became of each.

        That is each whose closing is left to do and whose opening is not: it was carried out, or
        tried, now or by an earlier apply. No Ctrl-C cuts it, since CI presses twice.
        """
        done, tried = {id(action) for action in self.done}, {id(action) for action in self.tried}
        left = [action for action in self.plan.actions if id(action) not in done]
        policies = [action for action in left if isinstance(action, SetPolicy)]
        shut = {
            _policy_of(policy) for policy in policies if policy.loosens and id(policy) not in tried
        }
        open_ = [
            policy for policy in policies if policy.sets_back and _policy_of(policy) not in shut
        ]
        return [self._set_back(action) for action in open_]

    def _set_back(self, action: SetPolicy) -> Result:
        """Also where the journal cannot be written, or does not know what the topic is like."""
        number = None
        with suppress(GitopsError):
            number = self.journal.intend(action, closes=True)
        result = Result(action=action, closes=True)
        try:
            _carry_out(action, self.registry)
            self._read_back(action, None)
        except GitopsError as error:
            result = Result(action=action, error=error, closes=True)
        if number is not None:
            with suppress(GitopsError):
                self.journal.conclude(number, None, result.error)
        self.tell(result)
        return result


def _policy_of(action: SetPolicy) -> tuple[NamespaceName | TopicName, str]:
    return action.subject, action.change.key


def _carry_out(action: Action, registry: Registry) -> int | None:
    """Answers the version that a schema, or its deletion, got."""
    match action:
        case CreateTenant():
            registry.create_tenant(action.state)
        case CreateTopic():
            registry.create_topic(action.topic, action.partitions)
        case CreateNamespace():
            registry.create_namespace(action.namespace)
        case SetPolicy():
            registry.set_policies(action.subject, [action.change])
        case RegisterSchema():
            return registry.register_schema(action.topic, action.info)
        case DeleteSchema():
            return registry.delete_schema(action.topic)
        case _:
            assert_never(action)
    return None


def _expect(action: Action, version: int | None, registry: Registry) -> None:
    if isinstance(action, DeleteSchema) and action.tombstone not in (None, version):
        raise PartialApplyError(
            f"the deletion in {action.topic} is v{version}, not v{action.tombstone}: somebody "
            "else changed its history at the same moment",
            where=registry.address,
            hint="keep all others from writing to it",
        )
    if not isinstance(action, RegisterSchema) or version == action.version:
        return
    if action.latest_version is None and not line_of(registry.broker).has_metadata:
        return  # versions that were deleted count, and Pulsar 3.0.7 does not show how many
    raise PartialApplyError(
        f"{action.topic} was registered as v{version}, not as v{action.version}: somebody "
        "else registered a schema at the same moment",
        where=registry.address,
        hint=f"look at both with `pulsar-gitops schemas versions {action.topic}`",
    )


def _stale(refused: RegistryRefusedError, moved: list[str]) -> StalePlanError:
    return StalePlanError(
        f"{subject_list(moved)} changed since the plan was made: {refused.what}",
        where=refused.where,
    )


_CONFLICTS: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
"""How a registry answers where something came, went, or became another since it was looked at."""
_PATIENCE: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds to wait before the registry is asked once more for what was written."""
