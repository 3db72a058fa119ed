"""What the set-up promises holds: pinned libraries, pinned actions, scripts that can be started."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.project_files import ROOT, project_files

PIN: Final = re.compile(r"([\w.-]+)==([\w.]+)")
TEMPLATE_ACTION: Final = "schemas_repo_template/.github/actions/pulsar-gitops"
NOT_PINNED: Final = ("colorama", "setuptools")
"""Of Windows, and what the set-up has already."""
ACTION: Final = re.compile(r"uses: (\S+)@([0-9a-f]{40}) # v[\d.]+")
WITH_ACTIONS: Final = ("action.yml", ".github/*.yml", "schemas_repo_template/.github/*.yml")


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    matches = [PIN.fullmatch(line) for line in lines if not line.startswith("#")]
    return {canonicalize_name(match[1]): match[2] for match in matches if match}


def declared() -> set[str]:
    listed = [project()["dependencies"], *project()["optional-dependencies"].values()]
    names = (Requirement(text).name for texts in listed for text in texts)
    return {str(canonicalize_name(name)) for name in names} - {project()["name"]}


def promised() -> list[str]:
    classifiers = project()["classifiers"]
    listed = "\n".join(classifiers)
    return re.findall(r"^Programming Language :: Python :: (3\.\d+)$", listed, re.MULTILINE)


def test_what_is_promised_is_tested() -> None:
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    matrix = re.search(r"python: \[(.*)\]", workflow)
    assert matrix
    assert re.findall(r"3\.\d+", matrix[1]) == promised()


def test_actions_install_on_a_python_that_is_promised() -> None:
    texts = [path.read_text() for path in project_files(*WITH_ACTIONS)]
    found = {each for text in texts for each in re.findall(r'"(3\.\d+)"', text)}
    assert found
    assert found <= set(promised())


def test_every_library_is_pinned() -> None:
    assert not declared() - set(pinned())


@pytest.mark.slow
def test_every_library_of_every_install_is_used_by_the_product() -> None:
    """What only tests import belongs into the extra `dev`."""
    needed = {canonicalize_name(Requirement(text).name) for text in project()["dependencies"]}
    trees = [ast.parse(path.read_text()) for path in project_files("gitops/**.py")]
    imported = {module.partition(".")[0] for tree in trees for module in _imports(tree)}
    makers = packages_distributions()
    used = {canonicalize_name(name) for module in imported for name in makers.get(module, ())}
    assert not needed - used


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_constraints_hold_nothing_but_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert not [line for line in lines if not line.startswith("#") and not PIN.fullmatch(line)]


@pytest.mark.parametrize(
    ("file", "needed"),
    [
        ("libraries", ("dependencies", "github", "protobuf")),
        ("replay", ("replay",)),
    ],
)
def test_what_workflows_install_is_what_was_tested(file: str, needed: tuple[str, ...]) -> None:
    listed = list(hashed(ROOT / f"{TEMPLATE_ACTION}/{file}.txt"))
    extras = {"dependencies": project()["dependencies"], **project()["optional-dependencies"]}
    asked = {canonicalize_name(Requirement(text).name) for key in needed for text in extras[key]}

    assert asked <= {canonicalize_name(each.name) for each in listed}
    for each in listed:
        if each.name not in NOT_PINNED:
            assert str(each.specifier) == f"=={pinned()[canonicalize_name(each.name)]}"


def hashed(file: Path) -> Iterator[Requirement]:
    """The requirements of a file in which each has hashes."""
    for text in re.sub(r"^#.*\n", "", file.read_text()).replace(" \\\n", " ").splitlines():
        name, *hashes = re.split(r" +--hash=", text)
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes)
        yield Requirement(name)


def test_every_action_of_a_workflow_is_pinned_to_a_commit() -> None:
    files = project_files(*WITH_ACTIONS)
    uses = [line for path in files for line in path.read_text().splitlines() if "uses: " in line]
    assert len(uses) > len(WITH_ACTIONS)
    assert not [line for line in uses if not ACTION.search(line) and "uses: ./" not in line]


def test_an_action_has_the_same_commit_everywhere() -> None:
    files = project_files(*WITH_ACTIONS)
    found = {match.groups() for path in files for match in ACTION.finditer(path.read_text())}
    names = [name for name, _ in found]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(
    "script",
    [
        ".ci/run",
        "scripts/demo",
        "scripts/lint-workflows",
        "scripts/setup",
        "scripts/setup-actionlint",
        "scripts/setup-java",
        "scripts/test-pythons",
    ],
)
def test_a_script_can_be_started(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
