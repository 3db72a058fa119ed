"""Where clients may not register: what a refused schema has otherwise than the registered ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scenarios.registries import Command
from tests.scenarios.repositories import empty_for

_TOPIC = "shop/orders/checks"
_CLASS = """
from pulsar.schema import Record, String

class Check2(Record):
    stamp = String(required=True)
    note = String()
"""
_REGISTERED = {
    "type": "record",
    "name": "Check2",
    "fields": [
        {"name": "stamp", "type": "string"},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}


@pytest.fixture
def repo(tmp_path: Path, command: Command) -> Path:
    """Clients of `shop/orders` register nothing, and another tool registered their schema."""
    root = empty_for(tmp_path / "repo", f"{{kind: embedded, path: {tmp_path / 'live.db'}}}")
    folder = root / "namespaces" / "shop" / "orders"
    folder.mkdir(parents=True)
    text = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    (folder / "namespace.yaml").write_text(f"{text}isAllowAutoUpdateSchema: false\n", "utf-8")
    (root / "app.py").write_text(_CLASS, "utf-8")
    assert command("apply", "--auto-approve", "--repo", str(root))[0] == 0
    upload = tmp_path / "upload.avsc"
    upload.write_text(json.dumps(_REGISTERED), "utf-8")
    options = ("--type", "AVRO", "--repo", str(root))
    assert command("schemas", "upload", _TOPIC, str(upload), *options)[0] == 0
    return root


@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_the_difference_from_the_registered_version_is_shown(
    role: str, repo: Path, command: Command
) -> None:
    options = ("connect", role, _TOPIC, "app:Check2", "--path", str(repo), "--repo", str(repo))
    code, text = command(*options)
    _, document = command(*options, "--format", "json")
    (admission,) = json.loads(document)["admissions"]

    if role == "consumer":  # the strategy alone decides about one
        assert (code, admission["accepted"], admission["differs"]) == (0, True, None)
        return
    assert code == 1
    (change,) = admission["differs"]["changes"]
    assert admission["differs"]["version"] == 0
    assert (change["path"], change["before"], change["after"]) == (
        "note",
        "default = null",
        "default –",
    )
    assert "note = String(required_default=True)" in " ".join(text.split())


def test_the_class_as_advised_is_let_in(repo: Path, command: Command) -> None:
    advised = _CLASS.replace("note = String()", "note = String(required_default=True)")
    (repo / "advised.py").write_text(advised, "utf-8")
    options = ("--path", str(repo), "--repo", str(repo))

    assert command("connect", "producer", _TOPIC, "advised:Check2", *options)[0] == 0


def test_a_match_says_that_the_client_is_kept_out(repo: Path, command: Command) -> None:
    options = ("--check", "--topic", _TOPIC, "--path", str(repo), "--repo", str(repo))

    _, text = command("schemas", "extract", "app:Check2", *options)

    assert "clients with it are refused until then: isAllowAutoUpdateSchema is false" in (
        " ".join(text.split())
    )
