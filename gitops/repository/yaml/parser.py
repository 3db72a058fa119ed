"""One YAML text into plain values, the span of every key and value, and problems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import yaml
from yaml.events import DocumentStartEvent, Event

from gitops.repository.positions import Path, Span
from gitops.repository.yaml.builder import Builder, StopParsingError
from gitops.repository.yaml.problems import YamlProblem, mistake

# From bytes to a text that YAML may be made of.

MAX_BYTES: Final = 1024 * 1024
"""A manifest is written by people; definitions stand in files of their own."""

# What YAML 1.2 calls printable, turned round. U+FEFF may stand at the start only.
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def decode(data: bytes) -> tuple[str, YamlProblem | None]:
    """The text without byte order mark, or as much of it as shows where the problem is."""
    if len(data) > MAX_BYTES:
        message = f"larger than {MAX_BYTES // 1024} KiB"
        return "", YamlProblem(rule="REPO-R008", message=message, span=Span(0, 0))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _undecodable(data, error)
    if match := _UNPRINTABLE.search(text):
        message = f"control character U+{ord(match.group()):04X} is not allowed"
        hint = 'write it as an escape in a "quoted" text'
        span = Span(match.start(), match.end())
        return text, YamlProblem(rule="REPO-R001", message=message, span=span, hint=hint)
    return text, None


def _undecodable(data: bytes, error: UnicodeDecodeError) -> tuple[str, YamlProblem]:
    # `error.object` lacks the byte order mark that the codec has taken off.
    before = bytes(error.object[: error.start]).decode("utf-8", "replace")
    message = f"byte 0x{error.object[error.start]:02X} is not UTF-8"
    problem = YamlProblem(
        rule="REPO-R001",
        message=message,
        span=Span(len(before), len(before) + 1),
        hint="save the file as UTF-8",
    )
    return data.decode("utf-8", "replace"), problem


_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedYaml:
    """The value of the (only) document; `complete` is false where it could not be read to its end.

    `keys` and `values` give the span of every node by its path.
    """

    text: str
    value: object
    empty: bool
    complete: bool
    keys: Mapping[Path, Span]
    values: Mapping[Path, Span]
    problems: tuple[YamlProblem, ...]


# A change's files are read for what they mention, and in both versions, of which most are the same.
@lru_cache(maxsize=2048)
def parse_yaml(data: bytes) -> ParsedYaml:
    """Read a text of one document; never raises for what stands in it. Nobody changes the value."""
    text, problem = decode(data)
    builder = Builder()
    if problem is not None:
        return _result(text, builder, [problem], complete=False)
    problems: list[YamlProblem] = []
    complete = True
    try:
        for event in _events(text):
            builder.take(event)
    except StopParsingError:
        complete = False
    except yaml.YAMLError as error:
        complete = False
        problems.append(_syntax_problem(error, text))
    return _result(text, builder, problems, complete=complete)


def _events(text: str) -> Iterator[Event]:
    documents = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, DocumentStartEvent):
            documents += 1
            if documents > 1:
                yield event
                return
        yield event


def _result(
    text: str, builder: Builder, problems: list[YamlProblem], *, complete: bool
) -> ParsedYaml:
    return ParsedYaml(
        text=text,
        value=builder.value,
        empty=builder.documents == 0,
        complete=complete,
        keys=builder.keys,
        values=builder.values,
        problems=(*builder.problems, *problems),
    )


def _syntax_problem(error: yaml.YAMLError, text: str) -> YamlProblem:
    if not isinstance(error, yaml.MarkedYAMLError):
        return YamlProblem(rule="REPO-R001", message="not YAML", span=Span(0, 1))
    span = mistake(error, text)
    return YamlProblem(rule="REPO-R001", message=span.message, span=span.span, hint=span.hint)
