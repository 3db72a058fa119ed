"""Carries out exactly what was reviewed."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Final, assert_never

from gitops.broker.lines.table import line_of
from gitops.interrupts import Interruption
from gitops.model.errors import (
    GitopsError,
    InterruptedApplyError,
    OutsideError,
    PartialApplyError,
    RegistryRefusedError,
    StalePlanError,
    UnknownOutcomeError,
)
from gitops.model.names import NamespaceName, TopicName
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
from gitops.model.policy import value_text
from gitops.model.state import RegistryState
from gitops.planning import fingerprints
from gitops.planning.plan import subject_of
from gitops.planning.policies import policy_text
from gitops.planning.read_back import difference, subject_scope
from gitops.planning.reviewed_plan import REPLAN, subject_list
from gitops.ports import Journal, MessageStore, NoJournal, Progress, Registry, no_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one action: the version that the registry answered, or why it failed.

    `closes`: the apply has stopped, and the action sets a topic back that it had loosened.
    """

    action: Action
    version: int | None = None
    error: GitopsError | None = None
    closes: bool = False


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
    """Carry out every action in order, and `tell` what became of each that was tried.

    Before each write the action's subject has to be as the plan, or an action before, left it, and
    a topic that loses its schema only while it is empty has to have no messages.
    After it the registry has to answer what was written; of a history that grows by several entries
    in a row, before the first and after the last. The journal has the intent before the
    write and the outcome after it. Nothing is ever written twice.

    Raises PartialApplyError where one fails after another, StalePlanError where the first one
    fails because somebody else has changed its subject, and InterruptedApplyError where it is
    asked to stop. However it ends, a topic that was loosened for a waiver is set back, and what
    became of that is told too. An error's hint ends with the one thing to do next: the same
    command again, or `replan` where that cannot help.
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
    )
    try:
        error = run.carry_on()
    except BaseException:
        run.set_back()
        raise
    if error is None:
        return tuple(run.done)
    closed = run.set_back()
    if run.done or any(one.error for one in closed):
        raise _partial_error(error, len(run.done), plan, closed) from error
    raise error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One apply: what it is given, the actions that are done, and how these left each subject."""

    plan: Plan
    registry: Registry
    progress: Progress
    tell: Callable[[Result], None]
    interruption: Interruption
    replan: str
    journal: Journal
    pause: Callable[[float], None]
    left: dict[str, str]
    done: list[Action] = field(default_factory=list)

    def carry_on(self) -> GitopsError | None:
        """Add to `done` what is; answers the error that stops it."""
        actions = self.plan.actions
        for action in actions:
            if self.interruption.asked:
                return InterruptedApplyError("interrupted", hint=_AGAIN)
            self.progress("applying", len(self.done), len(actions))
            error = self._try(action)
            if error:
                return self._interrupted_error(error) or error
            self.done.append(action)
        self.progress("applying", len(actions), len(actions))
        return None

    def _try(self, action: Action) -> GitopsError | None:
        result = self._attempt(action)
        if result.error:
            result.error.hint = _next_step(action, result.error, self.replan)
        self.tell(result)
        return result.error

    def _interrupted_error(self, error: GitopsError) -> InterruptedApplyError | None:
        """Where somebody did not wait for the answer, that is what stopped it."""
        if not (self.interruption.asked and isinstance(error, UnknownOutcomeError)):
            return None
        return InterruptedApplyError(error.what, where=error.where, hint=error.hint)

    def _attempt(self, action: Action) -> Result:
        try:
            if not _is_one_history(self._neighbour(-1), action):
                self._check_unmoved(action)
        except KeyboardInterrupt:
            return Result(action=action, error=InterruptedApplyError("interrupted", hint=_AGAIN))
        except GitopsError as error:
            return Result(action=action, error=error)
        return self._recorded(action, lambda: self._write(action))

    def _recorded(self, action: Action, write: Callable[[], Result]) -> Result:
        """The result of a write, whose intent is in the journal before it, and which is after."""
        try:
            follows = _is_one_history(self._neighbour(-1), action)
            self.journal.intend(action, follows=follows)
        except GitopsError as error:
            return Result(action=action, error=error)
        result = write()
        try:
            self.journal.conclude(result.version, result.error)
        except GitopsError as error:
            return replace(result, error=result.error or error)
        return result

    def _write(self, action: Action) -> Result:
        version = None
        try:
            version = self.interruption.wait(lambda: _carry_out(action, self.registry))
            _expect(action, version, self.registry)
            if not _is_one_history(action, self._neighbour(+1)):
                self._read_back(action, version)
        except KeyboardInterrupt:
            return Result(action=action, error=UnknownOutcomeError("interrupted"))
        except RegistryRefusedError as refused:
            moved = self._stale_subjects(action) if refused.status in _CONFLICTS else []
            return Result(action=action, error=_stale(refused, moved) if moved else refused)
        except GitopsError as error:
            return Result(action=action, version=version, error=error)
        return Result(action=action, version=version)

    def _neighbour(self, step: int) -> Action | None:
        """The action so many places behind the one that is tried."""
        place = len(self.done) + step
        return self.plan.actions[place] if 0 <= place < len(self.plan.actions) else None

    def _check_unmoved(self, action: Action) -> None:
        """Raises StalePlanError where somebody else has changed its subject, or needs that now."""
        now = self.interruption.wait(lambda: self.registry.observe(subject_scope(action)))
        if moved := self._moved(now):
            raise StalePlanError(f"{subject_list(moved)} changed since the plan was made")
        if self.interruption.wait(lambda: _is_needed(action, self.registry)):
            raise StalePlanError(f"{subject_of(action)} got messages, which need its schema")

    def _read_back(self, action: Action, version: int | None) -> None:
        """Raises PartialApplyError unless the registry has what was written.

        A cluster writes a topic's policies into a topic, and reads them from there a little later
        (Pulsar 4.0.7): so it is asked again for some seconds.
        """
        for seconds in (*_PATIENCE, None):
            state = self.interruption.wait(lambda: self.registry.observe(subject_scope(action)))
            found = difference(action, version, state)
            if not found:
                self.left.update(fingerprints.state_fingerprints(state))
                return
            if seconds is not None:
                self.pause(seconds)
        raise PartialApplyError(
            f"it was carried out, and after that {found}",
            where=self.registry.address,
            hint="see who else changes it",
        )

    def _stale_subjects(self, action: Action) -> list[str]:
        """Who of the action's topic and namespace is not as the plan and what is done left it."""
        scope = subject_scope(action)
        scope = replace(scope, namespaces=scope.namespaces | {t.namespace for t in scope.topics})
        try:
            now = self.interruption.wait(lambda: self.registry.observe(scope))
        except (OutsideError, KeyboardInterrupt):  # the refusal says more
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
        left = self.plan.actions[len(self.done) :]
        policies = [action for action in left if isinstance(action, SetPolicy)]
        shut = {_policy_of(each) for each in policies if each.loosens and each is not left[0]}
        open_ = [one for one in policies if one.sets_back and _policy_of(one) not in shut]
        return [self._set_back(action) for action in open_]

    def _set_back(self, action: SetPolicy) -> Result:
        """Also where the journal cannot be written, or does not know what the topic is like."""
        with suppress(GitopsError):
            self.journal.intend(action, closes=True)
        result = Result(action=action, closes=True)
        try:
            _carry_out(action, self.registry)
            self._read_back(action, None)
        except GitopsError as error:
            result = Result(action=action, error=error, closes=True)
        with suppress(GitopsError):
            self.journal.conclude(None, result.error)
        self.tell(result)
        return result


