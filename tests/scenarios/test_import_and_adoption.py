"""What the registry has becomes files: an adoption of each type, and an import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import open_registry
from gitops.registries.embedded.settings import EmbeddedConfig
from tests.scenarios.registries import Command
from tests.scenarios.repositories import empty_for
from tests.support.git_repos import GitRepository
from tests.support.states import field, info, record

_HEAD = "# about the topic\napiVersion: pulsar-gitops/v1\nkind: Topic\n"
_MANIFEST = "namespaces/a/b/t.yaml"
_MONEY = {"type": "fixed", "name": "Money", "namespace": "n", "size": 8}
_RECORD = record(field("id"), field("m", _MONEY))
_PAIR = {
    "key.schema.name": "", "key.schema.type": "STRING", "key.schema.properties": "{}",
    "value.schema.name": "", "value.schema.type": "AVRO", "value.schema.properties": "{}",
    "kv.encoding.type": "SEPARATED",
}  # fmt: skip
_SCHEMAS = [
    info(_RECORD),
    info(_RECORD, SchemaType.JSON, {"owner": "team"}),
    info(_RECORD, SchemaType.PROTOBUF),
    SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema='{"key":"","value":' + json.dumps(record(field("v")), separators=(",", ":")) + "}",
        properties=_PAIR,
    ),
    *(SchemaInfo(type=SchemaType[name]) for name in ("STRING", "INT64", "INSTANT", "BOOLEAN")),
]


@pytest.mark.parametrize("schema", _SCHEMAS, ids=lambda one: one.type.value)
@pytest.mark.parametrize(
    "written",
    [
        {_MANIFEST: _HEAD + "schema: {type: AVRO, definition: t.avsc}\n# the end\n",
         "namespaces/a/b/t.avsc": json.dumps(record(field("id")))},
        {_MANIFEST: _HEAD + "schema:\n  type: INT8 # yes\nsamples: []\n"},
    ],
    ids=["file", "primitive"],
)  # fmt: skip
def test_a_plan_is_empty_after_an_adoption(
    written: dict[str, str], schema: SchemaInfo, tmp_path: Path, command: Command
) -> None:
    repo = GitRepository(empty_for(tmp_path / "repo", "{kind: embedded, path: live.db}"))
    repo.write({".gitignore": "live.db*\n", **written})
    root = ("--repo", str(repo.root))
    command("fmt", *root)
    repo.commit()
    registry = open_registry("live", EmbeddedConfig(path="live.db"), repo.root)
    registry.create_namespace(NamespaceName("a", "b"))
    registry.register_schema(TopicName.parse("a/b/t"), schema)
    registry.close()

    assert command("drift", "--adopt", "a/b/t", *root)[0] == 0

    planned = json.loads(command("plan", "--format", "json", *root)[1])
    assert (planned["actions"], planned["notices"]) == ([], [])
    assert command("fmt", "--check", *root)[0] == 0
    assert (repo.root / _MANIFEST).read_text("utf-8").startswith("# about the topic\n")


def test_an_import_is_formatted_and_has_its_json_schemas(tmp_path: Path, command: Command) -> None:
    repo = empty_for(tmp_path / "repo", "{kind: embedded, path: live.db}")
    registry = open_registry("live", EmbeddedConfig(path="live.db"), repo)
    registry.create_namespace(NamespaceName("a", "b"))
    registry.register_schema(TopicName.parse("a/b/t"), _SCHEMAS[0])
    registry.close()

    assert command("import", "--repo", str(repo))[0] == 0

    assert (repo / ".schemas/topic.schema.json").is_file()
    assert command("fmt", "--check", "--repo", str(repo))[0] == 0
    assert "1 unchanged" in command("plan", "--repo", str(repo))[1]
