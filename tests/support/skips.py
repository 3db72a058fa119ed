"""What a run of the tests did not try, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def not_tried(reasons: Iterable[str]) -> str:
    """`not tried: 12 tests (no java), 1 test (no curl)`, the most first; empty without any."""
    counts = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    told = (
        f"{count} {'test' if count == 1 else 'tests'} ({reason})"
        for reason, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    )
    listed = ", ".join(told)
    return f"not tried: {listed}" if listed else ""
