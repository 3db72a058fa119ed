"""A kind of registry from another distribution, through the whole command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import jsonschema
import pytest

from gitops.repository.template import copy_template
from tests.support.git_repos import GitRepository
from tests.support.loaded_modules import HEAVY, run_and_tell
from tests.support.plugin_install import install

PROJECT: Final = Path(__file__).parent / "mystore"
TOPIC: Final = "shop/orders/order-created"
HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: Config\nregistries:\n"
SETTINGS: Final = f"""{HEAD}  ours:
    kind: mystore
    folder: .store
    pin: ${{STORE_PIN}}
    namespaces: {{shop/payments: {{schemaCompatibilityStrategy: FORWARD}}}}
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the search path in which the plug-in is installed."""
    folder = tmp_path_factory.mktemp("site")
    install(PROJECT, folder)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    copy_template(tmp_path / "repo")
    (tmp_path / "repo/gitops.yaml").write_text(SETTINGS, "utf-8")
    return tmp_path / "repo"


@pytest.fixture
def run(site: Path, root: Path) -> Run:
    """Runs `pulsar-gitops ARGS` in the repository with the plug-in installed."""

    def run_it(*words: str, code: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
        ended = command(site, root, *words, **variables)
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended

    return run_it


def command(
    site: Path, root: Path, *words: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `pulsar-gitops ARGS` where `site` is on the search path."""
    path = os.pathsep.join([str(site), *filter(None, sys.path)])
    around = {"PYTHONPATH": path, "STORE_PIN": "1234", **variables}
    return run_and_tell(*words, folder=root, variables=around)


