"""Plans for several registries in one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine

pytestmark = pytest.mark.slow


REGISTRIES = """
registries:
  local: {kind: embedded, path: .gitops/registry.db}
  other: {kind: embedded, path: .gitops/other.db}
  dead: {kind: pulsar, url: "http://127.0.0.1:1"}
  secret: {kind: pulsar, url: "http://127.0.0.1:1", authentication: {token: "${NO_SUCH_TOKEN}"}}
"""


@pytest.fixture
def several(applied: Path) -> Path:
    """The template, applied to `local` and to no other registry."""
    settings = "apiVersion: pulsar-gitops/v1\nkind: Config\ndefaultRegistry: local"
    (applied / "gitops.yaml").write_text(settings + REGISTRIES)
    return applied


def test_one_plan_follows_the_other_in_the_order_asked_for(
    several: Path, command: CommandLine
) -> None:
    alone = {
        name: command("plan", "--repo", several, "--registry", name).out
        for name in ("other", "local")
    }
    done = command("plan", "--repo", several, "--registry", "other", "--registry", "local")
    heads = [text.split("\n")[2] for text in alone.values()]
    lines = done.out.split("\n")
    assert (done.code, done.err) == (0, "")
    assert [line for line in lines if " · .gitops/" in line] == heads
    assert lines.index(heads[0]) < lines.index(heads[1])
    assert "5 to add, 2 namespaces to create" in done.out
    assert "5 unchanged" in lines[-2]


def test_a_registry_named_twice_is_planned_once(several: Path, command: CommandLine) -> None:
    twice = command("plan", "--repo", several, "--registry", "local", "--registry", "local")
    once = command("plan", "--repo", several)
    assert twice.out.split("\n")[:-2] == once.out.split("\n")[:-2]


def test_a_registry_that_cannot_be_reached_hides_no_plan(
    several: Path, command: CommandLine
) -> None:
    args = ["--registry", "dead", "--registry", "secret", "--registry", "other"]
    done = command("plan", "--repo", several, *args)
    assert done.code == 4
    assert done.out.startswith("dead · no plan: no answer from the registry: ")
    assert "\nsecret · no plan: the environment variable NO_SUCH_TOKEN is not set\n" in done.out
    assert "5 to add" in done.out
    assert "error: no plan for dead: no answer from the registry" in done.err
    assert "set NO_SUCH_TOKEN where this command runs" in done.err


@pytest.mark.parametrize(
    ("names", "more", "code"),
    [
        (["local", "other"], [], 0),
        (["local", "other"], ["--detailed-exitcode"], 3),
        (["other", "secret"], ["--detailed-exitcode"], 2),
        (["secret", "dead", "other"], ["--detailed-exitcode"], 4),
    ],
)
def test_the_worst_exit_code_counts(
    names: list[str], more: list[str], code: int, several: Path, command: CommandLine
) -> None:
    args = [text for name in names for text in ("--registry", name)]
    assert command("plan", "--repo", several, *args, *more).code == code


def test_findings_are_worse_than_changes_and_better_than_a_failure(
    several: Path, command: CommandLine
) -> None:
    file = several / "namespaces/shop/payments/captured.avsc"
    definition = json.loads(file.read_text())
    definition["fields"].append({"name": "added", "type": "int"})
    file.write_text(json.dumps(definition))
    both = ["--registry", "other", "--registry", "local"]
    assert command("plan", "--repo", several, *both, "--detailed-exitcode").code == 1
    assert command("plan", "--repo", several, *both, "--registry", "dead").code == 4


def test_json_is_one_document(several: Path, tmp_path: Path, command: CommandLine) -> None:
    args = ["--registry", "other", "--registry", "dead", "--registry", "local"]
    file = tmp_path / "plans.json"
    done = command("plan", "--repo", several, *args, "--format", "json", "--output", file)
    document = json.loads(file.read_text("utf-8"))
    assert (done.code, done.out, document["kind"]) == (4, "", "Plans")
    assert [plan["registry"]["name"] for plan in document["plans"]] == ["other", "local"]
    assert [(one["registry"], one["exitCode"]) for one in document["failures"]] == [("dead", 4)]
    alone = command("plan", "--repo", several, "--registry", "other", "--format", "json")
    assert document["plans"][0] == json.loads(alone.out)


def test_what_several_cannot_do(several: Path, command: CommandLine) -> None:
    both = ["--registry", "local", "--registry", "other"]
    unknown = command("plan", "--repo", several, *both, "--registry", "othr")
    assert (unknown.code, unknown.out) == (2, "")
    assert "did you mean other?" in unknown.err


def test_files_with_errors_are_told_once(several: Path, command: CommandLine) -> None:
    (several / "namespaces/shop/orders/namespace.yaml").write_text("kind: x\n")
    both = ["--registry", "local", "--registry", "dead"]
    done = command("plan", "--repo", several, *both, "--format", "json")
    assert (done.code, json.loads(done.out)["kind"], done.err) == (1, "Findings", "")
