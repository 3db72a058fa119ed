"""The declared clients of a change's topics, as services that upgrade."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gitops.broker.client_libraries import sent_schema
from gitops.model.clients import (
    Client,
    ClientLanguage,
    ClientSchema,
    Consumes,
    Produces,
    VersionPin,
)
from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout import Role
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaInfo
from gitops.rollout.model import Service, TopicModel, Use, UsedSchema
from gitops.rollout.readers import becomes, histories, kind_of, readable


@dataclass(slots=True)
class Services:
    """Makes services of clients; what is wrong with them is collected in `findings`.

    `lost` are those of whom nobody knows what they work with, and why.
    """

    topics: Mapping[TopicName, TopicModel]
    findings: list[Finding] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    _known: dict[TopicName, dict[int, SchemaInfo]] = field(default_factory=dict)

    def services(self, base: Iterable[Client], head: Iterable[Client]) -> tuple[Service, ...]:
        """Every client that uses one of the topics before the change or after it, by name.

        One that the change leaves as it is may be expected to move to the new schema.
        """
        old, new = ({client.name: client for client in clients} for clients in (base, head))
        services = (self._service(old.get(name), new.get(name)) for name in sorted({*old, *new}))
        return tuple(service for service in services if service.before or service.after)

    def _service(self, old: Client | None, new: Client | None) -> Service:
        name = new.name if new else old.name if old else ""
        before, after = self._uses(old, reported=False), self._uses(new, reported=True)
        if _has_errors(new):
            after = before  # what it is to work with cannot be read, which is no step
        if before != after:
            return Service(name=name, before=before, after=after)
        moved = tuple(self._with_new_schema(use) for use in after)
        return Service(name=name, before=before, after=moved, assumed=moved != before)

    def _uses(self, client: Client | None, *, reported: bool) -> tuple[Use, ...]:
        if client is None:
            return ()
        sides = ((Role.CONSUMER, client.consumes), (Role.PRODUCER, client.produces))
        resolved_uses = (
            Use(
                topic=use.topic,
                role=role,
                schemas=tuple(self._schemas(client, use, reported=reported)),
                language=client.language,
            )
            for role, uses in sides
            for use in uses
            if use.topic in self.topics
        )
        # Of who is pinned to nothing, nobody knows what it works with; only that it is there.
        return tuple(use for use in resolved_uses if use.schemas or self.topics[use.topic].deleted)

    def _schemas(
        self, client: Client, use: Consumes | Produces, *, reported: bool
    ) -> Iterator[UsedSchema]:
        for schema in use.schemas:
            resolved = self._resolve(schema, use.topic, client.language)
            if resolved is not None:
                yield resolved
            if reported and isinstance(schema, VersionPin):
                self._add_finding(client, use, schema.version, exists=resolved is not None)

    def _resolve(
        self, schema: ClientSchema, topic: TopicName, language: ClientLanguage | None
    ) -> UsedSchema | None:
        """Of a pin what the client's library sends for the version's schema."""
        if not isinstance(schema, VersionPin):
            return schema
        version = self._versions(topic).get(schema.version)
        return version and sent_schema(version, language)

    def _versions(self, topic: TopicName) -> dict[int, SchemaInfo]:
        """The live versions, and those that the change registers; once for all their clients."""
        if topic not in self._known:
            self._known[topic] = dict(readable(histories(self.topics[topic])[-1]))
        return self._known[topic]

    def _add_finding(
        self, client: Client, use: Consumes | Produces, version: int, *, exists: bool
    ) -> None:
        if not exists:
            there = self._held_instead(use.topic, version)
            text = f"{client.name} is pinned to v{version} of {use.topic}, which {there}"
            self.lost.append(text)
            self.findings.append(
                make_finding(
                    "CLIENT-R001",
                    text,
                    location=use.location,
                    subject=client.name,
                    hint="pin it to a version that exists, or name the definition that it has",
                )
            )
            return
        # What the change registers is new to everybody, and in the rollout.
        held = self._latest(use.topic, version)
        if version < held:
            self.findings.append(
                make_finding(
                    "CLIENT-R006",
                    f"{client.name} works with v{version} of {use.topic}; the latest is v{held}",
                    location=use.location,
                    subject=client.name,
                )
            )

    def _held_instead(self, topic: TopicName, version: int) -> str:
        """What a topic has instead of a version."""
        latest = max(self._versions(topic), default=None)
        if version < self.topics[topic].history.next_version:
            there = "; it has none" if latest is None else f"; its latest is v{latest}"
            return f"no longer has it{there}"
        return "has no version" if latest is None else f"has v{latest} as its latest"

    def _latest(self, topic: TopicName, version: int) -> int:
        """The latest version that the registry holds; where nothing is checked, of its kind."""
        world = self.topics[topic]
        held = [number for number, _ in world.history.entries]
        known = self._versions(topic)
        if world.strategy is SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE:
            kind = kind_of(known[version])
            held = [number for number in held if number in known and kind_of(known[number]) == kind]
        return max(held, default=0)

    def _with_new_schema(self, use: Use) -> Use:
        """With the topic's new schema in the place of the one of its kind.

        Only ALWAYS_COMPATIBLE lets several kinds be; elsewhere a record may get another name.
        """
        schemas, topic = use.schemas, self.topics[use.topic]
        of_one_kind = topic.strategy is not SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
        for new in topic.new:
            schemas = tuple(
                new
                if isinstance(schema, SchemaInfo)
                and schema.type is new.type
                and (of_one_kind or becomes(schema, new))
                else schema
                for schema in schemas
            )
        return replace(use, schemas=schemas)


def _has_errors(client: Client | None) -> bool:
    """Whether a schema that its manifest gives could not be read."""
    if client is None:
        return False
    items = [use.schemas for use in client.consumes] + [use.schemas for use in client.produces]
    return () in items
