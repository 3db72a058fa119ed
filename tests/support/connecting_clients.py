"""Random histories, policies and changes, and the clients that can connect before and after.

A change is made of files alone, and carried out by the commands; `find_said` are the sentences of
the reports about clients that are locked out.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from pathlib import Path
from random import Random
from typing import Any, Final

import fastavro

from gitops.broker.connection import ConnectionTarget, Offer, connection_policies
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.table import line_of
from gitops.broker.producer_connection import admit_producer, has_own_schema
from gitops.model.decision import StoredSchema
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange, PolicyValue, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import RegistryState, Scope
from gitops.ports import Registry
from gitops.schemas.payload import stored_history
from tests.support.git_repos import GitRepository
from tests.support.protos import order
from tests.support.states import avro, field, info, pair, record

RULES: Final = frozenset({"PLAN-R020", "PLAN-R021", "PLAN-R022"})
_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_KEY: Final = "schemaCompatibilityStrategy"
_STRATEGIES: Final = [one for one in Strategy if one is not Strategy.UNDEFINED]
_Json = Any
_Family = Sequence[tuple[SchemaInfo, Any]]
"""Schemas, each with a message of it: a value, or its bytes."""

_AVRO: Final[_Family] = (
    (avro(field("a", "long")), {"a": 7}),
    (avro(field("a", "string")), {"a": "x"}),
    (avro(field("a", "double")), {"a": 0.5}),
    (avro(field("a", "long"), field("b")), {"a": 7, "b": "x"}),
    (avro(field("a", "long"), field("b", default="")), {"a": 8, "b": "y"}),
    (avro(field("a", "long"), field("c", ["null", "string"], default=None)), {"a": 7, "c": "z"}),
    (avro(field("a", ["null", "long"], default=None)), {"a": 9}),
    (avro(), {}),
)
_JSON: Final[_Family] = (
    (info(record(field("a", "long")), SchemaType.JSON), {"a": 7}),
    (info(record(field("a"), field("b", default="")), SchemaType.JSON), {"a": "x", "b": "y"}),
    (info(record(field("a"), field("b")), SchemaType.JSON), {"a": "x", "b": "z"}),
)
_A, _B = record(field("a", "long")), record(field("a", "long"), field("b", default=""))
_PAIRS: Final[_Family] = (
    (pair(_A, _A), ({"a": 7}, {"a": 8})),
    (pair(_A, _B), ({"a": 7}, {"a": 8, "b": "x"})),
    (pair(_A, record(field("a"))), ({"a": 7}, {"a": "x"})),
    (pair(_B, _A), ({"a": 7, "b": "x"}, {"a": 8})),
)
_PROTOBUF: Final[_Family] = (
    (order("int64 a = 1;"), b"\x08\x07"),
    (order("int64 a = 1; string b = 2;"), b"\x08\x07\x12\x01x"),
    (order("string a = 1;"), b"\x0a\x01x"),
    (order("int64 a = 1; int64 b = 2;"), b"\x08\x07\x10\x08"),
)
_PRIMITIVES: Final[_Family] = (
    (SchemaInfo(type=SchemaType.STRING), b"text"),
    (SchemaInfo(type=SchemaType.INT64), (7).to_bytes(8, "big")),
    (SchemaInfo(type=SchemaType.INT32), (7).to_bytes(4, "big")),
)
_FAMILIES: Final = (_AVRO, _AVRO, _AVRO, _JSON, _PAIRS, _PROTOBUF, _PRIMITIVES)


def _key(schema: SchemaInfo) -> tuple[SchemaType, str]:
    """A broker stores the text of a pair without spaces."""
    return schema.type, schema.schema.replace(" ", "")


_MESSAGES: Final = {_key(schema): message for family in _FAMILIES for schema, message in family}
_DECLARED: Final = ("t0", "t1", "t2")
_UNMANAGED: Final = "hand-made"

Command = Callable[..., tuple[int, str]]
"""Runs a command line; answers its exit code and what it printed to stdout."""

Client = tuple[str, str, str]
"""Topic, role, and the schema: `v3`, or NONE and AUTO_PRODUCE, or OWN."""

OWN: Final = "OWN"
"""A schema that no topic has a version of."""


@dataclass(slots=True)
class RandomRegistry:
    """What a registry has to begin with, and files that say the same, then something else."""

    random: Random
    namespace: NamespaceName
    repo: GitRepository
    registry: Registry
    settings: str

    families: dict[str, _Family] = dataclass_field(default_factory=dict)

    @property
    def topics(self) -> list[TopicName]:
        return [TopicName(self.namespace, name) for name in (*_DECLARED, _UNMANAGED)]

    def fill(self, write_messages: Callable[[], None] = lambda: None) -> None:
        """Write random histories to the registry, and commit files that agree with it.

        `write_messages` is called while clients of every version can connect.
        """
        loose = PolicyChange(key=_KEY, before=None, after=Strategy.ALWAYS_COMPATIBLE)
        self.registry.set_policies(self.namespace, [loose])
        files: dict[str, str | bytes | None] = {
            "gitops.yaml": self.settings,
            ".gitignore": "live.db*\n",
        }
        for topic in self.topics:
            name = topic.local_name
            self.families[name] = self.random.choice(_FAMILIES)
            self.registry.create_topic(topic, self.random.choice([0, 0, 2]))
            latest = self._history(topic)
            if name != _UNMANAGED:
                files |= self._topic(name, latest)

        write_messages()

        policies = dict(self._policies())
        changes = [
            PolicyChange(key=key, before=None, after=value) for key, value in policies.items()
        ]
        self.registry.set_policies(self.namespace, changes)
        files[f"namespaces/{self.namespace}/namespace.yaml"] = self._namespace(policies)
        for topic in self.topics:
            own = self._own_policies() if self.random.random() < 0.3 else {}
            changes = [
                PolicyChange(key=key, before=None, after=value) for key, value in own.items()
            ]
            if changes:
                self.registry.set_policies(topic, changes)
        self.repo.commit(files)

    def _history(self, topic: TopicName) -> SchemaInfo | None:
        """Register up to three versions, rarely with a deletion before the last; the latest."""
        latest = None
        count = self.random.randint(0, 3)
        for number in range(count):
            if number and number == count - 1 and self.random.random() < 0.1:
                self.registry.delete_schema(topic)
            latest = self._definition(topic.local_name)
            self.registry.register_schema(topic, latest)
        return latest

    def _definition(self, name: str) -> SchemaInfo:
        """Mostly one of the topic's own type."""
        stays = self.random.random() < 0.9
        family = self.families[name] if stays else self.random.choice(_FAMILIES)
        return self.random.choice(family)[0]

    def change(self) -> None:
        """Commit other policies, of the namespace or of topics, other definitions, or both."""
        files: dict[str, str | bytes | None] = {}
        if self.random.random() < 0.7:
            path = f"namespaces/{self.namespace}/namespace.yaml"
            files[path] = self._namespace(dict(self._policies()))
        for name in _DECLARED:
            if self.random.random() < 0.3:
                own = self._own_policies() if self.random.random() < 0.4 else {}
                files |= self._topic(name, self._definition(name), own)
        self.repo.commit(files)

    def _own_policies(self) -> dict[str, PolicyValue]:
        """One or both of a topic's own policies."""
        policies: dict[str, PolicyValue] = {
            _KEY: self.random.choice(_STRATEGIES),
            "schemaValidationEnforced": self.random.random() < 0.5,
        }
        if self.random.random() < 0.5:
            policies.pop(self.random.choice(list(policies)))
        return policies

    def _policies(self) -> list[tuple[str, PolicyValue]]:
        return [
            (_KEY, self.random.choice(_STRATEGIES)),
            ("schemaValidationEnforced", self.random.random() < 0.3),
            ("isAllowAutoUpdateSchema", self.random.random() < 0.7),
        ]

    def _namespace(self, policies: dict[str, PolicyValue]) -> str:
        lines = "".join(f"{key}: {_plain(value)}\n" for key, value in policies.items())
        return f"{_HEAD}Namespace\nnamespace: {self.namespace}\n{lines}"

    def _topic(
        self, name: str, schema: SchemaInfo | None, own: Mapping[str, PolicyValue] | None = None
    ) -> dict[str, str | bytes | None]:
        folder = f"namespaces/{self.namespace}"
        fields = ", ".join(f"{key}: {_plain(value)}" for key, value in (own or {}).items())
        policies = f"policies: {{{fields}}}\n" if own else ""
        if schema is None:
            return {f"{folder}/{name}.yaml": f"{_HEAD}Topic\n{policies}"}
        members = {"type": schema.type.value, "properties": dict(schema.properties)}
        files: dict[str, str | bytes | None] = {}
        if schema.schema:
            # Each definition has a file of its own: shared types have nothing to do with this.
            members["definition"] = f"{name}.json"
            files[f"{folder}/{name}.json"] = schema.schema
        manifest = f"{_HEAD}Topic\n{policies}schema: {json.dumps(members)}\n"
        return {**files, f"{folder}/{name}.yaml": manifest}

    def observe(self) -> RegistryState:
        scope = Scope(namespaces=frozenset({self.namespace}), topics=frozenset(self.topics))
        return self.registry.observe(scope)

    def connecting(self) -> dict[Client, Offer]:
        """Every client of which the broker's rules say that it can connect now."""
        state = self.observe()
        return {
            (str(topic), role, name): offer
            for topic in self.topics
            for role, name, offer in _admitted(topic, state, self.registry)
        }

    def own_consumers(self, topics: Collection[str]) -> set[Client]:
        """The consumers of these topics, in use, with a schema of their own that can connect."""
        state = self.observe()
        own = StoredSchema(type=SchemaType.BOOLEAN, data=b"")
        return {
            (str(topic), "consumer", OWN)
            for topic in self.topics
            if str(topic) in topics
            and admit_consumer(target_of(topic, state, self.registry), own).accepted
        }

    def without_version(self) -> set[str]:
        """The topics that have no schema."""
        topics = self.observe().topics
        return {str(topic) for topic, state in topics.items() if not state.history.entries}


