"""`snapshots/<registry>/broker.json`: what a cluster told of its brokers when it was recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from gitops.broker.lines.table import is_beyond_doubt
from gitops.model.broker_settings import (
    ASSUMED_CHECKERS,
    LATER_RELEASE,
    SETTINGS,
    known_settings,
    seen_settings,
    setting_text,
    with_known,
    with_probed,
)
from gitops.model.policy import BrokerSettings, SettingSource, camel_case
from gitops.model.schema import SchemaType
from gitops.planning.rolling_upgrade import release_doubts
from gitops.ports import FileTree
from gitops.repository.documents.base import API_VERSION
from gitops.repository.documents.snapshots import BrokerSnapshot
from gitops.repository.snapshots import (
    BROKER_FILE,
    broken_snapshot,
    folder_of,
    read_snapshot,
    require_snapshot,
)

NOT_RECORDED: Final = "The snapshot does not have the settings of the cluster's brokers."


def broker_path(registry: str) -> str:
    """Where the settings of a registry's brokers are recorded."""
    return f"{folder_of(registry)}/{BROKER_FILE}"


def recorded_settings(tree: FileTree, registry: str) -> BrokerSettings:
    """What was recorded; nothing is known without such a file. Raises UsageError for a broken one.

    A registry whose settings are its own defaults has no such file either.
    """
    document = _document(tree, registry)
    if document is None:
        return BrokerSettings(limits=(NOT_RECORDED,), default_retention=None)
    values = {name: getattr(document, name) for name in SETTINGS}
    mapping = {name: value for name, value in values.items() if value is not None}
    least = document.release_at_least
    other_releases = document.other_releases
    known = known_settings(
        mapping,
        SettingSource.RECORDED,
        doubts=release_doubts([document.release or "", *other_releases] if other_releases else ()),
        other_releases=other_releases,
    )
    unchecked = tuple(SchemaType(item) for item in document.types_without_checker)
    known = replace(known, types_without_checker=unchecked)
    if least:
        known = replace(with_probed(known, {"release": least}), limits=(LATER_RELEASE,))
    if document.is_allow_auto_update_schema_enabled is None:  # which the configuration alone has
        known = replace(known, limits=(*known.limits, ASSUMED_CHECKERS))
    return known


def with_recorded(declared: BrokerSettings, tree: FileTree, registry: str) -> BrokerSettings:
    """What holds of a registry's brokers; raises UsageError for a broken file.

    That a release was at least some other one says nothing beside one that gitops.yaml names.
    """
    recorded = recorded_settings(tree, registry)
    if recorded.source("release") is SettingSource.PROBED and is_beyond_doubt(declared):
        seen = {name: source for name, source in recorded.sources.items() if name != "release"}
        limits = tuple(limit for limit in recorded.limits if limit != LATER_RELEASE)
        recorded = replace(recorded, sources=seen, limits=limits)
    return with_known(declared, recorded)


def recorded_time(tree: FileTree, registry: str) -> str:
    """When the snapshot was taken, in UTC as RFC 3339; empty where that is not known.

    Raises UsageError for a broken file.
    """
    document = _document(tree, registry)
    return (document.recorded or "") if document else ""


def _document(tree: FileTree, registry: str) -> BrokerSnapshot | None:
    path = broker_path(registry)
    if path not in tree.paths():
        return None
    data = read_snapshot(tree, path)
    try:
        return BrokerSnapshot.model_validate_json(data)
    except ValidationError:
        raise broken_snapshot(path, data) from None


def render_settings(registry: str, broker: BrokerSettings, recorded: str = "") -> dict[str, bytes]:
    """Path → content of what the registry told; no file where it told nothing."""
    mapping = {
        camel_case(name): setting_text(value) for name, value in seen_settings(broker).items()
    }
    if not mapping:
        return {}
    if broker.source("release") is SettingSource.PROBED:
        mapping["releaseAtLeast"] = mapping.pop("release")  # a test shows no more
    lists = {
        "typesWithoutChecker": [schema_type.value for schema_type in broker.types_without_checker],
        "otherReleases": list(broker.other_releases),
    }
    members = {key: names for key, names in lists.items() if names}
    head = {"apiVersion": API_VERSION, "kind": "BrokerSnapshot"}
    document = {**head, **({"recorded": recorded} if recorded else {}), **mapping, **members}
    return {broker_path(registry): f"{json.dumps(document, indent=2)}\n".encode()}


def settings_files(tree: FileTree, registry: str) -> tuple[str, ...]:
    """The file of a registry, if there is one, which a new snapshot replaces.

    Raises UsageError for one that does not look like a snapshot: nothing may be lost that somebody
    keeps there.
    """
    path = broker_path(registry)
    if path not in tree.paths():
        return ()
    require_snapshot(path, read_snapshot(tree, path))
    return (path,)
