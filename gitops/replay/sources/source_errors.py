"""What is wrong with a file of samples, and what to do about it, in words for a person."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Final, NamedTuple

from gitops.replay.sources.files import open_seekable
from gitops.replay.sources.part import Part, UnreadableError

HEAD: Final = 64
"""Bytes that tell what a file is."""

_CONTROL: Final = 9
"""Below it are bytes that no text has."""

AGAIN: Final = "copy it again, or take new samples"
_DENIED: Final = (errno.EACCES, errno.EPERM)
_ALLOW: Final = "let whoever runs the replay read it, or leave it out"


class _Kind(NamedTuple):
    """A form of files, which `begins` tells by the first bytes; `format` reads them."""

    what: str
    format: str
    begins: Callable[[bytes], bool]


_KINDS: Final = (
    _Kind("an Avro container", "avro", lambda head: head.startswith(b"Obj\x01")),
    _Kind("a Parquet file", "parquet", lambda head: _is_binary(b"PAR1", head)),
    _Kind("JSON", "json", lambda head: head.startswith((b"{", b"[{"))),
    _Kind("an ORC file", "orc", lambda head: _is_binary(b"ORC", head)),
)
_PACKED: Final = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}
"""By the first bytes; JSON lines are unpacked where the file's name ends so."""

_WHAT: Final = {
    "avro": "an Avro container",
    "parquet": "a Parquet file",
    "capture": "a Parquet file, as captures are",
    "orc": "an ORC file",
    "json": "JSON lines",
}


def other_format(part: Part, head: bytes) -> UnreadableError | None:
    """An error for a file that begins as those of another format do; None if it does not."""
    name, wanted = part.file.name, _format(part)
    for kind in _KINDS:
        if kind.format != wanted and kind.begins(head):
            what = f"{name} is {kind.what}, not {_WHAT[part.format]}"
            return UnreadableError(what, f"say so in the manifest: format: {kind.format}")
    for start, ending in _PACKED.items():
        if head.startswith(start) and wanted != "json":
            what = f"{name} is packed ({ending}), not {_WHAT[part.format]}"
            return UnreadableError(what, "unpack it: only JSON lines are read as they are packed")
        if head.startswith(start):
            hint = f"let its name end in .{ending}: then it is unpacked"
            return UnreadableError(
                f"{name} is packed ({ending}), and its name does not say so", hint
            )
    return None


def not_opened(part: Part) -> UnreadableError:
    """Of a file that Arrow does not open: it is of another format, or broken."""
    with open_seekable(part.file) as file:
        return refusal(part, bytes(file.read(HEAD)))


def refusal(part: Part, head: bytes) -> UnreadableError:
    """Of a file that begins with these bytes, HEAD of them, and is not what its sample says."""
    if other := other_format(part, head):
        return other
    if any(kind.format == _format(part) and kind.begins(head) for kind in _KINDS):
        what = f"{part.file.name} begins as {_WHAT[part.format]} and does not end as one"
        return UnreadableError(f"{what}: it is cut off, or broken", AGAIN)
    what = f"{part.file.name} is not {_WHAT[part.format]}"
    return UnreadableError(what, "correct `format` in the manifest, or the path")


def _format(part: Part) -> str:
    return "parquet" if part.format == "capture" else part.format


def empty_file(part: Part) -> UnreadableError | None:
    """An error for a file without a byte, where even one without messages has some."""
    if part.file.size or part.format in ("json", "raw"):
        return None
    what = f"{part.file.name} is empty (0 bytes), and so not {_WHAT[part.format]}"
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
    told = error_text(error)
    return told if name in told else f"{name}: {told}"


def hint_of(error: Exception) -> str:
    """What to do about it; empty where nobody knows."""
    if isinstance(error, UnreadableError):
        return error.hint
    return _ALLOW if _is_denied(error) else ""


def _is_denied(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in _DENIED


def _is_binary(magic: bytes, head: bytes) -> bool:
    """Letters alone are no proof: a line of text may begin so."""
    return head.startswith(magic) and any(byte < _CONTROL for byte in head)
