"""What a change may not do by itself: its own limits, policies, recorded history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.model.check import HistorySource, RegistryCheck
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import TopicName
from gitops.model.plan import RefusedSchema
from gitops.planning.plan_document import to_document
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.check_repository import (
    FILES,
    FOLDER,
    avro,
    manifest,
    record,
    report,
    with_default,
)
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit(FILES)
    return made


def test_a_change_does_not_allow_its_own_deletion(repo: GitRepository) -> None:
    settings = FILES["gitops.yaml"] + "safety: {allowDeletions: true}\nrules: {CHECK-R001: off}\n"
    repo.write({"gitops.yaml": settings, f"{FOLDER}/status.yaml": None})
    found = {each.rule: each.severity for each in report(repo).findings}
    assert found == {"CHECK-R001": Severity.ERROR, "CHECK-R006": Severity.WARNING}


def test_a_change_does_not_switch_off_a_rule_about_its_files(repo: GitRepository) -> None:
    settings = FILES["gitops.yaml"] + "rules: {REPO-R023: off}\n"
    repo.write({"gitops.yaml": settings, f"{FOLDER}/left.avsc": avro("Left", "a")})
    assert "REPO-R023" in {each.rule for each in report(repo).findings}


def breaking(repo: GitRepository) -> tuple[RegistryCheck, RefusedSchema]:
    repo.write({f"{FOLDER}/created.avsc": with_default(0)})
    (one,) = report(repo).registries
    (refused,) = one.plan.notices
    assert isinstance(refused, RefusedSchema)
    return one, refused


def test_no_waiver_is_proposed_from_the_history_of_git(repo: GitRepository) -> None:
    """A fingerprint holds for the registry's versions, which git does not know."""
    repo.commit({f"{FOLDER}/created.avsc": with_default("")})
    one, refused = breaking(repo)
    assert one.history.source is HistorySource.GIT
    assert refused.waiver is None
    assert one.history.limits[-1].startswith("No waiver is proposed")


def test_a_waiver_of_the_snapshot_says_so(repo: GitRepository) -> None:
    record(repo, with_default(""))
    repo.commit({f"{FOLDER}/created.avsc": with_default("")})
    one, refused = breaking(repo)
    assert one.history.source is HistorySource.SNAPSHOT
    assert refused.waiver is not None
    assert refused.waiver.fits == "it fits the versions of the snapshot"
    (said,) = to_document(one.plan)["notices"]
    assert said["waiver"]["fits"] == refused.waiver.fits
    assert "`--waivers waivers/`" in said["waiver"]["hint"]


