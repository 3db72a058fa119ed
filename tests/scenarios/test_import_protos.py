"""PROTOBUF_NATIVE schemas that others registered, imported as `.proto` files."""

from __future__ import annotations

import importlib.util
import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import open_registry
from gitops.registries.embedded.settings import EmbeddedConfig
from gitops.repository.json_validation import schema_problems
from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.protos import native

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("grpc_tools") is None, reason="the extra protobuf is not installed"
)
_HEAD = 'syntax = "proto3"; package shop;'
_TIME = 'import "google/protobuf/timestamp.proto";'
_ORDER = (
    f'{_HEAD} import "line.proto"; {_TIME} '
    "message Order { Line line = 1; google.protobuf.Timestamp at = 2; }"
)
_LINE = f"{_HEAD} message Line {{ string sku = 1; }}"
_FILES = {"order.proto": _ORDER, "line.proto": _LINE}
_OTHER = {"line.proto": f"{_HEAD} message Line {{ int64 sku = 1; }}"}
_NESTED = {
    "shop/v1/order.proto": f'{_HEAD} import "shop/v1/line.proto"; message Order {{ Line l = 1; }}',
    "shop/v1/line.proto": _LINE,
    "x.proto": f'{_HEAD} import "shop/v1/order.proto";',
}
_OLD_TIME = 'syntax = "proto3"; package google.protobuf; message Timestamp { int64 seconds = 1; }'


