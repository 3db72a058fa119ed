"""Plain values as YAML that reads back as exactly the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

# What a plain scalar means: YAML 1.2's core schema, in which `on` and `no` are words.

Scalar = str | int | float | bool | None

_WORDS: Final[dict[str, bool | None]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_FIRST: Final = frozenset("-+.0123456789")
INTEGER: Final = re.compile(r"[-+]?[0-9]+")
RADIX: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
SPECIAL_FLOAT: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS: Final = 400


def plain_value(text: str) -> Scalar:
    """The value of a plain scalar; a number of more than 400 digits stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST or len(text) > _MAX_DIGITS:
        return text
    return _number(text)


def _number(text: str) -> Scalar:
    if INTEGER.fullmatch(text):
        return int(text)
    if RADIX.fullmatch(text):
        return int(text, 0)
    if FLOAT.fullmatch(text):
        return float(text)
    if SPECIAL_FLOAT.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text


_WIDE: Final = 1 << 30
_CALM: Final = re.compile(
    r"[\x21-\x7e\xa1-\ud7ff](?:[\x20-\x7e\xa1-\ud7ff]*[\x21-\x7e\xa1-\ud7ff])?"
)
_BASE: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]  # chosen while the program runs
    """Quotes what YAML 1.2 would not read as text, and everything unusual."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


def _represent_text(dumper: Any, text: str) -> yaml.ScalarNode:  # noqa: ANN401 - untyped base
    calm = _CALM.fullmatch(text) and isinstance(plain_value(text), str)
    node: yaml.ScalarNode = dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=None if calm else '"'
    )
    return node


_Dumper.add_representer(str, _represent_text)


def yaml_text(value: Mapping[str, object]) -> str:
    """A block mapping, its keys in the order given."""
    text: str = yaml.dump(
        dict(value),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=_WIDE,
    )
    return text


def flow_text(value: object) -> str:
    """A value on one line, as it stands in a flow collection."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=True,
        width=_WIDE,
    )
    return text.removesuffix("...\n").strip()
