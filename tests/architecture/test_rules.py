"""Every rule has a page, and tests that break it and that do not."""

from __future__ import annotations

from typing import Final

import pytest

from gitops.model.rules import RULES
from tests.architecture.tree import ROOT
from tests.support.case_files import CASES, cases

_PAGES: Final = ROOT / "docs" / "reference" / "rules"
_PLANNING: Final = ROOT / "tests" / "unit" / "planning"

_PLAN_TESTS: Final = {
    "PLAN-R001": "test_topics.py::test_a_refusal_without_a_part_to_blame_stands_at_the_definition",
    "PLAN-R002": "test_topics.py::test_a_history_that_cannot_be_read_refuses_a_change",
    "PLAN-R003": "test_make.py::test_every_kind_of_notice_is_said_and_found",
    "PLAN-R004": "test_guards.py::test_the_share_of_topics_that_change",
    "PLAN-R005": "test_guards.py::test_each_deletion_is_named_unless_deletions_are_allowed",
    "PLAN-R006": "test_make.py::test_a_missing_tenant_is_found",
    "PLAN-R007": "test_make.py::test_every_kind_of_notice_is_said_and_found",
    "PLAN-R008": "test_make.py::test_policies_of_a_topic_that_does_not_exist_are_found",
    "PLAN-R009": "test_loosening.py::test_a_topic_that_is_open_for_no_known_reason_is_told_of",
    "PLAN-R010": "test_drift.py::test_a_latest_version_that_no_commit_declared",
    "WAIVER-R001": "test_waiver_findings.py::test_the_last_day_is_over",
    "WAIVER-R002": "test_waiver_findings.py::test_the_last_day_is_near",
    "WAIVER-R003": "test_waiver_findings.py::test_nothing_needs_it",
    "WAIVER-R004": "test_waiver_findings.py::test_what_is_refused_is_another_change",
    "WAIVER-R007": "test_waiver_findings.py::test_what_no_waiver_can_let_pass",
}
"""Where a rule is broken and kept that needs a registry or a day, so that folders do not do."""


_CHANGE: Final = "../usecases/test_change_guards.py"
_CHECK_TESTS: Final = {
    "CHECK-R001": f"{_CHANGE}::test_a_manifest_that_is_gone",
    "CHECK-R002": f"{_CHANGE}::test_a_topic_by_another_name",
    "CHECK-R003": f"{_CHANGE}::test_a_policy_that_lets_more_through",
    "CHECK-R004": f"{_CHANGE}::test_what_only_the_new_policy_lets_in",
    "CHECK-R005": f"{_CHANGE}::test_the_share_of_topics_that_a_change_alters",
    "CHECK-R006": f"{_CHANGE}::test_limits_that_are_weakened",
    "CHECK-R007": f"{_CHANGE}::test_history_that_is_edited",
    "CHECK-R008": "test_sample_guards.py::test_a_limit_that_is_raised",
}
"""The same for rules about changes, which need two versions of the files."""

_ROLLOUT: Final = "../usecases/test_rollouts.py"
_CLIENT_TESTS: Final = {
    "CLIENT-R001": f"{_ROLLOUT}::test_a_pin_to_nothing",
    "CLIENT-R002": f"{_ROLLOUT}::test_a_client_that_the_broker_would_not_let_in",
    "CLIENT-R003": f"{_ROLLOUT}::test_the_second_side_before_the_first",
    "CLIENT-R004": f"{_ROLLOUT}::test_two_that_wait_for_each_other",
    "CLIENT-R005": f"{_ROLLOUT}::test_a_topic_that_goes_while_it_is_used",
    "CLIENT-R006": f"{_ROLLOUT}::test_a_client_that_is_behind",
    "CLIENT-R008": f"{_ROLLOUT}::test_who_would_stop_at_retained_messages",
    "CLIENT-R009": "../usecases/test_rollout_findings.py::test_what_does_not_work_as_it_is",
    "CLIENT-R007": "test_kinds.py::test_both_directions_of_a_kind_are_told",
}
"""The same for rules about the clients of a change."""

_REPLAY: Final = "../usecases/test_replay_findings.py"
_REPLAY_TESTS: Final = {
    "REPLAY-R001": f"{_REPLAY}::test_failures_that_count",
    "REPLAY-R002": f"{_REPLAY}::test_failures_that_do_not_count",
    "REPLAY-R003": f"{_REPLAY}::test_messages_that_nobody_was_asked_about",
    "REPLAY-R004": f"{_REPLAY}::test_a_sample_that_is_not_there",
    "REPLAY-R005": f"{_REPLAY}::test_a_named_topic_without_samples",
    "REPLAY-R006": f"{_REPLAY}::test_failures_within_the_limit_of_their_sample",
    "REPLAY-R007": f"{_REPLAY}::test_values_that_change",
    "REPLAY-R008": f"{_REPLAY}::test_an_interruption",
    "REPLAY-R010": f"{_REPLAY}::test_a_sensitive_field_that_no_definition_has",
    "REPLAY-R011": f"{_REPLAY}::test_files_that_two_samples_read_otherwise",
    "REPLAY-R012": f"{_REPLAY}::test_a_sample_of_which_nothing_was_replayed",
    "REPLAY-R009": "../cli/test_check_replay.py::test_a_change_does_not_decide_what_is_fetched",
}
"""The same for rules about messages, which a runner reads."""

_TESTS: Final = _PLAN_TESTS | _CHECK_TESTS | _CLIENT_TESTS | _REPLAY_TESTS
_OF_PLANS: Final = [rule for rule in RULES if rule.startswith("PLAN-") or rule in _TESTS]


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


def test_every_page_is_about_a_rule() -> None:
    pages = {page.stem for page in _PAGES.glob("*.md")} - {"README"}

    assert pages == set(RULES)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in _OF_PLANS])
def test_every_rule_about_files_has_a_case_that_breaks_it_and_one_that_does_not(rule: str) -> None:
    of_rule = [case for case in cases("expected.txt") if case.rule == rule]
    breaking = [case for case in of_rule if rule in case.expected]
    keeping = [case for case in of_rule if rule not in case.expected]

    assert breaking, f"tests/cases/{rule} has no case that breaks it"
    assert keeping, f"tests/cases/{rule} has no case that keeps it"


def test_every_folder_of_cases_is_about_a_rule() -> None:
    assert {folder.name for folder in CASES.iterdir() if folder.is_dir()} <= set(RULES)


@pytest.mark.parametrize("rule", _OF_PLANS)
def test_every_rule_about_plans_and_changes_has_a_test_that_says_its_id(rule: str) -> None:
    assert rule in _TESTS, f"say in this table which test breaks {rule}"
    module, _, name = _TESTS[rule].partition("::")

    source = (_PLANNING / module).read_text(encoding="utf-8")

    _, found, body = source.partition(f"def {name}(")
    assert found, f"there is no {_TESTS[rule]}"
    assert rule in body.partition("\ndef ")[0]


def test_the_table_names_no_rule_that_is_gone() -> None:
    assert set(_TESTS) <= set(RULES)
