"""Replays for tests: a report with everything in it, and a runner that reads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitops.model.findings import Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.replay import (
    ChangedExample,
    Direction,
    FailureExample,
    FieldReplay,
    ReaderReplay,
    ReplayFailure,
    ReplayReport,
)
from gitops.model.rules import make_finding
from gitops.ports import Progress, no_progress
from gitops.replay.counts import Key, Tally
from gitops.replay.job import RunRequest, RunResult, UnreadSample

ORDERS = NamespaceName("shop", "orders")
CREATED = TopicName(ORDERS, "order-created")
CANCELLED = TopicName(ORDERS, "order-cancelled")
STATUS = TopicName(ORDERS, "order-status")
MANIFEST = Location(
    file="namespaces/shop/orders/order-created.yaml", line=8, column=5, pointer="/samples/0"
)

_CURRENCY = ReplayFailure(
    path="total.currency",
    reason="the reader's enum has no such symbol, and no default",
    rows=10,
    examples=(
        FailureExample(
            "samples/orders.avro#17",
            "symbol 'OLD' is not among EUR, USD",
            '{"orderId": "o-17", "total": {"currency": "OLD"}}',
        ),
        FailureExample("samples/orders.avro#99", "symbol 'OLD' is not among EUR, USD", None),
    ),
)
_CUT = ReplayFailure(
    path="lines[].sku",
    reason="the message ends within a string",
    rows=2,
    examples=(FailureExample("samples/orders.avro#4211", "12 bytes are missing"),),
)
_FIELDS = (
    FieldReplay(path="coupon", defaulted=49_988),
    FieldReplay(path="legacy", dropped=49_988),
    FieldReplay(
        path="lines[].quantity",
        read=120_411,
        promoted=120_411,
        changed=3,
        example=ChangedExample(
            where="samples/orders.avro#40",
            reason="the reader's type has fewer digits",
            before="16777217",
            after="16777216.0",
        ),
    ),
    FieldReplay(
        path="note", read=49_988, nulls=20_560, branches={"null": 20_560, "string": 29_428}
    ),
    FieldReplay(
        path="total.currency", read=49_988, symbols={"EUR": 31_000, "GBP": 2, "USD": 18_986}
    ),
)
_NEWER = (
    FieldReplay(path="coupon", read=4_000, nulls=3_988, branches={"null": 3_988, "string": 12}),
    FieldReplay(path="note", read=4_000, nulls=3_900, branches={"null": 3_900, "string": 100}),
    FieldReplay(path="total.currency", read=4_000, symbols={"EUR": 1_000, "USD": 3_000}),
)


def reader(  # noqa: PLR0913 - as many as one has
    topic: TopicName = CREATED,
    version: int | None = 3,
    name: str = "proposed",
    rows: int = 50_000,
    *failures: ReplayFailure,
    fields: tuple[FieldReplay, ...] = (),
    gates: bool = True,
) -> ReaderReplay:
    """One reader's answer; the direction follows from its name."""
    backward = name in ("proposed", "")
    failed = sum(one.rows for one in failures)
    return ReaderReplay(
        topic=topic,
        version=version,
        reader=name,
        direction=Direction.BACKWARD if backward else Direction.FORWARD,
        gates=gates,
        rows=rows,
        failed=failed,
        counted=failed if gates and name else 0,
        failures=failures,
        fields=fields,
    )


FAILING = make_finding(
    "REPLAY-R001",
    "12 of 50,000 sample messages cannot be read by the proposed schema: the reader's enum has no "
    "such symbol, and no default at 'total.currency' (10), the message ends within a string at "
    "'lines[].sku' (2)",
    location=MANIFEST,
    subject=str(CREATED),
    hint="change the schema so that it reads them, or say how many may fail: maxFailures",
)
ROUNDED = make_finding(
    "REPLAY-R007",
    "the proposed schema reads other values than were written at 'lines[].quantity' "
    "(3 of 9 values)",
    location=MANIFEST,
    subject=str(CREATED),
    hint="the report counts them by field: `changed`",
)
UNKNOWN = make_finding(
    "REPLAY-R003",
    "2 messages were not replayed: the message has no payload (1), the topic has no such schema "
    "version (1)",
    location=Location(file="namespaces/shop/orders/order-cancelled.yaml", line=7, column=5),
    subject=str(CANCELLED),
)

REPORT = ReplayReport(
    registry="production",
    engine="local",
    rows=54_107,
    readers=(
        reader(CANCELLED, 0, "proposed", 100),
        reader(
            CANCELLED,
            None,
            "",
            2,
            ReplayFailure(
                path="",
                reason="the message has no payload",
                rows=1,
                examples=(FailureExample("samples/cancelled.jsonl#4", "0 bytes"),),
            ),
            ReplayFailure(path="", reason="the topic has no such schema version", rows=1),
            gates=False,
        ),
        reader(CREATED, 3, "proposed", 50_000, _CURRENCY, _CUT, fields=_FIELDS),
        reader(CREATED, 4, "proposed", 4_000, fields=_NEWER),
        reader(CREATED, 3, "v3", 10_000, fields=_NEWER, gates=False),
        reader(CREATED, 4, "billing", 4_000, gates=False),
        replace(reader(STATUS, 0, "proposed", 5), logical_types="none"),
    ),
    findings=(UNKNOWN, FAILING, ROUNDED),
    strategies={CANCELLED: Strategy.BACKWARD, CREATED: Strategy.BACKWARD, STATUS: Strategy.FULL},
    source="snapshot",
    limits=("What happened in the registry after the snapshot was recorded is unknown.",),
)
"""A replay of three topics: one whose messages fail, one with oddities, one that is good."""


@dataclass(slots=True)
class FakeRunner:
    """Answers what it is told to, and keeps what it was asked."""

    tallies: Mapping[Key, Tally] = field(default_factory=dict)
    unread: tuple[UnreadSample, ...] = ()
    complete: bool = True
    engine: str = "local"
    asked: list[RunRequest] = field(default_factory=list)

    def run(self, running: RunRequest, _progress: Progress = no_progress) -> RunResult:
        self.asked.append(running)
        return RunResult(tallies=self.tallies, unread=self.unread, complete=self.complete)
