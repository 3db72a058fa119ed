"""Which names come from files, from their history in git, and from snapshots."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitops.changes.known_names import KnownNames, known_names
from gitops.repository.file_trees import FolderTree
from gitops.repository.loader import load
from tests.support.git_repos import GitRepository
from tests.support.trees import SETTINGS

pytestmark = pytest.mark.slow


_TOPIC = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n"
_NAMED = "apiVersion: pulsar-gitops/v1\nkind: Topic\ntopic: 'other name'\n"
_NAMESPACE = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: {}\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit(
        {
            "gitops.yaml": SETTINGS,
            "namespaces/a/b/namespace.yaml": _NAMESPACE.format("a/b"),
            "namespaces/a/b/kept.yaml": _TOPIC,
        }
    )
    return made


def _known(root: Path) -> KnownNames:
    tree = FolderTree(root)
    return known_names(root, tree, load(tree), "local")


def _names(root: Path) -> set[str]:
    return {str(topic) for topic in _known(root).topics}


def test_what_a_commit_removed_is_known(repo: GitRepository) -> None:
    repo.commit(
        {
            "namespaces/c/d/namespace.yaml": _NAMESPACE.format("c/d"),
            "namespaces/c/d/new.yaml": _TOPIC,
            "namespaces/a/b/x.yaml": _NAMED,
        }
    )
    repo.git("revert", "--no-edit", "HEAD")

    found = _known(repo.root)

    assert {str(topic) for topic in found.topics} == {"a/b/kept", "a/b/other name", "c/d/new"}
    assert {str(name) for name in found.namespaces} == {"a/b", "c/d"}
    assert (found.limits, found.has_history) == ((), True)


@pytest.mark.parametrize(
    ("change", "also"),
    [
        ({"namespaces/a/b/kept.yaml": None}, set()),
        ({"namespaces/a/b/kept.yaml": _NAMED}, {"a/b/other name"}),
        ({"namespaces/a/b/kept.yaml": None, "namespaces/a/b/moved.yaml": _TOPIC}, {"a/b/moved"}),
    ],
)
@pytest.mark.parametrize("committed", [False, True])
def test_a_topic_is_known_by_every_name_that_it_had(
    repo: GitRepository,
    change: Mapping[str, str | None],
    also: set[str],
    committed: bool,  # noqa: FBT001 - a case
) -> None:
    repo.commit(change) if committed else repo.write(change)

    assert _names(repo.root) == {"a/b/kept", *also}

    repo.write({"namespaces/a/b/kept.yaml": _TOPIC})
    assert _names(repo.root) == {"a/b/kept", *(also if committed else also & {"a/b/moved"})}


def test_what_only_a_merged_branch_had_is_known(repo: GitRepository) -> None:
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({"namespaces/a/b/tried.yaml": _TOPIC})
    repo.commit({"namespaces/a/b/tried.yaml": None, "namespaces/a/b/merged.yaml": _TOPIC})
    repo.git("switch", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--no-commit", "side")
    repo.commit({"namespaces/a/b/merged.yaml": None})

    assert _names(repo.root) == {"a/b/kept", "a/b/tried", "a/b/merged"}


def test_files_that_are_no_manifests_name_nothing(repo: GitRepository) -> None:
    repo.commit(
        {
            "namespaces/a/b/kept.avsc": '"int"',
            "namespaces/a b/c/x.yaml": _TOPIC,
            "namespaces/a/b/c/deep.yaml": _TOPIC,
            "clients/team.yaml": "topic: a/b/client\n",
            "namespaces/a/b/broken.yaml": "topic: [\n",
            "namespaces/a/b/part-partition-1.yaml": _TOPIC,
        }
    )
    repo.git("revert", "--no-edit", "HEAD")

    assert _names(repo.root) == {"a/b/kept", "a/b/broken", "a/b/part"}


def test_topics_of_clients_and_snapshots_are_known(repo: GitRepository) -> None:
    client = (
        "apiVersion: pulsar-gitops/v1\nkind: Client\nname: billing\nowner: team\n"
        "consumes:\n  - {topic: a/b/read, subscription: s, schema: AUTO_CONSUME}\n"
        "produces:\n  - {topic: else/where/written, schema: NONE}\n"
    )
    repo.write(
        {
            "clients/billing.yaml": client,
            "snapshots/local/e/f/recorded.json": "{",
            "snapshots/other/g/h/elsewhere.json": "{",
        }
    )

    found = _known(repo.root)

    assert {str(topic) for topic in found.topics} == {"a/b/kept", "a/b/read", "e/f/recorded"}
    assert {str(name) for name in found.namespaces} == {"a/b", "e/f"}


def test_the_schemas_may_lie_in_a_folder_of_any_name(tmp_path: Path) -> None:
    repo = GitRepository(tmp_path / "repo")
    repo.commit(
        {
            "a*[b]/gitops.yaml": SETTINGS,
            "a*[b]/namespaces/a/b/x.yaml": _TOPIC,
            "axb/namespaces/a/b/other.yaml": _TOPIC,
        }
    )
    repo.commit({"a*[b]/namespaces/a/b/x.yaml": None, "axb/namespaces/a/b/other.yaml": None})

    assert _names(repo.root / "a*[b]") == {"a/b/x"}


def test_a_shallow_clone_says_where_it_begins(repo: GitRepository, tmp_path: Path) -> None:
    repo.commit({"namespaces/a/b/early.yaml": _TOPIC})
    repo.commit({"namespaces/a/b/early.yaml": None, "namespaces/a/b/late.yaml": _TOPIC})
    repo.commit({"namespaces/a/b/late.yaml": None})
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--depth=2", repo.root.as_uri(), str(clone))

    found = _known(clone)

    assert {str(topic) for topic in found.topics} == {"a/b/kept", "a/b/late"}
    begins = GitRepository(clone).git("rev-parse", "--short=7", "HEAD~1")
    (limit,) = found.limits
    assert limit.startswith("Topics that only earlier files named are unknown: the clone is")
    assert f"begins at {begins} (git fetch --unshallow)." in limit
    assert found.has_history


def test_before_the_first_commit_nothing_is_missing(tmp_path: Path) -> None:
    repo = GitRepository(tmp_path / "repo")
    repo.write({"gitops.yaml": SETTINGS, "namespaces/a/b/x.yaml": _TOPIC})

    assert _known(repo.root).limits == ()
    assert _names(repo.root) == {"a/b/x"}


def test_without_git_the_files_are_what_is_known(repo: GitRepository) -> None:
    shutil.rmtree(repo.root / ".git")

    found = _known(repo.root)

    assert {str(topic) for topic in found.topics} == {"a/b/kept"}
    assert found.limits == (
        "Topics that only earlier files named are unknown: this folder is not in a git repository.",
    )
    assert not found.has_history
