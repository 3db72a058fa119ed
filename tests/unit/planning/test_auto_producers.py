"""Clients that send with AUTO_PRODUCE, when the layout of their topic's messages changes."""

from __future__ import annotations

import json

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.clients import Client, ClientSchema, Produces
from gitops.model.findings import Finding, Location, Severity
from gitops.model.plan import RefusedSchema, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.planning.refusals import TopicCase
from gitops.planning.topics import plan_topic
from tests.support.states import CREATED, TODAY, avro, field, history
from tests.support.topic_plans import locate

A = field("a", "int")


def _client(name: str = "gateway", schema: ClientSchema = "AUTO_PRODUCE") -> Client:
    location = Location(file=f"clients/{name}.yaml", line=1, column=1)
    produces = (Produces(topic=CREATED, schemas=(schema,), location=location),)
    return Client(name=name, owner="me", consumes=(), produces=produces, location=location)


def _findings(
    versions: SchemaHistory,
    new: SchemaInfo,
    *clients: Client,
    strategy: Strategy = Strategy.FORWARD,
) -> list[Finding]:
    case = TopicCase(
        topic=CREATED,
        desired=new,
        history=versions,
        strategy=strategy,
        line=PULSAR_4_0,
        locate=locate,
        today=TODAY,
        clients=clients or (_client(),),
    )
    outcome = plan_topic(case)
    assert isinstance(outcome, RegisterSchema | RefusedSchema)
    return [finding for finding in outcome.findings if finding.rule == "CLIENT-R015"]


@pytest.mark.rule("CLIENT-R015")
@pytest.mark.parametrize(
    ("new", "place"),
    [
        (avro(field("n", ["null", "int"], default=None), A), " from 'a' on"),
        (avro(A, field("n", "int")), " from 'n' on"),
        (avro(field("a", "double")), " from 'a' on"),
    ],
    ids=["in front", "at the end", "promoted"],
)
def test_a_changed_layout_is_a_warning_that_names_the_client(new: SchemaInfo, place: str) -> None:
    (finding,) = _findings(history(avro(A)), new, strategy=Strategy.ALWAYS_COMPATIBLE)

    assert finding.severity is Severity.WARNING
    assert finding.message == (
        "gateway: AUTO_PRODUCE sends what the application wrote as the latest version: once the "
        "client reconnects, its messages carry v1, and those that it still writes as v0 are "
        f"refused by the client or decode wrongly{place}"
    )


def test_an_int_and_a_long_have_the_same_bytes() -> None:
    long = avro(field("a", "long"))

    assert not _findings(history(avro(A)), long)
    assert not _findings(history(long), avro(A), strategy=Strategy.ALWAYS_COMPATIBLE)


@pytest.mark.parametrize("new", [avro(), avro(field("a", "string"))], ids=["removed", "another"])
def test_a_last_field_that_is_removed_or_becomes_another_type(new: SchemaInfo) -> None:
    assert len(_findings(history(avro(A)), new, strategy=Strategy.ALWAYS_COMPATIBLE)) == 1


def test_json_is_read_by_names_whatever_version_a_message_carries() -> None:
    old, new = (
        SchemaInfo(type=SchemaType.JSON, schema=avro(*fields).schema)
        for fields in ((A,), (A, field("n", "int")))
    )

    assert not _findings(history(old), new)


def test_a_half_of_a_pair() -> None:
    def pair(value: SchemaInfo) -> SchemaInfo:
        properties = {"key.schema.type": "STRING", "value.schema.type": "AVRO"}
        text = json.dumps({"key": "", "value": json.loads(value.schema)})
        return SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=properties)

    new = pair(avro(A, field("n", "int", default=0)))

    assert len(_findings(history(pair(avro(A))), new)) == 1


def test_messages_of_the_first_version_have_any_content() -> None:
    (finding,) = _findings(history(), avro(A))

    assert finding.message == (
        "gateway: AUTO_PRODUCE sends what the application wrote as the latest version: once the "
        "client reconnects, its messages carry v0, whatever they contain"
    )


def test_clients_with_a_schema_of_their_own_are_no_finding() -> None:
    new = avro(field("n", ["null", "int"], default=None), A)

    assert not _findings(history(avro(A)), new, _client(schema="NONE"), _client("b", avro(A)))


def test_all_clients_are_named_once() -> None:
    new = avro(field("n", ["null", "int"], default=None), A)

    (finding,) = _findings(history(avro(A)), new, _client(), _client(), _client("bridge"))

    assert finding.message.startswith("bridge and gateway: ")
