"""What is looked at before anything is sent, and how a publication that ended goes on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

import pytest

pytest.importorskip("pyarrow", reason="the extra 'pulsar' is not installed")
pytest.importorskip("cramjam", reason="the extra 'pulsar' is not installed")

from gitops.messaging.capture_client import MessageService, Position
from gitops.messaging.errors import ConnectionFailedError
from gitops.messaging.publish_capture import read_source
from gitops.messaging.publish_journal import PublicationJournal, PublicationState
from gitops.messaging.publish_topic import Publication, PublishJob
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import NotThereError, UsageError
from gitops.model.names import TopicName
from gitops.model.policy import NamespacePolicies
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.pulsar.message_service import TopicMessages
from gitops.usecases import publish as usecase
from gitops.usecases.publish import PublicationEndedError, PublishRequest, forecast, publish
from tests.support.fake_messages import FakeMessage
from tests.support.fake_registry import FakeRegistry
from tests.support.message_schemas import record
from tests.support.states import state, topic_state
from tests.support.written_captures import cut_short, write_capture

SOURCE: Final = TopicName.parse("shop/orders/created")
TO: Final = TopicName.parse("shop/staging/created")
OLD, NEW = (SchemaInfo(type=SchemaType.AVRO, schema=record(*names)) for names in ((), ("note",)))
NUMBER: Final = SchemaInfo(type=SchemaType.INT32)


@dataclass
class _Topics:
    """Where clients connect to."""

    asked: int = 0

    def service(self, _topic: TopicName) -> MessageService:
        self.asked += 1
        return MessageService(url="pulsar://127.0.0.1:1", authorization=lambda: "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two messages of v2, one of v4, one of v7, one without a version."""
    messages = [
        FakeMessage(at=Position(1, number, -1), payload=b"v", version=version)
        for number, version in enumerate((4, 2, -1, 7, 2))
    ]
    write_capture(tmp_path / "cap", SOURCE, messages, {2: OLD, 4: NEW, 7: NUMBER})
    return tmp_path / "cap"


def registry(*known: SchemaInfo) -> FakeRegistry:
    """With the namespace, and with the topic where it has schemas."""
    topics = [topic_state(TO, *known)] if known else []
    return FakeRegistry(state(*topics, namespaces={TO.namespace: NamespacePolicies()}))


# What is expected.


def test_each_version_meets_those_before_it(folder: Path) -> None:
    """v4 has v2 before it, once that is accepted; v7 neither: it is of another type."""
    found = forecast(registry(), read_source(folder), TO).versions
    assert [(one.version, one.messages) for one in found] == [(2, 2), (4, 1), (7, 1), (None, 1)]
    assert [one.admission.accepted for one in found] == [True, True, False, True]
    assert [one.admission.version for one in found] == [0, 1, None, None]
    requests = [one.admission.request for one in found]
    assert requests == ["connect", "getOrCreateSchema", "getOrCreateSchema", "getOrCreateSchema"]


def test_a_schema_that_is_there_is_not_registered_again(folder: Path) -> None:
    found = forecast(registry(OLD, NEW), read_source(folder), TO).versions
    assert [(one.admission.version, one.admission.registers) for one in found[:2]] == [
        (0, False),
        (1, False),
    ]


def test_the_first_that_is_accepted_is_the_one_that_connects(folder: Path) -> None:
    """Where the topic has numbers, the records are refused, and the producer is that of v7."""
    found = forecast(registry(NUMBER), read_source(folder), TO).versions
    assert [one.admission.accepted for one in found] == [False, False, True, True]
    assert [one.admission.request for one in found] == [
        "connect",
        "connect",
        "connect",
        "getOrCreateSchema",
    ]


@pytest.mark.parametrize("is_demanded", [True, False])
def test_messages_that_are_not_encrypted_are_counted_where_that_is_demanded(
    tmp_path: Path, *, is_demanded: bool
) -> None:
    keys = [api.EncryptionKeys(key="team", value=b"k")]
    messages = [
        FakeMessage(at=Position(1, number, -1), payload=b"v", encryption_keys=keys * (number == 1))
        for number in range(3)
    ]
    write_capture(tmp_path / "cap", SOURCE, messages, {})
    known = state(namespaces={TO.namespace: NamespacePolicies()})
    namespace = replace(known.namespaces[TO.namespace], encryption_required=is_demanded)
    registry = FakeRegistry(replace(known, namespaces={TO.namespace: namespace}))
    found = forecast(registry, read_source(tmp_path / "cap"), TO)
    assert found.unencrypted == (2 if is_demanded else 0)
    assert found.is_accepted is not is_demanded


