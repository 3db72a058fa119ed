"""Journals: what was written comes back, however the process ended."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.journal.reader import read_journal
from gitops.journal.writer import JournalFile
from gitops.model.errors import OutsideError, UnknownOutcomeError, UsageError
from gitops.model.journal import APPLIED, Outcome
from tests.support.plans import EVERYTHING

_START = {
    "plan": "sha256:" + "a" * 64,
    "registry": "local",
    "address": "registry.db",
    "actions": 3,
    "doneBefore": 1,
}
_CREATE, _SET, *_ = EVERYTHING.actions


def _noon() -> datetime.datetime:
    return datetime.datetime(2026, 11, 24, 12, 0, tzinfo=datetime.UTC)


def _journal(path: Path) -> JournalFile:
    return JournalFile(path, _noon)


def _applied(path: Path) -> JournalFile:
    """One action done, one failed, one without an answer."""
    journal = _journal(path)
    journal.begin(_START)
    for action, error in (
        (_CREATE, None),
        (_SET, OutsideError("the wire is cut")),
        (EVERYTHING.actions[4], UnknownOutcomeError("interrupted")),
    ):
        journal.conclude(journal.intend(action), None, error)
    return journal


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "journal"
    _applied(path).end("stopped")

    (run,) = read_journal(path)

    assert (run.registry, run.actions, run.done_before) == ("local", 3, 1)
    assert (run.began, run.ended, run.outcome) == ("2026-11-24T12:00:00.000Z",) * 2 + ("stopped",)
    assert not run.is_whole
    assert [one.outcome for one in run.attempts] == [Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN]
    assert run.attempts[1].error == "the wire is cut"
    assert run.attempts[0].action["action"] == "CreateNamespace"


def test_a_version_is_kept_and_a_closing_is_no_action_of_the_plan(tmp_path: Path) -> None:
    journal = _journal(tmp_path / "journal")
    journal.begin(_START)
    journal.conclude(journal.intend(EVERYTHING.actions[4]), 7, None)
    journal.conclude(journal.intend(_SET, closes=True), None, None)

    (run,) = read_journal(journal.path)

    assert (run.attempts[0].version, run.count(Outcome.DONE), run.closings) == (7, 1, 1)


def test_attempts_that_go_on_at_the_same_time_end_in_any_order(tmp_path: Path) -> None:
    journal = _journal(tmp_path / "journal")
    journal.begin(_START)
    numbers = [journal.intend(action) for action in (_CREATE, _SET, EVERYTHING.actions[4])]
    journal.conclude(numbers[2], 7, None)
    journal.conclude(numbers[0], None, OutsideError("the wire is cut"))

    (run,) = read_journal(journal.path)

    assert [one.outcome for one in run.attempts] == [Outcome.FAILED, Outcome.UNKNOWN, Outcome.DONE]
    assert [one.version for one in run.attempts] == [None, None, 7]


def test_a_journal_of_a_release_that_wrote_no_numbers_is_read(tmp_path: Path) -> None:
    numbered, old = tmp_path / "numbered", tmp_path / "old"
    _applied(numbered)
    lines = [json.loads(line) for line in numbered.read_text().splitlines()]
    kept = ({key: value for key, value in line.items() if key != "attempt"} for line in lines)
    old.write_text("".join(f"{json.dumps(line)}\n" for line in kept))

    assert read_journal(old) == read_journal(numbered)


def test_each_apply_is_one_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    _applied(path)
    again = _journal(path)
    again.begin({**_START, "document": {"kind": "Plan"}})
    again.end(APPLIED)

    first, second = read_journal(path)

    assert (first.ended, first.outcome) == ("", "")
    assert second.is_whole
    assert (first.plan, second.plan) == (None, {"kind": "Plan"})


@pytest.mark.slow
def test_wherever_a_crash_cuts_the_file_the_rest_is_read_and_goes_on(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    _applied(whole).end(APPLIED)
    content, (all_of_it,) = whole.read_bytes(), read_journal(whole)
    path = tmp_path / "journal"
    for length in range(content.index(b"\n") + 1, len(content)):
        path.write_bytes(content[:length])
        (cut,) = read_journal(path)
        *before_it, _ = cut.attempts or (None,)
        assert before_it == list(all_of_it.attempts[: len(before_it)])
        later = _journal(path)
        later.begin(_START)
        later.end(APPLIED)

        before, after = read_journal(path)
        assert replace(before, attempts=()) == replace(cut, attempts=())
        assert before.attempts == cut.attempts
        assert after.is_whole


def test_an_intent_without_an_outcome_is_unknown(tmp_path: Path) -> None:
    journal = _journal(tmp_path / "journal")
    journal.begin(_START)
    journal.intend(_CREATE)

    (run,) = read_journal(journal.path)

    assert run.attempts[0].outcome is Outcome.UNKNOWN
    assert run.attempts[0].error == "the process ended before the answer was written down"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no JSON", "line 2 is no line of a journal"),
        ("[]", "line 2 is no line of a journal"),
        ('{"entry": "intent", "run": "other", "action": {}}', "line 2 is no line of a journal"),
        ('{"entry": "dance", "run": "R"}', "line 2 is no line of a journal"),
        ('{"entry": "outcome", "run": "R", "outcome": "done"}', "line 2 is no line of a journal"),
        ('{"entry": "end", "run": "R"}', "line 2 is no line of a journal"),
    ],
)
def test_a_line_that_nobody_wrote_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "journal"
    journal = _journal(path)
    journal.begin(_START)
    run = json.loads(path.read_text())["run"]
    path.write_text(path.read_text() + line.replace("R", run) + "\n" + '{"run": "x"}\n')

    with pytest.raises(UsageError, match=said) as raised:
        read_journal(path)

    assert raised.value.where == f"{path}:2"


def test_a_newer_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    _journal(path).begin(_START)
    path.write_text(path.read_text().replace("pulsar-gitops/v1", "pulsar-gitops/v9"))

    with pytest.raises(UsageError, match="version 'pulsar-gitops/v9'"):
        read_journal(path)


def test_no_journal_is_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no journal"):
        read_journal(tmp_path / "journal")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        read_journal(tmp_path / "folder")
