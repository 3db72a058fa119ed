"""Formatting a repository changes nothing that it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from gitops.model.clients import Consumes, Produces
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo
from gitops.model.state import Repository
from gitops.planning.fingerprints import is_same
from gitops.ports import FileTree
from gitops.repository.file_trees import FolderTree
from gitops.repository.formatting.repository import FormatResult, format_repository
from gitops.repository.loader import load
from gitops.repository.writing.manifests import render
from tests.support.case_files import Case, cases
from tests.support.project_files import ROOT
from tests.support.trees import MemoryTree, repository

_TEMPLATE: Final = ROOT / "schemas_repo_template"
_TOPIC: Final = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema:\n"
_RECORD: Final = '{"name":"R","type":"record","fields":[{"type":"int","name":"a"}]}'


def files_of(tree: FileTree) -> dict[str, bytes]:
    found = {}
    for path in tree.paths():
        try:
            found[path] = tree.read(path)
        except Exception:  # noqa: BLE001, S112 - a case about a file that nobody can read
            continue
    return found


def formatted(tree: FileTree, done: FormatResult) -> MemoryTree:
    return MemoryTree({**files_of(tree), **{each.path: each.after for each in done.changes}})


def schemas(loaded: Repository) -> dict[object, SchemaInfo]:
    latest = {name: state.history.latest for name, state in loaded.desired.topics.items()}
    found: dict[object, SchemaInfo] = {name: one.info for name, one in latest.items() if one}
    for client in loaded.clients:
        both: tuple[Consumes | Produces, ...] = (*client.consumes, *client.produces)
        for index, each in enumerate(both):
            for number, schema in enumerate(each.schemas):
                if isinstance(schema, SchemaInfo):
                    found[client.name, index, number] = schema
    return found


def says(loaded: Repository) -> object:
    """All that a repository says, the texts of its schemas and the places of findings apart."""
    findings = [*loaded.findings, *(f for each in loaded.topics.values() for f in each.findings)]
    return (
        loaded.config,
        {name: state.policies for name, state in loaded.desired.topics.items()},
        loaded.desired.namespaces,
        {client.name: client.owner for client in loaded.clients},
        len(loaded.waivers),
        sorted(
            (one.rule, one.severity, one.location.file if one.location else "") for one in findings
        ),
    )


def assert_same(before: Repository, after: Repository) -> None:
    assert says(after) == says(before)
    texts, others = schemas(before), schemas(after)
    assert texts.keys() == others.keys()
    for name, info in texts.items():
        assert is_same(info, others[name]), name
        assert others[name].properties == info.properties


def test_the_template_is_canonical() -> None:
    done = format_repository(FolderTree(_TEMPLATE))
    assert (done.changes, done.findings) == ((), ())
    assert done.canonical == sum(
        path.endswith((".yaml", ".avsc")) for path in FolderTree(_TEMPLATE).paths()
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("repo/*"), ids=str)
def test_every_case_says_the_same_afterwards(case: Case, tmp_path: Path) -> None:
    tree = MemoryTree(files_of(FolderTree(case.write(tmp_path) / "repo")))
    before = load(tree)
    done = format_repository(tree)
    after = formatted(tree, done)

    if not any(b"\xef\xbb\xbf" in each.before for each in done.changes):
        assert_same(before, load(after))
    assert format_repository(after).changes == ()
    assert format_repository(after).findings == done.findings


def one_topic(schema: str, definition: str, **others: str) -> MemoryTree:
    namespace = "namespaces/shop/orders"
    return repository(
        {
            f"{namespace}/t.yaml": _TOPIC + schema,
            f"{namespace}/t.avsc": definition,
            **{f"{namespace}/{name}.avsc": text for name, text in others.items()},
        }
    )


def definition_after(tree: MemoryTree, name: str = "t") -> str | None:
    changes = {each.path: each.after for each in format_repository(tree).changes}
    after = changes.get(f"namespaces/shop/orders/{name}.avsc")
    return after.decode() if after is not None else None


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
def test_members_get_their_order_where_a_broker_compares_as_avro_does(kind: str) -> None:
    after = definition_after(one_topic(f"  type: {kind}\n  definition: t.avsc\n", _RECORD))
    assert after is not None
    assert list(json.loads(after)) == ["type", "name", "fields"]


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
def test_a_byte_order_mark_goes(kind: str) -> None:
    schema = f"  type: {kind}\n  definition: t.avsc\n"
    in_order = definition_after(one_topic(schema, _RECORD))
    assert in_order is not None
    for text in (_RECORD, in_order):
        assert definition_after(one_topic(schema, f"\ufeff{text}")) == in_order


def test_a_half_with_a_byte_order_mark_keeps_its_order() -> None:
    schema = "  type: KEY_VALUE\n  key: {type: STRING}\n  value: {type: AVRO, definition: t.avsc}\n"
    after = definition_after(one_topic(schema, f"\ufeff{_RECORD}"))
    assert after is not None
    assert list(json.loads(after)) == ["name", "type", "fields"]


def test_a_half_keeps_the_order_that_its_text_is_compared_by() -> None:
    schema = "  type: KEY_VALUE\n  key: {type: STRING}\n  value: {type: AVRO, definition: t.avsc}\n"
    tree = one_topic(schema, _RECORD)
    after = definition_after(tree)
    assert after is not None
    assert after != _RECORD
    assert list(json.loads(after)) == ["name", "type", "fields"]
    assert_same(load(tree), load(formatted(tree, format_repository(tree))))


def test_a_type_that_a_half_takes_in_keeps_its_order_too() -> None:
    schema = "  type: KEY_VALUE\n  key: {type: STRING}\n  value: {type: AVRO, definition: t.avsc}\n"
    shared = '{"name":"n.S","type":"fixed","size":4}'
    using = '{"type":"record","name":"R","fields":[{"name":"s","type":"n.S"}]}'
    tree = one_topic(schema, using, shared=shared)
    assert definition_after(tree, "shared") == '{"name": "n.S", "type": "fixed", "size": 4}\n'
    assert_same(load(tree), load(formatted(tree, format_repository(tree))))


@pytest.mark.parametrize(
    ("schema", "definition"),
    [
        ("  type: STRING\n  definition: t.avsc\n", _RECORD),
        ("  type: AVRO\n  definition: t.avsc\n", '{"name":"R","type":"nobody.knows.It"}'),
        ("  type: JSON\n  definition: t.avsc\n", '{"type":"object","id":"urn:x","properties":{}}'),
        ("  type: KEY_VALUE\n  definition: t.avsc\n", '{"key":"","value":{"type":"int"}}'),
    ],
    ids=["not Avro", "unknown type", "old JSON", "whole pair"],
)
def test_what_a_broker_compares_by_its_bytes_is_left_alone(schema: str, definition: str) -> None:
    assert definition_after(one_topic(schema, definition)) is None


def test_a_client_has_a_say_as_well() -> None:
    client = (
        "apiVersion: pulsar-gitops/v1\nkind: Client\nname: c\nowner: o\nproduces:\n"
        "  - topic: shop/orders/t\n    schema:\n      type: KEY_VALUE\n"
        "      key: {type: STRING}\n"
        "      value: {type: AVRO, definition: ../namespaces/shop/orders/v.avsc}\n"
    )
    namespace = "namespaces/shop/orders"
    tree = repository({"clients/c.yaml": client, f"{namespace}/v.avsc": _RECORD})
    after = definition_after(tree, "v")
    assert after is not None
    assert list(json.loads(after)) == ["name", "type", "fields"]


def test_members_stay_where_a_manifest_that_may_use_them_is_not_understood() -> None:
    namespace = "namespaces/shop/orders"
    tree = repository({f"{namespace}/t.yaml": "kind: [", f"{namespace}/v.avsc": _RECORD})
    after = definition_after(tree, "v")
    assert after is not None
    assert list(json.loads(after)) == ["name", "type", "fields"]


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_laid_out() -> None:
    namespace = "namespaces/shop/orders"
    tree = repository(
        {
            f"{namespace}/a.yaml": "kind: [\n",
            f"{namespace}/b.yaml": "kind: Topic\nkind: Topic\n",
            f"{namespace}/c.avsc": '{"type": "int",}',
            f"{namespace}/d.avsc": b"\xff",
            f"{namespace}/e.avsc": '\ufeff"int"',
            f"{namespace}/f.yaml": "kind:   Topic\n",
        }
    )
    done = format_repository(tree)
    assert [(each.rule, each.location and each.location.file[-6:]) for each in done.findings] == [
        ("REPO-R001", "a.yaml"), ("REPO-R003", "b.yaml"), ("AVRO-P001", "c.avsc"),
        ("REPO-R018", "d.avsc"),
    ]  # fmt: skip
    assert [each.path[-6:] for each in done.changes] == ["e.avsc", "f.yaml"]


def test_only_what_is_managed_and_asked_for_is_looked_at() -> None:
    ugly: Mapping[str, str] = dict.fromkeys(
        [
            ".github/workflows/ci.yaml", "docker-compose.yaml", "samples/a.avsc", "clients/a.txt",
            "namespaces/shop/orders/a.proto", "namespaces/shop/orders/a.yaml", "clients/c.yaml",
            "waivers/w.yaml", "namespaces/shop/orders/namespace.yaml",
        ],
        "kind:   x\n",
    )  # fmt: skip
    tree = repository({**ugly, "types/t.avsc": ' "int"'})
    managed = [
        "clients/c.yaml", "gitops.yaml", "namespaces/shop/orders/a.yaml",
        "namespaces/shop/orders/namespace.yaml", "types/t.avsc", "waivers/w.yaml",
    ]  # fmt: skip
    every = format_repository(tree)
    assert [each.path for each in every.changes] == [p for p in managed if p != "gitops.yaml"]
    some = format_repository(tree, ("clients", "types/t.avsc", "docker-compose.yaml"))
    assert [each.path for each in some.changes] == ["clients/c.yaml", "types/t.avsc"]
    linked = format_repository(tree, (), "clients/c.yaml".__eq__)
    assert "clients/c.yaml" not in [each.path for each in linked.changes]


def test_no_diff_shows_a_secret() -> None:
    settings = (
        "kind: Config\napiVersion: pulsar-gitops/v1\nregistries:\n"
        "  p: {kind: pulsar, url: 'http://x', authentication: {token: s3cr3t}}\n"
    )
    (change,) = format_repository(MemoryTree({"gitops.yaml": settings})).changes
    assert (change.sensitive, change.diff) == (True, "")


def test_a_folder_that_is_no_repository_is_refused() -> None:
    with pytest.raises(UsageError):
        format_repository(MemoryTree({"clients/c.yaml": "a: 1\n"}))


def test_what_an_import_writes_is_canonical_but_for_stored_definitions() -> None:
    desired = load(FolderTree(_TEMPLATE)).desired
    files = {path: data for path, data in render(desired).items() if path.endswith(".yaml")}
    done = format_repository(repository(files))
    assert (done.changes, done.findings) == ((), ())
    assert done.canonical == len(files) + 1
