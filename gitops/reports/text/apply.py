"""An apply in a terminal: a line for each action as it happens, and a last one that counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from rich.console import RenderableType
from rich.text import Text

from gitops.model.apply_result import Result
from gitops.model.journal import Outcome, outcome_of
from gitops.model.plan import (
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    Plan,
    RegisterSchema,
    SetPolicy,
)
from gitops.planning.lockout_findings import approved_lockouts
from gitops.planning.plan import subject_of
from gitops.planning.policies import policy_text
from gitops.reports.check_summary import claim
from gitops.reports.text.layout import align_columns
from gitops.reports.text.plain import safe

_MAX_SUBJECT: Final = 50
SIGNS: Final = {
    Outcome.DONE: ("✓", "green"),
    Outcome.FAILED: ("✗", "bold red"),
    Outcome.UNKNOWN: ("?", "bold yellow"),
}
WORDS: Final = {
    Outcome.DONE: "done",
    Outcome.FAILED: "failed",
    Outcome.UNKNOWN: "with an unknown outcome",
}


def apply_head(plan: Plan, done_before: int) -> Text:
    """Which registry it is, and how much is to be done."""
    total = len(plan.actions) + done_before
    left = f"{len(plan.actions)} of {_actions(total)} left" if done_before else _actions(total)
    return Text.assemble((safe(plan.registry), "bold"), f" · {safe(plan.address)} · {left}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionLines:
    """Lines that stand below each other, though each is printed when its action has happened."""

    widths: tuple[int, ...]

    @classmethod
    def of(cls, plan: Plan) -> ActionLines:
        """Wide enough for all actions of the plan."""
        subjects = (len(safe(str(subject_of(action)))) for action in plan.actions)
        subject = min(max(subjects, default=0), _MAX_SUBJECT) + len("✓ ")
        keys = [len(a.change.key) for a in plan.actions if isinstance(a, SetPolicy)]
        return cls(widths=(subject, max(keys, default=0)))

    def line(self, result: Result) -> RenderableType:
        """What became of one action: the version that came out, or why there is none."""
        sign, style = SIGNS[outcome_of(result.error)]
        title = Text.assemble((sign, style), " ", (safe(str(subject_of(result.action))), ""))
        *other_texts, last = (Text(safe(cell)) for cell in _cells(result))
        if result.error:
            last.append(": ").append(safe(result.error.what), style=style)
        return align_columns([(title, *other_texts, last)], widths=self.widths)


def lockout_lines(plan: Plan) -> list[Text]:
    """Who cannot connect any more, as a waiver approved; one line for each cause."""
    return [
        Text.assemble(("⚠", "yellow"), safe(f" {', '.join(lockout.subjects)}: {claim(lockout)}"))
        for lockout in approved_lockouts(plan)
    ]


def apply_count(
    plan: Plan, results: Sequence[Result], *, done_before: int, seconds: float | None = None
) -> Text:
    """How it ended: `applied 13 actions to local`, or how many of each there are."""
    total, before = len(plan.actions), _actions(done_before)
    took = "" if seconds is None else f"   {seconds:.1f} s"
    if not total and done_before:
        were = "was" if done_before == 1 else "were"
        return Text(f"nothing left to do: the {before} of this plan {were} carried out before")
    if not total:
        return Text("nothing to do")
    outcomes = [outcome_of(result.error) for result in results if not result.closes]
    if outcomes.count(Outcome.DONE) == total:
        return Text.assemble(f"applied {_actions(total)} to {safe(plan.registry)}", (took, "dim"))
    counts = [f"{n} {what}" for outcome, what in WORDS.items() if (n := outcomes.count(outcome))]
    closings = [outcome_of(result.error) for result in results if result.closes]
    closed, left = closings.count(Outcome.DONE), total - len(outcomes)
    counts += [f"{closed} set back"] if closed else []
    counts += [f"{len(closings) - closed} not set back"] if len(closings) > closed else []
    counts += [f"{left} not tried"] if left else []
    return Text.assemble((f"{_actions(total)}: {', '.join(counts)}", "bold red"), (took, "dim"))


def _actions(number: int) -> str:
    return f"{number:,} action{'' if number == 1 else 's'}"


def _cells(result: Result) -> tuple[str, ...]:
    """What the action does, or has done."""
    action = result.action
    match action:
        case CreateTenant() | CreateNamespace():
            return ("created" if result.error is None else "create",)
        case CreateTopic():
            made = "created" if result.error is None else "create"
            return (f"{made}, {partitions_text(action.partitions)}",)
        case SetPolicy():
            change = action.change
            values = f"{policy_text(change.before)} → {policy_text(change.after)}"
            return (change.key, values, *_why(action))
        case RegisterSchema():
            before = "" if action.latest_version is None else f"v{action.latest_version} "
            version = action.version if result.version is None else result.version
            return (f"{before}→ v{version}",)
        case DeleteSchema():
            return (f"v{action.versions[-1]} → deleted",)
        case _:
            assert_never(action)


def partitions_text(number: int) -> str:
    """`4 partitions`, for a topic that is created."""
    return f"{number or 'no'} partition{'' if number == 1 else 's'}"


def _why(action: SetPolicy) -> tuple[str, ...]:
    if action.loosens:
        return ("for one schema",)
    return ("set back",) if action.sets_back else ()
