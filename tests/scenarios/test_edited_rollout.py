"""Who upgrades first once the offered edits are made is who upgrades first after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.acme_repository import ADDRESS, add, folder_of, retype
from tests.support.command_line import captured
from tests.support.situations import SITUATIONS, Situation, build

if TYPE_CHECKING:
    from pathlib import Path

_WITH_EDIT = " (with the edit)"
_CAPTURED = f"{folder_of('payments/captured')}.avsc"


def _use_the_file(files: dict[str, str]) -> None:
    """A client declares the definition that is refused, as the report advises."""
    old = "captured, subscription: data-lake, schema: {version: 0}"
    new = f"captured, subscription: data-lake, schema: {{definition: ../{_CAPTURED}}}"
    assert old in files["clients/data-lake.yaml"]
    files["clients/data-lake.yaml"] = files["clients/data-lake.yaml"].replace(old, new)


def _lengthen_floor(files: dict[str, str]) -> None:
    files[ADDRESS] = files[ADDRESS].replace('"floor", "type": "int"', '"floor", "type": "long"')


_OTHERS = (
    Situation(
        name="client-of-the-file",
        title="a change",
        edits=(add(_CAPTURED, "iban", "string"), _use_the_file),
    ),
    Situation(
        name="undone",
        title="a change",
        edits=(retype("orders/order-changed", "quantity", "string"),),
    ),
)
_CHANGES_OTHERS = Situation(
    name="changes-others",
    title="a change",
    before=(add(ADDRESS, "floor", "int"),),
    edits=(_lengthen_floor,),
)


def test_edits_that_change_what_is_accepted_leave_the_order_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path / "it", _CHANGES_OTHERS)
    monkeypatch.chdir(tmp_path / "it")

    firsts = [first for _, first in _firsts(_comment())]

    assert "not known yet" in firsts
    assert "consumers: " in str(firsts)
    assert _WITH_EDIT not in str(firsts)


@pytest.mark.parametrize(
    "name",
    ["breaking", "mixed", "rename", "shared-type-bad", "client-of-the-file", "undone"],
)
def test_what_is_said_with_the_edits_is_said_after_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (situation,) = (one for one in (*SITUATIONS, *_OTHERS) if one.name == name)
    build(tmp_path / name, situation)
    monkeypatch.chdir(tmp_path / name)

    before = _comment()
    captured("check", "--base", "main", "--fix")
    after = _comment()

    promised = {topic: first for topic, first in _firsts(before) if first.endswith(_WITH_EDIT)}
    firsts = dict(_firsts(after))
    assert promised
    assert "refused" not in after
    for topic, first in promised.items():  # a change that is undone has no row
        assert first.removesuffix(_WITH_EDIT) == firsts.get(topic, "nobody")
    # Below a refusal, a rollout in which nobody has to wait is left out.
    assert _steps(before) in ([], _steps(after))


def _comment() -> str:
    return captured("check", "--base", "main", "--format", "markdown").out


def _firsts(comment: str) -> list[tuple[str, str]]:
    """Each topic of the table, and its last cell."""
    rows = [line.split(" | ") for line in comment.splitlines() if line.startswith("| `acme/")]
    return [(row[0].strip("|` "), row[-1].removesuffix(" |")) for row in rows if len(row) > 2]


def _steps(comment: str) -> list[str]:
    lines = comment.splitlines()
    return [line.removesuffix("<br>") for line in lines if line.startswith("- [ ] ")]
