"""Every rule about a change has its mirror: the rule that the change back meets, or a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from gitops.model.rules import RULES
from gitops.usecases.compat import compare_files
from tests.support.case_files import Case, cases

_MIRRORED: Final = {"BACKWARD": "FORWARD", "FORWARD": "BACKWARD", "FULL": "FULL"}
_ABOUT_ONE_SCHEMA: Final = (
    *("REPO-", "PLAN-", "CHECK-", "CLIENT-", "WAIVER-", "REPLAY-", "AUDIT-"),
    *("AVRO-P", "JSON-P", "KV-P", "KV-W003", "KV-W004", "AVRO-W011", "AVRO-W02"),
    "EXTERNAL-",
)
_MIRRORS: Final = {
    "AVRO-W001": "AVRO-W002",
    "AVRO-W002": "AVRO-W001",
    **{rule: rule for rule in ("AVRO-W003", "AVRO-W004", "AVRO-W005", "AVRO-W006", "AVRO-W007")},
    **{rule: rule for rule in ("AVRO-W008", "AVRO-W009", "AVRO-W010")},
    **{rule: rule for rule in ("AVRO-W012", "AVRO-W013", "AVRO-W014")},
    **{rule: rule for rule in ("KV-W001", "KV-W002", "KV-W005")},
    "PROTOBUF-W001": "PROTOBUF-W001",
    **{f"PROTO-W{number:03}": f"PROTO-W{number:03}" for number in (*range(2, 9), 10, 11)},
}
"""A change that a rule warns of, made backwards under FULL, meets this rule."""

_WITHOUT: Final = {
    "PROTO-W001": "readers skip a field that they do not know",
    "PROTO-W009": "readers keep the number of a value that they do not know",
}
"""Rules without a mirror, and why the change back harms nobody."""

_RESOLUTION: Final = [
    case
    for case in cases("old.avsc")
    if case.rule.startswith("AVRO-R") and case.text("strategy").strip() in _MIRRORED
]


def _rules(old: Path, new: Path, strategy: str, schema_type: str | None = None) -> set[str]:
    return {one.rule for one in compare_files([old, new], strategy, schema_type).findings}


@pytest.mark.parametrize("case", _RESOLUTION, ids=str)
def test_a_refusal_depends_on_reader_and_writer_and_not_on_old_and_new(
    case: Case, tmp_path: Path
) -> None:
    strategy = case.text("strategy").strip()
    folder = case.write(tmp_path)
    old, new = folder / "old.avsc", folder / "new.avsc"

    there = {rule for rule in _rules(old, new, strategy) if rule.startswith("AVRO-R")}
    back = {rule for rule in _rules(new, old, _MIRRORED[strategy]) if rule.startswith("AVRO-R")}

    assert there == back


@pytest.mark.slow
@pytest.mark.parametrize("rule", _MIRRORS)
def test_the_change_back_meets_the_mirror(rule: str, tmp_path: Path) -> None:
    assert _MIRRORS[rule] in _rules_of_the_change_back(rule, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("rule", _WITHOUT)
def test_the_change_back_of_a_rule_without_a_mirror_harms_nobody(rule: str, tmp_path: Path) -> None:
    assert _rules_of_the_change_back(rule, tmp_path) == set()


def _rules_of_the_change_back(rule: str, folder: Path) -> set[str]:
    (case,) = (case for case in cases("strategy") if str(case) == f"{rule}/example")
    example = case.write(folder)
    (old,), (new,) = example.glob("old.*"), example.glob("new.*")
    schema_type = case.text("type").strip() if "type" in case.files else None
    return _rules(new, old, "FULL", schema_type)


def test_no_rule_is_without_a_mirror_or_a_reason() -> None:
    about_changes = {rule for rule in RULES if not rule.startswith(_ABOUT_ONE_SCHEMA)}
    resolution = {rule for rule in about_changes if rule.startswith("AVRO-R")}

    lacking = about_changes - resolution - {*_MIRRORS, *_WITHOUT}
    assert not lacking, f"put {sorted(lacking)} into _MIRRORS or, with a reason, into _WITHOUT"
    assert {*_MIRRORS, *_WITHOUT} <= about_changes
    assert resolution == {case.rule for case in _RESOLUTION}
