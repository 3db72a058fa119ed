"""A repository with three topics, and what `check` reports of a change to it."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from contextlib import closing

from gitops.changes.change import ChangeRequest, find_change, load_change
from gitops.git.checkout import open_checkout
from gitops.model.check import CheckReport
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.repository.snapshots import render
from gitops.usecases.check import CheckRequest, check
from tests.support.git_repos import GitRepository

SETTINGS = (
    "apiVersion: pulsar-gitops/v1\nkind: Config\n"
    "registries:\n  local: {{kind: embedded, path: x.db{}}}\n"
)
FOLDER = "namespaces/shop/orders"
HEAD = 'syntax = "proto3";\npackage shop;\n'


def avro(name: str, *fields: str) -> str:
    each = [{"name": field, "type": "string"} for field in fields]
    return json.dumps({"type": "record", "name": name, "fields": each})


def with_default(default: str | int) -> str:
    """The definition with a field `b` that an old reader does without."""
    whole = json.loads(avro("Created", "a"))
    kind = "int" if isinstance(default, int) else "string"
    whole["fields"].append({"name": "b", "type": kind, "default": default})
    return json.dumps(whole)


def manifest(schema: str, more: str = "") -> str:
    return f"apiVersion: pulsar-gitops/v1\nkind: Topic\n{more}schema: {{{schema}}}\n"


FILES: Mapping[str, str] = {
    "gitops.yaml": SETTINGS.format(""),
    f"{FOLDER}/created.yaml": manifest("type: AVRO, definition: created.avsc"),
    f"{FOLDER}/created.avsc": avro("Created", "a"),
    f"{FOLDER}/status.yaml": manifest("type: STRING"),
    f"{FOLDER}/native.yaml": manifest(
        "type: PROTOBUF_NATIVE, definition: native.proto, message: shop.Native"
    ),
    f"{FOLDER}/native.proto": f'{HEAD}import "protos/unit.proto"; message Native {{ Unit u = 1; }}',
    "protos/unit.proto": f"{HEAD}message Unit {{ int32 a = 1; }}\n",
}


def report(
    repo: GitRepository, base: str = "main", registries: tuple[str, ...] = ()
) -> CheckReport:
    with open_checkout(repo.root) as checkout:
        loaded = load_change(find_change(checkout, ChangeRequest(base=base)))
        request = CheckRequest(base=base, today=datetime.date(2026, 1, 1), registries=registries)
        outcome = check(loaded, request)
    assert not outcome.errors
    return outcome.report


def touched(repo: GitRepository) -> dict[str, tuple[str, ...]]:
    return {name.local_name: files for name, files in report(repo).touched.topics.items()}


def record(repo: GitRepository, *definitions: str) -> None:
    """Register these versions of shop/orders/created, and write the snapshot of the registry."""
    topic = TopicName.parse("shop/orders/created")
    scope = Scope(namespaces=frozenset({topic.namespace}), topics=frozenset({topic}))
    with closing(EmbeddedRegistry("local", repo.root.parent / "live.db")) as live:
        if topic.namespace not in live.list_namespaces():
            live.create_namespace(topic.namespace)
        for each in definitions:
            live.register_schema(topic, SchemaInfo(type=SchemaType.AVRO, schema=each))
        repo.write(dict(render("local", live.observe(scope))))
