"""Client manifests for clients that a cluster shows and no manifest declares."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitops.model.clients import Client, ObservedClients, language_of
from gitops.model.names import TopicName
from gitops.model.schema import SchemaHistory
from gitops.repository.documents.base import API_VERSION
from gitops.repository.documents.editor_schemas import first_line

_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LISTED: Final = 5
_READERS: Final = ("reader-*", "multiTopicsReader-*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedClients:
    """Manifests by path, and sentences about observed clients without one."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """An observed client on one side of a topic; `subscription` is empty for a producer.

    `libraries` are what the connected clients call themselves.
    """

    topic: TopicName
    name: str
    subscription: str = ""
    libraries: frozenset[str] = frozenset()


def propose_clients(
    observed: ObservedClients,
    histories: Mapping[TopicName, SchemaHistory],
    clients: Collection[Client],
    taken: Collection[str],
    source: str,
) -> ProposedClients:
    """A manifest for each name of a subscription or a producer that nobody declares.

    Statistics show no schema: the latest version is a guess, which the file marks, as it does
    the language where all libraries of the name are of one. `owner` is left empty, so that the
    files have an error until a person has confirmed the guess. `histories` are those of the
    topics to look at, `taken` the paths that exist.
    """
    uses: dict[str, list[_Use]] = {}
    notes: list[str] = []
    names = {client.name for client in clients}
    nameless = 0
    for use in _undeclared_uses(observed, histories, clients):
        if not use.name or use.subscription in _READERS:
            nameless += 1
        elif use.name in names:
            side = f"subscription '{use.subscription}'" if use.subscription else "the producer"
            notes.append(f"client '{use.name}' does not declare {side} of {use.topic}: add it")
        elif not _FILE_NAME.fullmatch(use.name):
            notes.append(f"no manifest for {json.dumps(use.name)} of {use.topic}: no file name")
        else:
            uses.setdefault(use.name, []).append(use)
    files = {}
    lower_case = {path.lower() for path in taken}
    for name, same in sorted(uses.items()):
        path = f"clients/{name}.yaml"
        if path.lower() in lower_case:
            notes.append(f"no manifest for '{name}': {path} exists")
            continue
        lower_case.add(path.lower())
        files[path] = _manifest(name, same, histories, source).encode()
    if nameless:
        plural = "" if nameless == 1 else "s"
        notes.append(f"{nameless:,} reader{plural} or producer{plural} without a name: no manifest")
    if files:
        manifests = f"{len(files):,} client manifest{'' if len(files) == 1 else 's'}"
        notes.append(
            f"{manifests} proposed: fill in `owner`, and confirm each schema, which is a guess"
        )
    return ProposedClients(files=files, notes=tuple(notes))


def _undeclared_uses(
    observed: ObservedClients,
    histories: Mapping[TopicName, SchemaHistory],
    clients: Collection[Client],
) -> Iterator[_Use]:
    for topic, result in sorted(observed.topics.items()):
        if topic not in histories:
            continue
        undeclared = result.undeclared(topic, clients)
        for subscription in undeclared.subscriptions:
            yield _Use(
                topic=topic,
                name=subscription.name,
                subscription=subscription.name,
                libraries=frozenset(subscription.clients),
            )
        libraries: dict[str, set[str]] = {}
        for producer in undeclared.producers:
            libraries.setdefault(producer.name, set()).add(producer.client)
        for name, clients_of_name in sorted(libraries.items()):
            yield _Use(topic=topic, name=name, libraries=frozenset(clients_of_name))


def _manifest(
    name: str, uses: list[_Use], histories: Mapping[TopicName, SchemaHistory], source: str
) -> str:
    """Names are quoted as JSON, which YAML reads the same."""
    lines = [
        first_line("client", 1).rstrip("\n"),
        f"# From the statistics of {source}, which show no schema: each one is a guess.",
        f"apiVersion: {API_VERSION}",
        "kind: Client",
        f"name: {json.dumps(name)}",
        'owner: "" # who owns the service',
    ]
    languages = {language_of(library) for use in uses for library in use.libraries if library}
    if len(languages) == 1 and (language := languages.pop()):
        lines.append(f"language: {language} # a guess, by what the client library calls itself")
    for side, some in (
        ("consumes", [use for use in uses if use.subscription]),
        ("produces", [use for use in uses if not use.subscription]),
    ):
        lines += [f"{side}:"] if some else []
        for use in some:
            lines.append(f"  - topic: {json.dumps(str(use.topic))}")
            if use.subscription:
                lines.append(f"    subscription: {json.dumps(use.subscription)}")
            lines.append(f"    schema: {_guess(histories[use.topic])}")
    return "".join(f"{line}\n" for line in lines)


def _guess(history: SchemaHistory) -> str:
    if not history.entries:
        return "NONE # a guess: the topic has no schema"
    latest, *older = [f"v{entry.version}" for entry in reversed(history.entries)]
    remainder = ", …" if len(older) > _LISTED else ""
    others = f"; also live: {', '.join(older[:_LISTED])}{remainder}" if older else ""
    return f"{{version: {latest[1:]}}} # a guess{others}"
