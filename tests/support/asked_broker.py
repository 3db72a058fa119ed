"""A broker with settings of its own, asked by a role that may read them and by one that may not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gitops.broker.connection import ConnectionTarget, Offer, connection_policies
from gitops.broker.lines.table import line_of
from gitops.broker.producer_connection import admit_producer
from gitops.model.config import SecretRef, TlsConfig, TokenAuthentication
from gitops.model.decision import StoredSchema
from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import RegisterSchema
from gitops.model.policy import TopicPolicies
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.planning.plan import make_plan
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.schemas.payload import stored_history, to_stored
from tests.support.admin_rest import admin_request
from tests.support.pulsar_binary import binary_client
from tests.support.secured_broker import SUPERUSER, SecuredBroker, secured_broker
from tests.support.states import avro, field, info, question, state, topic_state

if TYPE_CHECKING:
    from pathlib import Path

    from gitops.model.plan import Plan
    from gitops.model.policy import BrokerSettings
    from gitops.ports import Registry

OWNER: Final = "owner"
TENANT: Final = "learned"
SHOP = NamespaceName(TENANT, "shop")
EMPTY = NamespaceName(TENANT, "empty")
OLD, WIDER = avro(field("a", "int")), avro(field("a", "int"), field("b", "int", default=0))
OLD_JSON = info({"type": "object", "id": "urn:R", "properties": {}}, SchemaType.JSON)
OTHER_JSON = info({"type": "object", "id": "urn:S", "properties": {}}, SchemaType.JSON)
CANDIDATES: Final = {
    "changed": (OLD, avro(field("a", "string"))),
    "wider": (OLD, WIDER),
    "narrower": (WIDER, OLD),
    "old-json": (None, OLD_JSON),
    "old-json-again": (OLD_JSON, OTHER_JSON),
    "external": (None, SchemaInfo(type=SchemaType.EXTERNAL)),
    "dollar": (None, avro(field("a$b", "int"))),
    "dash": (None, avro(field("a", "int"), namespace="com.my-co")),
}
"""Topic → the schema that it has, and the one that a plan wants."""
PRODUCED = TopicName.of(SHOP, "produced")
TOPICS: Final = {TopicName.of(SHOP, name): pair for name, pair in CANDIDATES.items()}
OFFERS: Final[tuple[Offer, ...]] = ("NONE", to_stored(OLD), to_stored(WIDER))
"""What producers of PRODUCED, whose schema is OLD, come with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A broker of a release with its settings, and who asks it."""

    release: str
    config: Mapping[str, str]
    secured: SecuredBroker
    superuser: Registry
    owner: Registry


@contextmanager
def asked_broker(folder: Path, release: str, config: Mapping[str, str]) -> Iterator[Asked]:
    """The broker, with what its topics have; raises as `pulsar_broker` does."""
    with (
        secured_broker(folder, config, release=release) as secured,
        closing(opened(secured, SUPERUSER)) as superuser,
        closing(opened(secured, OWNER)) as owner,
    ):
        _made(secured)
        for topic in TOPICS:
            _stored(superuser, topic)
        superuser.register_schema(PRODUCED, OLD)
        yield Asked(
            release=release, config=config, secured=secured, superuser=superuser, owner=owner
        )


def _made(secured: SecuredBroker) -> None:
    """The tenant and its namespaces."""
    body = {"adminRoles": [OWNER], "allowedClusters": ["standalone"]}
    asks(secured, "PUT", f"tenants/{TENANT}", body)
    for namespace in (SHOP, EMPTY):
        asks(secured, "PUT", f"namespaces/{namespace}", {})


def _stored(superuser: Registry, topic: TopicName) -> None:
    """Register what the topic has, as far as this broker takes it."""
    first, _ = TOPICS[topic]
    if first is not None and not (first is OLD_JSON and _is_strict(superuser.broker)):
        superuser.register_schema(topic, first)


def _is_strict(broker: BrokerSettings) -> bool:
    return broker.release[:3] in ("4.2", "5.0") and not (
        broker.schema_json_allow_legacy_jackson_format
    )


def asks(secured: SecuredBroker, method: str, path: str, body: object = None) -> object:
    """A request as superuser."""
    url = f"{secured.broker.admin_url}/admin/v2/{path}"
    headers = {"Authorization": f"Bearer {secured.token(SUPERUSER)}"}
    answer = admin_request(method, url, body, headers=headers)
    return json.loads(answer) if answer else None


def opened(secured: SecuredBroker, role: str) -> Registry:
    """The registry, as a role sees it."""
    folder = secured.ca_file.parent
    token = folder / f"{role}.token"
    token.write_text(secured.token(role))
    config = PulsarConfig(
        url=secured.broker.tls_admin_url,
        authentication=TokenAuthentication(token=SecretRef(kind="file", name=str(token))),
        tls=TlsConfig(ca_file=str(secured.ca_file)),
    )
    return open_registry("secured", config, folder)


def planned(registry: Registry, broker: BrokerSettings | None = None) -> Plan:
    """The plan for all candidates; by these settings, or by those that the registry has."""
    observed = registry.observe(Scope(namespaces=frozenset({SHOP}), topics=frozenset(TOPICS)))
    desired = state(*(topic_state(topic, new) for topic, (_, new) in TOPICS.items()))
    return make_plan(replace(question(desired, observed), broker=broker or registry.broker))


def accepted(plan: Plan) -> dict[str, bool]:
    """The verdict on each candidate."""
    registered = {one.topic for one in plan.actions if isinstance(one, RegisterSchema)}
    return {topic.local_name: topic in registered for topic in TOPICS}


def taken(registry: Registry) -> dict[str, bool]:
    """What the broker answers to each candidate."""
    return {topic.local_name: _is_taken(registry, topic, new) for topic, (_, new) in TOPICS.items()}


def _is_taken(registry: Registry, topic: TopicName, new: SchemaInfo) -> bool:
    try:
        registry.register_schema(topic, new)
    except RegistryRefusedError:
        return False
    return True


Answer = tuple[object, object]
"""The error with which a producer is refused, if it is, and the version that it gets."""


def admissions(registry: Registry, broker: BrokerSettings | None = None) -> list[Answer]:
    """What is said of a producer of each offer, before any came."""
    scope = Scope(namespaces=frozenset({SHOP}), topics=frozenset({PRODUCED}))
    observed = registry.observe(scope)
    settings, own = broker or registry.broker, observed.namespaces[SHOP].policies
    target = ConnectionTarget(
        history=stored_history(observed.topics[PRODUCED].history),
        policies=connection_policies(PRODUCED, TopicPolicies(), own, settings),
        use="idle",
        line=line_of(settings),
    )
    return [(one.error, one.version) for one in (admit_producer(target, each) for each in OFFERS)]


def let_in(asked: Asked) -> list[Answer]:
    """What the broker answers to a producer of each offer, one after the other."""
    token = asked.secured.token(SUPERUSER)
    answers: list[Answer] = []
    with binary_client(asked.secured.broker.service_url, token=token) as client:
        client.look_up(str(PRODUCED))
        for offer in OFFERS:
            sent = offer if isinstance(offer, StoredSchema) else None
            producer, reply = client.produce(str(PRODUCED), sent)
            if reply.error is None:
                client.close_producer(producer)
            answers.append((reply.error, reply.version))
    return answers
