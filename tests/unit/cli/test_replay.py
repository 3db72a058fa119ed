"""`replay`, and `check --replay`, on the command line: what they say, and how they end."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gitops.cli import check_run, extras
from gitops.cli.commands import replay
from gitops.model.errors import OutsideError
from gitops.ports import Progress, no_progress
from gitops.replay.counts import Key, Tally
from gitops.replay.job import RunRequest, RunResult
from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository
from tests.support.replayed_template import CANCELLED, LOCAL, ORDERS, document, lose_a_symbol
from tests.support.replays import FakeRunner

pytestmark = pytest.mark.slow


def use(runner: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every replay run on this."""
    for module in (replay, check_run):
        monkeypatch.setattr(module, "runner_of", lambda _engine, _master: runner)


class _Broken:
    engine = "spark"

    def run(self, _running: RunRequest, _progress: Progress = no_progress) -> RunResult:
        raise OutsideError("Spark ended: no route to host", hint="look at its log")


class _OnSpark:
    """What a worker would read, read here."""

    engine = "spark"

    def run(self, running: RunRequest, progress: Progress = no_progress) -> RunResult:
        return extras.runner_of(extras.Engine.LOCAL, None).run(running, progress)


def test_the_template_can_be_read(applied: Path, command: CommandLine) -> None:
    said = command("replay", "--repo", applied, *LOCAL)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("✓ 800 messages of 4 topics can be read\n")
    assert "engine local · versions from registry · 4 topics, 800 messages" in said.out


def test_empty_samples_are_no_good_sign(applied: Path, command: CommandLine) -> None:
    (applied / "samples/shop/orders/order-cancelled.jsonl").write_text("", "utf-8")
    said = command("replay", CANCELLED, "--repo", applied, *LOCAL)
    assert said.code == 1
    assert said.out.startswith("✗ Nothing was replayed: no message was read\n")
    words = " ".join(said.out.split())
    assert f"no sample of {CANCELLED} contains a message, so nothing of it was replayed" in words


def test_messages_of_no_known_version_are_no_good_sign(
    clone: GitRepository, command: CommandLine
) -> None:
    manifest = clone.root / f"{ORDERS}/order-cancelled.yaml"
    manifest.write_text(manifest.read_text("utf-8").replace(", version: 0", ""), "utf-8")
    said = command("replay", CANCELLED, "--repo", clone.root, *LOCAL)
    assert said.code == 1
    assert said.out.startswith("✗ Nothing was replayed: 200 messages were skipped\n")
    assert "REPLAY-R012 error" in said.out
    checked = command("check", "--base", "main", "--repo", clone.root, "--replay", *LOCAL)
    assert checked.code == 1
    assert "REPLAY-R012 error" in checked.out
    assert "CHECK-R008 warning" in checked.out


def test_what_the_messages_hold_decides(clone: GitRepository, command: CommandLine) -> None:
    lose_a_symbol(clone.root)
    said = command("replay", CANCELLED, "--repo", clone.root, *LOCAL)
    assert said.code == 1
    assert said.out.startswith("✗ 10 of 200 messages cannot be read\n")
    assert "versions from git" in said.out
    assert "samples/shop/orders/order-cancelled.jsonl#5" in said.out
    assert "o-00" not in said.out


def test_values_are_shown_if_somebody_asks(clone: GitRepository, command: CommandLine) -> None:
    lose_a_symbol(clone.root)
    said = command("replay", CANCELLED, "--repo", clone.root, *LOCAL, "--show-values")
    assert '"orderId"' in said.out or "orderId" in said.out


def test_no_value_is_shown_where_a_sensitive_name_is_misspelt(
    clone: GitRepository, command: CommandLine
) -> None:
    """The value that was meant would be."""
    lose_a_symbol(clone.root)
    manifest = clone.root / f"{ORDERS}/order-cancelled.yaml"
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace("version: 0}", "version: 0, sensitive: [raeson]}"), "utf-8")
    said = command("replay", CANCELLED, "--repo", clone.root, *LOCAL, "--show-values")
    assert "orderId" not in said.out
    assert "OUT_OF_STOCK" not in said.out
    told = command("replay", CANCELLED, "--repo", clone.root, *LOCAL, "--format", "json")
    assert "OUT_OF_STOCK" not in told.out
    (found,) = (one for one in document(told)["findings"] if one["rule"] == "REPLAY-R010")
    assert found["hint"] == "did you mean reason?"
    assert found["location"]["line"] == text[: text.index("version: 0}")].count("\n") + 1
    assert found["location"]["column"] > 80
    validated = command("validate", "--repo", clone.root)
    assert "did you mean reason?" in validated.out
    assert validated.code == 0


