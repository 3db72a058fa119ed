"""What an import brings leaves the shared types of a working repository as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import open_registry
from gitops.registries.embedded.settings import EmbeddedConfig
from tests.scenarios.registries import Command
from tests.scenarios.repositories import empty_for
from tests.support.states import field, info, record

_HEAD = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
_ADDRESS = {
    "type": "record",
    "name": "Address",
    "namespace": "acme.types",
    "fields": [field("street"), field("zip", "int")],
}
_OTHER = {**_ADDRESS, "fields": [field("line")]}
_SPELT = {key: value for key, value in _ADDRESS.items() if key != "namespace"}
_PAIR = {
    "key.schema.name": "", "key.schema.type": "STRING", "key.schema.properties": "{}",
    "value.schema.name": "", "value.schema.type": "AVRO", "value.schema.properties": "{}",
    "kv.encoding.type": "SEPARATED",
}  # fmt: skip


def _pair(value: Any) -> SchemaInfo:  # noqa: ANN401 - JSON
    text = json.dumps({"key": "", "value": value}, separators=(",", ":"))
    return SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=_PAIR)


def _working(root: Path, command: Command) -> Path:
    """Three topics that share acme.types.Address, as the registry has them, too."""
    repo = empty_for(root / "repo", "{kind: embedded, path: live.db}")
    files = {"types/addr.avsc": json.dumps(_ADDRESS)}
    for name in ("one", "two", "three"):
        manifest = f"{_HEAD}schema: {{type: AVRO, definition: {name}.avsc}}\n"
        files[f"namespaces/acme/in/{name}.yaml"] = manifest
        using = record(field("to", "acme.types.Address"))
        files[f"namespaces/acme/in/{name}.avsc"] = json.dumps(using)
    for path, text in files.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text, "utf-8")
    registry = open_registry("live", EmbeddedConfig(path="live.db"), repo)
    registry.create_namespace(NamespaceName("acme", "in"))
    registry.create_namespace(NamespaceName("acme", "other"))
    registry.close()
    assert command("fmt", "--repo", str(repo))[0] == 0
    assert command("apply", "--auto-approve", "--repo", str(repo))[0] == 0
    return repo


def _register(repo: Path, schemas: dict[str, SchemaInfo]) -> None:
    registry = open_registry("live", EmbeddedConfig(path="live.db"), repo)
    for name, schema in schemas.items():
        registry.register_schema(TopicName.parse(f"acme/other/{name}"), schema)
    registry.close()


def _import(repo: Path, command: Command) -> tuple[int, str]:
    """The exit code, and what is told of the files."""
    told = repo.parent / "told.txt"
    code, _ = command("import", "acme/other", "--repo", str(repo), "--output", str(told))
    return code, told.read_text("utf-8")


def _require_empty_plan(repo: Path, command: Command) -> None:
    code, out = command("plan", "--format", "json", "--repo", str(repo))
    planned = json.loads(out)
    assert (code, planned["findings"]) == (0, [])
    assert (planned["actions"], planned["notices"]) == ([], [])
    assert command("fmt", "--check", "--repo", str(repo))[0] == 0


@pytest.mark.parametrize(
    "schema",
    [
        info(record(field("a", _OTHER))),
        info(record(field("a", _OTHER)), SchemaType.JSON),
        info(_OTHER),
        info({**_SPELT, "name": "acme.types.Address"}),
        _pair(record(field("a", _OTHER))),
        _pair({**record(field("a", _SPELT)), "namespace": "acme.types"}),
    ],
    ids=["nested", "JSON", "itself", "spelt otherwise", "half", "half spelt otherwise"],
)
def test_another_definition_of_a_shared_type_disturbs_nobody(
    schema: SchemaInfo, tmp_path: Path, command: Command
) -> None:
    repo = _working(tmp_path, command)
    _register(repo, {"strange": schema, "same": info(record(field("a", _ADDRESS)))})

    code, out = _import(repo, command)

    assert code == 0
    assert "definition of acme/other/strange as .json: it defines acme.types.Address" in out
    folder = repo / "namespaces/acme/other"
    (definition,) = folder.glob("strange*.json")
    assert definition.read_text("utf-8").startswith("{\n")
    assert '"acme.types.Address"' in (folder / "same.avsc").read_text("utf-8")
    _require_empty_plan(repo, command)


def test_types_of_a_topics_own_are_in_the_json(tmp_path: Path, command: Command) -> None:
    repo = _working(tmp_path, command)
    _register(repo, {"strange": info(record(field("a", _OTHER)))})

    code, out = command("import", "acme/other", "--format", "json", "--repo", str(repo))

    imported = json.loads(out)
    assert (code, imported["ownTypes"]) == (
        0,
        [{"topic": "acme/other/strange", "types": ["acme.types.Address"]}],
    )
    schema = Path(__file__).parents[2] / "docs/reference/json/imported.schema.json"
    Draft202012Validator(json.loads(schema.read_text("utf-8"))).validate(imported)


def test_a_type_that_is_the_same_stays_a_reference(tmp_path: Path, command: Command) -> None:
    repo = _working(tmp_path, command)
    inherited = {**record(field("a", _SPELT)), "namespace": "acme.types"}
    _register(repo, {"whole": info(record(field("a", _ADDRESS))), "inherited": info(inherited)})

    assert command("import", "acme/other", "--repo", str(repo))[0] == 0

    for name in ("whole", "inherited"):
        text = (repo / f"namespaces/acme/other/{name}.avsc").read_text("utf-8")
        assert json.loads(text)["fields"][0]["type"] == "acme.types.Address"
    _require_empty_plan(repo, command)


def test_types_that_nobody_shares_may_be_defined_twice(tmp_path: Path, command: Command) -> None:
    repo = _working(tmp_path, command)
    money = {"type": "fixed", "name": "n.Money", "size": 8}
    _register(repo, {"a": info(record(field("m", money)))})
    assert command("import", "acme/other", "--repo", str(repo))[0] == 0
    _register(repo, {"b": info(record(field("m", {**money, "size": 16})))})

    code, out = _import(repo, command)

    assert (code, ".json" in out) == (0, False)
    assert (repo / "namespaces/acme/other/b.avsc").is_file()
    _require_empty_plan(repo, command)


def test_a_type_beside_a_manifest_that_others_name_is_shared(
    tmp_path: Path, command: Command
) -> None:
    repo = _working(tmp_path, command)
    folder = repo / "namespaces/acme/in"
    (repo / "types/addr.avsc").unlink()
    (folder / "one.avsc").write_text(json.dumps(record(field("to", _ADDRESS))), "utf-8")
    command("fmt", "--repo", str(repo))
    _register(repo, {"strange": info(record(field("a", _OTHER)))})

    code, out = _import(repo, command)

    assert (code, "acme/other/strange as .json" in out) == (0, True)
    _require_empty_plan(repo, command)
