"""Changes that every comparison of definitions lets through, and that real messages refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import fastavro
import pytest

from gitops.repository.template import copy_template
from tests.scenarios.repository_edits import Schemas
from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

ORDERS: Final = "namespaces/shop/orders"
_STATE: Final = {"type": "enum", "name": "State", "symbols": ["NEW", "PAID", "LOST"]}
_SHIPPED: Final[dict[str, Any]] = {
    "type": "record",
    "name": "OrderShipped",
    "namespace": "shop.orders",
    "fields": [{"name": "orderId", "type": "string"}, {"name": "state", "type": _STATE}],
}


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def schemas(tmp_path: Path) -> Schemas:
    """The template with a topic more: AVRO, with an enum without a default, and a container."""
    found = Schemas(GitRepository(tmp_path / "repo"))
    copy_template(found.root)
    found.write(
        f"{ORDERS}/order-shipped.yaml",
        "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
        "schema: {type: AVRO, definition: order-shipped.avsc}\n"
        "samples: [{format: avro, path: ../../../samples/shipped.avro, sensitive: [orderId]}]\n",
    )
    found.write(f"{ORDERS}/order-shipped.avsc", json.dumps(_SHIPPED, indent=2))
    states = ["NEW", "PAID", "PAID", "LOST"] * 25
    messages = [{"orderId": f"secret-{n}", "state": state} for n, state in enumerate(states)]
    with (found.root / "samples/shipped.avro").open("wb") as file:
        fastavro.writer(file, fastavro.parse_schema(_SHIPPED), messages)
    found.repo.commit(message="the schemas")
    found.repo.git("switch", "--quiet", "--create", "pr")
    return found


def _change(schemas: Schemas, *symbols: str) -> None:
    state = {**_STATE, "symbols": list(symbols)}
    fields = [_SHIPPED["fields"][0], {"name": "state", "type": state}]
    schemas.write(f"{ORDERS}/order-shipped.avsc", json.dumps({**_SHIPPED, "fields": fields}))
    schemas.repo.commit(message="fewer states")


def _check(schemas: Schemas, command: CommandLine, *more: str) -> tuple[int, dict[str, Any]]:
    args = ("check", "--base", "main", "--repo", schemas.root, "--format", "json")
    said = command(*args, *more)
    content: dict[str, Any] = json.loads(said.out)
    return said.code, content


REPLAY: Final = ("--replay", "--engine", "local")


@pytest.mark.parametrize("applied", [False, True])
def test_a_symbol_that_messages_have(
    schemas: Schemas, command: CommandLine, *, applied: bool
) -> None:
    if applied:
        assert command("apply", "--repo", schemas.root, "--auto-approve").code == 0
    _change(schemas, "NEW", "PAID")
    code, document = _check(schemas, command)
    (registry,) = document["registries"]
    assert code == 1
    (notice,) = registry["plan"]["notices"]
    assert (notice["notice"], notice["pulsarAccepts"]) == ("Refused", True)
    errors = [one for one in registry["plan"]["findings"] if one["severity"] == "error"]
    assert [one["rule"] for one in errors] == ["AVRO-W001"]
    code, document = _check(schemas, command, *REPLAY)
    assert code == 1
    (found,) = [one for one in document["findings"] if one["rule"].startswith("REPLAY")]
    assert (found["rule"], found["subject"]) == ("REPLAY-R001", "shop/orders/order-shipped")
    assert found["message"].startswith(
        "25 of 100 sample messages cannot be read by the proposed schema"
    )
    (topic,) = document["registries"][0]["replay"]["topics"]
    backward, *_ = topic["readers"]
    (failure,) = backward["failures"]
    assert (failure["path"], failure["rows"]) == ("state", 25)
    assert [one["where"] for one in failure["examples"]][:2] == [
        "samples/shipped.avro#4",
        "samples/shipped.avro#8",
    ]
    assert "secret" not in json.dumps(document)


def test_a_symbol_that_no_message_has(schemas: Schemas, command: CommandLine) -> None:
    _change(schemas, "NEW", "PAID", "LOST", "FOUND")
    code, document = _check(schemas, command, *REPLAY)
    assert code == 0
    assert document["registries"][0]["replay"]["rows"] == 100


def test_the_comment_shows_the_failing_messages(schemas: Schemas, command: CommandLine) -> None:
    _change(schemas, "NEW", "PAID")
    args = ("check", "--base", "main", "--repo", schemas.root, "--format", "markdown")
    text = command(*args, *REPLAY).out
    headline, _, text = text.partition("\n")
    assert headline.startswith("### ✗ Do not merge: the schema change is held back")
    assert "although Pulsar would accept it" in headline
    assert "25&nbsp;of 100 messages fail |" in text
    assert "`samples/shipped.avro#4`" in text


_EVENT: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "due", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


@pytest.fixture
def events(schemas: Schemas) -> Schemas:
    """A topic more, whose next schema gives its values other logical types."""
    schemas.write(
        f"{ORDERS}/event.yaml",
        "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
        "schema: {type: AVRO, definition: event.avsc}\n"
        "samples: [{format: avro, path: ../../../samples/events.avro, sensitive: [due]}]\n",
    )
    schemas.write(f"{ORDERS}/event.avsc", json.dumps(_EVENT))
    moment = 1_777_629_600_000
    ids = ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "not-a-uuid"]
    messages = [{"id": each, "at": moment, "due": moment} for each in ids]
    with (schemas.root / "samples/events.avro").open("wb") as file:
        fastavro.writer(file, fastavro.parse_schema(_EVENT), messages)
    schemas.repo.commit(message="events")
    schemas.repo.git("branch", "--force", "main")
    micros = {"type": "long", "logicalType": "timestamp-micros"}
    fields = [
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "at", "type": micros},
        {"name": "due", "type": micros},
    ]
    schemas.write(f"{ORDERS}/event.avsc", json.dumps({**_EVENT, "fields": fields}))
    schemas.repo.commit(message="logical types")
    return schemas


def _replay_of_events(
    events: Schemas, command: CommandLine, *more: str
) -> tuple[int, dict[str, Any], list[dict[str, Any]]]:
    """The exit code, the backward reader, and the findings."""
    args = ("replay", "shop/orders/event", "--base", "main", "--repo", events.root)
    said = command(*args, "--engine", "local", "--format", "json", *more)
    document = json.loads(said.out)
    (topic,) = document["topics"]
    return said.code, topic["readers"][0], document["findings"]


def test_values_that_a_class_of_java_refuses_and_moments_that_become_others(
    events: Schemas, command: CommandLine
) -> None:
    code, reader, findings = _replay_of_events(events, command, "--show-values")
    assert (code, reader["logicalTypes"], reader["failed"]) == (1, "java", 1)
    (failure,) = reader["failures"]
    assert (failure["path"], failure["reason"]) == ("id", "the text is not a UUID")
    assert [one["rule"] for one in findings] == ["REPLAY-R001", "REPLAY-R007"]
    fields = {one["path"]: one for one in reader["fields"]}
    assert fields["at"]["changed"] == 1
    assert fields["at"]["example"] == {
        "where": "samples/events.avro#1",
        "reason": "timestamp-millis is read as timestamp-micros",
        "before": "2026-05-01T10:00:00Z",
        "after": "1970-01-21T13:47:09.6Z",
    }
    hidden = fields["due"]["example"]
    assert (hidden["before"], hidden["after"]) == (None, None), "it is sensitive"


def test_values_are_shown_only_where_that_is_asked_for(
    events: Schemas, command: CommandLine
) -> None:
    _, reader, _ = _replay_of_events(events, command)
    assert "2026-05-01" not in json.dumps(reader)
    assert "timestamp-millis is read as timestamp-micros" in json.dumps(reader)


def test_readers_of_generic_records_take_them(events: Schemas, command: CommandLine) -> None:
    path = f"{ORDERS}/event.yaml"
    text = (events.root / path).read_text("utf-8")
    events.write(path, text.replace("sensitive:", "logicalTypes: none, sensitive:"))
    code, reader, findings = _replay_of_events(events, command)
    assert (code, reader["logicalTypes"], reader["failed"], findings) == (0, "none", 0, [])
    assert [one["changed"] for one in reader["fields"]] == [0, 0, 0]
