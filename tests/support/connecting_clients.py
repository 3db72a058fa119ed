"""Random histories, policies and changes, and the clients that can connect before and after.

A change is made of files alone, and carried out by the commands; `find_said` are the topics of
which the reports say that clients are locked out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from gitops.broker.connection import ConnectionTarget, Offer, connection_policies
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.table import line_of
from gitops.broker.producer_connection import admit_producer, has_own_schema
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange, PolicyValue, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import RegistryState, Scope
from gitops.ports import Registry
from gitops.schemas.payload import stored_history
from tests.support.git_repos import GitRepository
from tests.support.states import avro, field, record

RULES: Final = frozenset({"PLAN-R020", "PLAN-R021", "PLAN-R022"})
_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_KEY: Final = "schemaCompatibilityStrategy"
_STRATEGIES: Final = [one for one in Strategy if one is not Strategy.UNDEFINED]
_DEFINITIONS: Final = (
    avro(field("a", "long")),
    avro(field("a", "string")),
    avro(field("a", "double")),
    avro(field("a", "long"), field("b")),
    avro(field("a", "long"), field("b", default="")),
    avro(field("a", "long"), field("c", ["null", "string"], default=None)),
    avro(field("a", ["null", "long"], default=None)),
    avro(),
    SchemaInfo(type=SchemaType.JSON, schema=json.dumps(record(field("a", "long")))),
    SchemaInfo(type=SchemaType.JSON, schema=json.dumps(record(field("a"), field("b", default="")))),
    SchemaInfo(type=SchemaType.STRING),
)
_DECLARED: Final = ("t0", "t1", "t2")
_UNMANAGED: Final = "hand-made"

Command = Callable[..., tuple[int, str]]
"""Runs a command line; answers its exit code and what it printed to stdout."""

Client = tuple[str, str, str]
"""Topic, role, and the schema: `v3`, or NONE and AUTO_PRODUCE."""


@dataclass(slots=True)
class RandomRegistry:
    """What a registry has to begin with, and files that say the same, then something else."""

    random: Random
    namespace: NamespaceName
    repo: GitRepository
    registry: Registry
    settings: str

    @property
    def topics(self) -> list[TopicName]:
        return [TopicName(self.namespace, name) for name in (*_DECLARED, _UNMANAGED)]

    def fill(self) -> None:
        """Write random histories to the registry, and commit files that agree with it."""
        loose = PolicyChange(key=_KEY, before=None, after=Strategy.ALWAYS_COMPATIBLE)
        self.registry.set_policies(self.namespace, [loose])
        latest: dict[str, SchemaInfo] = {}
        for topic in self.topics:
            self.registry.create_topic(topic, 0)
            for info in self.random.sample(_DEFINITIONS, self.random.randint(0, 3)):
                self.registry.register_schema(topic, info)
                latest[topic.local_name] = info
        changes = [
            PolicyChange(key=key, before=None, after=value) for key, value in self._policies()
        ]
        self.registry.set_policies(self.namespace, changes)
        files: dict[str, str | bytes | None] = {
            "gitops.yaml": self.settings,
            ".gitignore": "live.db*\n",
            f"namespaces/{self.namespace}/namespace.yaml": self._namespace(
                dict(changes_of(changes))
            ),
        }
        for name in _DECLARED:
            if name in latest:
                files |= self._topic(name, latest[name])
        self.repo.commit(files)

    def change(self) -> None:
        """Commit other policies, of the namespace or of topics, other definitions, or both."""
        files: dict[str, str | bytes | None] = {}
        if self.random.random() < 0.7:
            path = f"namespaces/{self.namespace}/namespace.yaml"
            files[path] = self._namespace(dict(self._policies()))
        for name in _DECLARED:
            if self.random.random() < 0.3:
                own = self.random.choice([None, None, self.random.choice(_STRATEGIES)])
                files |= self._topic(name, self.random.choice(_DEFINITIONS), own)
        self.repo.commit(files)

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
        self, name: str, info: SchemaInfo, own: Strategy | None = None
    ) -> dict[str, str | bytes | None]:
        folder = f"namespaces/{self.namespace}"
        policies = f"policies: {{{_KEY}: {own.value}}}\n" if own else ""
        manifest = f"{_HEAD}Topic\n{policies}schema: {{type: {info.type.value}"
        if not info.schema:
            return {f"{folder}/{name}.yaml": f"{manifest}}}\n"}
        return {
            f"{folder}/{name}.yaml": f"{manifest}, definition: {name}.avsc}}\n",
            f"{folder}/{name}.avsc": info.schema,
        }

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


def changes_of(changes: list[PolicyChange]) -> Iterator[tuple[str, PolicyValue]]:
    for change in changes:
        yield change.key, change.after


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
    """All texts about clients that are locked out, of a check's or a plan's JSON.

    Of a refused schema the proposed waiver says it.
    """
    texts = []
    for value in _mappings(document):
        waiver = value.get("waiver")
        if value.get("rule") in RULES:
            texts.append(json.dumps(value))
        if isinstance(waiver, dict) and "can no longer connect" in waiver["text"]:
            texts.append(waiver["text"])
    return "\n".join(texts)


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
        if client[0] not in said and has_clients(client[0])
    ]
