"""What is wrong with a YAML text: the problems, and syntax errors told from libyaml's words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from yaml import Mark, MarkedYAMLError

from gitops.repository.positions import Lines, Path, Span

# A problem inside one YAML text.


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlProblem:
    """A breach of a rule, with its place in the text; `first` is where a twin of it stands."""

    rule: str
    message: str
    span: Span
    path: Path = ()
    hint: str = ""
    first: Span | None = None


# What git leaves in a file that two people changed.


CONFLICT: Final = "a conflict that git could not merge"
CONFLICT_HINT: Final = "keep what is right and remove the lines <<<<<<<, ======= and >>>>>>>"

_MARKER: Final = re.compile(r"^(?:<{7} .*|>{7} .*)$", re.MULTILINE)


def conflict_marker(text: str) -> Span | None:
    """The first line that git wrote into the file, None if there is none."""
    match = _MARKER.search(text)
    return None if match is None else Span(match.start(), match.end())


# What people do when a text is not YAML, told from libyaml's words and the text around them.


_UNEVEN: Final = ("expected key", "expected '-' indicator", "expected <document start>")
_PAIRED: Final = (
    ("quoted", "quote", "the same quote"), ("flow mapping", "{", "}"), ("flow sequence", "[", "]"),
)  # fmt: skip


class Mistake(NamedTuple):
    """What is wrong, where, and what to do."""

    message: str
    span: Span
    hint: str = ""


class _Failure(NamedTuple):
    """libyaml's words and offsets; `start` is where the part that it was reading begins."""

    text: str
    message: str
    start: int
    at: int


_INDENT: Final = re.compile(r"[ \t]*")
_REFERENCE: Final = re.compile(r"""(?<!["'\w])\$\{[A-Za-z_][A-Za-z0-9_]*\}""")
_WORDS: Final = re.compile(r"(?P<indent> *)(?P<words>[^-#\s:][^:\n]*)")
_CLOSING: Final = {"{": "}", "[": "]"}
_LAST: Final = re.compile(r"(?P<opening>[\[{])[ \t]*(?:#[^\n]*)?\s*\Z")
_COMMENT: Final = re.compile(r"^[ \t]*#|[ \t]#", re.MULTILINE)
_NO_COLON: Final = "a key without ':'"
_GLUED: Final = re.compile(r"\w+:\S")
_PAIR: Final = re.compile(r"\s*(?:- +)*[^\s:#][^:#]*: ")


def mistake(error: MarkedYAMLError, text: str) -> Mistake:
    """The mistake that made the text unreadable, else the place with libyaml's own words."""
    message = ", ".join(part for part in (error.problem, error.context) if part)
    at = _offset(error.problem_mark or error.context_mark)
    failure = _Failure(text, message, _offset(error.context_mark or error.problem_mark), at)
    for look in _LOOKS:
        span = look(failure)
        if span is not None:
            return span
    return Mistake(f"not YAML: {message}", Span(at, at + 1))


def _offset(mark: Mark | None) -> int:
    return mark.index if mark is not None else 0


def _conflict(failure: _Failure) -> Mistake | None:
    marker = conflict_marker(failure.text)
    return Mistake(f"not YAML: {CONFLICT}", marker, CONFLICT_HINT) if marker else None


def _tab(failure: _Failure) -> Mistake | None:
    start = _line_start(failure.text, failure.at)
    indent = _INDENT.match(failure.text, start)
    tab = failure.text.find("\t", start, indent.end() if indent else start)
    if tab >= 0:
        message = "not YAML: a tab in the indentation"
        return Mistake(message, Span(tab, tab + 1), "indent with spaces, not with tabs")
    if failure.text[failure.at : failure.at + 1] == "\t":
        message = "not YAML: a tab where only spaces may be"
        return Mistake(message, Span(failure.at, failure.at + 1), "write a space instead")
    return None


def _reference(failure: _Failure) -> Mistake | None:
    if "flow" not in failure.message:
        return None
    near = [
        match
        for match in _REFERENCE.finditer(failure.text, failure.start)
        if match.start() <= failure.at and not _is_comment(failure.text, match.start())
    ]
    if not near:
        return None
    name, span = near[-1][0], Span(*near[-1].span())
    return Mistake(f"not YAML: {name} inside {{…}} needs quotes", span, f'write "{name}"')


def _is_comment(text: str, at: int) -> bool:
    return _COMMENT.search(text, _line_start(text, at), at) is not None


