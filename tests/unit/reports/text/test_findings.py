"""Findings in a terminal: nothing lost, nothing raw, carets under the place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from gitops.model.findings import Finding, Location, Severity
from gitops.model.rules import RULES, make_finding
from gitops.reports.text.findings import count_line, finding_block, findings_report
from tests.support.consoles import shown, unwrapped
from tests.support.examples import examples

_LINE = "schemaCompatibilityStrategy: BACKWARDS"


def _at(column: int, length: int = 1, *, sensitive: bool = False) -> Finding:
    place = Location(
        file="namespace.yaml", line=4, column=column, length=length, sensitive=sensitive
    )
    return make_finding("REPO-R011", "unknown value", location=place, hint="did you mean BACKWARD?")


def test_a_finding_looks_as_it_should() -> None:
    assert shown(finding_block(_at(30, 9), lambda _where: _LINE)) == (
        "namespace.yaml:4:30  REPO-R011 error\n"
        "    unknown value\n"
        "    4 | schemaCompatibilityStrategy: BACKWARDS\n"
        "      |                              ^^^^^^^^^\n"
        "    did you mean BACKWARD?\n"
    )


def test_a_secret_is_never_shown() -> None:
    text = shown(finding_block(_at(1, sensitive=True), lambda _where: "token: abc"))

    assert "abc" not in text


def test_without_a_place_the_subject_stands_there() -> None:
    about = Finding(rule="X", severity=Severity.INFO, message="m", subject="shop/orders")
    nobody = Finding(rule="X", severity=Severity.INFO, message="m")
    whole_file = Finding(
        rule="X", severity=Severity.INFO, message="m", location=Location(file="a.yaml")
    )

    assert shown(finding_block(about, lambda _where: None)).startswith("shop/orders  X info\n")
    assert shown(finding_block(nobody, lambda _where: None)).startswith("repository  X info\n")
    assert shown(finding_block(whole_file, lambda _where: "no line")) == "a.yaml  X info\n    m\n"


@pytest.mark.parametrize(
    ("severities", "text"),
    [
        ([], "no findings"),
        ([Severity.ERROR], "1 error"),
        ([Severity.INFO, Severity.WARNING, Severity.INFO], "1 warning, 2 infos"),
        ([Severity.WARNING, Severity.ERROR, Severity.ERROR], "2 errors, 1 warning"),
    ],
)
def test_findings_are_counted(severities: list[Severity], text: str) -> None:
    found = [Finding(rule="X", severity=severity, message="m") for severity in severities]

    assert count_line(found).plain == text


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_every_rule_keeps_its_words(width: int) -> None:
    findings = [
        make_finding(
            rule.id, f"{rule.title} here", location=Location(file=f"{rule.id}.yaml"), hint="do"
        )
        for rule in RULES.values()
    ]

    text = shown(findings_report(findings, lambda _where: None), width)

    assert all(unwrapped(f"{rule.title} here") in unwrapped(text) for rule in RULES.values())
    assert max(map(cell_len, text.split("\n"))) <= width


# ------------------------------------------------------------------ carets


def _excerpt(line: str, column: int, length: int, width: int) -> tuple[str, str]:
    block = finding_block(_at(column, length), lambda _where: line)
    rows = [row for row in shown(block, width).split("\n") if row.startswith("    ")]
    code = next(row for row in rows if row.startswith("    4 | "))
    return code[8:], rows[rows.index(code) + 1][8:]


def _under(code: str, carets: str) -> str:
    """What stands above the carets, counted in cells."""
    first, last = len(carets) - len(carets.lstrip()), len(carets)
    found, cell = "", 0
    for char in code:
        if first <= cell < last:
            found += char
        cell += cell_len(char)
    return found


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("name: here", "here"),
        ("\tname:\there", "here"),
        ("名前: 漢字 here", "here"),
        ("名前: 漢字", "漢字"),
        ("é 🎉 here", "here"),
        (f"{'x' * 150} here", "here"),
        (f"{'x' * 150} here {'y' * 150}", "here"),
        (f"here {'y' * 300}", "here"),
        (f"{'漢' * 100} here {'字' * 100}", "here"),
    ],
)
@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_carets_stand_under_the_place(line: str, word: str, width: int) -> None:
    code, carets = _excerpt(line, line.index(word) + 1, len(word), width)

    assert _under(code, carets) == word
    assert cell_len(code) <= width - 8
    assert set(carets) <= {" ", "^"}


def test_what_is_cut_off_is_marked() -> None:
    code, _ = _excerpt(f"{'x' * 90}here{'y' * 90}", 91, 4, 60)

    assert code.startswith("… xxx")
    assert code.endswith("yyy …")


@pytest.mark.parametrize("place", [0, 150_000, 299_990])
def test_a_file_that_is_one_line_is_not_looked_through(place: int) -> None:
    line = f"{'x' * place}needle{'y' * (300_000 - place)}"

    code, carets = _excerpt(line, place + 1, 6, 80)

    assert _under(code, carets) == "needle"
    assert code.startswith("… ") is (place > 0)
    assert code.endswith(" …") is (place < 299_990)


def test_a_byte_order_mark_moves_no_caret() -> None:
    assert _excerpt("\ufeffname: here", 7, 4, 60) == ("name: here", "      ^^^^")


def test_a_place_behind_the_end_of_a_line_has_its_caret_there() -> None:
    code, carets = _excerpt("short", 99, 9, 60)

    assert (code, carets) == ("short", "     ^")


_TEXTS = st.text(
    st.sampled_from("ab \t\x1b\x00\u202e\u2066\u2028\u0301é漢🎉\ud800") | st.characters(),
    max_size=60,
)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(_TEXTS, st.integers(0, 80), st.integers(0, 80), st.sampled_from([24, 40, 100]))
def test_no_line_of_a_file_breaks_the_excerpt(
    line: str, column: int, length: int, width: int
) -> None:
    one_line = "".join(line.splitlines())

    text = shown(finding_block(_at(column, length), lambda _where: one_line), width)

    assert "^" in text
    assert text.encode()
    assert all(char.isprintable() or char.isspace() for char in text)
    assert not {"\x1b", "\u202e", "\u2066", "\t", "\x0b"} & set(text)


def test_an_excerpt_is_no_command_in_the_log_of_a_workflow() -> None:
    text = shown(finding_block(_at(3), lambda _where: "##[set-output name=verdict;]good"))

    assert "##·set-output" in text
