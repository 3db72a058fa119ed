"""A column of Protobuf messages, read one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow

from gitops.replay.kernel.protobuf.plan import Fields
from gitops.replay.kernel.protobuf.reading import read
from gitops.replay.kernel.verdicts import Verdicts
from gitops.replay.kernel.walk import Counted, Unreadable, Walk


class ProtobufKernel:
    """Reads Protobuf by a plan."""

    def __init__(self, plan: Fields) -> None:
        self._plan = plan

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Verdicts and counts."""
        verdicts = Verdicts(len(payloads))
        counts: Counter[Counted] = Counter()
        for row, payload in enumerate(payloads.to_pylist()):
            try:
                counts.update(read(self._plan, payload)[1])
            except Unreadable as unreadable:
                verdicts.stop(row, unreadable.reason)
        return verdicts.walk(counts)

    def read(self, payload: bytes) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value as the reader sees it: fields by name; raises Unreadable."""
        return read(self._plan, payload)[0]
