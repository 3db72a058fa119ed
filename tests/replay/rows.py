"""Compare columns with single rows for as long as you like.

python -m tests.replay.rows FIRST_SEED LAST_SEED ROWS
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter

from gitops.replay.kernel.avro.kernel import avro_row_reader
from tests.replay.avro_rows import by_rows, differences, parsed


def main() -> int:
    """Print what differs, with its seed; 1 if anything does."""
    first, last, rows = map(int, sys.argv[1:4])
    start, compared, pairs, wrong = time.monotonic(), 0, 0, 0
    reasons: Counter[str] = Counter()
    for seed, case, difference in differences(first, last, rows):
        pairs += 1
        compared += len(case.payloads)
        if difference:
            wrong += 1
            print(
                f"seed {seed}: {difference}\n  {json.dumps(case.writer)}\n  {json.dumps(case.reader)}"
            )
        if pairs % 50 == 0:
            writer, reader = parsed(case.writer), parsed(case.reader)
            assert writer is not None
            assert reader is not None
            found = by_rows(avro_row_reader(writer, reader), case.payloads)[0]
            reasons.update(
                one.reason.split(" ", 3)[0:3] and " ".join(one.reason.split(" ")[:5])
                if one
                else "read"
                for one in found
            )
    seconds = time.monotonic() - start
    print(f"{compared} rows of {pairs} pairs in {seconds:.0f} s, {wrong} pairs differ")
    for reason, times in reasons.most_common(40):
        print(f"  {times:6} {reason}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
