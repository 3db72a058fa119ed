"""What is wrong with a file of samples, and what to do about it, in words for a person."""

from __future__ import annotations

import errno
import os
from typing import Final

from gitops.model.sample_formats import SAMPLE_FORMATS, FormatRow
from gitops.replay.sources.files import open_seekable
from gitops.replay.sources.source import Part, UnreadableError

HEAD: Final = 64
"""Bytes that tell what a file is."""

_CONTROL: Final = 9
"""Below it are bytes that no text has."""

AGAIN: Final = "copy it again, or take new samples"
_DENIED: Final = (errno.EACCES, errno.EPERM)
_ALLOW: Final = "give the replay permission to read it, or leave it out"


_PACKED: Final = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}
"""By the first bytes; JSON lines are unpacked where the file's name ends so."""


def other_format(part: Part, head: bytes) -> UnreadableError | None:
    """An error for a file that begins as those of another format do; None if it does not."""
    row = SAMPLE_FORMATS[part.format]
    for name, format_row in SAMPLE_FORMATS.items():
        if (
            not format_row.like
            and name not in (part.format, row.like)
            and _begins(format_row, head)
        ):
            what = f"{part.file.name} is {format_row.content or format_row.what}, not {row.what}"
            return UnreadableError(what, f"write in the manifest: format: {name}")
    packed = (ending for start, ending in _PACKED.items() if head.startswith(start))
    return next((_packed(part, ending) for ending in packed), None)


def _packed(part: Part, ending: str) -> UnreadableError:
    """Of a compressed file whose format, or whose name, does not say so."""
    row, what = SAMPLE_FORMATS[part.format], f"{part.file.name} is packed ({ending})"
    if row.unpacks:
        hint = f"let its name end in .{ending}: then it is unpacked"
        return UnreadableError(f"{what}, which its name does not show", hint)
    hint = "unpack it: only JSON lines are read as they are packed"
    return UnreadableError(f"{what}, not {row.what}", hint)


def unreadable_file(part: Part) -> UnreadableError:
    """Of a file that Arrow does not open: it is of another format, or broken."""
    with open_seekable(part.file) as file:
        return refusal(part, bytes(file.read(HEAD)))


def refusal(part: Part, head: bytes) -> UnreadableError:
    """Of a file that begins with these bytes, HEAD of them, and is not what its sample says."""
    if error := other_format(part, head):
        return error
    row = SAMPLE_FORMATS[part.format]
    if _begins(row, head):
        what = f"{part.file.name} begins as {row.what} and does not end as one"
        return UnreadableError(f"{what}: it is cut off, or broken", AGAIN)
    what = f"{part.file.name} is not {row.what}"
    return UnreadableError(what, "correct `format` in the manifest, or the path")


def empty_file(part: Part) -> UnreadableError | None:
    """An error for a file without a byte, where even one without messages has some."""
    row = SAMPLE_FORMATS[part.format]
    if part.file.size or row.may_be_empty:
        return None
    what = f"{part.file.name} is empty (0 bytes), and so not {row.what}"
    return UnreadableError(what, "take new samples, or leave it out")


def error_text(error: Exception) -> str:
    """What went wrong, without the place where Python or Arrow noticed it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return first_line(error)


def first_line(error: Exception) -> str:
    """The first line of an exception, as a sentence without an end."""
    lines = str(error).splitlines()
    return lines[0].rstrip(". ;") if lines else type(error).__name__


def file_error_text(name: str, error: Exception) -> str:
    """What went wrong with a file; others do not always say with which, or not as we call it."""
    if isinstance(error, OSError) and error.errno in (*_DENIED, errno.ENOENT):
        return f"{name} cannot be opened: {os.strerror(error.errno).lower()}"
    text = error_text(error)
    return text if name in text else f"{name}: {text}"


def hint_of(error: Exception) -> str:
    """What to do about it; empty where nobody knows."""
    if isinstance(error, UnreadableError):
        return error.hint
    return _ALLOW if _is_denied(error) else ""


def _is_denied(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in _DENIED


def _begins(row: FormatRow, head: bytes) -> bool:
    """Letters alone are no proof of a binary format: a line of text may begin so."""
    has_control = any(byte < _CONTROL for byte in head)
    return head.startswith(row.begins) and (has_control or not row.is_binary)
