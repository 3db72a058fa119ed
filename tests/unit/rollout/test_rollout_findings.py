"""Declared clients that a change keeps out, or that do not work; and how far they are followed."""

from __future__ import annotations

import json

import pytest

from gitops.model.findings import Severity
from tests.support.check_repository import FOLDER, manifest, report
from tests.support.git_repos import GitRepository
from tests.support.rollout_repository import (
    FILES,
    TOPIC,
    avro,
    client,
    findings,
    of_rule,
    said,
    steps,
)

pytestmark = pytest.mark.slow


def test_a_merge_that_locks_out_a_client_comes_after_its_upgrade(repo: GitRepository) -> None:
    """CLIENT-R003: apply registers at once, whoever has upgraded by then."""
    wider = {f"{FOLDER}/created.avsc": avro(a="long", b="string")}
    together = {"clients/billing.yaml": client("billing", "consumes", "{version: 1}")}
    for change in (wider, wider | together):
        repo.write(change)
        ((message, hint),) = of_rule(repo, "CLIENT-R003")
        assert message == (
            f"Once v1 of {TOPIC} is registered, the current billing cannot reconnect: it reads "
            "int, v1 writes long (a)"
        )
        assert hint == (
            "First deploy a billing that reads both versions (`schema: {definition: …}` in "
            "clients/billing.yaml), then merge the schema"
        )

    repo.git("checkout", "--quiet", ".")
    first = {
        "clients/own.avsc": wider[f"{FOLDER}/created.avsc"],
        "clients/billing.yaml": client("billing", "consumes", "{definition: own.avsc}"),
    }
    repo.write(first)
    assert findings(repo) == []
    repo.commit()
    repo.write(wider)
    assert findings(repo) == []


def test_who_is_refused_for_good_is_reported_once(repo: GitRepository) -> None:
    """v0, which v2 does not read, is written until v2 is registered."""
    repo.commit({f"{FOLDER}/created.avsc": avro(a="int")})
    repo.commit({"clients/billing.yaml": client("billing", "consumes", "{version: 1}")})
    wider = json.loads(avro(a="long", b="int"))
    wider["fields"][1]["default"] = 0
    checkout = client("checkout", "produces", "{version: 2}")
    repo.write({f"{FOLDER}/created.avsc": json.dumps(wider), "clients/checkout.yaml": checkout})

    assert of_rule(repo, "CLIENT-R002") == []
    assert [message for message, _ in of_rule(repo, "CLIENT-R004")] == [
        (
            f"Once v2 of {TOPIC} is registered, billing cannot reconnect: it reads int, v2 writes "
            "long (a)"
        ),
    ]


def test_clients_of_bytes_have_no_schema(repo: GitRepository) -> None:
    """Clients send none for bytes, whether or not the topic has one (Pulsar 4.0.7)."""
    raw = {f"{FOLDER}/raw.yaml": manifest("type: BYTES")}
    repo.commit(raw)
    bytes_of = {
        f"clients/{name}-{side}.yaml": client(f"{name}-{side}", side, schema, f"shop/orders/{name}")
        for name, schema in (("raw", "{type: BYTES}"), ("created", "{type: BYTES}"))
        for side in ("consumes", "produces")
    }
    repo.write(bytes_of)
    assert findings(repo) == []

    enforced = "schemaValidationEnforced: true\n"
    repo.commit(
        {f"{FOLDER}/namespace.yaml": FILES[f"{FOLDER}/namespace.yaml"] + enforced} | bytes_of
    )
    repo.write({"clients/more.yaml": client("more", "produces", "{type: BYTES}")})
    ((message, _),) = of_rule(repo, "CLIENT-R002")
    assert message.startswith(f"more cannot connect to {TOPIC} ")

    own = "policies: {schemaValidationEnforced: false}\n"
    repo.commit({f"{FOLDER}/created.yaml": manifest("type: AVRO, definition: created.avsc", own)})
    repo.write({"clients/more.yaml": client("more", "produces", "NONE")})
    assert of_rule(repo, "CLIENT-R002") == []


def test_policies_that_keep_out_who_has_not_upgraded(repo: GitRepository) -> None:
    """Apply sets them at once, whoever has upgraded by then: the plan says so, and no other."""
    repo.commit({"clients/checkout.yaml": client("checkout", "produces", "NONE")})
    space = f"{FOLDER}/namespace.yaml"
    repo.write(
        {
            space: f"{FILES[space]}schemaValidationEnforced: true\n",
            "clients/checkout.yaml": FILES["clients/checkout.yaml"],
        }
    )
    assert findings(repo) == []
    (found,) = report(repo).registries[0].plan.findings
    assert (found.rule, found.severity, found.subject) == ("PLAN-R021", Severity.ERROR, TOPIC)
    assert found.message.startswith(
        "producers without a schema (checkout) can no longer connect: "
        "schemaValidationEnforced false → true: "
    )
    assert str(found.location) == f"{space}:5:27"

    repo.write({space: FILES[space]})
    repo.commit()
    repo.write({space: f"{FILES[space]}schemaValidationEnforced: true\n"})
    assert findings(repo) == []


