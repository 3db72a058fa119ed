"""Clients' manifests: which schemas they name, and of which topics."""

from __future__ import annotations

import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Repository
from gitops.repository.loader import load
from tests.support.trees import SETTINGS, MemoryTree


def _use(side: str, schema: str, topic: str = "", language: str = "") -> Repository:
    """What is said of a client of shop/orders/a."""
    spoken = f"language: {language}\n" if language else ""
    who = "" if side == "produces" else ", subscription: s"
    head = "apiVersion: pulsar-gitops/v1\nkind: "
    use = f"{{topic: shop/orders/a{who}, schema: {schema}}}"
    return load(
        MemoryTree(
            {
                "gitops.yaml": SETTINGS,
                "namespaces/shop/orders/a.yaml": f"{head}Topic\n{topic}schema: {{type: INT8}}\n",
                "clients/b.yaml": f"{head}Client\nname: b\nowner: me\n{spoken}{side}:\n  - {use}\n",
            }
        )
    )


@pytest.mark.parametrize("schema", ["NONE", "{type: NONE}", "{type: BYTES}"])
def test_a_client_of_bytes_has_no_schema(schema: str) -> None:
    """Clients never send BYTES or NONE (Pulsar 4.0.7)."""
    loaded = _use("consumes", schema)

    assert loaded.findings == ()
    assert loaded.clients[0].consumes[0].schemas == ("NONE",)


@pytest.mark.parametrize(
    ("language", "type_", "sent"),
    [
        ("python", "INT32", "NONE"),
        ("node", "DOUBLE", "NONE"),
        ("cpp", "BOOLEAN", "NONE"),
        ("java", "INT32", SchemaInfo(type=SchemaType.INT32)),
        ("python", "STRING", SchemaInfo(type=SchemaType.STRING, schema="null")),
        ("java", "STRING", SchemaInfo(type=SchemaType.STRING)),
    ],
)
@pytest.mark.parametrize("side", ["consumes", "produces"])
def test_a_client_has_the_schema_that_its_library_sends(
    side: str, language: str, type_: str, sent: object
) -> None:
    loaded = _use(side, f"{{type: {type_}}}", language=language)

    assert loaded.findings == ()
    client = loaded.clients[0]
    uses = client.consumes if side == "consumes" else client.produces
    assert [use.schemas for use in uses] == [(sent,)]


def test_a_client_means_the_topic_of_its_manifest_whatever_the_domain() -> None:
    """Both domains share one schema history (Pulsar 4.0.7)."""
    loaded = _use("produces", "{version: 0}", "topic: non-persistent://shop/orders/a\n")

    assert loaded.clients[0].produces[0].topic in loaded.topics


def test_a_schema_without_type_is_of_its_topics_also_where_that_cannot_be_built() -> None:
    head = "apiVersion: pulsar-gitops/v1\nkind: "
    use = "{topic: shop/orders/a, schema: {definition: new.avsc}}"
    loaded = load(
        MemoryTree(
            {
                "gitops.yaml": SETTINGS,
                "namespaces/shop/orders/a.yaml": (
                    f"{head}Topic\nschema: {{type: JSON, definition: old.avsc}}\n"
                ),
                "clients/b.yaml": f"{head}Client\nname: b\nowner: me\nproduces:\n  - {use}\n",
                "clients/new.avsc": '{"type": "record", "name": "A", "fields": []}',
            }
        )
    )

    assert [each.message for each in loaded.findings] == ["'old.avsc' does not exist"]
    (schema,) = loaded.clients[0].produces[0].schemas
    assert isinstance(schema, SchemaInfo)
    assert schema.type is SchemaType.JSON


@pytest.mark.parametrize(
    ("side", "schema", "hint"),
    [
        ("consumes", "AUTO_PRODUCE", "did you mean AUTO_CONSUME?"),
        ("produces", "[{version: 0}, AUTO_CONSUME]", "did you mean AUTO_PRODUCE?"),
        ("consumes", "v3", "did you mean {version: 3}?"),
        ("consumes", "STRING", "did you mean {type: STRING}?"),
        ("consumes", "AVRO", "use one of AUTO_CONSUME, AUTO_PRODUCE, NONE"),
    ],
)
def test_a_word_that_is_no_schema_of_that_side(side: str, schema: str, hint: str) -> None:
    (one,) = _use(side, schema).findings

    assert (one.rule, one.hint) == ("REPO-R011", hint)