def _with_json_names(info: SchemaInfo) -> SchemaInfo:
    """As somebody posts it who takes a descriptor set as protoc writes it."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    members = json.loads(info.schema)
    found = FileDescriptorSet.FromString(b64decode(members["fileDescriptorSet"]))
    for file in found.file:
        file.message_type[0].field[0].json_name = file.message_type[0].field[0].name
    members["fileDescriptorSet"] = b64encode(found.SerializeToString()).decode()
    text = json.dumps(members, separators=(",", ":"))
    return SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema=text)


def _registered(root: Path, schemas: Mapping[str, SchemaInfo]) -> None:
    registry = open_registry("live", EmbeddedConfig(path="live.db"), root)
    registry.create_namespace(NamespaceName("a", "b"))
    for name, schema in schemas.items():
        registry.register_schema(TopicName.parse(f"a/b/{name}"), schema)
    registry.close()


def test_they_are_imported_as_proto_files_and_plan_empty(tmp_path: Path, command: Command) -> None:
    repo = empty_for(tmp_path / "repo", "{kind: embedded, path: live.db}")
    order = native(_FILES, "order.proto", "shop.Order")
    old_time = {**_FILES, "google/protobuf/timestamp.proto": _OLD_TIME}
    _registered(
        repo,
        {
            "base64": _with_json_names(order),
            "line": native(_FILES, "line.proto", "shop.Line"),
            "nested": native(_NESTED, "x.proto", "shop.Order"),
            "order": SchemaInfo(type=order.type, schema=order.schema, properties={"owner": "team"}),
            "other": native(_OTHER, "line.proto", "shop.Line"),
            "time": native(old_time, "order.proto", "shop.Order"),
        },
    )
    root = ("--repo", str(repo))

    code, text = command("import", *root, "--format", "json")

    assert code == 0
    imported = json.loads(text)
    assert schema_problems("imported", imported) == []
    (kept,) = imported["keptAsBase64"]
    assert (kept["topic"], "JSON names" in kept["reason"]) == ("a/b/base64", True)
    folder = "namespaces/a/b"
    assert [path for path in imported["files"] if path.startswith(folder)] == [
        f"{folder}/base64.json",
        *(f"{folder}/{name}" for name in ("base64.yaml", "line.proto", "line.yaml")),
        *(f"{folder}/{name}" for name in ("namespace.yaml", "nested.root.proto", "nested.yaml")),
        *(f"{folder}/{name}" for name in ("order.proto", "order.yaml")),
        *(f"{folder}/{name}" for name in ("other.yaml", "other/line.proto")),
        *(f"{folder}/shop/v1/{name}.proto" for name in ("line", "order")),
        f"{folder}/time.yaml",
        f"{folder}/time/google/protobuf/timestamp.proto",
        *(f"{folder}/time/{name}.proto" for name in ("line", "order")),
    ]
    assert "definition: time/order.proto\n  message: shop.Order\n" in (
        (repo / folder / "time.yaml").read_text("utf-8")
    )
    assert command("validate", *root)[0] == 0
    assert command("fmt", "--check", *root)[0] == 0
    planned = json.loads(command("plan", "--format", "json", *root)[1])
    assert (planned["actions"], planned["notices"]) == ([], [])
    assert planned["summary"]["unchanged"] == 6


def test_without_the_extra_the_base64_is_kept_and_the_extra_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Command,
) -> None:
    repo = empty_for(tmp_path / "repo", "{kind: embedded, path: live.db}")
    _registered(repo, {"order": native(_FILES, "order.proto", "shop.Order")})
    monkeypatch.setitem(sys.modules, "grpc_tools", None)
    output = tmp_path / "said"

    assert command("import", "--repo", str(repo), "--output", str(output))[0] == 0

    (line,) = (one for one in output.read_text("utf-8").splitlines() if "base64" in one)
    assert line == (
        "wrote PROTOBUF_NATIVE as base64 for a/b/order: install pulsar-schema-gitops with its "
        "extra 'protobuf': in a checkout, pip install '.[protobuf]', remove the files and import "
        "again"
    )
    assert (repo / "namespaces/a/b/order.json").is_file()
    assert "1 unchanged" in command("plan", "--repo", str(repo))[1]


def test_files_that_are_there_keep_their_meaning(tmp_path: Path, command: Command) -> None:
    repo = empty_for(tmp_path / "repo", "{kind: embedded, path: live.db}")
    _registered(
        repo,
        {
            "mine": native(_OTHER, "line.proto", "shop.Line"),
            "order": native(_FILES, "order.proto", "shop.Order"),
        },
    )
    folder = repo / "namespaces/a/b"
    folder.mkdir(parents=True)
    schema = "schema: {type: PROTOBUF_NATIVE, definition: mine.proto, message: shop.Line}\n"
    (folder / "mine.yaml").write_text(f"apiVersion: pulsar-gitops/v1\nkind: Topic\n{schema}")
    (folder / "mine.proto").write_text(f'{_HEAD} import "line.proto";')
    (repo / "line.proto").write_text(_OTHER["line.proto"])

    assert command("import", "--repo", str(repo))[0] == 0

    assert (folder / "order/line.proto").is_file()
    assert not (folder / "line.proto").exists()
    assert "2 unchanged" in command("plan", "--repo", str(repo))[1]


def test_each_registry_is_imported_as_proto_files(
    live: Live, tmp_path: Path, command: Command
) -> None:
    namespace = f"{live.tenant}/shop"
    folder = f"namespaces/{namespace}"
    head = f"apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: {namespace}\n"
    filling = empty_for(tmp_path / "filling", live.registries)
    (filling / folder).mkdir(parents=True)
    (filling / folder / "namespace.yaml").write_text(head, "utf-8")
    assert command("apply", "--auto-approve", "--repo", str(filling))[0] == 0
    live.create_topic("shop/order")
    by_hand = tmp_path / "order.json"
    by_hand.write_text(native(_FILES, "order.proto", "shop.Order").schema, "utf-8")
    what = (f"{namespace}/order", str(by_hand), "--type", "PROTOBUF_NATIVE")
    assert command("schemas", "upload", *what, "--repo", str(filling))[0] == 0
    repo = empty_for(tmp_path / "repo", live.registries)
    root = ("--repo", str(repo))
    assert command("fmt", *root)[0] == 0  # the configuration

    assert command("import", namespace, *root)[0] == 0

    assert (repo / folder / "order.proto").is_file()
    assert not (repo / folder / "order.json").exists()
    assert command("validate", *root)[0] == 0
    assert command("fmt", "--check", *root)[0] == 0
    assert "1 unchanged" in command("plan", *root)[1]
