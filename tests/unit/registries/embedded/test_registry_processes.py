"""Several processes that register at once in one file."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.registries.embedded.registry import EmbeddedRegistry

PROCESSES = 4
SCHEMAS = 12
SHOP = NamespaceName("shop", "orders")
OWN_SCHEMAS = TopicName(SHOP, "own-schemas")
SAME_SCHEMAS = TopicName(SHOP, "same-schemas")


def schema(name: str) -> SchemaInfo:
    field = {"name": name, "type": "string", "default": ""}
    text = json.dumps({"type": "record", "name": "R", "fields": [field]})
    return SchemaInfo(type=SchemaType.AVRO, schema=text)


def register_all(path: Path, process: int) -> dict[str, list[int]]:
    """Register schemas that nobody else has, and those that every process has."""
    registry = EmbeddedRegistry(f"process {process}", path)
    versions: dict[str, list[int]] = {"own": [], "same": []}
    for number in range(SCHEMAS):
        own = registry.register_schema(OWN_SCHEMAS, schema(f"p{process}n{number}"))
        same = registry.register_schema(SAME_SCHEMAS, schema(f"n{number}"))
        versions["own"].append(own)
        versions["same"].append(same)
    registry.close()
    return versions


@pytest.mark.slow
def test_versions_have_no_gaps_and_no_registration_is_lost(tmp_path: Path) -> None:
    registry = EmbeddedRegistry("local", tmp_path / "registry.db")
    registry.create_namespace(SHOP)
    registry.close()
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(PROCESSES) as pool:
        work = [(tmp_path / "registry.db", process) for process in range(PROCESSES)]
        answers = pool.starmap(register_all, work)
    scope = Scope(topics=frozenset({OWN_SCHEMAS, SAME_SCHEMAS}))
    topics = registry.observe(scope).topics
    registry.close()

    own = topics[OWN_SCHEMAS].history.entries
    assert [entry.version for entry in own] == list(range(PROCESSES * SCHEMAS))
    stored = {entry.info.schema: entry.version for entry in own}
    for process, versions in enumerate(answers):
        wanted = [stored[schema(f"p{process}n{n}").schema] for n in range(SCHEMAS)]
        assert versions["own"] == wanted
    assert len(topics[SAME_SCHEMAS].history.entries) == SCHEMAS
    assert all(versions["same"] == answers[0]["same"] for versions in answers)
