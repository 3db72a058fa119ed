"""`restore` on the command line: what it writes, where, and how it ends."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from gitops.model.errors import OutsideError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.restore import RestoreCheck
from gitops.model.schema import SchemaInfo
from gitops.model.state import Scope
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.usecases import restore as usecase
from tests.support.command_line import CommandLine
from tests.support.interrupts import ctrl_c_as_ever
from tests.support.states import CREATED, INT64, ORDERS, avro, field

_SETTINGS = """apiVersion: pulsar-gitops/v1
kind: Config
defaultRegistry: local
registries:
  local: {kind: embedded, path: local.db}
  other: {kind: embedded, path: other.db}
  dead: {kind: pulsar, url: "http://127.0.0.1:1"}
"""
_MANIFEST = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
_PAYMENTS = NamespaceName("shop", "payments")


@pytest.fixture
def lost(tmp_path: Path, command: CommandLine) -> Path:
    """A repository whose registry was recorded and is gone; two versions are incompatible."""
    (tmp_path / "gitops.yaml").write_text(_SETTINGS)
    for topic in (CREATED, TopicName(_PAYMENTS, "paid")):
        path = tmp_path / "namespaces" / str(topic.namespace) / f"{topic.local_name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(_MANIFEST)
    registry = EmbeddedRegistry("local", tmp_path / "local.db")
    for namespace in (ORDERS, _PAYMENTS):
        registry.create_namespace(namespace)
    registry.delete_schema(CREATED)
    _allow_all(registry)
    for schema in (avro(field("id")), avro(field("number"))):
        registry.register_schema(CREATED, schema)
    registry.register_schema(TopicName(_PAYMENTS, "paid"), INT64)
    full = PolicyChange(key="schemaCompatibilityStrategy", before=None, after=Strategy.FULL)
    registry.set_policies(ORDERS, [full])
    registry.close()
    assert command("snapshot", "--repo", tmp_path).code == 0
    (tmp_path / "local.db").unlink()
    return tmp_path


def _allow_all(registry: EmbeddedRegistry) -> None:
    strategy = Strategy.ALWAYS_COMPATIBLE
    change = PolicyChange(key="schemaCompatibilityStrategy", before=None, after=strategy)
    registry.set_policies(ORDERS, [change])


@pytest.mark.slow
def test_a_lost_registry_is_restored_and_then_there_is_nothing_to_do(
    lost: Path, command: CommandLine
) -> None:
    done = command("restore", "--repo", lost)

    assert (done.code, done.err) == (0, "")
    first, scope, *_ = done.out.splitlines()
    assert first == "✓ restored: local has 3 recorded versions under their numbers"
    assert scope.startswith("local · local.db · snapshot of local · 2 namespaces · 2 topics")
    assert "v1 to v2 after 1 deletion in place of v0" in done.out
    again = command("restore", "--repo", lost)
    assert again.code == 0
    assert again.out.startswith("✓ nothing to restore: local has every recorded version\n")


@pytest.mark.slow
def test_the_journal_has_what_was_done(lost: Path, command: CommandLine) -> None:
    assert command("restore", "--repo", lost).code == 0

    journal = lost / ".gitops/local.restore.journal"
    shown = command("apply", "--status", "--journal", journal, "--repo", lost)
    assert shown.code == 0
    assert "2 namespaces created" in shown.out
    assert "3 versions registered" in shown.out


@pytest.mark.slow
def test_a_dry_run_writes_nothing(lost: Path, command: CommandLine) -> None:
    done = command("restore", "--dry-run", "--repo", lost)

    assert done.code == 0
    assert done.out.startswith("✓ can be restored: 3 versions of 2 topics\n")
    assert not (lost / "local.db").exists()
    assert not (lost / ".gitops").exists()


@pytest.mark.slow
def test_one_namespace_is_restored_into_another_registry(lost: Path, command: CommandLine) -> None:
    done = command("restore", "--into", "other", _PAYMENTS, "--repo", lost)

    assert done.code == 0
    assert done.out.startswith("✓ restored: other has 1 recorded version under its number\n")
    assert not (lost / "local.db").exists()
    assert (lost / "other.db").exists()


@pytest.mark.slow
def test_an_obstacle_is_1_and_nothing_is_written(lost: Path, command: CommandLine) -> None:
    file = lost / f"snapshots/local/{ORDERS}/created.json"
    document = json.loads(file.read_text())
    document["versions"][1]["schema"] = document["versions"][0]["schema"]
    file.write_text(json.dumps(document))

    done = command("restore", "--repo", lost)

    assert done.code == 1
    assert done.out.startswith("✗ refused: local cannot have what was recorded")
    assert "v2 equals v1: the broker would answer v1 and store nothing" in done.out
    assert "messages with v2 would not decode" in done.out
    assert not (lost / "local.db").exists()
    shown = json.loads(command("restore", "--repo", lost, "--format", "json").out)
    assert [one["versions"] for one in shown["obstacles"]] == [[2]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--into", "dead"], 4, "127.0.0.1:1"),
        (["--registry", "other"], 2, "snapshot"),
        (["--into", "nowhere"], 2, "nowhere"),
        (["shop/nothing"], 2, "the snapshot has no namespace shop/nothing"),
        (["shop"], 2, "'shop' is not a namespace"),
    ],
)
def test_what_cannot_be_restored(
    words: list[str], code: int, said: str, lost: Path, command: CommandLine
) -> None:
    done = command("restore", *words, "--repo", lost)

    assert done.code == code
    assert said in done.err


@pytest.mark.slow
def test_markdown_has_a_row_for_each_topic(lost: Path, command: CommandLine) -> None:
    done = command("restore", "--dry-run", "--format", "markdown", "--repo", lost)

    assert done.out.startswith("### ✓ can be restored: 3 versions of 2 topics\n")
    assert "| `shop/payments/paid` | v0 |" in done.out


def _ends(lost: Path) -> list[str]:
    """How the journal says that the restores ended."""
    lines = (lost / ".gitops/local.restore.journal").read_text().splitlines()
    entries = map(json.loads, lines)
    return [one["outcome"] for one in entries if one["entry"] == "end"]


@pytest.mark.slow
def test_ctrl_c_ends_a_restore_after_its_step_and_the_next_one_goes_on(
    lost: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    register = EmbeddedRegistry.register_schema

    def pressed(self: EmbeddedRegistry, topic: TopicName, info: SchemaInfo) -> int:
        version = register(self, topic, info)
        signal.raise_signal(signal.SIGINT)
        return version

    with ctrl_c_as_ever(), monkeypatch.context() as patch:
        patch.setattr(EmbeddedRegistry, "register_schema", pressed)
        done = command("restore", "--repo", lost)

    assert done.code == 130
    assert done.out.startswith("✗ local is restored in part\n")
    assert "the strategy of shop/orders" in done.err
    assert "run the same command again: it goes on where it stopped" in done.err
    assert _ends(lost) == ["stopped"]
    assert _strategies(lost) == [Strategy.FULL, None]
    again = command("restore", "--repo", lost)
    assert (again.code, _ends(lost)) == (0, ["stopped", "applied"])


def _strategies(lost: Path) -> list[object]:
    """What the namespaces of the registry have."""
    registry = EmbeddedRegistry("local", lost / "local.db")
    state = registry.observe(Scope(namespaces=frozenset({ORDERS, _PAYMENTS})))
    registry.close()
    return [
        state.namespaces[name].policies.schema_compatibility_strategy
        for name in (ORDERS, _PAYMENTS)
    ]


@pytest.mark.slow
def test_a_restore_that_cannot_be_read_back_is_applied_and_not_compared(
    lost: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> RestoreCheck:
        raise OutsideError("the wire is cut")

    with monkeypatch.context() as patch:
        patch.setattr(usecase, "check", fail)
        done = command("restore", "--repo", lost)

    assert done.code == 6
    assert done.out.startswith("✗ local is restored, and not compared with the snapshot\n")
    assert "everything was written, and could not be read back: the wire is cut" in done.err
    assert _ends(lost) == ["applied"]
    assert command("restore", "--repo", lost).out.startswith("✓ nothing to restore")


@pytest.mark.slow
def test_an_interrupted_reading_back_reports_what_was_written(
    lost: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_arguments: object) -> RestoreCheck:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(usecase, "check", interrupt)
        done = command("restore", "--repo", lost)

    assert done.code == 130
    assert done.out.startswith("✗ local is restored, and not compared with the snapshot\n")
    assert "everything was written, and was not read back to the end" in done.err
    assert _ends(lost) == ["applied"]
    assert command("restore", "--repo", lost).out.startswith("✓ nothing to restore")
