"""An upgrade rehearsed: what `audit` says of a disk of 4.0.7, and what newer brokers make of it.

A broker of 4.0.7 is filled. Each newer one opens a copy of its disk, and every answer of audit is
compared with REST, with the binary protocol and with the Java client of 4.0.7. Then 4.2.4 takes
definitions that are new, and 4.0.7 opens its disk: the way back. Some of the hand-written histories
are taken, others with another REHEARSAL_SEED. REHEARSAL=N takes all of them, each under three
strategies, with N random ones, and goes back from 5.0.1 as well.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from gitops.audit.topic import AuditedTopic
from gitops.audit.upgrade import INVALID, NOT_AVRO, OTHERWISE
from gitops.broker.lines.table import line_of
from gitops.model.audit import AuditReport
from gitops.model.names import TopicName
from gitops.ports import Registry
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.usecases.audit import AuditRequest, audit
from tests.broker.upgrade_answers import (
    Answer,
    Asked,
    Broker,
    Connections,
    Question,
    audited_topics,
    expected,
    questions_of,
)
from tests.broker.upgrade_clients import JavaClient
from tests.broker.upgrade_fill import Admin, Twin, fill, twins_of, warm_up
from tests.broker.upgrade_topics import (
    HAZARDS,
    NEW,
    ORDINARY,
    Entry,
    Wanted,
    random_topics,
    topics_of,
)
from tests.oracle.random_source import Chance
from tests.support.pulsar_broker import BrokerSettings, BrokerUnavailableError, pulsar_broker

pytestmark = [pytest.mark.broker, pytest.mark.slow]

OLD: Final = "4.0.7"
NEWER: Final = ("4.2.4", "5.0.1")
_COUNT: Final = 6
_SEED: Final = 1
_SHORT: Final = 25
"""The per cent of the hand-written histories that a short rehearsal has."""
_SHOWN: Final = 10
_LOSSES: Final = (INVALID, NOT_AVRO, OTHERWISE)
_CONFIG: Final = {"brokerDeleteInactiveTopicsEnabled": "false"}

_LOG: Final = logging.getLogger(__name__)

Seen = Mapping[tuple[str, Asked], Answer]
"""What was answered, by the history's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A broker on the disk, with all who ask it; `seed` makes the same histories again."""

    registry: Registry
    broker: Broker
    service_url: str
    java: JavaClient
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Topics as they were audited before a change of brokers, and what was seen of them then."""

    topics: Mapping[TopicName, AuditedTopic]
    twins: Sequence[Twin]
    reports: Mapping[str, AuditReport]
    before: Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """A disk that stays where it is: a bookie knows its folders by their paths."""

    folder: Path
    java: JavaClient
    seed: int
    count: int
    is_short: bool

    @property
    def disk(self) -> Path:
        """What brokers open."""
        return self.folder / "disk"

    @contextmanager
    def running(self, release: str) -> Iterator[Running]:
        """A broker of a release on the disk."""
        settings = BrokerSettings(release=release, data=self.disk, config=_CONFIG)
        with (
            pulsar_broker(settings) as found,
            closing(open_registry("it", PulsarConfig(url=found.admin_url), Path())) as registry,
            closing(Connections(found.service_url)) as connections,
            closing(Admin(found.admin_url)) as admin,
        ):
            broker = Broker(admin=admin, connections=connections)
            warm_up(admin)
            yield Running(
                registry=registry,
                broker=broker,
                service_url=found.service_url,
                java=self.java,
                seed=self.seed,
            )

    def wanted(self, histories: Mapping[str, Sequence[Entry]], seed: int) -> list[Wanted]:
        """Topics of some or all of these histories, and random ones."""
        kept = sorted(histories)
        if self.is_short:
            kept = Chance(seed).sample(kept, _SHORT * len(kept) // 100)
        chosen = {name: histories[name] for name in kept}
        times = 1 if self.is_short else 3
        return [*topics_of(chosen, times=times, first=seed), *random_topics(seed, self.count)]

    def forecast(self, running: Running, twins: Sequence[Twin], *targets: str) -> Forecast:
        """Fill the broker and have it audited; `before` is what it answers today."""
        fill(running.broker.admin, twins)
        topics = audited_topics(running.registry, twins)
        names = frozenset(one.topic for one in twins if one.stage == "after") & topics.keys()
        reports = {
            target: audit(running.registry, AuditRequest(as_if_broker=target, topics=names))
            for target in targets
        }
        before = seen(running, topics, twins, "before")
        return Forecast(topics=topics, twins=twins, reports=reports, before=before)


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """An empty disk; skips where there is no Java client."""
    count = os.environ.get("REHEARSAL")
    try:
        java = JavaClient(tmp_path_factory.mktemp("classes"))
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Java client: {reason}")
    folder = tmp_path_factory.mktemp("rehearsal")
    (folder / "disk").mkdir()
    return Rehearsal(
        folder=folder,
        java=java,
        seed=int(os.environ.get("REHEARSAL_SEED") or _SEED),
        count=int(count or _COUNT),
        is_short=not count,
    )


@pytest.fixture(scope="module")
def old(rehearsal: Rehearsal) -> Forecast:
    """The disk of 4.0.7, filled; a copy of it stays for each newer broker."""
    twins = twins_of(rehearsal.wanted({**ORDINARY, **HAZARDS}, rehearsal.seed))
    try:
        with rehearsal.running(OLD) as running:
            found = rehearsal.forecast(running, twins, *map(line_name, NEWER))
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {OLD}: {reason}")
    shutil.copytree(rehearsal.disk, rehearsal.folder / "kept")
    return found


@pytest.mark.parametrize("release", NEWER)
@pytest.mark.timeout(1800)
def test_an_upgrade_and_the_way_back_do_what_audit_says(
    release: str, rehearsal: Rehearsal, old: Forecast
) -> None:
    shutil.rmtree(rehearsal.disk)
    shutil.copytree(rehearsal.folder / "kept", rehearsal.disk)
    goes_back = release == NEWER[0] or not rehearsal.is_short
    wanted = rehearsal.wanted(NEW, rehearsal.seed + 2)
    twins = twins_of(replace(each, name=f"new-{each.name}") for each in wanted)
    try:
        with rehearsal.running(release) as running:
            compare(running, old, line_name(release))
            if not goes_back:
                return
            new = rehearsal.forecast(running, twins, line_name(OLD))
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {release}: {reason}")
    with rehearsal.running(OLD) as running:
        compare(running, new, line_name(OLD))


def line_name(release: str) -> str:
    """`4.2` for `4.2.4`; a milestone has a profile of its own."""
    return release if "-M" in release else release[:3]


def compare(running: Running, forecast: Forecast, target: str) -> None:
    """What is answered after a change of brokers, against what was said of it before."""
    after = seen(running, forecast.topics, forecast.twins, "after")
    assert after.keys() == forecast.before.keys()
    changed = {
        key: (before.accepted, after[key].accepted)
        for key, before in forecast.before.items()
        if before.accepted is not after[key].accepted
    }
    report = forecast.reports[target]
    said = {one.topic: one.differences for one in report.differences}
    predicted = {
        (name_of(twin), (one.operation, one.version)): (one.before.accepted, one.after.accepted)
        for twin in forecast.twins
        if twin.stage == "after"
        for one in said.get(twin.topic, ())
    }
    # Each of a history's topics is asked its part of the operations.
    assert {key: said for key, said in predicted.items() if key in after} == changed
    assert set(lost_topics(report)) == {
        one.topic for one in report.differences if any(each.is_loss for each in one.differences)
    }
    _LOG.info(
        "%s: %d histories, %d answers, %d lost, %d gained, as said before",
        target,
        len({name.split()[0] for name, _ in after}),
        len(after),
        sum(not now for _, now in changed.values()),
        sum(now for _, now in changed.values()),
    )


def lost_topics(report: AuditReport) -> Iterator[TopicName]:
    """The topics that an error of an upgrade names."""
    for finding in report.findings:
        if finding.rule in _LOSSES:
            yield from (TopicName.parse(member.subject) for member in finding.members)


def seen(
    running: Running, topics: Mapping[TopicName, AuditedTopic], twins: Sequence[Twin], stage: str
) -> Seen:
    """What is answered at a stage; asserts that each answer is the one that we give."""
    line = line_of(running.registry.broker)
    asked = [
        questions_of(topics[twin.topic], twin)
        for twin in twins
        if twin.stage == stage and twin.topic in topics
    ]
    ours = {one[0].twin.topic: expected(topics[one[0].twin.topic], line) for one in asked if one}
    found = running.broker.ask_all([one for one in asked if not is_java(one)], ours)
    found |= running.java.ask_all(
        running.service_url, [q for one in asked if is_java(one) for q in one]
    )
    wrong = [
        f"{question.name}: we {mine}, they {answer}"
        for question, answer in found.items()
        if not agrees(mine := ours[question.twin.topic][question.key], answer, question)
    ]
    again = f"REHEARSAL_SEED={running.seed}"
    assert not wrong, f"{len(wrong)} on {line.name}, {again}:\n" + "\n".join(wrong[:_SHOWN])
    return {(name_of(one.twin), one.key): answer for one, answer in found.items()}


def is_java(questions: Sequence[Question]) -> bool:
    """Whether the Java client asks them."""
    return bool(questions) and questions[0].twin.asker == "java"


def agrees(ours: Answer, theirs: Answer, question: Question) -> bool:
    """Whether a broker answers as we say; a client library tells less than the protocol."""
    if question.twin.asker == "java":
        return ours.accepted is theirs.accepted
    return ours == theirs


def name_of(twin: Twin) -> str:
    """The history, and who asks about it."""
    return f"{twin.wanted.namespace}/{twin.wanted.name} {twin.asker}"
