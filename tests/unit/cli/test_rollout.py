"""`rollout` on the command line: what it prints, what `--migrate` writes, its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

DEFINITION = "namespaces/shop/orders/order-created.avsc"


@pytest.fixture
def folder(applied: Path) -> Path:
    """The template, applied and committed."""
    GitRepository(applied).commit()
    return applied


def _edit(folder: Path, old: str, new: str) -> None:
    file = folder / DEFINITION
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def _break(folder: Path) -> None:
    _edit(folder, '"customerId", "type": "string"', '"customer", "type": "int"')


def test_a_refused_change_is_offered_a_way(folder: Path, command: CommandLine) -> None:
    _break(folder)
    done = command("rollout", "--repo", folder, "--base", "main")
    assert done.code == 1
    assert "✗ Pulsar refuses the new schema of shop/orders/order-created\n" in done.out
    assert "pulsar-gitops rollout --base main --migrate" in done.out
    assert "    1  create shop/orders/order-created-v2 with the new schema\n" in done.out
    assert not (folder / "namespaces/shop/orders/order-created-v2.yaml").exists()


def test_the_way_is_written_and_told(folder: Path, command: CommandLine) -> None:
    _break(folder)
    done = command("rollout", "--repo", folder, "--base", "main", "--migrate")
    assert done.code == 0
    wrote = [line.split()[1].rstrip(":") for line in done.err.splitlines()]
    assert wrote == [
        "clients/billing.yaml",
        "namespaces/shop/orders/order-created-v2.avsc",
        "namespaces/shop/orders/order-created-v2.yaml",
        DEFINITION,
    ]
    assert command("validate", "--repo", folder).code == 0
    assert command("check", "--repo", folder, "--base", "main").code == 0
    again = command("rollout", "--repo", folder, "--base", "main")
    assert (again.code, "✗" in again.out) == (0, False)
    assert "1  register v0 of shop/orders/order-created-v2\n" in again.out


def test_nothing_is_written_where_there_is_an_order(folder: Path, command: CommandLine) -> None:
    _edit(folder, '"quantity", "type": "int"', '"quantity", "type": "long"')
    done = command("rollout", "--repo", folder, "--base", "main", "--migrate")
    assert (done.code, done.err.startswith("nothing to migrate")) == (0, True)
    assert not (folder / "namespaces/shop/orders/order-created-v2.yaml").exists()


def test_a_commit_is_not_written_into(folder: Path, command: CommandLine) -> None:
    done = command("rollout", "--repo", folder, "--base", "main", "--head", "main", "--migrate")
    assert (done.code, "--head" in done.err) == (2, True)


def test_the_ways_are_in_the_json(folder: Path, command: CommandLine) -> None:
    _break(folder)
    done = command("rollout", "--repo", folder, "--base", "main", "--format", "json")
    (rollout,) = json.loads(done.out)["rollouts"]
    assert rollout["refused"] == ["shop/orders/order-created"]
    (way,) = rollout["migrations"]
    assert (way["to"], way["consumers"], way["producers"]) == (
        "shop/orders/order-created-v2",
        ["billing"],
        ["checkout"],
    )
    assert [step["kind"] for step in way["steps"]][:2] == ["create", "consumeBoth"]
