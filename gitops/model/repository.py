"""A schemas repository as it was read: what it wants, where each word stands, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.model.clients import Client
from gitops.model.config import Config
from gitops.model.findings import Finding, Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.samples import Sample
from gitops.model.state import RegistryState
from gitops.model.waivers import Waiver


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSource:
    """Where a topic is written down.

    `definitions` are the files (relative to the root) that the schema was built from, the
    topic's own first, shared types after it; empty where the definition is inline or none. Of a
    KEY_VALUE, `halves` are the same for `key` and `value`.
    `findings` are those about the schema's content (a definition that a broker would not take):
    they hold back this topic only, and only if it changes.
    """

    manifest: Location
    definitions: tuple[str, ...] = ()
    halves: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Everything that the files say.

    `findings` are those about the files themselves (a key that does not exist, a missing file):
    with an error among them the desired state is not known, and nothing may be planned from it.
    `digest` is `sha256:` and 64 hex digits over the path and the content of every file read.
    """

    config: Config
    desired: RegistryState
    digest: str
    namespaces: Mapping[NamespaceName, Location] = field(default_factory=dict)
    topics: Mapping[TopicName, TopicSource] = field(default_factory=dict)
    clients: tuple[Client, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    findings: tuple[Finding, ...] = ()
