"""Plan files: what is none, what was changed, and everything that the published schema refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.errors import StalePlanError, UsageError
from gitops.planning.plan_document import digest, to_document
from gitops.planning.reviewed_plan import resume, scope_of
from gitops.repository.plan_file import parse_plan, read_plans
from tests.support.plans import EVERYTHING

Document = dict[str, Any]


def _text(document: object) -> str:
    return json.dumps(document, indent=2)


@pytest.mark.parametrize(
    "content", [None, [], "Plan", {}, {"kind": "Findings"}, {"kind": ["Plan"]}]
)
def test_what_is_not_a_plan_file_is_refused(content: object) -> None:
    with pytest.raises(UsageError, match=r"plan\.json is not a plan file") as raised:
        parse_plan(_text(content), "plan.json")

    assert "plan --out" in raised.value.hint


def test_a_plan_file_with_a_byte_order_mark_is_told_as_that(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(_text(to_document(EVERYTHING)), "utf-8-sig")

    with pytest.raises(UsageError, match="begins with a byte order mark") as raised:
        read_plans(file)

    assert "without BOM" in raised.value.hint


@pytest.mark.parametrize("change", [{"prune": False}, {"digest": f"sha256:{'0' * 64}"}])
def test_a_plan_that_was_changed_is_refused(change: Document) -> None:
    with pytest.raises(UsageError, match="was changed after it was written"):
        parse_plan(_text({**to_document(EVERYTHING), **change}), "plan.json")


def test_a_plan_file_is_taken_as_it_was_written(tmp_path: Path) -> None:
    document = to_document(EVERYTHING)
    file = tmp_path / "plan.json"
    file.write_text(_text(document))

    assert read_plans(file) == (document,)


def _change(path: str, value: object) -> Callable[[Document], None]:
    def change(document: Any) -> None:  # noqa: ANN401 - JSON
        *inside, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        for part in inside:
            document = document[part]
        document[last] = value

    return change


@pytest.mark.parametrize(
    ("harm", "line", "what", "hint"),
    [
        (
            _change("apiVersion", "pulsar-gitops/v2"),
            '"apiVersion": ',
            'apiVersion must be "pulsar-gitops/v1", not "pulsar-gitops/v2"',
            "",
        ),
        (_change("prune", "yes"), '"prune": ', "prune must be true or false, not text", ""),
        (_change("registry.adress", "x"), '"adress": ', "unknown member 'adress'", "address"),
        (
            _change("actions.0.action", "Drop"),
            '"action": "Drop"',
            'unknown value "Drop" for actions[0].action',
            "CreateNamespace",
        ),
        (lambda plan: plan.pop("observed"), "{", "missing member 'observed'", ""),
        (_change("files", "sha1:0"), '"files": ', 'files is not valid: "sha1:0"', ""),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    harm: Callable[[Document], None], line: str, what: str, hint: str
) -> None:
    document = json.loads(_text(to_document(EVERYTHING)))
    harm(document)
    document["digest"] = digest(document)
    text = _text(document)

    with pytest.raises(UsageError) as raised:
        parse_plan(text, "plan.json")

    file, number, _ = raised.value.where.split(":")
    assert file == "plan.json"
    assert text.splitlines()[int(number) - 1].strip().startswith(line)
    assert what in raised.value.what
    assert hint in raised.value.hint
    assert "make a new plan" in raised.value.hint


def test_the_first_of_several_problems_is_said_and_how_many_there_are() -> None:
    document = {**to_document(EVERYTHING), "prune": 1, "expected": [], "actions": [None, {}]}

    with pytest.raises(UsageError) as raised:
        parse_plan(_text(document), "plan.json")

    assert "prune must be true or false, not a number, and 3 more problems" in raised.value.what


_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=3),
    st.lists(st.none() | st.integers() | st.lists(st.text())),
    st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.lists(st.integers())),
)
_NAMES = st.sampled_from([name for name in to_document(EVERYTHING) if name != "digest"])


@pytest.mark.slow
@given(st.dictionaries(_NAMES, _JUNK), st.sets(_NAMES))
def test_no_document_with_the_right_digest_makes_a_traceback(
    changed: dict[str, Any], left_out: set[str]
) -> None:
    document = {**to_document(EVERYTHING), **changed}
    document = {name: value for name, value in document.items() if name not in left_out}
    document["digest"] = digest(document)

    try:
        checked = parse_plan(_text(document), "plan.json")
    except UsageError:
        assert left_out | set(changed)
        return
    assert not left_out
    try:
        scope_of(checked)
        resume(checked, EVERYTHING)
    except (StalePlanError, UsageError):
        assert changed
