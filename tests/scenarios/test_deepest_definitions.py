"""A definition as deep as a broker allows is decided in each process that meets one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.command_line import PROGRAM

pytestmark = pytest.mark.slow

_LEVELS: Final = 996
"""Arrays in the field of a record: its own levels are the other four of 1,000."""


def _definition(levels: int = _LEVELS, item: str = "int") -> str:
    inner = '{"type":"array","items":' * levels + json.dumps(item) + "}" * levels
    return f'{{"type":"record","name":"Deep","fields":[{{"name":"xs","type":{inner}}}]}}'


def _run(*words: object, code: int = 0) -> Any:  # noqa: ANN401 - JSON
    command = [str(PROGRAM), *map(str, words), "--format", "json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == code, ended.stdout + ended.stderr
    return json.loads(ended.stdout)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    paths = tmp_path / "old.avsc", tmp_path / "new.avsc", tmp_path / "other.avsc"
    for path, item in zip(paths, ("int", "long", "string"), strict=True):
        path.write_text(_definition(item=item), "utf-8")
    return paths


def test_by_the_command(files: tuple[Path, Path, Path]) -> None:
    old, new, other = files
    assert _run("compat", old, new, "--strategy", "BACKWARD")["accepted"]
    found = _run("compat", old, other, "--strategy", "BACKWARD", code=1)
    assert {each["rule"] for each in found["findings"]} == {"AVRO-R001"}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    subprocess.run([str(PROGRAM), "init", str(tmp_path / "repo")], check=True, capture_output=True)
    command = [str(PROGRAM), "serve", "--repo", str(tmp_path / "repo"), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        yield process.stderr.readline().strip().rpartition("http://")[2]
        process.terminate()


def test_by_serve(address: str) -> None:
    connection = HTTPConnection(address, timeout=60)

    def ask(method: str, path: str, body: object) -> int:
        headers = {"Content-Type": "application/json"}
        connection.request(method, f"/admin/v2/{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    assert ask("PUT", "tenants/deep", {"allowedClusters": ["standalone"]}) == 204
    assert ask("PUT", "namespaces/deep/down", {}) == 204
    bodies = [
        {"type": "AVRO", "schema": schema, "properties": {}}
        for schema in (_definition(), _definition(), _definition(item="string"))
    ]
    answers = [ask("POST", "schemas/deep/down/topic/schema", body) for body in bodies]
    connection.close()
    assert answers == [200, 200, 409]


def test_by_a_replay(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    subprocess.run([str(PROGRAM), "init", str(root)], check=True, capture_output=True)
    definition = root / "namespaces/shop/orders/order-cancelled.avsc"
    definition.write_text(_definition(), "utf-8")
    deepest = '{"xs":' + "[" * _LEVELS + "7" + "]" * _LEVELS + "}"
    samples = root / "samples/shop/orders/order-cancelled.jsonl"
    samples.write_text(f'{deepest}\n{{"xs":7}}\n', "utf-8")
    apply = [str(PROGRAM), "apply", "--auto-approve", "--repo", str(root)]
    subprocess.run(apply, check=True, capture_output=True)
    topic = "shop/orders/order-cancelled"
    report = _run("replay", topic, "--repo", root, "--engine", "local", code=1)
    (reader, *_) = report["topics"][0]["readers"]
    assert (reader["counted"], reader["failed"]) == (1, 1)
    assert reader["fields"][-1]["path"] == "xs" + "[]" * _LEVELS
