"""What an apply that keeps going leaves out."""

from __future__ import annotations

from rich.console import Console

from gitops.planning.skipped_subjects import SkippedSubject
from gitops.reports.text.skipped import skipped_text


def test_subjects_with_one_reason_share_a_line() -> None:
    skipped = [
        SkippedSubject(subject=f"shop/orders/t{number}", reason="nobody can connect", rule="X-R001")
        for number in range(5)
    ]
    skipped.append(SkippedSubject(subject="shop/orders/other", reason="it is refused"))
    console = Console(width=120)

    with console.capture() as capture:
        console.print(skipped_text(skipped))

    lines = capture.get().splitlines()
    assert len(lines) == 3
    assert lines[1].rstrip().endswith("X-R001: nobody can connect")
    assert "shop/orders/t0, shop/orders/t1" in lines[1]
