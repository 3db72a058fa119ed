"""The cases below tests/cases with two versions of a `.proto` file, and what is said."""

from __future__ import annotations

from functools import cache

import pytest

from gitops.broker.cases import history_of
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import register
from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import RULES
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.proto_positions import ProtoPositions
from gitops.schemas.review import changes_of_all
from gitops.schemas.row import Remark
from tests.support.case_files import Case, cases
from tests.support.protos import native, sources

_CASES = cases("new.proto")
_RULES = [rule for rule in RULES if rule.startswith("PROTO-")]


@pytest.mark.slow
@pytest.mark.parametrize("case", _CASES, ids=str)
def test_a_change_has_the_remarks_expected_of_it(case: Case) -> None:
    places = tuple(ProtoPositions(sources(_files(case, side)), f"{side}.proto") for side in _SIDES)

    shown = "".join(_shown(remark, places) for remark in _remarks(case))

    assert shown == case.expected


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_a_case_is_about_the_rule_of_its_folder(case: Case) -> None:
    found = {remark.rule for remark in _remarks(case)}

    assert (case.rule in found) != case.name.startswith("good")


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_the_broker_takes_the_change(case: Case) -> None:
    old, new = _compiled(case)

    assert register(history_of([old]), new, _strategy(case), PULSAR_4_0).accepted


@pytest.mark.parametrize("rule", _RULES)
def test_every_rule_has_a_case_that_breaks_it_and_one_that_does_not(rule: str) -> None:
    names = [case.name for case in _CASES if case.rule == rule]

    assert any(name.startswith("good") for name in names)
    assert not all(name.startswith("good") for name in names)


_SIDES = ("old", "new")


def _remarks(case: Case) -> tuple[Remark, ...]:
    old, new = (
        StoredSchema(type=SchemaType.PROTOBUF_NATIVE, data=info.schema.encode())
        for info in _compiled(case)
    )
    changes = changes_of_all(PULSAR_4_0.types, [(0, old)], new, _strategy(case))
    return tuple(remark for _, remark in changes)


def _strategy(case: Case) -> SchemaCompatibilityStrategy:
    return SchemaCompatibilityStrategy(case.text("strategy").strip())


@cache
def _compiled(case: Case) -> tuple[SchemaInfo, SchemaInfo]:
    old, new = (_info(case, side) for side in _SIDES)
    return old, new


def _info(case: Case, side: str) -> SchemaInfo:
    root = case.text("message").strip()
    return native(_files(case, side), f"{side}.proto", root)


def _files(case: Case, side: str) -> dict[str, bytes]:
    """One side alone: both define the same messages."""
    name = f"{side}.proto"
    return {name: case.text(name).encode()}


def _shown(remark: Remark, places: tuple[ProtoPositions, ...]) -> str:
    rule = RULES[remark.rule]
    severity = (rule.highest_severity if remark.breaks_promise else rule.severity).name.lower()
    old, new = places
    head = f"{new.at_pointer(remark.pointer)} {remark.rule} {severity} at '{remark.path}': "
    compare = f"    compare {old.at_pointer(remark.old_pointer or '')}\n"
    hint = f"    {remark.hint}\n" if remark.hint else ""
    return f"{head}{remark.message}\n{compare}{hint}"
