"""What a change does to topics beyond their single schemas: removed, renamed, too many at once."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace

from gitops.changes.change import LoadedChange
from gitops.changes.moved_topics import moved_topics, unread_topics
from gitops.changes.new_findings import broken_topics
from gitops.checks.edited_snapshots import snapshot_guards
from gitops.model.check import Impact
from gitops.model.config import SafetyConfig
from gitops.model.findings import Finding, Location, Severity, group
from gitops.model.names import TopicName
from gitops.model.rules import make_finding
from gitops.model.state import TopicSource
from gitops.planning.fingerprints import is_same
from gitops.planning.limit_waivers import (
    CountedChanges,
    changed_topic_fingerprint,
    count_changes,
    exceeded_share,
)
from gitops.ports import FileTree
from gitops.repository.loading.layout import layout


def topic_guards(loaded: LoadedChange, touched: Impact, today: datetime.date) -> Iterator[Finding]:
    """Findings about the change as a whole, whatever a registry holds."""
    safety = loaded.limits.safety
    yield from _removed_findings(loaded, touched, safety)
    yield from _renamed_findings(loaded, touched, safety)
    count = len(layout(loaded.base_paths).topics)
    changes = count_changes(changed_topics(loaded, touched), loaded.head.limit_waivers, today)
    yield from share_exceeded(changes, count, safety)
    yield from snapshot_guards(loaded)
    yield from _submodule_findings(loaded)
    unmanaged = [
        schema_unmanaged(topic, loaded.head.topics[topic].manifest, safety)
        for topic in touched.topics
        if _is_let_go(loaded, topic)
    ]
    if unmanaged:
        yield group(
            f"the schemas of {len(unmanaged):,} topics are removed from their manifests; they stay "
            "in the registry, unmanaged",
            unmanaged,
        )


def _removed_findings(
    loaded: LoadedChange, touched: Impact, safety: SafetyConfig
) -> Iterator[Finding]:
    """One finding for all removed manifests; one for those that moved where none is read."""
    findings = {}
    for topic in touched.removed:
        where = _top(loaded.base_tree, loaded.base.topics[topic])
        findings[topic] = topic_removed(topic, where, safety)
    for move in unread_topics(loaded, touched):
        finding = group(
            f"{len(move.topics):,} manifests move to {move.new}/, where nothing reads them; the "
            "schemas of their topics stay in the registry, unmanaged",
            [findings.pop(topic) for topic in move.topics],
        )
        rest = finding.hint.removeprefix("keep the manifest; ")
        back = move.way_back or f"move them back below {move.old}/"
        yield replace(finding, hint=f"{back}; {rest}")
    if findings:
        yield group(
            f"the manifests of {len(findings):,} topics are removed; their schemas stay in the "
            "registry, unmanaged",
            [*findings.values()],
        )


def _renamed_findings(
    loaded: LoadedChange, touched: Impact, safety: SafetyConfig
) -> Iterator[Finding]:
    """One finding for each renamed topic; for several that moved with their folder only one."""
    for move in moved_topics(loaded, touched):
        findings = [
            topic_renamed(new, old, _top(loaded.head_tree, loaded.head.topics[new]), safety)
            for new, old in move.topics.items()
        ]
        finding = group(
            f"{len(findings):,} topics of {_name(move.old)} move to {_name(move.new)} and start "
            "without history: consumers and messages stay on the old topics",
            findings,
        )
        if move.way_back:
            what = "namespace" if _name(move.old).count("/") else "tenant"
            hint = f"{move.way_back}: a topic is in the {what} of its folder, and no {what} can be "
            finding = replace(finding, hint=f"{hint}renamed")
        yield finding


def _name(folder: str) -> str:
    """The tenant or the namespace of a folder."""
    return folder.partition("/")[2]


def _submodule_findings(loaded: LoadedChange) -> Iterator[Finding]:
    """Those that are not told of already, because they stand where manifests or types do."""
    texts = {finding.location.file for finding in loaded.head.findings if finding.location}
    for file in loaded.change.files:
        path = file.after or file.before or ""
        if file.submodule and path not in texts:
            yield submodule_found(path)


def _top(tree: FileTree, source: TopicSource) -> Location:
    """The first line of a manifest that says something: it is about the whole of it."""
    file = source.manifest.file
    lines = tree.read(file).decode("utf-8", "replace").splitlines()
    says = (n for n, line in enumerate(lines, 1) if line and not line.startswith(("#", "---")))
    return Location(file=file, line=next(says, 1), column=1)


def _is_let_go(loaded: LoadedChange, topic: TopicName) -> bool:
    """Whether the manifest is there and its schema is not, for no mistake."""
    states = loaded.base.desired.topics.get(topic), loaded.head.desired.topics.get(topic)
    old, new = (state.history.latest if state else None for state in states)
    return bool(old and not new) and topic not in broken_topics(loaded)


def changed_topics(loaded: LoadedChange, touched: Impact) -> dict[TopicName, str]:
    """Topics of the base whose schema becomes another or goes, with that change's fingerprint.

    A definition that Pulsar takes for the same schema, such as one whose inline types move to
    files of their own, changes nothing. Neither do policies, nor topics without a schema.
    """
    changed: dict[TopicName, str] = {}
    for topic in touched.topics:
        states = loaded.base.desired.topics.get(topic), loaded.head.desired.topics.get(topic)
        before, after = (state.history.latest if state else None for state in states)
        if topic not in loaded.base.topics or topic in broken_topics(loaded):
            continue
        if before and (after is None or not is_same(before.info, after.info)):
            info = after.info if after else None
            changed[topic] = changed_topic_fingerprint(topic, info)
    gone = (*touched.removed, *touched.renamed.values())
    return changed | {topic: changed_topic_fingerprint(topic, None) for topic in gone}


def topic_removed(topic: TopicName, where: Location, safety: SafetyConfig) -> Finding:
    """A manifest is gone; `where` it was, in the base."""
    setting = "set safety.allowDeletions in a change before this one, and "
    first = "" if safety.allow_deletions else setting
    finding = make_finding(
        "CHECK-R001",
        f"the manifest of {topic} is removed; its schema stays in the registry, unmanaged",
        location=replace(where, in_base=True),
        subject=str(topic),
        hint=f"keep the manifest; or {first}`plan --prune` deletes the schema with all its "
        "versions",
    )
    return _unless_allowed(finding, safety)


def schema_unmanaged(topic: TopicName, where: Location, safety: SafetyConfig) -> Finding:
    """A manifest says nothing of a schema any more."""
    allowed = safety.allow_deletions
    stopping = (
        "" if allowed else "; if the base sets safety.allowDeletions, this does not block the merge"
    )
    finding = make_finding(
        "CHECK-R001",
        f"the schema of {topic} is removed from its manifest; it stays in the registry, unmanaged",
        location=where,
        subject=str(topic),
        hint=f"keep schema: in the manifest{stopping}",
    )
    return _unless_allowed(finding, safety)


def topic_renamed(new: TopicName, old: TopicName, where: Location, safety: SafetyConfig) -> Finding:
    """A topic's file has another name: to Pulsar that is another topic."""
    finding = make_finding(
        "CHECK-R002",
        f"{old} becomes {new}, which starts without history: consumers and messages "
        "stay on the old topic",
        location=where,
        subject=str(new),
        hint=_keep_hint(new, old),
    )
    return _unless_allowed(finding, safety)


