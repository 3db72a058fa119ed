"""A change of many topics: what counts for the limit, and the waiver that lets it pass once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow

_ORDERS = "namespaces/shop/orders"
_MONEY = {
    "type": "record",
    "name": "Amount",
    "namespace": "shop.types",
    "fields": [{"name": "minor", "type": "long"}],
}


def _definition(name: str, *, inline: bool, extra: bool = False) -> str:
    fields: list[dict[str, object]] = [
        {"name": "amount", "type": _MONEY if inline else "shop.types.Amount"}
    ]
    if extra:
        fields.append({"name": "extra", "type": ["null", "int"], "default": None})
    return json.dumps(
        {"type": "record", "name": name, "namespace": "shop.orders", "fields": fields}
    )


@pytest.fixture
def many(repo: Path, clone: GitRepository, command: CommandLine) -> GitRepository:
    """Twelve more topics with a type of their own each, committed and applied."""
    files = {}
    for number in range(12):
        files[f"{_ORDERS}/many-{number}.avsc"] = _definition(f"Many{number}", inline=True)
        files[f"{_ORDERS}/many-{number}.yaml"] = (
            "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            f"schema: {{type: AVRO, definition: many-{number}.avsc}}\n"
        )
    clone.commit(files)
    assert command("apply", "--repo", repo, "--auto-approve").code == 0
    return clone


def _rules(text: str) -> list[tuple[str, str]]:
    document = json.loads(text)
    return [(one["rule"], one["severity"]) for one in document["findings"]]


def test_inline_types_that_move_to_files_of_their_own_change_nothing(
    many: GitRepository, repo: Path, command: CommandLine
) -> None:
    files = {
        f"{_ORDERS}/many-{number}.avsc": _definition(f"Many{number}", inline=False)
        for number in range(12)
    }
    many.write({**files, "types/amount.avsc": json.dumps(_MONEY)})

    checked = command("check", "--repo", repo, "--base", "HEAD", "--format", "json")

    assert checked.code == 0, checked.out
    assert "CHECK-R005" not in [rule for rule, _ in _rules(checked.out)]
    planned = command("plan", "--repo", repo, "--format", "json")
    assert json.loads(planned.out)["actions"] == []


@pytest.mark.rule("CHECK-R005")
@pytest.mark.rule("PLAN-R004")
def test_a_big_change_passes_once_with_a_waiver(
    many: GitRepository, repo: Path, command: CommandLine
) -> None:
    files = {
        f"{_ORDERS}/many-{number}.avsc": _definition(f"Many{number}", inline=True, extra=True)
        for number in range(12)
    }
    many.write(files)
    check = ("check", "--repo", repo, "--base", "HEAD", "--format", "json")
    plan = ("plan", "--repo", repo, "--format", "json")
    folder = repo / "waivers"

    assert ("PLAN-R004", "error") in _rules(command(*plan, "--waivers", folder).out)
    (file,) = folder.glob("limit-*.yaml")
    of_plan = file.read_text("utf-8")
    file.unlink()
    checked = command(*check, "--waivers", folder)
    assert (checked.code, ("CHECK-R005", "error") in _rules(checked.out)) == (1, True)
    assert file.read_text("utf-8") == of_plan
    proposed = json.loads(checked.out)["limitWaiver"]
    assert (proposed["file"], proposed["text"]) == (f"waivers/{file.name}", of_plan)
    assert command(*check).code == 1, "a waiver without reason and approval lets nothing pass"
    text = file.read_text("utf-8").replace('reason: ""', "reason: a header for all")
    file.write_text(text.replace('approvedBy: ""', 'approvedBy: "@acme/platform"'), "utf-8")

    checked = command(*check)
    assert (checked.code, ("CHECK-R005", "info") in _rules(checked.out)) == (0, True)
    assert json.loads(checked.out)["limitWaiver"] is None
    assert f"by waivers/{file.name}, approved by @acme/platform" in checked.out
    assert command("fmt", "--repo", repo, "--check", file).code == 0
    planned = command(*plan)
    assert (planned.code, ("PLAN-R004", "info") in _rules(planned.out)) == (0, True)

    # Another schema than the approved one counts again, and so do topics that it does not name.
    topic = f"{_ORDERS}/many-0.avsc"
    many.write({topic: files[topic].replace('"extra"', '"other"')})
    assert command(*check).code == 0, "one topic is below the limit"
    others = {path: text.replace('"extra"', '"other"') for path, text in files.items()}
    many.write(others)
    assert ("CHECK-R005", "error") in _rules(command(*check).out)
    many.write(files)

    assert command("apply", "--repo", repo, "--auto-approve").code == 0
    left = command(*plan)
    assert (left.code, _rules(left.out)) == (0, [("WAIVER-R003", "warning")])


@pytest.mark.parametrize("rule", ["CHECK-R005", "PLAN-R004"])
def test_explain_names_the_same_way_out_as_the_finding(rule: str, command: CommandLine) -> None:
    explained = command("explain", rule)
    assert "--waivers waivers/" in explained.out
    assert "LimitWaiver" in explained.out