def test_the_number_of_examples(clone: GitRepository, command: CommandLine) -> None:
    lose_a_symbol(clone.root)
    args = ("replay", CANCELLED, "--repo", clone.root, *LOCAL, "--format", "json")
    for number in (0, 2):
        failures = document(command(*args, "--max-examples", number))["topics"][0]["readers"][0]
        (failure,) = failures["failures"]
        assert (failure["rows"], len(failure["examples"])) == (10, number)


@pytest.mark.parametrize(("gate", "code"), [("none", 0), ("forward", 0), ("both", 1)])
def test_what_counts_can_be_chosen(
    gate: str, code: int, clone: GitRepository, command: CommandLine
) -> None:
    lose_a_symbol(clone.root)
    said = command("replay", CANCELLED, "--repo", clone.root, *LOCAL, "--gate", gate)
    assert said.code == code
    assert ("does not block the merge" in said.out) is (gate != "both")


def test_only_what_a_change_touches(clone: GitRepository, command: CommandLine) -> None:
    lose_a_symbol(clone.root)
    args = ("replay", "--repo", clone.root, *LOCAL, "--base", "main", "--format", "json")
    said = command(*args)
    assert said.code == 1
    assert [one["topic"] for one in document(said)["topics"]] == [CANCELLED]
    nothing = command(*args, "shop/payments/captured")
    assert (nothing.code, document(nothing)["topics"]) == (0, [])


def test_the_same_again_is_the_same(clone: GitRepository, command: CommandLine) -> None:
    lose_a_symbol(clone.root)
    for output_format in ("json", "markdown"):
        args = ("replay", "--repo", clone.root, *LOCAL, "--format", output_format)
        assert command(*args).out == command(*args).out


@pytest.mark.parametrize(
    ("output_format", "says"),
    [
        ("markdown", "### ✗ 10 of 200 messages cannot be read"),
        ("github", "::error file="),
        ("sarif", '"ruleId": "REPLAY-R001"'),
    ],
)
def test_formats(output_format: str, says: str, clone: GitRepository, command: CommandLine) -> None:
    lose_a_symbol(clone.root)
    args = ("replay", CANCELLED, "--repo", clone.root, *LOCAL, "--format", output_format)
    said = command(*args)
    assert said.code == 1
    assert says in said.out


