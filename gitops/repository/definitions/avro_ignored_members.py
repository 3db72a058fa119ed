"""Members and logical types of a definition that Avro or Jackson ignores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeGuard

from gitops.model.findings import Finding
from gitops.model.rules import make_finding
from gitops.repository.definitions.shared_types import NAMED, PRIMITIVES, children, kind_of
from gitops.repository.definitions.text import DefinitionText
from gitops.repository.positions import pointer
from gitops.repository.suggestions import closest, one_line
from gitops.schemas.avro.json_text import blank_comments
from gitops.schemas.avro.schema import LOGICAL_TYPES, most_digits

# What Avro passes over in silence in a definition, and the types in which it may stand.


class IgnoredMember(NamedTuple):
    """What is ignored and why; `pointer` is that of the member to look at."""

    message: str
    pointer: str
    hint: str


def types_in(definition: Any) -> Iterator[tuple[dict[str, Any], str]]:  # noqa: ANN401 - JSON
    """Every type that is written as an object, with its pointer; the definition is read as JSON."""
    waiting: list[tuple[Any, str]] = [(definition, "")]
    while waiting:
        node, at = waiting.pop()
        if isinstance(node, list):
            waiting += [(value, f"{at}/{i}") for i, value in enumerate(node)]
        if isinstance(node, dict):
            yield node, at
            waiting += [(box[key], at + step) for step, box, key in children(node)]


# Logical types that Avro for Java passes over in silence, so that plain numbers and bytes remain.
#
# Names of nobody's are taken for somebody's own; only those that are nearly one of Avro's are
# told.


_PLAIN: Final = PRIMITIVES | NAMED | {"array", "map"}
_NEAR_LOGICAL_TYPE: Final = 0.85
"""Nearer than for other words: a word that is meant must not be told."""

_SIZES: Final = {"duration": 12, "uuid": 16}


def ignored_logical_types(definition: Any) -> Iterator[IgnoredMember]:  # noqa: ANN401 - JSON
    """Every logical type of a definition, read as JSON, that Avro ignores (Avro 1.11.4)."""
    for node, at in types_in(definition):
        yield from _ignored_of_type(node, at)
        yield from _ignored_of_fields(node, at)


def _ignored_of_type(node: dict[str, Any], at: str) -> Iterator[IgnoredMember]:
    name, kind = node.get("logicalType"), node.get("type")
    if not isinstance(name, str) or not isinstance(kind, str):
        return
    where = f"{at}/logicalType"
    bases = LOGICAL_TYPES.get(name)
    if bases is None:
        meant = closest(name, LOGICAL_TYPES, near=_NEAR_LOGICAL_TYPE)
        if meant:
            message = f"unknown logicalType '{name}': the values stay plain {kind}"
            yield IgnoredMember(message, where, f"did you mean {meant}?")
    elif kind in _PLAIN and kind not in bases:
        message = f"logicalType {name} does not go with {kind}: it is ignored"
        yield IgnoredMember(message, where, f"it is valid on {' or '.join(bases)}")
    elif name == "decimal":
        yield from _ignored_of_decimal(node, at)
    elif kind == "fixed" and name in _SIZES and node.get("size") != _SIZES[name]:
        message = f"logicalType {name} needs a fixed of size {_SIZES[name]}: it is ignored"
        yield IgnoredMember(message, where, f"write size {_SIZES[name]}")


def _ignored_of_decimal(node: dict[str, Any], at: str) -> Iterator[IgnoredMember]:
    precision, scale = node.get("precision"), node.get("scale", 0)
    if "precision" not in node:
        message = "a decimal without precision: its logicalType is ignored"
        hint = "add the number of digits, as precision: 12, and scale: 2 for those after the point"
        yield IgnoredMember(message, f"{at}/logicalType", hint)
    elif not _is_count(precision) or precision == 0:
        message = "the precision of a decimal must be a whole number above 0: it is ignored"
        yield IgnoredMember(message, f"{at}/precision", "write the number of digits")
    elif not _is_count(scale) or scale > precision:
        message = f"the scale of a decimal must be 0 to its precision {precision}: it is ignored"
        hint = "precision counts all digits, scale those after the point"
        yield IgnoredMember(message, f"{at}/scale", hint)
    elif node["type"] == "fixed" and precision > (most := _most(node.get("size"))):
        message = (
            f"a fixed of size {node.get('size')} has room for {most} digits: the decimal is ignored"
        )
        yield IgnoredMember(message, f"{at}/precision", "lower it, or make the fixed larger")


def _most(size: object) -> int:
    return most_digits(size) if _is_count(size) else 0


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _ignored_of_fields(node: dict[str, Any], at: str) -> Iterator[IgnoredMember]:
    """A logicalType beside a field's type, where Avro looks for none."""
    fields = node.get("fields")
    for index, field in enumerate(fields if isinstance(fields, list) else ()):
        name = field.get("logicalType") if isinstance(field, dict) else None
        if isinstance(name, str) and name in LOGICAL_TYPES:
            message = f"logicalType {name} is beside the type of a field: it is ignored"
            kind = field.get("type")
            inner = kind if isinstance(kind, str) else LOGICAL_TYPES[name][0]
            hint = f'put it into the type: {{"type": "{inner}", "logicalType": "{name}"}}'
            yield IgnoredMember(message, f"{at}/fields/{index}/logicalType", hint)


