"""Which versions some commit declared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.git.checkout import Checkout, open_checkout
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.planning.drift import Provenance
from gitops.registries.git import provenance
from gitops.registries.git.provenance import find_provenance
from gitops.repository.file_trees import FolderTree
from gitops.repository.loader import load
from tests.support.git_repos import GitRepository
from tests.support.states import STRING, avro, field, history, info, record
from tests.support.trees import SETTINGS

pytestmark = pytest.mark.slow


TOPIC = TopicName.parse("a/b/t")
FOLDER = "s/namespaces/a/b"


def manifest(definition: str, kind: str = "AVRO") -> str:
    return (
        "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
        f"schema: {{type: {kind}, definition: {definition}}}\n"
    )


def text(*names: str) -> str:
    return json.dumps(record(*map(field, names)))


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit(
        {
            "s/gitops.yaml": SETTINGS,
            f"{FOLDER}/t.yaml": manifest("t.avsc"),
            f"{FOLDER}/t.avsc": text("a"),
        }
    )
    return made


@pytest.fixture
def checkout(repo: GitRepository) -> Iterator[Checkout]:
    with open_checkout(repo.root / "s") as opened:
        yield opened


def found(checkout: Checkout, *versions: SchemaInfo, topic: TopicName = TOPIC) -> Provenance:
    sources = load(FolderTree(checkout.root)).topics
    head = checkout.line("rev-parse", "HEAD")
    return find_provenance(checkout, head, sources, {topic: history(*versions)})


def declared(checkout: Checkout, *versions: SchemaInfo) -> set[int]:
    return set(found(checkout, *versions).declared[TOPIC])


def test_what_is_checked_out_needs_no_look_back(
    repo: GitRepository, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write({f"{FOLDER}/t.avsc": text("a", "uncommitted")})
    monkeypatch.setattr(provenance, "commits_before", None)

    assert declared(checkout, STRING, avro(field("a"))) == {1}
    # Other words in the text make no other version.
    assert declared(checkout, avro(field("a", doc="words"))) == {0}


def test_a_version_of_an_earlier_commit_is_known(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit({f"{FOLDER}/t.avsc": text("a", "b")})
    repo.commit({f"{FOLDER}/t.avsc": text("a")})

    assert declared(checkout, avro(field("a")), avro(field("a"), field("b"))) == {0, 1}
    by_hand = avro(field("a"), field("by hand"))
    assert declared(checkout, avro(field("a")), avro(field("a"), field("b")), by_hand) == {0, 1}


def test_a_version_of_a_merged_branch_is_known(repo: GitRepository, checkout: Checkout) -> None:
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({f"{FOLDER}/t.avsc": text("tried")})
    repo.commit({f"{FOLDER}/t.avsc": text("merged")})
    repo.git("switch", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "side", "--message", "merge")

    assert declared(checkout, avro(field("tried"))) == {0}


@pytest.mark.parametrize("committed", [False, True])
def test_a_definition_that_had_another_name(
    repo: GitRepository,
    checkout: Checkout,
    committed: bool,  # noqa: FBT001 - a case
) -> None:
    repo.commit({f"{FOLDER}/t.avsc": text("a", "b")})
    renamed = {
        f"{FOLDER}/t.avsc": None,
        f"{FOLDER}/new.avsc": text("a", "b", "c"),
        f"{FOLDER}/t.yaml": manifest("new.avsc"),
    }
    repo.commit(renamed) if committed else repo.write(renamed)
    repo.commit({f"{FOLDER}/other.avsc": text("x")}) if committed else None

    assert declared(checkout, avro(field("a"), field("b"))) == {0}


def test_what_a_shared_type_was_is_a_part_of_the_past(
    repo: GitRepository, checkout: Checkout
) -> None:
    shared = {"type": "fixed", "name": "Money", "namespace": "n"}
    repo.commit(
        {
            "s/types/money.avsc": json.dumps(shared | {"size": 4}),
            f"{FOLDER}/t.avsc": json.dumps(record(field("m", "n.Money"))),
        }
    )
    repo.commit({"s/types/money.avsc": json.dumps(shared | {"size": 8})})
    old = avro(field("m", shared | {"size": 4}))

    assert declared(checkout, old) == {0}
    assert declared(checkout, avro(field("m", shared | {"size": 5}))) == set()


def test_each_topic_has_a_past_of_its_own(repo: GitRepository, checkout: Checkout) -> None:
    other = TopicName.parse("a/b/other")
    repo.commit({f"{FOLDER}/other.yaml": manifest("'\"string\"'")})

    assert found(checkout, info('"string"'), topic=other).declared[other] == {0}
    # Of one that no file here is about, nothing is known.
    assert found(checkout, STRING, topic=TopicName.parse("x/y/z")).declared == {
        TopicName.parse("x/y/z"): frozenset()
    }


def test_commits_without_settings_or_with_broken_files_declare_nothing(tmp_path: Path) -> None:
    repo = GitRepository(tmp_path / "repo")
    repo.commit({f"{FOLDER}/t.yaml": manifest("t.avsc"), f"{FOLDER}/t.avsc": text("early")})
    repo.commit({"s/gitops.yaml": SETTINGS, f"{FOLDER}/t.avsc": "{"})
    repo.commit({f"{FOLDER}/t.yaml": "kind: ["})
    repo.commit({f"{FOLDER}/t.yaml": manifest("t.avsc"), f"{FOLDER}/t.avsc": text("a")})
    with open_checkout(repo.root / "s") as checkout:
        assert declared(checkout, avro(field("early"))) == set()
        assert found(checkout, avro(field("early"))).limit == ""


def test_a_shallow_clone_says_so_where_it_matters(repo: GitRepository, tmp_path: Path) -> None:
    repo.commit({f"{FOLDER}/t.avsc": text("a", "b")})
    cut = repo.commit({f"{FOLDER}/t.avsc": text("a")})
    repo.commit({"s/unrelated": "x"})
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--depth=2", repo.root.as_uri(), str(clone))
    with open_checkout(clone / "s") as checkout:
        assert found(checkout, avro(field("a"))).limit == ""
        told = found(checkout, avro(field("a"), field("b"))).limit
        assert told == f"the clone is shallow and begins at {cut[:7]} (git fetch --unshallow)"


def test_very_many_commits_are_not_all_read(
    repo: GitRepository, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        repo.commit({f"{FOLDER}/t.avsc": text(f"f{number}")})
    monkeypatch.setattr(provenance, "MOST_LOADS", 2)

    assert found(checkout, avro(field("a"))).limit == "only 2 commits were read"
    assert found(checkout, avro(field("f2"))).limit == ""


def test_commits_that_touch_nothing_of_a_topic_are_not_read(
    repo: GitRepository, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        repo.commit({f"{FOLDER}/other{number}.avsc": text("x")})
    monkeypatch.setattr(provenance, "MOST_LOADS", 2)

    assert found(checkout, avro(field("by hand"))) == Provenance(declared={TOPIC: frozenset()})
