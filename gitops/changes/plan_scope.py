"""The part of a repository that a plan is asked for: some namespaces, some topics."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.errors import InvalidNameError, UnreadableFileError, UsageError
from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.state import PlanScope, Repository, TopicSource
from gitops.model.waivers import LimitWaiver, Waiver
from gitops.ports import FileTree
from gitops.repository.loading.layout import CONFIG, NAMESPACE_FILE, TENANT_FILE
from gitops.repository.suggestions import did_you_mean_or_list

_NAMESPACE_SLASHES: Final = 1


def parse_scope(names: Sequence[str]) -> PlanScope | None:
    """The namespaces and topics of these names, None without any; raises InvalidNameError."""
    if not names:
        return None
    namespaces: set[NamespaceName] = set()
    topics: set[TopicName] = set()
    for name in names:
        if name.count("/") == _NAMESPACE_SLASHES:
            namespaces.add(NamespaceName.parse(name))
        elif "/" in name:
            topics.add(TopicName.parse_whole(name))
        else:
            raise InvalidNameError(
                f"'{name}' is neither a namespace nor a topic",
                hint="write tenant/namespace or tenant/namespace/topic",
            )
    return PlanScope(namespaces=frozenset(namespaces), topics=frozenset(topics))


def require_known(scope: PlanScope, repository: Repository) -> None:
    """Raise UsageError for a name that no file is about.

    A topic whose manifest cannot be read is known: its error is what has to be reported.
    """
    topics = {*repository.topics, *repository.desired.topics}
    namespaces = {*repository.desired.namespaces, *(topic.namespace for topic in topics)}
    broken = {finding.location.file for finding in repository.findings if finding.location}
    for topic in sorted(scope.topics):
        if topic not in topics and f"namespaces/{topic.namespace}/{topic.local_name}.yaml" not in (
            broken
        ):
            known = sorted(str(name) for name in topics)
            raise _unknown_name(f"no manifest declares the topic {topic}", str(topic), known)
    for namespace in sorted(scope.namespaces):
        folder = f"namespaces/{namespace}/"
        if namespace not in namespaces and not any(file.startswith(folder) for file in broken):
            known = sorted(str(name) for name in namespaces)
            raise _unknown_name(f"the files have no namespace {namespace}", str(namespace), known)


def _unknown_name(what: str, name: str, known: Sequence[str]) -> UsageError:
    return UsageError(what, hint=did_you_mean_or_list(name, known))


def narrow(repository: Repository, scope: PlanScope, tree: FileTree) -> Repository:
    """What the files say of a scope; its digest covers the files that decide about it.

    The namespace of a topic stays, for what holds for the topic. Findings about other namespaces
    and topics are dropped; those about files that may concern the scope stay.
    """
    desired = repository.desired
    sources = {topic: source for topic, source in repository.topics.items() if topic in scope}
    spaces = scope.namespaces | {topic.namespace for topic in scope.topics}
    tenants = {TenantName(namespace.tenant) for namespace in scope.namespaces}
    topics = {topic: state for topic, state in desired.topics.items() if topic in scope}
    waivers = tuple(waiver for waiver in repository.waivers if scope.covers(waiver.subject))
    others = _files(source for topic, source in repository.topics.items() if topic not in scope)
    narrowed = replace(
        repository,
        desired=replace(
            desired,
            namespaces={
                name: state for name, state in desired.namespaces.items() if name in spaces
            },
            topics=topics,
            tenants={
                name: tenant_state
                for name, tenant_state in desired.tenants.items()
                if name in tenants
            },
            partitions={
                name: partitions for name, partitions in desired.partitions.items() if name in scope
            },
        ),
        namespaces={
            name: location for name, location in repository.namespaces.items() if name in spaces
        },
        topics=sources,
        waivers=waivers,
        limit_waivers=tuple(
            waiver
            for waiver in repository.limit_waivers
            if any(topic in scope for topic in waiver.topics)
        ),
        findings=tuple(
            finding
            for finding in repository.findings
            if _concerns(finding, scope, repository, narrowed_files=_files(sources.values()))
        ),
        scope=replace(scope, editable=_files(sources.values()) - others),
    )
    return replace(narrowed, digest=_digest(narrowed, scope, tree))


def _files(sources: Iterable[TopicSource]) -> frozenset[str]:
    return frozenset(
        file
        for source in sources
        for files in ((source.manifest.file,), source.definitions, *source.halves.values())
        for file in files
    )


def _concerns(
    finding: Finding, scope: PlanScope, repository: Repository, *, narrowed_files: frozenset[str]
) -> bool:
    """Whether a finding about the files may change what a plan of the scope does."""
    file = finding.location.file if finding.location else finding.subject
    if file in narrowed_files:
        return True
    if waivers := [waiver for waiver in repository.waivers if waiver.file == file]:
        return any(scope.covers(waiver.subject) for waiver in waivers)
    folder, *parts = file.split("/")
    if folder != "namespaces":
        return True
    spaces = scope.namespaces | {topic.namespace for topic in scope.topics}
    match parts:
        case [tenant, name] if name == TENANT_FILE:
            return any(namespace.tenant == tenant for namespace in scope.namespaces)
        case [tenant, local_name, name]:
            namespace = f"{tenant}/{local_name}"
            if any(namespace == str(item) for item in scope.namespaces):
                return True
            if name == NAMESPACE_FILE:
                return any(namespace == str(space) for space in spaces)
            return any(
                f"{topic.namespace}/{topic.local_name}.yaml" == "/".join(parts)
                for topic in scope.topics
            )
    return True


def _digest(repository: Repository, scope: PlanScope, tree: FileTree) -> str:
    """`sha256:` and 64 hex digits over the scope, and path and content of each file about it."""
    topics = {*repository.topics, *repository.desired.topics}
    clients = [
        client
        for client in repository.clients
        if not topics.isdisjoint(
            [*(use.topic for use in client.consumes), *(use.topic for use in client.produces)]
        )
    ]
    waivers: list[Waiver | LimitWaiver] = [*repository.waivers, *repository.limit_waivers]
    paths = {
        CONFIG,
        *_files(repository.topics.values()),
        *(place.file for place in repository.namespaces.values()),
        *(f"namespaces/{tenant}/{TENANT_FILE}" for tenant in repository.desired.tenants),
        *(waiver.file for waiver in waivers),
        *(file for client in clients for file in (client.location.file, *client.definitions)),
    }
    content = [list(scope.names)]
    for path in sorted(paths):
        try:
            digest = hashlib.sha256(tree.read(path)).hexdigest()
        except UnreadableFileError:
            digest = ""
        content.append([path, digest])
    text = json.dumps(content, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