def test_a_topic_that_keeps_nothing_is_refused(folder: Path) -> None:
    topic = TopicName.parse(f"non-persistent://{TO}")
    with pytest.raises(UsageError, match="keeps no messages"):
        forecast(registry(), read_source(folder), topic)


def test_a_namespace_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(NotThereError, match="there is no namespace 'shop/staging'"):
        forecast(FakeRegistry(), read_source(folder), TO)


# What a publication begins with, and how it ends.


def published(
    folder: Path,
    ended: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    resume: bool = False,
) -> tuple[Publication, list[PublicationState]]:
    """Publish with a sender that ends so; answers it, and the states that it began with."""
    begun: list[PublicationState] = []

    async def send(job: PublishJob, before: PublicationState) -> Publication:
        begun.append(before)
        now = before.model_copy(update=ended["state"])
        job.journal.save(now)
        return Publication(state=now, total=job.source.total, versions={}, cause=ended.get("cause"))

    monkeypatch.setattr(usecase, "publish_topic", send)
    request = PublishRequest(folder=folder, topic=TO, resume=resume, command="the command")
    done = publish(registry(), cast("TopicMessages", _Topics()), request)
    return done, begun


def journal(folder: Path) -> PublicationJournal:
    return PublicationJournal.of(read_source(folder), f"persistent://{TO}", registry().address)


def test_a_complete_publication_leaves_no_journal(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, (before,) = published(folder, {"state": {"done": 5}}, monkeypatch)
    assert done.is_complete
    assert (before.done, before.topic) == (0, f"persistent://{TO}")
    assert journal(folder).read() is None


def test_a_capture_that_was_ended_before_its_end_is_a_part(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, _ = published(folder, {"state": {"done": 5}}, monkeypatch)
    assert done.is_of_all
    cut_short(folder)
    done, _ = published(folder, {"state": {"done": 5}}, monkeypatch)
    assert not done.is_of_all


def test_one_that_was_ended_goes_on_with_resume_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, (first,) = published(folder, {"state": {"done": 2}}, monkeypatch)
    with pytest.raises(UsageError, match="was ended after 2 of 5 messages"):
        published(folder, {"state": {"done": 5}}, monkeypatch)
    done, (again,) = published(folder, {"state": {"done": 5}}, monkeypatch, resume=True)
    assert done.is_complete
    assert (again.run, again.done) == (first.run, 2)
    with pytest.raises(UsageError, match="no publication of"):
        published(folder, {"state": {"done": 5}}, monkeypatch, resume=True)


def test_a_capture_that_was_changed_meanwhile_is_not_gone_on_with(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(folder, {"state": {"done": 2}}, monkeypatch)
    path = read_source(folder).path / "_schemas/2.json"
    path.write_text(path.read_text("utf-8").replace('"Order', '"Other').replace("Order", "Other"))
    with pytest.raises(UsageError, match="was changed since its publication began"):
        published(folder, {"state": {"done": 5}}, monkeypatch, resume=True)


def test_what_fails_in_the_middle_says_how_far_it_is_and_what_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cause = ConnectionFailedError("the broker is gone", where="there")
    ended = {"state": {"done": 3, "failed": {"why": 1}}, "cause": cause}
    with pytest.raises(PublicationEndedError) as caught:
        published(folder, ended, monkeypatch)
    assert caught.value.what == "the broker is gone; 2 of 5 messages are acknowledged"
    assert caught.value.hint == "go on with: the command"
    assert (caught.value.exit_code, caught.value.__cause__) == (4, cause)
    usage = UsageError("another number of partitions")
    with pytest.raises(PublicationEndedError) as caught:
        published(folder, {"state": {"done": 3}, "cause": usage}, monkeypatch, resume=True)
    assert caught.value.exit_code == usage.exit_code


def test_an_error_of_the_program_is_not_dressed_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ZeroDivisionError):
        published(folder, {"state": {"done": 1}, "cause": ZeroDivisionError()}, monkeypatch)
