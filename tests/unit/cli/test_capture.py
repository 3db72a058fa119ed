"""`capture` on the command line, without a broker."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from gitops.cli.commands.capture import moment
from gitops.model.errors import UsageError
from tests.support.command_line import CommandLine

NOW = datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90m", "2026-05-01T10:30:00Z"),
        ("7d", "2026-04-24T12:00:00Z"),
        ("0s", "2026-05-01T12:00:00Z"),
        ("2026-05-01T10:00:00", "2026-05-01T10:00:00Z"),
        ("2026-05-01T10:00:00.250+02:00", "2026-05-01T08:00:00.250Z"),
        ("2026-05-01", "2026-05-01T00:00:00Z"),
    ],
)
def test_times_and_durations_are_moments(text: str, expected: str) -> None:
    wanted = datetime.datetime.fromisoformat(expected).timestamp() * 1000
    assert moment("--since", text, NOW) == wanted


@pytest.mark.parametrize("text", ["", "yesterday", "2h30m", "-1h", "2026-13-01", "999999d", "٣h"])
def test_anything_else_is_no_moment(text: str) -> None:
    with pytest.raises(UsageError, match="neither a time nor a duration"):
        moment("--since", text, NOW)


@pytest.mark.slow
def test_a_registry_without_messages_is_named(command: CommandLine, applied: Path) -> None:
    ran = command("capture", "shop/orders/order-created", "--out", "x", "--repo", applied)
    assert ran.code == 2
    assert "the registry 'local' has no messages" in ran.err
    assert not Path("x").exists()


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_named(command: CommandLine, tmp_path: Path) -> None:
    url = "http://127.0.0.1:1"
    ran = command("capture", "shop/orders/created", "--out", tmp_path / "cap", "--url", url)
    assert ran.code == 4
    assert "no answer from the registry" in ran.err
    assert not (tmp_path / "cap").exists()


@pytest.mark.parametrize("key", [None, "too short"])
def test_a_hash_needs_a_key(
    command: CommandLine, applied: Path, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.delenv("PULSAR_GITOPS_MASK_KEY", raising=False)
    if key:
        monkeypatch.setenv("PULSAR_GITOPS_MASK_KEY", key)
    ran = command("capture", "a/b/c", "--out", "x", "--repo", applied, "--mask", "hash")
    assert ran.code == 2
    assert "needs a key of at least 16 characters" in ran.err
    assert "too short" not in ran.err


def test_a_partition_is_refused_for_its_topic(
    command: CommandLine, applied: Path, tmp_path: Path
) -> None:
    name = "shop/orders/order-created-partition-0"
    for words in (("capture", name, "--out", tmp_path / "x"), ("publish", "x", "--to", name)):
        ran = command(*words, "--repo", applied)
        assert ran.code == 2
        assert f"'{name}' is the name of a partition" in ran.err
        assert "with all of its partitions: shop/orders/order-created\n" in ran.err
