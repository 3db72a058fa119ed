"""REPO-*: the files of a repository cannot be read as what they should be."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule


def _error(number: int, title: str) -> Rule:
    return Rule(id=f"REPO-R{number:03}", title=title, severity=Severity.ERROR, configurable=False)


def _warning(number: int, title: str) -> Rule:
    return Rule(id=f"REPO-R{number:03}", title=title, severity=Severity.WARNING)


REPOSITORY_RULES: Final = (
    _error(1, "not a YAML text"),
    _error(2, "unknown key"),
    _error(3, "duplicate key"),
    _error(4, "wrong type of value"),
    _error(5, "missing key"),
    _error(6, "missing file"),
    _error(7, "path leads outside the repository"),
    _error(8, "document is too large, too deep or expands too much"),
    _error(9, "YAML feature that manifests do not use"),
    _error(10, "wrong kind or apiVersion"),
    _error(11, "unknown value"),
    _error(12, "value that makes no sense"),
    _error(13, "not a valid name"),
    _error(14, "secret in clear"),
    _error(15, "keys that do not go together"),
    _error(16, "manifest in the wrong place"),
    _error(17, "declared twice"),
    _error(18, "unreadable file"),
    _error(19, "definition cannot be turned into JSON"),
    _error(20, "protobuf definition does not compile"),
    _error(21, "shared types refer to each other in a cycle"),
    _error(22, "shared type is defined in several ways"),
    _warning(23, "file that nothing uses"),
    _warning(24, "broken snapshot"),
)
