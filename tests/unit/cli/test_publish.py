"""`publish` on the command line, without a broker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from gitops.cli.commands.publish import publish_command
from gitops.messaging.capture_client import Position
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from tests.support.command_line import CommandLine
from tests.support.fake_messages import FakeMessage
from tests.support.message_schemas import record
from tests.support.project_files import ROOT
from tests.support.written_captures import cut_short, write_capture

OLD, NEW = (SchemaInfo(type=SchemaType.AVRO, schema=record(*names)) for names in ((), ("note",)))
NUMBER = SchemaInfo(type=SchemaType.INT32)


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """Messages of three versions and one without; the second follows the first, the third not."""
    messages = [
        FakeMessage(at=Position(1, number, -1), payload=b"v", version=version)
        for number, version in enumerate((4, 2, -1, 7, 2))
    ]
    out = tmp_path / "captures"
    write_capture(
        out, TopicName.parse("shop/orders/created"), messages, {2: OLD, 4: NEW, 7: NUMBER}
    )
    return out


def dry(command: CommandLine, captures: Path, applied: Path, to: str) -> tuple[int, str]:
    ran = command("publish", captures, "--to", to, "--dry-run", "--repo", applied)
    return ran.code, ran.out


@pytest.mark.slow
def test_a_dry_run_registers_oldest_first_and_writes_nothing(
    command: CommandLine, captures: Path, applied: Path
) -> None:
    policies = ("isAllowAutoUpdateSchema=true", "schemaValidationEnforced=false")
    command("policies", "set", "shop/orders", *policies, "--repo", applied)
    for _ in range(2):
        code, out = dry(command, captures, applied, "shop/orders/new")
        assert code == 1
        assert out.splitlines()[1:3] == [
            "  ✓ v2 AVRO, 2 messages: created as v0 of the topic",
            "  ✓ v4 AVRO, 1 message: created as v1 of the topic",
        ]
        assert out.splitlines()[3].startswith("  ✗ v7 INT32, 1 message: refused: ")
        assert out.splitlines()[4:] == [
            "  ✓ no schema, 1 message: accepted",
            "✗ 1 schema refused",
        ]
    assert not list(captures.glob("**/*.publish-*"))


@pytest.mark.slow
def test_a_dry_run_in_json_says_the_same(
    command: CommandLine, captures: Path, applied: Path
) -> None:
    policies = ("isAllowAutoUpdateSchema=true", "schemaValidationEnforced=false")
    command("policies", "set", "shop/orders", *policies, "--repo", applied)
    ran = command(
        "publish", captures, "--to", "shop/orders/new", "--dry-run", "--repo", applied,
        "--format", "json",
    )  # fmt: skip
    assert ran.code == 1
    found = json.loads(ran.out)
    schema = json.loads((ROOT / "docs/reference/json/forecast.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(found)
    assert [bool(each["reason"]) for each in found["schemas"]] == [False, False, True, False]
    assert (found["topic"], found["accepted"]) == ("shop/orders/new", False)
    assert found["unencrypted"] == 0
    assert [tuple(each.values())[:6] for each in found["schemas"]] == [
        (2, "AVRO", 2, True, 0, True),
        (4, "AVRO", 1, True, 1, True),
        (7, "INT32", 1, False, None, False),
        (None, None, 1, True, None, False),
    ]


@pytest.mark.slow
def test_a_part_of_a_capture_is_called_so(
    command: CommandLine, captures: Path, applied: Path
) -> None:
    assert "the capture was ended" not in dry(command, captures, applied, "shop/orders/new")[1]
    cut_short(captures)
    _, out = dry(command, captures, applied, "shop/orders/new")
    assert "⚠ the capture was ended before its end: its command with --resume goes on" in out


@pytest.mark.slow
def test_nothing_is_created_where_clients_may_not(
    command: CommandLine, captures: Path, applied: Path
) -> None:
    code, out = dry(command, captures, applied, "shop/orders/new")
    assert code == 1
    assert out.count("schema auto updating is disabled") == 3


@pytest.mark.slow
def test_a_namespace_that_is_not_there_is_named(
    command: CommandLine, captures: Path, applied: Path
) -> None:
    ran = command("publish", captures, "--to", "a/b/c", "--dry-run", "--repo", applied)
    assert ran.code == 2
    assert "there is no namespace 'a/b'" in ran.err


@pytest.mark.slow
def test_a_registry_without_messages_is_named(
    command: CommandLine, captures: Path, applied: Path
) -> None:
    ran = command("publish", captures, "--to", "shop/orders/new", "--repo", applied)
    assert ran.code == 2
    assert "the registry 'local' has no messages" in ran.err


@pytest.mark.slow
def test_a_damaged_capture_is_an_error_of_a_dry_run_too(
    command: CommandLine, captures: Path, applied: Path
) -> None:
    (part,) = captures.glob("**/*.parquet")
    part.write_bytes(part.read_bytes()[:100])
    ran = command("publish", captures, "--to", "shop/orders/new", "--dry-run", "--repo", applied)
    assert ran.code == 2
    assert "is damaged" in ran.err


def test_the_command_that_goes_on_has_all_options() -> None:
    found = publish_command(
        Path("a b"), "t/n/t", rate=5, service_url="pulsar://b:1", url=None,
        repo=Path("r"), registry=["x", "y"],
    )  # fmt: skip
    assert found == (
        "pulsar-gitops publish 'a b' --to t/n/t --rate 5 --service-url pulsar://b:1 --repo r "
        "--registry x --registry y --resume"
    )
