"""Values of the wrong type in what commands read beside a repository, as in `test_wrong_values`."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.model.names import NamespaceName, TopicName
from gitops.planning.plan_document import digest
from gitops.registries.embedded.administration import Administration
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.app import make_app
from gitops.registries.server.host_guard import HostNames
from tests.support.asgi import send
from tests.support.command_line import captured
from tests.support.whole_documents import DEFINITIONS, OLD, payload
from tests.support.wrong_values import (
    EXAMPLES,
    Document,
    assert_no_bug,
    folder,
    one_line_of,
    text_of,
    wrong_documents,
)

_STRATEGIES: Final = ("FULL", "BACKWARD", "FORWARD_TRANSITIVE", "ALWAYS_COMPATIBLE", "UNDEFINED")
_FORMATS: Final = ("text", "json", "markdown", "github", "sarif")
_MODES: Final = ("producer", "consumer", "subscribe", "compat", "version", "lookup")


@pytest.mark.parametrize("kind", list(DEFINITIONS))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_definition_that_is_compared_makes_a_bug(kind: str, data: st.DataObject) -> None:
    sides = list(DEFINITIONS[kind])
    with_type = data.draw(st.booleans())
    if not with_type:
        sides = [payload(kind, side) for side in sides]
    wrong = data.draw(st.sampled_from((0, 1)))
    sides[wrong] = data.draw(wrong_documents(sides[wrong]))
    strategy = data.draw(st.sampled_from(_STRATEGIES))
    form = data.draw(st.sampled_from(_FORMATS))
    with folder() as root:
        files = [root / "old.json", root / "new.json"]
        for file, side in zip(files, sides, strict=True):
            file.write_text(text_of(side), encoding="utf-8")
        options = ["--type", kind] if with_type else []
        command = ["compat", "-s", strategy, "--format", form, *options, *files]
        assert_no_bug(command, captured(*command))


@pytest.mark.parametrize("kind", list(DEFINITIONS))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_case_of_a_stream_makes_a_bug(kind: str, data: st.DataObject) -> None:
    old, new = DEFINITIONS[kind]
    case = {
        "id": {"a": ["x"]},
        "strategy": data.draw(st.sampled_from(_STRATEGIES)),
        "mode": data.draw(st.sampled_from(_MODES)),
        "idle": True,
        "existing": [
            {"deleted": True},
            payload(kind, old),
            {"type": "AVRO", "schema": "e30=", "encoding": "b64"},
        ],
        "candidate": payload(kind, new),
    }
    lines = [one_line_of(data.draw(wrong_documents(case))).replace("\n", " ") for _ in range(4)]

    ended = captured("compat", "--jsonl", stdin="\n".join([*lines, one_line_of(case)]))

    assert_no_bug(lines, ended)
    assert ended.code in (0, 2)
    verdicts = [_deep_json(line) for line in ended.out.splitlines()]
    assert len(verdicts) == len(lines) + 1
    assert verdicts[-1]["id"] == case["id"]


def _deep_json(line: str) -> Any:  # noqa: ANN401 - JSON
    """An id is answered as it came, however deep it is: here the stack is deeper than there."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(2 * limit)
    try:
        return json.loads(line)
    finally:
        sys.setrecursionlimit(limit)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template with a plan, which was not applied yet."""
    root = tmp_path_factory.mktemp("planned") / "repo"
    assert captured("init", root).code == 0
    assert captured("plan", "--repo", root, "--out", root / "plan.json").code == 0
    return root


@pytest.fixture(scope="module")
def filled(planned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template, applied, with a topic that was created."""
    root = tmp_path_factory.mktemp("filled") / "repo"
    shutil.copytree(planned, root)
    assert captured("apply", "--repo", root, "--auto-approve").code == 0
    policy = ["shop/orders/order-created", "schemaCompatibilityStrategy=FULL"]
    with closing(EmbeddedRegistry("local", root / ".gitops" / "registry.db")) as registry:
        Administration(registry.database).create_topic(TopicName.parse(policy[0]), 0)
    assert captured("policies", "set", *policy, "--repo", root).code == 0
    return root


@settings(max_examples=EXAMPLES * 2)
@given(data=st.data())
def test_no_plan_file_makes_a_bug(planned: Path, data: st.DataObject) -> None:
    plan = json.loads((planned / "plan.json").read_text())
    document = data.draw(wrong_documents(plan))
    text = text_of(document)
    if data.draw(st.booleans()):
        # As somebody would make it who wants to get past the digest.
        try:
            document = json.loads(text)
            text = json.dumps({**document, "digest": digest(document)})
        except (ValueError, TypeError, AttributeError, RecursionError):
            pass
    with folder() as root:
        shutil.copytree(planned, root / "repo")
        if data.draw(st.booleans()):
            _begin(root / "repo" / ".gitops" / "registry.db")
        (root / "plan.json").write_text(text, encoding="utf-8")
        command = ["apply", root / "plan.json", "--repo", root / "repo"]
        assert_no_bug(command, captured(*command))