def payload_of(schema: SchemaInfo) -> bytes:
    """A message of one of the schemas here; that of a pair is INLINE."""
    value = _MESSAGES[_key(schema)]
    if isinstance(value, bytes):
        return value
    if schema.type is SchemaType.JSON:
        return json.dumps(value).encode()
    if isinstance(value, tuple):
        definitions = json.loads(schema.schema)
        halves = [
            encode_avro(definitions[half], part)
            for half, part in zip(("key", "value"), value, strict=True)
        ]
        return b"".join(len(half).to_bytes(4, "big") + half for half in halves)
    return encode_avro(json.loads(schema.schema), value)


def encode_avro(definition: _Json, value: _Json) -> bytes:
    payload = io.BytesIO()
    fastavro.schemaless_writer(payload, definition, value)
    return payload.getvalue()


def _plain(value: PolicyValue) -> str:
    return str(value).lower() if isinstance(value, bool) else value.value if value else ""


def _admitted(
    topic: TopicName, state: RegistryState, registry: Registry
) -> Iterator[tuple[str, str, Offer]]:
    target = target_of(topic, state, registry)
    for version, schema in target.history.entries:
        if not has_own_schema(schema):
            continue
        if admit_consumer(target, schema).accepted:
            yield "consumer", f"v{version}", schema
        if admit_producer(target, schema).accepted:
            yield "producer", f"v{version}", schema
    if not target.history.entries:
        return  # a client without a schema meets an empty topic, where the first schema decides
    if admit_producer(target, "NONE").accepted:
        yield "producer", "NONE", "NONE"
    if admit_producer(target, "AUTO_PRODUCE").accepted:
        yield "producer", "AUTO_PRODUCE", "AUTO_PRODUCE"
    if admit_consumer(target, "AUTO_CONSUME").accepted:
        yield "consumer", "AUTO_CONSUME", "AUTO_CONSUME"


