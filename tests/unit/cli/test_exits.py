"""Whatever goes wrong becomes a code and a message."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from gitops import signals
from gitops.cli.exits import Exit, run_to_exit
from gitops.model.errors import (
    GitopsError,
    InvalidNameError,
    OutsideError,
    PartialApplyError,
    RegistryRefusedError,
    StalePlanError,
    UsageError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("what"), Exit.USAGE),
        (InvalidNameError("what"), Exit.USAGE),
        (OutsideError("what"), Exit.OUTSIDE),
        (RegistryRefusedError("what", status=409), Exit.FINDINGS),
        (RegistryRefusedError("what", status=422), Exit.FINDINGS),
        (RegistryRefusedError("what", status=401), Exit.OUTSIDE),
        (StalePlanError("what"), Exit.STALE),
        (PartialApplyError("what"), Exit.PARTIAL),
    ],
)
def test_an_error_has_the_code_of_its_kind(
    error: GitopsError, code: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise error

    assert run_to_exit(fail, verbose=False) == code
    assert capsys.readouterr().err == "error: what\n"


def test_what_where_and_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise UsageError("it is\x1b[31m red", where="a\nb", hint="paint\tit")

    assert run_to_exit(fail, verbose=True) == Exit.USAGE
    assert capsys.readouterr().err == "error: it is\\x1b[31m red\n  in a\\nb\n  paint\\tit\n"


def test_a_pipe_that_breaks_beside_our_output_is_no_good_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> int:
        raise BrokenPipeError

    assert run_to_exit(fail, verbose=False) == Exit.BUG
    assert "BrokenPipeError at test_exits.py" in capsys.readouterr().err


@pytest.mark.parametrize("verbose", [False, True])
def test_a_bug_tells_its_place_and_never_its_message(
    verbose: bool,  # noqa: FBT001 - the parameter of a test is its case
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> int:
        secret = "hunter2"
        raise ValueError(secret)

    assert run_to_exit(fail, verbose=verbose) == Exit.BUG
    said = capsys.readouterr().err
    assert "a bug in pulsar-gitops: ValueError at test_exits.py:" in said
    assert "hunter2" not in said
    assert ("line " in said) is verbose
    assert ("with -v" in said) is not verbose


def test_the_codes_are_those_of_the_page() -> None:
    assert [code.value for code in Exit] == [0, 1, 2, 3, 4, 5, 6, 70, 129, 130, 143]


def test_an_error_that_a_library_made_of_an_interrupt_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "was_requested", lambda: True)

    def fail() -> int:
        raise ValueError("Error building validator:\n  KeyboardInterrupt: ")

    assert run_to_exit(fail, verbose=False) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_too_many_open_files_are_no_bug(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise OSError(number, "Too many open files")

    assert run_to_exit(fail, verbose=False) == Exit.OUTSIDE
    assert capsys.readouterr().err.startswith("error: too many files are open\n")


def test_a_deleted_current_folder_is_no_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "deleted"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    assert run_to_exit(lambda: len(str(Path.cwd())), verbose=False) == Exit.USAGE
    assert capsys.readouterr().err.startswith("error: the current folder was deleted\n")
