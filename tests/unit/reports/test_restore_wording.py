"""A restore in words, in a terminal and as Markdown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from gitops.model.apply_result import Result
from gitops.model.errors import OutsideError
from gitops.model.plan import DeleteSchema, RegisterSchema, SetPolicy
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.restore import RestoreCheck
from gitops.reports.markdown.restore import restore_markdown
from gitops.reports.operation_results import RestoreResult
from gitops.reports.restore_wording import verdict_text, versions_text
from gitops.reports.text.restore import restore_text
from tests.support.restores import CHECK, OBSTACLES, WORK

PLANNED = """\
✓ can be restored: 3 versions of 3 topics
rehearsal · rehearsal.db · snapshot of production of Pulsar 4.0.7, taken 2026-11-24T08:00:00Z ·
2 namespaces · 4 topics, 1 already there

+ shop/orders/created   v0 to v1
+ shop/orders/deleted   2 deletions in place of v0 to v1
+ shop/payments/paid    v1 after 1 deletion in place of v0
~ shop/orders           schemaCompatibilityStrategy – → FULL; isAllowAutoUpdateSchema – → true

also as recorded: 2 namespaces
while versions are registered, every strategy accepts them and no producer can register one: 2
  policies set back at the end
"""

REFUSED = """\
✗ refused: rehearsal cannot have what was recorded, because of 1 subject
rehearsal · rehearsal.db · snapshot of production · 1 namespace · 2 topics, 1 already there

✗ shop/orders/created   v1 equals v0: the broker would answer v0 and store nothing
    messages with v1 to v2 would not decode
    → restore into a broker of the release that stored these versions, or leave the topic out:
      move its file out of snapshots/

nothing was written
"""

PARTLY = """\
✗ rehearsal is restored in part
rehearsal · rehearsal.db · snapshot of production · 2 namespaces · 4 topics, 1 already there

✗ shop/orders/created   not as recorded: v1 is another schema
+ shop/orders/deleted   2 deletions in place of v0 to v1
+ shop/payments/paid    v1 after 1 deletion in place of v0
~ shop/orders           schemaCompatibilityStrategy – → FULL; isAllowAutoUpdateSchema – → true

also as recorded: 2 namespaces
while versions are registered, every strategy accepts them and no producer can register one: 2
  policies set back at the end
"""

STOPPED = """\
✗ rehearsal is restored in part
rehearsal · rehearsal.db · snapshot of production · 2 namespaces · 4 topics, 1 already there

✓ shop/orders/created   v0 to v1
✗ shop/orders/deleted   2 deletions in place of v0 to v1: 1 of 2 steps done
+ shop/payments/paid    v1 after 1 deletion in place of v0: not begun
"""


def test_a_restore_that_stopped_names_the_policies_that_it_set() -> None:
    """The strategy was opened and set back, and the other policy is not reached."""
    first, *_, last = [
        each
        for each in WORK.plan.actions
        if isinstance(each, SetPolicy) and each.change.key == "schemaCompatibilityStrategy"
    ]
    tried = (Result(action=first), Result(action=last, closes=True))

    (opened,) = RestoreResult(restore=WORK, error=OutsideError("x"), results=tried[:1]).policies
    (change,) = RestoreResult(restore=WORK, error=OutsideError("x"), results=tried).policies[opened]

    assert str(opened) == "shop/orders"
    assert (change.before, change.after) == (None, SchemaCompatibilityStrategy.FULL)


def _until_third() -> list[Result]:
    """Two histories' actions: the first one is done, the second fails behind its first step."""
    actions = [
        each for each in WORK.plan.actions if isinstance(each, RegisterSchema | DeleteSchema)
    ]
    done = [Result(action=each) for each in actions[:3]]
    return [*done, Result(action=actions[3], error=OutsideError("x"))]


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (
            RestoreResult(
                restore=replace(WORK, release="4.0.7", taken="2026-11-24T08:00:00Z"), dry_run=True
            ),
            PLANNED,
        ),
        (RestoreResult(restore=OBSTACLES), REFUSED),
        (RestoreResult(restore=WORK, check=CHECK), PARTLY),
        (RestoreResult(restore=WORK, results=_until_third(), error=OutsideError("x")), STOPPED),
    ],
    ids=["planned", "refused", "partly", "stopped"],
)
def test_the_text(result: RestoreResult, shown: str) -> None:
    console = Console(width=96, color_system=None)
    with console.capture() as captured:
        console.print(restore_text(result))

    assert [line.rstrip() for line in captured.get().splitlines()] == shown.splitlines()


def test_markdown_shows_the_same() -> None:
    shown = restore_markdown(RestoreResult(restore=OBSTACLES))

    assert shown.startswith("### ✗ refused: rehearsal cannot have what was recorded")
    assert "| ✗ | `shop/orders/created` | v1 equals v0: " in shown
    assert "messages with v1 to v2 would not decode" in shown
    assert "- nothing was written\n" in shown


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (RestoreResult(restore=WORK, error=OutsideError("x")), "✗ rehearsal is restored in part"),
        (
            RestoreResult(
                restore=WORK,
                error=OutsideError("x"),
                results=[
                    Result(action=action, error=None if place else OutsideError("x"))
                    for place, action in enumerate(WORK.plan.actions)
                ],
            ),
            "✗ rehearsal is restored in part",
        ),
        (
            RestoreResult(restore=WORK, check=RestoreCheck(versions=1)),
            "✓ restored: rehearsal has 1 recorded version under its number",
        ),
        (
            RestoreResult(restore=replace(WORK, plan=replace(WORK.plan, actions=()))),
            "✓ nothing to restore: rehearsal has every recorded version",
        ),
    ],
)
def test_the_verdict(result: RestoreResult, verdict: str) -> None:
    assert verdict_text(result) == verdict


@pytest.mark.parametrize(
    ("versions", "text"),
    [((), ""), ((3,), "v3"), ((0, 1, 2), "v0 to v2"), ((0, 2), "v0, v2")],
)
def test_versions(versions: tuple[int, ...], text: str) -> None:
    assert versions_text(versions) == text
