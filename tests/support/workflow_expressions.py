"""The expressions of GitHub's workflows: `${{ … }}` and `if`, as its documentation defines them.

What the template uses: literals, `==`, `!=`, `!`, `&&`, `||`, brackets, `a.b`, and a few functions.
Anything else is a mistake of the test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>\d+)|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<sign>==|!=|&&|\|\||[!().,]))"
)
_EXPRESSION: Final = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_WORDS: Final[Mapping[str, object]] = {"true": True, "false": False, "null": None}
_STATUS: Final = re.compile(r"\b(?:success|failure|always|cancelled)\(")

Context = Mapping[str, object]


def is_met(condition: str, context: Context, *, failed: bool = False) -> bool:
    """Whether an `if` lets a job or a step run; `failed`: something before it did.

    Without a function of status it means `success() && …`.
    """
    text = condition.strip().removeprefix("${{").removesuffix("}}")
    status: dict[str, Callable[..., object]] = {
        "success": lambda: not failed,
        "failure": lambda: failed,
        "always": lambda: True,
        "cancelled": lambda: False,
    }
    found = bool(_Reader(text, context, status).read()) if text.strip() else True
    return found if _STATUS.search(text) else found and not failed


def filled(text: str, context: Context) -> str:
    """The text with the values of its expressions."""
    return _EXPRESSION.sub(lambda found: as_text(_Reader(found[1], context, {}).read()), text)


def as_text(value: object) -> str:
    """A value as a workflow writes it into a text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Reader:
    """Reads one expression from left to right; the operands of `&&` and `||` are values."""

    def __init__(
        self, text: str, context: Context, functions: Mapping[str, Callable[..., object]]
    ) -> None:
        self._tokens = _tokens(text)
        self._context = context
        self._functions = {**_FUNCTIONS, **functions}

    def read(self) -> object:
        value = self._either()
        assert not self._tokens, f"what is {self._tokens}?"
        return value

    def _either(self) -> object:
        value = self._both()
        while self._takes("||"):
            other = self._both()
            value = value or other
        return value

    def _both(self) -> object:
        value = self._compared()
        while self._takes("&&"):
            other = self._compared()
            value = value and other
        return value

    def _compared(self) -> object:
        value = self._single()
        for sign in ("==", "!="):
            if self._takes(sign):
                return (_folded(value) == _folded(self._single())) is (sign == "==")
        return value

    def _single(self) -> object:
        if self._takes("!"):
            return not self._single()
        if self._takes("("):
            value = self._either()
            assert self._takes(")")
            return value
        token = self._tokens.pop(0)
        if token[0] == "'":
            return token[1:-1].replace("''", "'")
        if token.isdigit():
            return int(token)
        if token in _WORDS:
            return _WORDS[token]
        return self._called(token) if self._takes("(") else self._member(token)

    def _called(self, name: str) -> object:
        given: list[object] = []
        while not self._takes(")"):
            given.append(self._either())
            self._takes(",")
        return self._functions[name](*given)

    def _member(self, name: str) -> object:
        value: Any = self._context[name]
        while self._takes("."):
            key = self._tokens.pop(0)
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def _takes(self, sign: str) -> bool:
        if self._tokens[:1] != [sign]:
            return False
        del self._tokens[0]
        return True


def _tokens(text: str) -> list[str]:
    found, end = list[str](), 0
    while text[end:].strip():
        token = _TOKEN.match(text, end)
        assert token, f"{text!r} at {end}"
        found.append(token[0].strip())
        end = token.end()
    return found


def _folded(value: object) -> object:
    """GitHub ignores case where it compares, and what is missing equals the empty text."""
    if value is None:
        return ""
    return value.casefold() if isinstance(value, str) else value


def _contains(where: Any, what: object) -> bool:  # noqa: ANN401 - a text or a list
    if isinstance(where, str):
        return as_text(what).casefold() in where.casefold()
    return _folded(what) in map(_folded, where)


_FUNCTIONS: Final[Mapping[str, Callable[..., object]]] = {
    "contains": _contains,
    "fromJSON": json.loads,
    "startsWith": lambda text, start: text.casefold().startswith(start.casefold()),
}
