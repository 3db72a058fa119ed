"""`fmt` on files: what it writes, what it only shows, how it ends."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine

ORDERS = "namespaces/shop/orders"


@pytest.fixture
def untidy(repo: Path) -> Path:
    """The template with a manifest and a definition out of order."""
    manifest, definition = repo / ORDERS / "order-status.yaml", repo / "types/money.avsc"
    manifest.write_text(
        "kind:  Topic # which\r\napiVersion: pulsar-gitops/v1\r\nschema: {type: STRING}"
    )
    definition.write_text(definition.read_text().replace('  "name": "Money"', '"name":"Money"'))
    return repo


@pytest.mark.slow
def test_the_template_is_in_order(repo: Path, command: CommandLine) -> None:
    done = command("fmt", "--check", "--repo", repo)
    assert (done.code, done.out, done.err) == (0, "15 in order\n", "")


@pytest.mark.slow
def test_check_changes_nothing_and_fails(untidy: Path, command: CommandLine) -> None:
    before = {path: path.read_bytes() for path in untidy.rglob("*") if path.is_file()}
    done = command("fmt", "--check", "--repo", untidy)
    assert (done.code, done.out) == (
        1,
        (
            f"would change {ORDERS}/order-status.yaml\nwould change types/money.avsc\n"
            "2 would change, 13 in order\n"
        ),
    )
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
def test_files_are_written_once(untidy: Path, command: CommandLine) -> None:
    done = command("fmt", "--repo", untidy)
    assert (done.code, "2 changed, 13 in order" in done.out) == (0, True)
    manifest = untidy / ORDERS / "order-status.yaml"
    assert manifest.read_bytes() == (
        b"apiVersion: pulsar-gitops/v1\nkind: Topic # which\nschema: {type: STRING}\n"
    )
    assert command("fmt", "--check", "--repo", untidy).code == 0
    assert command("validate", "--repo", untidy).code == 0


@pytest.mark.slow
def test_diffs_are_shown_and_not_written_with_check_and_without(
    untidy: Path, command: CommandLine
) -> None:
    before = {path: path.read_bytes() for path in untidy.rglob("*") if path.is_file()}
    shown = command("fmt", "--check", "--diff", "--repo", untidy, untidy / "types")
    assert shown.code == 1
    assert shown.out.splitlines()[:3] == [
        "--- a/types/money.avsc", "+++ b/types/money.avsc", "@@ -1,6 +1,6 @@"
    ]  # fmt: skip
    assert '-"name":"Money",\n+  "name": "Money",\n' in shown.out
    alone = command("fmt", "--diff", "--repo", untidy, untidy / "types")
    assert (alone.code, alone.out) == (0, shown.out)
    assert {path: path.read_bytes() for path in before} == before


def test_no_name_and_no_text_can_forge_output(repo: Path, command: CommandLine) -> None:
    file = repo / ORDERS / "order-status.yaml"
    file.write_text("kind: Topic\napiVersion: pulsar-gitops/v1\n# \u202eevil\n", "utf-8")
    done = command("fmt", "--check", "--diff", "--repo", repo)
    assert (done.code, "\u202e" in done.out, "# \\u202eevil" in done.out) == (1, False, True)


@pytest.mark.slow
def test_a_broken_file_is_left_alone_and_the_others_are_laid_out(
    untidy: Path, command: CommandLine
) -> None:
    broken = untidy / ORDERS / "order-created.yaml"
    broken.write_text("kind: [\n")
    done = command("fmt", "--repo", untidy)
    assert done.code == 1
    assert f"left alone {ORDERS}/order-created.yaml:1:7  REPO-R001 not YAML" in done.out
    assert "2 changed, 12 in order, 1 left alone" in done.out
    assert broken.read_text() == "kind: [\n"


@pytest.mark.slow
def test_json_tells_the_same(untidy: Path, command: CommandLine) -> None:
    shown = json.loads(command("fmt", "--check", "--format", "json", "--repo", untidy).out)
    assert (shown["kind"], shown["written"], shown["inOrder"]) == ("Formatted", False, 13)
    assert [each["path"] for each in shown["files"]] == [
        f"{ORDERS}/order-status.yaml", "types/money.avsc"
    ]  # fmt: skip
    diffs = json.loads(command("fmt", "--diff", "--format", "json", "--repo", untidy).out)
    assert diffs["written"] is False
    assert diffs["files"][1]["diff"].startswith("--- a/types/money.avsc\n")
    assert json.loads(command("fmt", "--format", "json", "--repo", untidy).out)["written"] is True


@pytest.mark.slow
def test_paths_are_those_of_validate_and_files_of_others_are_ignored(
    untidy: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(untidy)
    done = command("fmt", "--check", "README.md", "types/money.avsc", ".editorconfig")
    assert (done.code, done.out.splitlines()[0]) == (1, "would change types/money.avsc")
    assert command("fmt", "nowhere.yaml").code == 2
    assert command("fmt", "..").code == 2


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes and links")
def test_modes_stay_and_nothing_is_written_through_links(
    untidy: Path, tmp_path: Path, command: CommandLine
) -> None:
    manifest = untidy / ORDERS / "order-status.yaml"
    manifest.chmod(0o640)
    outside = tmp_path / "outside.yaml"
    outside.write_text("kind:   Topic\n")
    (untidy / ORDERS / "leads-out.yaml").symlink_to(outside)
    inside = untidy / "clients" / "linked.yaml"
    inside.symlink_to(manifest)

    command("fmt", "--repo", untidy)

    assert manifest.stat().st_mode & 0o777 == 0o640
    assert (outside.read_text(), inside.is_symlink()) == ("kind:   Topic\n", True)
