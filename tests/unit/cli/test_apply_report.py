"""What an apply prints while it runs and when it stops, wherever that goes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from gitops.model.config import RegistryConfig
from gitops.model.errors import OutsideError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.command_line import PROGRAM, CommandLine

pytestmark = pytest.mark.slow


def _opened(kind: type[EmbeddedRegistry], monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(name: str, _config: RegistryConfig, root: Path) -> EmbeddedRegistry:
        return kind(name, root / ".gitops/registry.db", address=".gitops/registry.db")

    monkeypatch.setattr("gitops.registries.factory.open_registry", opened)


class _Failing(EmbeddedRegistry):
    """Fails at the third schema."""

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        if topic.local_name == "order-created":
            raise OutsideError("the broker went away", where="there")
        return super().register_schema(topic, info)


def _timeless(text: str) -> list[str]:
    return re.sub(r"\d+\.\d s", "0.0 s", text).splitlines()


_DONE = [
    "✓ shop/orders                     created",
    "✓ shop/orders                     schemaCompatibilityStrategy   – → BACKWARD",
    "✓ shop/orders                     isAllowAutoUpdateSchema       – → false",
    "✓ shop/orders                     schemaValidationEnforced      – → true",
    "✓ shop/payments                   created",
    "✓ shop/payments                   schemaCompatibilityStrategy   – → FULL",
    "✓ shop/payments                   isAllowAutoUpdateSchema       – → false",
    "✓ shop/payments                   schemaValidationEnforced      – → true",
    "✓ shop/orders/order-by-customer   → v0",
    "✓ shop/orders/order-cancelled     → v0",
]
_REST = [
    "✓ shop/orders/order-created       → v0",
    "✓ shop/orders/order-status        → v0",
    "✓ shop/payments/captured          → v0",
]
_APPLIED = "applied 13 actions to local   0.0 s"


@pytest.fixture
def plan_file(repo: Path, tmp_path: Path, command: CommandLine) -> Path:
    file = tmp_path / "plan.json"
    assert command("plan", "--repo", repo, "--out", file).code == 0
    return file


def test_a_reviewed_plan_is_not_shown_again(
    repo: Path, plan_file: Path, command: CommandLine
) -> None:
    done = command("apply", "--repo", repo, plan_file)

    head = "local · .gitops/registry.db · 13 actions"
    assert (done.code, done.err) == (0, "")
    assert _timeless(done.out) == [head, "", *_DONE, *_REST, "", _APPLIED]


def test_a_plan_that_nobody_has_reviewed_is_shown_once(repo: Path, command: CommandLine) -> None:
    planned = _timeless(command("plan", "--repo", repo).out)

    done = command("apply", "--repo", repo, "--auto-approve")

    assert (done.code, done.err) == (0, "")
    assert _timeless(done.out) == [*planned, "", *_DONE, *_REST, "", _APPLIED]


def test_a_failure_is_told_with_its_reason_and_what_is_left(
    repo: Path, plan_file: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _opened(_Failing, monkeypatch)
    failed = command("apply", "--repo", repo, plan_file)
    monkeypatch.undo()

    assert failed.code == 6
    assert _timeless(failed.out)[2:] == [
        *_DONE,
        "✗ shop/orders/order-created       → v0: the broker went away",
        "",
        "13 actions: 10 done, 1 failed, 2 not tried   0.0 s",
    ]
    assert failed.err.splitlines() == [
        "error: 10 of 13 actions are done, then: the broker went away",
        "  in there",
        "  run the same command again: it goes on where it stopped",
    ]
    again = command("apply", "--repo", repo, plan_file)
    assert again.code == 0
    assert _timeless(again.out) == [
        "local · .gitops/registry.db · 3 of 13 actions left",
        "",
        "✓ shop/orders/order-created   → v0",
        "✓ shop/orders/order-status    → v0",
        "✓ shop/payments/captured      → v0",
        "",
        "applied 3 actions to local   0.0 s",
    ]


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_output_gets_everything_and_stderr_the_count(
    form: str, repo: Path, plan_file: Path, tmp_path: Path, command: CommandLine
) -> None:
    output = tmp_path / "applied"
    done = command("apply", "--repo", repo, plan_file, "--format", form, "--output", output)

    assert (done.code, done.out, done.err) == (0, "", "applied 13 actions to local\n")
    text = output.read_text("utf-8")
    if form == "json":
        assert {one["outcome"] for one in json.loads(text)["results"]} == {"done"}
    else:
        assert _timeless(text)[2:] == [*_DONE, *_REST, "", _APPLIED]


@pytest.mark.parametrize("form", ["text", "json"])
def test_where_the_output_cannot_be_written_any_more_it_goes_to_stdout(
    form: str,
    plan_file: Path,
    tmp_path: Path,
    command: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repo, folder = tmp_path / "repo", tmp_path / "folder"
    folder.mkdir()

    class Removing(_Failing):
        """Somebody removes the folder meanwhile."""

        def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
            if folder.exists():
                folder.rmdir()
            return super().register_schema(topic, info)

    _opened(Removing, monkeypatch)
    output = folder / "applied"
    done = command("apply", "--repo", repo, plan_file, "--format", form, "--output", output)

    assert done.code == 6, "that some actions are done is what counts"
    assert f"error: cannot write {output}: " in done.err
    assert "error: 10 of 13 actions are done, then: the broker went away" in done.err
    assert ("notAttempted" if form == "json" else "2 not tried") in done.out


def _printed_to(stdout: int, *args: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [PROGRAM, "apply", *args], stdout=stdout, stderr=subprocess.PIPE, check=False
    )


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_has_seen_enough_stops_no_apply(
    form: str, repo: Path, command: CommandLine
) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = _printed_to(write_end, "--repo", repo, "--auto-approve", "--format", form)
    finally:
        os.close(write_end)

    assert done.returncode == 0
    assert b"error" not in done.stderr
    assert "5 unchanged" in command("plan", "--repo", repo).out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk_stops_no_apply_and_is_told(
    form: str, repo: Path, command: CommandLine
) -> None:
    with Path("/dev/full").open("w") as full:
        done = _printed_to(full.fileno(), "--repo", repo, "--auto-approve", "--format", form)

    said = b"error: cannot write the answer: No space left on device\n"
    assert done.returncode == 4
    assert done.stderr == said + b"  applied 13 actions to local\n"
    assert "5 unchanged" in command("plan", "--repo", repo).out


def test_a_refused_plan_is_shown_and_not_begun(applied: Path, command: CommandLine) -> None:
    file = applied / "namespaces/shop/payments/captured.avsc"
    definition = json.loads(file.read_text())
    definition["fields"].append({"name": "added", "type": "int"})
    file.write_text(json.dumps(definition))

    done = command("apply", "--repo", applied, "--auto-approve")
    planned = command("plan", "--repo", applied)
    kept = command("apply", "--repo", applied, "--auto-approve", "--output", applied / "o.txt")

    assert done.code == planned.code == kept.code == 1
    assert _timeless(done.out) == _timeless(planned.out)
    cause = "  in the way: shop/payments/captured\n"
    assert done.err == f"nothing was applied, because of the findings above\n{cause}"
    output = applied / "o.txt"
    assert kept.err == f"nothing was applied, because of the findings in {output}\n{cause}"

    other = applied / "namespaces/shop/payments/other.yaml"
    other.write_text("apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: INT64}\n")
    with_rest = command("apply", "--repo", applied, "--auto-approve")
    assert with_rest.err.endswith(
        "  in the way: shop/payments/captured; --keep-going applies the rest\n"
    )
