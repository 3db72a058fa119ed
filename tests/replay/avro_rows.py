"""Columns against single rows: the same verdict, reason and counts for each payload."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pyarrow

from gitops.replay.kernel.avro.kernel import AvroKernel, AvroRowReader
from gitops.replay.kernel.avro.schema_pair import make_plan
from gitops.replay.kernel.protocol import READ, CountKey, Reason, Unreadable, Walk
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.schema import Schema
from tests.oracle.avro_changes import AvroChanges
from tests.oracle.avro_schemas import AvroSchemas
from tests.oracle.random_source import Chance
from tests.replay.avro_aliases import aliased
from tests.replay.avro_logical import decorated
from tests.replay.avro_payloads import AvroPayloads, EndlessError

parse = AVRO_1_11.parse

_FEW: Final = (0, 0, 3, 16)


class Case(NamedTuple):
    """Definitions, and payloads of the writer of which some are spoilt."""

    writer: Any
    reader: Any
    payloads: list[bytes]


def parsed(text: object) -> Schema | None:
    """The schema, None where it is none."""
    try:
        return parse(json.dumps(text))
    except AvroParseError:
        return None


def case(seed: int, rows: int, *, spoilt: float = 0.4, any_bytes: bool = True) -> Case | None:
    """The case of a seed; None where one of its definitions is none, or no value of it ends."""
    chance = Chance(seed)
    schemas = AvroSchemas(chance)
    writer = schemas.record() if chance.maybe(0.7) else schemas.schema()
    reader = AvroChanges(schemas).changed(writer, 4)
    return _case(AvroPayloads(chance, any_bytes=any_bytes), (writer, reader), rows, spoilt)


def logical_case(seed: int, rows: int) -> Case | None:
    """The same with logical types wherever they can be, in writer and reader.

    Arrays have one block: Java overruns the array that it makes of a logical type at the second.
    """
    chance = Chance(seed)
    schemas = AvroSchemas(chance)
    plain = schemas.record() if chance.maybe(0.7) else schemas.schema()
    changed = AvroChanges(schemas).changed(plain, 2)
    pair = (decorated(chance, plain), decorated(chance, changed))
    return _case(AvroPayloads(chance, several_blocks=False), pair, rows, 0.1)


def aliased_case(seed: int, rows: int) -> Case | None:
    """The same with a reader that is full of aliases; few payloads are spoilt."""
    chance = Chance(seed)
    return _case(AvroPayloads(chance), aliased(chance), rows, 0.1)


def _case(payloads: AvroPayloads, pair: tuple[Any, Any], rows: int, spoilt: float) -> Case | None:
    chance, (writer, reader) = payloads.chance, pair
    written = parsed(writer)
    if written is None or parsed(reader) is None:
        return None
    try:
        made = [payloads.payload(written) for _ in range(rows)]
    except (EndlessError, RecursionError):
        return None
    for index in range(rows):
        if chance.maybe(spoilt):
            made[index] = payloads.spoilt(made[index], lambda: chance.choice(made))
    return Case(writer, reader, made)


def difference(found: Case, few: int) -> str:
    """Where columns and rows differ, empty if nowhere."""
    writer, reader = parsed(found.writer), parsed(found.reader)
    assert writer is not None
    assert reader is not None
    plan = make_plan(writer, reader)
    walk = AvroKernel(plan, few=few).walk(pyarrow.array(found.payloads, pyarrow.binary()))
    by_row, counts = by_rows(AvroRowReader(plan), found.payloads)
    for payload, one, other in zip(found.payloads, by_row, by_columns(walk), strict=True):
        if one != other:
            return f"{payload.hex()}: {one} by itself, {other} in columns"
    if walk.counts != counts:
        return f"counts: {counts - walk.counts} only by rows, {walk.counts - counts} in columns"
    return _changes(AvroKernel(plan), walk, found.payloads)


def _changes(kernel: AvroKernel, walk: Walk, payloads: list[bytes]) -> str:
    """Where a walk and single rows do not agree about which values are changed."""
    for number, payload in enumerate(payloads):
        if walk.verdicts[number] == READ:
            paths = {path for path, rows in walk.changed.items() if number in rows}
            told = kernel.changes(payload)
            if paths != told.keys():
                return f"{payload.hex()}: {paths} are changed, {told.keys()} by itself"
    return ""


def by_columns(walk: Walk) -> list[Reason | None]:
    """The reasons that a walk gives, None for a row that was read."""
    return [None if v == READ else walk.reasons[v - 1] for v in walk.verdicts.tolist()]


def by_rows(
    reader: AvroRowReader, payloads: list[bytes]
) -> tuple[list[Reason | None], Counter[CountKey]]:
    """The same by a plain reader, and what it counted."""
    found: list[Reason | None] = []
    counts: Counter[CountKey] = Counter()
    for payload in payloads:
        try:
            counts.update(reader.counted(payload)[1])
            found.append(None)
        except Unreadable as error:
            found.append(error.reason)
    return found, counts


def differences(
    first: int, last: int, rows: int, make: Callable[[int, int], Case | None] = case
) -> Iterator[tuple[int, Case, str]]:
    """A case for each seed that has one, and what differs in it."""
    for seed in range(first, last):
        found = make(seed, rows)
        if found is not None:
            yield seed, found, difference(found, _FEW[seed % len(_FEW)])