def test_a_history_of_git_without_a_refusal_speaks_of_no_waiver(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/created.avsc": with_default("")})
    (one,) = report(repo).registries
    assert not [each for each in one.history.limits if "waiver" in each]


def test_a_registry_that_a_change_brings_along_is_not_asked(repo: GitRepository) -> None:
    """Its author would decide what the change is compared with."""
    live = EmbeddedRegistry("local", repo.root / "x.db")
    live.create_namespace(TopicName.parse("shop/orders/created").namespace)
    live.close()
    assert report(repo).registries[0].history.source is HistorySource.REGISTRY

    repo.git("switch", "--quiet", "--create", "pr")
    repo.commit()
    (one,) = report(repo).registries
    assert one.history.source is HistorySource.GIT
    assert any("is committed" in limit for limit in one.history.limits)


SPACE = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"


def told(repo: GitRepository, rule: str) -> list[Finding]:
    return [each for each in report(repo).findings if each.rule == rule]


@pytest.mark.parametrize("left", [None, SPACE])
def test_a_policy_that_is_managed_no_more(repo: GitRepository, left: str | None) -> None:
    file = f"{FOLDER}/namespace.yaml"
    repo.commit({file: f"{SPACE}schemaCompatibilityStrategy: FULL\n"})
    repo.write({file: left})
    (found,) = told(repo, "CHECK-R003")
    assert found.severity is Severity.WARNING
    assert "schemaCompatibilityStrategy of namespace shop/orders is no longer" in found.message
    assert "FULL" in found.message
    assert found.location is not None
    assert (found.location.file, found.location.line) == (file, 4)
    assert found.location.in_base


def test_a_policy_that_is_another_one_is_still_managed(repo: GitRepository) -> None:
    file = f"{FOLDER}/namespace.yaml"
    repo.commit({file: f"{SPACE}schemaCompatibilityStrategy: BACKWARD\n"})
    repo.write({file: f"{SPACE}schemaCompatibilityStrategy: FULL\n"})
    assert not told(repo, "CHECK-R003")


def test_a_policy_of_a_topic_that_is_managed_no_more(repo: GitRepository) -> None:
    file = f"{FOLDER}/status.yaml"
    policies = "policies: {schemaCompatibilityStrategy: FULL}\n"
    repo.commit({file: manifest("type: STRING", policies)})
    repo.write({file: manifest("type: STRING")})
    (found,) = told(repo, "CHECK-R003")
    assert "of topic shop/orders/status is no longer managed" in found.message


def test_a_new_namespace_without_policies(repo: GitRepository) -> None:
    repo.write({"namespaces/shop/new/status.yaml": manifest("type: STRING")})
    (found,) = told(repo, "CHECK-R003")
    assert found.severity is Severity.INFO
    assert "namespace shop/new is new" in found.message
    space = f"{SPACE}schemaCompatibilityStrategy: FULL\n".replace("orders", "new")
    repo.write({"namespaces/shop/new/namespace.yaml": space})
    assert not told(repo, "CHECK-R003")


def test_a_new_topic_in_a_namespace_that_never_had_a_file(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/other.yaml": manifest("type: STRING")})
    assert not told(repo, "CHECK-R003")


def test_snapshots_that_are_edited_or_deleted(repo: GitRepository) -> None:
    record(repo, avro("Created", "a"))
    assert not told(repo, "CHECK-R007"), "a first snapshot edits nothing"
    repo.commit()
    space, topic = "snapshots/local/shop/orders.json", "snapshots/local/shop/orders/created.json"
    repo.write({topic: None})
    (found,) = told(repo, "CHECK-R007")
    assert found.message.startswith(f"recorded history is edited or deleted: {topic}; ")
    assert found.message.endswith("still count: shop/orders/created (v0)")
    assert found.location == Location(file=topic, in_base=True)
    repo.write({space: (repo.root / space).read_text().replace("shop/orders", "shop/other")})
    (found,) = told(repo, "CHECK-R007")
    assert f": {space}, {topic}; " in found.message
    assert found.location == Location(file=space)


def test_a_snapshot_that_grows_by_what_was_merged_is_no_edit(repo: GitRepository) -> None:
    """It is what the template's workflow proposes after each apply."""
    record(repo, avro("Created", "a"))
    policy = "schemaCompatibilityStrategy"
    merged = {
        f"{FOLDER}/created.avsc": with_default(""),
        f"{FOLDER}/namespace.yaml": f"{SPACE}{policy}: FULL\n",
    }
    repo.commit(merged)
    space, topic = "snapshots/local/shop/orders.json", "snapshots/local/shop/orders/created.json"
    record(repo, with_default(""))
    set_now = (repo.root / space).read_text().replace("{}", f'{{"{policy}": "FULL"}}')
    repo.write({space: set_now})
    assert set(repo.git("diff", "--name-only").split()) == {space, topic}
    assert not told(repo, "CHECK-R007")
    assert not report(repo).touched.topics

    repo.write({space: set_now.replace("FULL", "ALWAYS_COMPATIBLE")})
    (found,) = told(repo, "CHECK-R007")
    assert found.message.endswith(f": {space}")
    grown = (repo.root / topic).read_text()
    repo.write({space: set_now, topic: grown.replace('\\"b\\"', '\\"forged\\"')})
    (found,) = told(repo, "CHECK-R007")
    assert found.message.endswith(f": {topic}")


def test_a_changed_record_of_the_brokers_is_an_edit(repo: GitRepository) -> None:
    """Files want nothing of brokers, and later checks decide by what is recorded."""
    record(repo, avro("Created", "a"))
    path = "snapshots/local/broker.json"
    head = '{"apiVersion": "pulsar-gitops/v1", "kind": "BrokerSnapshot", "release": '
    repo.commit({path: f'{head}"4.0.7"}}'})
    assert not told(repo, "CHECK-R007")

    at_noon, later = (
        f'{head}"4.0.7",\n"recorded": "2026-11-0{day}T12:00:00Z"\n}}' for day in (1, 2)
    )
    repo.commit({path: at_noon})
    repo.write({path: later})
    assert not told(repo, "CHECK-R007"), "the same was seen again"
    repo.write({path: later.replace('Z"', 'Z", "release": "4.2.4"')})
    assert told(repo, "CHECK-R007"), "the second of two keys counts"

    repo.write({path: f'{head}"4.2.4"}}'})

    (found,) = told(repo, "CHECK-R007")
    assert found.message.endswith(f": {path}")


def test_a_snapshot_that_lacks_a_version_is_an_edit(repo: GitRepository) -> None:
    topic = "snapshots/local/shop/orders/created.json"
    old, new = avro("Created", "a"), with_default("")
    record(repo, old, new)
    repo.commit({f"{FOLDER}/created.avsc": new})
    whole = json.loads((repo.root / topic).read_text())
    for versions, following in (
        (whole["versions"][1:], 2),
        (whole["versions"], 1),
        ([whole["versions"][0] | {"schema": new}, whole["versions"][1]], 2),
    ):
        repo.write({topic: json.dumps(whole | {"versions": versions, "nextVersion": following})})
        assert told(repo, "CHECK-R007"), (versions, following)
    repo.write({topic: "{"})
    assert told(repo, "CHECK-R007")


@pytest.mark.parametrize(
    ("place", "severity", "said"),
    [
        ("types", Severity.ERROR, "a submodule, whose files are in another repository"),
        ("shared", Severity.WARNING, "so its changes are not checked here"),
    ],
)
def test_a_submodule_that_moves_is_not_passed_over(
    repo: GitRepository, place: str, severity: Severity, said: str
) -> None:
    """Neither from a commit nor in the folder, where its files lie."""
    inner = GitRepository(repo.root / place)
    inner.commit({"money.avsc": avro("Money", "a")})
    repo.commit()
    assert not told(repo, "REPO-R018")
    inner.commit({"money.avsc": avro("Money", "b")})
    in_folder = told(repo, "REPO-R018")
    repo.git("switch", "--quiet", "--create", "pr")
    repo.commit()
    (found,) = told(repo, "REPO-R018")
    assert in_folder == [found]
    assert (found.severity, str(found.location)) == (severity, place)
    assert said in found.message


def test_guards_stand_at_a_line(repo: GitRepository) -> None:
    settings = FILES["gitops.yaml"] + "safety:\n  allowDeletions: true\n"
    repo.write({"gitops.yaml": settings, f"{FOLDER}/status.yaml": None})
    places = {each.rule: each.location for each in report(repo).findings}
    assert [str(places[rule]) for rule in ("CHECK-R001", "CHECK-R006")] == [
        f"{FOLDER}/status.yaml:1:1",
        "gitops.yaml:6:19",
    ]


def test_a_revert_is_found_at_its_definition(repo: GitRepository) -> None:
    old, new = avro("Created", "a"), with_default("")
    record(repo, old, new)
    repo.commit({f"{FOLDER}/created.avsc": new})
    repo.write({f"{FOLDER}/created.avsc": old})
    (one,) = report(repo).registries
    (found,) = [each for each in one.plan.findings if each.rule == "PLAN-R003"]
    assert found.location is not None
    assert str(found.location) == f"{FOLDER}/created.avsc:1:1"


def test_a_limit_that_is_taken_out_stands_in_the_base(repo: GitRepository) -> None:
    repo.commit({"gitops.yaml": FILES["gitops.yaml"] + "rules: {CHECK-R003: error}\n"})
    repo.write({"gitops.yaml": FILES["gitops.yaml"]})
    (found,) = told(repo, "CHECK-R006")
    assert found.location is not None
    assert found.location.in_base
    assert str(found.location) == "gitops.yaml:5:21"


def test_a_manifest_that_is_moved_and_not_staged_is_a_rename(repo: GitRepository) -> None:
    moved = {f"{FOLDER}/status.yaml": None, f"{FOLDER}/state.yaml": FILES[f"{FOLDER}/status.yaml"]}
    repo.write(moved)
    found = {(each.rule, each.subject) for each in report(repo).findings}
    assert ("CHECK-R002", "shop/orders/state") in found
    assert "CHECK-R001" not in {rule for rule, _ in found}
