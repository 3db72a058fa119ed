"""Definitions that git has of topics: what may have been registered where nothing recorded it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from gitops.git.checkout import Checkout, open_checkout
from gitops.git.history import replaced_files
from gitops.git.references import head_of
from gitops.model.errors import GitopsError
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaHistory
from gitops.model.state import RegistryState, Scope, TopicSource
from gitops.planning.lost_versions import DefinitionReader
from gitops.registries.git.registry import GitHistory, GitRegistry

MOST_TOPICS: Final = 25
"""How many topics are looked up at most: one is enough for a finding."""


def earlier_definitions(
    checkout: Checkout,
    commit: str,
    sources: Mapping[TopicName, TopicSource],
    changed: Collection[str],
    topics: Collection[TopicName],
) -> dict[TopicName, SchemaHistory]:
    """The definitions at `commit` and before it, of topics whose files have had other contents.

    `sources` say what the topics are made of, `changed` are files that differ from `commit`. At
    most `MOST_TOPICS` topics are read. Raises GitFailedError.
    """
    replaced = {version.path for version in replaced_files(checkout, commit, "**/*")} | set(changed)
    files = {
        topic: frozenset({source.manifest.file, *source.definitions})
        for topic in sorted(topics)
        if (source := sources.get(topic))
    }
    files = {topic: paths for topic, paths in files.items() if paths & replaced}
    files = dict(list(files.items())[:MOST_TOPICS])
    if not files:
        return {}
    history = GitHistory(checkout=checkout, commit=commit, desired=RegistryState(), files=files)
    state = GitRegistry("git", history, BrokerSettings()).observe(Scope(topics=frozenset(files)))
    return {topic: state.topics[topic].history for topic in files}


def definitions_at_head(root: Path, sources: Mapping[TopicName, TopicSource]) -> DefinitionReader:
    """Looks into the clone around `root`, from the commit that is checked out."""

    def look_up(topics: Collection[TopicName]) -> Mapping[TopicName, SchemaHistory]:
        try:
            with open_checkout(root) as checkout:
                commit = head_of(checkout)
                return earlier_definitions(checkout, commit, sources, (), topics) if commit else {}
        except GitopsError:
            return {}  # `recorded_at_head` reports what cannot be read

    return look_up
