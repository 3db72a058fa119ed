"""Where in a text a secret may stand, so that no output shows that line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitops.repository.documents.authentication import REFERENCE
from gitops.repository.positions import Path, child
from gitops.repository.yaml.parser import ParsedYaml

_SECRET_KEY: Final = re.compile(r"token|password|secret|credential|private", re.IGNORECASE)


def secret_offsets(parsed: ParsedYaml) -> Iterator[tuple[int, int]]:
    """Start and end of every scalar that may be a secret, and not a reference to one."""
    for path, span in parsed.values.items():
        text = parsed.text[span.start : span.end]
        if _is_secret_place(path, text) and not REFERENCE.fullmatch(text.strip("\"'")):
            value = _value(parsed.value, path)
            if not isinstance(value, dict | list):
                yield span


def _is_secret_place(path: Path, text: str) -> bool:
    if not path:
        return False
    if any(part == "authentication" or _SECRET_KEY.search(str(part)) for part in path):
        return True
    return "@" in text and "://" in text


def _value(document: object, path: Path) -> object:
    here = document
    for part in path:
        try:
            here = child(here, part)
        except KeyError:
            return None
    return here
