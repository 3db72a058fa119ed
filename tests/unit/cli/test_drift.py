"""`drift` on the command line: what it may be asked, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.model.names import TopicName
from tests.support.command_line import CommandLine
from tests.support.consoles import unwrapped
from tests.support.fake_registry import FakeRegistry
from tests.support.git_repos import GitRepository
from tests.support.states import ORDERS, STRING, field, record, state, topic_state

_SETTINGS = """apiVersion: pulsar-gitops/v1
kind: Config
defaultRegistry: local
registries:
  local: {kind: embedded, path: .gitops/registry.db}
  other: {kind: embedded, path: .gitops/other.db}
  dead: {kind: pulsar, url: "http://127.0.0.1:1"}
groups:
  both: [local, other]
"""
_FOLDER = "namespaces/shop/orders"
_TOPIC = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: AVRO, definition: t.avsc}\n"


def _record(*names: str) -> str:
    fields = (field(name, ["null", "int"], default=None) for name in names)
    return json.dumps(record(field("id"), *fields))


@pytest.fixture
def small(tmp_path: Path, command: CommandLine) -> GitRepository:
    """A repository with one topic, applied, recorded and committed."""
    repo = GitRepository(tmp_path / "small")
    files = {f"{_FOLDER}/t.yaml": _TOPIC, f"{_FOLDER}/t.avsc": _record()}
    repo.commit({"gitops.yaml": _SETTINGS, ".gitignore": ".gitops/\n", **files})
    for words in (["fmt"], ["apply", "--auto-approve"], ["snapshot"]):
        assert command(*words, "--repo", repo.root).code == 0
    repo.commit()
    return repo


@pytest.fixture
def drifted(small: GitRepository, tmp_path: Path, command: CommandLine) -> GitRepository:
    """The same with a version that somebody registered."""
    by_hand = tmp_path / "by-hand.avsc"
    by_hand.write_text(_record("coupon"), "utf-8")
    what = ("shop/orders/t", by_hand, "--type", "AVRO")
    assert command("schemas", "upload", *what, "--repo", small.root).code == 0
    return small


@pytest.mark.slow
def test_no_drift_is_0(small: GitRepository, command: CommandLine) -> None:
    done = command("drift", "--repo", small.root)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("✓ local: no drift\nlocal · .gitops/registry.db · 1 topic")
    assert f"({small.head[:7]})" in done.out


@pytest.mark.slow
def test_drift_is_3_until_it_is_adopted(drifted: GitRepository, command: CommandLine) -> None:
    found = command("drift", "--repo", drifted.root)
    adopted = command("drift", "--repo", drifted.root, "--adopt", "shop/orders/t")
    again = command("drift", "--repo", drifted.root)

    assert (found.code, adopted.code, again.code) == (3, 0, 0)
    assert "! shop/orders/t   1 version outside git\n" in found.out
    adopt = f"pulsar-gitops drift --repo {drifted.root} --registry local --adopt"
    assert unwrapped(adopt) in unwrapped(found.out)
    assert f"wrote {_FOLDER}/t.avsc\n" in adopted.out
    assert "coupon" in (drifted.root / _FOLDER / "t.avsc").read_text("utf-8")


@pytest.mark.slow
def test_what_is_not_committed_is_not_overwritten(
    drifted: GitRepository, command: CommandLine
) -> None:
    mine = _record("mine")
    drifted.write({f"{_FOLDER}/t.avsc": mine})

    done = command("drift", "--repo", drifted.root, "--adopt")

    assert done.code == 3
    why = f"{_FOLDER}/t.avsc has changes that are not committed"
    said = f"not adopted: shop/orders/t: {why}; commit or stash them, and run the command again"
    assert unwrapped(said) in unwrapped(done.out)
    assert (drifted.root / _FOLDER / "t.avsc").read_text("utf-8") == mine


@pytest.mark.slow
def test_what_has_not_drifted_is_not_adopted(drifted: GitRepository, command: CommandLine) -> None:
    args = ("--repo", drifted.root, "--adopt")

    strange = command("drift", *args, "shop/orders/t", "shop/orders")
    none = command("drift", *args, "nonsense")

    assert (strange.code, none.code) == (2, 2)
    assert "error: shop/orders has not drifted" in strange.err
    assert "'nonsense' is not a topic" in none.err
    assert "coupon" not in (drifted.root / _FOLDER / "t.avsc").read_text("utf-8")


@pytest.mark.slow
def test_names_are_for_an_adoption_of_one_registry(
    small: GitRepository, command: CommandLine
) -> None:
    named = command("drift", "shop/orders/t", "--repo", small.root)
    two = ("--registry", "local", "--registry", "other")
    several = command("drift", "--adopt", *two, "--repo", small.root)
    group = command("drift", "--adopt", "--registry", "both", "--repo", small.root)

    assert (named.code, several.code, group.code) == (2, 2, 2)
    assert group.err == several.err
    assert "error: shop/orders/t is named, and nothing is to be adopted" in named.err
    assert "--adopt writes what one registry has" in several.err


@pytest.mark.slow
def test_several_registries_end_with_the_worst(
    drifted: GitRepository, command: CommandLine
) -> None:
    def run(*names: str) -> tuple[int, str, str]:
        words = [word for name in names for word in ("--registry", name)]
        done = command("drift", "--repo", drifted.root, *words)
        return done.code, done.out, done.err

    assert run("other")[0] == 0
    code, out, _ = run("other", "local", "other")
    assert (code, out.count("other: no drift")) == (3, 1)
    assert "1 topic or namespace has changes that are not applied" not in run("local")[1]
    code, out, err = run("dead", "local")
    assert code == 4
    assert "dead · drift is unknown: no answer from the registry" in out
    assert "error: no answer for dead: no answer from the registry" in err
    assert "1 version outside git" in out
    assert run("nowhere")[0] == 2
    assert run("both")[:2] == run("local", "other")[:2]


@pytest.mark.slow
def test_a_topic_that_cannot_be_read_is_4(
    small: GitRepository, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = TopicName(ORDERS, "t")
    held = state(topic_state(TopicName(ORDERS, "by-hand"), STRING))
    fake = FakeRegistry(held, listed=list(held.topics), broken={topic: "no such ledger"})
    monkeypatch.setattr("gitops.registries.factory.open_registry", lambda *_: fake)

    found = command("drift", "--repo", small.root)
    adopted = command("drift", "--repo", small.root, "--adopt")

    assert (found.code, adopted.code) == (4, 4)
    assert "not read: shop/orders/t: no such ledger" in found.out
    assert "unmanaged topic" in found.out
    assert f"wrote {_FOLDER}/by-hand.yaml" in adopted.out


@pytest.mark.slow
def test_files_with_errors_are_1(small: GitRepository, command: CommandLine) -> None:
    small.write({f"{_FOLDER}/t.yaml": "kind: ["})

    done = command("drift", "--repo", small.root)

    assert done.code == 1
    assert "error" in done.out
