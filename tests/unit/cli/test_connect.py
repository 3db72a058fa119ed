"""`connect`: what people name, what is printed, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine

pytestmark = pytest.mark.slow


ORDERS = "namespaces/shop/orders"
CREATED = "shop/orders/order-created"
RECORD = '{"type": "record", "name": "R", "fields": []}'


def test_the_files_own_schema_is_let_in(applied: Path, command: CommandLine) -> None:
    for name in ("order-created.avsc", "order-created.yaml"):
        file = applied / ORDERS / name
        done = command("connect", "producer", CREATED, "--repo", applied, file)
        assert (done.code, "✓ accepted; its messages contain v0" in done.out) == (0, True), done
        assert "3  ✓ Is the schema registered already?   yes, as v0" in done.out


def test_a_refusal_shows_the_place_and_what_the_client_gets(
    applied: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    file = applied / ORDERS / "order-created.avsc"
    file.write_text(file.read_text().replace('"quantity", "type": "int"', '"q", "type": "int"'))
    done = command("connect", "consumer", CREATED, "--repo", applied, file)
    assert done.code == 1
    assert "✗ refused; the client gets IncompatibleSchema" in done.out
    assert ":20:22  AVRO-R002 error" in done.out
    manifest = file.with_suffix(".yaml")
    same = command("connect", "consumer", CREATED, "--repo", applied, manifest)
    assert (same.code, f"{ORDERS}/order-created.avsc:20:22  AVRO-R002" in same.out) == (1, True)


@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_a_topic_that_brokers_keep_for_transactions(
    role: str, applied: Path, command: CommandLine
) -> None:
    file = applied / ORDERS / "order-created.avsc"
    name = "shop/orders/orders-sub__transaction_pending_ack"
    done = command("connect", role, name, "--repo", applied, file)
    assert done.code == 1
    assert "✗ refused; the client gets NotAllowedError" in done.out
    assert "brokers keep topics of this name for transactions" in done.out
    others = (f"non-persistent://{name}", f"{name}-x", "shop/orders/__transaction_log_0")
    for other in others:
        assert "NotAllowedError" not in command("connect", role, other, "--repo", applied, file).out


def test_before_anything_is_applied_it_says_so(repo: Path, command: CommandLine) -> None:
    done = command("connect", "producer", CREATED, "--repo", repo, "AUTO_PRODUCE")
    assert done.code == 0
    assert "the topic has none that AUTO_PRODUCE could use" in done.out
    assert "! the files' schema of this topic is not registered until `apply`" in done.out


def test_an_avro_file_is_of_the_topics_type(applied: Path, command: CommandLine) -> None:
    file = applied / ORDERS / "order-cancelled.avsc"
    args = ("connect", "producer", "shop/orders/order-cancelled", "--repo", applied)
    assert "its schema, JSON" in command(*args, file).out
    assert "its schema, AVRO" in command(*args, file, "--type", "AVRO").out


def test_what_pulsar_admin_takes(applied: Path, tmp_path: Path, command: CommandLine) -> None:
    file = tmp_path / "string.json"
    file.write_text('{"type": "STRING", "schema": "null", "properties": {}}')
    args = ("connect", "producer", "shop/orders/order-status", "--repo", applied)
    done = command(*args, file)
    assert (done.code, "its schema, STRING" in done.out) == (1, True)
    assert command(*args, "STRING").code == 0


def test_a_proto_file(applied: Path, tmp_path: Path, command: CommandLine) -> None:
    file = tmp_path / "order.proto"
    file.write_text('syntax = "proto3"; package a; message B {int32 c = 1;} message D {}')
    args = ("connect", "consumer", "shop/orders/new", "--repo", applied, "--state", "active")
    assert command(*args, file).code == 2
    done = command(*args, file, "--message", "a.B")
    assert (done.code, "its schema, PROTOBUF_NATIVE" in done.out) == (1, True)
    assert "active topic with empty(BYTES) schema" in done.out


def test_versions_and_several_schemas(applied: Path, command: CommandLine) -> None:
    args = ("connect", "producer", CREATED, "--repo", applied, "--format", "json")
    done = command(*args, "v0", "--new-schema", "STRING", "--new-schema", "v0")
    found = json.loads(done.out)
    assert (done.code, found["accepted"]) == (1, False)
    assert [one["accepted"] for one in found["admissions"]] == [True, False, True]
    assert found["admissions"][1]["message"].startswith("Schema not found")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("producer", CREATED, "STING"), "did you mean STRING?"),
        (("producer", CREATED, "v7"), "it has v0"),
        (("producer", CREATED, "AVRO"), "AVRO needs a definition"),
        (("producer", CREATED, "no.avsc"), "there is no file 'no.avsc'"),
        (("producer", CREATED, "AUTO_CONSUME"), "AUTO_CONSUME is for consumers"),
        (("consumer", CREATED, "AUTO_PUBLISH"), "AUTO_PRODUCE is for producers"),
        (("consumer", CREATED, "NONE", "--state", "busy"), "Invalid value"),
        (("consumer", "shop", "NONE"), "is not a topic"),
        (("producer", CREATED), "Missing argument 'SCHEMA'"),
        (
            ("producer", CREATED, "v0", "--new-schema", "AUTO_PRODUCE"),
            "the schema of a producer, not of a message",
        ),
    ],
)
def test_what_cannot_be_asked(
    applied: Path, command: CommandLine, args: tuple[str, ...], said: str
) -> None:
    done = command("connect", *args, "--repo", applied)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_files_that_are_no_schema(applied: Path, tmp_path: Path, command: CommandLine) -> None:
    args = ("connect", "producer", CREATED, "--repo", applied)
    pair = tmp_path / "pair.json"
    pair.write_text('{"type": "KEY_VALUE", "schema": "[]", "properties": {}}')
    for file, said in (
        (pair, "is not a schema"),
        (applied / "gitops.yaml", "not the manifest of a topic"),
        (applied / ORDERS / "namespace.yaml", "not the manifest of a topic"),
    ):
        done = command(*args, file)
        assert (done.code, said in done.err) == (2, True), done


def test_a_definition_with_a_type_that_nobody_defines(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    file = tmp_path / "a.avsc"
    file.write_text(RECORD.replace("[]", '[{"name": "a", "type": "shop.Nothing"}]'))
    done = command("connect", "consumer", CREATED, "--repo", applied, file)
    assert (done.code, "'shop.Nothing' is not a defined type" in done.out) == (1, True), done


def test_a_namespace_that_nobody_has(applied: Path, command: CommandLine) -> None:
    done = command("connect", "producer", "a/b/c", "--repo", applied, "NONE")
    assert (done.code, "there is no namespace 'a/b'" in done.err) == (2, True)


def test_files_with_errors_leave_policies_open(applied: Path, command: CommandLine) -> None:
    (applied / ORDERS / "namespace.yaml").write_text("kind: [")
    done = command("connect", "producer", CREATED, "--repo", applied, "NONE")
    assert (done.code, "namespace.yaml" in done.out) == (1, True)


def test_policies_of_the_files_come_first(applied: Path, command: CommandLine) -> None:
    args = ("connect", "consumer", "shop/orders/new", "--repo", applied, "STRING")
    assert command(*args).code == 1
    file = applied / ORDERS / "namespace.yaml"
    file.write_text(file.read_text().replace("Schema: false", "Schema: true"))
    done = command(*args)
    assert (done.code, "its schema becomes v0" in done.out) == (0, True)
    assert "! the files' policies are used here" in done.out


def test_words_for_a_schema_are_listed_once(applied: Path, command: CommandLine) -> None:
    done = command("connect", "producer", "shop/orders/order-created", "vv", "--repo", applied)
    words = done.err.partition("use one of ")[2].strip().split(", ")
    assert (done.code, "NONE" in words, "BYTES" in words) == (2, True, True)
    assert len(words) == len(set(words))


def test_a_declared_client_before_and_after_an_apply(
    repo: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    line = "produces shop/payments/captured with v0: "
    before = command("connect", "client", "billing", "--repo", repo)
    assert before.code == 1
    assert (
        f"✗ {line}no now: there is no namespace 'shop/payments'; yes after the plan" in before.out
    )
    command("apply", "--repo", repo, "--auto-approve")
    applied = command("connect", "client", "billing", "--repo", repo)
    assert applied.code == 0
    assert f"✓ {line}yes, now and after the plan: its messages contain v0" in applied.out


def test_a_declared_client_by_the_snapshot(applied: Path, command: CommandLine) -> None:
    args = ("connect", "client", "billing", "--repo", applied, "--snapshot")
    missing = command(*args)
    assert (missing.code, "there is no snapshot of registry 'local'" in missing.err) == (2, True)
    command("snapshot", "--repo", applied)
    (applied / ".gitops/registry.db").unlink()
    assert command(*args).code == 0


def test_pins_of_a_client_in_another_registry(applied: Path, command: CommandLine) -> None:
    """Its versions are numbers of the default registry."""
    config = applied / "gitops.yaml"
    second = "registries:\n  second: {kind: embedded, path: .gitops/second.db}\n"
    config.write_text(config.read_text().replace("registries:\n", second, 1))
    args = ("connect", "client", "billing", "--repo", applied, "--registry", "second")
    assert command(*args).code == 1
    command("apply", "--repo", applied, "--registry", "second", "--auto-approve")
    done = command(*args)
    assert (done.code, "billing · second" in done.out) == (0, True), done


def test_a_client_that_no_manifest_declares(applied: Path, command: CommandLine) -> None:
    done = command("connect", "client", "biling", "--repo", applied)
    assert (done.code, "did you mean billing?" in done.err) == (2, True)
    assert not done.out


def test_files_with_errors_are_no_yes(applied: Path, command: CommandLine) -> None:
    (applied / "clients/billing.yaml").write_text("kind: [")
    done = command("connect", "client", "checkout", "--repo", applied)
    assert (done.code, "clients/billing.yaml" in done.out) == (1, True)


POS = '{"type": "record", "name": "R", "fields": [%s{"name": "at", "type": %s}]}'
OLD = POS % ("", '{"type": "record", "name": "Pos", "fields": [{"name": "x", "type": "int"}]}')
NEW = POS % (
    '{"name": "n", "type": "int", "default": 0}, ',
    '{"type": "record", "name": "Point", "fields": [{"name": "x", "type": "int"}]}',
)


@pytest.fixture
def misread(applied: Path, command: CommandLine) -> Path:
    """A repository with a topic `shop/orders/placed` whose consumers in Python misread v0."""
    folder = applied / ORDERS
    (folder / "placed.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: AVRO, definition: placed.avsc}\n"
    )
    for definition in (OLD, NEW):
        (folder / "placed.avsc").write_text(definition)
        done = command("apply", "--auto-approve", "--repo", applied)
        assert done.code == 0, done
    return applied


def test_a_consumer_in_python_that_misreads_is_no_yes(misread: Path, command: CommandLine) -> None:
    consumer = ("connect", "consumer", "shop/orders/placed", "--repo", misread, "v1")

    python = command(*consumer, "--language", "python")
    document = json.loads(command(*consumer, "--language", "python", "--format", "json").out)
    java = command(*consumer, "--language", "java")
    unknown = command(*consumer)
    producer = command("connect", "producer", "shop/orders/placed", "--repo", misread, "v1")

    assert python.code == 1
    assert "✓ accepted; it reads with its own schema, which is v1" in python.out
    assert "✗ it misreads stored messages" in python.out
    assert "wrong values from messages of v0 at 'at': fastavro" in " ".join(python.out.split())
    assert document["accepted"]
    (found,) = document["misread"]
    assert (found["language"], found["version"], found["path"]) == ("python", 0, "at")
    assert found["wrongValues"]
    assert (java.code, "misread" in java.out) == (0, False)
    assert unknown.code == 0
    assert "assumed to read as Java does; pulsar-client for Python may" in " ".join(
        unknown.out.split()
    )
    assert (producer.code, "Python may" in producer.out) == (0, False)


def test_a_class_of_python_reads_as_python_does(
    misread: Path, tmp_path: Path, command: CommandLine
) -> None:
    pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    module = tmp_path / "events.py"
    module.write_text(
        "from pulsar.schema import Integer, Record\n\n\n"
        "class Point(Record):\n    x = Integer(required=True)\n\n\n"
        "class R(Record):\n"
        "    n = Integer(required=True, default=0, required_default=True)\n"
        "    at = Point(required=True)\n"
    )
    consumer = ("connect", "consumer", "shop/orders/placed", "--repo", misread)

    done = command(*consumer, "events:R", "--path", tmp_path)

    assert done.code == 1, done
    assert "✗ it misreads stored messages" in done.out


def test_a_dead_letter_topic_is_declared_as_its_origin(applied: Path, command: CommandLine) -> None:
    topic, file = f"{CREATED}-billing-DLQ", applied / ORDERS / "order-created.avsc"
    note = f"retry topic of a subscription of {CREATED}: declare it with the schema of that topic"

    refused = command("connect", "producer", topic, "--repo", applied, file)
    manifest = applied / ORDERS / "order-created-billing-DLQ.yaml"
    manifest.write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
        "schema: {type: AVRO, definition: order-created.avsc}\n"
    )
    done = command("apply", "--auto-approve", "--repo", applied)
    accepted = command("connect", "producer", topic, "--repo", applied, file)

    assert (refused.code, note in " ".join(refused.out.split())) == (1, True)
    assert done.code == 0, done
    assert (accepted.code, note in " ".join(accepted.out.split())) == (0, False)


def test_a_declared_client_in_python_that_misreads(misread: Path, command: CommandLine) -> None:
    manifest = (
        "apiVersion: pulsar-gitops/v1\nkind: Client\nname: map\nowner: me\nlanguage: python\n"
        "consumes: [{topic: shop/orders/placed, subscription: map, schema: {version: 1}}]\n"
    )
    (misread / "clients" / "map.yaml").write_text(manifest)

    done = command("connect", "client", "map", "--repo", misread)
    document = json.loads(
        command("connect", "client", "map", "--repo", misread, "--format", "json").out
    )

    assert done.code == 1
    assert (
        "✗ consumes shop/orders/placed with v1: connects, but misreads messages, now and after the "
        "plan: pulsar-client for Python may read wrong values from messages of v0 at 'at'"
    ) in " ".join(done.out.split())
    assert not document["accepted"]
    assert [one["now"]["answer"] for one in document["connections"]] == ["misreads"]
