"""`rollout` on the command line: what it prints, what `--migrate` writes, its exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


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
    assert (done.code, "--migrate" in done.out) == (0, False)
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
    assert "1  merge: registers v0 of shop/orders/order-created-v2\n" in again.out


def test_files_that_cannot_be_understood_leave_steps_out(
    folder: Path, command: CommandLine
) -> None:
    _edit(folder, '"quantity", "type": "int"', '"quantity", "type": "long"')
    billing = folder / "clients/billing.yaml"
    billing.write_text(billing.read_text("utf-8").replace("consumes:", "consume:"), "utf-8")
    done = command("rollout", "--repo", folder, "--base", "main")
    assert (done.code, "the files have errors" in done.err) == (1, True)
    assert "pulsar-gitops check --base main" in done.err
    assert command("rollout", "--repo", folder).code == 1


@pytest.mark.parametrize("also", ["manifests", "client", "nothing"])
def test_a_definition_that_was_renamed_is_no_step(
    also: str, folder: Path, command: CommandLine
) -> None:
    """A client without `type:` of a JSON topic uses the topic's own file."""
    space, billing = folder / "namespaces/shop/orders", folder / "clients/billing.yaml"
    topic, old = space / "order-cancelled.yaml", "order-cancelled.avsc"
    own = f"schema: {{definition: ../namespaces/shop/orders/{old}}}"
    billing.write_text(billing.read_text("utf-8").replace("schema: AUTO_CONSUME", own), "utf-8")
    GitRepository(folder).commit()
    (space / old).rename(space / "renamed.avsc")
    for path in {"manifests": (topic, billing), "client": (billing,), "nothing": ()}[also]:
        path.write_text(path.read_text("utf-8").replace(old, "renamed.avsc"), "utf-8")

    done = command("rollout", "--repo", folder, "--base", "main")

    assert done.out.splitlines() == ["local", "  nothing to do"]
    assert (done.code, "the files have errors" in done.err) == (
        (0, False) if also == "manifests" else (1, True)
    )


def test_where_the_registry_was_not_asked_is_told(folder: Path, command: CommandLine) -> None:
    (folder / ".gitops/registry.db").unlink()
    _edit(folder, '"quantity", "type": "int"', '"quantity", "type": "long"')
    done = command("rollout", "--repo", folder, "--base", "main")
    assert done.out.startswith("local · history from git\n  The registry was not asked")


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


def test_without_a_base_the_files_are_compared_with_the_registry(
    folder: Path, command: CommandLine
) -> None:
    assert command("rollout", "--repo", folder).out == "local\n  nothing to do\n"
    _edit(folder, '"quantity", "type": "int"', '"quantity", "type": "long"')
    done = command("rollout", "--repo", folder)
    assert (done.code, [line[:13] for line in done.out.splitlines() if line[2:3].isdigit()]) == (
        0,
        ["  1  upgrade ", "  2  apply: r", "  3  checkout"],
    )
    assert "  3  checkout may upgrade\n" in done.out


def test_topics_without_a_manifest_are_looked_at_too(folder: Path, command: CommandLine) -> None:
    head = "apiVersion: pulsar-gitops/v1\nkind: Client\nowner: x\n"
    use = "produces: [{topic: shop/orders/other, schema: {version: 0}}]\n"
    (folder / "clients/late.yaml").write_text(f"{head}name: late\n{use}", "utf-8")
    assert command("rollout", "--repo", folder).out == (
        "local\n  ! it does not work now: late is pinned to v0 of shop/orders/other, which has no "
        "version\n  nothing to do\n"
    )


def test_who_is_pinned_to_what_is_not_there_yet_comes_in_later(
    folder: Path, command: CommandLine
) -> None:
    _edit(folder, '"quantity", "type": "int"', '"quantity", "type": "long"')
    checkout = folder / "clients/checkout.yaml"
    text = checkout.read_text("utf-8")
    checkout.write_text(
        text.replace("created, schema: {version: 0}", "created, schema: {version: 1}")
    )
    done = command("rollout", "--repo", folder, "--format", "json")
    (rollout,) = json.loads(done.out)["rollouts"]
    steps = [(step["kind"], step["client"], step["mayStay"]) for step in rollout["steps"]]
    assert steps == [
        ("upgrade", "billing", False),
        ("register", None, False),
        ("upgrade", "checkout", False),
    ]
    assert rollout["broken"] == []


