"""Which file is what: the folders of a repository."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

CONFIG: Final = "gitops.yaml"
NAMESPACE_FILE: Final = "namespace.yaml"
TENANT_FILE: Final = "tenant.yaml"
_FOLDERS: Final = frozenset({"namespaces", "clients", "waivers", "types", "samples", "snapshots"})
_FREE_FOLDERS: Final = frozenset({"samples", "snapshots"})
_OURS: Final = frozenset({"namespaces", "clients", "waivers"})
_UNNAMEABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_NAMESPACE_DEPTH: Final = 4
_TENANT_DEPTH: Final = 3
_FLAT_DEPTH: Final = 2


@dataclass(slots=True, kw_only=True)
class Layout:
    """The paths of a repository by their role, each list in the order of the paths.

    `misplaced` are manifests where none is looked for although the folder is one of ours, with a
    word on where they belong; `links` are entries without ending below our folders (a folder's
    symbolic link looks so); `foreign` are YAML files elsewhere; `unnameable` are files below our
    folders whose names hold control characters or are not UTF-8.
    """

    tenants: list[str] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    clients: list[str] = field(default_factory=list)
    waivers: list[str] = field(default_factory=list)
    avsc: list[str] = field(default_factory=list)
    misplaced: list[tuple[str, str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    unnameable: list[str] = field(default_factory=list)


def layout(paths: Iterable[str]) -> Layout:
    """Sort the paths of a repository."""
    result = Layout()
    for path in paths:
        _sort(path, path.split("/"), result)
    return result


def _sort(path: str, parts: list[str], result: Layout) -> None:
    top, name = parts[0], parts[-1]
    if path in _FOLDERS:
        # Only a symbolic link looks like a file here: a folder itself is no path of the tree.
        result.links.append(path)
        return
    if top.startswith(".") or top in _FREE_FOLDERS or path == CONFIG or name.startswith("."):
        return
    if top in _OURS and _UNNAMEABLE.search(path):
        result.unnameable.append(path)
    elif name.endswith(".avsc"):
        result.avsc.append(path)
    elif top == "namespaces" and len(parts) > 1:
        _in_namespaces(path, parts, result)
    elif top in ("clients", "waivers") and len(parts) > 1:
        _in_flat(path, parts, result)
    elif name.endswith((".yaml", ".yml")):
        result.foreign.append(path)


def _in_namespaces(path: str, parts: list[str], result: Layout) -> None:
    name = parts[-1]
    if _is_plain_entry(path, name, result):
        return
    if len(parts) == _TENANT_DEPTH and name == TENANT_FILE:
        result.tenants.append(path)
    elif len(parts) != _NAMESPACE_DEPTH:
        result.misplaced.append((path, "write namespaces/<tenant>/<namespace>/<topic>.yaml"))
    elif not name.endswith(".yaml"):
        result.misplaced.append((path, "the ending is .yaml"))
    elif name == NAMESPACE_FILE:
        result.namespaces.append(path)
    else:
        result.topics.append(path)


def _in_flat(path: str, parts: list[str], result: Layout) -> None:
    if _is_plain_entry(path, parts[-1], result):
        return
    if len(parts) != _FLAT_DEPTH:
        result.misplaced.append((path, f"write {parts[0]}/<name>.yaml"))
    elif not path.endswith(".yaml"):
        result.misplaced.append((path, "the ending is .yaml"))
    elif parts[0] == "clients":
        result.clients.append(path)
    else:
        result.waivers.append(path)


def _is_plain_entry(path: str, name: str, result: Layout) -> bool:
    """Whether it is no manifest; without ending it may be the link of a folder."""
    if name.lower().endswith((".yaml", ".yml")):
        return False
    if "." not in name:
        result.links.append(path)
    return True