# Members of a definition that mean nothing to Avro, and seem to be meant for one that does.
#
# Any member may stand in a schema, so that only those are told that are nearly one of Avro's, and
# a default in a type, where people put it and Avro never looks.


_OF_FIELD: Final = ("aliases", "default", "doc", "order")
_OF_NAMED: Final = {
    "record": ("aliases", "doc", "namespace"),
    "error": ("aliases", "doc", "namespace"),
    "enum": ("aliases", "default", "doc", "namespace"),
    "fixed": ("aliases", "namespace"),
}
_OWN: Final = frozenset({
    "aliases", "default", "doc", "fields", "items", "logicalType", "name", "namespace", "order",
    "precision", "scale", "size", "symbols", "type", "values",
})  # fmt: skip
_NEAR_MEMBER: Final = 0.8
_WITHOUT_DEFAULT: Final = PRIMITIVES | {"array", "map", "fixed"}
_MEMBER: Final = re.compile(r'"([^"\\]{2,20})"\s*:')
_INNERMOST: Final = re.compile(r'\{[^{}]*"default"[^{}]*\}')


def may_have_ignored_members(text: str) -> bool:
    """Whether it pays to read the definition for them: one without is told at once."""
    words = set(_MEMBER.findall(text)) - _OWN
    return any(_meant(word) for word in words) or any(
        '"name"' not in value for value in _INNERMOST.findall(text)
    )


def ignored_members(definition: Any) -> Iterator[IgnoredMember]:  # noqa: ANN401 - JSON
    """Every such member of a definition, read as JSON."""
    for node, at in types_in(definition):
        kind = kind_of(node)
        yield from _misspelt(node, at, _OF_NAMED.get(kind, ()))
        if kind in _WITHOUT_DEFAULT and "default" in node:
            message = f"a default in the type {kind}, where Avro does not look: it is ignored"
            hint = "move it out of the type, beside the field's name"
            yield IgnoredMember(message, f"{at}/default", hint)
        if kind in NAMED and isinstance(fields := node.get("fields"), list):
            for index, field in enumerate(fields):
                if isinstance(field, dict):
                    yield from _misspelt(field, f"{at}/fields/{index}", _OF_FIELD)


def _misspelt(
    node: dict[str, Any], at: str, meaningful: tuple[str, ...]
) -> Iterator[IgnoredMember]:
    for word in node.keys() - _OWN:
        meant = _meant(word)
        if meant in meaningful and meant not in node:
            message = f"'{word}' means nothing to Avro: it is ignored"
            yield IgnoredMember(message, f"{at}{pointer((word,))}", f"did you mean {meant}?")


@lru_cache(maxsize=1024)
def _meant(word: str) -> str | None:
    """Avro's member that the word is nearly, of those that may be left out."""
    known = ("aliases", "default", "doc", "namespace", "order")
    return closest(word, known, near=_NEAR_MEMBER)


# Members that an object of a definition has twice: Jackson takes the last one, without a word.


_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]', re.DOTALL)


class RepeatedMember(NamedTuple):
    """The name, and the character where it stands again."""

    name: str
    offset: int


def repeated_member_findings(given: DefinitionText, subject: str) -> Iterator[Finding]:
    """A warning at each of them."""
    for repeated_member in repeated_members(given.text):
        yield make_finding(
            "AVRO-W022",
            one_line(f"'{repeated_member.name}' is given twice: only the last one is used"),
            location=given.places.at_offset(repeated_member.offset),
            subject=subject,
            hint="keep one of them",
        )


def repeated_members(text: str) -> tuple[RepeatedMember, ...]:
    """Every such member, each time that it stands again; none in what is no JSON."""
    blanked = blank_comments(text) if "/" in text else text
    end = _end_if_any(blanked)
    return tuple(_repeated_in_json(blanked[:end])) if end else ()


def _end_if_any(text: str) -> int:
    """Where the value at the start of the text ends; 0 where no member is repeated in it."""
    repeated = False

    def look(members: list[tuple[str, Any]]) -> None:
        nonlocal repeated
        repeated = repeated or len({name for name, _ in members}) < len(members)

    decoder = json.JSONDecoder(object_pairs_hook=look, parse_int=len, parse_float=len)
    try:
        _, end = decoder.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
    except (ValueError, RecursionError):
        return 0
    return end if repeated else 0


def _repeated_in_json(text: str) -> Iterator[RepeatedMember]:
    """Those of a text that is JSON without comments."""
    names: list[set[str]] = []  # of the objects around; arrays have none
    before, at = "", 0
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word in ("{", "["):
            names.append(set())
        elif word in ("}", "]"):
            names.pop()
        elif word == ":":
            name = json.loads(before)
            if name in names[-1]:
                yield RepeatedMember(name, at)
            names[-1].add(name)
        before, at = word, match.start()
