"""Random rows, many of them spoilt: read here, and by Avro for Java."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from gitops.model.replay import LogicalTypes
from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.kernel import AvroRowReader, avro_row_reader
from gitops.replay.kernel.avro.logical_types import NO_DIGITS, NO_TIME_OF_DAY, NO_UUID
from gitops.replay.kernel.avro.schema_pair import make_plan
from gitops.replay.kernel.avro.steps import Fail
from gitops.replay.kernel.protocol import Unreadable
from tests.replay.avro_peers import JavaRows, as_java_shows, java_rows
from tests.replay.avro_rows import Case, aliased_case, case, logical_case, parsed
from tests.support.pulsar_class_path import BrokerUnavailableError

_PAIRS: Final = 250
_MOST_PAIRS: Final = 20 * _PAIRS
"""Until each of what has to be refused was met; mostly the first pairs have all of it."""

_ROWS: Final = 30
_PAIRS_WITH_ALIASES: Final = 600
_FEW_ROWS: Final = 5

_NO_CLASS: Final = "Failed to load class"
"""Of a `java-class` that nobody has: which classes a client has is not in its data."""

_REFUSED: Final = {NO_UUID, NO_TIME_OF_DAY, NO_DIGITS}

LAXER: Final = {
    row_counts.LEFT,
    row_counts.BOOLEAN,
    row_counts.INT,
    row_counts.LONG,
    row_counts.BLOCK,
}
"""What Java does not look at anywhere."""

LAXER_WHERE_DROPPED: Final = {
    row_counts.SYMBOL,
    row_counts.BRANCH,
    row_counts.LENGTH,
    row_counts.ENDS,
}
"""What it does not see where it skips a value, since it jumps over blocks that say their size."""

TOO_MANY: Final = {row_counts.COUNT, row_counts.EMPTY}
"""For these it would make room for as many items as the message claims."""


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaRows]:
    """Avro for Java; skips where there is no Java or no Maven."""
    try:
        with java_rows(tmp_path_factory.mktemp("java")) as running:
            yield running
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Avro for Java: {reason}")


@pytest.mark.broker
def test_rows_are_read_as_java_reads_them(java: JavaRows) -> None:
    _compare(java, lambda seed: case(seed, _ROWS), _PAIRS)


@pytest.mark.broker
def test_aliases_are_followed_as_java_follows_them(java: JavaRows) -> None:
    _compare(java, lambda seed: aliased_case(seed, _FEW_ROWS), _PAIRS_WITH_ALIASES)


@pytest.mark.broker
def test_logical_types_are_read_as_java_reads_them_into_its_classes(java: JavaRows) -> None:
    first, read, refused = secrets.randbelow(10**9), 0, set[str]()
    for seed in range(first, first + _MOST_PAIRS):
        if seed >= first + _PAIRS and refused >= _REFUSED:
            break
        found = logical_case(seed, _ROWS)
        if found is None:
            continue
        ours = [one for one in _ours(found, "java") if one[2] not in TOO_MANY]
        payloads = [payload for payload, _, _ in ours]
        theirs = java.read(found.writer, found.reader, payloads, classes=True)
        for (payload, _, reason), answer in zip(ours, theirs, strict=True):
            place = f"seed {seed}: {payload.hex()}"
            if _NO_CLASS in answer.get("error", ""):
                continue
            if reason is None:
                read += 1
                assert answer == {"left": 0}, place
            elif "error" not in answer:
                dropped = reason in LAXER_WHERE_DROPPED and found.writer != found.reader
                assert reason in LAXER or dropped, f"{place}: Java reads it, here {reason}"
            else:
                refused.add(reason)
    assert read
    assert refused >= _REFUSED


def _compare(java: JavaRows, make: Callable[[int], Case | None], pairs: int) -> None:
    first, read = secrets.randbelow(10**9), 0
    for seed in range(first, first + pairs):
        found = make(seed)
        if found is None:
            continue
        ours = [one for one in _ours(found, "none") if one[2] not in TOO_MANY]
        theirs = java.read(found.writer, found.reader, [payload for payload, _, _ in ours])
        for (payload, value, reason), answer in zip(ours, theirs, strict=True):
            place = f"seed {seed}: {payload.hex()}"
            if reason is None:
                read += 1
                _same_value(value, answer, place)
            elif "value" in answer:
                dropped = reason in LAXER_WHERE_DROPPED and found.writer != found.reader
                assert reason in LAXER or dropped, f"{place}: Java reads it, here {reason}"
            if not answer.get("left", 1):
                _same_again(found, answer, place)
    assert read


def _same_again(found: Case, answer: dict[str, Any], place: str) -> None:
    """What Java wrote of a value is read as that value, if it is not too many for us.

    A record that contains itself reads nothing of its own.
    """
    reader = parsed(found.reader)
    assert reader is not None
    plan = make_plan(reader, reader, "none")
    if isinstance(plan.top.step, Fail):
        return
    value, reason = _read(AvroRowReader(plan), bytes.fromhex(answer["written"]))
    assert reason is None or reason in TOO_MANY, place
    if reason is None:
        _same_value(value, answer, place)


def _ours(found: Case, logical_types: LogicalTypes) -> Iterator[tuple[bytes, Any, str | None]]:
    """For each payload its value, or the reason against it."""
    writer, reader = parsed(found.writer), parsed(found.reader)
    assert writer is not None
    assert reader is not None
    rows = avro_row_reader(writer, reader, logical_types)
    for payload in found.payloads:
        yield payload, *_read(rows, payload)


def _read(rows: AvroRowReader, payload: bytes) -> tuple[Any, str | None]:
    """The value, or the reason against it."""
    try:
        return rows.read(payload), None
    except Unreadable as error:
        return None, error.reason.reason


def _same_value(value: object, answer: dict[str, Any], place: str) -> None:
    assert "error" not in answer, f"{place}: {answer['error']}"
    assert not answer["left"], place
    # Java keeps two keys of a map that differ only in bytes that are no text.
    if "\ufffd" not in json.dumps(answer["value"], ensure_ascii=False):
        assert as_java_shows(value) == answer["value"], place
