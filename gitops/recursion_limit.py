"""Room for definitions that nest as deep as a broker allows: a setting of the whole process.

Nesting is bounded where input comes in (`schemas.avro.json_text.check_depth`, 1,000 levels), and
Python's own limit of 1,000 calls would end long before. So each process sets its limit where it
begins: the command, Spark's workers, a test run. Nothing below changes it.
"""

from __future__ import annotations

import sys
from typing import Final

_CALLS: Final = 20_000


def raise_recursion_limit() -> None:
    """Allow as many nested calls as the deepest definition takes."""
    if sys.getrecursionlimit() < _CALLS:
        sys.setrecursionlimit(_CALLS)
