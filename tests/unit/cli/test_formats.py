"""Formats for a pull request, from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gitops.cli.answer import folder_in_git
from gitops.cli.app import load_command
from gitops.reports import formats, results
from tests.support.command_line import CommandLine
from tests.support.runner import commands

pytestmark = pytest.mark.slow


_REGISTRIES = """
registries:
  local: {kind: embedded, path: .gitops/registry.db}
  dead: {kind: pulsar, url: "http://127.0.0.1:1"}
"""


@pytest.fixture(autouse=True)
def _outside_of_a_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The files of a step: its outputs and its summary."""
    found = (tmp_path / "output", tmp_path / "summary.md")
    for name, path in zip(("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"), found, strict=True):
        path.touch()
        monkeypatch.setenv(name, str(path))
    return found


@pytest.fixture
def wrong(applied: Path) -> Path:
    """The template with a mistake in a manifest and a change that Pulsar refuses."""
    manifest = applied / "namespaces/shop/orders/namespace.yaml"
    manifest.write_text(manifest.read_text().replace("BACKWARD", "BACKWARDS"))
    return applied


@pytest.fixture
def refused(applied: Path) -> Path:
    """The template with a field that nobody can read without a default."""
    definition = applied / "namespaces/shop/payments/captured.avsc"
    schema = json.loads(definition.read_text())
    schema["fields"].append({"name": "risk", "type": "string"})
    definition.write_text(json.dumps(schema, indent=2))
    return applied


@pytest.mark.parametrize("form", ["markdown", "github", "sarif"])
@pytest.mark.parametrize("name", ["validate", "plan"])
def test_findings_in_files_are_told_in_every_format(
    form: str, name: str, wrong: Path, command: CommandLine
) -> None:
    done = command(name, "--repo", wrong, "--format", form)

    assert (done.code, done.err) == (1, "")
    assert "REPO-R01" in done.out
    assert "BACKWARDS" in done.out


@pytest.mark.parametrize("form", ["markdown", "github", "sarif"])
def test_a_plan_is_told_in_every_format(form: str, refused: Path, command: CommandLine) -> None:
    done = command("plan", "--repo", refused, "--format", form)

    assert (done.code, done.err) == (1, "")
    assert "AVRO-R002" in done.out
    assert "shop/payments/captured" in done.out


@pytest.fixture
def transitive(applied: Path, command: CommandLine) -> Path:
    """A field that no version of three has, and that a transitive strategy asks of all of them."""
    folder = applied / "namespaces/shop/payments"
    namespace, definition = folder / "namespace.yaml", folder / "captured.avsc"
    namespace.write_text(namespace.read_text().replace("FULL", "FULL_TRANSITIVE"))
    schema = json.loads(definition.read_text())
    for name, default in (("one", {"default": ""}), ("two", {"default": ""}), ("risk", {})):
        schema["fields"].append({"name": name, "type": "string", **default})
        definition.write_text(json.dumps(schema, indent=2))
        if default:
            assert command("apply", "--repo", applied, "--auto-approve").code == 0
    return applied


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github", "sarif"])
def test_one_cause_in_several_versions_is_told_once(
    form: str, transitive: Path, command: CommandLine
) -> None:
    done = command("plan", "--repo", transitive, "--format", form)
    text = " ".join(done.out.split()).replace("`", "'")
    below = "messages of {} at 'risk': reader field 'risk' (string) has no default, and the"

    assert (done.code, done.err) == (1, "")
    assert text.count(below.format("v2, v1, v0")) == 1
    alone = [text.count(below.format(f"v{number}")) for number in range(3)]
    assert alone == ([1, 1, 1] if form == "json" else [0, 0, 0])


