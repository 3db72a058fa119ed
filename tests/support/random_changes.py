"""A random change of a repository, whose plan has waivers, policies and deletions."""

from __future__ import annotations

import datetime
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.states import field as avro_field
from tests.support.states import record

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: {}\n"
_EXPIRES: Final = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=30)).date()
TOPICS: Final = 4
"""So many are in each of two namespaces."""


@dataclass(slots=True)
class RandomChange:
    """A repository before and after a random change, which deletes, changes, adds and waives."""

    chance: random.Random
    root: Path
    tenant: str
    waived: set[str] = field(default_factory=set)

    def write(self, registry: str) -> None:
        """The repository as it was."""
        (self.root / "waivers").mkdir(parents=True)
        settings = f"registries:\n  live: {registry}\nsafety: {{allowDeletions: true, "
        text = f"{_HEAD.format('Config')}{settings}maxChangedShare: 1.0}}\n"
        (self.root / "gitops.yaml").write_text(text)
        for namespace in (f"{self.tenant}/a", f"{self.tenant}/b"):
            self._namespace(namespace, "BACKWARD")
            for number in range(TOPICS):
                self._topic(f"{namespace}/t{number}", [avro_field("a")])

    def change(self) -> None:
        """The repository as it is to be; a waiver is needed for some of it."""
        for namespace in (f"{self.tenant}/a", f"{self.tenant}/b"):
            strategies = ["BACKWARD", "BACKWARD_TRANSITIVE", "FULL"]
            self._namespace(namespace, self.chance.choice(strategies))
            for number in range(TOPICS):
                self._changed(f"{namespace}/t{number}")
        for number in range(self.chance.randint(0, 2)):
            self._topic(f"{self.tenant}/a/new{number}", [avro_field("n")])
        if self.chance.random() < 0.5:
            self._namespace(f"{self.tenant}/c", "FULL")
            self._topic(f"{self.tenant}/c/first", [avro_field("n")])

    def _changed(self, topic: str) -> None:
        roll = self.chance.random()
        if roll < 0.3:
            for path in (self.root / "namespaces").glob(f"{topic}.*"):
                path.unlink()
        elif roll < 0.55:
            self._topic(topic, [avro_field("a"), avro_field("b", default="")])
        elif roll < 0.75:
            self._topic(topic, [avro_field("a"), avro_field("c")])
            self.waived.add(topic)

    def _namespace(self, name: str, strategy: str) -> None:
        path = self.root / "namespaces" / name / "namespace.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = f"namespace: {name}\nschemaCompatibilityStrategy: {strategy}\n"
        path.write_text(f"{_HEAD.format('Namespace')}{body}")

    def _topic(self, name: str, fields: list[dict[str, object]]) -> None:
        path = self.root / "namespaces" / f"{name}.yaml"
        body = f"schema: {{type: AVRO, definition: {path.stem}.avsc}}\n"
        path.write_text(f"{_HEAD.format('Topic')}{body}")
        path.with_suffix(".avsc").write_text(json.dumps(record(*fields)))

    def approve(self) -> None:
        """Fill in the waivers that a plan has written."""
        for path in sorted((self.root / "waivers").iterdir()):
            text = re.sub(r"reason: .*", "reason: agreed", path.read_text())
            text = re.sub(r"approvedBy: .*", "approvedBy: somebody", text)
            path.write_text(re.sub(r"expires: .*", f"expires: {_EXPIRES}", text))