def _begin(database: Path) -> None:
    """Carry out the first action of the template's plan."""
    with closing(EmbeddedRegistry("local", database)) as registry:
        registry.create_namespace(NamespaceName("shop", "orders"))


@pytest.mark.parametrize("kind", list(DEFINITIONS))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_file_of_a_schema_makes_a_bug(planned: Path, kind: str, data: st.DataObject) -> None:
    definition = DEFINITIONS[kind][1]
    whole = data.draw(st.booleans())
    document = data.draw(wrong_documents(payload(kind, definition) if whole else definition))
    topic = data.draw(st.sampled_from(("shop/orders/order-created", "shop/orders/new")))
    options = [] if whole else ["--type", kind]
    with folder() as root:
        shutil.copytree(planned, root / "repo")
        file = root / "schema.json"
        file.write_text(text_of(document), encoding="utf-8")
        repo = ["--repo", root / "repo"]
        for command in (
            ["connect", "producer", topic, file, *options, *repo],
            ["connect", "consumer", topic, file, *options, *repo],
            ["schemas", "upload", topic, file, *options, *repo],
            ["schemas", "get", topic, *repo],
            ["schemas", "versions", topic, *repo],
            ["import", *repo],
            ["snapshot", *repo],
            ["plan", "--prune", *repo],
        ):
            assert_no_bug(command, captured(*command))


_ROWS: Final[dict[str, Document]] = {
    "tenants.admin_roles": ["a"],
    "tenants.allowed_clusters": ["standalone"],
    "namespaces.policies": {"schemaCompatibilityStrategy": "FULL"},
    "topics.policies": {"schemaCompatibilityStrategy": "FULL"},
    "entries.properties": {"owner": "checkout"},
}
"""The columns of an embedded registry's file that hold JSON."""


@settings(max_examples=EXAMPLES * 2)
@given(data=st.data())
def test_no_row_makes_a_bug(filled: Path, data: st.DataObject) -> None:
    column = data.draw(st.sampled_from(sorted(_ROWS)))
    table, _, name = column.partition(".")
    wrong = text_of(data.draw(wrong_documents(_ROWS[column]))).encode("utf-8", "replace").decode()
    with folder() as root:
        shutil.copytree(filled, root / "repo")
        database = root / "repo" / ".gitops" / "registry.db"
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute(f"UPDATE {table} SET {name} = ?", (wrong,))  # noqa: S608 - our names
        repo = ["--repo", root / "repo"]
        for command in (
            ["plan", "--prune", *repo],
            ["import", *repo],
            ["apply", "--auto-approve", *repo],
            ["schemas", "versions", "shop/orders/order-created", *repo],
        ):
            assert_no_bug(command, captured(*command))
        with closing(EmbeddedRegistry("local", database)) as registry:
            app = make_app(registry, HostNames("127.0.0.1"))
            assert send(app, "GET", "/tenants/shop", b"") < 600


@settings(max_examples=EXAMPLES * 2)
@given(data=st.data())
def test_no_sample_makes_a_bug(planned: Path, data: st.DataObject) -> None:
    lines = [{"orderId": "a", "reason": "OTHER", "cancelledAt": 1, "comment": None}] * 2
    document = data.draw(wrong_documents(lines))
    header = data.draw(wrong_documents(OLD))
    with folder() as root:
        shutil.copytree(planned, root / "repo")
        samples = root / "repo" / "samples" / "shop" / "orders"
        rows = document if isinstance(document, list) else [document]
        text = "\n".join(map(one_line_of, rows))
        (samples / "order-cancelled.jsonl").write_text(text, encoding="utf-8")
        (samples / "order-created.avro").write_bytes(_avro_file(text_of(header)))
        command = ["replay", "--engine", "local", "--repo", root / "repo"]
        assert_no_bug(command, captured(*command))


def _avro_file(schema: str) -> bytes:
    """A container file of this schema with one message, `{"id": "a", "count": 1}`."""
    sync, text = b"s" * 16, schema.encode("utf-8", "replace")
    body = b"\x02a\x02"
    header = b"Obj\x01" + _long(1) + _long(11) + b"avro.schema" + _long(len(text)) + text + _long(0)
    return header + sync + _long(1) + _long(len(body)) + body + sync


def _long(number: int) -> bytes:
    """A number that is not negative, as Avro writes it."""
    left, parts = number << 1, bytearray()
    while left > 0x7F:
        parts.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*parts, left])