def python(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_registry_of_its_kind_is_planned_applied_and_read(run: Run, root: Path) -> None:
    assert not set(HEAVY).intersection(run("validate").stderr.splitlines())
    assert json.loads(run("plan", "--format", "json").stdout)["actions"]
    run("apply", "--auto-approve")
    assert (root / ".store/shop/orders.json").is_file()
    assert json.loads(run("plan", "--format", "json").stdout)["actions"] == []
    shown = run("schemas", "get", TOPIC, "--format", "json").stdout
    assert json.loads(json.loads(shown)["schema"])["name"] == "OrderCreated"
    assert "FORWARD" in run("policies", "get", "shop/payments").stdout


def test_a_change_is_checked_with_it_and_with_its_snapshot(run: Run, root: Path) -> None:
    repo = GitRepository(root)
    (root / ".gitignore").write_text(".store/\n", "utf-8")
    run("apply", "--auto-approve")
    run("snapshot")
    repo.commit()
    path = f"namespaces/{TOPIC}.avsc"
    definition = (root / path).read_text("utf-8")
    repo.write(
        {path: definition.replace('"orderId", "type": "string"', '"orderId", "type": "long"')}
    )
    for history, source in (("auto", "registry"), ("snapshot", "snapshot")):
        words = ("check", "--base", "HEAD", "--history", history, "--format", "json")
        checked = json.loads(run(*words, code=1).stdout)
        assert checked["registries"][0]["history"]["source"] == source
        rules = {each["rule"] for each in checked["registries"][0]["plan"]["findings"]}
        assert rules == {"AVRO-R001"}


def test_a_store_that_is_committed_is_not_asked(run: Run, root: Path) -> None:
    repo = GitRepository(root)
    (root / ".gitignore").unlink()
    run("apply", "--auto-approve")
    repo.commit()
    ended = run("check", "--base", "HEAD", "--history", "registry", code=4)
    assert "is committed" in ended.stderr
    assert "git rm --cached .store" in ended.stderr


def test_wrong_settings_have_their_place(run: Run, root: Path) -> None:
    wrong = {
        "{kind: mystore}": "4:3 REPO-R005 missing key 'folder'",
        "{kind: mystore, folder: 7}": "5:30 REPO-R004 folder must be text, not a number",
        "{kind: mystore, foldr: x}": "6:22 REPO-R002 unknown key 'foldr'",
        "{kind: mystore, folder: x, url: y}": "7:33 REPO-R002 unknown key 'url'",
        "{kind: mystore, folder: ../x}": "8:30 REPO-R012 folder leaves the repository",
        "{kind: mystore, folder: x, pin: hunter2}": "9:38 REPO-R014 pin is here in clear text",
        "{kind: mystor, folder: x}": "10:13 REPO-R011 unknown value 'mystor' for kind",
    }
    lines = [f"  {name}: {settings}\n" for name, settings in zip("abcdefg", wrong, strict=True)]
    (root / "gitops.yaml").write_text("".join([HEAD, *lines]) + "defaultRegistry: a\n", "utf-8")
    found = json.loads(run("validate", "--format", "json", code=1).stdout)["findings"]
    shown = [
        "{line}:{column} {rule} {message}".format(**each["location"], **each)
        for each in found
        if each["location"]["file"] == "gitops.yaml"
    ]
    assert shown == list(wrong.values())
    printed = run("validate", code=1)
    assert "hunter2" not in printed.stdout + printed.stderr


def test_hints_are_those_of_its_kind(run: Run, root: Path) -> None:
    wrong = {
        "{kind: mystor, folder: x}": "did you mean mystore?",
        "{kind: other}": "use one of embedded, mystore, pulsar",
        "{folder: x}": "use one of embedded, mystore, pulsar",
        "{kind: mystore, folder: x, abc: 1}": "use one of after, broker, brokerDefaults, folder, "
        "kind, namespaces, pin",
    }
    lines = [f"  {name}: {settings}\n" for name, settings in zip("abcd", wrong, strict=True)]
    (root / "gitops.yaml").write_text("".join([HEAD, *lines]) + "defaultRegistry: a\n", "utf-8")
    found = json.loads(run("validate", "--format", "json", code=1).stdout)["findings"]
    assert [each["hint"] for each in found][: len(wrong)] == list(wrong.values())


def test_a_secret_that_is_missing_is_named(run: Run) -> None:
    assert "STORE_PIN" in run("plan", code=2, STORE_PIN="").stderr


def test_editors_learn_its_keys(site: Path, root: Path) -> None:
    code = "import json; from gitops.repository.documents.editor_schemas import schemas; "
    ended = python(site, root, "-c", f"{code}print(json.dumps(schemas()['config.schema.json']))")
    schema = json.loads(ended.stdout)
    for settings, fits in (({"folder": "x"}, True), ({"foldr": "x"}, False)):
        registries = {"ours": {"kind": "mystore", **settings}}
        config = {"apiVersion": "pulsar-gitops/v1", "kind": "Config", "registries": registries}
        assert jsonschema.Draft202012Validator(schema).is_valid(config) is fits


@pytest.mark.parametrize(
    ("point", "why"),
    [
        ("mystore = no_such_package:KIND", "ModuleNotFoundError: No module named"),
        ("mystore = json:dumps", "it is no RegistryKind, but function"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_a_finding_for_those_who_use_it(
    root: Path, tmp_path: Path, point: str, why: str
) -> None:
    broken = tmp_path / "broken"
    install(PROJECT, broken)
    _points(broken).write_text(f"[gitops.registries]\n{point}\n", "utf-8")
    ended = command(broken, root, "validate")
    assert ended.returncode == 1, ended.stderr
    assert "gitops.yaml:4:3" in ended.stdout
    assert why in ended.stdout
    assert "update or uninstall pulsar-gitops-mystore" in ended.stdout
    (root / "gitops.yaml").write_text(f"{HEAD}  ours: {{kind: embedded, path: x}}\n", "utf-8")
    ended = command(broken, root, "validate")
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_two_packages_with_one_kind_are_a_finding(root: Path, tmp_path: Path) -> None:
    both = tmp_path / "both"
    install(PROJECT, both)
    second = both / "other-1.0.dist-info"
    second.mkdir()
    (second / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (second / "entry_points.txt").write_text("[gitops.registries]\nmystore = other:KIND\n")
    ended = command(both, root, "validate")
    assert ended.returncode == 1, ended.stderr
    assert "several packages offer registries of kind 'mystore'" in ended.stdout


def test_it_passes_the_contract_of_every_registry(site: Path, tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "tests", tmp_path / "tests")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "tests")
    ended = python(site, tmp_path, *words)
    assert ended.returncode == 0, ended.stdout
    assert "passed" in ended.stdout


def _points(folder: Path) -> Path:
    (found,) = folder.glob("*.dist-info/entry_points.txt")
    return found
