"""Consumers whose language is known, and what those that are not Java misread after a change."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.broker.connection import ConnectionTarget
from gitops.broker.lines.line import BrokerLine
from gitops.model.clients import Client, ClientLanguage, ObservedClients, ObservedTopic, language_of
from gitops.model.decision import StoredSchema
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout_reason import name_list
from gitops.schemas.client_profiles import CLIENT_PROFILES, Cause, Misreading
from gitops.schemas.row import Remark
from gitops.schemas.stored_messages import unread_latest
from gitops.schemas.strategies import NEW_READS, TRANSITIVE, reads_forward

CLIENT_MISREADS: Final = "CLIENT-R012"
UNKNOWN_MISREADS: Final = "AVRO-W010"
_MOST_NAMES: Final = 10
_HINT: Final = (
    "keep what is read alike; a client of another language is declared in clients/ (`language:`, "
    "assumed here: {})"
)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ClientReader:
    """A consumer of a topic; `language` is None where nobody says it.

    `name` is how a sentence calls it: a client's name, or a subscription of the statistics.
    """

    name: str
    language: ClientLanguage | None


def client_names(observed: ObservedTopic) -> Iterator[str]:
    """`subscription 'billing' (Pulsar-Java-v4.0.7)`, `a producer`: first the subscriptions."""
    for subscription in observed.subscriptions:
        yield f"subscription '{subscription.name}'{_library_text(subscription.clients)}"
    for producer in observed.producers:
        name = f"producer '{producer.name}'" if producer.name else "a producer"
        yield f"{name}{_library_text([producer.client])}"


def _library_text(clients: Iterable[str]) -> str:
    named = [client for client in clients if client]
    return f" ({', '.join(named)})" if named else ""


def client_readers(
    clients: Iterable[Client], observed: ObservedClients | None
) -> Mapping[TopicName, tuple[ClientReader, ...]]:
    """The consumers of all topics: declared ones, and subscriptions that nobody declares."""
    readers: dict[TopicName, set[ClientReader]] = {}
    declared: set[tuple[TopicName, str]] = set()
    for client in clients:
        for use in client.consumes:
            declared.add((use.topic, use.subscription))
            reader = ClientReader(name=client.name, language=client.language)
            readers.setdefault(use.topic, set()).add(reader)
    for topic, seen in (observed.topics if observed else {}).items():
        for subscription in seen.subscriptions:
            if (topic, subscription.name) in declared:
                continue
            for library in subscription.clients or ("",):
                name = f"subscription '{subscription.name}'{f' ({library})' if library else ''}"
                reader = ClientReader(name=name, language=language_of(library))
                readers.setdefault(topic, set()).add(reader)
    return {topic: tuple(sorted(items, key=str)) for topic, items in readers.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class MisreadVersion:
    """What a consumer gets wrong of messages of a live version.

    `language` is None where clients of every language fail. `is_silent`: wrong values may come out,
    instead of an error.
    """

    language: ClientLanguage | None
    version: int
    path: str
    message: str
    is_silent: bool

    @property
    def text(self) -> str:
        """The misreading as a sentence."""
        client = "a consumer with this schema"
        if self.language is not None:
            client = CLIENT_PROFILES[self.language].library
        place = f" at '{self.path}'" if self.path else ""
        effect = "may read wrong values from" if self.is_silent else "fails on"
        return f"{client} {effect} messages of v{self.version}{place}: {self.message}"


def misread_versions(
    language: ClientLanguage | None, reader: StoredSchema, target: ConnectionTarget
) -> tuple[MisreadVersion, ...]:
    """What a consumer with the schema misreads of messages that may be stored, latest first.

    Of messages of the latest version what no client reads; of those of all versions what clients of
    the language read differently from Java's.
    """
    types, versions = target.line.types, target.history.entries
    misread: list[MisreadVersion] = []
    if unread := unread_latest(types, versions, reader, target.policies.strategy):
        misread.append(
            MisreadVersion(
                language=None,
                version=unread.version,
                path=unread.path,
                message=unread.message,
                is_silent=False,
            )
        )
    if language is not None:
        misread += _language_misreadings(language, reader, target)
    return tuple(misread)


def _language_misreadings(
    language: ClientLanguage,
    reader: StoredSchema,
    target: ConnectionTarget,
    causes: Container[Cause] = frozenset(Cause),
) -> Iterator[MisreadVersion]:
    misreadings = target.line.types.row_of(reader.type).misreadings
    for version, writer in reversed(target.history.entries):
        if writer.type is not reader.type:
            continue
        for misreading in misreadings(CLIENT_PROFILES[language].decoding, writer, reader):
            if misreading.cause in causes:
                yield MisreadVersion(
                    language=language,
                    version=version,
                    path=misreading.path,
                    message=misreading.message,
                    is_silent=misreading.is_silent,
                )


def assumed_java_notes(reader: StoredSchema, target: ConnectionTarget) -> Iterator[str]:
    """What Python's and Pulsar.Client's consumers would misread, where no language is known."""
    languages: tuple[ClientLanguage, ...] = ("python", "dotnet")
    for language in languages:
        misread = next(_language_misreadings(language, reader, target, _OTHER_VALUES), None)
        if misread:
            yield f"the consumer is assumed to read as Java does; {misread.text}"


_OTHER_VALUES: Final = frozenset({Cause.NAME, Cause.UNION, Cause.ALIAS, Cause.SYMBOL, Cause.LAYOUT})


def _effect(misreading: Misreading) -> str:
    return "may read wrong values from" if misreading.is_silent else "fails on"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadersCase:
    """A topic that gets a new version; `versions` are the live ones, oldest first."""

    readers: Sequence[ClientReader]
    versions: Sequence[tuple[int, StoredSchema]]
    new: StoredSchema
    strategy: SchemaCompatibilityStrategy
    line: BrokerLine


def misreading_remarks(case: ReadersCase) -> Iterator[tuple[int, Remark]]:
    """Where consumers that are not Java misread messages that the strategy lets them read.

    With the version that is compared, newest first; a place is reported once for each language.
    """
    by_language: dict[ClientLanguage, list[str]] = {}
    for reader in case.readers:
        if reader.language is not None:
            by_language.setdefault(reader.language, []).append(reader.name)
    misreadings = case.line.types.row_of(case.new.type).misreadings
    for language, names in sorted(by_language.items()):
        profile, reported = CLIENT_PROFILES[language], set[tuple[bool, Misreading]]()
        for reads_old, version, written, read in _pairs(case):
            for misreading in misreadings(profile.decoding, written, read):
                if (reads_old, misreading) in reported:
                    continue
                reported.add((reads_old, misreading))
                new, old = "the new schema", f"v{version}"
                known, messages = (new, old) if reads_old else (old, new)
                pointers = (misreading.writer_pointer, misreading.reader_pointer)
                old_pointer, pointer = pointers if reads_old else reversed(pointers)
                yield (
                    version,
                    Remark(
                        rule=CLIENT_MISREADS,
                        message=f"{profile.library} with {known} {_effect(misreading)} messages "
                        f"of {messages}: {misreading.message} "
                        f"({name_list(sorted(names), _MOST_NAMES)})",
                        path=misreading.path,
                        pointer=pointer,
                        old_pointer=old_pointer,
                        hint=_HINT.format(language),
                    ),
                )


def unknown_reading_remarks(case: ReadersCase) -> Iterator[tuple[int, Remark]]:
    """Consumers whose application decodes the changed schema, so that nothing is known of them.

    The row of the type has the clients that decode it.
    """
    changed = [
        version
        for version, old in case.versions
        if old.type is case.new.type and old.data != case.new.data
    ]
    if not changed:
        return
    decoded = case.line.types.row_of(case.new.type).decoded_by
    by_library: dict[str, list[str]] = {}
    for reader in case.readers:
        if reader.language and CLIENT_PROFILES[reader.language].decoding not in decoded:
            library = CLIENT_PROFILES[reader.language].library
            by_library.setdefault(library, []).append(reader.name)
    for library, names in sorted(by_library.items()):
        yield (
            changed[-1],
            Remark(
                rule=UNKNOWN_MISREADS,
                message=f"{library} leaves decoding of {case.new.type.value} to the application: "
                "whether it reads messages of the other schema is unknown "
                f"({name_list(sorted(names), _MOST_NAMES)})",
                hint="make sure that the application reads messages of both schemas",
            ),
        )


def _pairs(case: ReadersCase) -> Iterator[tuple[bool, int, StoredSchema, StoredSchema]]:
    """Whether the new schema reads, the other version, the writer and the reader.

    Messages of every live version may be stored, whatever the strategy compares with.
    """
    alike = [version for version in reversed(case.versions) if version[1].type is case.new.type]
    if case.strategy in NEW_READS:
        for version, old in alike:
            yield True, version, old, case.new
    if reads_forward(case.strategy):
        for version, old in alike if case.strategy in TRANSITIVE else alike[:1]:
            yield False, version, case.new, old
