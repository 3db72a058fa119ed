"""`plan --fix` and `check --fix`: what is written, said, and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow

_FILE = "namespaces/shop/orders/order-created.avsc"
_CHANGED = f"changed {_FILE}\n1 file changed: read the changes (git diff), and commit them\n"


def _break(root: Path) -> str:
    """Give a field another type; answers the text as it was."""
    place = root / _FILE
    before = place.read_text("utf-8")
    place.write_text(before.replace('"quantity", "type": "int"', '"quantity", "type": "string"'))
    assert place.read_text("utf-8") != before
    return before


def test_a_plan_is_fixed_and_shown_as_it_is_then(applied: Path, command: CommandLine) -> None:
    before = _break(applied)
    refused = command("plan", "--repo", applied)

    done = command("plan", "--repo", applied, "--fix")

    assert refused.code == 1
    assert '+ {"name": "quantity", "type": "int"},' in refused.out
    assert (done.code, done.err) == (0, _CHANGED)
    assert "5 unchanged" in done.out
    assert (applied / _FILE).read_text("utf-8") == before


def test_a_change_is_fixed_and_checked_again(clone: GitRepository, command: CommandLine) -> None:
    before = _break(clone.root)

    done = command("check", "--repo", clone.root, "--base", "main", "--fix")

    assert (done.code, done.err) == (0, _CHANGED)
    assert "--fix" not in done.out
    assert (clone.root / _FILE).read_text("utf-8") == before


def test_a_change_is_fixed_for_one_registry_after_the_other(
    clone: GitRepository, command: CommandLine
) -> None:
    settings = clone.root / "gitops.yaml"
    other = (
        "groups: {both: [other, local]}\n"
        "registries:\n  other: {kind: embedded, path: .gitops/other.db}\n"
    )
    settings.write_text(settings.read_text("utf-8").replace("registries:\n", other, 1), "utf-8")
    done = command("apply", "--repo", clone.root, "--registry", "other", "--auto-approve")
    assert done.code == 0
    before = _break(clone.root)
    both = ("--registry", "other", "--registry", "local")

    refused = command("check", "--repo", clone.root, "--base", "main", *both)
    fixed = command("check", "--repo", clone.root, "--base", "main", "--registry", "both", "--fix")

    assert "make the edit that is shown below (`check --fix` makes it): " in " ".join(
        refused.out.split()
    )
    assert (refused.code, fixed.code, fixed.err) == (1, 0, _CHANGED)
    assert (clone.root / _FILE).read_text("utf-8") == before


def test_nothing_is_written_where_there_is_nothing_to_fix(
    applied: Path, command: CommandLine
) -> None:
    done = command("plan", "--repo", applied, "--fix")

    assert (done.code, done.err.startswith("nothing to fix: no edit of ")) == (0, True)


def test_a_symbolic_link_is_left_alone(applied: Path, command: CommandLine) -> None:
    _break(applied)
    place, other = applied / _FILE, applied / "types" / "moved.avsc"
    place.rename(other)
    place.symlink_to(other)
    before = other.read_bytes()

    done = command("plan", "--repo", applied, "--fix")

    assert f"left alone {_FILE}: a symbolic link\n" in done.err
    assert place.is_symlink()
    assert other.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["check", "--base", "main", "--head", "main"], "--head names a commit"),
        (["plan", "--registry", "a", "--registry", "b"], "--registry names several"),
    ],
)
def test_what_cannot_be_edited_is_a_usage_error(
    words: list[str], why: str, applied: Path, command: CommandLine
) -> None:
    done = command(*words, "--repo", applied, "--fix")

    assert done.code == 2
    assert why in done.err
