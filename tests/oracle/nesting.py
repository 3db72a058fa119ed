"""How deep the texts of a case nest: far down, a JVM's stack decides and not a rule."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final

_STEPS: Final = {"{": 1, "[": 1, "}": -1, "]": -1}
_SAFE_LEVELS: Final = 400


def is_up_to_the_stack(case: Mapping[str, Any]) -> bool:
    """Whether a definition nests so deep that the answer depends on the thread which parses it.

    A broker 4.0.7 overflows at some 600 levels before its compiler has seen the code, at some 900
    after that, and never at 1,000 in a thread with more stack.
    """
    entries = (*case["existing"], case["candidate"])
    return any(_levels(entry.get("schema") or "") > _SAFE_LEVELS for entry in entries)


def _levels(text: str) -> int:
    """The most brackets that are open at once; those inside of strings count as well."""
    steps = (_STEPS[each] for each in text if each in _STEPS)
    return max(itertools.accumulate(steps), default=0)
