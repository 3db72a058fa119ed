"""A world of a rollout on a real broker, with real clients that come and go.

The Python client resolves AVRO by the version that a message carries, and falls back on the reader
alone where that fails; so a value counts as decoded only if it is the one that was written, as the
reader has to see it. Of JSON it has no reader by definition: the text is read by the names of the
reader's fields. What a producer without a schema writes is nobody's word and is not written.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import _pulsar
import pulsar
from fastavro.validation import validate

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rollout import Delete, Drain, Register, Role, Step, Upgrade
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.rollout.model import RolloutModel, TopicModel, Use, UsedSchema
from gitops.rollout.readers import kind_of
from gitops.schemas.payload import to_info
from tests.support.admin_rest import admin_request
from tests.support.random_rollouts import is_same

SECONDS: Final = 10
_FOREVER: Final = {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}


class BrokenError(Exception):
    """A client was refused, or a message did not decode."""


@dataclass(frozen=True, slots=True)
class Message:
    """What was sent, and under which version."""

    version: int
    schema: SchemaInfo
    value: dict[str, Any]


class Text(pulsar.schema.Schema):  # type: ignore[misc]  # the client has no types
    """A schema of the Python client with exactly this text, whose messages are bytes."""

    def __init__(self, kind: str, text: str) -> None:
        self._schema_info = _pulsar.SchemaInfo(_pulsar.SchemaType.__members__[kind], "s", text)

    def encode(self, obj: bytes) -> bytes:
        return obj

    def decode(self, data: bytes) -> bytes:
        return data


@dataclass
class Place:
    """One topic of the world, as it is on the broker."""

    url: str
    name: TopicName
    world: TopicModel
    versions: list[SchemaInfo]
    retained: list[Message] = field(default_factory=list)
    deleted: bool = False


class Replay:
    """The world on the broker: what is registered, who runs, what is retained."""

    def __init__(
        self,
        world: RolloutModel,
        admin_url: str,
        client: Any,  # noqa: ANN401 - as above
        dice: random.Random,
    ) -> None:
        self.world = world
        self.admin = f"{admin_url}/admin/v2"
        self.client = client
        self.dice = dice
        self.upgraded: set[str] = set()
        self.open: list[Any] = []
        self.places = {name: self._set_up(topic) for name, topic in world.topics.items()}

    def _set_up(self, topic: TopicModel) -> Place:
        """A namespace of its own; the versions, whatever the strategy, and messages of each."""
        namespace = NamespaceName(f"t-{uuid.uuid4().hex[:10]}", "rollout")
        tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
        admin_request("PUT", f"{self.admin}/tenants/{namespace.tenant}", tenant)
        policies = {
            "schema_compatibility_strategy": Strategy.ALWAYS_COMPATIBLE.value,
            "is_allow_auto_update_schema": False,
            "schema_validation_enforced": topic.is_schema_validation_enforced,
            "retention_policies": _FOREVER,
        }
        admin_request("PUT", f"{self.admin}/namespaces/{namespace}", policies)
        name = TopicName(namespace, "events")
        place = Place(f"persistent://{name}", name, topic, [])
        for _, stored in topic.history.entries:
            self._register(place, to_info(stored))
        url = f"{self.admin}/namespaces/{namespace}/schemaCompatibilityStrategy"
        admin_request("PUT", url, topic.strategy.value)
        for info in place.versions:
            self._send_once(place, info)
        return place

    def _register(self, place: Place, info: SchemaInfo) -> None:
        body: dict[str, object] = {"type": info.type.value, "schema": info.schema, "properties": {}}
        url = f"{self.admin}/schemas/{place.name}/schema"
        answer = json.loads(admin_request("POST", url, body))
        assert answer["version"]["version"] == len(place.versions)
        place.versions.append(info)

    def _send_once(self, place: Place, info: SchemaInfo) -> None:
        producer = self.client.create_producer(place.url, schema=schema_of(info))
        self._send(place, producer, info)
        producer.close()

    def _send(self, place: Place, producer: Any, info: SchemaInfo) -> None:  # noqa: ANN401
        value = _value(info)
        sent = value if info.type is SchemaType.AVRO else json.dumps(value).encode()
        producer.send(sent)
        version = next(n for n, one in enumerate(place.versions) if is_same(one, info))
        place.retained.append(Message(version, info, value))

    def uses(self) -> list[tuple[str, Place, Use]]:
        """What runs, in any order."""
        found = [
            (service.name, self.places[use.topic], use)
            for service in self.world.services
            for use in (service.after if service.name in self.upgraded else service.before)
        ]
        self.dice.shuffle(found)
        return found

    def take(self, step: Step) -> None:
        """Do one step; raises BrokenError where it may not be done yet."""
        match step:
            case Register():
                place = self.places[step.topic]
                self._register(
                    place, place.world.new[step.version - place.world.history.next_version]
                )
            case Upgrade():
                self.upgraded.add(step.service)
            case Drain():
                place = self.places[step.topic]
                if self._is_written(place.versions[step.version], place):
                    raise BrokenError(f"{step} never ends")
                self._drain(place, {step.version})
            case Delete():
                place = self.places[step.topic]
                place.deleted = True
                admin_request("DELETE", f"{self.admin}/schemas/{place.name}/schema")
        self.look()

    def wait(self) -> None:
        """Until everything is gone that nobody writes any more."""
        for place in self.places.values():
            versions = enumerate(place.versions)
            idle = {n for n, info in versions if not self._is_written(info, place)}
            if idle & {one.version for one in place.retained}:
                self._drain(place, idle)

    def _is_written(self, info: SchemaInfo, place: Place) -> bool:
        return any(
            is_same(info, schema)
            for _, used, use in self.uses()
            for schema in use.schemas
            if used is place and use.role is Role.PRODUCER
        )

    def _drain(self, place: Place, gone: set[int]) -> None:
        """Really: everything is removed, and what is still there is sent anew."""
        self._close()
        topic = f"{self.admin}/persistent/{place.name}"
        admin_request("PUT", f"{topic}/unload")
        admin_request("DELETE", f"{topic}/truncate")
        left = {one.version for one in place.retained} - gone
        place.retained.clear()
        for version in sorted(left):
            self._send_once(place, place.versions[version])

    def look(self) -> None:
        """Everybody connects anew, in any order; writes; and reads all that there is."""
        self._close()
        readers: list[tuple[Place, Use, list[Any]]] = []
        writers: list[tuple[Place, Any, SchemaInfo]] = []
        for name, place, use in self.uses():
            if place.deleted:
                raise BrokenError(f"{name} uses what was deleted")
            connected = [self._connect(name, place, one, use.role) for one in use.schemas]
            self.open += connected
            if use.role is Role.CONSUMER:
                readers.append((place, use, connected))
                continue
            pairs = zip(connected, use.schemas, strict=True)
            writers += [(place, one, s) for one, s in pairs if isinstance(s, SchemaInfo)]
        for place, producer, info in writers:
            self._send(place, producer, info)
        for place, use, consumers in readers:
            _read_all(place, use, consumers)

    def _connect(self, name: str, place: Place, schema: UsedSchema, role: Role) -> Any:  # noqa: ANN401
        try:
            if role is Role.PRODUCER:
                return self.client.create_producer(place.url, schema=schema_of(schema))
            return self.client.subscribe(
                place.url,
                uuid.uuid4().hex,
                schema=schema_of(schema),
                initial_position=pulsar.InitialPosition.Earliest,
            )
        except pulsar.PulsarException as error:
            raise BrokenError(f"{name} is refused as a {role.value}: {error!r}") from None

    def _close(self) -> None:
        for one in self.open:
            one.close()
        self.open.clear()


def schema_of(schema: UsedSchema) -> Any:  # noqa: ANN401
    """What the Python client takes."""
    if not isinstance(schema, SchemaInfo):
        return Text("AUTO_CONSUME" if schema == "AUTO_CONSUME" else "BYTES", "")
    if schema.type is SchemaType.AVRO:
        return pulsar.schema.AvroSchema(None, json.loads(schema.schema))
    return Text(schema.type.value, schema.schema)


def _read_all(place: Place, use: Use, consumers: Sequence[Any]) -> None:
    """Each subscription gets every message; one of the schemas for its kind has to decode it."""
    for number, message in enumerate(place.retained):
        received = [one.receive(timeout_millis=SECONDS * 1000) for one in consumers]
        versions = {int.from_bytes(one.schema_version().encode()) for one in received}
        assert versions == {message.version}, number
        decoders = [
            (schema, one)
            for schema, one in zip(use.schemas, received, strict=True)
            if isinstance(schema, SchemaInfo)
        ]
        if len(decoders) < len(received):
            continue
        own = [pair for pair in decoders if kind_of(pair[0]) == kind_of(message.schema)]
        problems = [_problem(schema, one, message) for schema, one in own or decoders]
        if all(problems):
            raise BrokenError(f"{use} does not decode {message}: {problems}")


def _problem(reader: SchemaInfo, received: Any, message: Message) -> str | None:  # noqa: ANN401
    """Why it is not decoded to what was written, as the reader's fields have it."""
    try:
        value = received.value()
        if reader.type is SchemaType.JSON:
            value = _read_json(reader, json.loads(value))
        wanted = {
            one["name"]: message.value[one["name"]]
            if one["name"] in message.value
            else one["default"]
            for one in json.loads(reader.schema)["fields"]
        }
    except Exception as error:  # noqa: BLE001 - whatever a client fails with
        return repr(error)
    return None if value == wanted else f"{value} for {wanted}"


def _read_json(reader: SchemaInfo, sent: dict[str, Any]) -> dict[str, Any]:
    value = {}
    for one in json.loads(reader.schema)["fields"]:
        value[one["name"]] = sent[one["name"]] if one["name"] in sent else one["default"]
        validate(value[one["name"]], one["type"])
    return value


def _value(info: SchemaInfo) -> dict[str, Any]:
    """A value that only readers of at least these types can hold."""
    return {one["name"]: _datum(one["type"]) for one in json.loads(info.schema)["fields"]}


def _datum(kind: Any) -> object:  # noqa: ANN401 - a JSON value
    if isinstance(kind, dict):
        return kind["symbols"][-1]
    return {"int": 7, "long": 2**40, "string": "text"}.get(kind) if isinstance(kind, str) else None
