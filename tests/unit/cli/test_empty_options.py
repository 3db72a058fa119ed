"""An empty value, as of a variable that is not set, is refused: most would mean something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["check", "--base", "HEAD", "--head="], "--head"),
        (["check", "--base="], "--base"),
        (["check", "--base", ""], "--base"),
        (["check", "--base", "HEAD", "--head", " "], "--head"),
        (["check", "--base", "HEAD", "--registry", ""], "--registry"),
        (["check", "--base", "HEAD", "--report="], "--report"),
        (["plan", "--registry", "local", "--registry="], "--registry"),
        (["plan", "--repo="], "--repo"),
        (["plan", "--out="], "--out"),
        (["plan", "--waivers="], "--waivers"),
        (["plan", "--as-if-broker="], "--as-if-broker"),
        (["apply", "--journal=", "--auto-approve"], "--journal"),
        (["apply", ""], "PLANFILE"),
        (["validate", ""], "PATH"),
        (["drift", "--output="], "--output"),
        (["snapshot", "--registry="], "--registry"),
        (["restore", "--into="], "--into"),
        (["import", ""], "NAMESPACE"),
        (["audit", "--url="], "--url"),
        (["schemas", "get", "shop/orders/order-created", "--url="], "--url"),
        (["policies", "get", ""], "SUBJECT"),
    ],
    ids=str,
)
def test_an_empty_value_is_refused(
    words: list[str],
    name: str,
    applied: Path,
    command: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(applied)
    done = command(*words)
    assert (done.code, done.out) == (2, ""), done
    assert name in done.err
    assert "empty" in done.err or "is not" in done.err
