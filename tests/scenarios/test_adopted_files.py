"""`drift --adopt` writes new topics as `import` does: files that they have in common once."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import open_registry
from gitops.registries.embedded.settings import EmbeddedConfig
from tests.scenarios.registries import Command
from tests.scenarios.repositories import empty_for
from tests.support.git_repos import GitRepository
from tests.support.states import field, info, record

_FOLDER: Final = "namespaces/a/b"
_NAMESPACE: Final = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: a/b\n"
_HEAD: Final = 'syntax = "proto3"; package shop;'
_SINGLE: Final = {"order.proto": f"{_HEAD} message Order {{ string id = 1; }}"}
_SEPARATE: Final = {
    "order.proto": f'{_HEAD} import "line.proto"; message Order {{ Line line = 1; }}',
    "line.proto": f"{_HEAD} message Line {{ string sku = 1; }}",
}
_MONEY: Final = {
    "type": "record",
    "name": "Money",
    "namespace": "acme.types",
    "fields": [field("amount", "long")],
}
_PAIR: Final = {
    "key.schema.name": "", "key.schema.type": "STRING", "key.schema.properties": "{}",
    "value.schema.name": "", "value.schema.type": "AVRO", "value.schema.properties": "{}",
    "kv.encoding.type": "SEPARATED",
}  # fmt: skip
_NEEDS_PROTOC: Final = pytest.mark.skipif(
    importlib.util.find_spec("grpc_tools") is None, reason="the extra protobuf is not installed"
)


def _native(files: Mapping[str, str]) -> list[SchemaInfo]:
    from tests.support.protos import native

    return [native(files, "order.proto", "shop.Order")] * 5


def _definitions() -> list[Any]:
    """Five records that have one nested named type in common."""
    return [{**record(field("m", _MONEY)), "name": f"Record{number}"} for number in range(5)]


def _pairs() -> list[SchemaInfo]:
    texts = [json.dumps({"key": "", "value": one}, separators=(",", ":")) for one in _definitions()]
    return [SchemaInfo(type=SchemaType.KEY_VALUE, schema=one, properties=_PAIR) for one in texts]


def _registered(root: Path, schemas: list[SchemaInfo]) -> None:
    registry = open_registry("live", EmbeddedConfig(path="live.db"), root)
    registry.create_namespace(NamespaceName("a", "b"))
    for number, schema in enumerate(schemas):
        registry.register_schema(TopicName.parse(f"a/b/t{number}"), schema)
    registry.close()


def _repository(root: Path, schemas: list[SchemaInfo], types: Mapping[str, str]) -> GitRepository:
    """A namespace without topics, and the shared `types`."""
    repo = GitRepository(empty_for(root, "{kind: embedded, path: live.db}"))
    ignored = {".gitignore": "live.db*\n.gitops/\n.schemas/\n"}
    repo.commit({f"{_FOLDER}/namespace.yaml": _NAMESPACE, **ignored, **types})
    _registered(root, schemas)
    return repo


def _files(repo: GitRepository) -> dict[str, str]:
    """Those of the namespace."""
    paths = sorted((repo.root / _FOLDER).rglob("*"))
    return {
        str(path.relative_to(repo.root / _FOLDER)): path.read_text("utf-8")
        for path in paths
        if path.is_file()
    }


_NAMES: Final = ["namespace.yaml", *(f"t{number}.yaml" for number in range(5))]


@pytest.mark.parametrize(
    ("kind", "definitions"),
    [
        pytest.param("single", ["order.proto"], marks=_NEEDS_PROTOC),
        pytest.param("separate", ["line.proto", "order.proto"], marks=_NEEDS_PROTOC),
        ("avro", [f"t{number}.avsc" for number in range(5)]),
        ("pair", [f"t{number}.value.avsc" for number in range(5)]),
    ],
)
def test_new_topics_have_the_files_of_an_import(
    tmp_path: Path, command: Command, kind: str, definitions: list[str]
) -> None:
    types: dict[str, str] = {}
    if kind in ("single", "separate"):
        schemas = _native(_SINGLE if kind == "single" else _SEPARATE)
    else:
        schemas = [info(one) for one in _definitions()] if kind == "avro" else _pairs()
        # A shared type is used where a topic of the files uses it.
        types = {
            "types/money.avsc": json.dumps(_MONEY),
            f"{_FOLDER}/known.avsc": json.dumps(record(field("m", "acme.types.Money"))),
            f"{_FOLDER}/known.yaml": "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            "schema: {type: AVRO, definition: known.avsc}\n",
        }
    imported = _repository(tmp_path / "imported", schemas, types)
    adopted = _repository(tmp_path / "adopted", schemas, types)

    assert command("import", "--repo", str(imported.root))[0] == 0
    code, text = command("drift", "--adopt", "--repo", str(adopted.root))

    assert code == 0, text
    files = _files(adopted)
    assert files == _files(imported)
    known = ["known.avsc", "known.yaml"] if types else []
    assert sorted(files) == sorted([*_NAMES, *definitions, *known])
    if types:
        assert all('"acme.types.Money"' in files[name] for name in definitions)
    assert command("plan", "--detailed-exitcode", "--repo", str(adopted.root))[0] == (
        3 if types else 0
    )


@_NEEDS_PROTOC
@pytest.mark.parametrize("files", [_SINGLE, _SEPARATE], ids=["single", "separate"])
def test_new_topics_use_the_files_that_the_namespace_has(
    tmp_path: Path, command: Command, files: dict[str, str]
) -> None:
    repo = _repository(tmp_path / "repo", _native(files), {})
    at = ("--repo", str(repo.root))
    assert command("import", *at)[0] == 0
    before = _files(repo)
    repo.commit()
    others = [f"{_FOLDER}/t{number}.yaml" for number in range(1, 5)]
    repo.commit(dict.fromkeys(others))

    code, text = command("drift", "--adopt", *at)

    assert code == 0, text
    written = [line for line in text.splitlines() if line.startswith("wrote namespaces/")]
    assert written == [f"wrote {path}" for path in others]
    assert _files(repo) == before
    assert command("plan", "--detailed-exitcode", *at)[0] == 0


@_NEEDS_PROTOC
def test_new_topics_share_files_beside_others_of_the_same_name(
    tmp_path: Path, command: Command
) -> None:
    """The namespace has another `order.proto`."""
    repo = _repository(tmp_path / "repo", _native(_SEPARATE), {})
    other = f"{_HEAD} message Order {{ int64 other = 1; }}\n"
    manifest = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: PROTOBUF_NATIVE, "
    repo.commit(
        {
            f"{_FOLDER}/order.proto": other,
            f"{_FOLDER}/other.yaml": f"{manifest}definition: order.proto, message: shop.Order}}\n",
        }
    )

    code, text = command("drift", "--adopt", "--repo", str(repo.root))

    assert code == 0, text
    protos = [name for name in _files(repo) if name.endswith(".proto")]
    assert protos == ["order.proto", "t0/line.proto", "t0/order.proto"]
    assert _files(repo)["order.proto"] == other
