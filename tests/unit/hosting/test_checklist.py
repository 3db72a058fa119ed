"""Boxes that people ticked survive a new text of the comment."""

from __future__ import annotations

import time

import pytest

from gitops.hosting.checklist import keep_ticks

HEAD = "<!-- marker -->\n### ✓ good\n\n"
OLD = (
    f"{HEAD}#### Rollout\n\n- [x] 1. upgrade billing<br>\n      why\n- [X] 2. merge: registers v1\n"
)
NEW = OLD.replace("[x]", "[ ]").replace("[X]", "[ ]")


def test_a_step_stays_ticked_whatever_its_number_is() -> None:
    moved = NEW.replace("2. merge", "3. merge").replace("1. upgrade", "2. upgrade")
    moved = moved.replace("- [ ] 2. upgrade", "- [ ] 1. upgrade crm\n- [ ] 2. upgrade")

    kept = keep_ticks(OLD, moved)

    assert "- [ ] 1. upgrade crm\n- [x] 2. upgrade billing<br>\n" in kept
    assert "- [x] 3. merge: registers v1\n" in kept
    assert kept.replace("[x]", "[ ]") == moved


@pytest.mark.parametrize("what", ["the refused schemas", "the errors"])
def test_a_step_stays_ticked_while_the_change_has_errors_and_after(what: str) -> None:
    heading = f"#### Rollout, once {what} are fixed"
    with_errors = OLD.replace("#### Rollout", heading)

    assert keep_ticks(with_errors, NEW).count("[x]") == len("12")
    assert keep_ticks(OLD, NEW.replace("#### Rollout", heading)).count("[x]") == len("12")


def test_a_step_that_changed_is_to_be_done_again() -> None:
    assert keep_ticks(OLD, NEW.replace("billing", "crm")).count("[x]") == 1
    assert keep_ticks(OLD, NEW.replace("v1", "v2")).count("[x]") == 1


def test_what_is_below_a_step_may_change() -> None:
    assert keep_ticks(OLD, NEW.replace("      why\n", "")).count("[x]") == len("12")
    assert keep_ticks(OLD, NEW.replace("<br>\n      why", "")).count("[x]") == len("12")


def test_github_gives_a_text_back_with_other_line_ends() -> None:
    assert keep_ticks(OLD.replace("\n", "\r\n"), NEW) == OLD.replace("[X]", "[x]")


def test_of_two_registries_with_the_same_step_the_ticked_one_stays_ticked() -> None:
    step = "- [ ] 1. merge: registers v1\n"
    new = f"#### Rollout\n\n{step}{step}"
    old = f"#### Rollout\n\n{step}{step.replace('[ ]', '[x]')}"

    assert keep_ticks(old, new) == old


@pytest.mark.parametrize(
    "old",
    [
        OLD.replace("#### Rollout", "#### Findings"),
        OLD.replace("- [x]", "> - [x]").replace("- [X]", "    1. [X]"),
        OLD.replace("billing", "billing\x0b").replace("v1", "v1 <script>"),
        "#### Rollout\n" + "- [x] " * 20_000,
        "#### Rollout\n- [x]\n- [x] 1.\n- [xx] 1. upgrade billing\n-  [x] 1. upgrade billing\n",
        "",
    ],
)
def test_nothing_else_of_an_old_text_comes_over(old: str) -> None:
    started = time.perf_counter()
    assert keep_ticks(old, NEW) == NEW
    assert time.perf_counter() - started < 1


def test_what_looks_like_a_box_elsewhere_is_left_alone() -> None:
    """A fix for a YAML file, or a list below another heading."""
    elsewhere = "```yaml\n- [ ] 1. upgrade billing\n```\n\n"
    new = f"{HEAD}{elsewhere}#### Rollout\n\n#### Findings\n\n- [ ] 1. upgrade billing\n"

    assert keep_ticks(OLD, new) == new
