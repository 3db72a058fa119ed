"""Makes a distribution visible as an installed one, without an installer or a network."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path


def install(project: Path, site: Path) -> None:
    """Put the packages of a project and its metadata into a folder of the search path."""
    meta = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    about, tool = meta["project"], meta["tool"]["hatch"]["build"]["targets"]["wheel"]
    for package in tool["packages"]:
        shutil.copytree(project / package, site / package)
    info = site / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    info.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    (info / "METADATA").write_text(head, "utf-8")
    groups = about["entry-points"].items()
    lines = [
        line
        for group, points in groups
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join([*lines, ""]), "utf-8")
