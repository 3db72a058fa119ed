"""Where the versions come from that messages of samples have, without a base."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.changes.registries import registry_config
from gitops.changes.working_tree import RegistryVersions, WorkingTreeHistory
from gitops.model.check import HistoryChoice
from gitops.model.errors import OutsideError
from gitops.model.names import TopicName
from gitops.model.state import Scope
from gitops.ports import no_progress
from gitops.repository.file_trees import FolderTree
from gitops.repository.loader import load
from gitops.repository.template import copy_template
from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

TOPIC = TopicName.parse("shop/orders/order-cancelled")
SCOPE = Scope(namespaces=frozenset({TOPIC.namespace}), topics=frozenset({TOPIC}))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    copy_template(tmp_path / "repo")
    return tmp_path / "repo"


def known(root: Path, choice: HistoryChoice = HistoryChoice.AUTO) -> RegistryVersions:
    tree = FolderTree(root)
    repository = load(tree)
    name, config = registry_config(repository, None)
    lying = WorkingTreeHistory(
        root=root, tree=tree, repository=repository, name=name, config=config
    )
    return lying.known(SCOPE, choice, no_progress)


def versions(found: RegistryVersions) -> list[int]:
    return [entry.version for entry in found.state.topics[TOPIC].history.entries]


def test_files_that_nobody_knows_are_the_first_version(root: Path) -> None:
    found = known(root)
    assert (found.source, versions(found)) == ("files", [0])
    assert found.limits[-1].startswith("No versions are known")
    assert len(found.limits) == 4


@pytest.mark.slow
def test_git_is_better_than_nothing(root: Path) -> None:
    GitRepository(root).commit()
    place = root / "namespaces/shop/orders/order-cancelled.avsc"
    place.write_text(place.read_text("utf-8").replace('"OTHER"],', '"OTHER", "MORE"],'), "utf-8")
    found = known(root)
    assert (found.source, versions(found)) == ("git", [0])
    latest = found.state.topics[TOPIC].history.latest
    assert latest is not None
    assert "MORE" not in latest.info.schema


@pytest.mark.slow
def test_a_folder_without_a_commit_is_no_history(root: Path) -> None:
    GitRepository(root)
    assert known(root).source == "files"


@pytest.mark.slow
def test_the_registry_is_best_and_its_snapshot_next(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = CommandLine(capsys)
    assert command("apply", "--repo", root, "--auto-approve").code == 0
    assert command("snapshot", "--repo", root).code == 0
    found = known(root)
    assert (found.source, versions(found), found.limits) == ("registry", [0], ())
    (root / ".gitops" / "registry.db").unlink()
    found = known(root)
    assert (found.source, versions(found)) == ("snapshot", [0])
    assert known(root, HistoryChoice.SNAPSHOT).limits == (found.limits[-1],)


@pytest.mark.parametrize(
    "choice", [HistoryChoice.REGISTRY, HistoryChoice.SNAPSHOT, HistoryChoice.GIT]
)
def test_a_source_that_was_named_must_have_an_answer(root: Path, choice: HistoryChoice) -> None:
    with pytest.raises(OutsideError) as raised:
        known(root, choice)
    assert raised.value.exit_code == 4
