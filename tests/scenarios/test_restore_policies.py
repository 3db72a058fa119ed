"""A restore sets recorded policies only as a plan would, and what was cut is not forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.registries import Command, Live, embedded
from tests.scenarios.shops import V0, V1, V2, Shop
from tests.support.states import field, record

_STRATEGY = "schemaCompatibilityStrategy="
_AUTO_UPDATE = "isAllowAutoUpdateSchema="
_ENFORCED = "schemaValidationEnforced="
_UNREADABLE = record(field("z", "int"))


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """The registry's own answers are not what this is about."""
    with embedded(tmp_path) as found:
        yield found


@pytest.fixture
def shop(live: Live, tmp_path: Path, command: Command) -> Shop:
    return Shop(live, tmp_path / "repo", command)


def _set(shop: Shop, *assignments: str) -> None:
    assert shop.run("policies", "set", shop.namespace, *assignments)[0] == 0


def _policies(shop: Shop) -> str:
    return shop.run("policies", "get", shop.namespace)[1]


def _lines(shop: Shop, *args: str) -> tuple[int, str]:
    code, text = shop.run(*args)
    return code, " ".join(text.split())


def _consume_v0(shop: Shop) -> None:
    use = {"topic": shop.topic, "subscription": "s", "schema": {"version": 0}}
    client = {
        "apiVersion": "pulsar-gitops/v1",
        "kind": "Client",
        "name": "billing",
        "owner": "@acme/billing",
        "consumes": [use],
    }
    (shop.root / "clients").mkdir()
    (shop.root / "clients/billing.yaml").write_text(json.dumps(client), "utf-8")


def _loosen_since_the_snapshot(shop: Shop) -> None:
    _set(shop, f"{_STRATEGY}FULL", f"{_ENFORCED}true", f"{_AUTO_UPDATE}true")
    assert shop.run("snapshot")[0] == 0
    _set(shop, f"{_STRATEGY}ALWAYS_COMPATIBLE", f"{_ENFORCED}false")


@pytest.mark.rule("PLAN-R021")
@pytest.mark.parametrize("options", [["--dry-run"], []])
def test_stricter_policies_are_set_with_a_word_on_who_is_locked_out(
    options: list[str], shop: Shop
) -> None:
    _loosen_since_the_snapshot(shop)
    shop.upload(_UNREADABLE)

    code, text = _lines(shop, "restore", *options)

    assert code == 0
    assert "warning: producers without a schema can no longer connect: " in text
    assert "warning: consumers with v1, v0 can no longer connect: " in text
    assert "schemaValidationEnforced false → true" in text
    assert f"({shop.topic}) (PLAN-R021)" in text


@pytest.mark.rule("PLAN-R021")
def test_a_topic_that_is_not_restored_counts(shop: Shop) -> None:
    shop.define(V0, "paid")
    assert shop.run("apply", "--auto-approve")[0] == 0
    _loosen_since_the_snapshot(shop)
    other = TopicUpload(shop, "other")
    other.register(V0)
    assert shop.run("schemas", "delete", "--force", "--yes", f"{shop.namespace}/paid")[0] == 0

    code, text = _lines(shop, "restore", "--dry-run")

    assert code == 0
    for topic in ("created", "other", "paid"):
        assert f"({shop.namespace}/{topic}) (PLAN-R021)" in text


class TopicUpload:
    """A topic that somebody else uses, and that neither files nor a snapshot have."""

    def __init__(self, shop: Shop, name: str) -> None:
        self._shop = shop
        self._topic = f"{shop.namespace}/{name}"

    def register(self, definition: dict[str, object]) -> None:
        file = self._shop.root / "other.avsc"
        file.write_text(json.dumps(definition), "utf-8")
        upload = ("schemas", "upload", self._topic, str(file), "--type", "AVRO")
        assert self._shop.run(*upload)[0] == 0
        file.unlink()


