"""Two changes that git merges without a conflict, and that are incompatible with each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

DEFINITION = "namespaces/shop/orders/order-created.avsc"


def add_coupon(repo: GitRepository, before: str, kind: str) -> None:
    """An optional field above the line with `before`, as a commit."""
    path = repo.root / DEFINITION
    lines = path.read_text("utf-8").splitlines(keepends=True)
    (at,) = (number for number, line in enumerate(lines) if before in line)
    field = f'{{"name": "coupon", "type": ["null", "{kind}"], "default": null}},\n'
    lines.insert(at, f"    {field}")
    repo.commit({DEFINITION: "".join(lines)})


def test_each_is_good_alone_and_the_second_only_until_it_is_up_to_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Why the guide asks for branches that are up to date, or for a merge queue."""
    command = CommandLine(capsys)
    command("init", tmp_path / "repo")
    repo = GitRepository(tmp_path / "repo")
    repo.commit()

    def check(base: str) -> int:
        return command("check", "--repo", repo.root, "--base", base).code

    for branch, before, kind in (("a", '"orderId"', "string"), ("b", '"note"', "long")):
        repo.git("switch", "--quiet", "--create", branch, "main")
        add_coupon(repo, before, kind)
        assert check("main") == 0
    repo.git("switch", "--quiet", "main")
    repo.git("merge", "--quiet", "a")
    repo.git("switch", "--quiet", "b")
    repo.git("merge", "--quiet", "--no-edit", "main")  # git sees no conflict

    done = command("check", "--repo", repo.root, "--base", "main")
    assert (done.code, "coupon" in done.out) == (1, True), done.out
