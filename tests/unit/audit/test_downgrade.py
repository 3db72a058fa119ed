"""Which kinds of definitions only one of two lines accepts: each kind with an example of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from gitops.audit.downgrade import downgrade_cause
from gitops.audit.operations import differences
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import LINES, find_line, with_legacy_json
from gitops.broker.registration import register
from gitops.model.audit import ITEM
from gitops.model.decision import StoredHistory
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from tests.support.audits import Definition, audited, info, pair, record
from tests.support.protos import inner_root, message_set, of_edition
from tests.support.states import field

_A: Final = field("a", {"type": "record", "name": "B", "namespace": "", "fields": []})
_ENUM: Final = {"type": "enum", "name": "E", "symbols": ["X"]}
_LATER: Final = {"type": "record", "name": "B", "fields": []}


def _with(member: str) -> str:
    return record(x=1).replace('"x": 1', member)


EXAMPLES: Final[Mapping[str, Definition]] = {
    "`$` in names": record(field("a$b")),
    "names that are used before they are defined": record(field("b", "B"), field("c", _LATER)),
    'references such as {"type": "B"} to a type without a namespace': record(
        _A, field("b", {"type": "B"}), namespace="n"
    ),
    "some types that are defined twice": record(field("a", _ENUM), field("b", _ENUM)),
    "a union's default that fits another branch than the first": record(
        field("a", ["int", "null"], default=None)
    ),
    "namespaces with parts that are no names, such as com.my-co": record(namespace="com.my-co"),
    "members of more than 64 bits": record(limit=2**63),
    "references such as `.B`": record(_A, field("b", ".B")),
    "the type EXTERNAL": ("EXTERNAL", "anything"),
    "JSON definitions that are not Avro": ("JSON", '{"type": "object"}'),
    "AVRO definitions that are a union": f'["null", {record()}]',
    "KEY_VALUE definitions that nest deeper than 255": pair(_with(f'"x": {"[" * 254}{"]" * 254}')),
    "definitions that nest deeper than 1,000": _with(f'"x": {"[" * 1000}{"]" * 1000}'),
    "numbers of more than 1,000 digits": _with(f'"x": {"1" * 1001}'),
    "names of members of more than 50,000 characters": _with(f'"{"k" * 50_001}": 1'),
    "records that are defined again inside": record(field("a", json.loads(record()))),
    "records that are defined twice, one after the other and the same": record(
        field("a", _LATER), field("b", _LATER)
    ),
    "PROTOBUF_NATIVE editions before PROTO2 and unknown ones": of_edition(1003),
    "PROTOBUF_NATIVE edition 2026": of_edition(1002),
    "PROTOBUF_NATIVE root messages inside another message, without a package": inner_root(),
    "PROTOBUF_NATIVE message sets with fields": message_set(),
}


def _pairs() -> list[ParameterSet]:
    """All pairs of lines; those with an early release or another setting are slow."""
    early = [line for release in ("3.3.2", "4.0.4", "5.0.0-M1") if (line := find_line(release))]
    assert len(early) == 3
    usual = list(LINES.values())
    lines = [*usual, *early, with_legacy_json(LINES["4.2"]), with_legacy_json(LINES["5.0"])]
    return [
        pytest.param(
            *lines_of_pair, marks=() if {*usual}.issuperset(lines_of_pair) else pytest.mark.slow
        )
        for lines_of_pair in permutations(lines, 2)
    ]


def _is_stopped(example: Definition, present: BrokerLine, target: BrokerLine) -> bool:
    """Whether the target line takes it as a topic's first, which the way back then stops."""
    topic = audited(target.name, example)
    is_taken = register(StoredHistory(), info(example), Strategy.FULL, target).accepted
    lost = differences(replace(topic, line=target), present)
    return is_taken and any(one.is_loss for one in lost)


@pytest.mark.parametrize(("present", "target"), _pairs())
def test_each_kind_is_listed_where_only_the_target_accepts_it(
    present: BrokerLine, target: BrokerLine
) -> None:
    cause = downgrade_cause("live", present, target)
    listed = set(cause.message.split(f"; {ITEM}")[1:]) if cause else set()

    assert listed == {
        kind for kind, example in EXAMPLES.items() if _is_stopped(example, present, target)
    }
