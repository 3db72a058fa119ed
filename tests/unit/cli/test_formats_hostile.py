"""No format prints characters that turn a text around, hide a part of it, or end a line."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path

import pytest

from gitops.reports import results
from gitops.reports.formats import available_formats
from gitops.reports.json.documents import to_text
from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository

_HOSTILE = "a\u202eb\u2028c\u2066d\u200be\x85f\x9b31mg\U000e0041h\ufeff"
_ESCAPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.slow
def test_json_escapes_every_character_that_cannot_be_seen() -> None:
    unseen = [
        chr(number)
        for number in range(sys.maxunicode + 1)
        if unicodedata.category(chr(number)) in _ESCAPED
    ]
    text = to_text({"".join(unseen): "".join(unseen), "seen": "žluťoučký 馬 🐎"})
    assert _unseen(text) == []
    assert "žluťoučký 馬 🐎" in text
    # What JSON joins of two halves is one character.
    found = json.loads(text)
    whole = "".join(unseen).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert {key.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for key in found} == {
        whole,
        "seen",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", available_formats(results.CheckResult))
def test_no_format_repeats_them(name: str, clone: GitRepository, command: CommandLine) -> None:
    folder = clone.root
    manifest = folder / "namespaces/shop/orders/order-status.yaml"
    manifest.write_text(f"{manifest.read_text()}{json.dumps(_HOSTILE)}: 1\n", "utf-8")
    (folder / "namespaces/shop/orders" / f"{_HOSTILE}.avsc").write_text("{}")
    _add_field(folder, {"name": "added", "type": ["null", "int"], "doc": _HOSTILE})
    clone.commit()
    done = command("check", "--repo", folder, "--base", "HEAD~1", "--format", name)
    assert done.code == 1, done
    assert len(done.out) > 100
    for text in (done.out, done.err):
        assert [
            char for char in text if unicodedata.category(char) in _ESCAPED and char != "\n"
        ] == []


def _add_field(folder: Path, field: dict[str, object]) -> None:
    file = folder / "namespaces/shop/orders/order-created.avsc"
    definition = json.loads(file.read_text())
    definition["fields"].insert(0, field | {"default": f"no {_HOSTILE}"})
    file.write_text(json.dumps(definition, ensure_ascii=False), "utf-8")


def _unseen(text: str) -> list[str]:
    return [char for char in text if unicodedata.category(char) in _ESCAPED and char != "\n"]