def test_a_page_beside_the_answer(clone: GitRepository, command: CommandLine) -> None:
    page = clone.root.parent / "replay.html"
    said = command("replay", "--repo", clone.root, *LOCAL, "--html", page)
    assert said.code == 0
    assert "can be read" in said.out
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_page_in_the_repository_is_written_anew(
    clone: GitRepository, command: CommandLine
) -> None:
    page = clone.root / "replay.html"
    arguments = ("replay", "--repo", clone.root, *LOCAL, "--base", "main", "--html", page)
    assert [command(*arguments).code for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("option", ["--html", "--output"])
@pytest.mark.parametrize(
    "path", [f"{ORDERS}/order-cancelled.avsc", "samples/shop/orders/order-cancelled.jsonl"]
)
@pytest.mark.parametrize("base", [(), ("--base", "main")])
def test_nothing_is_written_over_what_is_read(
    option: str, path: str, base: tuple[str, ...], clone: GitRepository, command: CommandLine
) -> None:
    lose_a_symbol(clone.root)
    before = (clone.root / path).read_bytes()
    said = command("replay", "--repo", clone.root, *LOCAL, *base, option, clone.root / path)
    assert said.code == 2
    assert "one of the files that are read" in said.err
    assert (clone.root / path).read_bytes() == before


def test_a_topic_without_samples(repo: Path, command: CommandLine) -> None:
    said = command("replay", "shop/orders/order-status", "--repo", repo, *LOCAL)
    assert said.code == 0
    assert "REPLAY-R005 info" in said.out
    assert said.out.startswith("· Nothing was replayed")


def test_a_topic_that_nobody_declares(repo: Path, command: CommandLine) -> None:
    said = command("replay", "shop/orders/order-canceled", "--repo", repo, *LOCAL)
    assert said.code == 2
    assert f"did you mean {CANCELLED}?" in said.err


def test_a_sample_that_is_not_there(repo: Path, command: CommandLine) -> None:
    (repo / "samples/shop/orders/order-cancelled.jsonl").unlink()
    said = command("replay", CANCELLED, "--repo", repo, *LOCAL)
    assert said.code == 1
    assert said.out.startswith("✗ Nothing was replayed: no message was read")
    assert "REPLAY-R004 error" in said.out


def test_broken_files_are_told_before_anything_is_read(repo: Path, command: CommandLine) -> None:
    (repo / f"{ORDERS}/namespace.yaml").write_text("kind: Namespaces\n", "utf-8")
    said = command("replay", "--repo", repo, *LOCAL)
    assert said.code == 1
    assert "messages" not in said.out


def test_a_broken_definition_holds_back_its_topic_alone(repo: Path, command: CommandLine) -> None:
    place = repo / f"{ORDERS}/order-cancelled.avsc"
    text = place.read_text("utf-8")
    place.write_text(text.replace('"type": "string"', '"type": "strin"', 1), "utf-8")
    said = command("replay", "--repo", repo, *LOCAL, "--format", "json")
    assert said.code == 1
    assert CANCELLED not in [one["topic"] for one in document(said)["topics"]]
    assert any(one["rule"].startswith("AVRO-P") for one in document(said)["findings"])


def test_a_master_for_a_run_without_spark(repo: Path, command: CommandLine) -> None:
    said = command("replay", "--repo", repo, *LOCAL, "--master", "local[2]")
    assert said.code == 2
    assert "--engine local runs without Spark" in said.err
    alone = command("check", "--repo", repo, "--base", "main", "--master", "local[2]")
    assert alone.code == 2
    assert "go with --replay" in alone.err


@pytest.mark.parametrize(
    ("engine", "lost", "extra"), [("local", "pyarrow", "replay"), ("spark", "pyspark", "spark")]
)
@pytest.mark.parametrize("words", [("replay",), ("check", "--base", "main", "--replay")])
def test_without_the_extra_it_says_what_to_install(  # noqa: PLR0913, PLR0917 - a table and fixtures
    words: tuple[str, ...],
    engine: str,
    lost: str,
    extra: str,
    command: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find_spec(name: str) -> object:
        return None if name == lost else importlib.util.find_spec("json")

    monkeypatch.setattr(extras, "find_spec", find_spec)
    said = command(*words, "--engine", engine)
    assert said.code == 2
    assert f"needs {lost}, not installed here" in said.err
    assert f"with its extra '{extra}': in a checkout, pip install '.[{extra}]'" in said.err
    assert ("--engine local" in said.err) == (engine == "spark")


def test_an_interruption_reports_what_was_done(
    repo: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tallies = {Key(CANCELLED, 0, "proposed"): Tally(rows=7)}
    use(FakeRunner(tallies=tallies, complete=False), monkeypatch)
    said = command("replay", "--repo", repo)
    assert said.code == 130
    assert said.out.startswith("⚠ Interrupted after 7 messages")
    assert "REPLAY-R008 warning" in said.out
    GitRepository(repo).commit()
    lose_a_symbol(repo)
    said = command("check", "--repo", repo, "--base", "main", "--replay")
    assert said.code == 130
    assert "REPLAY-R008 warning" in said.out


def test_an_engine_that_fails(
    clone: GitRepository, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(_Broken(), monkeypatch)
    said = command("replay", "--repo", clone.root)
    assert said.code == 4
    assert "Spark ended: no route to host" in said.err
    assert "look at its log" in said.err


def test_the_markdown_is_the_same_on_every_engine(
    clone: GitRepository, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_a_symbol(clone.root)
    shown = ("--show-values", "--max-examples", 2, "--format", "markdown")
    args = ("replay", "--repo", clone.root, *shown)
    local = command(*args, *LOCAL).out
    assert "--show-values --max-examples 2`" in local
    use(_OnSpark(), monkeypatch)
    assert command(*args, "--master", "sc://spark.example/;token=secret").out == local.replace(
        " --engine local", ""
    )


def test_a_check_answers_all_the_same_if_the_engine_fails(
    clone: GitRepository, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(_Broken(), monkeypatch)
    config = (clone.root / "gitops.yaml").read_text("utf-8")
    clone.write({"gitops.yaml": config.replace("\nrules:\n", "\nrules:\n  AVRO-W001: warning\n")})
    clone.commit(message="A lower severity")
    lose_a_symbol(clone.root)
    args = ("check", "--repo", clone.root, "--base", "main", "--replay")
    said = command(*args)
    assert said.code == 4
    assert "AVRO-W001 warning" in said.out
    assert "the replay failed" in said.out
    assert "Spark ended: no route to host" in said.err
    shown = command(*args, "--format", "markdown")
    assert shown.out.startswith("### ✗ Do not merge yet: the replay failed")
    assert document(command(*args, "--format", "json"))["registries"][0]["replay"] is None
