"""Which findings about the files of a change are its own."""

from __future__ import annotations

from typing import Final

from gitops.changes.change import UNUSED, LoadedChange
from gitops.changes.impact import files_of
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.rollout_reason import name_list
from gitops.model.rules import make_finding
from gitops.repository.loading.layout import CONFIG, NAMESPACE_FILE

_FIX_FIRST: Final = "pulsar-gitops validate; plan and apply stop until it passes"


def new_findings(loaded: LoadedChange) -> tuple[Finding, ...]:
    """Findings about files that the change touches, and those that it causes elsewhere."""
    known = {each.fingerprint for each in loaded.base.findings}
    found = []
    for each in loaded.head.findings:
        file = each.location.file if each.location else ""
        is_used = each.rule == UNUSED and file in loaded.used
        if not is_used and (each.fingerprint not in known or file in loaded.changed):
            found.append(each)
    return tuple(found)


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


def is_config_broken(loaded: LoadedChange) -> bool:
    """Whether the change leaves it open which registries there are."""
    return any(_is_error(each, CONFIG) for each in new_findings(loaded))


def broken_topics(loaded: LoadedChange) -> frozenset[TopicName]:
    """The topics of which the change leaves open what they should be."""
    bad = {
        each.location.file
        for each in new_findings(loaded)
        if each.location and _is_error(each, each.location.file)
    }
    return frozenset(
        topic
        for topic, source in loaded.head.topics.items()
        if bad & {*files_of(source), f"namespaces/{topic.namespace}/{NAMESPACE_FILE}"}
    )


def _is_error(found: Finding, file: str) -> bool:
    where = found.location
    return found.severity is Severity.ERROR and where is not None and where.file == file