def target_of(topic: TopicName, state: RegistryState, registry: Registry) -> ConnectionTarget:
    own = state.topics[topic].policies if topic in state.topics else TopicPolicies()
    above = state.namespaces[topic.namespace].policies
    return ConnectionTarget(
        history=stored_history(state.topics[topic].history),
        policies=connection_policies(topic, own, above, registry.broker),
        line=line_of(registry.broker),
        use="active",
    )


def find_said(document: object) -> str:
    """A line for each sentence about clients that are locked out, of a check's or a plan's JSON.

    Each starts with its topic. Of a refused schema the proposed waiver says it.
    """
    lines = []
    for value in _mappings(document):
        waiver = value.get("waiver")
        if value.get("rule") in RULES:
            members = value.get("variants") or [value]
            lines += [f"{member['subject']}: {member['message']}" for member in members]
        if isinstance(waiver, dict) and "can no longer connect" in waiver["text"]:
            text = waiver["text"]
            topic = re.search(r"^topic: (.*)$", text, re.MULTILINE)
            lines += [
                f"{topic[1] if topic else ''}: {line}"
                for line in text.splitlines()
                if "can no longer connect" in line
            ]
    return "\n".join(lines)


def is_named(client: Client, said: str) -> bool:
    """Whether a sentence names the client's topic, role and version."""
    topic, role, schema = client
    for line in said.splitlines():
        if not line.startswith(f"{topic.removeprefix('persistent://')}: "):
            continue
        if schema == OWN:
            if f"{role}s with a schema can" in line or f"{role}s with another schema than" in line:
                return True
            continue
        if schema in ("NONE", "AUTO_PRODUCE", "AUTO_CONSUME"):
            if f"{role}s" in line:
                return True
            continue
        versions = re.search(rf"{role}s with ((?:v\d+|, | to )+)", line)
        if versions and schema in re.split(", | to ", versions[1]):
            return True
    return False


