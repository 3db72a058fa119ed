"""Runs protoc over the `.proto` files of a repository; needs the extra `protobuf`."""

from __future__ import annotations

import importlib.util
import posixpath
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from gitops.model.errors import UnreadableFileError
from gitops.repository.tracked_files import TrackedFiles

_SECONDS: Final = 120
_MESSAGE: Final = re.compile(
    r"(?P<file>[^:\n]+\.proto):(?:(?P<line>\d+):(?P<column>\d+):)? (?P<text>.*)"
)
_LOG: Final = re.compile(r"WARNING: All log messages before absl|[IWEF]\d{4} [\d:.]+ ")
"""What protoc's own library logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocProblem:
    """What protoc says; `file` is empty where it names none, `line` 0 where it names no line."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledFiles:
    """The files of a descriptor set as bytes, in protoc's order; none if there are problems."""

    files: tuple[bytes, ...] = ()
    problems: tuple[ProtocProblem, ...] = ()


class Protoc:
    """Compiles files of one repository, those of a folder together if they allow it."""

    def __init__(self, sources: TrackedFiles) -> None:
        self._sources = sources
        self._folders: dict[str, CompiledFiles] = {}
        self._open = ExitStack()

    def close(self) -> None:
        """Remove the copies of the files that protoc was given."""
        self._open.close()

    @staticmethod
    def is_installed() -> bool:
        """Whether the extra `protobuf` is there."""
        return all(_is_there(name) for name in ("grpc_tools", "google.protobuf"))

    def compile(self, file: str, *, source_info: bool = False) -> CompiledFiles:
        """A file and all that it imports, from its own folder or from the root.

        With `source_info` the descriptors say where their parts stand; a registry gets none of it.
        """
        folder = posixpath.dirname(file)
        if source_info:
            return self._run(folder, [file], "--include_source_info")
        if folder not in self._folders:
            beside = [proto for proto in self._protos if posixpath.dirname(proto) == folder]
            self._folders[folder] = self._run(folder, beside)
        together = self._folders[folder]
        return self._run(folder, [file]) if together.problems else together

    @cached_property
    def _protos(self) -> tuple[str, ...]:
        return tuple(path for path in self._sources.paths if path.endswith(".proto"))

    @cached_property
    def _root(self) -> Path:
        made = tempfile.TemporaryDirectory(prefix="pulsar-gitops-")
        root = Path(self._open.enter_context(made))
        for path in self._protos:
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                place.write_bytes(self._sources.data(path))
            except UnreadableFileError:
                continue  # protoc then says that the file is not there
        return root

    def _run(self, folder: str, files: Sequence[str], *options: str) -> CompiledFiles:
        output = self._root / ".descriptors"
        output.unlink(missing_ok=True)
        command = [
            *(sys.executable, "-m", "grpc_tools.protoc"),
            *(f"-I{text}" for text in dict.fromkeys((folder or ".", "."))),
            *("--include_imports", *options, f"--descriptor_set_out={output.name}", *files),
        ]
        try:
            done = subprocess.run(  # noqa: S603 - our own interpreter, arguments from file names
                command, cwd=self._root, capture_output=True, check=False, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired:
            return CompiledFiles(problems=(ProtocProblem(message="protoc does not finish"),))
        if done.returncode == 0 and output.exists():
            return CompiledFiles(files=tuple(_split(output.read_bytes())))
        return CompiledFiles(problems=_problems(done.stderr.decode("utf-8", "replace")))


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _problems(output: str) -> tuple[ProtocProblem, ...]:
    lines = (line for line in output.splitlines() if line.strip() and not _LOG.match(line))
    problems = [_problem(line) for line in lines]
    return tuple(problem for problem in problems if not problem.message.startswith("warning:")) or (
        ProtocProblem(message="protoc fails without a message"),
    )


def _problem(line: str) -> ProtocProblem:
    match = _MESSAGE.fullmatch(line)
    if match is None:
        return ProtocProblem(message=line.strip()[:500])
    return ProtocProblem(
        message=match["text"].strip(),
        file=match["file"].removeprefix("./"),
        line=int(match["line"] or 0),
        column=int(match["column"] or 0),
    )


def _split(descriptor_set: bytes) -> list[bytes]:
    """The members of a FileDescriptorSet, byte for byte as protoc wrote them."""
    files: list[bytes] = []
    at = 0
    while at < len(descriptor_set):
        length, at = _varint(descriptor_set, at + 1)
        files.append(descriptor_set[at : at + length])
        at += length
    return files


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:  # noqa: PLR2004 - the bit that says that more follows
            return value, at
