"""Random histories of a namespace, changes of its files, and who can connect before and after."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.ports import Registry
from tests.support.states import field, record

STRATEGIES: Final = [one for one in Strategy if one is not Strategy.UNDEFINED]
_TYPES: Final = ("int", "long", "string", "bytes", ["null", "string"])
_DEFAULTS: Final = {"int": 0, "long": 0, "string": "", "bytes": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """A namespace's policies, as `namespace.yaml` has them."""

    strategy: Strategy
    allows_auto_update: bool
    enforces_validation: bool

    def changes(self) -> Iterable[PolicyChange]:
        """What sets them in a registry."""
        for key, value in self.values().items():
            yield PolicyChange(key=key, before=None, after=value)

    def values(self) -> dict[str, Strategy | bool]:
        """By their keys."""
        return {
            "schemaCompatibilityStrategy": self.strategy,
            "isAllowAutoUpdateSchema": self.allows_auto_update,
            "schemaValidationEnforced": self.enforces_validation,
        }


class RandomChange:
    """A history in a registry, and files that change it: policies, schemas, or both."""

    def __init__(self, seed: int, namespace: NamespaceName) -> None:
        self.random = Random(seed)  # noqa: S311 - a test's choices
        self.namespace = namespace
        self.topics = [TopicName(namespace, f"t{n}") for n in range(self.random.randint(1, 3))]
        self.policies = self._policies()
        self.definitions: dict[TopicName, dict[str, Any]] = {}

    def write_history(self, registry: Registry) -> None:
        """Up to four versions of each topic, under ALWAYS_COMPATIBLE, then the policies."""
        loose = PolicyChange(
            key="schemaCompatibilityStrategy", before=None, after=Strategy.ALWAYS_COMPATIBLE
        )
        registry.create_namespace(self.namespace)
        registry.set_policies(self.namespace, [loose])
        for topic in self.topics:
            registry.create_topic(topic, 0)
            definition = self._record()
            for _ in range(self.random.randint(1, 4)):
                info = SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(definition))
                registry.register_schema(topic, info)
                self.definitions[topic] = definition
                definition = self._edited(definition)
        registry.set_policies(self.namespace, self.policies.changes())

    def write_files(self, root: Path) -> None:
        """The files that say what the registry has; the last topic has none, if there are three."""
        for topic in self.topics[:2]:
            self._write_topic(root, topic)
        self._write_namespace(root)

    def change_files(self, root: Path) -> None:
        """One or two changes: policies of the namespace, of a topic, or a definition."""
        for kind in self.random.sample(["policies", "policies", "topic", "schema", "schema"], 2):
            topic = self.random.choice(self.topics[:2])
            if kind == "policies":
                self.policies = self._policies()
                self._write_namespace(root)
            elif kind == "topic":
                own = {"schemaCompatibilityStrategy": self.random.choice(STRATEGIES).value}
                self._write_topic(root, topic, own)
            else:
                self.definitions[topic] = self._edited(self.definitions[topic])
                self._write_topic(root, topic)
            if self.random.random() < 0.6:
                return

    def _policies(self) -> Policies:
        return Policies(
            strategy=self.random.choice(STRATEGIES),
            allows_auto_update=self.random.random() < 0.5,
            enforces_validation=self.random.random() < 0.3,
        )

    def _write_namespace(self, root: Path) -> None:
        values = {
            key: value.value if isinstance(value, Strategy) else value
            for key, value in self.policies.values().items()
        }
        document = {"apiVersion": "pulsar-gitops/v1", "kind": "Namespace"}
        self._write(root, "namespace", {**document, "namespace": str(self.namespace), **values})

    def _write_topic(
        self, root: Path, topic: TopicName, own: Mapping[str, object] | None = None
    ) -> None:
        schema = {"type": "AVRO", "definition": self.definitions[topic]}
        document: dict[str, object] = {"apiVersion": "pulsar-gitops/v1", "kind": "Topic"}
        document["schema"] = schema
        if own:
            document["policies"] = own
        self._write(root, topic.local_name, document)

    def _write(self, root: Path, name: str, document: Mapping[str, object]) -> None:
        folder = root / "namespaces" / str(self.namespace)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.yaml").write_text(json.dumps(document), "utf-8")

    def _record(self) -> dict[str, Any]:
        fields = [field("id", "long")]
        fields += [self._field(f"f{n}") for n in range(self.random.randint(0, 2))]
        return record(*fields)

    def _field(self, name: str) -> dict[str, Any]:
        avro_type = self.random.choice(_TYPES)
        found = field(name, avro_type)
        if self.random.random() < 0.5:
            found["default"] = _DEFAULTS.get(str(avro_type))
        return found

    def _edited(self, definition: dict[str, Any]) -> dict[str, Any]:
        """Another definition: one more field, one less, another type, name or order."""
        edited = copy.deepcopy(definition)
        fields = edited["fields"]
        match self.random.choice(["add", "add", "remove", "type", "rename", "default"]):
            case "add":
                fields.append(self._field(f"g{self.random.randrange(100)}"))
            case "remove" if len(fields) > 1:
                fields.pop(self.random.randrange(len(fields)))
            case "type":
                chosen = self.random.choice(fields)
                chosen["type"] = self.random.choice(["int", "long", "string", "float"])
                chosen.pop("default", None)
            case "rename":
                self.random.choice(fields)["name"] = f"r{self.random.randrange(100)}"
            case _:
                self.random.choice(fields).pop("default", None)
        names = [one["name"] for one in fields]
        return edited if len({*names}) == len(names) else self._edited(definition)
