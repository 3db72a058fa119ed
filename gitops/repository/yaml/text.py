"""From bytes to a text that YAML may be made of."""

from __future__ import annotations

import re
from typing import Final

from gitops.repository.positions import Span
from gitops.repository.yaml.problems import YamlProblem

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