def _colon(failure: _Failure) -> Mistake | None:
    if "mapping values are not allowed" not in failure.message:
        return None
    start = _line_start(failure.text, failure.at)
    before = failure.text[start : failure.at]
    if _PAIR.match(before):
        message = "not YAML: a second ': ' in one line"
        hint = 'a text with ": " in it needs quotes'
        return Mistake(message, Span(failure.at, failure.at + 1), hint)
    above = _WORDS.fullmatch(failure.text, _line_start(failure.text, start - 1), max(start - 1, 0))
    if above and above["indent"] == _INDENT.match(before)[0]:  # type: ignore[index] # as below
        return Mistake(f"not YAML: {_NO_COLON}", Span(*above.span("words")), "write key: value")
    return _indentation(failure.text, failure.at)


def _indented_start(failure: _Failure) -> Mistake | None:
    """The first line stands deeper than one after it, where libyaml sees the document's end."""
    if "<document start>" not in failure.message or not failure.text.lstrip("\n").startswith(" "):
        return None
    return _indentation(failure.text, failure.at)


def _uneven(failure: _Failure) -> Mistake | None:
    if not any(word in failure.message for word in _UNEVEN):
        return None
    before = failure.text[_line_start(failure.text, failure.at) : failure.at]
    if before.strip(" -"):
        message = "not YAML: text after the end of a value"
        hint = "quote the whole value; inside '…' a quote is written twice"
        return Mistake(message, Span(failure.at, failure.at + 1), hint)
    return _indentation(failure.text, failure.at)


def _no_colon(failure: _Failure) -> Mistake | None:
    if "expected ':'" not in failure.message:
        return None
    end = failure.text.find("\n", failure.start)
    span = Span(failure.start, end if end > 0 else len(failure.text))
    if _GLUED.match(failure.text, failure.start):
        return Mistake("not YAML: no space after the ':'", span, "write key: value")
    return Mistake(f"not YAML: {_NO_COLON}", span, "write key: value")


def _escape(failure: _Failure) -> Mistake | None:
    if (
        "escape" not in failure.message and "hexdecimal" not in failure.message
    ):  # libyaml's spelling
        return None
    hint = "inside \"…\" write \\\\ for a backslash, or use '…' quotes"
    return Mistake("not YAML: an unknown escape", Span(failure.at, failure.at + 1), hint)


def _open_end(failure: _Failure) -> Mistake | None:
    for word, opening, closing in _PAIRED:
        if word not in failure.message:
            continue
        if "\n" in failure.text[failure.start : failure.at]:
            line, _ = Lines(failure.text).position(failure.at)
            message = f"not YAML: the {opening} that begins here is not closed"
            span = Span(failure.start, failure.start + 1)
            return Mistake(message, span, f"close it with {closing} before line {line}")
        if word == "quoted":
            return None
        message = f"not YAML: a comma or the closing {closing} is missing before this"
        return Mistake(message, Span(failure.at, failure.at + 1), "quote a text with , [ ] { }")
    return None


def _left_open(failure: _Failure) -> Mistake | None:
    """A bracket is the last thing in the text."""
    match = _LAST.search(failure.text) if "flow node" in failure.message else None
    if match is None or failure.text[failure.at :].strip():
        return None
    opening = match["opening"]
    message = f"not YAML: the {opening} that begins here is not closed"
    return Mistake(
        message, Span(*match.span("opening")), f"close it with {_CLOSING[opening]}, or remove it"
    )


def _odd_start(failure: _Failure) -> Mistake | None:
    for offset in (failure.at, failure.start):
        char = failure.text[offset : offset + 1]
        if char and char in "@`%*&":
            message = f"not YAML: a text may not begin with {char}"
            return Mistake(message, Span(offset, offset + 1), "quote it")
    return None


def _indentation(text: str, at: int) -> Mistake:
    start = _line_start(text, at)
    end = _INDENT.match(text, start).end()  # type: ignore[union-attr] # it matches nothing as well
    hint = "align the keys of one mapping, and indent what belongs to a key"
    return Mistake("not YAML: wrong indentation", Span(end, end + 1), hint)


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


_LOOKS: Final[tuple[Callable[[_Failure], Mistake | None], ...]] = (
    _conflict,
    _tab,
    _reference,
    _odd_start,
    _colon,
    _indented_start,
    _uneven,
    _no_colon,
    _escape,
    _open_end,
    _left_open,
)
