"""What an audit finds about other strategies, compared with the broker's own classes.

Random histories are registered once more, version by version, under each strategy, and each of
their versions is sent by a consumer.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.audit.strategies import STRICTEST_FIRST, stricter_strategies
from gitops.audit.topic import AuditedTopic, unregistered_versions
from gitops.broker.connection import ConnectionPolicies
from gitops.broker.lines.line import BrokerLine
from gitops.model.decision import StoredHistory
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.recursion_limit import raise_recursion_limit
from gitops.schemas.payload import to_stored_type
from gitops.schemas.row import PayloadError, UndecodableError
from tests.oracle.broker_classes import BrokerClasses, broker_classes
from tests.oracle.cases import Cases
from tests.oracle.line_cases import LineCases
from tests.oracle.oracle_lines import ORACLE_LINES
from tests.support.audits import TOPIC
from tests.support.protos import order
from tests.support.pulsar_class_path import BrokerUnavailableError

_COUNT: Final = 600
_LOOSE: Final = Strategy.ALWAYS_COMPATIBLE
_ALL: Final = (_LOOSE, *STRICTEST_FIRST)
Version = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Versions of a topic, and what the broker answers to each under each strategy."""

    versions: Sequence[Version]
    topic: AuditedTopic
    producers: dict[Strategy, list[dict[str, Any]]]
    consumers: dict[Strategy, list[bool]]

    @property
    def is_live(self) -> bool:
        """Whether each version is a new one where no strategy is asked."""
        answers = self.producers[_LOOSE]
        return all(one["accepted"] and one["version"] == at for at, one in enumerate(answers))

    def refused(self, strategy: Strategy) -> set[int]:
        """The versions that are not registered under a strategy."""
        answers = self.producers[strategy]
        return {at for at, one in enumerate(answers) if at and not one["accepted"]}

    def fits(self, now: Strategy, other: Strategy) -> bool:
        """Whether the other strategy refuses nothing that is accepted now."""
        pairs = zip(self.consumers[now], self.consumers[other], strict=True)
        return not self.refused(other) and all(after or not before for before, after in pairs)


def versions_of(case: dict[str, Any]) -> list[Version]:
    """The existing schemas of a case and its candidate, as one history."""
    return [*case["existing"], case["candidate"]]


def chosen_histories() -> Iterator[list[Version]]:
    """BYTES twice; a check that fails between two versions that are valid each."""
    raw = {"type": "BYTES", "schema": "", "properties": {}}
    yield [raw, raw, raw]
    schema = order("int32 a = 1;").schema
    named = {"type": "PROTOBUF_NATIVE", "schema": schema, "properties": {}}
    yield [{**named, "schema": schema.replace("shop.Order", "")}, named]


def random_histories(seed: int) -> Iterator[list[Version]]:
    """Two versions and more, which REST could send.

    None is of the type BYTES: it is stored as NONE, and where its data are new nobody knows which
    of the two was sent.
    """
    pairs = zip(Cases(seed), LineCases(seed), strict=True)
    for case in itertools.chain.from_iterable(pairs):
        versions = versions_of(case)
        if len(versions) > 1 and not any(
            "encoding" in one or one.get("type") == "BYTES" for one in versions
        ):
            yield versions


def audited(versions: Sequence[Version], line: BrokerLine) -> AuditedTopic | None:
    """The topic as an audit looks at it, None where a version cannot be stored."""
    try:
        stored = [
            to_stored_type(
                line.types.to_stored(
                    SchemaInfo(
                        type=SchemaType(one["type"]),
                        schema=one["schema"],
                        properties=one["properties"] or {},
                    )
                )
            )
            for one in versions
        ]
    except (PayloadError, UndecodableError, ValueError, TypeError, KeyError):
        return None
    history = StoredHistory(entries=tuple(enumerate(stored)), next_version=len(stored))
    policies = ConnectionPolicies(strategy=_LOOSE)
    return AuditedTopic(name=TOPIC, history=history, policies=policies, line=line)


def asked(versions: Sequence[Version]) -> Iterator[dict[str, Any]]:
    """Under each strategy: each version after those before it, and each from a consumer."""
    for strategy in _ALL:
        common = {"id": "what-if", "strategy": strategy.value}
        for at, one in enumerate(versions):
            yield {**common, "mode": "producer", "existing": versions[:at], "candidate": one}
        for one in versions:
            yield {**common, "mode": "consumer", "existing": versions, "candidate": one}


def answered(topic: AuditedTopic, versions: Sequence[Version], oracle: BrokerClasses) -> History:
    """What the broker answers to all of that."""
    answers = iter(oracle.ask([*asked(versions)]))
    producers, consumers = {}, {}
    for strategy in _ALL:
        producers[strategy] = [dict(next(answers)) for _ in versions]
        consumers[strategy] = [bool(next(answers)["accepted"]) for _ in versions]
    return History(versions=versions, topic=topic, producers=producers, consumers=consumers)


@pytest.mark.broker
@pytest.mark.slow
@pytest.mark.parametrize("name", ["4.0", "4.2"])
def test_other_strategies_would_have_answered_as_the_audit_finds(name: str, tmp_path: Path) -> None:
    if shutil.which("javac") is None:
        pytest.skip("no oracle: no javac on the PATH")
    raise_recursion_limit()
    line = ORACLE_LINES[name].line
    seed = int(os.environ.get("ORACLE_SEED") or secrets.randbelow(10**9))
    histories = itertools.chain(chosen_histories(), random_histories(seed))
    try:
        with broker_classes(tmp_path, ORACLE_LINES[name]) as oracle:
            found = [
                answered(topic, versions, oracle)
                for versions in itertools.islice(histories, _COUNT)
                if (topic := audited(versions, line))
            ]
    except BrokerUnavailableError as reason:
        pytest.skip(f"no oracle of {name}: {reason}")
    live = [one for one in found if one.is_live]

    wrong = [text for one in live for text in differences(one)]
    assert not wrong, f"{len(wrong)} with ORACLE_SEED={seed}, for example:\n" + wrong[0]
    assert any(one.producers[Strategy.FULL][-1]["http"] == 500 for one in live)
    assert len(live) > _COUNT / 10


def differences(one: History) -> Iterator[str]:
    """Where the audit finds something else."""
    for strategy in STRICTEST_FIRST:
        ours = {version for version, _ in unregistered_versions(one.topic, strategy)}
        if ours != (theirs := one.refused(strategy)):
            yield f"{strategy.value} refuses {theirs}, and here {ours}: {one.versions}"
    for now in _ALL:
        for other in stricter_strategies(one.topic, now):
            if not one.fits(now, other):
                yield f"{other.value} does not fit after {now.value}: {one.versions}"
    fitting = {other for other in STRICTEST_FIRST if one.fits(_LOOSE, other)}
    if fitting != stricter_strategies(one.topic, _LOOSE):
        yield f"these fit: {fitting}: {one.versions}"
