"""`check --replay` on the command line: which samples it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository
from tests.support.replayed_template import CANCELLED, LOCAL, ORDERS, document, lose_a_symbol

pytestmark = pytest.mark.slow


def test_a_check_replays_what_it_touches(clone: GitRepository, command: CommandLine) -> None:
    lose_a_symbol(clone.root)
    args = ("check", "--repo", clone.root, "--base", "main")
    assert "REPLAY-R001" not in command(*args).out
    said = command(*args, "--replay", *LOCAL)
    assert said.code == 1
    assert "REPLAY-R001 error" in said.out
    again = " ".join(said.out.replace("\\\n", " ").partition("reproduce: ")[2].split())
    assert again.startswith("pulsar-gitops check --base main --repo")
    assert again.endswith("--replay --engine local")
    (one,) = document(command(*args, "--replay", *LOCAL, "--format", "json"))["registries"]
    assert [topic["topic"] for topic in one["replay"]["topics"]] == [CANCELLED]


def test_a_commit_brings_its_own_samples(clone: GitRepository, command: CommandLine) -> None:
    clone.git("switch", "--quiet", "--create", "pr")
    lose_a_symbol(clone.root)
    sample = "samples/shop/orders/order-cancelled.jsonl"
    lines = (clone.root / sample).read_text("utf-8").splitlines(keepends=True)
    clone.commit({sample: "".join(line for line in lines if "OUT_OF_STOCK" not in line)})
    clone.git("switch", "--quiet", "main")
    args = ("check", "--repo", clone.root, "--base", "main", "--head", "pr", "--replay", *LOCAL)
    said = command(*args, "--format", "json")
    (one,) = document(said)["registries"]
    assert one["replay"]["rows"] == 190
    assert "REPLAY-R001" not in said.out


def test_a_sample_alone_is_a_change(clone: GitRepository, command: CommandLine) -> None:
    sample = "samples/shop/orders/order-cancelled.jsonl"
    with (clone.root / sample).open("a", encoding="utf-8") as file:
        file.write('{"reason": "NO_SUCH_REASON"}\n')
    args = ("check", "--repo", clone.root, "--base", "main", "--format", "json")
    said = document(command(*args))
    assert said["touched"]["topics"] == {CANCELLED: [sample]}
    replayed_ = command(*args, "--replay", *LOCAL)
    assert replayed_.code == 1
    (one,) = document(replayed_)["registries"]
    assert [topic["topic"] for topic in one["replay"]["topics"]] == [CANCELLED]


@pytest.mark.rule("REPLAY-R009")
def test_a_change_does_not_decide_what_is_fetched(
    clone: GitRepository, command: CommandLine, tmp_path: Path
) -> None:
    private = tmp_path / "private.jsonl"
    private.write_text('{"orderId": "of somebody else"}\n', "utf-8")
    manifest = clone.root / f"{ORDERS}/order-cancelled.yaml"
    with manifest.open("a", encoding="utf-8") as file:
        file.write(f"  - {{format: json, path: 'file://{private}', version: 0}}\n")
        file.write("  - {format: table, path: staff.salaries}\n")
    lose_a_symbol(clone.root)
    args = ("--repo", clone.root, "--base", "main", *LOCAL, "--format", "json")
    checked_, replayed_ = command("check", *args, "--replay"), command("replay", *args)
    for said in (checked_, replayed_):
        found = [one["rule"] for one in document(said)["findings"] if "REPLAY" in one["rule"]]
        assert found == ["REPLAY-R001", "REPLAY-R009", "REPLAY-R009"]
    assert document(replayed_)["rows"] == 200
    clone.commit()
    clone.git("branch", "--quiet", "merged")
    lines = document(command("replay", CANCELLED, *args[:2], *LOCAL, "--format", "json"))["rows"]
    assert lines == 201