def test_several_plans_are_one_document(refused: Path, command: CommandLine) -> None:
    settings = "apiVersion: pulsar-gitops/v1\nkind: Config\ndefaultRegistry: local"
    (refused / "gitops.yaml").write_text(settings + _REGISTRIES)
    args = ["--registry", "local", "--registry", "dead"]

    shown = command("plan", "--repo", refused, *args, "--format", "markdown")

    assert shown.code == 4
    assert shown.out.startswith("### ✗ The schema change would be refused by Pulsar: a field")
    assert "#### No answer\n\n- dead: no answer from the registry" in shown.out
    asked = f"--repo {refused} --registry local --registry dead"
    assert f"reproduce: `pulsar-gitops plan {asked}`" in shown.out


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("markdown", "### ✗ Pulsar would refuse it under FULL\n"),
        ("github", "::error file="),
        ("sarif", '"ruleId": "AVRO-R002"'),
    ],
)
def test_one_decision_is_told_in_every_format(
    form: str, said: str, command: CommandLine, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.avsc", tmp_path / "new.avsc"
    fields = [{"name": "id", "type": "string"}, {"name": "risk", "type": "string"}]
    for path, its in ((old, fields[:1]), (new, fields)):
        path.write_text(json.dumps({"type": "record", "name": "R", "fields": its}))

    done = command("compat", old, new, "--format", form)

    assert (done.code, done.err) == (1, "")
    assert said in done.out


def test_a_decision_that_is_good_says_so(command: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "a.avsc"
    path.write_text('{"type": "record", "name": "Order", "fields": []}')
    one = command("compat", "--first", path, "--format", "markdown")
    two = command("compat", path, path, "--format", "markdown")

    assert one.code == 0
    assert one.out == (
        "### ✓ Pulsar would accept it as the first schema of a topic: nothing was compared\n\n"
    )
    assert (two.code, two.out) == (0, "### ✓ Pulsar treats it as v0, which it equals\n\n")


@pytest.mark.parametrize(
    "args",
    [
        ["apply", "--auto-approve"],
        ["snapshot"],
        ["fmt"],
        ["import"],
        ["schemas", "versions", "shop/orders/a"],
        ["policies", "get", "shop/orders"],
    ],
    ids=lambda args: args[0],
)
def test_a_command_says_which_formats_it_has(
    args: list[str], repo: Path, command: CommandLine
) -> None:
    done = command(*args, "--repo", repo, "--format", "sarif")

    assert done.code == 2
    assert "'sarif' is not one of 'text', 'json'" in done.err


def test_a_step_gets_outputs_and_a_summary(
    step: tuple[Path, Path], refused: Path, command: CommandLine
) -> None:
    output, summary = step
    summary.write_text("before\n")
    done = command("plan", "--repo", refused, "--format", "github")
    lines = output.read_text().split("\n")
    delimiter = lines[0].removeprefix("verdict<<")

    assert lines[:3] == [f"verdict<<{delimiter}", "refused", delimiter]
    assert len(delimiter) > 32
    assert f"errors<<{delimiter}\n1\n" in output.read_text()
    assert summary.read_text().startswith("before\n### ✗ The schema change would")
    assert [each.name for each in commands(done.out)] == ["error"]


def test_other_formats_leave_the_step_alone(
    step: tuple[Path, Path], refused: Path, command: CommandLine
) -> None:
    for form in ("text", "json", "markdown", "sarif"):
        command("plan", "--repo", refused, "--format", form)

    assert [path.read_text() for path in step] == ["", ""]


def test_a_full_summary_gets_no_more(
    step: tuple[Path, Path], refused: Path, command: CommandLine
) -> None:
    _output, summary = step
    full = "x" * (1024 * 1024 - 2048)
    summary.write_text(full)
    done = command("plan", "--repo", refused, "--format", "github")

    assert summary.read_text() == full
    assert done.err == "the summary of this step is full: nothing was added\n"


def test_a_file_of_the_step_that_cannot_be_written_is_named(
    repo: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(repo / "no" / "such"))
    done = command("validate", "--repo", repo, "--format", "github")

    assert done.code == 2
    assert "cannot write $GITHUB_OUTPUT" in done.err


def test_paths_count_from_the_git_root(wrong: Path, command: CommandLine) -> None:
    (wrong.parent / ".git").mkdir()
    done = command("validate", "--repo", wrong, "--format", "github")
    log = json.loads(command("validate", "--repo", wrong, "--format", "sarif").out)
    (run,) = log["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]

    file = "repo/namespaces/shop/orders/namespace.yaml"
    assert commands(done.out)[0].properties["file"] == file
    assert place["artifactLocation"]["uri"] == file


def test_the_top_of_a_git_repository_has_no_prefix(tmp_path: Path) -> None:
    assert not folder_in_git(tmp_path / "nowhere")
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert not folder_in_git(tmp_path)
    assert folder_in_git(tmp_path / "a" / "b") == "a/b/"


def test_a_file_can_be_written_in_every_format(repo: Path, command: CommandLine) -> None:
    done = command("plan", "--repo", repo, "--format", "markdown", "--output", repo / "plan.md")

    assert (done.code, done.out) == (0, "")
    assert (repo / "plan.md").read_text().startswith("### ✓ Pulsar would accept all 5 schema")


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github", "sarif"])
def test_no_format_lets_a_file_command_the_runner(
    form: str, repo: Path, command: CommandLine
) -> None:
    manifest = repo / "namespaces/shop/orders/namespace.yaml"
    evil = "##[set-output name=verdict;]good " + "x" * 90 + " ::set-output name=verdict::good"
    manifest.write_text(f'{manifest.read_text()}"{evil}": "{evil}"\n')
    done = command("validate", "--repo", repo, "--format", form)
    told = [each.name for each in commands(done.out)]

    assert done.code == 1
    assert set(told) <= {"error"}
    assert told or form != "github"


@pytest.fixture
def new_format(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A format `count`, as a module and a row would add it."""
    module = ModuleType("made_up_count")
    vars(module)["count_text"] = lambda result: f"{len(result.findings)} findings\n"
    monkeypatch.setitem(sys.modules, "made_up_count", module)
    row = {results.FindingsResult: "made_up_count:count_text"}
    monkeypatch.setattr(formats, "FORMATS", {**formats.FORMATS, "count": row})
    monkeypatch.delitem(sys.modules, "gitops.cli.commands.validate", raising=False)
    load_command.cache_clear()
    yield
    load_command.cache_clear()


@pytest.mark.usefixtures("new_format")
def test_a_new_format_is_a_module_and_a_row(repo: Path, command: CommandLine) -> None:
    done = command("validate", "--repo", repo, "--format", "count")
    assert (done.code, done.out) == (0, "0 findings\n")
    listed = command("validate", "--help").out
    names = ", ".join(formats.available_formats(results.FindingsResult)[:-1])
    assert f"How to print it: {names} or count." in " ".join(listed.split())
    other = command("plan", "--repo", repo, "--format", "count")
    last = formats.available_formats(results.PlanResult)[-1]
    assert (other.code, f"'{last}'." in other.err) == (2, True)
