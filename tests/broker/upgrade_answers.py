"""What is said of every topic: by us, by a broker's REST and protocol, by Pulsar's Java client."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.audit.operations import Candidate, answers, candidates
from gitops.audit.topic import AuditedTopic
from gitops.broker.connection import Admission, Role, connection_policies
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import line_of
from gitops.model.audit import Operation
from gitops.model.decision import Decision
from gitops.model.names import TopicName
from gitops.model.state import Scope
from gitops.ports import Registry
from gitops.schemas.external.row import UNKNOWN
from gitops.schemas.payload import stored_history
from tests.broker.upgrade_fill import Admin, Twin, in_threads
from tests.support.pulsar_binary import BinaryClient, Reply

Asked = tuple[Operation, int | None]
_REFUSED: Final = 300
_PATIENCE: Final = 20
_NO_PATIENCE: Final = 3
"""Seconds that an answer is waited for, and where none is expected."""

_MAY_CHANGE: Final = (Operation.PRODUCE, Operation.REGISTER)
_BY_CLIENTS: Final = (Operation.CONSUME, Operation.PRODUCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Let in or refused: how a refusal shows itself, else the version that is named."""

    accepted: bool
    detail: str | int | None = None


_CLOSED: Final = Answer(accepted=False, detail="closed")
"""A broker closes the connection on which it finds a type that it does not know (4.0.7)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """An operation with one schema of one topic."""

    twin: Twin
    candidate: Candidate
    operation: Operation

    @property
    def key(self) -> Asked:
        """How an audit names it."""
        return self.operation, self.candidate.version

    @property
    def name(self) -> str:
        """The same in words."""
        version = self.candidate.version
        what = f"{self.operation.value} {'new' if version is None else f'v{version}'}"
        return f"{self.twin.wanted.namespace}/{self.twin.wanted.name}: {what}"


# What we say.


def audited_topics(registry: Registry, twins: Iterable[Twin]) -> dict[TopicName, AuditedTopic]:
    """The topics with a live schema, as a registry shows them."""
    names = frozenset(twin.topic for twin in twins)
    state = registry.observe(Scope(topics=names, namespaces=frozenset(n.namespace for n in names)))
    line = line_of(registry.broker)
    return {
        name: AuditedTopic(
            name=name,
            history=stored_history(one.history),
            policies=connection_policies(
                name, one.policies, state.namespaces[name.namespace].policies, registry.broker
            ),
            line=line,
        )
        for name, one in state.topics.items()
        if one.history.entries
    }


def questions_of(topic: AuditedTopic, twin: Twin) -> list[Question]:
    """Everything that is asked of a topic by one client, what may change it last."""
    asked = candidates(topic)
    newest = [one for one in asked if one.version is None]
    match twin.asker:
        case "binary":
            operations: Sequence[Operation] = (Operation.CONSUME, Operation.PRODUCE)
        case "rest":
            operations = (Operation.READ, Operation.TEST, Operation.REGISTER)
        case _:
            operations, asked = (
                (Operation.CONSUME, Operation.PRODUCE),
                (*asked[-1 - len(newest) :],),
            )
    found = [Question(twin=twin, candidate=c, operation=o) for o in operations for c in asked]
    return sorted(found, key=lambda one: one.candidate.version is None and _changes(one))


def _changes(question: Question) -> bool:
    return question.operation in _MAY_CHANGE


def expected(topic: AuditedTopic, line: BrokerLine) -> Mapping[Asked, Answer]:
    """What we say that a broker of a line answers."""
    asked = candidates(topic)
    decided = answers(topic, line, asked)
    found = {key: _answer(key[0], decision) for key, decision in decided.items()}
    for each in asked:
        if line.types.row_of(each.sent.type) is UNKNOWN:
            found |= {(one, each.version): _CLOSED for one in _BY_CLIENTS}
    return found


def _answer(operation: Operation, decision: Decision) -> Answer:
    names_version = operation in _MAY_CHANGE
    if decision.accepted:
        return Answer(accepted=True, detail=decision.version if names_version else None)
    if operation in _BY_CLIENTS:
        role: Role = "producer" if operation is Operation.PRODUCE else "consumer"
        admission = Admission(role=role, sent=None, decision=decision, steps=())
        return Answer(accepted=False, detail=admission.error)
    return Answer(accepted=False, detail=decision.status)


# What a broker says.


class Connections:
    """A connection of Pulsar's protocol for each thread, patient or not."""

    def __init__(self, service_url: str) -> None:
        self._url = service_url
        self._local = threading.local()
        self._all: list[BinaryClient] = []

    def client(self, *, patient: bool) -> BinaryClient:
        """The one of this thread."""
        name = "patient" if patient else "hasty"
        if not hasattr(self._local, name):
            opened = BinaryClient(self._url, _PATIENCE if patient else _NO_PATIENCE)
            setattr(self._local, name, opened)
            self._all.append(opened)
        found: BinaryClient = getattr(self._local, name)
        return found

    def forget(self) -> None:
        """Open others for this thread: the broker has closed one."""
        self._local.__dict__.clear()

    def close(self) -> None:
        """Close all."""
        for each in self._all:
            each.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A running broker, and what it is expected to answer."""

    admin: Admin
    connections: Connections

    def ask_all(
        self,
        asked: Sequence[Sequence[Question]],
        expecting: Mapping[TopicName, Mapping[Asked, Answer]],
    ) -> dict[Question, Answer]:
        """The questions of each topic one after another, topics beside each other."""

        def ask(questions: Sequence[Question]) -> list[Answer]:
            return [self._ask(one, expecting[one.twin.topic].get(one.key)) for one in questions]

        found = in_threads(ask, asked)
        return {
            question: answer
            for questions, said in zip(asked, found, strict=True)
            for question, answer in zip(questions, said, strict=True)
        }

    def _ask(self, question: Question, likely: Answer | None) -> Answer:
        path = f"/schemas/{question.twin.topic}"
        info = question.candidate.info
        body = {"type": info.type.value, "schema": info.schema, "properties": dict(info.properties)}
        match question.operation:
            case Operation.READ:
                return self._read(path, question.candidate.version)
            case Operation.TEST:
                status, said = self.admin.ask("POST", f"{path}/compatibility", body)
                good = status < _REFUSED and json.loads(said)["compatibility"]
                return Answer(accepted=good, detail=None if good else status)
            case Operation.REGISTER:
                status, said = self.admin.ask("POST", f"{path}/schema", body)
                good = status < _REFUSED
                version = json.loads(said)["version"]["version"] if good else status
                return Answer(accepted=good, detail=version)
            case _:
                return self._connect(question, likely)

    def _read(self, path: str, version: int | None) -> Answer:
        one = "schema" if version is None else f"schema/{version}"
        status, _ = self.admin.ask("GET", f"{path}/{one}")
        good = status < _REFUSED
        return Answer(accepted=good, detail=None if good else status)

    def _connect(self, question: Question, likely: Answer | None) -> Answer:
        try:
            return self._connected(question, likely)
        except ConnectionAbortedError:
            self.connections.forget()
            return _CLOSED

    def _connected(self, question: Question, likely: Answer | None) -> Answer:
        client = self.connections.client(patient=likely is None or likely.detail != "Timeout")
        url, schema = f"persistent://{question.twin.topic}", question.candidate.sent
        client.look_up(url)
        if question.operation is Operation.PRODUCE:
            opened, reply = client.produce(url, schema)
            if reply.error is None:
                client.close_producer(opened)
            return _of_reply(reply)
        opened, reply = client.subscribe(url, schema)
        if reply.error is None:
            client.close_consumer(opened)
        return _of_reply(reply)


def _of_reply(reply: Reply) -> Answer:
    return Answer(accepted=reply.error is None, detail=reply.error or reply.version)
