"""Plans of some namespaces and topics, and applies that skip what has errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gitops.planning.plan_document import digest
from tests.support.command_line import CommandLine

pytestmark = pytest.mark.slow

_ORDERS = "namespaces/shop/orders"
_PAYMENTS = "namespaces/shop/payments"
_OPTIONAL = {"name": "added", "type": ["null", "int"], "default": None}
_REQUIRED = {"name": "added", "type": "int"}


def _add_field(repo: Path, file: str, field: dict[str, Any]) -> None:
    path = repo / file
    schema = json.loads(path.read_text("utf-8"))
    schema["fields"].append(field)
    path.write_text(json.dumps(schema, indent=2), "utf-8")


def _set_strategy(repo: Path, folder: str, strategy: str) -> None:
    file = repo / folder / "namespace.yaml"
    text = file.read_text("utf-8").replace("BACKWARD", strategy)
    file.write_text(text, "utf-8")


def _plan(command: CommandLine, repo: Path, *args: object, code: int = 0) -> dict[str, Any]:
    done = command("plan", "--repo", repo, "--format", "json", *args)
    assert done.code == code, done.out + done.err
    document: dict[str, Any] = json.loads(done.out)
    return document


def _subjects(document: dict[str, Any]) -> list[str]:
    return [
        action.get("topic") or action.get("subject", "").partition(" ")[2] or action["namespace"]
        for action in document["actions"]
    ]


def test_a_namespace_is_planned_and_applied_without_the_others(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    _add_field(applied, f"{_ORDERS}/order-cancelled.avsc", _OPTIONAL)
    _add_field(applied, f"{_PAYMENTS}/captured.avsc", _OPTIONAL)
    payments, orders = tmp_path / "payments.json", tmp_path / "orders.json"

    document = _plan(command, applied, "shop/payments", "--out", payments)
    assert document["scope"] == ["shop/payments"]
    assert _subjects(document) == ["shop/payments/captured"]
    assert not any("orders" in name for name in document["observed"])
    _plan(command, applied, "shop/orders", "--out", orders)

    # Neither files nor versions of the other team make a plan stale.
    _add_field(applied, f"{_ORDERS}/order-created.avsc", _OPTIONAL)
    assert command("apply", "--repo", applied, payments).code == 0
    assert command("apply", "--repo", applied, orders).code == 5
    assert _subjects(_plan(command, applied, "shop/payments")) == []
    left = ["shop/orders/order-cancelled", "shop/orders/order-created"]
    assert _subjects(_plan(command, applied)) == left


def test_the_report_names_the_scope(applied: Path, command: CommandLine) -> None:
    done = command("plan", "--repo", applied, "shop/orders/order-status", "shop/payments")
    assert (done.code, "only shop/orders/order-status, shop/payments · " in done.out) == (0, True)
    assert "2 unchanged" in done.out


def test_the_scope_is_part_of_the_digest(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    _add_field(applied, f"{_PAYMENTS}/captured.avsc", _OPTIONAL)
    file = tmp_path / "plan.json"
    _plan(command, applied, "shop/payments", "--out", file)
    document = json.loads(file.read_text("utf-8"))
    document["scope"] = ["shop/orders"]
    file.write_text(json.dumps(document), "utf-8")
    edited = command("apply", "--repo", applied, file)
    assert (edited.code, "changed after it was written" in edited.err) == (2, True)

    document["digest"] = digest(document)
    file.write_text(json.dumps(document), "utf-8")
    assert command("apply", "--repo", applied, file).code == 5
    del document["scope"]
    document["digest"] = digest(document)
    file.write_text(json.dumps(document), "utf-8")
    assert command("apply", "--repo", applied, file).code == 5


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["shop/order"], ["the files have no namespace shop/order", "did you mean shop/orders?"]),
        (
            ["shop/orders/order-creted"],
            ["no manifest declares the topic", "did you mean shop/orders/order-created?"],
        ),
        (["shop"], ["'shop' is neither a namespace nor a topic", "write tenant/namespace"]),
        (["shop/orders/order-created-partition-0"], ["is the name of a partition"]),
        (["shop/payments", "a/b/c"], ["no manifest declares the topic a/b/c"]),
        (["shop/orders/order-created", "--prune"], ["name the namespace: shop/orders"]),
    ],
)
def test_names_and_options_that_do_not_fit(
    names: list[str], words: list[str], applied: Path, command: CommandLine
) -> None:
    done = command("plan", "--repo", applied, *names)
    assert (done.code, done.out) == (2, "")
    assert all(word in done.err for word in words), done.err


def test_errors_in_files_of_others_are_in_nobodys_way(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    _add_field(applied, f"{_PAYMENTS}/captured.avsc", _OPTIONAL)
    (applied / _ORDERS / "order-status.yaml").write_text("kind: Topic\n", "utf-8")
    file = tmp_path / "plan.json"

    assert command("plan", "--repo", applied).code == 1
    assert command("plan", "--repo", applied, "shop/orders").code == 1
    broken = command("plan", "--repo", applied, "shop/orders/order-status")
    assert (broken.code, "order-status.yaml" in broken.out) == (1, True)
    assert _subjects(_plan(command, applied, "shop/orders/order-cancelled")) == []
    _plan(command, applied, "shop/payments", "--out", file)
    assert command("apply", "--repo", applied, file).code == 0


@pytest.mark.rule("PLAN-R030")
def test_a_topic_is_not_changed_without_the_policy_that_decides_about_it(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    _set_strategy(applied, _ORDERS, "FULL")
    topic = "shop/orders/order-cancelled"
    assert _plan(command, applied, topic)["findings"] == [], "nothing changes for the topic"

    _add_field(applied, f"{_ORDERS}/order-cancelled.avsc", _OPTIONAL)
    file = tmp_path / "plan.json"
    document = _plan(command, applied, topic, "--out", file, code=1)
    (finding,) = document["findings"]
    assert (finding["rule"], finding["severity"], finding["subject"]) == (
        "PLAN-R030",
        "error",
        topic,
    )
    assert "schemaCompatibilityStrategy BACKWARD → FULL" in finding["message"]
    assert finding["hint"].endswith("pulsar-gitops plan shop/orders")
    assert _subjects(document) == [topic]
    assert command("apply", "--repo", applied, file).code == 1
    assert _subjects(_plan(command, applied, "shop/orders")) == ["shop/orders", topic]

    # With a strategy that the topic sets itself, the namespace's does not matter.
    manifest = applied / _ORDERS / "order-cancelled.yaml"
    text = manifest.read_text("utf-8")
    manifest.write_text(
        f"{text}policies: {{schemaCompatibilityStrategy: FULL_TRANSITIVE}}\n", "utf-8"
    )
    (finding,) = _plan(command, applied, topic)["findings"]
    assert (finding["rule"], finding["severity"]) == ("PLAN-R021", "warning"), "it is stricter"


@pytest.mark.rule("PLAN-R030")
def test_a_topic_of_a_namespace_that_does_not_exist_yet(repo: Path, command: CommandLine) -> None:
    document = _plan(command, repo, "shop/orders/order-status", code=1)
    assert [one["action"] for one in document["actions"]] == ["RegisterSchema"]
    (finding,) = [one for one in document["findings"] if one["rule"] == "PLAN-R030"]
    assert "shop/orders does not exist yet" in finding["message"]


def test_prune_stays_in_the_scope(applied: Path, command: CommandLine) -> None:
    for name in ("billing", "checkout"):
        (applied / f"clients/{name}.yaml").unlink()
    for file in ("order-status.yaml", "order-cancelled.yaml", "order-cancelled.avsc"):
        (applied / _ORDERS / file).unlink()

    assert _plan(command, applied, "shop/payments", "--prune")["actions"] == []
    kept = _plan(command, applied, "shop/payments")
    assert (kept["unmanaged"], kept["unmanagedNamespaces"]) == ([], [])
    deleted = _plan(command, applied, "shop/orders", "--prune", code=1)
    assert _subjects(deleted) == ["shop/orders/order-cancelled", "shop/orders/order-status"]


def test_the_plans_of_several_registries_have_the_scope(
    repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    config = repo / "gitops.yaml"
    text = config.read_text("utf-8").replace(
        "registries:\n",
        "registries:\n  second: {kind: embedded, path: .gitops/second.db, after: local}\n",
        1,
    )
    config.write_text(text, "utf-8")
    file = tmp_path / "plans.json"
    both = ("--registry", "second", "--registry", "local")

    document = _plan(command, repo, "shop/payments", *both, "--out", file)
    assert [one["scope"] for one in document["plans"]] == [["shop/payments"]] * 2
    applied = command("apply", "--repo", repo, file)
    assert applied.code == 0, applied.err
    for name in ("local", "second"):
        left = _plan(command, repo, "--registry", name)
        assert "shop/payments/captured" not in _subjects(left)
        assert "shop/orders/order-created" in _subjects(left)
    # What is left to do at the first registry outside the scope is not waited for.
    alone = _plan(command, repo, "shop/payments", "--registry", "second")
    assert (alone["actions"], alone["findings"]) == ([], [])


def test_an_apply_that_keeps_going_skips_what_has_errors(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    _add_field(applied, f"{_ORDERS}/order-cancelled.avsc", _REQUIRED)
    _add_field(applied, f"{_PAYMENTS}/captured.avsc", _OPTIONAL)
    strict, lenient = tmp_path / "strict.json", tmp_path / "lenient.json"
    plan = ("plan", "--repo", applied, "--detailed-exitcode")

    assert command(*plan, "--out", strict).code == 1
    assert command("apply", "--repo", applied, strict).code == 1
    planned = command(*plan, "--keep-going", "--out", lenient)
    assert planned.code == 3
    assert "apply skips, because of findings:" in planned.out
    assert re.search(r"^    shop/orders/order-cancelled   AVRO-R\d+: ", planned.out, re.MULTILINE)
    assert command("plan", "--repo", applied, "--keep-going").code == 1

    done = command("apply", "--repo", applied, lenient)
    assert done.code == 6, done.out + done.err
    assert "shop/payments/captured" in done.out
    assert "skipped, because of findings:" in done.out
    assert "applied in part: 1 subject skipped because of findings" in done.err
    assert command("apply", "--repo", applied, "--status", lenient).code == 6

    again = command("apply", "--repo", applied, lenient, "--format", "json")
    document = json.loads(again.out)
    assert (again.code, document["results"], document["doneBefore"]) == (6, [], 1)
    assert [one["subject"] for one in document["skipped"]] == ["shop/orders/order-cancelled"]
    # Nothing is left but the topic with the error.
    left = command(*plan, "--keep-going")
    assert left.code == 1
    assert command("apply", "--repo", applied, "--auto-approve", "--keep-going").code == 1


def test_a_skipped_topic_takes_the_policy_change_of_its_namespace_with_it(
    applied: Path, command: CommandLine
) -> None:
    _set_strategy(applied, _ORDERS, "FULL")
    _add_field(applied, f"{_ORDERS}/order-cancelled.avsc", _REQUIRED)
    _add_field(applied, f"{_ORDERS}/order-created.avsc", _OPTIONAL)
    _add_field(applied, f"{_PAYMENTS}/captured.avsc", _OPTIONAL)

    done = command("apply", "--repo", applied, "--auto-approve", "--keep-going", "--format", "json")
    assert done.code == 6
    document = json.loads(done.out)
    assert [one["action"].get("topic") for one in document["results"]] == ["shop/payments/captured"]
    reasons = {one["subject"]: one["reason"] for one in document["skipped"]}
    assert sorted(reasons) == [
        "shop/orders",
        "shop/orders/order-cancelled",
        "shop/orders/order-created",
    ]
    assert reasons["shop/orders/order-created"] == "its namespace shop/orders is skipped"
    assert "order-cancelled is skipped" in reasons["shop/orders"]


def test_an_error_about_no_subject_stops_all_of_it(applied: Path, command: CommandLine) -> None:
    config = applied / "gitops.yaml"
    text = config.read_text("utf-8").replace("minTopics: 10", "minTopics: 1")
    config.write_text(text.replace("maxChangedShare: 0.3", "maxChangedShare: 0.1"), "utf-8")
    _add_field(applied, f"{_PAYMENTS}/captured.avsc", _OPTIONAL)

    done = command("apply", "--repo", applied, "--auto-approve", "--keep-going")

    assert (done.code, "PLAN-R004" in done.out) == (1, True)
    assert "nothing was applied" in done.err


def test_a_reviewed_plan_records_whether_it_keeps_going(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    file = tmp_path / "plan.json"
    _plan(command, applied, "--out", file)
    done = command("apply", "--repo", applied, file, "--keep-going")
    assert (done.code, "already records whether it skips" in done.err) == (2, True)
