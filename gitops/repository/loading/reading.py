"""Reads a manifest of any kind, with a finding where the file itself cannot be read."""

from __future__ import annotations

from typing import TypeVar

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.model.findings import Finding, Location
from gitops.model.rules import finding
from gitops.repository.documents.base import Document
from gitops.repository.documents.reading import Manifest
from gitops.repository.sources import Sources

D = TypeVar("D", bound=Document)


def read_manifest(
    file: str, model: type[D], sources: Sources, findings: list[Finding]
) -> Manifest[D] | None:
    """The manifest, or None with a finding where the file cannot be read."""
    try:
        return Manifest(file, sources.data(file), model)
    except UnreadableFileError as error:
        findings.append(unreadable(file, error))
        return None


def unreadable(file: str, error: UnreadableFileError) -> Finding:
    """What a file that cannot be read means."""
    rule = "REPO-R007" if isinstance(error, OutsideRepositoryError) else "REPO-R018"
    return finding(rule, f"cannot be read: {error.what}", location=Location(file=file))
