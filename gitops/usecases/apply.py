"""Carries out exactly what was reviewed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, assert_never

from gitops.model.errors import (
    GitopsError,
    OutsideError,
    PartialApplyError,
    RegistryRefusedError,
    StalePlanError,
    UsageError,
)
from gitops.model.names import NamespaceName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    DeleteSchema,
    Plan,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.state import Scope
from gitops.planning import fingerprints
from gitops.planning.make import subject_of
from gitops.planning.plan_document import (
    API_VERSION,
    Document,
    action_document,
    canonical,
    digest,
)
from gitops.ports import Progress, Registry, no_progress
from gitops.replay.runners.interrupting import uninterrupted


def check_reviewed(document: Mapping[str, Any], now: Plan) -> int:
    """Raise StalePlanError unless `now` is what is left of the reviewed plan.

    Each subject must be as the plan saw it, or as one of the plan's own actions leaves it: so a
    plan that was carried out in part can be taken up again, and nothing else can. Answers how
    many of its actions are done already.
    """
    address = document["registry"]["address"]
    if address != now.address:
        raise StalePlanError(
            f"the plan was made for {address}, and {now.registry} is {now.address}", hint=_REPLAN
        )
    if document.get("files") != now.files:
        raise StalePlanError("the files are no longer what the plan saw", hint=_REPLAN)
    observed, expected = document["observed"], document["expected"]
    if set(observed) != set(now.observed):
        raise StalePlanError(f"the plan looked at other subjects than {now.registry}", hint=_REPLAN)
    moved = [
        name
        for name, seen in now.observed.items()
        if seen != observed[name] and seen not in expected.get(name, ())
    ]
    if moved:
        raise StalePlanError(f"{_names(moved)} changed since the plan was made", hint=_REPLAN)
    reviewed = [_effect(action) for action in document["actions"]]
    left = [_effect(action_document(action)) for action in now.actions]
    if not set(left) <= set(reviewed):
        raise StalePlanError("the plan would now do something else", hint=_REPLAN)
    return len(reviewed) - len(left)


def _effect(action: Document) -> bytes:
    """What an action does.

    A policy's value before it is the subject's fingerprint's concern: a namespace that the plan
    has created spells out what was not there before. Why it is done is no effect: what closes a
    topic that a waiver has opened may be what the files ask for.
    """
    return canonical({k: v for k, v in action.items() if k not in _NO_EFFECT})


def check_document(document: object) -> Document:
    """A plan file's content, if it is one and unharmed; raises UsageError."""
    if not isinstance(document, dict) or document.get("kind") != "Plan":
        raise UsageError("this is not a plan file", hint="write one with `plan --out FILE`")
    if document.get("apiVersion") != API_VERSION:
        raise UsageError(f"this plan file is not of version {API_VERSION}", hint=_REPLAN)
    if document.get("digest") != digest(document):
        raise UsageError("the plan file was changed after it was written", hint=_REPLAN)
    if not _is_whole(document):
        raise UsageError("the plan file lacks parts of a plan", hint=_REPLAN)
    return document


