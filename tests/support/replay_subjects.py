"""A topic with two versions and a proposed schema, as a subject of a replay."""

from __future__ import annotations

from gitops.model.findings import Location
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.replay import Sample
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.replay.topic_replays import Subject
from tests.support.states import CREATED, avro, field

HERE = Location(file="namespaces/shop/orders/created.yaml")
_SAMPLE = Sample(format="avro", path="a.avro", location=HERE)
OLD, MIDDLE = avro(field("a")), avro(field("a"), field("b", default=""))
NEW = avro(field("a"), field("c", default=""))


def history(*schemas: SchemaInfo, first: int = 0) -> SchemaHistory:
    entries = tuple(
        SchemaEntry(version=number, info=info) for number, info in enumerate(schemas, first)
    )
    return SchemaHistory(entries=entries, next_version=first + len(schemas))


SUBJECT = Subject(
    topic=CREATED,
    history=history(OLD, MIDDLE),
    proposed=NEW,
    samples=(_SAMPLE,),
    strategy=Strategy.FULL,
)