def _keep_hint(new: TopicName, old: TopicName) -> str:
    """How the file may move and the topic stay; the folder always says the namespace."""
    if new.namespace == old.namespace:
        return f"a file may be renamed and keep its topic: write topic: {old.local_name} in it"
    return (
        f"a topic is in the namespace of its folder, and no namespace can be renamed: put it back "
        f"into namespaces/{old.namespace}"
    )


def _unless_allowed(finding: Finding, safety: SafetyConfig) -> Finding:
    """With safety.allowDeletions it is told and stops nobody."""
    return replace(finding, severity=Severity.WARNING) if safety.allow_deletions else finding


def share_exceeded(
    changes: CountedChanges, topics: int, safety: SafetyConfig
) -> tuple[Finding, ...]:
    """A finding where the changes are more than the allowed share of the base's `topics`."""
    share = exceeded_share(changes, topics, safety, "change")
    if share is None:
        return ()
    return (share.rate(make_finding("CHECK-R005", share.message, hint=share.hint)),)


def submodule_found(file: str) -> Finding:
    """Another repository that is part of this one; `file` is where."""
    finding = make_finding(
        "REPO-R018",
        f"'{file}' is a submodule: its files are in another repository, so its "
        "changes are not checked here",
        location=Location(file=file),
        hint="keep the files of schemas in this repository",
    )
    return replace(finding, severity=Severity.WARNING)
