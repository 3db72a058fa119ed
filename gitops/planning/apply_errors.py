"""The error of an apply that stops, in words, and the one thing to do next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from gitops.model.apply_result import Result
from gitops.model.errors import (
    GitopsError,
    InterruptedApplyError,
    PartialApplyError,
    RegistryRefusedError,
    StalePlanError,
    UnknownOutcomeError,
)
from gitops.model.journal import Outcome, outcome_of
from gitops.model.plan import Action, Plan, RegisterSchema, SetPolicy
from gitops.model.policy import value_text
from gitops.planning.plan import subject_of
from gitops.planning.policies import policy_text


def partial_error(
    error: GitopsError,
    done: int,
    plan: Plan,
    closed: Sequence[Result],
    other_errors: Sequence[GitopsError] = (),
) -> GitopsError:
    """The error of an apply that stopped after so many actions, with what was set back then.

    `others` are those of the actions that failed beside the first.
    """
    total = len(plan.actions)
    of = f"{done} of {total} action{'' if total == 1 else 's'}"
    text = f"{of} {'is' if done == 1 else 'are'} done, then: {error.what}{_more(other_errors)}"
    still_open = [result for result in closed if result.error]
    if still_open and (why := still_open[0].error):
        text = (
            f"{text}; and {_subjects(still_open)} could not be set back and may still be "
            f"{_open_values(still_open)}: {why.what}"
        )
    elif closed:
        text = f"{text}; the strategy of {_subjects(closed)} is set back"
    hint = _closing_hint(error, still_open, plan) if still_open else error.hint
    kind = InterruptedApplyError if isinstance(error, InterruptedApplyError) else PartialApplyError
    return kind(text, where=error.where, hint=hint)


def _more(other_errors: Sequence[GitopsError]) -> str:
    outcomes = [outcome_of(error) for error in other_errors]
    failed, unknown = outcomes.count(Outcome.FAILED), outcomes.count(Outcome.UNKNOWN)
    texts = [f"{failed} more failed"] if failed else []
    have = "has" if unknown == 1 else "have"
    texts += [f"{unknown} more {have} an unknown outcome"] if unknown else []
    return f" ({' and '.join(texts)})" if texts else ""


def _subjects(results: Sequence[Result]) -> str:
    return ", ".join(dict.fromkeys(str(subject_of(result.action)) for result in results))


def _open_values(results: Sequence[Result]) -> str:
    """What the policies that could not be set back may still be."""
    changes = (result.action.change for result in results if isinstance(result.action, SetPolicy))
    texts = (
        (f"{change.key}=" if change.before is False else "", change.before) for change in changes
    )
    return " and ".join(dict.fromkeys(f"{key}{policy_text(value)}" for key, value in texts))


def next_step(action: Action, error: GitopsError, replan: str) -> str:
    """What to do about the cause, and then the one command that goes on."""
    is_schema = isinstance(action, RegisterSchema)
    match error:
        case UnknownOutcomeError():
            return AGAIN
        case StalePlanError():
            return replan
        case PartialApplyError():
            return f"{error.hint}, then {replan}"
        case RegistryRefusedError(status=code) if is_schema and code in _REFUSED_SCHEMA:
            return f"change the files until the registry accepts them, then {replan}"
        case _:
            return f"{error.hint}; then {AGAIN}" if error.hint else AGAIN


def _closing_hint(error: GitopsError, still_open: Sequence[Result], plan: Plan) -> str:
    """How the topics that are still open are set back: by the same plan, or else by hand."""
    if error.hint.endswith(AGAIN):
        return f"{error.hint}, and sets the strategy back"
    commands = (_command(result.action, plan.registry) for result in still_open)
    return f"set the strategy back: {' && '.join(commands)}; then {error.hint}"


def _command(action: Action, registry: str) -> str:
    """How a policy is set by hand."""
    if not isinstance(action, SetPolicy):
        raise TypeError(f"{action} sets no policy")
    value = f"{action.change.key}={value_text(action.change.after) or ''}"
    words = ["pulsar-gitops", "policies", "set", str(action.subject), value]
    return shlex.join([*words, "--registry", registry])


_REFUSED_SCHEMA: Final = (400, 409, 413, 422, 500)
"""How a registry answers to a schema that it does not take (Pulsar 4.0.7)."""
AGAIN: Final = "run the same command again: it goes on where it stopped"
