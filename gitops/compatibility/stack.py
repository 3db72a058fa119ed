"""Where a decision ends that needs more stack than there is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from gitops.compatibility.decision import Decision

_P = ParamSpec("_P")


def ends_with_the_stack(decide: Callable[_P, Decision]) -> Callable[_P, Decision]:
    """Let `decide` refuse, as the broker fails, where definitions hang together too deeply.

    Thousands of records in a chain overflow Java's stack, too, and the broker answers 500 (Pulsar
    4.0.7); the exact number depends on its JVM.
    """

    @wraps(decide)
    def decide_or_fail(*args: _P.args, **kwargs: _P.kwargs) -> Decision:
        try:
            return decide(*args, **kwargs)
        except RecursionError:
            reason = "the definition nests too deep: the broker fails on it"
            return Decision(accepted=False, status=500, reason=reason)

    return decide_or_fail
