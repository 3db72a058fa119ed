"""Manifests for clients that statistics show: what is a guess stops the files until confirmed."""

from __future__ import annotations

import pytest

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
from gitops.model.findings import Location, Severity
from gitops.model.schema import SchemaHistory
from gitops.repository.loader import load
from gitops.repository.writing.client_manifests import ProposedClients, propose_clients
from tests.support.states import CREATED, STRING, topic_state
from tests.support.trees import MemoryTree

HERE = Location(file="clients/billing.yaml")
SETTINGS = (
    b"apiVersion: pulsar-gitops/v1\nkind: Config\n"
    b"registries:\n  local: {kind: embedded, path: x.db}\n"
)
HISTORY = topic_state(CREATED, STRING, STRING).history
BILLING = Client(
    name="billing",
    owner="@acme/x",
    consumes=(
        Consumes(
            topic=CREATED, subscription="billing", schemas=(VersionPin(version=0),), location=HERE
        ),
    ),
    produces=(),
    location=HERE,
)


def propose(
    *subscriptions: str,
    producers: tuple[str, ...] = (),
    clients: tuple[Client, ...] = (),
    history: SchemaHistory = HISTORY,
    taken: tuple[str, ...] = (),
) -> ProposedClients:
    topic = ObservedTopic(
        subscriptions=tuple(ObservedSubscription(name=name) for name in subscriptions),
        producers=tuple(ObservedProducer(name=name, client="") for name in producers),
    )
    return propose_clients(
        ObservedClients(topics={CREATED: topic}), {CREATED: history}, clients, taken, "production"
    )


def test_a_manifest_has_all_that_a_name_does_and_marks_the_guess() -> None:
    proposed = propose("billing", producers=("billing",))

    assert {path: data.decode() for path, data in proposed.files.items()} == {
        "clients/billing.yaml": (
            "# yaml-language-server: $schema=../.schemas/client.schema.json\n"
            "# From the statistics of production, which show no schema: each one is a guess.\n"
            "apiVersion: pulsar-gitops/v1\n"
            "kind: Client\n"
            'name: "billing"\n'
            'owner: "" # who owns the service\n'
            "consumes:\n"
            f'  - topic: "{CREATED}"\n'
            '    subscription: "billing"\n'
            "    schema: {version: 1} # a guess; also live: v0\n"
            "produces:\n"
            f'  - topic: "{CREATED}"\n'
            "    schema: {version: 1} # a guess; also live: v0\n"
        )
    }
    assert proposed.notes == (
        "1 client manifest proposed: fill in `owner`, and confirm each schema, which is a guess",
    )


@pytest.mark.parametrize(
    ("consumers", "producer", "language"),
    [
        (("Pulsar-CPP-v3.7.2",), "Pulsar-CPP-v3.13.0", "python"),
        (("Pulsar-CPP-v3.7.2",), "", "python"),
        (("Pulsar-CPP-v3.7.2", "Pulsar-Java-v4.0.7"), "", None),
        ((), "Pulsar-Java-v4.0.7", "java"),
        (("Pulsar-Java-v4.0.7",), "somebody's own\nlanguage: go", None),
        ((), "", None),
    ],
)
def test_the_language_is_proposed_where_all_libraries_of_a_name_are_of_one(
    consumers: tuple[str, ...], producer: str, language: str | None
) -> None:
    observed = ObservedTopic(
        subscriptions=(ObservedSubscription(name="billing", clients=consumers),),
        producers=(ObservedProducer(name="billing", client=producer),),
    )
    topics = ObservedClients(topics={CREATED: observed})
    (data,) = propose_clients(topics, {CREATED: HISTORY}, (), (), "production").files.values()
    owned = data.replace(b'owner: ""', b'owner: "@acme/x"')

    (client,) = load(MemoryTree({"gitops.yaml": SETTINGS, HERE.file: owned})).clients

    assert client.language == language
    assert (b" # a guess, by what the client library calls itself" in data) == bool(language)


def test_without_an_owner_the_files_have_an_error_and_with_one_they_declare_the_client() -> None:
    (data,) = propose("billing").files.values()
    owned = data.replace(b'owner: ""', b'owner: "@acme/x"')

    guessed, confirmed = (
        load(MemoryTree({"gitops.yaml": SETTINGS, HERE.file: text})) for text in (data, owned)
    )

    errors = [str(one.location) for one in guessed.findings if one.severity is Severity.ERROR]
    assert errors == [f"{HERE.file}:6:8"]
    (client,) = confirmed.clients
    assert [(use.subscription, use.schemas) for use in client.consumes] == [
        ("billing", (VersionPin(version=1),))
    ]


def test_who_is_declared_gets_no_manifest() -> None:
    writer = Client(
        name="checkout",
        owner="@acme/x",
        consumes=(),
        produces=(Produces(topic=CREATED, schemas=(VersionPin(version=0),), location=HERE),),
        location=HERE,
    )

    assert propose("billing", producers=("w",), clients=(BILLING, writer)) == ProposedClients()


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("reader-*", "1 reader or producer without a name: no manifest"),
        ("a/b", f'no manifest for "a/b" of {CREATED}: no file name'),
        ("\u202ea", f'no manifest for "\\u202ea" of {CREATED}: no file name'),
        ("Taken", "no manifest for 'Taken': clients/Taken.yaml exists"),
    ],
)
def test_names_without_a_manifest_are_reported(name: str, note: str) -> None:
    proposed = propose(name, taken=("clients/taken.yaml",))

    assert (proposed.files, proposed.notes) == ({}, (note,))


def test_a_client_whose_manifest_lacks_the_topic_is_named() -> None:
    other = propose("billing", "billing-2", clients=(BILLING,), producers=("billing",))

    assert list(other.files) == ["clients/billing-2.yaml"]
    assert f"client 'billing' does not declare the producer of {CREATED}: add it" in other.notes


def test_a_topic_without_a_schema_is_read_without() -> None:
    (data,) = propose("billing", history=SchemaHistory()).files.values()

    assert b"schema: NONE # a guess" in data
