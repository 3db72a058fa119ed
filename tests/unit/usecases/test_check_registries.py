"""A change that renames, swaps or takes out registries, and what they say of namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.model.check import HistorySource
from gitops.model.findings import Finding, Severity
from gitops.reports.check_summary import unchecked_text
from gitops.reports.json.check import check_document
from gitops.reports.markdown.report import markdown
from tests.support.check_repository import FILES, FOLDER, avro, record, report, with_default
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


HEAD = "apiVersion: pulsar-gitops/v1\nkind: Config\n"
SPACE = (
    "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    "schemaCompatibilityStrategy: BACKWARD\n"
)
OWN = "    namespaces:\n      shop/orders: {schemaCompatibilityStrategy: FULL}\n"
LAX = OWN.replace("FULL", "ALWAYS_COMPATIBLE")


def config(registries: dict[str, str], more: str = "") -> str:
    """A gitops.yaml of embedded registries, each with its own lines."""
    entries = "".join(
        f"  {name}:\n    kind: embedded\n    path: {name.removeprefix('new-')}.db\n{own}"
        for name, own in registries.items()
    )
    return f"{HEAD}registries:\n{entries}{more}"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit({**FILES, f"{FOLDER}/namespace.yaml": SPACE, "gitops.yaml": config({"local": OWN})})
    return made


def told(repo: GitRepository) -> list[Finding]:
    return [each for each in report(repo).findings if each.rule.startswith("CHECK-")]


def places(repo: GitRepository) -> list[tuple[str, str, bool]]:
    return [
        (each.rule, str(each.location), bool(each.location and each.location.in_base))
        for each in told(repo)
    ]


def test_a_registry_that_cannot_be_read_is_not_called_removed(repo: GitRepository) -> None:
    repo.write({"gitops.yaml": config({"local": "    brokr: '4.0'\n"})})

    rules = [finding.rule for finding in report(repo).findings]

    assert "CHECK-R003" not in rules
    assert len(rules) == 1


def test_a_missing_snapshot_is_said_once(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/created.avsc": avro("int")})

    (registry,) = report(repo).registries
    limits = " ".join((*registry.history.limits, *registry.plan.broker.limits))

    assert "The base has no snapshot" in limits
    assert "The snapshot does not have" not in limits


def test_a_renamed_registry_that_says_the_same_is_no_finding(repo: GitRepository) -> None:
    repo.write({"gitops.yaml": config({"new-local": OWN})})
    assert told(repo) == []
    assert not report(repo).touched.topics


@pytest.mark.parametrize("name", ["local", "new-local"])
def test_what_a_registry_said_of_a_namespace_is_told_of_under_any_name(
    repo: GitRepository, name: str
) -> None:
    repo.write({"gitops.yaml": config({name: ""})})
    (found,) = told(repo)
    assert (found.rule, found.severity) == ("CHECK-R003", Severity.WARNING)
    assert found.message.endswith("of namespace shop/orders is loosened: FULL → BACKWARD")
    assert places(repo) == [("CHECK-R003", "gitops.yaml:8:50", True)]


@pytest.mark.parametrize("name", ["local", "new-local"])
def test_a_dropped_policy_stands_in_the_base_where_it_was(repo: GitRepository, name: str) -> None:
    validation = "      shop/orders: {schemaValidationEnforced: true}\n"
    repo.commit({"gitops.yaml": config({"local": f"    namespaces:\n{validation}"})})
    repo.write({"gitops.yaml": config({name: ""})})
    (found,) = told(repo)
    assert "schemaValidationEnforced of namespace shop/orders is no longer managed" in found.message
    assert places(repo) == [("CHECK-R003", "gitops.yaml:8:47", True)]


def test_a_renamed_registry_that_loosens_lets_nothing_in_unseen(repo: GitRepository) -> None:
    changed = avro("Created", "a", "b")
    repo.write(
        {"gitops.yaml": config({"new-local": LAX}), f"{FOLDER}/created.avsc": changed},
    )
    assert places(repo) == [
        ("CHECK-R003", "gitops.yaml:8:50", False),
        ("CHECK-R004", "gitops.yaml:8:50", False),
    ]


def test_a_new_default_registry_does_not_bring_its_own_policies_unseen(
    repo: GitRepository,
) -> None:
    repo.write(
        {
            "gitops.yaml": config({"local": OWN, "lax": LAX}, "defaultRegistry: lax\n"),
            f"{FOLDER}/created.avsc": avro("Created", "a", "b"),
        }
    )
    found = {each.rule: each for each in told(repo)}
    assert list(found) == ["CHECK-R003", "CHECK-R004", "CHECK-R006"]
    assert "FULL" not in found["CHECK-R003"].message, "which is another registry's"
    assert found["CHECK-R006"].message == "defaultRegistry changes: local → lax"
    assert str(found["CHECK-R006"].location) == "gitops.yaml:14:18"


def test_a_default_registry_that_is_removed_from_the_file_stands_in_the_base(
    repo: GitRepository,
) -> None:
    repo.commit({"gitops.yaml": config({"local": OWN, "other": ""}, "defaultRegistry: local\n")})
    repo.write({"gitops.yaml": config({"other": ""})})
    assert [each.message for each in told(repo)] == [
        ("registry local is removed, with its policies for shop/orders: it becomes unmanaged"),
        "defaultRegistry changes: local → other",
    ]
    assert places(repo) == [
        ("CHECK-R003", "gitops.yaml:4:3", True),
        ("CHECK-R006", "gitops.yaml:12:18", True),
    ]


def test_a_registry_that_no_longer_waits_for_another_is_told(repo: GitRepository) -> None:
    after = "    after: local\n"
    both = {"local": OWN, "other": after}
    repo.commit({"gitops.yaml": config(both, "defaultRegistry: local\n")})
    repo.write({"gitops.yaml": config({**both, "other": ""}, "defaultRegistry: local\n")})
    assert [(each.rule, each.message) for each in told(repo)] == [
        (
            "CHECK-R006",
            "registry other no longer comes after local: apply no longer waits for it",
        )
    ]
    renamed = {"new-local": OWN, "other": after.replace("local", "new-local")}
    repo.write({"gitops.yaml": config(renamed, "defaultRegistry: new-local\n")})
    assert told(repo) == []


def test_a_registry_that_nobody_checks_keeps_its_policies_or_it_is_told(
    repo: GitRepository,
) -> None:
    both = {"local": "", "other": OWN}
    repo.commit({"gitops.yaml": config(both, "defaultRegistry: local\n")})
    repo.write({"gitops.yaml": config({**both, "other": LAX}, "defaultRegistry: local\n")})
    (found,) = told(repo)
    assert found.message.endswith("shop/orders is loosened: FULL → ALWAYS_COMPATIBLE")
    assert places(repo) == [("CHECK-R003", "gitops.yaml:11:50", False)]
    repo.write({"gitops.yaml": config({**both, "other": ""}, "defaultRegistry: local\n")})
    assert places(repo) == [("CHECK-R003", "gitops.yaml:11:50", True)]


def test_snapshots_go_with_a_registrys_name(repo: GitRepository) -> None:
    record(repo, avro("Created", "a"))
    repo.commit()
    repo.write({"gitops.yaml": config({"new-local": OWN})})
    (found,) = told(repo)
    assert found.rule == "CHECK-R006"
    assert "registry local is renamed to new-local, and its snapshots are not" in found.message
    assert "git mv snapshots/local snapshots/new-local" in found.hint
    assert str(found.location) == "gitops.yaml:4:3"

    repo.write({f"{FOLDER}/created.avsc": with_default("")})
    (one,) = report(repo).registries
    assert one.history.source is HistorySource.SNAPSHOT
    repo.git("mv", "snapshots/local", "snapshots/new-local")
    assert told(repo) == []


def test_registries_that_are_not_asked_are_named(repo: GitRepository) -> None:
    repo.commit({"gitops.yaml": config({"local": OWN, "prod": ""}, "defaultRegistry: local\n")})
    repo.write({f"{FOLDER}/created.avsc": with_default("")})

    one, both = report(repo), report(repo, registries=("local", "prod"))

    assert (one.unchecked, both.unchecked) == (("prod",), ())
    line = "not checked: prod (--registry prod)"
    assert unchecked_text(one) == line
    assert line in markdown(one)
    assert check_document(one)["unchecked"] == ["prod"]
    assert "not checked" not in markdown(both)
