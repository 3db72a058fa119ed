"""A process from its first line to its exit code: streams, signals, errors."""

from __future__ import annotations

import codecs
import errno
import os
import re
import select
import signal
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum
from types import FrameType
from typing import Final

from gitops.model.errors import GitopsError, OutsideError
from gitops.reports.text.plain import safe


def run_until_sigterm(command: Callable[[], int]) -> int:
    """Run; where SIGTERM has interrupted the command, it ends with 143 instead of 130.

    Whoever waits for Ctrl-C, or holds it back, gets SIGTERM by the same handler; who takes both
    is left alone. Nothing is changed where SIGTERM is ignored.
    """
    terminated = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # a background shell has Ctrl-C ignored, and SIGTERM not
            raise KeyboardInterrupt
        handler(number, frame)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, press)
    code = command()
    return Exit.TERMINATED if terminated and code == Exit.INTERRUPTED else code


def end_at_signals(code: int) -> None:
    """Whoever presses Ctrl-C while Python puts its things away gets the code, and no traceback."""

    def end(_number: int, _frame: FrameType | None) -> None:
        os._exit(code)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)


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
    INTERRUPTED = 130
    TERMINATED = 143


_UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""How stdout fails, other than by closing: whoever writes to files makes errors of ours of it."""


def run_to_exit(command: Callable[[], int], *, verbose: bool) -> int:
    """Run, and turn whatever goes wrong into a message on stderr and an exit code."""
    try:
        code = command()
        sys.stdout.flush()
    except GitopsError as error:
        print_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: a bug of ours gets code 70
        if isinstance(error, BrokenPipeError) and _is_unread():
            # Whoever read our output has seen enough; Python would complain while it closes stdout.
            drop_stdout()
            return Exit.GOOD
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            drop_stdout()
            print_error(OutsideError(f"cannot write the answer: {error.strerror}"))
            return Exit.OUTSIDE
        if _is_interrupt(error):
            print("interrupted", file=sys.stderr)
            return Exit.INTERRUPTED
        _tell_bug(error, verbose=verbose)
        return Exit.BUG
    return code


def _is_interrupt(error: BaseException) -> bool:
    """Whether a library made an error of Ctrl-C: pydantic does, while it loads models."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, KeyboardInterrupt):
        found = found.__cause__ or found.__context__
    return found is not None or "KeyboardInterrupt:" in str(error)


def _is_unread() -> bool:
    """Whether nobody reads our output any more: another pipe that breaks is no good end."""
    poll = select.poll()
    for descriptor in (1, 2):
        poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def drop_stdout() -> None:
    """Have whatever else goes to stdout go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(error: GitopsError, before: str = "") -> None:
    """Say an error on stderr: what, where, and what to do next."""
    print(f"error: {safe(before + error.what)}", file=sys.stderr)
    if error.where:
        print(f"  in {safe(error.where)}", file=sys.stderr)
    if error.hint:
        print(f"  {safe(error.hint)}", file=sys.stderr)


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
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)
    for name in _SIZES:
        if not _SIZE.fullmatch(os.environ.get(name, "")):
            os.environ.pop(name, None)


def _replace_character(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    gone = error.object[error.start : error.end]
    return "".join(_SIGNS.get(char) or _escape(char) for char in gone), error.end


def _escape(char: str) -> str:
    data = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[i : i + 2].hex()}" for i in range(0, len(data), 2))
