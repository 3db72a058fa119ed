"""Schemas repositories for scenarios: the template, under a tenant of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitops.repository.template import copy_template

TENANT = "shop"


def template_for(folder: Path, tenant: str, registries: str) -> Path:
    """The template with another tenant's name and these `registries:`; answers its root."""
    copy_template(folder)
    for path in sorted(folder.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"{TENANT}/", f"{tenant}/"), encoding="utf-8")
    (folder / "namespaces" / TENANT).rename(folder / "namespaces" / tenant)
    write_config(folder, registries)
    return folder


def empty_for(folder: Path, registries: str) -> Path:
    """A repository with nothing but `gitops.yaml`."""
    folder.mkdir()
    write_config(folder, registries)
    return folder


def write_config(folder: Path, registries: str) -> None:
    """`gitops.yaml` with one registry called `live`."""
    head = "apiVersion: pulsar-gitops/v1\nkind: Config\nregistries:\n"
    (folder / "gitops.yaml").write_text(f"{head}  live: {registries}\n", encoding="utf-8")


def edit_json(path: Path, change: Callable[[dict[str, Any]], object], *, indent: int = 2) -> None:
    """Change an Avro definition in place."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content, indent=indent), encoding="utf-8")
