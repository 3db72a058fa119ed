"""The manifests of a migration's first two steps: a new topic, and consumers that read both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.changes.impact import manifest_and_definitions
from gitops.model.clients import Client, Consumes, Produces
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Location, Severity
from gitops.model.names import TopicName
from gitops.model.rollout import Migration
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.model.state import RegistryState, TopicState
from gitops.repository.file_trees import OverlaidTree
from gitops.repository.loader import load
from gitops.repository.writing.imported_types import avsc_layout
from gitops.repository.writing.manifests import render
from gitops.schemas.types import AVRO_DEFINED

# One more item in a list of a YAML file, whose other lines stay as they are.

_ITEM: Final = re.compile(r"( *)- ")


def insert_entry(text: str, line: int, entry: str) -> str | None:
    """The text with the lines of `entry` in front of the item in which line `line` (from 1) is.

    They are indented as that item. None where the list is not written with a dash for each item.
    """
    lines = [f"{word}\n" for word in text.split("\n")]
    for number in range(min(line, len(lines)) - 1, -1, -1):
        match = _ITEM.match(lines[number])
        if match and _is_above(match[1], lines[number + 1 : line]):
            added = [match[1] + word for word in entry.splitlines(keepends=True)]
            return "".join([*lines[:number], *added, *lines[number:]])[:-1]
        if lines[number].strip() and not lines[number].startswith((" ", "#")):
            return None
    return None


def _is_above(indent: str, below: list[str]) -> bool:
    """Whether these lines belong to an item of that indentation."""
    return all(text.startswith(f"{indent}  ") or not text.strip() for text in below)


_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")


@dataclass(slots=True)
class MigrationFiles:
    """Contents to write by path; `remarks` say what each is, `left` what is not done."""

    files: dict[str, bytes] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def write_migrations(loaded: LoadedChange, migrations: Sequence[Migration]) -> MigrationFiles:
    """What the repository needs so that the old topics stay as the base has them.

    Nothing touches a disk here. The whole is loaded as it would lie there: what it then does not
    say yet is in `left`.
    """
    whole = _Files(loaded, migrations)
    for migration in migrations:
        whole.add_topic(migration)
        whole.put_back(migration.topic)
    for client in loaded.head.clients:
        whole.change_client(client)
    whole.written.left += whole.wrong()
    return whole.written


@dataclass
class _Files:
    """All files on their way."""

    loaded: LoadedChange
    migrations: Sequence[Migration]
    written: MigrationFiles = field(default_factory=MigrationFiles)

    @cached_property
    def moved(self) -> Mapping[TopicName, TopicName]:
        """Old topic → new topic."""
        return {migration.topic: migration.to for migration in self.migrations}

    def put(self, path: str, content: bytes, text: str) -> None:
        self.written.files[path] = content
        self.written.remarks[path] = text

    def add_topic(self, migration: Migration) -> None:
        """The schema of the change is the first version of the new topic."""
        wanted = self.loaded.head.desired.topics[migration.topic]
        entries = tuple(
            SchemaEntry(version=0, info=entry.info) for entry in wanted.history.entries[-1:]
        )
        state = TopicState(
            topic=migration.to,
            history=SchemaHistory(entries=entries, next_version=1),
            policies=wanted.policies,
        )
        taken = {*self.loaded.change.head_tree.paths(), *self.written.files}
        text = f"the schema of the change, for {migration.to}"
        remark = f"# Replaces {migration.topic} once all consumers read both.\n"
        unshared = {migration.to} if self._needs_types_of_its_own(migration.topic) else ()
        files = render(RegistryState(topics={migration.to: state}), taken=taken, unshared=unshared)
        for path, content in files.items():
            if path.endswith(".yaml"):
                head, end, rest = content.partition(b"\n")
                self.put(path, head + end + remark.encode() + rest, text)
            elif unshared:
                self.put(path, avsc_layout(path, content, entries[0].info), text)
            else:
                self.put(path, self._lay_out(migration.topic) or content, text)

    def _needs_types_of_its_own(self, topic: TopicName) -> bool:
        """Whether shared types change, which go back for the old topic, or are in a pair's text."""
        source = self.loaded.head.topics[topic]
        shared = {*source.definitions} - manifest_and_definitions(source)
        return bool(shared & self.loaded.changed or (shared and source.halves))

    def _lay_out(self, topic: TopicName) -> bytes | None:
        """The definition as it lies in its file, with the names of shared types."""
        latest = self.loaded.head.desired.topics[topic].history.latest
        files = self.loaded.head.topics[topic].definitions
        if latest is None or latest.info.type not in AVRO_DEFINED or not files:
            return None
        return self.loaded.change.head_tree.read(files[0])

    def put_back(self, topic: TopicName) -> None:
        """The manifest and the definition as the base has them."""
        sides = (self.loaded.base.topics[topic], self.loaded.head.topics[topic])
        own = {path for side in sides for path in manifest_and_definitions(side)}
        for path in sorted(own & self.loaded.changed):
            if (content := self._base_file(path)) is None:
                self.written.left.append(f"remove {path}: {topic} is as in the base again")
            else:
                self.put(path, content, "as in the base again")

    def _base_file(self, path: str) -> bytes | None:
        try:
            return self.loaded.change.base_tree.read(path)
        except UnreadableFileError:
            return None

    def change_client(self, client: Client) -> None:
        """A consumer reads both topics; who only writes does not move yet."""
        before = next((item for item in self.loaded.base.clients if item.name == client.name), None)
        if not any(use.topic in self.moved for use in _uses(client) + _uses(before)):
            return
        path = client.location.file
        if path not in self.loaded.changed:
            self._consume_both(client, self.loaded.change.head_tree.read(path))
        elif before and self._differs_here_only(client, before):
            self._consume_both(before, self.loaded.change.base_tree.read(path))
        else:
            topics = self._new(client)
            consumes = f", and that it consumes {topics}, too" if topics else ""
            self.written.left.append(
                f"{path}: declare the current schema of {client.name}{consumes}; the change edits "
                "more in this file than that"
            )

    def _differs_here_only(self, client: Client, before: Client) -> bool:
        """Whether the file was changed for these topics only, and lies where it lay."""
        same_file = client.location.file == before.location.file
        return same_file and (client.owner, self._other_consumers(client)) == (
            before.owner,
            self._other_consumers(before),
        )

    def _other_consumers(self, client: Client) -> list[Consumes | Produces]:
        """Its uses of other topics, wherever they stand in the file."""
        others = (use for use in _uses(client) if use.topic not in self.moved)
        return [replace(use, location=_NOWHERE) for use in others]

    def _consume_both(self, client: Client, content: bytes) -> None:
        """Where an entry cannot be put in, `wrong` will find that it is missing."""
        path, text = client.location.file, content.decode("utf-8", "surrogateescape")
        reads = [use for use in client.consumes if use.topic in self.moved]
        for use in sorted(reads, key=lambda consumes: -consumes.location.line):
            text = insert_entry(text, use.location.line, self._entry(use)) or text
        edited = text.encode("utf-8", "surrogateescape")
        if edited != self.loaded.change.head_tree.read(path):
            message = f"consumes {self._new(client)}, too" if reads else "as in the base again"
            self.put(path, edited, f"{client.name} {message}")

    def _entry(self, use: Consumes) -> str:
        word = use.schemas[0] if use.schemas and isinstance(use.schemas[0], str) else None
        topic, subscription = map(_quote, (str(self.moved[use.topic]), use.subscription))
        return (
            f"# beside {use.topic}, until nothing is left there\n"
            f"- {{topic: {topic}, subscription: {subscription}, "
            f"schema: {word or '{version: 0}'}}}\n"
        )

    def _new(self, client: Client) -> str:
        topics = {use.topic for use in client.consumes}
        return ", ".join(str(new) for old, new in self.moved.items() if old in topics)

    def _missing_topics(self, client: Client) -> Iterator[str]:
        """The new topics that a consumer does not have, of whom nothing was said yet."""
        place, topics = f"{client.location.file}: ", {use.topic for use in client.consumes}
        if not any(text.startswith(place) for text in self.written.left):
            for old, new in self.moved.items():
                if old in topics and new not in topics:
                    yield f"{place}declare that {client.name} consumes {new}, too"

    def wrong(self) -> Iterator[str]:
        """What the files would not say as they should."""
        repository = load(OverlaidTree(self.loaded.change.head_tree, self.written.files))
        for topic in self.moved:
            if repository.desired.topics.get(topic) != self.loaded.base.desired.topics.get(topic):
                yield f"{topic} still differs from the base: check the shared types that it uses"
        for client in repository.clients:
            yield from self._missing_topics(client)
        for finding in repository.findings:
            if finding.severity is Severity.ERROR:
                yield (
                    f"{finding.location.file}: {finding.message}"
                    if finding.location
                    else finding.message
                )


_NOWHERE: Final = Location(file="")


def _uses(client: Client | None) -> list[Consumes | Produces]:
    return [*client.consumes, *client.produces] if client else []


def _quote(text: str) -> str:
    """As a YAML scalar within braces."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
