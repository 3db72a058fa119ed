"""A refused change, from its waiver that is written to fill in to the version that it lets in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


_OLD = '{"name": "amount"'
_NEW = '{"name": "currency", "type": "string"},\n    {"name": "amount"'


@pytest.fixture
def breaking(applied: Path) -> Path:
    """The template, applied, with a change that Pulsar refuses."""
    _edit(applied / "namespaces/shop/payments/captured.avsc", _OLD, _NEW)
    return applied


@pytest.fixture
def waived(breaking: Path, command: CommandLine) -> Path:
    """That, with a waiver for it."""
    command("plan", "--repo", breaking, "--waivers", breaking / "waivers")
    _fill_in(_waiver(breaking))
    return breaking


def _fill_in(waiver: Path) -> None:
    _edit(waiver, 'reason: ""', "reason: all consumers are upgraded")
    _edit(waiver, 'approvedBy: ""', 'approvedBy: "@acme/platform"')


def _edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def _waiver(repo: Path) -> Path:
    (found,) = (repo / "waivers").glob("*.yaml")
    return found


def _actions(repo: Path, command: CommandLine) -> list[dict[str, Any]]:
    printed = command("plan", "--repo", repo, "--format", "json").out
    actions: list[dict[str, Any]] = json.loads(printed)["actions"]
    return actions


def test_a_refusal_shows_its_waiver(breaking: Path, command: CommandLine) -> None:
    text = command("plan", "--repo", breaking)
    document = json.loads(command("plan", "--repo", breaking, "--format", "json").out)

    (notice,) = document["notices"]
    assert text.code == 1
    assert f"or a waiver: {notice['waiver']['file']} (`plan --waivers waivers/`" in text.out
    assert f'fingerprint: "{notice["fingerprint"]}"\n' in notice["waiver"]["text"]


def test_a_waiver_that_nobody_has_filled_in_is_refused(
    breaking: Path, command: CommandLine
) -> None:
    folder = breaking / "waivers"
    wrote = command("plan", "--repo", breaking, "--waivers", folder)
    assert (wrote.code, "fill in reason and approvedBy" in wrote.err) == (1, True)

    for name in ("validate", "plan"):
        done = command(name, "--repo", breaking)
        assert done.code == 1
        assert done.out.count("are empty") == len(list(folder.glob("*.yaml")))
        assert "reason and approvedBy are empty" in done.out
    (found,) = json.loads(command("validate", "--repo", breaking, "--format", "json").out)[
        "findings"
    ]
    assert [one["message"] for one in found["members"]] == [
        "reason is empty",
        "approvedBy is empty",
    ]


def test_a_plan_says_that_its_waivers_are_written(
    breaking: Path, tmp_path: Path, command: CommandLine
) -> None:
    done = command("plan", "--repo", breaking, "--waivers", tmp_path / "waivers")

    said = " ".join(done.out.split())
    assert ("writes it" in said, "fill in reason and approvedBy" in said) == (False, True)


def test_what_is_there_is_kept_and_the_folder_is_made(
    breaking: Path, tmp_path: Path, command: CommandLine
) -> None:
    folder = tmp_path / "some" / "where"
    command("plan", "--repo", breaking, "--waivers", folder)
    (file,) = folder.iterdir()
    file.write_text("mine", "utf-8")

    again = command("plan", "--repo", breaking, "--waivers", folder)

    assert (file.read_text("utf-8"), "exists already" in again.err) == ("mine", True)


def test_a_folder_that_cannot_be_made(breaking: Path, tmp_path: Path, command: CommandLine) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    done = command("plan", "--repo", breaking, "--waivers", tmp_path / "file" / "folder")

    assert (done.code, "cannot make the folder" in done.err) == (2, True)


def test_several_registries_share_a_folder(
    breaking: Path, tmp_path: Path, command: CommandLine
) -> None:
    other = "registries:\n  other: {kind: embedded, path: .gitops/registry.db}\n"
    _edit(breaking / "gitops.yaml", "registries:\n", other)
    names = ("--registry", "local", "--registry", "other")

    done = command("plan", "--repo", breaking, *names, "--waivers", tmp_path / "waivers")

    assert done.code == 1
    assert len(list((tmp_path / "waivers").iterdir())) == 1
    assert "writes it" not in " ".join(done.out.split())


def test_an_apply_names_the_consumers_that_an_approved_schema_locks_out(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    for client in (applied / "clients").glob("*.yaml"):
        client.unlink()
    namespace = applied / "namespaces/shop/payments/namespace.yaml"
    _edit(namespace, "FULL", "FULL_TRANSITIVE")
    assert command("apply", "--auto-approve", "--repo", applied).code == 0
    GitRepository(applied).commit()
    _edit(applied / "namespaces/shop/payments/captured.avsc", _OLD, _NEW)
    assert command("plan", "--repo", applied, "--waivers", applied / "waivers").code == 1
    _fill_in(_waiver(applied))

    checked = command("check", "--base", "main", "--repo", applied)
    planned = command("plan", "--repo", applied, "--out", tmp_path / "plan.json")
    done = command("apply", "--repo", applied, tmp_path / "plan.json")

    assert (checked.code, planned.code, done.code) == (0, 0, 0), checked.out
    first_lines = " ".join(checked.out.partition("compares")[0].split())
    assert "⚠ Can be merged if the waiver's reason is true" in first_lines
    assert "; clients can no longer connect" in first_lines
    assert "shop/payments/captured: consumers with v1, the latest version, can no longer" in (
        first_lines
    )
    assert "use a strategy" not in first_lines
    assert "⚠ shop/payments/captured: consumers with v1, the latest version, can no" in done.out


def test_the_waived_change_is_applied_and_the_topic_closed(
    waived: Path, tmp_path: Path, command: CommandLine
) -> None:
    planned = command("plan", "--repo", waived, "--out", tmp_path / "p.json")
    strict = command("plan", "--repo", waived, "--fail-on", "warning")
    assert (planned.code, strict.code) == (0, 0)
    assert "by waivers/shop-payments-captured-" in planned.out
    lines = [line.split() for line in planned.out.splitlines()]
    assert ["2.", "register", "v1"] in lines
    assert ["3.", "schemaCompatibilityStrategy", "ALWAYS_COMPATIBLE", "→", "–", "set", "back"] in (
        lines
    )
    assert {action["waiver"] for action in _actions(waived, command)} == {_waiver(waived).stem}

    done = command("apply", "--repo", waived, tmp_path / "p.json")

    assert (done.code, "applied 3 actions" in done.out) == (0, True)
    policies = command("policies", "get", "shop/payments/captured", "--repo", waived).out
    assert "ALWAYS_COMPATIBLE" not in policies
    after = command("plan", "--repo", waived)
    assert (after.code, "v1 is registered, so the waiver has" in after.out) == (
        0,
        True,
    )


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("namespaces/shop/payments/captured.avsc", '"currency"', '"currencyCode"'),
        ("namespaces/shop/payments/captured.yaml", "owner: payments", "owner: billing"),
        ("namespaces/shop/payments/namespace.yaml", ": FULL", ": BACKWARD"),
    ],
)
def test_a_waiver_is_for_one_change_only(
    file: str, old: str, new: str, waived: Path, command: CommandLine
) -> None:
    _edit(waived / file, old, new)

    done = command("plan", "--repo", waived)

    assert done.code == 1
    assert "WAIVER-R004 warning" in done.out


def test_a_plan_is_bound_to_its_waivers(waived: Path, tmp_path: Path, command: CommandLine) -> None:
    command("plan", "--repo", waived, "--out", tmp_path / "p.json")
    _edit(_waiver(waived), "all consumers are upgraded", "because")

    done = command("apply", "--repo", waived, tmp_path / "p.json")

    assert (done.code, "the files have changed since the plan was made" in done.err) == (5, True)


def test_an_expired_waiver_is_told_and_does_nothing(waived: Path, command: CommandLine) -> None:
    file = _waiver(waived)
    text = file.read_text("utf-8").rsplit("expires: ", 1)[0]
    file.write_text(f"{text}expires: 2020-02-29\n", "utf-8")

    planned, checked = command("plan", "--repo", waived), command("validate", "--repo", waived)

    assert (planned.code, checked.code) == (1, 0)
    said = " ".join(planned.out.split())
    assert f"or a waiver: waivers/{file.name} (it has expired: have it approved again" in said
    assert "writes it" not in said
    for done in (planned, checked):
        assert "2020-02-29 was its last day" in done.out


def test_a_waiver_of_a_schema_that_a_rule_holds_back(repo: Path, command: CommandLine) -> None:
    definition = repo / "namespaces/shop/orders/order-cancelled.avsc"
    _edit(
        definition, '"fields": [', '"fields": [\n    {"name": "n", "type": "int", "default": ""},'
    )
    assert "held back" in command("plan", "--repo", repo).out
    command("plan", "--repo", repo, "--waivers", repo / "waivers")
    _edit(_waiver(repo), 'reason: ""', "reason: we know")
    _edit(_waiver(repo), 'approvedBy: ""', "approvedBy: me")

    done = command("plan", "--repo", repo)

    assert (done.code, " by waivers/" in done.out) == (0, True)
    topic = "shop/orders/order-cancelled"
    (action,) = (one for one in _actions(repo, command) if one.get("topic") == topic)
    assert (action["pulsarAccepts"], action["waiver"]) == (True, _waiver(repo).stem)


def test_a_check_writes_the_waiver_that_the_plan_takes(applied: Path, command: CommandLine) -> None:
    GitRepository(applied).commit()
    _edit(applied / "namespaces/shop/payments/captured.avsc", _OLD, _NEW)
    folder = applied / "waivers"
    before = command("check", "--base", "main", "--repo", applied)
    said = command("check", "--base", "main", "--repo", applied, "--waivers", folder)
    assert (before.code, said.code) == (1, 1)
    assert "`--waivers waivers/` writes it" in " ".join(before.out.split())
    assert "writes it" not in " ".join(said.out.split())
    assert "it is written: fill in reason and approvedBy" in " ".join(said.out.split())
    _fill_in(_waiver(applied))

    assert command("plan", "--repo", applied).code == 0
    assert command("check", "--base", "main", "--repo", applied).code == 0


def test_an_apply_names_the_clients_that_an_approved_policy_locks_out(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    plan = tmp_path / "plan.json"
    _edit(applied / "namespaces/shop/payments/namespace.yaml", "FULL", "ALWAYS_INCOMPATIBLE")
    assert command("plan", "--repo", applied, "--waivers", applied / "waivers").code == 1
    _fill_in(_waiver(applied))
    assert command("plan", "--repo", applied, "--out", plan).code == 0

    done = command("apply", "--repo", applied, plan)

    assert done.code == 0, done.err
    (line,) = (one for one in done.out.splitlines() if "can no longer connect" in one)
    assert line.startswith("⚠ shop/payments/captured: consumers with v0, the latest version, ")