def _policy_of(action: SetPolicy) -> tuple[NamespaceName | TopicName, str]:
    return action.subject, action.change.key


def _is_needed(action: Action, registry: Registry) -> bool:
    """Whether a schema that is deleted while its topic is empty has messages by now."""
    if not isinstance(action, DeleteSchema) or not action.while_empty:
        return False
    return isinstance(registry, MessageStore) and registry.has_messages(action.topic)


def _is_one_history(first: Action | None, second: Action | None) -> bool:
    """Whether both add an entry to the history of one topic, as only those of a restore do.

    What the registry answers to each is its number: nobody else has added one in between.
    """
    kinds = RegisterSchema | DeleteSchema
    return isinstance(first, kinds) and isinstance(second, kinds) and first.topic == second.topic


def _partial_error(
    error: GitopsError, done: int, plan: Plan, closed: Sequence[Result]
) -> GitopsError:
    total = len(plan.actions)
    of = f"{done} of {total} action{'' if total == 1 else 's'}"
    said = f"{of} {'is' if done == 1 else 'are'} done, then: {error.what}"
    still_open = [one for one in closed if one.error]
    if still_open and (why := still_open[0].error):
        said = (
            f"{said}; and {_subjects(still_open)} could not be set back and may still be "
            f"{_open_values(still_open)}: {why.what}"
        )
    elif closed:
        said = f"{said}; the strategy of {_subjects(closed)} is set back"
    hint = _closing_hint(error, still_open, plan) if still_open else error.hint
    kind = InterruptedApplyError if isinstance(error, InterruptedApplyError) else PartialApplyError
    return kind(said, where=error.where, hint=hint)


def _subjects(results: Sequence[Result]) -> str:
    return ", ".join(dict.fromkeys(str(subject_of(one.action)) for one in results))


def _open_values(results: Sequence[Result]) -> str:
    """What the policies that could not be set back may still be."""
    changes = (one.action.change for one in results if isinstance(one.action, SetPolicy))
    texts = ((f"{one.key}=" if one.before is False else "", one.before) for one in changes)
    return " and ".join(dict.fromkeys(f"{key}{policy_text(value)}" for key, value in texts))


def _next_step(action: Action, error: GitopsError, replan: str) -> str:
    """What to do about the cause, and then the one command that goes on."""
    is_schema = isinstance(action, RegisterSchema)
    match error:
        case UnknownOutcomeError():
            return _AGAIN
        case StalePlanError():
            return replan
        case PartialApplyError():
            return f"{error.hint}, then {replan}"
        case RegistryRefusedError(status=code) if is_schema and code in _REFUSED_SCHEMA:
            return f"change the files until the registry accepts them, then {replan}"
        case _:
            return f"{error.hint}; then {_AGAIN}" if error.hint else _AGAIN


def _closing_hint(error: GitopsError, still_open: Sequence[Result], plan: Plan) -> str:
    """How the topics that are still open are set back: by the same plan, or else by hand."""
    if error.hint.endswith(_AGAIN):
        return f"{error.hint}, and sets the strategy back"
    commands = (_command(one.action, plan.registry) for one in still_open)
    return f"set the strategy back: {' && '.join(commands)}; then {error.hint}"


def _command(action: Action, registry: str) -> str:
    """How a policy is set by hand."""
    if not isinstance(action, SetPolicy):
        raise TypeError(f"{action} sets no policy")
    value = f"{action.change.key}={value_text(action.change.after) or ''}"
    words = ["pulsar-gitops", "policies", "set", str(action.subject), value]
    return shlex.join([*words, "--registry", registry])


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
_REFUSED_SCHEMA: Final = (400, 409, 413, 422, 500)
"""How a registry answers to a schema that it does not take (Pulsar 4.0.7)."""
_PATIENCE: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds to wait before the registry is asked once more for what was written."""
_AGAIN: Final = "run the same command again: it goes on where it stopped"
