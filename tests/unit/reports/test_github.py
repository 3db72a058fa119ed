"""Workflow commands: what GitHub shows of them, and that no text makes one."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.model.check import CheckReport
from gitops.model.findings import Finding, Location, Severity
from gitops.model.rules import make_finding
from gitops.reports.github import assignments, github, outputs
from tests.support.checks import CHECK, EMPTY, REFUSAL, REVERT, UNKNOWN_KEY, WAIVED
from tests.support.examples import examples
from tests.support.hostile_texts import PIECES, TEXTS, poisoned
from tests.support.runner import commands


def _of(*findings: Finding, command: str = "pulsar-gitops validate") -> CheckReport:
    return replace(EMPTY, findings=findings, command=command)


def test_a_finding_is_shown_on_its_line() -> None:
    assert github(_of(UNKNOWN_KEY)) == (
        "::error file=namespaces/shop/orders/namespace.yaml,line=4,endLine=4,col=30,endColumn=39,"
        "title=REPO-R011 namespaces/shop/orders/namespace.yaml"
        "::unknown value 'BACKWARDS' for schemaCompatibilityStrategy%0Adid you mean BACKWARD?\n"
    )


def test_a_line_of_the_base_stands_in_the_text() -> None:
    where = Location(file="a.yaml", line=3, column=2, in_base=True)
    (shown,) = commands(github(_of(replace(UNKNOWN_KEY, location=where))))

    assert shown.data.endswith("\nLine 3 of the base.\ndid you mean BACKWARD?")


def test_a_patch_is_in_the_text() -> None:
    (shown,) = commands(github(_of(replace(REFUSAL, hint=""))))

    assert shown.data.endswith(
        '\n- {"name": "currency", "type": "string"}'
        '\n+ {"name": "currency", "type": ["null", "string"], "default": null}'
    )


def test_paths_count_from_the_git_root() -> None:
    (shown,) = commands(github(_of(UNKNOWN_KEY), "events/schemas/"))

    assert shown.properties["file"] == "events/schemas/namespaces/shop/orders/namespace.yaml"


@pytest.mark.parametrize(
    ("where", "given"),
    [
        (None, {}),
        (Location(file="a.yaml"), {"file": "a.yaml"}),
        (Location(file="a.yaml", line=3, column=2, in_base=True), {"file": "a.yaml"}),
        (Location(file="a.yaml", line=3), {"file": "a.yaml", "line": "3", "endLine": "3"}),
        (
            Location(file="a:b,c%.yaml", line=3, column=2, length=0),
            {"file": "a:b,c%.yaml", "line": "3", "endLine": "3", "col": "2", "endColumn": "3"},
        ),
    ],
)
def test_a_place_has_as_much_as_is_known(where: Location | None, given: dict[str, str]) -> None:
    (shown,) = commands(github(_of(replace(UNKNOWN_KEY, location=where, subject="shop"))))

    assert shown.properties == {**given, "title": "REPO-R011 shop"}


def test_the_worst_come_first_and_every_level_has_its_command() -> None:
    note = replace(REVERT, severity=Severity.INFO, message="fine")

    shown = commands(github(_of(note, REVERT, UNKNOWN_KEY)))

    assert [each.name for each in shown] == ["error", "warning", "notice"]


def test_a_waived_schema_is_a_warning_where_it_breaks() -> None:
    (shown,) = commands(github(WAIVED))

    assert shown.name == "warning"
    assert shown.properties["file"] == "namespaces/shop/payments/captured.avsc"
    assert shown.properties["title"] == "waived: shop/payments/captured on production"
    assert shown.data == (
        "Pulsar would refuse it under FULL; the waiver captured-currency allows it"
    )
    assert outputs(WAIVED)["verdict"] == "waived"


def test_a_registry_without_an_answer_is_an_error() -> None:
    (shown,) = commands(github(replace(EMPTY, failures={"dr": "no answer"})))

    assert (shown.name, shown.properties, shown.data) == (
        "error",
        {"title": "no answer: dr"},
        "no answer",
    )


@pytest.mark.slow
@pytest.mark.parametrize(("number", "shown", "held"), [(10, 10, 0), (11, 9, 2), (10_000, 9, 9991)])
def test_what_github_would_drop_is_counted(number: int, shown: int, held: int) -> None:
    findings = [replace(UNKNOWN_KEY, message=f"{each:05}") for each in range(number)]
    findings += [replace(each, severity=Severity.WARNING, rule="X") for each in findings[:2]]

    *errors, _first, _second = commands(github(_of(*findings)))

    assert {each.name for each in errors} == {"error"}
    assert len(errors) == 10
    assert [each.data[:5] for each in errors[:shown]] == [f"{each:05}" for each in range(shown)]
    if held:
        assert errors[-1].properties == {"title": f"{held:,} more errors held back"}
        assert "`pulsar-gitops validate` shows all" in errors[-1].data


@pytest.mark.slow
def test_no_number_of_trivial_findings_holds_back_why_a_schema_is_refused() -> None:
    trivial = [replace(UNKNOWN_KEY, message=f"{each:05}") for each in range(10_000)]
    mere = [replace(each, severity=Severity.WARNING, rule="X") for each in trivial]
    report = replace(
        CHECK,
        registries=(*CHECK.registries, *WAIVED.registries),
        findings=(*trivial, *mere),
        failures={"a": ""},
    )

    shown = commands(github(report))

    assert [each.name for each in shown] == ["error"] * 10 + ["warning"] * 10
    assert [each.properties["title"] for each in shown[:2]] == [
        "no answer: a",
        "AVRO-R002 shop/payments/captured on production, staging",
    ]
    assert shown[10].properties["title"] == "waived: shop/payments/captured on production"
    assert shown[9].properties["title"] == "9,994 more errors held back"
    assert shown[19].properties["title"] == "9,993 more warnings held back"


def test_a_very_long_text_is_cut() -> None:
    long = replace(UNKNOWN_KEY, message="m" * 100_000, hint="h" * 100_000, subject="s" * 100_000)

    assert len(github(_of(long))) < 5000


@pytest.mark.parametrize("piece", PIECES)
def test_no_piece_makes_a_command(piece: str) -> None:
    texts = (f"{piece}{number}{piece}" for number in itertools.count())

    _check(poisoned(CHECK, texts))


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=7))
def test_no_text_makes_a_command(texts: list[str]) -> None:
    _check(poisoned(CHECK, itertools.cycle(texts)))


def _check(report: CheckReport) -> None:
    text = github(report)
    shown = commands(text)
    allowed = {"file", "line", "endLine", "col", "endColumn", "title"}

    assert len(shown) == len(text.splitlines()) == text.count("\n")
    assert {each.name for each in shown} <= {"error", "warning", "notice"}
    assert all(set(each.properties) <= allowed for each in shown)
    assert "##[" not in text
    # No value of a property may be missing: it would hide where the finding is.
    assert all(each.properties["title"] for each in shown)


def test_later_steps_get_values() -> None:
    values = outputs(CHECK)

    assert {key: values[key] for key in ("verdict", "errors", "warnings", "changes", "digest")} == {
        "verdict": "refused",
        "errors": "3",
        "warnings": "1",
        "changes": "5",
        "digest": "",
    }
    assert sorted(json.loads(values["digests"])) == ["production", "staging"]


def test_the_digest_of_one_plan_stands_alone() -> None:
    values = outputs(replace(CHECK, registries=CHECK.registries[:1]))

    assert values["digest"].startswith("sha256:")
    assert json.loads(values["digests"]) == {"production": values["digest"]}
    assert outputs(EMPTY)["digests"] == "{}"


def test_values_are_written_as_the_runner_reads_them() -> None:
    text = assignments({"verdict": "good", "errors": "0"}, "end")

    assert text == "verdict<<end\ngood\nend\nerrors<<end\n0\nend\n"
    with pytest.raises(ValueError, match="delimiter"):
        assignments({"verdict": "the end"}, "end")


@pytest.mark.parametrize("piece", PIECES)
def test_each_value_is_one_line(piece: str) -> None:
    texts = (f"{piece}{number}" for number in itertools.count())

    assert all("\n" not in each for each in outputs(poisoned(CHECK, texts)).values())


def test_what_has_one_cause_is_counted_once() -> None:
    place = Location(file="types/a.avsc", line=3)
    same = [
        replace(make_finding("AVRO-R001", f"{name} fails", location=place, subject=name), cause="x")
        for name in ("a", "b")
    ]

    assert outputs(replace(EMPTY, findings=tuple(same)))["errors"] == "1"
