"""What a migration writes: a new topic, the old one as it was, and consumers that read both."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitops.changes.change import ChangeRequest, find_change, load_change
from gitops.changes.migration_files import MigrationFiles, write_migrations
from gitops.cli.app import run
from gitops.git.checkout import open_checkout
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.rollout import Migration
from gitops.repository.file_trees import FolderTree
from gitops.repository.folder import write_files
from gitops.repository.loader import load
from gitops.repository.writing.topic_rewriter import is_unchanged
from gitops.usecases.check import CheckRequest, check
from tests.support.check_repository import FOLDER, SETTINGS, manifest, report
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


_TOPIC = "shop/orders/created"
_NEW = f"{_TOPIC}-v2"


def _avro(**fields: str) -> str:
    each = [{"name": name, "type": kind} for name, kind in fields.items()]
    return json.dumps({"type": "record", "name": "Created", "fields": each}, indent=2)


_CLIENT = 'apiVersion: pulsar-gitops/v1\nkind: Client\nname: {}\nowner: "@acme/x"\n'
_NAMESPACE = (
    "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    "schemaCompatibilityStrategy: {}\n"
)
_READS = f"consumes:\n  - {{topic: {_TOPIC}, subscription: billing, schema: {{version: 0}}}}\n"
_WRITES = f"produces:\n  - {{topic: {_TOPIC}, schema: {{version: 0}}}}\n"
_FILES: Mapping[str, str] = {
    "gitops.yaml": SETTINGS.format(""),
    f"{FOLDER}/namespace.yaml": _NAMESPACE.format("BACKWARD"),
    f"{FOLDER}/created.yaml": manifest("type: AVRO, definition: created.avsc"),
    f"{FOLDER}/created.avsc": _avro(a="int", b="string"),
    "clients/billing.yaml": f"# reads orders\n{_CLIENT.format('billing')}{_READS}",
    "clients/checkout.yaml": f"{_CLIENT.format('checkout')}{_WRITES}",
}
_BREAKING = {f"{FOLDER}/created.avsc": _avro(a="string", c="string")}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit(_FILES)
    return made


def _ways(repo: GitRepository) -> list[Migration]:
    return [way for one in report(repo).registries for way in one.rollout.migrations]


def _migrate(repo: GitRepository) -> MigrationFiles:
    with open_checkout(repo.root) as checkout:
        loaded = load_change(find_change(checkout, ChangeRequest(base="main")))
        request = CheckRequest(base="main", today=datetime.date(2026, 1, 1))
        checked = check(loaded, request)
        ways = [way for one in checked.report.registries for way in one.rollout.migrations]
        written = write_migrations(loaded, ways)
    write_files(repo.root, written.files)
    return written


def _text(repo: GitRepository, path: str) -> str:
    return (repo.root / path).read_text("utf-8")


def _require_good(repo: GitRepository) -> None:
    """Files without errors, a change without errors, an order, and the old topic as it was."""
    loaded = load(FolderTree(repo.root))
    assert [one for one in loaded.findings if one.severity is Severity.ERROR] == []
    found = report(repo)
    assert [one for one in found.findings if one.severity is Severity.ERROR] == []
    (one,) = found.registries
    assert (one.plan.notices, one.rollout.blocks, one.rollout.refused) == ((), (), ())
    assert one.rollout.migrations == ()
    topics = {each.topic for each in one.plan.actions if hasattr(each, "topic")}
    assert topics == {TopicName.parse(_NEW)}


def test_what_pulsar_refuses_moves_to_a_topic_of_its_own(repo: GitRepository) -> None:
    repo.write(_BREAKING)
    (way,) = _ways(repo)
    assert (str(way.to), way.consumers, way.producers) == (_NEW, ("billing",), ("checkout",))

    written = _migrate(repo)

    assert written.left == []
    assert set(written.remarks) == {
        "clients/billing.yaml",
        f"{FOLDER}/created.avsc",
        f"{FOLDER}/created-v2.avsc",
        f"{FOLDER}/created-v2.yaml",
    }
    assert _text(repo, f"{FOLDER}/created.avsc") == _FILES[f"{FOLDER}/created.avsc"]
    assert _text(repo, f"{FOLDER}/created-v2.avsc") == _BREAKING[f"{FOLDER}/created.avsc"]
    assert f"# Replaces {_TOPIC} once all consumers read both." in _text(
        repo, f"{FOLDER}/created-v2.yaml"
    )
    assert _text(repo, "clients/billing.yaml") == (
        f"# reads orders\n{_CLIENT.format('billing')}consumes:\n"
        f"  # beside {_TOPIC}, until nothing is left there\n"
        f"  - {{topic: {_NEW}, subscription: billing, schema: {{version: 0}}}}\n"
        f"  - {{topic: {_TOPIC}, subscription: billing, schema: {{version: 0}}}}\n"
    )
    _require_good(repo)


def test_two_that_wait_for_each_other_move(repo: GitRepository) -> None:
    repo.commit({f"{FOLDER}/namespace.yaml": _NAMESPACE.format("ALWAYS_COMPATIBLE")})
    upgraded = {
        path: _FILES[path].replace("version: 0", "version: 1")
        for path in ("clients/billing.yaml", "clients/checkout.yaml")
    }
    repo.write({**_BREAKING, **upgraded})

    written = _migrate(repo)

    assert written.left == []
    assert written.remarks["clients/checkout.yaml"] == "checkout as in the base again"
    assert _text(repo, "clients/checkout.yaml") == _FILES["clients/checkout.yaml"]
    _require_good(repo)


@pytest.mark.parametrize(
    "strategy",
    ["BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"],
)
def test_every_strategy_that_refuses_lets_the_new_topic_in(
    repo: GitRepository, strategy: str
) -> None:
    repo.commit({f"{FOLDER}/namespace.yaml": _NAMESPACE.format(strategy)})
    repo.write(_BREAKING)
    assert _migrate(repo).left == []
    _require_good(repo)


def test_no_consumer_with_a_schema_would_be_let_in(repo: GitRepository) -> None:
    """ALWAYS_INCOMPATIBLE refuses even the registered schema to a consumer (Pulsar 4.0.7)."""
    repo.commit({f"{FOLDER}/namespace.yaml": _NAMESPACE.format("ALWAYS_INCOMPATIBLE")})
    repo.write(_BREAKING)
    assert _ways(repo) == []

    repo.commit(_FILES)
    repo.commit(
        {
            f"{FOLDER}/namespace.yaml": _NAMESPACE.format("ALWAYS_INCOMPATIBLE"),
            "clients/billing.yaml": None,
        }
    )
    repo.write(_BREAKING)
    assert _migrate(repo).left == []
    _require_good(repo)


def test_without_clients_the_topic_moves_all_the_same(repo: GitRepository) -> None:
    repo.commit(dict.fromkeys(("clients/billing.yaml", "clients/checkout.yaml")))
    repo.write(_BREAKING)
    assert set(_migrate(repo).files) == {
        f"{FOLDER}/{name}" for name in ("created.avsc", "created-v2.avsc", "created-v2.yaml")
    }
    _require_good(repo)


def test_a_taken_name_is_passed_over(repo: GitRepository) -> None:
    repo.commit({f"{FOLDER}/created-v2.yaml": manifest("type: STRING")})
    repo.write(_BREAKING)
    assert [str(way.to) for way in _ways(repo)] == [f"{_TOPIC}-v3"]


def test_a_client_that_takes_any_schema_keeps_its_word(repo: GitRepository) -> None:
    reads = _READS.replace("{version: 0}", "AUTO_CONSUME").replace("billing,", "'a: b',")
    repo.commit({"clients/billing.yaml": _CLIENT.format("billing") + reads})
    repo.write(_BREAKING)
    assert _migrate(repo).left == []
    line = f'  - {{topic: {_NEW}, subscription: "a: b", schema: AUTO_CONSUME}}\n'
    assert line in _text(repo, "clients/billing.yaml")
    _require_good(repo)


@pytest.mark.parametrize(
    "consumes",
    [
        f"consumes:\n- schema: {{version: 0}}\n  topic: {_TOPIC}\n  subscription: billing\n",
        f"consumes:\n    -   topic: {_TOPIC}\n        subscription: b\n        schema: NONE\n",
        f"consumes:\n  - topic: {_TOPIC}\n\n    # why\n    schema: NONE\n    subscription: b\n",
    ],
)
def test_a_list_is_written_as_people_do(repo: GitRepository, consumes: str) -> None:
    repo.commit({"clients/billing.yaml": _CLIENT.format("billing") + consumes})
    repo.write(_BREAKING)
    assert _migrate(repo).left == []
    assert consumes.partition("\n")[2] in _text(repo, "clients/billing.yaml")
    (client,) = [one for one in load(FolderTree(repo.root)).clients if one.name == "billing"]
    assert [str(use.topic) for use in client.consumes] == [_NEW, _TOPIC]
    _require_good(repo)


def test_what_cannot_be_edited_is_left_and_told(repo: GitRepository) -> None:
    flow = f"consumes: [{{topic: {_TOPIC}, subscription: b, schema: {{version: 0}}}}]\n"
    repo.commit({"clients/billing.yaml": _CLIENT.format("billing") + flow})
    repo.write(_BREAKING)
    written = _migrate(repo)
    assert written.left == [f"clients/billing.yaml: declare that billing consumes {_NEW}, too"]
    assert "clients/billing.yaml" not in written.files


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_file_of_another_encoding_keeps_it(repo: GitRepository, encoding: str) -> None:
    """What cannot be edited in it is told."""
    text = _FILES["clients/billing.yaml"].replace("\n", "\r\n").encode(encoding)
    repo.commit({"clients/billing.yaml": text})
    repo.write(_BREAKING)
    written = _migrate(repo)
    consumers = [one for one in load(FolderTree(repo.root)).clients if one.name == "billing"]
    moved = any(str(use.topic) == _NEW for one in consumers for use in one.consumes)
    assert moved == (not written.left)


def test_a_client_that_changes_more_is_left_and_told(repo: GitRepository) -> None:
    more = (
        f"{_FILES['clients/billing.yaml']}produces:\n  - {{topic: {FOLDER[11:]}/x, schema: NONE}}\n"
    )
    repo.write({**_BREAKING, "clients/billing.yaml": more})
    written = _migrate(repo)
    assert [each.partition(": ")[0] for each in written.left] == ["clients/billing.yaml"]
    assert _text(repo, "clients/billing.yaml") == more


def test_a_shared_type_is_left_and_told(repo: GitRepository) -> None:
    """Going back is up to those who share it."""
    shared = {
        "types/part.avsc": json.dumps(
            {"type": "record", "name": "Part", "fields": [{"name": "n", "type": "int"}]}
        ),
        f"{FOLDER}/created.avsc": _avro(part="Part"),
    }
    repo.commit(shared)
    repo.write({"types/part.avsc": shared["types/part.avsc"].replace("int", "string")})
    written = _migrate(repo)
    assert any("check the shared types" in each for each in written.left)


_PAIR = (
    "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema:\n  type: KEY_VALUE\n"
    "  encoding: INLINE\n  key: {type: STRING}\n"
    "  value: {type: AVRO, definition: created.avsc}\n"
)


@pytest.mark.parametrize("topic", [_FILES[f"{FOLDER}/created.yaml"], _PAIR], ids=["AVRO", "pair"])
def test_the_new_topic_keeps_a_shared_type_that_goes_back(topic: str, repo: GitRepository) -> None:
    part = json.dumps(
        {"type": "record", "name": "n.Part", "fields": [{"name": "n", "type": "int"}]}
    )
    using = {f"{FOLDER}/created.avsc": _avro(part="n.Part"), f"{FOLDER}/created.yaml": topic}
    repo.commit({"types/part.avsc": part, **using})
    repo.write({"types/part.avsc": part.replace("int", "string")})
    wanted = load(FolderTree(repo.root)).desired.topics[TopicName.parse(_TOPIC)].history.latest

    _migrate(repo)
    repo.write({"types/part.avsc": part})

    _require_good(repo)
    new = load(FolderTree(repo.root)).desired.topics[TopicName.parse(_NEW)].history.latest
    assert wanted
    assert new
    assert is_unchanged(wanted.info, new.info)


@pytest.mark.parametrize("name", ["Part", "n.Part"])
def test_a_pair_leaves_a_shared_type_alone(name: str, repo: GitRepository) -> None:
    part = json.dumps({"type": "record", "name": name, "fields": [{"name": "n", "type": "int"}]})
    using = {f"{FOLDER}/created.avsc": _avro(part=name, a="int"), f"{FOLDER}/created.yaml": _PAIR}
    repo.commit({"types/part.avsc": part, **using})
    repo.write({f"{FOLDER}/created.avsc": _avro(part=name, a="string")})

    assert _migrate(repo).left == []

    _require_good(repo)
    source = load(FolderTree(repo.root)).topics[TopicName.parse(_TOPIC)]
    assert "types/part.avsc" in source.definitions


def test_a_pair_moves_with_its_halves(repo: GitRepository) -> None:
    repo.commit({f"{FOLDER}/created.yaml": _PAIR})
    repo.write(_BREAKING)
    assert _migrate(repo).left == []
    _require_good(repo)


def test_a_definition_within_the_manifest_moves(repo: GitRepository) -> None:
    def within(text: str) -> str:
        return manifest(f"type: AVRO, definition: {json.dumps(json.dumps(json.loads(text)))}")

    repo.commit(
        {
            f"{FOLDER}/created.yaml": within(_FILES[f"{FOLDER}/created.avsc"]),
            f"{FOLDER}/created.avsc": None,
        }
    )
    repo.write({f"{FOLDER}/created.yaml": within(_BREAKING[f"{FOLDER}/created.avsc"])})
    assert _migrate(repo).left == []
    _require_good(repo)


def test_a_definition_that_the_change_brings_is_told(repo: GitRepository) -> None:
    repo.write(
        {
            f"{FOLDER}/other.avsc": _BREAKING[f"{FOLDER}/created.avsc"],
            f"{FOLDER}/created.yaml": manifest("type: AVRO, definition: other.avsc"),
        }
    )
    written = _migrate(repo)
    assert written.left == [f"remove {FOLDER}/other.avsc: {_TOPIC} is as in the base again"]
    _require_good(repo)


def test_an_order_needs_no_migration(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/created.avsc": _avro(a="long", b="string")})
    assert _ways(repo) == []


def test_a_topic_that_the_change_adopts_has_no_manifest_to_go_back_to(repo: GitRepository) -> None:
    assert run(["apply", "--repo", str(repo.root), "--auto-approve"]) == 0
    gone = (f"{FOLDER}/created.yaml", f"{FOLDER}/created.avsc")
    clients = ("clients/billing.yaml", "clients/checkout.yaml")
    repo.commit({**dict.fromkeys((*gone, *clients)), ".gitignore": "x.db*\n"})
    repo.write({f"{FOLDER}/created.yaml": _FILES[f"{FOLDER}/created.yaml"], **_BREAKING})
    (one,) = report(repo).registries
    assert [str(topic) for topic in one.rollout.refused] == [_TOPIC]
    assert one.rollout.migrations == ()


def test_a_message_of_protobuf_moves(repo: GitRepository) -> None:
    """Pulsar compares the name of the root message only (4.0.7)."""
    proto = 'syntax = "proto3";\npackage shop;\nmessage A { int32 a = 1; }\nmessage B {}\n'
    native = "type: PROTOBUF_NATIVE, definition: created.proto, message: shop."
    repo.commit(
        {
            f"{FOLDER}/created.yaml": manifest(f"{native}A"),
            f"{FOLDER}/created.avsc": None,
            f"{FOLDER}/created.proto": proto,
        }
    )
    repo.write({f"{FOLDER}/created.yaml": manifest(f"{native}B")})
    assert _migrate(repo).left == []
    _require_good(repo)
