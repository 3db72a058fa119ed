"""Compare columns with single rows for as long as you like.

python -m tests.replay.rows FIRST_SEED LAST_SEED ROWS [logical]
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter

from gitops.replay.kernel.avro.kernel import avro_row_reader
from tests.replay.avro_rows import Case, by_rows, differences, logical_case, parsed
from tests.replay.avro_rows import case as any_case

_LOOK = 20


def main() -> int:
    """Print what differs, with its seed; 1 if anything does."""
    first, last, rows = map(int, sys.argv[1:4])
    make = logical_case if sys.argv[4:] == ["logical"] else any_case
    start, compared, pairs, wrong = time.monotonic(), 0, 0, 0
    verdicts: Counter[str] = Counter()
    for seed, case, difference in differences(first, last, rows, make):
        pairs += 1
        compared += len(case.payloads)
        if pairs % _LOOK == 0:
            verdicts.update(_verdicts(case))
        if difference:
            wrong += 1
            definitions = f"{json.dumps(case.writer)}\n  {json.dumps(case.reader)}"
            sys.stdout.write(f"seed {seed}: {difference}\n  {definitions}\n")
    seconds = time.monotonic() - start
    sys.stdout.write(f"{compared} rows of {pairs} pairs in {seconds:.0f} s: {wrong} pairs differ\n")
    for verdict, times in verdicts.most_common():
        sys.stdout.write(f"  of every {_LOOK}th pair {times} {verdict}\n")
    return bool(wrong)


def _verdicts(case: Case) -> Counter[str]:
    """How many rows were read, or failed for the same cause."""
    writer, reader = parsed(case.writer), parsed(case.reader)
    assert writer is not None
    assert reader is not None
    found, _ = by_rows(avro_row_reader(writer, reader), case.payloads)
    return Counter(" ".join(one.reason.split()[:6]) if one else "read" for one in found)


if __name__ == "__main__":
    sys.exit(main())