def _is_whole(document: Document) -> bool:
    """Whether all is there that is read: a digest that is right says nothing about that."""
    if not all(isinstance(document.get(name), kind) for name, kind in _MEMBERS.items()):
        return False
    passed = document["expected"].values()
    return (
        all(isinstance(document["registry"].get(key), str) for key in ("name", "address"))
        and all(isinstance(action, dict) for action in document["actions"])
        and all(isinstance(seen, str) for seen in document["observed"].values())
        and all(isinstance(prints, list) for prints in passed)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one action: the version that the registry answered, or why it failed."""

    action: Action
    version: int | None = None
    error: GitopsError | None = None


def apply(
    plan: Plan,
    registry: Registry,
    progress: Progress = no_progress,
    tell: Callable[[Result], None] = lambda _result: None,
) -> tuple[Action, ...]:
    """Carry out every action in order, and `tell` what became of each that was tried.

    Raises PartialApplyError where one fails after another, and StalePlanError where the first one
    fails because somebody else has changed its subject. However it ends, a topic that was loosened
    for a waiver is set back, and what became of that is told too.
    """
    done: list[Action] = []
    try:
        error = _carry_on(plan, registry, progress, tell, done)
    except BaseException:  # interrupted, too
        with uninterrupted():  # CI presses twice
            _set_back(plan, len(done), registry, tell)
        raise
    if error is None:
        return tuple(done)
    with uninterrupted():
        closed = _set_back(plan, len(done), registry, tell)
    if done or any(one.error for one in closed):
        raise _in_part(error, len(done), plan, closed) from error
    raise error


def _carry_on(
    plan: Plan,
    registry: Registry,
    progress: Progress,
    tell: Callable[[Result], None],
    done: list[Action],
) -> GitopsError | None:
    """Add to `done` what is; answers the error that stops it."""
    for action in plan.actions:
        progress("applying", len(done), len(plan.actions))
        result = _attempt(action, done, plan, registry)
        tell(result)
        if result.error:
            return result.error
        done.append(action)
    progress("applying", len(done), len(plan.actions))
    return None


def _set_back(
    plan: Plan, done: int, registry: Registry, tell: Callable[[Result], None]
) -> list[Result]:
    """Close every topic that may be open where an apply stops; answers what became of each.

    That is each whose closing is left to do and whose opening is not: it was carried out, or
    tried, now or by an earlier apply.
    """
    left = plan.actions[done:]
    policies = [action for action in left if isinstance(action, SetPolicy)]
    shut = {action.subject for action in policies if action.loosens and action is not left[0]}
    results = []
    for action in policies:
        if not action.sets_back or action.subject in shut:
            continue
        result = Result(action=action)
        try:
            _carry_out(action, registry)
        except GitopsError as error:
            result = Result(action=action, error=error)
        tell(result)
        results.append(result)
    return results


def _in_part(
    error: GitopsError, done: int, plan: Plan, closed: Sequence[Result]
) -> PartialApplyError:
    said = f"{done} of {len(plan.actions)} actions are done, then: {error.what}"
    still_open = [one for one in closed if one.error]
    if still_open and (why := still_open[0].error):
        return PartialApplyError(
            f"{said}; and {_subjects(still_open)} could not be set back and may still be "
            f"ALWAYS_COMPATIBLE: {why.what}",
            where=error.where,
            hint=f"set it back by hand (pulsar-gitops policies set), or {_AGAIN}",
        )
    if closed:
        said = f"{said}; the strategy of {_subjects(closed)} is set back"
    return PartialApplyError(said, where=error.where, hint=_after(error))


def _subjects(results: Sequence[Result]) -> str:
    return ", ".join(str(subject_of(one.action)) for one in results)


def _after(error: GitopsError) -> str:
    """What to do once an apply has stopped half-way."""
    if isinstance(error, StalePlanError):
        return error.hint
    return f"{error.hint}; then {_AGAIN}" if error.hint else _AGAIN


def _attempt(action: Action, done: Sequence[Action], plan: Plan, registry: Registry) -> Result:
    version = None
    try:
        version = _carry_out(action, registry)
        _expect(action, version, registry)
    except RegistryRefusedError as refused:
        overtaken = refused.status in _CONFLICTS and _moved(action, done, plan, registry)
        return Result(action=action, error=_stale(refused, overtaken) if overtaken else refused)
    except GitopsError as error:
        return Result(action=action, version=version, error=error)
    return Result(action=action, version=version)


def _carry_out(action: Action, registry: Registry) -> int | None:
    """Answers the version that a schema, or its deletion, got."""
    match action:
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
    if isinstance(action, RegisterSchema) and version != action.version:
        raise PartialApplyError(
            f"{action.topic} was registered as v{version}, not as v{action.version}: somebody "
            "else registered a schema at the same moment",
            where=registry.address,
            hint="look at both with `pulsar-gitops schemas versions`, then make a new plan",
        )


def _moved(action: Action, done: Sequence[Action], plan: Plan, registry: Registry) -> list[str]:
    """Who of the action's topic and namespace is not as the plan and what is done left it."""
    subject = subject_of(action)
    if isinstance(subject, NamespaceName):
        scope = Scope(namespaces=frozenset({subject}))
    else:
        scope = Scope(namespaces=frozenset({subject.namespace}), topics=frozenset({subject}))
    try:
        now = fingerprints.of_state(registry.observe(scope))
    except OutsideError:  # the refusal says more
        return []
    passed = Counter(fingerprints.subject_name(subject_of(one)) for one in done)
    left = {
        name: plan.expected[name][count - 1] if (count := passed[name]) else plan.observed.get(name)
        for name in now
    }
    return [name for name, seen in now.items() if left[name] not in (None, seen)]


def _stale(refused: RegistryRefusedError, moved: list[str]) -> StalePlanError:
    return StalePlanError(
        f"{_names(moved)} changed since the plan was made: {refused.what}",
        where=refused.where,
        hint=_REPLAN,
    )


def _names(moved: list[str]) -> str:
    shown, left = ", ".join(moved[:_SHOWN]), len(moved) - _SHOWN
    return f"{shown} and {left} more" if left > 0 else shown


_MEMBERS: Final = {
    "registry": dict,
    "files": str,
    "prune": bool,
    "actions": list,
    "observed": dict,
    "expected": dict,
}
_NO_EFFECT: Final = ("before", "direction", "waiver")
_SHOWN: Final = 3
_CONFLICTS: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
"""How a registry answers where something came, went, or became another since it was looked at."""
_AGAIN: Final = "run apply again with the same plan file: it goes on where it stopped"
_REPLAN: Final = "make a new plan and have it reviewed"