def _mappings(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _mappings(member)
    elif isinstance(value, list):
        for member in value:
            yield from _mappings(member)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedChange:
    """What the reports of a change that was applied say."""

    check: str
    plan: str


def carry_out(world: RandomRegistry, command: Command, *, approve: bool) -> AppliedChange | None:
    """Check, plan and apply the last commit; None if it is refused, with waivers too.

    With `approve` the proposed waivers are filled in where the plan is refused.
    """
    root = str(world.repo.root)
    _, text = command("check", "--base", "HEAD~1", "--repo", root, "--format", "json")
    check = find_said(json.loads(text))
    code, text = command("plan", "--repo", root, "--format", "json")
    if code == 1 and approve:
        command("plan", "--repo", root, "--waivers", f"{root}/waivers")
        for file in sorted(Path(root, "waivers").glob("*.yaml")):
            filled = file.read_text(encoding="utf-8")
            filled = re.sub('(reason|approvedBy): ""', r'\1: "because"', filled)
            file.write_text(filled, encoding="utf-8")
        world.repo.commit()
        code, text = command("plan", "--repo", root, "--format", "json")
    plan = find_said(json.loads(text))
    if code or command("apply", "--repo", root, "--auto-approve")[0]:
        return None
    return AppliedChange(check=check, plan=plan)


def unreported(
    lost: set[Client], applied: AppliedChange, has_clients: Callable[[str], bool] = lambda _: True
) -> list[tuple[str, Client]]:
    """Clients that are locked out although a report says nothing about their topic."""
    return [
        (name, client)
        for client in sorted(lost)
        for name, said in (("check", applied.check), ("plan", applied.plan))
        if not is_named(client, said) and has_clients(client[0])
    ]
