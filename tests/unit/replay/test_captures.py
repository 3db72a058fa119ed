"""Replays of captures, without a word about them in a manifest."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("pyarrow", reason="the extra 'replay' is not installed")

from gitops.messaging.capture_client import Position
from gitops.messaging.capture_files import MANIFEST, PartFormat
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from tests.support.command_line import Outcome, captured
from tests.support.fake_messages import FakeMessage
from tests.support.written_captures import change_payloads, write_capture

TOPIC: Final = TopicName.parse("shop/orders/created")
CONFIG: Final = """\
apiVersion: pulsar-gitops/v1
kind: Config
registries:
  local: {kind: embedded, path: local.db}
defaultRegistry: local
"""
V0: Final = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}
V1: Final = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": "int"}],
}


def avro(definition: dict[str, Any]) -> SchemaInfo:
    return SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(definition))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Its topic is in no registry, and has no samples."""
    root = tmp_path / "repo"
    folder = root / "namespaces/shop/orders"
    folder.mkdir(parents=True)
    (root / "gitops.yaml").write_text(CONFIG)
    (folder / "namespace.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
        "schemaCompatibilityStrategy: FULL\n"
    )
    (folder / "created.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
        "schema: {type: AVRO, definition: created.avsc}\n"
    )
    (folder / "created.avsc").write_text(json.dumps(V1))
    return root


def replay(repo: Path, captures: Path, *more: object) -> Outcome:
    return captured("replay", "--repo", repo, "--capture", captures, "--engine", "local", *more)


def messages(version: int, *payloads: bytes, ledger: int = 1) -> list[FakeMessage]:
    return [
        FakeMessage(at=Position(ledger, number, -1), payload=payload, version=version)
        for number, payload in enumerate(payloads)
    ]


def test_the_schemas_beside_the_messages_read_what_no_registry_knows(
    repo: Path, tmp_path: Path
) -> None:
    found = messages(0, b"\x02a", b"\x02b") + messages(1, b"\x02c\x02", ledger=2)
    write_capture(tmp_path / "cap", TOPIC, found, {0: avro(V0), 1: avro(V1)})
    ran = replay(repo, tmp_path / "cap", "--format", "json")
    report = json.loads(ran.out)
    assert report["rows"] == 3
    (topic,) = report["topics"]
    read = {
        (one["reader"], one["direction"], one["version"]): (one["rows"], one["failed"])
        for one in topic["readers"]
    }
    assert read == {
        ("proposed", "backward", 0): (2, 2),  # which lacks a field that v1 demands
        ("proposed", "backward", 1): (1, 0),
        ("v0", "forward", 1): (1, 0),
    }
    assert ran.code == 1, ran.err


def test_a_part_that_no_manifest_names_or_hidden_files_do_no_harm(
    repo: Path, tmp_path: Path
) -> None:
    folder = write_capture(tmp_path / "cap", TOPIC, messages(1, b"\x02c\x02"), {1: avro(V1)})
    (folder.path / ".part-00000-000001.parquet.new").write_bytes(b"half")
    ran = replay(repo, tmp_path / "cap", "--format", "json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"] == 1


@pytest.mark.parametrize("named", [True, False])
def test_a_part_that_was_changed_is_not_read(repo: Path, tmp_path: Path, *, named: bool) -> None:
    """Nor that of a capture that a manifest names as a sample."""
    folder = write_capture(tmp_path / "cap", TOPIC, messages(1, b"\x02c\x02"), {1: avro(V1)})
    (part,) = folder.path.glob("*.parquet")
    change_payloads(part)
    if named:
        manifest = repo / "namespaces/shop/orders/created.yaml"
        text = f"samples: [{{format: capture, path: 'file://{folder.path}'}}]\n"
        manifest.write_text(manifest.read_text() + text)
        ran = captured("replay", "--repo", repo, "--engine", "local")
    else:
        ran = replay(repo, tmp_path / "cap")
    assert ran.code == 1, ran.err
    assert "is damaged: its SHA-256 is not the one in the capture's manifest" in " ".join(
        ran.out.split()
    )


def tombstone(version: int, number: int, key: str = "") -> FakeMessage:
    return FakeMessage(at=Position(9, number, -1), is_null=True, version=version, key=key)


def test_tombstones_are_counted_and_are_no_failures(repo: Path, tmp_path: Path) -> None:
    """Neither one with a version nor one without."""
    found = [*messages(1, b"\x02c\x02"), tombstone(1, 0), tombstone(-1, 1)]
    write_capture(tmp_path / "cap", TOPIC, found, {1: avro(V1)})
    ran = replay(repo, tmp_path / "cap", "--format", "json", "--fail-on", "warning")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert (report["rows"], report["findings"]) == (3, [])
    (topic,) = report["topics"]
    assert [(one["reader"], one["rows"], one["failed"]) for one in topic["readers"]] == [
        ("proposed", 1, 0)
    ]
    told = [(one["version"], one["rows"]) for one in topic["notReplayed"]]
    assert told == [(1, 1), (None, 1)]
    reasons = {each["reason"] for one in topic["notReplayed"] for each in one["failures"]}
    assert reasons == {"the message is a tombstone: its value is null"}


