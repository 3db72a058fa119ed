"""Which findings about the files of a change are its own."""

from __future__ import annotations

from typing import Final

from gitops.changes.change import UNUSED, LoadedChange
from gitops.changes.impact import files_of, topics_of_clients
from gitops.model.check import Impact
from gitops.model.errors import GitopsError
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.rollout_reason import name_list
from gitops.model.rules import make_finding
from gitops.ports import FileTree
from gitops.repository.loading.layout import CONFIG, NAMESPACE_FILE

_UPDATE: Final = "merge the base into the branch, or rebase it, then check again"
_FIX_FIRST: Final = "pulsar-gitops validate; plan and apply stop until it passes"


def new_findings(loaded: LoadedChange) -> tuple[Finding, ...]:
    """Findings about files that the change touches, and those that it causes elsewhere."""
    known = {finding.fingerprint for finding in loaded.base.findings}
    findings = []
    for finding in loaded.head.findings:
        file = finding.location.file if finding.location else ""
        is_used = finding.rule == UNUSED and file in loaded.used
        if not is_used and (finding.fingerprint not in known or file in loaded.changed):
            findings.append(finding)
    return tuple(findings)


def earlier_errors(loaded: LoadedChange) -> tuple[Finding, ...]:
    """A warning where files that the change depends on have errors that it leaves alone.

    What such a file sets is unknown, and no plan is made until it is fixed.
    """
    new = set(new_findings(loaded))
    errors = [
        finding
        for finding in loaded.head.findings
        if finding.severity is Severity.ERROR and finding not in new
    ]
    files = sorted({error.location.file for error in errors if error.location})
    if not files:
        return ()
    first = next(error.location for error in errors if error.location)
    number = "an error" if len(errors) == 1 else f"{len(errors)} errors"
    message = f"the base already has {number} in {name_list(files, most=3)}"
    return (make_finding("CHECK-R009", message, location=first, hint=_FIX_FIRST),)


def outdated_findings(loaded: LoadedChange, impact: Impact, reference: str) -> tuple[Finding, ...]:
    """A warning where the base has since changed what the affected topics depend on.

    `reference` is what the user calls the base. What a merge makes of both is not checked.
    """
    change = loaded.change
    clients = {
        path: _content(change.tip_tree, path) or b""
        for path in change.merged
        if path.startswith("clients/")
    }
    topics = {*impact.topics, *impact.removed, *topics_of_clients(loaded, impact.clients)}
    paths: set[str] = set()
    names = []
    for topic in sorted(topics):
        sources = (repository.topics.get(topic) for repository in (loaded.base, loaded.head))
        files = {path for source in sources if source for path in files_of(source)}
        files.add(f"namespaces/{topic.namespace}/{NAMESPACE_FILE}")
        files |= {path for path, text in clients.items() if str(topic).encode() in text}
        merged = {
            path
            for path in files & change.merged
            if _content(change.tip_tree, path) != _content(change.head_tree, path)
        }
        if merged:
            paths |= merged
            names.append(str(topic))
    if not names:
        return ()
    message = (
        f"{reference} has changed {name_list(sorted(paths), most=3)} since this branched off: "
        f"what a merge makes of {name_list(names, most=3)} is not checked here"
    )
    return (make_finding("CHECK-R010", message, subject=names[0], hint=_UPDATE),)


def _content(tree: FileTree, path: str) -> bytes | None:
    try:
        return tree.read(path)
    except GitopsError:  # it is not there, or leads outside
        return None


def is_config_broken(loaded: LoadedChange) -> bool:
    """Whether the change leaves it open which registries there are."""
    return any(_is_error(new_finding, CONFIG) for new_finding in new_findings(loaded))


def broken_topics(loaded: LoadedChange) -> frozenset[TopicName]:
    """The topics of which the change leaves open what they should be."""
    bad = {
        new_finding.location.file
        for new_finding in new_findings(loaded)
        if new_finding.location and _is_error(new_finding, new_finding.location.file)
    }
    return frozenset(
        topic
        for topic, source in loaded.head.topics.items()
        if bad & {*files_of(source), f"namespaces/{topic.namespace}/{NAMESPACE_FILE}"}
    )


def _is_error(finding: Finding, file: str) -> bool:
    where = finding.location
    return finding.severity is Severity.ERROR and where is not None and where.file == file
