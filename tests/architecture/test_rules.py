"""Every rule has a page, and tests that break it and that do not."""

from __future__ import annotations

import importlib
from typing import Final

import pytest

from gitops.model.rules import RULES
from tests.architecture.finding_functions import decides, source_with_row
from tests.architecture.rule_marks import MarkedTest, marked_tests, marks_in
from tests.support.case_files import CASES, cases
from tests.support.project_files import ROOT, project_files

_PAGES: Final = ROOT / "docs" / "reference" / "rules"
_MODULES: Final = {
    path.relative_to(ROOT / "gitops").as_posix() for path in project_files("gitops/**.py")
}
_OF_FILES: Final = [rule for rule in RULES if (CASES / rule).is_dir()]
"""The rules that files alone can break; others need a registry, a day, or two commits."""


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_called_by_its_id(rule: str) -> None:
    assert RULES[rule].id == rule
    assert RULES[rule].title
    assert not RULES[rule].title.endswith(".")


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_page_with_its_title(rule: str) -> None:
    page = _PAGES / f"{rule}.md"

    assert page.is_file(), f"write docs/reference/rules/{rule}.md"
    assert page.read_text(encoding="utf-8").startswith(f"# {rule}: {RULES[rule].title}\n")


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_names_the_function_that_decides_about_it(rule: str) -> None:
    path, function = _split(RULES[rule].found_by)
    module = importlib.import_module(f"gitops.{path.replace('/', '.')}")
    constants = {name for name, value in vars(module).items() if _holds(value, rule)}

    source = source_with_row(ROOT / "gitops" / f"{path}.py")
    assert decides(source, function, rule, frozenset(constants)), (
        f"{RULES[rule].found_by} has no condition under which it makes a finding of {rule}"
    )


def _split(found_by: str) -> tuple[str, str]:
    """The module as a path below `gitops`, and the function in it."""
    parts = found_by.split(".")
    for end in range(len(parts), 0, -1):
        if "/".join(parts[:end]) + ".py" in _MODULES:
            return "/".join(parts[:end]), ".".join(parts[end:])
    raise AssertionError(f"there is no module for {found_by}")


def _holds(value: object, rule: str) -> bool:
    """Whether a constant of a module is the rule, is about it, or has it among its items."""
    if rule in (value, getattr(value, "rule", None)):
        return True
    return isinstance(value, dict | set | frozenset | tuple) and rule in value


_WORDS: Final = """
_WORDS = "X-R001"
_TABLE = {"some": row}

def words(thing):
    return make_finding("X-R001", "wrong" if thing else "bad")

def other(thing):
    if thing.rule == "X-R001":
        thing.count()

def constant(thing):
    if thing:
        return make_finding(_WORDS, thing)

def each(things):
    return [words(one) for one in things]

def guarded(thing):
    if not thing:
        return None
    return words(thing)

def mapped(things):
    return map(words, things)

def row(thing):
    return make_finding("X-R001", thing)
"""


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("words", False),
        ("other", False),
        ("constant", True),
        ("each", True),
        ("guarded", True),
        ("mapped", True),
        ("row", True),
    ],
)
def test_a_function_that_only_words_a_finding_does_not_decide(
    function: str, *, expected: bool
) -> None:
    assert decides(_WORDS, function, "X-R001", frozenset({"_WORDS"})) is expected


def test_every_page_is_about_a_rule() -> None:
    pages = {page.stem for page in _PAGES.glob("*.md")} - {"README"}

    assert pages == set(RULES)


@pytest.mark.parametrize("rule", _OF_FILES)
def test_every_rule_about_files_has_a_case_that_breaks_it_and_one_that_does_not(rule: str) -> None:
    of_rule = [case for case in cases("expected.txt") if case.rule == rule]
    breaking = [case for case in of_rule if rule in case.expected]
    keeping = [case for case in of_rule if rule not in case.expected]

    assert breaking, f"tests/cases/{rule} has no case that breaks it"
    assert keeping, f"tests/cases/{rule} has no case that keeps it"


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in _OF_FILES])
def test_every_other_rule_has_a_test_that_is_marked_with_it(rule: str) -> None:
    tests = [test for test in marked_tests() if test.rule == rule]

    assert tests, (
        f"no case in tests/cases/{rule}, and no test with @pytest.mark.rule({rule!r}) breaks {rule}"
    )
    silent = [test.name for test in tests if not test.names_rule]
    assert not silent, f"marked with {rule}, which nothing beside the mark names: {silent}"


def test_every_folder_of_cases_is_about_a_rule() -> None:
    assert {folder.name for folder in CASES.iterdir() if folder.is_dir()} <= set(RULES)


def test_every_mark_names_a_rule() -> None:
    assert {test.rule for test in marked_tests()} <= set(RULES)


def test_a_mark_is_found_on_a_test_that_names_its_rule_otherwise_too() -> None:
    source = """
@pytest.mark.parametrize("n", [1])
@pytest.mark.rule("PLAN-R001")
@pytest.mark.rule("PLAN-R002")
def test_a(n):
    \"\"\"A plan with PLAN-R002.\"\"\"
    assert found(n).rule == "PLAN-R001"

@pytest.mark.rule("PLAN-R003")
def not_collected(): ...
"""
    assert marks_in("test_x.py", source) == [
        MarkedTest("PLAN-R001", "test_x.py::test_a", names_rule=True),
        MarkedTest("PLAN-R002", "test_x.py::test_a", names_rule=False),
    ]
