"""`waivers/*.yaml` files."""

from __future__ import annotations

import datetime
import posixpath
from collections.abc import Iterable

from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.waivers import Waiver
from gitops.repository.documents.waiver import WaiverDocument
from gitops.repository.loading.reading import read_manifest
from gitops.repository.sources import Sources


def load_waivers(
    files: Iterable[str], sources: Sources
) -> tuple[tuple[Waiver, ...], list[Finding]]:
    """Every waiver; whether it still holds is not decided here."""
    findings: list[Finding] = []
    waivers: list[Waiver] = []
    for file in files:
        manifest = read_manifest(file, WaiverDocument, sources, findings)
        if manifest is None:
            continue
        findings.extend(manifest.findings)
        if manifest.document is None:
            continue
        document = manifest.document
        waivers.append(
            Waiver(
                name=posixpath.basename(file).removesuffix(".yaml"),
                topic=TopicName.parse(document.topic),
                fingerprint=document.fingerprint,
                reason=document.reason,
                approved_by=document.approved_by,
                expires=datetime.date.fromisoformat(document.expires),
                location=manifest.location(("fingerprint",)),
            )
        )
    return tuple(waivers), findings
