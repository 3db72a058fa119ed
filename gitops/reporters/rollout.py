"""A rollout in words, for every reporter: its steps as sentences, what each waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gitops.model.rollout import Delete, Drain, Ordered, Register, Rollout, Step, Upgrade


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One step: its number from 1, what to do, a remark, and why it waits for others."""

    number: int
    text: str
    note: str = ""
    reasons: tuple[str, ...] = ()


def has_order(rollout: Rollout) -> bool:
    """Whether there is anything to tell: registrations alone are in the plan."""
    return bool(rollout.blocks) or any(isinstance(one.step, Upgrade) for one in rollout.steps)


def lines(rollout: Rollout) -> Iterator[Line]:
    """The steps in order; a reason is told at the step that waits."""
    for number, one in enumerate(rollout.steps, start=1):
        yield Line(
            number=number,
            text=_said(one.step, rollout),
            note=_note(one, rollout),
            reasons=tuple(dict.fromkeys(wait.reason for wait in one.waits_for)),
        )


def _said(step: Step, rollout: Rollout) -> str:
    match step:
        case Register():
            return f"register v{step.version} of {step.topic}"
        case Upgrade():
            sides = ", ".join(rollout.sides.get(step.service, ()))
            return f"upgrade {step.service} ({sides})" if sides else f"upgrade {step.service}"
        case Drain():
            return f"wait until no message of v{step.version} is left in {step.topic}"
        case Delete():
            return f"delete the schema of {step.topic}"


def _note(one: Ordered, rollout: Rollout) -> str:
    stays = isinstance(one.step, Upgrade) and one.step.service in rollout.may_stay
    return "can stay behind" if stays else ""
