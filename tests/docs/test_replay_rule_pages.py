"""The examples on the pages of REPLAY rules are findings of real replays of the template."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from gitops.cli.app import app
from gitops.repository.template import copy_template
from tests.docs.pages import ROOT, UPDATE

_ORDERS: Final = "namespaces/shop/orders"
_CANCELLED: Final = f"{_ORDERS}/order-cancelled"
_CREATED: Final = f"{_ORDERS}/order-created"
_EXAMPLE: Final = re.compile(r"(?<=## Example\n\n)(?:    .*\n)+")

Edit = Callable[[Path], None]


def _replaced(file: str, old: str, new: str) -> Edit:
    def edit(root: Path) -> None:
        text = (root / file).read_text("utf-8")
        assert old in text
        (root / file).write_text(text.replace(old, new), "utf-8")

    return edit


_FEWER: Final = _replaced(f"{_CANCELLED}.avsc", '"OUT_OF_STOCK", ', "")
_WIDER: Final = _replaced(
    f"{_CREATED}.avsc", '"quantity", "type": "int"', '"quantity", "type": "long"'
)
_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "REPLAY-R001": (_FEWER,),
    "REPLAY-R002": (_WIDER,),
    "REPLAY-R004": (_replaced(f"{_CREATED}.yaml", "order-created.avro", "order-create.avro"),),
    "REPLAY-R006": (
        _FEWER,
        _replaced(f"{_CANCELLED}.yaml", "version: 0}", "version: 0, maxFailures: 0.1}"),
    ),
    "REPLAY-R010": (
        _replaced(
            f"{_CREATED}.yaml", "order-created.avro}", "order-created.avro, sensitive: [custmerId]}"
        ),
    ),
    "REPLAY-R012": (_replaced(f"{_CANCELLED}.yaml", ", version: 0}", "}"),),
}


@pytest.mark.parametrize("rule", _EDITS)
def test_the_example_is_a_finding_of_a_replay(rule: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / "reference" / "rules" / f"{rule}.md"
    text = page.read_text("utf-8")
    copy_template(tmp_path)
    _run("apply", "--auto-approve", "--repo", str(tmp_path))
    for edit in _EDITS[rule]:
        edit(tmp_path)

    shown = _run("replay", "--engine", "local", "--repo", str(tmp_path))

    (found, *_) = [each for each in shown.split("\n\n") if f"  {rule} " in each]
    example = _EXAMPLE.search(text)
    assert example is not None
    if UPDATE:
        page.write_text(text[: example.start()] + f"{found}\n" + text[example.end() :], "utf-8")
    else:
        assert found.split() == example[0].split()


def _run(*args: str) -> str:
    done = CliRunner(env={"COLUMNS": "104", "NO_COLOR": "1"}).invoke(app, args)
    assert done.exit_code in (0, 1), done.output
    return done.output
