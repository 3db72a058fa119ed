"""AUDIT-H003 and Protobuf's own parsers: who fails on a change that Pulsar does not see.

Random messages of one definition are read by the other, in both directions, by the Protobuf of
Pulsar's own Java client.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest

from gitops.model.policy import NamespacePolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.protobuf_native.review import remarks
from tests.oracle.descriptor_pairs import ROOT, DescriptorPairs
from tests.support.audits import audit_of
from tests.support.java_program import JavaProgram
from tests.support.pulsar_class_path import BrokerUnavailableError

pytestmark = [pytest.mark.broker, pytest.mark.slow]  # no broker is started; its jars are needed

_SOURCE: Final = Path(__file__).parents[1] / "oracle" / "DescriptorPairs.java"
_COUNT: Final = 400
_RENAMED: Final = "PROTO-W011"


class Reading(NamedTuple):
    """Of how many messages of the one what the other makes."""

    written: int
    failed: int
    changed: int


class Pair(NamedTuple):
    """Two definitions, how each reads messages of the other, and the seed of all pairs."""

    seed: int
    old: SchemaInfo
    new: SchemaInfo
    new_reads_old: Reading
    old_reads_new: Reading


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    seed = int(os.environ.get("ORACLE_SEED") or secrets.randbelow(10**9))
    drawn = DescriptorPairs(Random(seed))  # noqa: S311 - a test's definitions
    files = [
        [base64.b64encode(one.files()).decode() for one in drawn.pair()] for _ in range(_COUNT)
    ]
    lines = "".join(f"{seed} {old} {new}\n{seed} {new} {old}\n" for old, new in files)
    try:
        found = JavaProgram(_SOURCE, tmp_path_factory.mktemp("classes")).run(lines=lines)
    except BrokerUnavailableError as reason:
        pytest.skip(str(reason))
    answers = iter(Reading(*map(int, line.split())) for line in found)
    return [
        Pair(seed, native(old), native(new), next(answers), next(answers)) for old, new in files
    ]


def native(files: str) -> SchemaInfo:
    """The schema of the root of one file."""
    members = {
        "fileDescriptorSet": files,
        "rootMessageTypeName": ROOT,
        "rootFileDescriptorName": "a.proto",
    }
    return SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema=json.dumps(members))


def is_found(pair: Pair, strategy: Strategy) -> bool:
    """Whether an audit of the two as versions of a topic has the rule."""
    policies = NamespacePolicies(schema_compatibility_strategy=strategy)
    report = audit_of({"a": (pair.old, pair.new)}, policies=policies)
    return any(one.rule == "AUDIT-H003" for one in report.findings)


def test_an_audit_finds_the_changes_that_parsers_fail_on_and_no_others(pairs: list[Pair]) -> None:
    """Under BACKWARD those of the new definition, under FULL those of either."""
    for pair in pairs:
        back, forth = pair.new_reads_old.failed > 0, pair.old_reads_new.failed > 0
        found = [is_found(pair, each) for each in (Strategy.BACKWARD, Strategy.FULL)]
        assert found == [back, back or forth], pair

    assert sum(pair.new_reads_old.failed > 0 for pair in pairs) > _COUNT / 40
    assert sum(pair.old_reads_new.failed > 0 for pair in pairs) > _COUNT / 40


def test_what_comes_out_otherwise_is_remarked(pairs: list[Pair]) -> None:
    """A value that is gone or another one, by whatever rule."""
    changed = [pair for pair in pairs if pair.new_reads_old.changed]
    for pair in changed:
        old, new = pair.old.schema.encode(), pair.new.schema.encode()
        found = {one.rule for one in remarks(old, new, forward=False)}
        assert found - {_RENAMED}, pair

    assert len(changed) > _COUNT / 10


def test_what_is_called_certain_fails_or_comes_out_otherwise(pairs: list[Pair]) -> None:
    """In both directions; a reader that gets every value right is never called broken."""
    certain = 0
    for pair in pairs:
        old, new = pair.old.schema.encode(), pair.new.schema.encode()
        found = remarks(old, new, forward=True)
        for is_broken, reading in (
            (any(one.breaks_readers for one in found), pair.new_reads_old),
            (any(one.breaks_old_readers for one in found), pair.old_reads_new),
        ):
            if is_broken:
                assert reading.failed or reading.changed, pair
                certain += 1

    assert certain > _COUNT / 10
