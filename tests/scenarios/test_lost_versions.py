"""A number that stored messages carry is never given to another schema without a word."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gitops.cli.app import run
from tests.scenarios.registries import Command, Live, embedded
from tests.scenarios.shops import V0, V1, V2, V3, Shop
from tests.support.command_line import PROGRAM
from tests.support.states import field, record


@pytest.fixture
def shop(live: Live, tmp_path: Path, command: Command) -> Shop:
    return Shop(live, tmp_path / "repo", command)


@pytest.mark.rule("PLAN-R023")
def test_an_apply_of_another_change_gives_no_lost_number_anew(shop: Shop) -> None:
    shop.lose("--force")
    shop.define(V0, "other")

    code, findings = shop.findings("plan")
    applied, _ = shop.run("apply", "--auto-approve")
    recorded, _ = shop.run("snapshot")

    assert code == 1
    assert findings["PLAN-R023"]["severity"] == "error"
    assert findings["PLAN-R023"]["message"].startswith("the registry lost v0, v1, ")
    assert applied == 1
    assert shop.versions() == []
    assert recorded == 1


@pytest.mark.rule("PLAN-R023")
def test_a_check_reports_the_loss(shop: Shop) -> None:
    shop.lose("--force")
    shop.define(V2)

    code, findings = shop.findings("check", "--base", "HEAD", "--history", "registry")

    assert code == 1
    assert findings["PLAN-R023"]["severity"] == "error"


@pytest.mark.rule("PLAN-R023")
def test_a_check_with_drift_reports_losses_of_topics_that_it_leaves_alone(shop: Shop) -> None:
    shop.lose("--force")
    shop.define(V0, "other")
    check = ("check", "--base", "HEAD", "--history", "registry")

    _, of_the_change = shop.findings(*check)
    code, of_all = shop.findings(*check, "--drift")

    assert "PLAN-R023" not in of_the_change
    assert (code, of_all["PLAN-R023"]["severity"]) == (1, "error")


@pytest.mark.rule("PLAN-R023")
def test_a_plan_that_was_reviewed_before_the_loss_is_not_applied(shop: Shop) -> None:
    shop.define(V2)
    plan_file = str(shop.root / "plan.json")
    assert shop.run("plan", "--out", plan_file)[0] == 0
    shop.lose("--force")

    assert shop.run("apply", plan_file)[0] not in (0, 3)
    assert shop.versions() == []


@pytest.mark.rule("PLAN-R023")
def test_a_fresh_start_is_recorded_first(shop: Shop) -> None:
    shop.lose("--force")
    assert shop.run("snapshot", "--accept-loss")[0] == 0

    code, findings = shop.findings("plan")

    assert (code, findings["PLAN-R023"]["severity"]) == (0, "warning")
    assert "continues a new history: the registry lost v0, v1" in findings["PLAN-R023"]["message"]
    assert shop.run("apply", "--auto-approve")[0] == 0
    assert shop.versions() == [0]
    assert "PLAN-R023" not in shop.findings("plan")[1]


@pytest.mark.rule("PLAN-R023")
def test_a_number_that_was_recorded_for_another_schema_is_named_until_it_is_passed(
    shop: Shop,
) -> None:
    shop.lose("--force")
    assert shop.run("snapshot", "--accept-loss")[0] == 0
    shop.repo.commit({})
    assert shop.run("apply", "--auto-approve")[0] == 0
    shop.define(V2)

    _, second = shop.findings("plan")
    assert shop.run("apply", "--auto-approve")[0] == 0
    shop.define(V3)
    _, third = shop.findings("plan")

    assert second["PLAN-R023"]["severity"] == "warning"
    assert "PLAN-R023" not in third


@pytest.mark.rule("PLAN-R023")
def test_a_number_that_has_another_schema_now_blocks_also_without_an_action(shop: Shop) -> None:
    shop.lose("--force")
    shop.upload(V1)  # as a producer does that connects again

    code, findings = shop.findings("plan")
    applied, _ = shop.run("apply", "--auto-approve")

    assert code == 1
    assert findings["PLAN-R023"]["message"].startswith("the registry lost v1, ")
    assert "v0 is another schema in the registry" in findings["PLAN-R023"]["message"]
    assert applied == 1


@pytest.mark.rule("PLAN-R023")
def test_a_topic_is_protected_while_its_snapshot_is_broken(shop: Shop) -> None:
    shop.lose("--force")
    (file,) = (shop.root / "snapshots" / "live" / shop.namespace).glob("*.json")
    file.write_text("<<<<<<< HEAD\n" + file.read_text("utf-8"), "utf-8")

    code, findings = shop.findings("plan")

    assert code == 1
    assert findings["PLAN-R023"]["message"].startswith("whether the registry lost versions is ")
    assert shop.run("apply", "--auto-approve")[0] == 1
    assert shop.versions() == []


@pytest.mark.rule("PLAN-R023")
def test_an_apply_that_keeps_going_leaves_the_topic_alone(shop: Shop) -> None:
    shop.lose("--force")
    shop.define(V0, "other")

    code, _ = shop.run("apply", "--auto-approve", "--keep-going")

    assert code == 6
    assert shop.versions() == []
    assert shop.versions("other") == [0]


@pytest.mark.rule("PLAN-R023")
def test_a_restore_ends_the_finding(shop: Shop) -> None:
    shop.lose("--force")
    hint = shop.findings("plan")[1]["PLAN-R023"]["hint"]
    restore = re.search(r"pulsar-gitops (restore \S+ --registry live)", hint)

    assert restore
    assert shop.run(*restore[1].split())[0] == 0
    assert shop.versions() == [0, 1]
    assert shop.run("apply", "--auto-approve")[0] == 0
    assert shop.run("snapshot")[0] == 0


def test_drift_reports_a_loss_before_and_after_it_is_recorded(shop: Shop) -> None:
    shop.lose("--force")
    code, before = shop.drift()
    assert shop.run("snapshot", "--accept-loss")[0] == 0
    shop.repo.commit({})
    assert shop.run("apply", "--auto-approve")[0] == 0
    recorded, after = shop.drift()
    text = shop.run("drift")[1]

    assert code == 3
    (deletion,) = before["drifts"]
    assert deletion["drift"] in ("SchemaDeleted", "TopicDeleted")
    assert deletion["recordedVersions"] == [0, 1]
    assert recorded == 0
    assert after["recordedLosses"] == [{"topic": shop.topic, "versions": [0, 1]}]
    assert f"1 topic has lost versions, which was accepted and is no drift: {shop.topic}" in (
        " ".join(text.split())
    )


@pytest.mark.rule("CHECK-R007")
def test_a_change_that_records_a_loss_says_so(shop: Shop) -> None:
    shop.lose("--force")
    assert shop.run("snapshot", "--accept-loss")[0] == 0

    _, findings = shop.findings("check", "--base", "HEAD", "--history", "snapshot")

    assert findings["CHECK-R007"]["message"].startswith(
        f"schemas were lost: {shop.topic} (v0, v1); "
    )


@pytest.mark.rule("PLAN-R023")
def test_after_a_tombstone_numbers_go_on_and_the_loss_is_a_warning(shop: Shop) -> None:
    shop.lose()

    code, findings = shop.findings("plan")

    assert (code, findings["PLAN-R023"]["severity"]) == (0, "warning")


@pytest.mark.rule("PLAN-R023")
def test_nothing_is_reported_while_all_versions_are_there(shop: Shop) -> None:
    shop.define(V2)

    code, findings = shop.findings("plan")

    assert (code, "PLAN-R023" in findings) == (0, False)
    assert shop.run("snapshot")[0] == 0


def test_a_topic_that_never_had_a_schema_gets_no_tombstone(shop: Shop, live: Live) -> None:
    topic = f"{live.tenant}/orders/creatd"

    code, _ = shop.run("schemas", "delete", topic, "--yes")

    assert code == 2


@pytest.fixture
def journaled(live: Live, tmp_path: Path, command: Command) -> Shop:
    """No snapshot was ever taken."""
    return Shop(live, tmp_path / "repo", command, with_snapshot=False)


@pytest.mark.rule("PLAN-R023")
def test_a_journal_has_versions_that_no_snapshot_has(journaled: Shop) -> None:
    journaled.lose("--force")
    journaled.define(V0, "other")

    code, findings = journaled.findings("plan")
    applied, _ = journaled.run("apply", "--auto-approve")
    drifted, drift = journaled.drift()
    recorded, _ = journaled.run("snapshot")

    assert (code, applied, recorded) == (1, 1, 1)
    assert findings["PLAN-R023"]["message"].startswith(
        "the registry lost v0, v1, which the journal .gitops/live.journal has; "
    )
    assert journaled.versions() == []
    assert drifted == 3
    deletion = next(one for one in drift["drifts"] if one["topic"] == journaled.topic)
    assert deletion["recordedVersions"] == [0, 1]
    assert deletion["journal"] == ".gitops/live.journal"


@pytest.mark.rule("PLAN-R023")
def test_a_check_reports_a_loss_that_a_journal_shows(journaled: Shop) -> None:
    journaled.lose("--force")
    journaled.define(V2)

    code, findings = journaled.findings("check", "--base", "HEAD", "--history", "registry")

    assert code == 1
    assert findings["PLAN-R023"]["severity"] == "error"


@pytest.mark.rule("PLAN-R023")
def test_a_check_reports_the_loss_of_a_registry_whose_file_is_gone(
    tmp_path: Path, command: Command
) -> None:
    """Its journal is there; in a clone without one, as in CI, the file never was."""
    with embedded(tmp_path) as live:
        shop = Shop(live, tmp_path / "repo", command)
    (tmp_path / "live.db").unlink()
    shop.define(V2)

    planned, in_plan = shop.findings("plan")
    checked, in_check = shop.findings("check", "--base", "HEAD")
    (shop.root / ".gitops" / "live.journal").unlink()
    elsewhere, in_clone = shop.findings("check", "--base", "HEAD")

    assert (planned, checked) == (1, 1)
    assert in_check["PLAN-R023"] == in_plan["PLAN-R023"]
    assert (elsewhere, "PLAN-R023" in in_clone) == (0, False)


@pytest.mark.rule("CLIENT-R009")
def test_a_client_that_a_loss_locks_out_is_not_to_blame(shop: Shop) -> None:
    definition = json.dumps(V1)
    (shop.root / "clients").mkdir()
    (shop.root / "clients" / "billing.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Client\nname: billing\nowner: '@acme/billing'\n"
        f"consumes: [{{topic: {shop.topic}, subscription: billing, "
        f"schema: {{type: AVRO, definition: {definition}}}}}]\n"
    )
    shop.repo.commit({})
    shop.lose("--force")
    shop.upload(record(field("a", "string")))
    shop.define(V2)

    _, findings = shop.findings("check", "--base", "HEAD", "--history", "registry")

    broken = findings["CLIENT-R009"]
    assert broken["message"].startswith(
        f"does not work now, since the registry lost versions of {shop.topic}: "
    )
    assert broken["hint"] == "bring the lost versions back: PLAN-R023 has the command"


@pytest.mark.rule("PLAN-R023")
def test_a_version_since_the_snapshot_is_restored_from_the_journal(shop: Shop) -> None:
    shop.define(V2)
    assert shop.run("apply", "--auto-approve")[0] == 0
    shop.lose("--force")

    _, before = shop.findings("plan")
    assert shop.run("restore")[0] == 0

    assert before["PLAN-R023"]["message"].startswith("the registry lost v0, v1, v2, ")
    assert shop.versions() == [0, 1, 2]
    assert "PLAN-R023" not in shop.findings("plan")[1]
    assert shop.run("snapshot")[0] == 0


def test_drift_advises_a_restore_before_an_apply_that_a_loss_blocks(shop: Shop) -> None:
    _, before = shop.run("drift")
    shop.lose("--force")

    _, text = shop.run("drift")

    assert "if git is right" not in before
    assert "if git is right: `pulsar-gitops restore " in " ".join(text.split())


def test_a_restore_of_a_snapshot_that_is_behind_says_so(shop: Shop) -> None:
    shop.define(V2)
    assert shop.run("apply", "--auto-approve")[0] == 0
    shop.lose_elsewhere()
    shutil.rmtree(shop.root / ".gitops")  # as in another clone

    _, dry = shop.run("restore", "--dry-run", "--format", "markdown")
    code, text = shop.run("restore")
    again = json.loads(shop.run("restore", "--format", "json")[1])

    warning = (
        f"warning: {shop.topic}: git defines a schema that no recorded version has, and the next "
        "version is v2; if it was registered, "
    )
    assert code == 0
    assert warning in " ".join(text.split())
    assert f"- warning: {shop.topic}: git defines a schema" in dry.replace("\\", "")
    assert again["unrecorded"] == []


def test_a_restore_of_what_git_defines_has_no_warning(shop: Shop) -> None:
    shop.lose_elsewhere()

    document = json.loads(shop.run("restore", "--format", "json")[1])

    assert document["topics"][0]["versions"] == [0, 1]
    assert document["unrecorded"] == []


@pytest.mark.rule("PLAN-R023")
def test_versions_are_restored_without_any_snapshot(journaled: Shop) -> None:
    journaled.lose("--force")
    hint = journaled.findings("plan")[1]["PLAN-R023"]["hint"]
    restore = re.search(r"pulsar-gitops (restore \S+ --registry live)", hint)

    assert restore
    assert journaled.run(*restore[1].split())[0] == 0
    assert journaled.versions() == [0, 1]
    _, text = journaled.run("policies", "get", journaled.namespace)
    assert "BACKWARD" in text
    assert journaled.run("apply", "--auto-approve")[0] == 0


@pytest.mark.rule("PLAN-R024")
def test_a_first_version_that_is_no_longer_the_one_in_git(produced: Shop) -> None:
    produced.lose_elsewhere()
    produced.define(V0, "new")
    _, of_same = produced.findings("check", "--base", "HEAD", "--history", "registry")
    produced.define(V2)

    code, of_other = produced.findings("check", "--base", "HEAD", "--history", "registry")

    assert (code, "PLAN-R024" in of_same) == (0, False)
    finding = of_other["PLAN-R024"]
    assert (finding["severity"], finding["location"]["file"]) == (
        "warning",
        f"namespaces/{produced.namespace}/created.yaml",
    )
    message = f"{produced.topic} has no version in the registry, and git has an earlier definition"
    assert finding["message"].startswith(message)

    produced.repo.commit({})  # without a change of the topic
    for arguments in (
        ("plan",),
        ("check", "--base", "HEAD", "--history", "registry", "--drift"),
    ):
        _, findings = produced.findings(*arguments)
        assert findings["PLAN-R024"]["message"].startswith(message)
    _, drift = produced.run("drift")
    assert f"Git has an earlier definition of {produced.topic}" in " ".join(drift.split())


@pytest.fixture
def produced(live: Live, tmp_path: Path, command: Command) -> Shop:
    """A topic whose v0 and v1 came from producers, so that neither snapshot nor journal has one."""
    shop = Shop(live, tmp_path / "repo", command, with_snapshot=False)
    shutil.rmtree(shop.root / ".gitops", ignore_errors=True)
    return shop


@pytest.mark.rule("PLAN-R023")
def test_a_forced_deletion_records_what_nothing_else_has(produced: Shop) -> None:
    produced.lose("--force")
    produced.define(V2)

    planned, findings = produced.findings("plan")
    checked, in_check = produced.findings("check", "--base", "HEAD", "--history", "registry")
    applied, _ = produced.run("apply", "--auto-approve")

    assert (planned, checked, applied) == (1, 1, 1)
    assert findings["PLAN-R023"]["message"].startswith(
        "the registry lost v0, v1, which the journal .gitops/live.deletions.journal has; "
    )
    assert in_check["PLAN-R023"]["message"] == findings["PLAN-R023"]["message"]
    assert produced.run("restore", produced.namespace)[0] == 0
    assert produced.versions() == [0, 1]
    assert produced.run("apply", "--auto-approve")[0] == 0
    assert produced.versions() == [0, 1, 2]


@pytest.mark.rule("PLAN-R023")
def test_a_forced_deletion_is_begun_anew_once_its_loss_is_accepted(produced: Shop) -> None:
    produced.lose("--force")
    recorded, _ = produced.run("snapshot", "--accept-loss")
    produced.define(V2)

    planned, findings = produced.findings("plan")
    applied, _ = produced.run("apply", "--auto-approve")

    assert (recorded, planned, applied) == (0, 0, 0)
    assert findings["PLAN-R023"]["severity"] == "warning"
    assert produced.versions() == [0]


@pytest.mark.rule("PLAN-R023")
def test_a_forced_deletion_keeps_the_numbers_of_a_tombstone(produced: Shop) -> None:
    produced.lose()
    produced.lose("--force")

    planned, findings = produced.findings("plan")
    assert produced.run("restore", produced.namespace)[0] == 0
    assert produced.run("apply", "--auto-approve")[0] == 0

    assert planned == 1
    assert "live.deletions.journal has v3: the registry forgot" in findings["PLAN-R023"]["message"]
    assert produced.versions() == [3]


def test_a_forced_deletion_says_what_it_means(
    produced: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    delete = ("schemas", "delete", "--force", "--yes", produced.topic)
    code = run([*delete, "--repo", str(produced.root)])

    warnings, deleted, rest = capsys.readouterr().err.partition("deleted ")
    assert code == 0
    assert warnings.startswith("warning: consumers with v1, the latest version, can no longer")
    assert deleted + rest == (
        f"deleted all versions of {produced.topic} in live: numbers begin again at v0\n"
        "messages stored with v0, v1 decode wrongly or not at all once other schemas get these "
        "numbers\n"
        f"  bring them back: pulsar-gitops restore {produced.namespace} --registry live; to begin "
        "anew: pulsar-gitops snapshot --accept-loss --registry live\n"
    )


@pytest.mark.rule("PLAN-R023")
def test_an_accepted_loss_is_expected_of_no_journal(journaled: Shop) -> None:
    journaled.lose("--force")
    assert journaled.run("snapshot", "--accept-loss")[0] == 0

    code, findings = journaled.findings("plan")
    assert (code, findings["PLAN-R023"]["severity"]) == (0, "warning")
    assert journaled.run("apply", "--auto-approve")[0] == 0
    assert journaled.versions() == [0]

    journaled.lose("--force")
    journaled.define(V2)
    code, findings = journaled.findings("plan")
    assert (code, findings["PLAN-R023"]["severity"]) == (1, "error")


@pytest.mark.rule("PLAN-R023")
def test_a_loss_that_was_accepted_elsewhere_is_known_from_git(shop: Shop) -> None:
    shop.lose("--force")
    assert shop.run("snapshot", "--accept-loss")[0] == 0
    shop.repo.commit({})

    code, findings = shop.findings("plan")

    assert (code, findings["PLAN-R023"]["severity"]) == (0, "warning")


@pytest.mark.rule("PLAN-R023")
def test_the_journal_of_a_plan_file_counts(journaled: Shop) -> None:
    journaled.define(V0, "other")
    plan_file = str(journaled.root / "plan.json")
    assert journaled.run("plan", "--out", plan_file)[0] == 0
    assert journaled.run("apply", plan_file)[0] == 0
    other = f"{journaled.namespace}/other"
    assert journaled.run("schemas", "delete", other, "--yes", "--force")[0] == 0
    journaled.define(V2, "other")

    code, findings = journaled.findings("plan")

    assert code == 1
    assert "the journal plan.json.journal has" in findings["PLAN-R023"]["message"]


def test_a_client_is_not_promised_a_version_that_was_lost(journaled: Shop) -> None:
    journaled.lose("--force")
    client = journaled.root / "clients" / "billing.yaml"
    client.parent.mkdir()
    client.write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Client\nname: billing\nowner: '@acme/billing'\n"
        f"consumes: [{{topic: {journaled.topic}, subscription: billing, schema: {{version: 0}}}}]\n"
    )

    code, text = journaled.run("connect", "client", "billing", "--format", "json")

    (connection,) = json.loads(text)["connections"]
    assert (code, connection["afterPlan"]["answer"]) == (1, "unknown"), connection
    assert "the registry lost v0, v1" in connection["afterPlan"]["reason"]


@pytest.mark.rule("PLAN-R023")
def test_a_broken_journal_leaves_open_what_was_lost(journaled: Shop) -> None:
    journal = journaled.root / ".gitops" / "live.journal"
    lines = journal.read_text("utf-8").splitlines()
    journal.write_text("\n".join([lines[0], "{]", *lines[1:]]), "utf-8")

    intact, known = journaled.findings("plan")
    journaled.lose_elsewhere()
    code, findings = journaled.findings("plan")

    assert (intact, "PLAN-R023" in known) == (0, False)
    assert code == 1
    assert findings["PLAN-R023"]["message"] == (
        "whether the registry lost versions is unknown: line 2 is no line of a journal"
    )
    note = "versions that only .gitops/live.journal has are not known"
    assert note in re.sub(r"\s+", " ", journaled.run("drift")[1])


@pytest.mark.rule("PLAN-R023")
def test_what_an_apply_deleted_is_no_loss_and_its_numbers_are_kept(journaled: Shop) -> None:
    path = journaled.root / "namespaces" / journaled.namespace / "created.yaml"
    definition = path.read_bytes()
    path.unlink()
    config = journaled.root / "gitops.yaml"
    config.write_text(config.read_text("utf-8") + "safety: {allowDeletions: true}\n", "utf-8")
    journaled.repo.commit({})
    assert journaled.run("apply", "--auto-approve", "--prune")[0] == 0
    path.write_bytes(definition)

    code, findings = journaled.findings("plan")
    journaled.lose("--force")
    lost, after = journaled.findings("plan")

    assert (code, "PLAN-R023" in findings) == (0, False)
    assert (lost, after["PLAN-R023"]["severity"]) == (1, "error")
    assert after["PLAN-R023"]["message"].startswith("the next version is v")


@pytest.mark.rule("PLAN-R023")
def test_a_snapshot_keeps_the_numbers_of_a_tombstone(shop: Shop) -> None:
    shop.lose()
    assert shop.run("snapshot", "--accept-loss")[0] == 0
    shop.lose("--force")

    code, findings = shop.findings("plan")
    recorded, _ = shop.run("snapshot")

    assert (code, recorded) == (1, 1)
    assert findings["PLAN-R023"]["severity"] == "error"
    assert "which the snapshot has" in findings["PLAN-R023"]["message"] or (
        "the registry forgot deleted versions" in findings["PLAN-R023"]["message"]
    )
    assert shop.drift()[0] == 3
    assert shop.run("restore")[0] == 0
    assert "PLAN-R023" not in shop.findings("plan")[1]


def test_a_restore_keeps_policies_that_clients_of_later_versions_need(shop: Shop) -> None:
    shop.define(V0, "paid")
    assert shop.run("apply", "--auto-approve")[0] == 0
    strategy = "schemaCompatibilityStrategy="
    assert shop.run("policies", "set", shop.namespace, f"{strategy}FULL_TRANSITIVE")[0] == 0
    assert shop.run("snapshot")[0] == 0
    assert shop.run("policies", "set", shop.namespace, f"{strategy}ALWAYS_COMPATIBLE")[0] == 0
    shop.upload(record(field("a", "string")))
    paid = f"{shop.namespace}/paid"
    assert shop.run("schemas", "delete", paid, "--yes", "--force")[0] == 0

    code, text = shop.run("restore")

    assert code == 0
    assert f"left: {shop.namespace} has policies that differ from the snapshot" in text
    assert shop.versions("paid") == [0]
    assert "ALWAYS_COMPATIBLE" in shop.run("policies", "get", shop.namespace)[1]
    assert shop.run("connect", "consumer", shop.topic, "v2", "--state", "active")[0] == 0


@pytest.mark.rule("PLAN-R023")
def test_after_a_tombstone_the_hint_of_the_plan_brings_the_versions_back(shop: Shop) -> None:
    shop.lose()

    _, text = shop.run("plan", "--format", "json")
    plan = json.loads(text)
    (deletion,) = shop.drift()[1]["drifts"]
    refused, _ = shop.run("restore", "--dry-run")
    (finding,) = [one for one in plan["findings"] if one["rule"] == "PLAN-R023"]
    forget, restore = re.findall(
        r"pulsar-gitops ((?:schemas delete|restore) [^;,]+)", finding["hint"]
    )

    assert [action["version"] for action in plan["actions"]] == [3]
    assert (deletion["recordedVersions"], deletion["nextVersion"]) == ([0, 1], 3)
    assert "the next version is v3" in finding["message"]
    assert refused == 1
    assert shop.run(*forget.split(), "--yes")[0] == 0
    assert shop.run(*restore.split())[0] == 0
    assert shop.versions() == [0, 1]
    assert shop.drift()[0] == 0


@pytest.mark.rule("PLAN-R023")
def test_after_a_tombstone_an_apply_gets_the_number_that_plan_and_drift_show(shop: Shop) -> None:
    shop.lose()
    (deletion,) = shop.drift()[1]["drifts"]
    assert shop.run("apply", "--auto-approve")[0] == 0

    code, findings = shop.findings("plan")

    assert shop.versions() == [3]
    assert deletion["nextVersion"] == 3
    assert (code, findings["PLAN-R023"]["severity"]) == (0, "warning")
    assert "the next version is v4" in findings["PLAN-R023"]["message"]
    assert findings["PLAN-R023"]["hint"].startswith("if no stored message needs v3, bring ")
    assert shop.run("restore", "--dry-run")[0] == 1


def _remove_snapshot(shop: Shop) -> None:
    shutil.rmtree(shop.root / "snapshots")
    shutil.rmtree(shop.root / ".gitops")  # as in another clone
    shop.repo.commit({})


@pytest.mark.rule("PLAN-R023")
def test_a_snapshot_that_was_removed_by_hand_accepts_no_loss(shop: Shop) -> None:
    shop.lose("--force")
    _remove_snapshot(shop)
    file = f"snapshots/live/{shop.topic}.json"

    planned, in_plan = shop.findings("plan")
    applied, _ = shop.run("apply", "--auto-approve")
    drifted, drift = shop.drift()
    recorded, _ = shop.run("snapshot")
    shop.define(V2)
    checked, in_check = shop.findings("check", "--base", "HEAD", "--history", "registry")

    assert (planned, applied, drifted, recorded, checked) == (1, 1, 3, 1, 1)
    assert in_plan["PLAN-R023"]["message"].startswith(
        f"the registry lost v0, v1, which {file} at an earlier commit has; "
    )
    assert in_plan["PLAN-R023"]["hint"].startswith(
        f"bring them back: take {file} from a commit of `git log -- {file}`, then pulsar-gitops "
    )
    assert in_check["PLAN-R023"]["severity"] == "error"
    assert drift["drifts"][0]["recordedVersions"] == [0, 1]
    assert shop.versions() == []


@pytest.mark.rule("PLAN-R023")
def test_a_loss_after_a_removal_is_accepted_as_any_other(shop: Shop) -> None:
    shop.lose("--force")
    _remove_snapshot(shop)
    assert shop.run("snapshot", "--accept-loss")[0] == 0
    shop.repo.commit({})

    code, findings = shop.findings("plan")

    assert (code, findings["PLAN-R023"]["severity"]) == (0, "warning")


@pytest.mark.rule("PLAN-R023")
def test_a_version_that_was_edited_out_of_a_snapshot_still_counts(shop: Shop) -> None:
    shop.lose("--force")
    shop.upload(V0)
    (file,) = (shop.root / "snapshots" / "live" / shop.namespace).glob("*.json")
    document = json.loads(file.read_text("utf-8"))
    document |= {"versions": document["versions"][:1], "nextVersion": 1}
    file.write_text(json.dumps(document, indent=2), "utf-8")
    shutil.rmtree(shop.root / ".gitops")
    shop.repo.commit({})
    shop.define(V2)

    code, findings = shop.findings("plan")

    assert (code, findings["PLAN-R023"]["severity"]) == (1, "error")


@pytest.mark.rule("PLAN-R023")
def test_what_was_accepted_and_came_back_can_be_lost_again(shop: Shop) -> None:
    shop.lose("--force")
    assert shop.run("snapshot", "--accept-loss")[0] == 0
    shop.repo.commit({})
    shop.upload(V0)
    shop.upload(V1)
    assert shop.run("snapshot")[0] == 0
    shop.repo.commit({})
    shop.lose("--force")
    _remove_snapshot(shop)

    code, findings = shop.findings("plan")

    assert (code, findings["PLAN-R023"]["severity"]) == (1, "error")


@pytest.mark.rule("PLAN-R023")
def test_a_loss_is_accepted_in_the_change_that_begins_anew(shop: Shop) -> None:
    shop.lose("--force")
    assert shop.run("snapshot", "--accept-loss")[0] == 0
    shop.define(V2)

    code, findings = shop.findings("check", "--base", "HEAD", "--history", "registry")

    assert code == 0
    assert findings["PLAN-R023"]["severity"] == "warning"
    assert findings["CHECK-R007"]["message"].startswith("schemas were lost: ")


@pytest.mark.rule("PLAN-R023")
@pytest.mark.rule("CHECK-R007")
def test_a_change_that_removes_the_snapshot_accepts_nothing(shop: Shop) -> None:
    shop.lose("--force")
    shutil.rmtree(shop.root / "snapshots")
    shop.define(V2)

    code, findings = shop.findings("check", "--base", "HEAD", "--history", "registry")

    assert (code, findings["PLAN-R023"]["severity"]) == (1, "error")
    assert findings["CHECK-R007"]["message"].endswith(
        f"git's history has these versions, which still count: {shop.topic} (v0, v1)"
    )


@pytest.mark.rule("PLAN-R023")
def test_a_shallow_clone_does_not_know_what_was_lost(shop: Shop, tmp_path: Path) -> None:
    shop.lose("--force")
    _remove_snapshot(shop)
    clone = tmp_path / "shallow"
    url = f"file://{shop.root}"
    subprocess.run(["git", "clone", "-q", "--depth", "1", url, str(clone)], check=True)
    whole = shop.root
    shop.root = clone

    code, findings = shop.findings("plan")
    shop.root = whole

    assert (code, findings["PLAN-R023"]["severity"]) == (0, "warning")
    assert findings["PLAN-R023"]["message"].startswith(
        f"whether {shop.topic} had versions before is unknown: the clone is shallow and begins at "
    )
    assert "fetch-depth: 0" in findings["PLAN-R023"]["hint"]


@pytest.mark.rule("PLAN-R023")
def test_a_clone_that_git_cannot_read_does_not_show_what_was_lost(shop: Shop) -> None:
    shop.lose("--force")
    _remove_snapshot(shop)
    (shop.root / ".git" / "HEAD").unlink()

    code, findings = shop.findings("plan")

    assert (code, findings["PLAN-R023"]["severity"]) == (0, "warning")
    assert findings["PLAN-R023"]["message"].startswith(
        f"whether {shop.topic} had versions before is unknown: this folder is not in a git "
    )


@pytest.mark.rule("PLAN-R023")
def test_without_a_git_command_nothing_shows_what_was_lost(shop: Shop) -> None:
    shop.lose("--force")
    _remove_snapshot(shop)

    done = subprocess.run(
        [PROGRAM, "plan", "--repo", shop.root],
        env={"PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done
    assert "had versions before is unknown: there is no git command" in " ".join(
        done.stdout.split()
    )


@pytest.mark.rule("PLAN-R023")
@pytest.mark.parametrize("removed", ["snapshots", ".gitops"])
def test_a_registry_that_was_renamed_has_a_snapshot_under_its_former_name(
    shop: Shop, removed: str
) -> None:
    shop.lose("--force")
    settings = shop.root / "gitops.yaml"
    settings.write_text(settings.read_text("utf-8").replace("live:", "renamed:"), "utf-8")
    shutil.rmtree(shop.root / removed)
    shop.repo.commit({})

    _, findings = shop.findings("plan")

    assert findings["PLAN-R023"]["severity"] == "warning"
    assert (
        "of a registry 'live' that gitops.yaml does not have any more"
        in (findings["PLAN-R023"]["message"])
    )
    assert "git mv snapshots/live snapshots/renamed" in findings["PLAN-R023"]["hint"]
