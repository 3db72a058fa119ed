"""Clients that a cluster shows and no manifest declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitops.model.clients import Client, ObservedClients
from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.rollout_reason import name_list
from gitops.model.rules import make_finding
from gitops.planning.client_readers import client_names

_MOST_NAMES: Final = 10


def undeclared_clients(
    topics: Iterable[TopicName], observed: ObservedClients, clients: Sequence[Client]
) -> Iterator[Finding]:
    """A finding for each of these topics whose statistics show clients that nobody declares."""
    for topic in sorted(topics):
        observed_topic = observed.topics.get(topic)
        if observed_topic is None:
            continue
        names = list(client_names(observed_topic.undeclared(topic, clients)))
        if names:
            is_one = len(names) == 1 and not observed_topic.left_out
            yield make_finding(
                "CLIENT-R011",
                f"{name_list(names, _MOST_NAMES)} of {topic} {'is' if is_one else 'are'} live and "
                f"not declared in clients/: the schema{'' if is_one else 's'} of "
                f"{'this client' if is_one else 'these clients'} cannot be checked",
                location=Location(file=observed.file),
                subject=str(topic),
                hint="declare them in clients/ with the schemas that they use; statistics do not "
                "show these, any live version is possible",
            )
