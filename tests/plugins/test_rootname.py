"""A checker from another distribution, through commands, the embedded registry and `serve`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

import pytest

from gitops.repository.template import copy_template
from tests.support.command_line import PROGRAM
from tests.support.plugin_install import install

pytestmark = pytest.mark.slow

PROJECT: Final = Path(__file__).parent / "rootname"
REFUSAL: Final = "the root message is Order, not Invoice"
MANIFEST: Final = (
    "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: PROTOBUF, definition: p.avsc}\n"
)


def _definition(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": []})


def _variables(*sites: Path) -> dict[str, str]:
    path = os.pathsep.join([*map(str, sites), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path}


def command(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `pulsar-gitops ARGS` where `site` is on the search path."""
    return subprocess.run(
        [str(PROGRAM), *words],
        cwd=folder,
        env=_variables(site),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the search path in which the plug-in is installed."""
    folder = tmp_path_factory.mktemp("site")
    install(PROJECT, folder)
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in ("Order", "Invoice"):
        (tmp_path / f"{name}.avsc").write_text(_definition(name), "utf-8")
    return tmp_path


def _compat(site: Path, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = ("Order.avsc", "Invoice.avsc", "--type", "PROTOBUF", *more)
    return command(site, folder, "compat", *words)


def test_compat_asks_it(site: Path, files: Path, tmp_path: Path) -> None:
    ended = _compat(site, files)
    assert (ended.returncode, REFUSAL in ended.stdout) == (1, True), ended.stdout + ended.stderr
    assert _compat(tmp_path / "nothing", files).returncode == 0
    assert _compat(site, files, "--strategy", "ALWAYS_COMPATIBLE").returncode == 0
    assert REFUSAL in _compat(site, files, "--strategy", "FULL_TRANSITIVE").stdout


def test_a_plan_and_the_embedded_registry_ask_it(site: Path, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    copy_template(root)
    (root / "namespaces/shop/orders/p.yaml").write_text(MANIFEST, "utf-8")
    definition = root / "namespaces/shop/orders/p.avsc"
    definition.write_text(_definition("Order"), "utf-8")
    assert command(site, root, "apply", "--auto-approve").returncode == 0
    definition.write_text(_definition("Invoice"), "utf-8")
    planned = command(site, root, "plan")
    assert (planned.returncode, REFUSAL in planned.stdout) == (1, True), planned.stdout
    words = ("schemas", "upload", "shop/orders/p", "namespaces/shop/orders/p.avsc")
    uploaded = command(site, root, *words, "--type", "PROTOBUF")
    assert uploaded.returncode == 1, uploaded.stdout + uploaded.stderr
    assert REFUSAL in uploaded.stdout + uploaded.stderr


@pytest.fixture
def address(site: Path, tmp_path: Path) -> Iterator[str]:
    copy_template(tmp_path / "repo")
    options = ["serve", "--repo", str(tmp_path / "repo"), "--port", "0"]
    with subprocess.Popen(
        [str(PROGRAM), *options], stderr=subprocess.PIPE, text=True, env=_variables(site)
    ) as process:
        assert process.stderr is not None
        yield process.stderr.readline().strip().rpartition("http://")[2]
        process.terminate()


def test_serve_asks_it_also_for_half_of_a_key_value(address: str) -> None:
    connection = HTTPConnection(address, timeout=60)

    def ask(method: str, path: str, body: object) -> tuple[int, str]:
        headers = {"Content-Type": "application/json"}
        connection.request(method, f"/admin/v2/{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    ask("PUT", "tenants/root", {"allowedClusters": ["standalone"]})
    ask("PUT", "namespaces/root/name", {})
    for topic, body in (("whole", _whole), ("half", _half)):
        path = f"schemas/root/name/{topic}/schema"
        assert ask("POST", path, body("Order"))[0] == 200
        assert ask("POST", path, body("Order"))[0] == 200
        status, said = ask("POST", path, body("Invoice"))
        assert (status, REFUSAL in said) == (409, True), said
    connection.close()


def _whole(name: str) -> dict[str, object]:
    return {"type": "PROTOBUF", "schema": _definition(name), "properties": {}}


def _half(name: str) -> dict[str, object]:
    text = f'{{"key":"","value":{_definition(name)}}}'
    properties = {"key.schema.type": "STRING", "value.schema.type": "PROTOBUF"}
    return {"type": "KEY_VALUE", "schema": text, "properties": properties}


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ("PROTOBUF = no_such_package:CHECKER", "ModuleNotFoundError: No module named"),
        ("PROTOBUF = json:dumps", "AttributeError"),
        ("AVRO = rootname:CHECKER\nPROTOBUF = rootname:CHECKER", "its schema_type is PROTOBUF"),
        ("PROTOBUFF = rootname:CHECKER", "unknown type"),
        ("KEY_VALUE = rootname:CHECKER", "KEY_VALUE is checked half by half"),
    ],
)
def test_a_checker_that_cannot_be_used_ends_the_command(
    files: Path, tmp_path: Path, points: str, why: str
) -> None:
    broken = tmp_path / "broken"
    _install(broken, points)
    schema_type = points.partition(" ")[0] if points.startswith("AVRO") else "PROTOBUF"
    ended = _compat(broken, files, "--type", schema_type)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert why in ended.stderr
    assert "update or uninstall pulsar-gitops-rootname" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_serve_does_not_start_with_one_that_cannot_be_used(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    _install(broken, "PROTOBUF = no_such_package:CHECKER")
    copy_template(tmp_path / "repo")
    ended = command(broken, tmp_path / "repo", "serve", "--port", "0")
    assert (ended.returncode, "the checker for 'PROTOBUF'" in ended.stderr) == (2, True)


def test_two_checkers_for_one_type_end_the_command(files: Path, tmp_path: Path) -> None:
    both = tmp_path / "both"
    install(PROJECT, both)
    second = both / "other-1.0.dist-info"
    second.mkdir()
    (second / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (second / "entry_points.txt").write_text(
        "[gitops.compatibility_checkers]\nPROTOBUF = other:CHECKER\n"
    )
    ended = _compat(both, files)
    assert ended.returncode == 2, ended.stdout
    assert "several packages have a checker for PROTOBUF" in ended.stderr
    assert "uninstall all but one of them" in ended.stderr


def test_a_checker_that_raises_is_a_refusal_with_a_next_step(files: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    _install(broken, "PROTOBUF = rootname:CHECKER")
    code = broken / "rootname/__init__.py"
    code.write_text(code.read_text("utf-8").replace('["name"]', '["nom"]'), "utf-8")
    ended = _compat(broken, files, "--format", "json")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "the checker of pulsar-gitops-rootname failed (KeyError: 'nom')" in ended.stdout
    assert "update or uninstall pulsar-gitops-rootname" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr


def test_it_passes_the_contract_of_every_checker(site: Path, tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "tests", tmp_path / "tests")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path,
        env=_variables(site),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stdout
    assert "passed" in ended.stdout


def _install(site: Path, points: str) -> None:
    install(PROJECT, site)
    (found,) = site.glob("*.dist-info/entry_points.txt")
    found.write_text(f"[gitops.compatibility_checkers]\n{points}\n", "utf-8")