def test_policies_stay_where_a_declared_client_would_be_locked_out(shop: Shop) -> None:
    _loosen_since_the_snapshot(shop)
    shop.upload(_UNREADABLE)
    _consume_v0(shop)

    tried, shown = _lines(shop, "restore", "--dry-run")
    code, text = _lines(shop, "restore")

    for answer in (shown, text):
        assert f"left: {shop.namespace} has policies that differ from the snapshot" in answer
        assert "consumers with v0 (billing) can no longer connect" in answer
    assert (tried, code) == (0, 0)
    assert "ALWAYS_COMPATIBLE" in _policies(shop)


def test_a_policy_that_lets_more_clients_in_is_set_where_others_stay(shop: Shop) -> None:
    _loosen_since_the_snapshot(shop)
    shop.upload(_UNREADABLE)
    _consume_v0(shop)
    _set(shop, f"{_AUTO_UPDATE}false")  # as long as the registry is not restored

    code, text = _lines(shop, "restore")

    assert code == 0
    assert "isAllowAutoUpdateSchema false → true" in text
    assert "schemaCompatibilityStrategy" not in text.split("left:")[0].split("~")[-1]
    assert "ALWAYS_COMPATIBLE" in _policies(shop)


def _cut_restore(shop: Shop) -> None:
    """Killed after its last version, before it sets policies back, as the journal has it."""
    _set(shop, f"{_AUTO_UPDATE}true")
    assert shop.run("snapshot")[0] == 0
    shop.lose_elsewhere()
    assert shop.run("restore")[0] == 0
    journal = shop.root / ".gitops/live.restore.journal"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if '"RegisterSchema"' in line)
    journal.write_text("".join(lines[: last + 2]), "utf-8")  # with what became of it
    _set(shop, f"{_STRATEGY}ALWAYS_COMPATIBLE", f"{_AUTO_UPDATE}false")


@pytest.mark.rule("PLAN-R025")
def test_a_restore_that_was_killed_is_an_error_until_it_is_run_again(shop: Shop) -> None:
    _cut_restore(shop)
    before = (shop.root / f"snapshots/live/{shop.namespace}.json").read_bytes()

    planned, in_plan = shop.findings("plan")
    shop.define(V2)
    checked, in_check = shop.findings("check", "--base", "HEAD", "--history", "registry")
    _, drift = shop.drift()
    recorded, _ = shop.run("snapshot")

    assert (planned, recorded) == (1, 1)
    message = in_plan["PLAN-R025"]["message"]
    assert "isAllowAutoUpdateSchema false (true before)" in message
    assert in_check["PLAN-R025"]["message"] == message
    assert checked == 1
    assert any("A restore did not come to its end" in limit for limit in drift["limits"])
    assert (shop.root / f"snapshots/live/{shop.namespace}.json").read_bytes() == before

    shop.define(V1)

    code, _ = shop.run("restore")

    assert code == 0
    assert "BACKWARD" in _policies(shop)
    assert "PLAN-R025" not in shop.findings("plan")[1]
    assert shop.run("snapshot")[0] == 0


@pytest.mark.rule("PLAN-R025")
def test_policies_that_somebody_set_back_are_no_finding(shop: Shop) -> None:
    _cut_restore(shop)
    _set(shop, f"{_STRATEGY}BACKWARD", f"{_AUTO_UPDATE}true")

    assert "PLAN-R025" not in shop.findings("plan")[1]
    assert shop.run("snapshot")[0] == 0


def test_a_second_restore_compares_with_the_policies_before_the_first(shop: Shop) -> None:
    _set(shop, f"{_STRATEGY}ALWAYS_COMPATIBLE")
    shop.upload(_UNREADABLE)
    _set(shop, f"{_STRATEGY}BACKWARD")
    _cut_restore(shop)

    code, text = _lines(shop, "restore", "--dry-run")

    assert code == 0
    assert "ALWAYS_COMPATIBLE → BACKWARD" in text
    assert "can no longer connect" not in text
