"""Random histories and random losses: no number that messages carry is given anew under green.

`LOSS_RUNS=200` in the environment makes so many histories, `LOSS_SEED` others. After each loss a
plan and an apply of an unrelated change are carried out, and then a restore. Messages were written
with each version while it was there: after the restore they decode as before.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import fastavro
import pytest

from gitops.model.names import TopicName
from gitops.model.state import Scope
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.scenarios.registries import Command, Live
from tests.scenarios.shops import Shop

pytestmark = pytest.mark.slow

_RUNS: Final = int(os.environ.get("LOSS_RUNS", "8"))
_SEED: Final = int(os.environ.get("LOSS_SEED", "1"))
_TOPICS: Final = ("created", "paid")
_MOST_STEPS: Final = 6

Definition = dict[str, object]


def _definition(number: int) -> Definition:
    """Each differs from all others, and readers with it can read all others."""
    fields = [{"name": "a", "type": "long"}]
    fields += [{"name": f"f{number}", "type": "string", "default": f"none-{number}"}]
    return {"type": "record", "name": "R", "fields": fields}


def _message(definition: Definition, number: int) -> bytes:
    payload = io.BytesIO()
    record = {"a": number, f"f{number}": f"value-{number}"}
    fastavro.schemaless_writer(payload, fastavro.parse_schema(definition), record)
    return payload.getvalue()


def _decode(payload: bytes, schema: str) -> Any:  # noqa: ANN401 - a record of any schema
    return fastavro.schemaless_reader(
        io.BytesIO(payload), fastavro.parse_schema(json.loads(schema)), None
    )


@dataclass(slots=True)
class _World:
    """A shop with its registry's file, and the messages that were stored, by topic and version."""

    random: Random
    shop: Shop
    database: Path
    number: int = 10
    messages: dict[tuple[str, int], tuple[bytes, Any]] = field(default_factory=dict)
    recorded: dict[str, int] = field(default_factory=dict)
    copies: list[Path] = field(default_factory=list)
    text: str = ""

    def live(self, topic: str) -> tuple[dict[int, str], int]:
        """The registry's versions with their definitions, and the next number."""
        namespace, name = self.shop.namespace.split("/"), TopicName.parse
        topic_name = name(f"{'/'.join(namespace)}/{topic}")
        with closing(EmbeddedRegistry("live", self.database)) as registry:
            state = registry.observe(Scope(topics=frozenset({topic_name})))
        history = state.topics[topic_name].history
        versions = {entry.version: entry.info.schema for entry in history.entries}
        return versions, history.next_version

    def run(self, *args: str, expect: int | None = 0) -> int:
        code, self.text = self.shop.run(*args)
        self.text = f"{self.text}{args}"
        assert expect is None or code == expect, (args, self.text)
        return code

    def publish(self) -> None:
        """A message with each version that is there, and the numbers that were used up."""
        for topic in _TOPICS:
            versions, following = self.live(topic)
            self.recorded[topic] = max(self.recorded.get(topic, 0), following)
            for version, schema in versions.items():
                if (topic, version) not in self.messages:
                    definition = json.loads(schema)
                    payload = _message(definition, int(definition["fields"][1]["name"][1:]))
                    self.messages[topic, version] = payload, _decode(payload, schema)

    def live_step(self) -> None:
        """What a team does: mostly a new version, now and then a deletion or a snapshot."""
        topic = self.random.choice(_TOPICS)
        match self.random.randrange(8):
            case 0:
                self.delete(topic)
            case 1 | 2:
                self.run("snapshot", "--accept-loss")
                self.shop.repo.commit({})
            case _:
                self.number += 1
                self.shop.define(_definition(self.number), topic)
                self.run("apply", "--auto-approve")
        self.publish()
        copy = self.database.with_suffix(f".{len(self.copies)}")
        shutil.copy(self.database, copy)
        self.copies.append(copy)

    def delete(self, topic: str) -> None:
        """With a tombstone; what was stored before cannot be read any more, and none expects it."""
        name = f"{self.shop.namespace}/{topic}"
        if self.live(topic)[0]:
            self.run("schemas", "delete", name, "--yes")
            self.run("snapshot", "--accept-loss")
            self.shop.repo.commit({})
            for key in [key for key in self.messages if key[0] == topic]:
                del self.messages[key]

    def lose(self) -> str:
        """Forget some topics, or have the cluster of an earlier day."""
        if self.random.random() < 0.4:
            copy = self.random.choice(self.copies)
            shutil.copy(copy, self.database)
            return f"the copy {copy.suffix}"
        lost = self.random.sample(_TOPICS, self.random.randint(1, len(_TOPICS)))
        for topic in lost:
            name = f"{self.shop.namespace}/{topic}"
            self.run("schemas", "delete", name, "--yes", "--force", expect=None)
        return f"forced deletion of {lost}"

    def restore(self) -> None:
        """As the refusals say: what an older cluster has of deleted versions is removed first."""
        for _ in range(len(_TOPICS) + 1):
            if self.run("restore", expect=None) == 0:
                return
            removed = re.findall(r"schemas delete\s+--force\s+(\S+)", self.text)
            assert removed, self.text
            for topic in removed:
                self.run("schemas", "delete", topic, "--yes", "--force")
        self.run("restore")

    def wrong(self) -> list[tuple[str, int]]:
        """Stored messages that decode otherwise now, or not at all though the number is there."""
        found = []
        for (topic, version), (payload, record) in self.messages.items():
            schema = self.live(topic)[0].get(version)
            try:
                is_wrong = schema is not None and _decode(payload, schema) != record
            except Exception:  # noqa: BLE001 - whatever a reader raises
                is_wrong = True
            if is_wrong:
                found.append((topic, version))
        return found

    def given_anew(self) -> list[str]:
        """Topics whose next registration gets a number that was used."""
        return [topic for topic in _TOPICS if self.live(topic)[1] < self.recorded.get(topic, 0)]


@pytest.mark.parametrize("seed", range(_SEED, _SEED + _RUNS))
def test_no_number_is_given_anew_and_a_restore_brings_all_back(
    seed: int, tmp_path: Path, command: Command
) -> None:
    random = Random(seed)  # noqa: S311 - a test that can be repeated
    database = tmp_path / "live.db"
    live = Live(registries=f"{{kind: embedded, path: {database}}}", tenant="shop")
    shop = Shop(live, tmp_path / "repo", command, with_snapshot=False)
    world = _World(random=random, shop=shop, database=database)
    shop.lose("--force")  # what the shop begins with has other fields
    shop.run("snapshot", "--accept-loss")
    shop.define(_definition(1))
    world.run("apply", "--auto-approve")
    world.publish()
    for _ in range(random.randint(1, _MOST_STEPS)):
        world.live_step()

    loss = world.lose()
    at_risk = world.given_anew()
    shop.define(_definition(0), "unrelated")
    planned = world.run("plan", expect=None)
    applied = world.run("apply", "--auto-approve", expect=None)

    assert world.wrong() == [], (loss, world.text)
    if at_risk and not (planned == applied == 1):
        # Only where the apply brought back exactly what was lost.
        assert world.given_anew() == [], (loss, at_risk, world.text)
    world.restore()
    for (topic, version), (payload, record) in world.messages.items():
        assert _decode(payload, world.live(topic)[0][version]) == record, (loss, topic, version)
    if at_risk:
        assert world.run("plan", expect=None) == 0, world.text
