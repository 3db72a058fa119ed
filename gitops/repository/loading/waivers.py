"""`waivers/*.yaml` files."""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from gitops.model.findings import Finding, group
from gitops.model.names import NamespaceName, TopicName
from gitops.model.waivers import LimitWaiver, Waiver
from gitops.repository.documents.manifests import LimitWaiverDocument, WaiverDocument
from gitops.repository.documents.parser import Manifest, read_manifest
from gitops.repository.suggestions import did_you_mean
from gitops.repository.tracked_files import TrackedFiles

_BLANKS: Final = ("reason is empty", "approvedBy is empty")
_LIMIT_KIND: Final = re.compile(rb"^kind: *[\"']?LimitWaiver\b", re.MULTILINE)
_FILL_IN: Final = "write why the change may pass, and who approves it; or remove the file"


def is_limit_waiver(data: bytes) -> bool:
    """Whether a file below `waivers/` is about a limit, not about one topic's schema."""
    return _LIMIT_KIND.search(data) is not None


def load_limit_waivers(
    files: Iterable[str], sources: TrackedFiles
) -> tuple[tuple[LimitWaiver, ...], list[Finding]]:
    """Every waiver for a limit; whether it still holds is not decided here.

    A topic that no manifest declares is no mistake: its schema may be what goes.
    """
    findings: list[Finding] = []
    waivers: list[LimitWaiver] = []
    for file in files:
        manifest = read_manifest(file, LimitWaiverDocument, sources, findings)
        if manifest is None:
            continue
        if manifest.document is None:
            findings.extend(_blanks_at_once(manifest.findings))
            continue
        document = manifest.document
        waivers.append(
            LimitWaiver(
                name=posixpath.basename(file).removesuffix(".yaml"),
                topics={TopicName.parse(name): print_ for name, print_ in document.topics.items()},
                reason=document.reason,
                approved_by=document.approved_by,
                expires=datetime.date.fromisoformat(document.expires),
                location=manifest.location(("topics",)),
                places={"expires": manifest.location(("expires",))},
            )
        )
        findings.extend(manifest.findings)
    return tuple(waivers), findings


def load_waivers(
    files: Iterable[str], sources: TrackedFiles, topics: Collection[TopicName] | None
) -> tuple[tuple[Waiver, ...], list[Finding]]:
    """Every waiver of a topic; whether it still holds is not decided here.

    `topics` are all that there are, None where a topic's manifest could not be understood.
    """
    findings: list[Finding] = []
    waivers: list[Waiver] = []
    by_fingerprint: dict[str, str] = {}
    for file in files:
        manifest = read_manifest(file, WaiverDocument, sources, findings)
        if manifest is None:
            continue
        if manifest.document is None:
            findings.extend(_blanks_at_once(manifest.findings))
            continue
        waiver = _waiver(manifest, manifest.document)
        waivers.append(waiver)
        if topics is not None:
            _check_known(manifest, waiver, topics)
        _check_twice(by_fingerprint.setdefault(waiver.fingerprint, file), manifest)
        findings.extend(manifest.findings)
    return tuple(waivers), findings


def _blanks_at_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """A waiver as `--waivers` writes it lacks two values, for one reason."""
    findings = list(findings)
    blanks = [item for item in findings if item.message in _BLANKS]
    if len(blanks) < len(_BLANKS):
        yield from findings
        return
    for finding in findings:
        if finding is blanks[0]:
            yield replace(group("reason and approvedBy are empty", blanks), hint=_FILL_IN)
        elif finding not in blanks:
            yield finding


def _waiver(manifest: Manifest[WaiverDocument], document: WaiverDocument) -> Waiver:
    return Waiver(
        name=posixpath.basename(manifest.file).removesuffix(".yaml"),
        subject=TopicName.parse(document.topic)
        if document.topic
        else NamespaceName.parse(document.namespace or ""),
        fingerprint=document.fingerprint,
        reason=document.reason,
        approved_by=document.approved_by,
        expires=datetime.date.fromisoformat(document.expires),
        location=manifest.location(("fingerprint",)),
        locked_out=frozenset(document.locked_out),
        places={key: manifest.location((key,)) for key in ("topic", "namespace", "expires")},
    )


def _check_known(
    manifest: Manifest[WaiverDocument], waiver: Waiver, topics: Collection[TopicName]
) -> None:
    """The topic, or the namespace of a topic, has a manifest."""
    key, known = "topic", set(map(str, topics))
    if isinstance(waiver.subject, NamespaceName):
        key, known = "namespace", {str(topic.namespace) for topic in topics}
    if str(waiver.subject) not in known:
        hint = did_you_mean(str(waiver.subject), known) or "remove the file"
        manifest.add("WAIVER-R005", f"no manifest declares {waiver.subject}", (key,), hint=hint)


def _check_twice(first: str, manifest: Manifest[WaiverDocument]) -> None:
    if first != manifest.file:
        message = f"{first} is for the same change"
        manifest.add("WAIVER-R006", message, ("fingerprint",), hint="keep one of them")
