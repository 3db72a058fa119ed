"""A repository whose topic has two versions, and what may happen to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gitops.model.errors import GitopsError
from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.git_repos import GitRepository
from tests.support.states import field, record

V0 = record(field("a", "long"))
V1 = record(field("a", "long"), field("b", "string", default=""))
V2 = record(field("a", "long"), field("c", "string", default=""))
V3 = record(field("a", "long"), field("d", "string", default=""))


class Shop:
    """A repository with one topic that has v0 and v1, both recorded in a snapshot.

    Without one only the journal of the applies has them.
    """

    def __init__(
        self, live: Live, root: Path, command: Command, *, with_snapshot: bool = True
    ) -> None:
        self.namespace = f"{live.tenant}/orders"
        self.topic = f"{self.namespace}/created"
        self.root = empty_for(root, live.registries)
        self.repo = GitRepository(self.root)
        self._command = command
        self._elsewhere = root.with_name("elsewhere")
        self._registries = live.registries
        head = "apiVersion: pulsar-gitops/v1\nkind: Namespace\n"
        folder = self.root / "namespaces" / self.namespace
        folder.mkdir(parents=True)
        policies = "schemaCompatibilityStrategy: BACKWARD\n"
        (folder / "namespace.yaml").write_text(f"{head}namespace: {self.namespace}\n{policies}")
        for definition in (V0, V1):
            self.define(definition)
            assert self.run("apply", "--auto-approve")[0] == 0
        if with_snapshot:
            assert self.run("snapshot")[0] == 0
        self.repo.commit({})

    def run(self, *args: str) -> tuple[int, str]:
        try:
            return self._command(*args, "--repo", str(self.root))
        except GitopsError as error:
            return error.exit_code, ""

    def define(self, definition: dict[str, object], topic: str = "created") -> None:
        document = {
            "apiVersion": "pulsar-gitops/v1",
            "kind": "Topic",
            "schema": {"type": "AVRO", "definition": definition},
        }
        path = self.root / "namespaces" / self.namespace / f"{topic}.yaml"
        path.write_text(json.dumps(document), "utf-8")

    def lose(self, *options: str) -> None:
        assert self.run("schemas", "delete", self.topic, "--yes", *options)[0] == 0

    def lose_elsewhere(self) -> None:
        """As a broker forgets a topic, or an administrator, so that nothing records it here."""
        repo = str(self._other_repository())
        delete = ("schemas", "delete", "--force", "--yes", self.topic, "--repo", repo)
        assert self._command(*delete)[0] == 0

    def _other_repository(self) -> Path:
        return (
            self._elsewhere
            if self._elsewhere.exists()
            else empty_for(self._elsewhere, self._registries)
        )

    def upload(self, definition: dict[str, object]) -> None:
        """As a producer registers it, which knows nothing of what was recorded."""
        repo = self._other_repository()
        file = repo / "upload.avsc"
        file.write_text(json.dumps(definition), "utf-8")
        upload = ("schemas", "upload", self.topic, str(file), "--type", "AVRO", "--repo", str(repo))
        assert self._command(*upload)[0] == 0

    def drift(self) -> tuple[int, dict[str, Any]]:
        code, text = self.run("drift", "--format", "json")
        (registry,) = json.loads(text)["registries"]
        return code, registry

    def versions(self, topic: str = "created") -> list[int]:
        name = f"{self.namespace}/{topic}"
        _, text = self.run("schemas", "versions", name, "--format", "json")
        return [one["version"] for one in json.loads(text)] if text else []

    def findings(self, *args: str) -> tuple[int, dict[str, dict[str, Any]]]:
        code, text = self.run(*args, "--format", "json")
        document = json.loads(text)
        plans = [document, *(one["plan"] for one in document.get("registries", []))]
        return code, {one["rule"]: one for plan in plans for one in plan.get("findings", [])}