@pytest.mark.rule("CLIENT-R009")
def test_what_does_not_work_as_it_is(repo: GitRepository) -> None:
    """CLIENT-R009: no fault of the change, and told where the client is declared."""
    reader = {
        "clients/own.avsc": avro(a="int", z="string"),
        "clients/billing.yaml": client("billing", "consumes", "{definition: own.avsc}"),
    }
    repo.commit(reader)
    repo.write({f"{FOLDER}/created.avsc": avro(a="int")})

    told = [one for one in report(repo).findings if one.rule == "CLIENT-R009"]
    assert {one.location.file for one in told if one.location} == {"clients/billing.yaml"}
    assert [one.message.partition(":")[2].partition(":")[0].strip() for one in told] == [
        f"billing cannot connect to {TOPIC}",
        f"billing cannot read what checkout writes to {TOPIC}",
    ]
    assert {one.severity for one in told} == {Severity.WARNING}

    repo.git("checkout", "--quiet", ".")
    repo.write({"clients/own.avsc": avro(a="int")})
    repo.commit()
    repo.write({f"{FOLDER}/created.avsc": avro(a="int")})
    assert of_rule(repo, "CLIENT-R009") == []


@pytest.mark.rule("CLIENT-R009")
def test_a_producer_that_registers_its_schema_itself_works_as_it_is(repo: GitRepository) -> None:
    """The change registers its schema, and lets nobody register one from then on."""
    space = FILES[f"{FOLDER}/namespace.yaml"]
    shop = client("shop", "produces", "{definition: own.avsc}").replace("created", "new")
    repo.commit(
        {
            f"{FOLDER}/namespace.yaml": f"{space}isAllowAutoUpdateSchema: true\n",
            "clients/own.avsc": avro(a="int"),
            "clients/shop.yaml": shop,
        }
    )
    closed = {f"{FOLDER}/namespace.yaml": f"{space}isAllowAutoUpdateSchema: false\n"}
    new = {
        f"{FOLDER}/new.avsc": avro(a="int"),
        f"{FOLDER}/new.yaml": manifest("type: AVRO, definition: new.avsc"),
    }

    repo.write(closed | new)
    assert of_rule(repo, "CLIENT-R009") == []
    assert of_rule(repo, "CLIENT-R002") == []

    repo.write({f"{FOLDER}/new.avsc": avro(a="long")})
    ((message, _),) = of_rule(repo, "CLIENT-R002")
    assert "shop cannot connect to" in message
    assert "after the change: its schema is not registered" in message


def test_the_definition_of_a_client_alone_is_a_change_of_the_client(repo: GitRepository) -> None:
    """Its topics, their policies and their other clients are looked at all the same."""
    reader = {
        "clients/own.avsc": avro(a="int"),
        "clients/billing.yaml": client("billing", "consumes", "{definition: own.avsc}"),
    }
    repo.commit(reader)
    repo.write({"clients/own.avsc": avro(a="int", z="string")})
    assert findings(repo) == [("CLIENT-R002", "billing")]

    loose = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "ALWAYS_COMPATIBLE")
    repo.git("checkout", "--quiet", ".")
    repo.commit({f"{FOLDER}/namespace.yaml": loose})
    repo.write({"clients/own.avsc": avro(a="int", z="string")})
    assert {rule for rule, _ in findings(repo)} == {"CLIENT-R004"}


def test_a_version_is_written_however_its_definition_is_laid_out(repo: GitRepository) -> None:
    """What is drained has to be gone for good, whatever file a producer names."""
    forward = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "FORWARD")
    own = json.dumps(json.loads(FILES[f"{FOLDER}/created.avsc"]), indent=4)
    checkout = client("checkout", "produces", "{definition: own.avsc}")
    properties = manifest("type: AVRO, definition: created.avsc, properties: {owner: checkout}")
    repo.commit(
        {
            f"{FOLDER}/namespace.yaml": forward,
            f"{FOLDER}/created.yaml": properties,
            "clients/own.avsc": own,
            "clients/checkout.yaml": checkout,
        }
    )
    repo.write(
        {
            f"{FOLDER}/created.avsc": avro(a="int", b="string", c="string"),
            "clients/checkout.yaml": client("checkout", "produces", "{version: 1}"),
        }
    )

    assert said(steps(repo)) == ["Register v1", "checkout", "Drain v0", "billing"]


@pytest.mark.parametrize("aliases", [[], ["Created"]])
def test_clients_follow_a_record_that_gets_another_name(
    repo: GitRepository, aliases: list[str]
) -> None:
    renamed = json.loads(avro(a="long", b="string")) | {"name": "Made", "aliases": aliases}
    repo.write({f"{FOLDER}/created.avsc": json.dumps(renamed)})

    assert said(steps(repo)) == ["billing", "Register v1", "checkout"]


def test_who_has_declared_nothing_stays_behind_where_its_upgrade_leads_nowhere(
    repo: GitRepository,
) -> None:
    """A producer that is taken at its word goes on with v0, which the new reader could not read."""
    loose = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "FORWARD")
    repo.commit(
        {f"{FOLDER}/namespace.yaml": loose, f"{FOLDER}/other.yaml": manifest("type: STRING")}
    )
    also = "  - {topic: shop/orders/other, schema: {version: 0}}\n"
    change = {
        f"{FOLDER}/created.avsc": avro(a="int", b="string", c="string"),
        "clients/checkout.yaml": FILES["clients/checkout.yaml"] + also,
    }
    repo.write(change)

    assert set(said(steps(repo))) == {"Register v1", "checkout"}
    assert findings(repo) == []
