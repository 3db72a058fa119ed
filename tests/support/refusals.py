"""Repositories whose definitions a registry refuses, and what edits make of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import StringIO
from textwrap import indent
from typing import Any, Final

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import register
from gitops.changes.registries import desired_state, registry_config
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.planning.plan import make_plan
from gitops.repository.definitions.locations import Locator
from gitops.repository.loader import load
from gitops.repository.plan_fixes import FixRequest, add_patches, fixed_files
from gitops.repository.yaml.dumper import yaml_text
from gitops.schemas.payload import stored_history
from tests.oracle.avro_changes import AvroChanges
from tests.oracle.avro_schemas import AvroSchemas, Json
from tests.oracle.random_source import Chance
from tests.support.states import history, info, pair, question, state, topic_state
from tests.support.trees import MemoryTree, repository

FOLDER: Final = "namespaces/shop/orders"
_NAMESPACE: Final = (
    "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    "schemaCompatibilityStrategy: {}\n"
)
_STRATEGIES: Final = (
    *("BACKWARD", "BACKWARD", "FORWARD", "FULL", "FULL"),
    *("BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE", "FULL_TRANSITIVE"),
)
_KINDS: Final = (
    *("AVRO",) * 5,
    *("manifest",) * 2,
    *("shared",) * 3,
    "JSON",
    "JSON",
    "PROTOBUF",
    "KEY_VALUE",
)


def manifest(schema: str) -> str:
    """A topic's manifest with this `schema:`."""
    return f"apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {schema}\n"


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Files of topics of shop/orders, and the versions that the registry has of them."""

    files: Mapping[str, str | bytes]
    versions: Mapping[str, tuple[SchemaInfo, ...]]
    strategy: str = "FULL"
    edited: Mapping[str, bytes] = field(default_factory=dict)

    def request(self) -> FixRequest:
        """What a plan is made from."""
        tree = self._tree()
        loaded = load(tree)
        topics = {TopicName.parse(f"shop/orders/{name}"): i for name, i in self.versions.items()}
        observed = state(*(topic_state(name, *infos) for name, infos in topics.items()))
        _, config = registry_config(loaded, None)
        asked = question(
            desired_state(loaded, config),
            observed,
            content={name: one.findings for name, one in loaded.topics.items() if one.findings},
        )
        locate = Locator(tree, loaded.topics).locate
        return FixRequest(tree=tree, repository=loaded, plan_input=replace(asked, locate=locate))

    def plan(self) -> Plan:
        """The plan with its patches."""
        request = self.request()
        return add_patches(make_plan(request.plan_input), request)

    def fixed(self) -> Situation:
        """With all edits that help."""
        request = self.request()
        done = fixed_files(make_plan(request.plan_input), request)
        return replace(self, edited={**self.edited, **done})

    def with_patch(self, patch: str) -> Situation:
        """With one patch applied."""
        file = patch.split("\n", 1)[0].removeprefix("--- a/")
        after = patched(self._tree().read(file).decode(), patch)
        return replace(self, edited={**self.edited, file: after.encode()})

    def infos(self) -> dict[str, SchemaInfo]:
        """The schema of each topic as it would be registered."""
        topics = load(self._tree()).desired.topics
        latest = {name.local_name: topic.history.latest for name, topic in topics.items()}
        return {name: one.info for name, one in latest.items() if one}

    def cases(self) -> Iterator[dict[str, Any]]:
        """Each topic as a case of the conformance files."""
        for name, one in self.infos().items():
            yield {
                "id": name,
                "mode": "producer",
                "strategy": self.strategy,
                "existing": [_entry(each) for each in self.versions[name]],
                "candidate": _entry(one),
            }

    def accepted(self) -> bool:
        """Whether our decider accepts all topics, which knows nothing of files and plans."""
        strategy = SchemaCompatibilityStrategy(self.strategy)
        return all(
            register(stored_history(self._history(name)), one, strategy, PULSAR_4_0).accepted
            for name, one in self.infos().items()
        )

    def _history(self, name: str) -> SchemaHistory:
        return history(*self.versions[name])

    def _tree(self) -> MemoryTree:
        space = _NAMESPACE.format(self.strategy)
        return repository({f"{FOLDER}/namespace.yaml": space, **self.files, **self.edited})


def _entry(one: SchemaInfo) -> dict[str, Any]:
    return {"type": one.type.value, "schema": one.schema, "properties": dict(one.properties)}


def errors(plan: Plan) -> list[Finding]:
    """What stops it."""
    return [one for one in plan.findings if one.severity is Severity.ERROR]


def is_refused(plan: Plan) -> bool:
    """Whether a schema is held back."""
    return any(isinstance(one, RefusedSchema) for one in plan.notices)


def patched(text: str, patch: str) -> str:
    """The text after a unified diff, as `git apply` makes it."""
    lines, done, at, sign = list(StringIO(text, newline="\n")), list[str](), 0, ""
    for line in list(StringIO(patch, newline="\n"))[2:]:
        if line.startswith("@@"):
            start = max(0, int(line.split()[1].split(",")[0][1:]) - 1)
            done += lines[at:start]
            at = start
        elif line.startswith("\\"):
            done[-1:] = [one.rstrip("\n") if sign != "-" else one for one in done[-1:]]
        elif line.startswith("+"):
            done.append(line[1:])
        else:
            at += 1
            done += [line[1:]] if line.startswith(" ") else []
        sign = line[:1]
    return "".join([*done, *lines[at:]])


class RandomSituations:
    """An endless stream of changes, the same for the same seed; some of them are refused."""

    def __init__(self, seed: int) -> None:
        self._chance = Chance(seed)
        self._schemas = AvroSchemas(self._chance)
        self._changes = AvroChanges(self._schemas)

    def __iter__(self) -> Iterator[Situation]:
        while True:
            yield self.one()

    def one(self) -> Situation:
        """A history of one to three versions, and what is to come after it."""
        self._schemas.renew(0.0)
        steps = [self._schemas.record()]
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            steps.append(self._changes.changed(steps[-1]))
        kind, strategy = self._chance.choice(_KINDS), self._chance.choice(_STRATEGIES)
        if kind == "shared" and not all(isinstance(one, dict) and "name" in one for one in steps):
            kind = "AVRO"
        make = {
            "shared": self._shared,
            "KEY_VALUE": self._pair,
            "manifest": self._in_manifest,
        }.get(kind)
        files, versions = make(steps) if make else self._plain(steps, kind)
        return Situation(files=files, versions=versions, strategy=strategy)

    def _plain(self, steps: list[Json], kind: str) -> _Made:
        files = {
            f"{FOLDER}/t.yaml": manifest(f"{{type: {kind}, definition: t.avsc}}"),
            f"{FOLDER}/t.avsc": self._text(steps[-1]),
        }
        return files, {"t": tuple(info(one, SchemaType(kind)) for one in steps[:-1])}

    def _in_manifest(self, steps: list[Json]) -> _Made:
        """A definition inside the manifest: a text in a literal scalar, or YAML."""
        if self._chance.choice((True, False)):
            text = indent(self._text(steps[-1]), "    ")
            whole = manifest(f"\n  type: AVRO\n  definition: |\n{text}")
        else:
            schema = {"type": "AVRO", "definition": steps[-1]}
            whole = manifest("").replace("schema: \n", yaml_text({"schema": schema}))
        return {f"{FOLDER}/t.yaml": whole}, {"t": tuple(map(info, steps[:-1]))}

    def _pair(self, steps: list[Json]) -> _Made:
        """A KEY_VALUE whose value changes."""
        halves = "key: {type: STRING}, value: {type: AVRO, definition: v.avsc}"
        files = {
            f"{FOLDER}/t.yaml": manifest(f"{{type: KEY_VALUE, {halves}}}"),
            f"{FOLDER}/v.avsc": self._text(steps[-1]),
        }
        return files, {"t": tuple(pair("", one, key_type="STRING") for one in steps[:-1])}

    def _shared(self, steps: list[Json]) -> _Made:
        """A shared type in two topics, of which one has seen its first version alone."""
        named = steps[-1]
        space = named.get("namespace")
        name = named["name"] if "." in named["name"] or not space else f"{space}.{named['name']}"
        files = {"types/shared.avsc": self._text(named)}
        for topic in ("t", "u"):
            files[f"{FOLDER}/{topic}.yaml"] = manifest(f"{{type: AVRO, definition: {topic}.avsc}}")
            files[f"{FOLDER}/{topic}.avsc"] = json.dumps(_around(name))
        versions = [info(_around(one)) for one in steps[:-1]]
        return files, {"t": tuple(versions), "u": tuple(versions[:1])}

    def _text(self, value: Json) -> str:
        return json.dumps(value, indent=self._chance.choice((None, 1, 2)))


_Made = tuple[dict[str, str], dict[str, tuple[SchemaInfo, ...]]]


def _around(inner: Json) -> Json:
    """A record that has the type in a field and in a list."""
    return {
        "type": "record",
        "name": "whole.Around",
        "fields": [{"name": "id", "type": "string"}, {"name": "inner", "type": inner}],
    }