def test_a_capture_of_tombstones_alone_is_a_warning(repo: Path, tmp_path: Path) -> None:
    write_capture(tmp_path / "cap", TOPIC, [tombstone(1, 0), tombstone(1, 1)], {1: avro(V1)})
    ran = replay(repo, tmp_path / "cap", "--format", "json")
    assert ran.code == 0, ran.err
    (finding,) = json.loads(ran.out)["findings"]
    assert (finding["rule"], finding["severity"]) == ("REPLAY-R003", "warning")
    assert "all of the 2 messages of" in finding["message"]


def test_a_tombstone_hides_no_message_that_was_not_read(repo: Path, tmp_path: Path) -> None:
    """A value without a known version is not read, whatever else is there."""
    found = [tombstone(1, 0), *messages(-1, b"\x02c\x02")]
    write_capture(tmp_path / "cap", TOPIC, found, {1: avro(V1)})
    ran = replay(repo, tmp_path / "cap", "--format", "json")
    assert ran.code == 1
    (finding,) = json.loads(ran.out)["findings"]
    assert finding["rule"] == "REPLAY-R012"
    assert "the schema version of the message is unknown" in finding["message"]
    assert "its value is null" not in finding["message"]


@pytest.mark.slow
def test_avro_captures_give_the_same_report(repo: Path, tmp_path: Path) -> None:
    found = [
        *messages(0, b"\x02a", b"\x02b"),
        *messages(1, b"\x02c\x02", b"bad", ledger=2),
        tombstone(1, 0),
    ]
    schemas = {0: avro(V0), 1: avro(V1)}
    reports = []
    for part_format in ("parquet", "avro"):
        out = tmp_path / part_format
        write_capture(out, TOPIC, found, schemas, part_format=part_format)
        ran = replay(repo, out, "--format", "json")
        assert ran.code == 1, ran.err
        reports.append(ran.out.replace(str(out), "OUT"))
    assert json.loads(reports[0]) == json.loads(reports[1])
    assert json.loads(reports[0])["rows"] == 5


@pytest.mark.slow
@pytest.mark.parametrize("part_format", ["parquet", "avro"])
def test_separated_keys_are_read_with_their_schema(
    repo: Path, tmp_path: Path, part_format: PartFormat
) -> None:
    """That of a tombstone, too."""
    pair = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=json.dumps({"key": V0, "value": V1}),
        properties={
            "key.schema.type": "AVRO",
            "value.schema.type": "AVRO",
            "kv.encoding.type": "SEPARATED",
        },
    )
    folder = repo / "namespaces/shop/orders"
    (folder / "created.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema:\n  type: KEY_VALUE\n"
        "  encoding: SEPARATED\n  key: {type: AVRO, definition: key.avsc}\n"
        "  value: {type: AVRO, definition: created.avsc}\n"
    )
    (folder / "key.avsc").write_text(json.dumps(V0))
    key = base64.b64encode(b"\x02k").decode()
    message = FakeMessage(at=Position(1, 0, -1), payload=b"\x02c\x02", version=0, key=key)
    found = [message, tombstone(0, 1, key)]
    write_capture(tmp_path / "cap", TOPIC, found, {0: pair}, part_format=part_format)
    ran = replay(repo, tmp_path / "cap", "--format", "json")
    assert ran.code == 0, f"{ran.err}{ran.out}"
    (topic,) = json.loads(ran.out)["topics"]
    assert [(one["rows"], one["failed"]) for one in topic["readers"]] == [(2, 0)]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: (path / MANIFEST).unlink(), "has no capture in it"),
        (lambda path: (path / MANIFEST).write_text("{}"), "is not the manifest of a capture"),
        (lambda path: (path / "_schemas/1.json").write_text("["), "is not a schema of a capture"),
    ],
    ids=["no manifest", "another manifest", "a broken schema"],
)
def test_what_is_no_capture_is_refused(repo: Path, tmp_path: Path, spoil: Any, said: str) -> None:  # noqa: ANN401
    folder = write_capture(tmp_path / "cap", TOPIC, messages(1, b"\x02c\x02"), {1: avro(V1)})
    spoil(folder.path)
    ran = replay(repo, tmp_path / "cap")
    assert ran.code == 2
    assert said in ran.err


def test_a_capture_of_topics_that_nobody_declares_is_refused(repo: Path, tmp_path: Path) -> None:
    other = TopicName.parse("shop/orders/other")
    write_capture(tmp_path / "cap", other, messages(1, b"\x02c\x02"), {1: avro(V1)})
    ran = replay(repo, tmp_path / "cap")
    assert ran.code == 2
    assert "no manifest declares a topic of the capture: shop/orders/other" in ran.err


def test_captures_of_two_registries_are_refused(repo: Path, tmp_path: Path) -> None:
    for number, schema in enumerate((V0, V1)):
        out = tmp_path / "cap" / str(number)
        write_capture(out, TOPIC, messages(0, b"\x02c"), {0: avro(schema)})
    ran = replay(repo, tmp_path / "cap")
    assert ran.code == 2
    assert "they are of two registries" in ran.err
