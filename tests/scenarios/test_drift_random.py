"""Whatever is done to an embedded registry outside git: adopted, the next plan is empty."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

import pytest

from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.ports import Registry
from gitops.registries.embedded.registry import open_registry
from gitops.registries.embedded.settings import EmbeddedConfig
from tests.scenarios.registries import Command
from tests.scenarios.repositories import empty_for
from tests.support.git_repos import GitRepository
from tests.support.states import field, info, record

_SEEDS: Final = 12
_SPACE: Final = NamespaceName("a", "b")
_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_MONEY: Final = {"type": "fixed", "name": "Money", "namespace": "n", "size": 8}
_TYPES: Final = ("AVRO", "JSON", "PROTOBUF")
_REASONS: Final = ("shares with others", "what they share", "files cannot bring them back")
"""Why something may stay: a shared type, or versions that only a snapshot has."""
_PAIR: Final = {
    "key.schema.name": "", "key.schema.type": "STRING", "key.schema.properties": "{}",
    "value.schema.name": "", "value.schema.type": "AVRO", "value.schema.properties": "{}",
    "kv.encoding.type": "SEPARATED",
}  # fmt: skip


def _repository(root: Path) -> GitRepository:
    """Six topics, of which two share a type, in a namespace that accepts everything."""
    repo = GitRepository(empty_for(root, "{kind: embedded, path: live.db}"))
    folder = f"namespaces/{_SPACE}"
    files = {
        ".gitignore": "live.db*\n",
        "types/money.avsc": json.dumps(_MONEY),
        f"{folder}/namespace.yaml": f"{_HEAD}Namespace\n# ours\nnamespace: {_SPACE}\n"
        "schemaCompatibilityStrategy: ALWAYS_COMPATIBLE # as agreed\n",
        f"{folder}/t5.yaml": f"{_HEAD}Topic\nschema: {{type: STRING}} # plain\n",
    }
    for number in range(5):
        definition = record(field("id"), field("m", "n.Money" if number < 2 else "long"))
        schema = f"{{type: {_TYPES[number % 3]}, definition: t{number}.avsc}}"
        files[f"{folder}/t{number}.avsc"] = json.dumps(definition)
        files[f"{folder}/t{number}.yaml"] = f"{_HEAD}Topic\n# no {number}\nschema: {schema}\n"
    repo.commit(files)
    return repo


def _schema(random: Random) -> SchemaInfo:
    names = random.sample(["id", "m", "x", "y"], random.randint(1, 4))
    types = ["string", "long", ["null", "int"], {**_MONEY, "size": random.choice([8, 9])}]
    node = record(*(field(name, random.choice(types)) for name in names[:1]), field("z"))
    kind = random.choice(("record", "primitive", "pair"))
    if kind == "primitive":
        return SchemaInfo(type=random.choice([SchemaType.INT64, SchemaType.BOOLEAN]))
    if kind == "pair":
        text = '{"key":"","value":' + json.dumps(node, separators=(",", ":")) + "}"
        return SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=_PAIR)
    properties = random.choice([{}, {"owner": "x"}])
    return info(node, SchemaType[random.choice(_TYPES)], properties)


def _plant(registry: Registry, random: Random) -> None:
    """One change that git does not know."""
    topic = TopicName(_SPACE, f"t{random.randrange(8)}")
    key = "schemaCompatibilityStrategy"
    match random.randrange(6):
        case 0 | 1:
            registry.register_schema(topic, _schema(random))
        case 2:
            registry.delete_schema(topic, force=random.choice([True, False]))
        case 3:
            value = random.choice([True, False])
            registry.set_policies(
                _SPACE, [PolicyChange(key="schemaValidationEnforced", before=None, after=value)]
            )
        case 4:
            policy = PolicyChange(key=key, before=None, after=random.choice(list(Strategy)))
            registry.set_policies(topic, [policy])
            registry.register_schema(topic, SchemaInfo(type=SchemaType.STRING))
        case _:
            registry.register_schema(topic, _schema(random))
            registry.register_schema(topic, _schema(random))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(_SEEDS))
def test_random_drift_is_adopted(seed: int, tmp_path: Path, command: Command) -> None:
    random = Random(seed)  # noqa: S311 - a test that can be repeated
    repo = _repository(tmp_path / "repo")
    root = ("--repo", str(repo.root))
    command("fmt", *root)
    repo.commit()
    assert command("apply", "--auto-approve", *root)[0] == 0
    assert command("snapshot", *root)[0] == 0
    repo.commit()
    registry = open_registry("live", EmbeddedConfig(path="live.db"), repo.root)
    for _ in range(random.randint(1, 8)):
        with suppress(RegistryRefusedError):  # a topic's own strategy may refuse it
            _plant(registry, random)
    registry.close()

    code, text = command("drift", "--adopt", "--format", "json", *root)

    adoption = json.loads(text)["adoption"]
    left = {one["subject"] for one in adoption["refused"]}
    assert code == (3 if left else 0), text
    for one in adoption["refused"]:
        assert any(reason in one["message"] for reason in _REASONS), one
    # A shared file that nothing uses any more stays, with a warning.
    found = json.loads(command("validate", "--format", "json", *root)[1])["findings"]
    assert {one["rule"] for one in found} <= {"REPO-R023"}
    assert command("fmt", "--check", *root)[0] == 0
    planned = json.loads(command("plan", "--format", "json", *root)[1])
    differing = {one.get("topic") or one.get("subject") for one in planned["actions"]}
    differing |= {one["topic"] for one in planned["notices"]}
    assert differing <= left, planned
    repo.commit()
    command("snapshot", "--accept-loss", *root)
    again = json.loads(command("drift", "--format", "json", *root)[1])
    (report,) = again["registries"]
    assert {one.get("topic") or one.get("subject") for one in report["drifts"]} <= left
    assert not differing or left
