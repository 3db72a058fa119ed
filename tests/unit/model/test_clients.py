"""Observations of clients: a record, and what is seen later."""

from __future__ import annotations

from gitops.model.clients import (
    Client,
    Consumes,
    ObservedClients,
    ObservedProducer,
    ObservedSubscription,
    ObservedTopic,
    Produces,
    VersionPin,
)
from gitops.model.findings import Location
from gitops.model.names import TopicName
from tests.support.states import CREATED, ORDERS

_OTHER = TopicName(ORDERS, "other")
_WRITER = ObservedProducer(name="writer", client="a")
_BILLING = ObservedSubscription(name="billing", type="Shared", clients=("a",), backlog=1)
_RECORDED = ObservedTopic(producers=(_WRITER,), subscriptions=(_BILLING,), left_out=2)


def test_clients_that_are_connected_now_add_to_the_record() -> None:
    idle = ObservedSubscription(name="billing")
    audit = ObservedSubscription(name="audit", clients=("b",))
    live = ObservedTopic(
        producers=(ObservedProducer(name="", client="b"),), subscriptions=(idle, audit)
    )

    joined = _RECORDED.joined(live)

    assert joined.producers == (ObservedProducer(name="", client="b"), _WRITER)
    assert joined.subscriptions == (
        audit,
        ObservedSubscription(name="billing", type="Shared", clients=("a",)),
    )
    assert joined.left_out == 2
    assert joined.joined(_RECORDED).subscriptions == (audit, _BILLING)


def test_a_record_with_what_is_seen_now() -> None:
    record = ObservedClients(topics={CREATED: _RECORDED}, unread={_OTHER: "403"}, file="f")

    assert record.with_live(ObservedClients()) == record
    assert record.with_live(ObservedClients(unread={CREATED: "403"})) == record
    seen = record.with_live(ObservedClients(topics={CREATED: ObservedTopic(), _OTHER: _RECORDED}))
    assert seen.topics == {CREATED: _RECORDED, _OTHER: _RECORDED}
    assert (seen.unread, seen.file) == ({}, "f")
    unused = record.with_live(ObservedClients(topics={_OTHER: ObservedTopic()}))
    assert (unused.topics, unused.unread) == ({CREATED: _RECORDED}, {})


def test_what_neither_a_manifest_nor_the_record_has() -> None:
    here = Location(file="clients/billing.yaml")
    pins = (VersionPin(version=0),)
    consumes = Consumes(topic=CREATED, subscription="billing", schemas=pins, location=here)
    client = Client(name="b", owner="", consumes=(consumes,), produces=(), location=here)
    producer = Client(
        name="w",
        owner="",
        consumes=(),
        produces=(Produces(topic=CREATED, schemas=pins, location=here),),
        location=here,
    )

    assert _RECORDED.undeclared(CREATED, [client]) == ObservedTopic(producers=(_WRITER,))
    assert _RECORDED.undeclared(CREATED, [producer]) == ObservedTopic(subscriptions=(_BILLING,))
    assert _RECORDED.undeclared(_OTHER, [client, producer]) == ObservedTopic(
        producers=(_WRITER,), subscriptions=(_BILLING,)
    )
    upgraded = ObservedTopic(
        producers=(ObservedProducer(name="writer", client="b"),),
        subscriptions=(ObservedSubscription(name="audit"),),
    )
    assert upgraded.without(_RECORDED) == ObservedTopic(
        subscriptions=(ObservedSubscription(name="audit"),)
    )
