"""A restore takes what all records have, and stops where they contradict each other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.scenarios.registries import Command, embedded
from tests.scenarios.shops import V0, V1, V2, Shop
from tests.support.states import field, record

_SWAPPED = record(field("b", "string", default=""), field("a", "long"))


@pytest.fixture
def local(tmp_path: Path, command: Command) -> Shop:
    """What is recorded matters here, and not which registry has lost it."""
    with embedded(tmp_path) as live:
        return Shop(live, tmp_path / "repo", command)


def _file(shop: Shop) -> Path:
    return shop.root / f"snapshots/live/{shop.topic}.json"


def _edit_v0(shop: Shop) -> None:
    document = json.loads(_file(shop).read_text("utf-8"))
    document["versions"][0]["schema"] = json.dumps(_SWAPPED)
    _file(shop).write_text(json.dumps(document, indent=2), "utf-8")


def _forget_journals(shop: Shop) -> None:
    """As in another clone."""
    for journal in (shop.root / ".gitops").glob("*.journal"):
        journal.unlink()


def _lose_and_forget(shop: Shop) -> None:
    """As a broker forgets a topic, after which clients register their schemas."""
    shop.lose_elsewhere()
    shutil.rmtree(shop.root.with_name("elsewhere"))


def test_an_edited_snapshot_contradicts_the_journal(local: Shop) -> None:
    local.lose_elsewhere()
    _edit_v0(local)
    shutil.rmtree(local.root / ".git")

    tried, _ = local.run("restore", "--dry-run")
    code, text = local.run("restore")

    assert (tried, code) == (1, 1)
    assert (
        "v0 in the snapshot and v0 in the journal .gitops/live.journal are different"
        in " ".join(text.split())
    )
    assert local.versions() == []


def test_an_edited_snapshot_contradicts_the_commit_before(local: Shop) -> None:
    commit = local.repo.head[:7]
    local.lose_elsewhere()
    _edit_v0(local)
    _forget_journals(local)
    in_the_tree = local.run("restore")
    local.repo.commit({})
    committed = local.run("restore")

    for code, text in (in_the_tree, committed):
        assert code == 1
        file = f"snapshots/live/{local.topic}.json"
        expected = f"v0 in the snapshot and v0 in {file} at commit {commit} are different schemas"
        assert expected in " ".join(text.split())
    assert local.versions() == []


def test_a_contradiction_counts_while_the_registry_has_the_edited_version(local: Shop) -> None:
    _lose_and_forget(local)
    local.upload(_SWAPPED)
    local.upload(V1)
    _edit_v0(local)
    local.repo.commit({})

    code, text = local.run("restore")

    assert code == 1
    assert "nothing to restore" not in text


def test_the_files_decide_where_somebody_says_so(local: Shop) -> None:
    right = _file(local).read_text("utf-8")
    local.lose_elsewhere()
    _edit_v0(local)
    _forget_journals(local)
    local.repo.commit({})
    _file(local).write_text(right, "utf-8")
    refused, _ = local.run("restore")

    code, text = local.run("restore", "--trust-files")

    assert (refused, code) == (1, 0)
    assert f"warning: v0 of {local.topic} is another schema in snapshots/live/" in " ".join(
        text.split()
    )
    assert local.versions() == [0, 1]
    _, schema = local.run("schemas", "get", local.topic, "--version", "0")
    assert json.loads(schema) == V0


def test_an_old_snapshot_is_restored_with_the_versions_of_later_commits(local: Shop) -> None:
    old = _file(local).read_text("utf-8")
    local.upload(V2)
    assert local.run("snapshot")[0] == 0
    local.repo.commit({})
    local.lose_elsewhere()
    _forget_journals(local)
    _file(local).write_text(old, "utf-8")

    tried, shown = local.run("restore", "--dry-run")
    code, text = local.run("restore")

    file = f"snapshots/live/{local.topic}.json"
    assert (tried, code) == (0, 0)
    assert f"with versions of {file} at an earlier commit" in " ".join(shown.split())
    assert "has 3 recorded versions" in text
    assert local.versions() == [0, 1, 2]


def test_a_topic_that_an_old_snapshot_does_not_have_is_named(local: Shop) -> None:
    local.define(V0, "paid")
    assert local.run("apply", "--auto-approve")[0] == 0
    assert local.run("snapshot")[0] == 0
    local.repo.commit({})
    local.lose_elsewhere()
    _forget_journals(local)
    file = f"snapshots/live/{local.namespace}/paid.json"
    (local.root / file).unlink()

    code, text = local.run("restore")

    said = " ".join(text.split())
    assert code == 0
    assert f"warning: {local.namespace}/paid: {file} at commit" in said
    assert f"git checkout {local.repo.head[:7]} -- {file}" in said


def test_a_loss_that_was_accepted_is_no_contradiction(local: Shop) -> None:
    _lose_and_forget(local)
    assert local.run("snapshot", "--accept-loss")[0] == 0
    local.repo.commit({})
    local.upload(V2)
    assert local.run("snapshot")[0] == 0
    local.repo.commit({})
    local.lose_elsewhere()

    assert local.run("restore")[0] == 0
    assert local.versions() == [0]


@pytest.mark.rule("PLAN-R023")
def test_a_journal_of_another_registry_with_the_same_name_does_not_count(
    tmp_path: Path, command: Command
) -> None:
    with embedded(tmp_path) as live:
        shop = Shop(live, tmp_path / "repo", command)
        journal = shop.root / ".gitops/live.journal"
        journal.write_text(journal.read_text("utf-8").replace("live.db", "rehearsal.db"), "utf-8")
        shop.define(V2)
        rehearsal = tmp_path / "rehearsal.db"
        shutil.copy(tmp_path / "live.db", rehearsal)
        settings = shop.root / "gitops.yaml"
        real = settings.read_text("utf-8")
        settings.write_text(real.replace("live.db", "rehearsal.db"), "utf-8")
        assert shop.run("apply", "--auto-approve")[0] == 0
        settings.write_text(real, "utf-8")
        shop.lose_elsewhere()

        code, text = shop.run("restore")

        assert code == 0
        assert shop.versions() == [0, 1]
        assert "do not count: they were registered at" in " ".join(text.split())


@pytest.mark.rule("PLAN-R023")
def test_a_plan_of_a_first_version_names_journals_that_do_not_count(
    tmp_path: Path, command: Command
) -> None:
    with embedded(tmp_path) as live:
        shop = Shop(live, tmp_path / "repo", command, with_snapshot=False)
        settings = shop.root / "gitops.yaml"
        settings.write_text(settings.read_text("utf-8").replace("live.db", "other.db"), "utf-8")

        code, findings = shop.findings("plan")

    assert code == 0
    assert findings["PLAN-R023"]["severity"] == "warning"
    assert "that were registered at" in findings["PLAN-R023"]["message"]
