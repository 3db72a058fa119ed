"""`gitops.yaml` into the Config, or into as much of it as can be understood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from gitops.model.config import Config, SafetyConfig
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.findings import Finding, Severity
from gitops.repository.documents.base import API_VERSION
from gitops.repository.documents.config import ConfigDocument
from gitops.repository.documents.parser import Manifest
from gitops.repository.loading.layout import CONFIG
from gitops.repository.positions import Path
from gitops.repository.suggestions import did_you_mean_or_list
from gitops.repository.tracked_files import TrackedFiles

_NOTHING = Config(registries={}, default_registry="", safety=SafetyConfig())
_REGISTRY_DEPTH = 2
_OTHER_ENDING = "gitops.yml"
_NONE_HERE = (
    "run it in a schemas repository, name one with --repo, or make one with pulsar-gitops init"
)


class Settings(NamedTuple):
    """The Config, and what is wrong with it.

    `names` are those of all registries in the file, also of those that are wrong themselves;
    none where a part of it cannot be read.
    """

    config: Config
    names: frozenset[str]
    findings: list[Finding]


def load_settings(sources: TrackedFiles) -> Settings:
    """What `gitops.yaml` has; raises UsageError where there is none at all.

    Nothing is listed: a folder without `gitops.yaml` may be anybody's, and large.
    """
    try:
        data = sources.data(CONFIG)
    except UnreadableFileError as error:
        raise UsageError(
            f"not a schemas repository: {error.what}",
            where=CONFIG,
            hint=_instead(sources),
        ) from error
    manifest = Manifest(CONFIG, data, ConfigDocument)
    document = manifest.document or _what_is_left(manifest)
    default = _default_registry(manifest)
    config = _config(document, default) if document else _NOTHING
    names = _names(manifest) if manifest.parsed.complete else []
    if document and manifest.document:
        _check_order(manifest, document)
        _check_groups(manifest, document)
    return Settings(config, frozenset(names), manifest.findings)


def _instead(sources: TrackedFiles) -> str:
    try:
        sources.peek(_OTHER_ENDING)
    except UnreadableFileError:
        return _NONE_HERE
    return f"rename {_OTHER_ENDING} to {CONFIG}"


def _what_is_left(manifest: Manifest[ConfigDocument]) -> ConfigDocument | None:
    """The document without the entries that are wrong; None if nothing sensible is left."""
    value = manifest.parsed.value
    if not manifest.parsed.complete or not isinstance(value, dict):
        return None
    try:
        return ConfigDocument.model_validate(_drop_errors(value, manifest))
    except ValidationError:
        return None


def _drop_errors(value: dict[str, Any], manifest: Manifest[ConfigDocument]) -> dict[str, Any]:
    left = dict(value)
    registries = value.get("registries")
    left["registries"] = dict(registries) if isinstance(registries, dict) else {}
    for path in _wrong_paths(manifest, value):
        if path[:1] == ("registries",):
            if len(path) >= _REGISTRY_DEPTH:
                left["registries"].pop(path[1], None)
        elif path:
            left.pop(str(path[0]), None)
    return {**left, "apiVersion": API_VERSION, "kind": "Config"}


def _wrong_paths(manifest: Manifest[ConfigDocument], value: object) -> list[Path]:
    try:
        ConfigDocument.model_validate(value)
    except ValidationError as error:
        return [problem.path for problem in manifest.problems_of(error)]
    return []


def _config(document: ConfigDocument, default_registry: str) -> Config:
    return Config(
        registries=document.registry_models(),
        default_registry=default_registry,
        groups={name: tuple(members) for name, members in document.groups.items()},
        safety=document.safety.model(),
        rules={rule: Severity[name.upper()] for rule, name in document.rules.items()},
    )


def _names(manifest: Manifest[ConfigDocument]) -> list[str]:
    value = manifest.parsed.value
    registries = value.get("registries") if isinstance(value, dict) else None
    return [str(name) for name in registries] if isinstance(registries, dict) else []


def _check_order(manifest: Manifest[ConfigDocument], document: ConfigDocument) -> None:
    """Findings for a registry that is to come after one that there is not, or after itself."""
    befores = {
        name: registry_document.after
        for name, registry_document in document.registries.items()
        if registry_document.after
    }
    for name, before in befores.items():
        path = ("registries", name, "after")
        if before not in document.registries:
            hint = did_you_mean_or_list(before, list(document.registries))
            manifest.add("REPO-R011", f"there is no registry '{before}'", path, hint=hint)
        elif name in (chain := _chain(name, befores)):
            text = " after ".join([name, *chain])
            hint = "remove one of these: one registry has to come first"
            manifest.add("REPO-R012", f"registries wait for each other: {text}", path, hint=hint)


def _chain(name: str, befores: Mapping[str, str]) -> list[str]:
    """The registries that come before one, the nearest first, as far as none comes twice."""
    texts: list[str] = []
    before = befores.get(name)
    while before is not None and before not in texts:
        texts.append(before)
        before = befores.get(before)
    return texts


def _check_groups(manifest: Manifest[ConfigDocument], document: ConfigDocument) -> None:
    """Findings for a group with the name of a registry, and for members that are none."""
    for group, members in document.groups.items():
        if group in document.registries:
            message = f"'{group}' is the name of a registry"
            manifest.add(
                "REPO-R017", message, ("groups", group), hint="give the group another name"
            )
        for index, member in enumerate(members):
            if member not in document.registries:
                hint = did_you_mean_or_list(member, list(document.registries))
                path = ("groups", group, index)
                manifest.add("REPO-R011", f"there is no registry '{member}'", path, hint=hint)


def _default_registry(manifest: Manifest[ConfigDocument]) -> str:
    """The name of one of the registries, whether or not that is right itself; empty if none."""
    value, names = manifest.parsed.value, _names(manifest)
    if not isinstance(value, dict) or not names:
        return ""
    given = value.get("defaultRegistry")
    if given is None and len(names) == 1:
        return names[0]
    if given in names:
        return str(given)
    if given is None and "defaultRegistry" not in value:
        hint = f"several registries: name one of {', '.join(names)}"
        manifest.add("REPO-R005", "missing key 'defaultRegistry'", (), hint=hint)
    elif isinstance(given, str) and given.strip():
        hint = did_you_mean_or_list(given, names)
        message = f"there is no registry '{given}'"
        manifest.add("REPO-R011", message, ("defaultRegistry",), hint=hint)
    return ""
