"""What is done to one subject, in a terminal: its policies, and the steps of a waived schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from gitops.model.plan import Action, RegisterSchema, SetPolicy
from gitops.planning.policies import direction, policy_text
from gitops.reports.text.layout import align_columns

_LOOSENED: Final = {"loosened": "yellow", "tightened": "green"}


def policy_table(actions: Sequence[SetPolicy]) -> RenderableType:
    """What becomes of each policy of a subject."""
    return align_columns(
        [
            (
                Text(action.change.key),
                Text(f"{policy_text(action.change.before)} → {policy_text(action.change.after)}"),
                Text(word := direction(action.change), style=_LOOSENED.get(word, "")),
            )
            for action in actions
        ]
    )


def steps_table(actions: Sequence[Action]) -> RenderableType:
    """What is done for a schema that Pulsar would refuse, in order."""
    rows = [(f"{number}.", *_step(action)) for number, action in enumerate(actions, 1)]
    return align_columns([tuple(map(Text, row)) for row in rows])


def _step(action: Action) -> tuple[str, str, str]:
    if isinstance(action, SetPolicy):
        change = action.change
        values = f"{policy_text(change.before)} → {policy_text(change.after)}"
        why = "set back" if action.sets_back else direction(change)
        return change.key, values, "for this schema only" if action.loosens else why
    version = f"v{action.version}" if isinstance(action, RegisterSchema) else ""
    return "register", version, ""