def test_the_snapshot_stands_for_the_registry(folder: Path, command: CommandLine) -> None:
    missing = command("rollout", "--repo", folder, "--history", "snapshot")
    assert (missing.code, "there is no snapshot" in missing.err) == (2, True)
    command("snapshot", "--repo", folder)
    _edit(folder, '"quantity", "type": "int"', '"quantity", "type": "long"')
    recorded = command("rollout", "--repo", folder, "--history", "snapshot")
    assert recorded.out == command("rollout", "--repo", folder).out


@pytest.mark.parametrize("option", [["--head", "main"], ["--migrate"], ["--history", "git"]])
def test_what_only_a_change_has_needs_a_base(
    option: list[str], folder: Path, command: CommandLine
) -> None:
    done = command("rollout", "--repo", folder, *option)
    assert (done.code, "needs --base" in done.err) == (2, True)


def test_files_with_errors_have_no_rollout(folder: Path, command: CommandLine) -> None:
    (folder / "clients/billing.yaml").write_text("kind: Nothing\n")
    assert command("rollout", "--repo", folder).code == 1


_ADVICE = {
    "ALWAYS_COMPATIBLE": ("consumers and producers upgrade in any order", "any order"),
    "BACKWARD": ("consumers upgrade first; then produce with the new schema", "consumers"),
    "BACKWARD_TRANSITIVE": ("consumers upgrade first; then produce", "consumers"),
    "FORWARD": ("producers upgrade first; then wait until no message of the older", "producers"),
    "FORWARD_TRANSITIVE": ("producers upgrade first; then wait until no message", "producers"),
    "FULL": ("consumers and producers upgrade in any order", "any order"),
    "FULL_TRANSITIVE": ("consumers and producers upgrade in any order", "any order"),
    "ALWAYS_INCOMPATIBLE": ("nobody upgrades: evolution is off", "nobody"),
}


@pytest.mark.parametrize("strategy", _ADVICE)
def test_without_clients_the_strategy_says_who_goes_first(
    strategy: str, repo: Path, command: CommandLine
) -> None:
    for client in (repo / "clients").iterdir():
        client.unlink()
    namespace = repo / "namespaces/shop/orders/namespace.yaml"
    text = namespace.read_text("utf-8")
    assert "schemaCompatibilityStrategy: BACKWARD\n" in text
    namespace.write_text(text.replace("BACKWARD\n", f"{strategy}\n"), "utf-8")
    assert command("apply", "--repo", repo, "--auto-approve").code == 0
    GitRepository(repo).commit()
    _edit(
        repo,
        '{"name": "customerId", "type": "string"}',
        '{"name": "customerId", "type": "string"},'
        '{"name": "giftWrap", "type": ["null", "string"], "default": null}',
    )
    sentence, column = _ADVICE[strategy]
    escaped = strategy.replace("_", "&#95;")
    for base in ([], ["--base", "main"]):
        done = command("rollout", "--repo", repo, *base)
        assert re.search(f"{strategy}[:,] {sentence}", " ".join(done.out.split())), done.out
    table = command("check", "--repo", repo, "--base", "main", "--format", "markdown").out
    assert any(line.endswith(f"| {column} (by {escaped}) |") for line in table.splitlines()), table


def test_on_another_registry_only_the_strategy_speaks(folder: Path, command: CommandLine) -> None:
    settings = folder / "gitops.yaml"
    text = settings.read_text("utf-8")
    other = "registries:\n  other: {kind: embedded, path: .gitops/other.db}\n"
    settings.write_text(text.replace("registries:\n", other, 1), "utf-8")
    assert command("apply", "--repo", folder, "--registry", "other", "--auto-approve").code == 0
    _edit(folder, '"quantity", "type": "int"', '"quantity", "type": "long"')
    done = command("rollout", "--repo", folder, "--registry", "other")
    assert " ".join(done.out.split()) == (
        "other 1 apply: registers v1 of shop/orders/order-created clients declare versions of "
        "local; by BACKWARD, consumers upgrade first; then produce with the new schema"
    )
