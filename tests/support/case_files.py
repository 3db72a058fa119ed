"""The cases below tests/cases: one text file each, with the files of the case one after the other.

tests/cases/README.md describes the form, which is txtar's with two marks for odd files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

CASES: Final = Path(__file__).parents[1] / "cases"


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link, by where it leads."""

    target: str


Files = Mapping[str, bytes | Link]

_DEFAULTS: Final[Mapping[str, Files]] = {
    "repo/*": {
        "repo/gitops.yaml": b"apiVersion: pulsar-gitops/v1\nkind: Config\nregistries:\n"
        b"  local:\n    kind: embedded\n    path: .gitops/registry.db\n"
    },
    "new.proto": {"message": b"shop.Order\n"},
}
"""The files that a case with such a path has, unless it contains its own."""

_SECTION: Final = re.compile(rb"^-- (.+?)(?: -> (.+?)|( \(escaped\)))? --\n", re.MULTILINE)
_ESCAPE: Final = re.compile(rb"\\(x[0-9a-f]{2}|[^x])", re.DOTALL)
_ESCAPED: Final = {b"\\": b"\\", b"r": b"\r", b"t": b"\t", b"\n": b""}


@dataclass(frozen=True, slots=True)
class Case:
    """One file below tests/cases; `rule` is its folder's name."""

    rule: str
    name: str
    files: Files = field(compare=False, repr=False)

    def __str__(self) -> str:
        """The name in pytest's list of tests."""
        return f"{self.rule}/{self.name}"

    @property
    def expected(self) -> str:
        """The findings that the case expects, as text; empty for none."""
        return self.text("expected.txt")

    def text(self, path: str) -> str:
        """A file of the case."""
        content = self.files[path]
        assert isinstance(content, bytes), f"{self}: {path} is a link"
        return content.decode()

    def write(self, folder: Path) -> Path:
        """Write the files into the folder, and return it."""
        for path, content in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Link):
                target.symlink_to(content.target)
            else:
                target.write_bytes(content)
        return folder


def cases(path: str) -> list[Case]:
    """The cases with a file at the path, which may be a pattern as in a shell."""
    return [case for case in _all_cases() if any(fnmatchcase(each, path) for each in case.files)]


@cache
def _all_cases() -> tuple[Case, ...]:
    return tuple(
        Case(file.parent.name, file.stem, with_defaults(unpack(file.read_bytes())))
        for file in sorted(CASES.glob("*/*.txt"))
    )


def with_defaults(files: Files) -> Files:
    """The files, and those that the case leaves out because they are the default."""
    defaults: dict[str, bytes | Link] = {}
    for pattern, default in _DEFAULTS.items():
        if any(fnmatchcase(path, pattern) for path in files):
            defaults |= default
    return defaults | dict(files)


def unpack(text: bytes) -> Files:
    """The files in the text of a case."""
    _comment, *parts = _SECTION.split(text)
    files: dict[str, bytes | Link] = {}
    for path, target, escaped, content in zip(*(parts[n::4] for n in range(4)), strict=True):
        name = path.decode()
        assert name not in files, f"{name} is there twice"
        assert not (target and content), f"{name} is a link and has content"
        plain = _ESCAPE.sub(_unescaped, content) if escaped else content
        files[name] = Link(target.decode()) if target else plain
    return files


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes.fromhex(code[1:].decode()) if code[:1] == b"x" else _ESCAPED[code]


def pack(files: Files, comment: str = "") -> bytes:
    """The text of a case; a file that could not be read as text is escaped."""
    return comment.encode() + b"".join(_section(path, files[path]) for path in files)


def _section(path: str, content: bytes | Link) -> bytes:
    if isinstance(content, Link):
        return f"-- {path} -> {content.target} --\n".encode()
    escaped = _escaped(content)
    if escaped == content:
        return f"-- {path} --\n".encode() + content
    return f"-- {path} (escaped) --\n".encode() + escaped


def _escaped(content: bytes) -> bytes:
    """The content itself where it is plain text."""
    text = content.decode(errors="surrogateescape")
    odd = not text.replace("\n", "").isprintable() or _SECTION.search(content)
    if not odd and (not text or text.endswith("\n")):
        return content
    shown = re.sub(r"^--(?= )", r"\\x2d-", "".join(map(_shown, text)), flags=re.MULTILINE)
    return (shown if shown.endswith("\n") else f"{shown}\\\n").encode()


def _shown(char: str) -> str:
    if char == "\n" or (char != "\\" and char.isprintable()):
        return char
    codes = {"\\": "\\\\", "\r": "\\r", "\t": "\\t"}
    data = char.encode(errors="surrogateescape")
    return codes.get(char) or "".join(f"\\x{byte:02x}" for byte in data)
