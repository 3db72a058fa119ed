"""A repository of many topics with one shared type, and a change with several causes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support.acme_repository import API, CONFIG, OPTIONAL, Edit, add, change, replace, show
from tests.support.command_line import captured
from tests.support.git_repos import GitRepository

TYPE: Final = "types/address.avsc"
_CLIENTS: Final = 8


def _files(topics: int) -> dict[str, str]:
    fields = [{"name": "street", "type": "string"}, {"name": "zone", "type": "int"}]
    address = {"type": "record", "name": "Address", "namespace": "acme.types", "fields": fields}
    files = {"gitops.yaml": CONFIG, ".gitignore": ".gitops/\n", TYPE: show(address)}
    for number, strategy in enumerate(("FULL", "BACKWARD")):
        files[f"namespaces/acme/n{number}/namespace.yaml"] = (
            f"{API}kind: Namespace\nnamespace: acme/n{number}\n"
            f"schemaCompatibilityStrategy: {strategy}\n"
        )
    for number in range(topics):
        files |= _topic(number)
    for client in range(_CLIENTS):
        files[f"clients/c{client}.yaml"] = _client(client, topics)
    return files


def name_of(number: int) -> str:
    """A topic's name; even ones are FULL, odd ones BACKWARD."""
    return f"acme/n{number % 2}/topic-{number:04}"


def definition_of(number: int) -> str:
    """The file of its definition."""
    return f"namespaces/{name_of(number)}.avsc"


def _topic(number: int) -> dict[str, str]:
    name = name_of(number)
    record = {
        "type": "record",
        "name": f"Topic{number:04}",
        "namespace": f"acme.n{number % 2}",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "home", "type": "acme.types.Address"},
            {"name": "amount", "type": "int"},
        ],
    }
    definition = f"{name.rpartition('/')[2]}.avsc"
    return {
        definition_of(number): show(record),
        f"namespaces/{name}.yaml": (
            f"{API}kind: Topic\nschema: {{type: AVRO, definition: {definition}}}\n"
        ),
    }


def _client(client: int, topics: int) -> str:
    uses = "".join(
        f"  - {{topic: {name_of(number)}, subscription: c{client}, schema: {{version: 0}}}}\n"
        for number in range(client, topics, _CLIENTS)
    )
    return f'{API}kind: Client\nname: c{client}\nowner: "@acme/c{client}"\nconsumes:\n{uses}'


EDITS: Final[tuple[Edit, ...]] = (
    # A shared type: all topics, for one cause
    add(TYPE, "house", "string"),
    # Own causes of single topics
    add(definition_of(0), "first", "string"),
    change(definition_of(2), lambda d: d["fields"][2].update(type="string")),
    change(definition_of(4), lambda d: d["fields"][2].update(type=["null", "int"])),
    add(definition_of(6), "second", "long"),
    replace(f"namespaces/{name_of(8)}.yaml", "kind: Topic", "kind: Topics"),
    # A policy
    replace("namespaces/acme/n0/namespace.yaml", ": FULL", ": BACKWARD_TRANSITIVE"),
    # Nothing is wrong
    add(definition_of(1), "third", OPTIONAL, default=None),
)

CAUSES: Final = (
    (TYPE, "'house'"),
    (definition_of(0), "'first'"),
    (definition_of(2), "'amount'"),
    (definition_of(6), "'second'"),
    (f"namespaces/{name_of(8)}.yaml", "'Topics'"),
)
"""The files of the errors, and a word of each."""


def build(folder: Path, topics: int) -> GitRepository:
    """`main` with its snapshot, and the change checked out."""
    repo = GitRepository(folder)
    files = _files(topics)
    repo.write(files)
    for command in (["apply", "--auto-approve"], ["snapshot"]):
        done = captured(*command, "--repo", folder)
        assert done.code == 0, done
    repo.commit(message="All topics")
    before = dict(files)
    for edit in EDITS:
        edit(files)
    repo.commit({path: text for path, text in files.items() if before.get(path) != text})
    return repo
