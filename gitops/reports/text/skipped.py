"""What an apply that keeps going skips, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.rollout_reason import name_list
from gitops.planning.skipped_subjects import SkippedSubject
from gitops.reports.text.layout import align_columns
from gitops.reports.text.plain import safe

_MOST_NAMES: Final = 3


def skipped_text(skipped: Sequence[SkippedSubject], *, planned: bool = False) -> RenderableType:
    """`skipped because of findings:` and a line for each reason; `planned`: an apply will."""
    head = "apply skips, because of findings:" if planned else "skipped, because of findings:"
    subjects: dict[str, list[str]] = {}
    for subject in skipped:
        subjects.setdefault(_reason(subject), []).append(subject.subject)
    rows = [
        (Text(safe(name_list(names, _MOST_NAMES))), Text(safe(reason)))
        for reason, names in subjects.items()
    ]
    return Group(
        Text(head, style="bold yellow"),
        Padding(align_columns(rows), (0, 0, 0, 4), expand=False),
    )


def _reason(skipped: SkippedSubject) -> str:
    return f"{skipped.rule}: {skipped.reason}" if skipped.rule else skipped.reason
