"""A process from its first line to its exit code: streams, signals, errors."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import select
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from typing import TYPE_CHECKING, Final, final

from gitops import signals
from gitops.model.errors import GitopsError, OutsideError, UsageError
from gitops.reports.text.plain import mask_credentials, safe

if TYPE_CHECKING:
    from typing_extensions import Buffer


def run_to_end(command: Callable[[], int], *, verbose: bool) -> int:
    """Run; answers the code that the process has to end with, which no later signal changes."""
    code: int | None = None
    try:
        code = run_to_exit(command, verbose=verbose)
        _flush_streams()
        code = signals.exit_code() if code == Exit.INTERRUPTED else code
        signals.finish(code)
    except KeyboardInterrupt:  # the code may be known already
        code = signals.exit_code() if code in (None, Exit.INTERRUPTED) else code
    return code


def _flush_streams() -> None:
    """Write what is left; Python would end with 120 where it cannot."""
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, ValueError):
            _drop(number)


# Exit codes, and how errors become one.


class Exit(IntEnum):
    """What a command's exit code means; part of the contract."""

    GOOD = 0
    FINDINGS = 1
    USAGE = 2
    CHANGES = 3
    OUTSIDE = 4
    STALE = 5
    PARTIAL = 6
    BUG = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


_UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""How stdout fails, other than by closing: whoever writes to files makes errors of ours of it."""


def run_to_exit(command: Callable[[], int], *, verbose: bool) -> int:
    """Run, and turn whatever goes wrong into a message on stderr and an exit code."""
    code: int | None = None
    try:
        code = command()
        sys.stdout.flush()
    except GitopsError as error:
        print_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        if code is not None:  # it has ended
            return code
        print("interrupted", file=sys.stderr)
        return Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: a bug of ours gets code 70
        if signals.was_requested():  # a library made an error of it, or its terminal is gone
            print("interrupted", file=sys.stderr)
            return Exit.INTERRUPTED
        if isinstance(error, BrokenPipeError) and _is_unread():
            # Whoever read our output has seen enough; Python would complain while it closes stdout.
            drop_stdout()
            return Exit.GOOD
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            drop_stdout()
            print_error(OutsideError(f"cannot write the answer: {error.strerror}"))
            return Exit.OUTSIDE
        if surroundings := _surroundings_error(error):
            print_error(surroundings)
            return surroundings.exit_code
        _tell_bug(error, verbose=verbose)
        return Exit.BUG
    return code


def _surroundings_error(error: Exception) -> GitopsError | None:
    """What the process lacks, where that made an error of any call; None for all others."""
    if not isinstance(error, OSError):
        return None
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return OutsideError(
            "too many files are open", hint="allow more with `ulimit -n 1024`, then run it again"
        )
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return UsageError(
            "the current folder was deleted",
            hint="change to a folder that exists, or name the repository with --repo",
        )
    except OSError:
        return None
    return None


def _is_unread() -> bool:
    """Whether nobody reads our output any more: another pipe that breaks is no good end."""
    poll = select.poll()
    for descriptor in (1, 2):
        poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def drop_stdout() -> None:
    """Have whatever else goes to stdout go nowhere."""
    _drop(sys.stdout.fileno())


def _drop(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def print_error(error: GitopsError, before: str = "") -> None:
    """Say an error on stderr: what, where, and what to do next."""
    what, where, hint = (
        safe(mask_credentials(text)) for text in (before + error.what, error.where, error.hint)
    )
    print(f"error: {what}", file=sys.stderr)
    if where:
        print(f"  in {where}", file=sys.stderr)
    if hint:
        print(f"  {hint}", file=sys.stderr)


def _tell_bug(error: Exception, *, verbose: bool) -> None:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}:{last.lineno} in {last.name}"  # noqa: PTH119
    print(
        f"error: this is a bug in pulsar-gitops: {type(error).__name__} at {place}", file=sys.stderr
    )
    if verbose:
        # Not the message: it can quote what was read, and so a secret.
        print("".join(traceback.format_tb(error.__traceback__)), file=sys.stderr)
    else:
        print("  run it again with -v and report what it prints", file=sys.stderr)


# The three streams, made fit for whatever the command writes: closed, narrow, small encodings.


_HANDLER: Final = "pulsar-gitops"
_STDERR: Final = 2
_SIGNS: Final = {
    "✓": "ok", "✗": "x", "→": "->", "…": "...", "·": "-", "–": "-", "—": "-", "─": "-", "│": "|",
    "•": "*", "⚠": "!", "≥": ">=", "↳": "->",
}  # fmt: skip
"""What our own signs become where the encoding has none."""
_SIZES: Final = ("COLUMNS", "LINES")
_SIZE: Final = re.compile(r"[0-9]{1,6}")


def prepare_streams() -> None:
    """Have something to read and write in place of closed streams, and words for every character.

    Python sets a closed stream to None. What the encoding of a stream cannot say becomes a sign
    in ASCII or an escape, as JSON writes it: what is JSON stays JSON. A size of the terminal that
    is no number is removed from the environment, because rich raises ValueError for `COLUMNS=²`.
    """
    codecs.register_error(_HANDLER, _replace_character)
    # In this order each takes the number that the closed one had.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    elif isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr.fileno() == _STDERR:
        raw = io.BufferedWriter(_Stderr(_STDERR, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, sys.stderr.encoding, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)
    for name in _SIZES:
        if not _SIZE.fullmatch(os.environ.get(name, "")):
            os.environ.pop(name, None)


@final
class _Stderr(io.FileIO):
    """What is said on stderr may be lost, as when its terminal is closed; no work fails for it."""

    def write(self, data: Buffer, /) -> int:
        """Write it, or nothing."""
        with suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


def _replace_character(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    gone = error.object[error.start : error.end]
    return "".join(_SIGNS.get(char) or _escape(char) for char in gone), error.end


def _escape(char: str) -> str:
    data = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[i : i + 2].hex()}" for i in range(0, len(data), 2))
