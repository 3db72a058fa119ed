"""What journals say about the versions of a registry, and journals that say nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitops.journal.versions import read_versions
from gitops.journal.writer import JournalFile
from gitops.model.plan import RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from tests.support.states import CREATED, avro, field, history

_START = {
    "plan": "sha256:" + "a" * 64,
    "registry": "local",
    "address": "registry.db",
    "actions": 1,
    "doneBefore": 0,
}
_Lines = list[dict[str, Any]]


def _register(root: Path) -> _Lines:
    """The lines of a journal that registered v0 of a topic."""
    journal = JournalFile(root / ".gitops/local.journal")
    journal.begin(_START)
    action = RegisterSchema(
        topic=CREATED,
        info=avro(field("a")),
        version=0,
        latest_version=None,
        strategy=SchemaCompatibilityStrategy.FULL,
    )
    journal.conclude(journal.intend(action), 0, None)
    journal.end("applied")
    return [json.loads(line) for line in journal.path.read_text("utf-8").splitlines()]


def _write(root: Path, lines: _Lines) -> None:
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (root / ".gitops/local.journal").write_text(text, "utf-8")


def test_a_version_that_was_registered_is_known(tmp_path: Path) -> None:
    _register(tmp_path)

    found = read_versions(tmp_path, "local")

    assert found.histories == {CREATED.keeper: history(avro(field("a")))}
    assert (found.files, found.unreadable) == ({CREATED.keeper: ".gitops/local.journal"}, {})
    assert read_versions(tmp_path, "another").histories == {}


@pytest.mark.parametrize(
    ("line", "path", "value"),
    [
        (0, ["time"], 5),
        (0, ["registry"], None),
        (1, ["action", "schema"], "text"),
        (1, ["action", "schema", "schema"], 5),
        (1, ["action", "schema", "schema"], "\ud800"),
        (1, ["action", "schema", "type"], "NEW"),
        (1, ["action", "schema", "properties"], "abc"),
        (1, ["action", "schema", "properties"], {"a": 1}),
        (1, ["action", "topic"], "t/n/\ud800"),
        (2, ["version"], 1.0),
        (2, ["version"], True),
        (2, ["version"], -1),
        (2, ["version"], 10**12),
    ],
    ids=str,
)
def test_a_journal_with_other_values_is_unreadable(
    line: int, path: list[str], value: object, tmp_path: Path
) -> None:
    lines = _register(tmp_path)
    place = lines[line]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    _write(tmp_path, lines)

    found = read_versions(tmp_path, "local")

    assert (found.histories, set(found.unreadable)) == ({}, {".gitops/local.journal"})
