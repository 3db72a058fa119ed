"""What a source makes of the bytes of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitops.model.sample_formats import SampleFormat
from gitops.replay.job import Owner
from gitops.replay.sources.source import File, Part, UnreadableError, source_for


class Known:
    """Versions by the text of their definitions."""

    def __init__(self, versions: dict[bytes, int] | None = None, *, keys: bool = True) -> None:
        self._versions = versions or {}
        self._keys = keys

    def version_of(self, _owner: Owner, definition: bytes) -> int | None:
        return self._versions.get(definition)

    def need_keys(self, _owners: Iterable[Owner]) -> bool:
        return self._keys


def whole(path: Path, sample_format: SampleFormat, **columns: str) -> Part:
    file = File(name=path.name, uri=str(path), size=path.stat().st_size if path.exists() else 0)
    owners = (Owner("shop/orders/created", 0),)
    return Part(owners=owners, format=sample_format, file=file, columns=columns)


def rows(part: Part, versions: Known | None = None) -> tuple[list[dict[str, Any]], str]:
    """All rows of all parts, and why there are no more."""
    source = source_for(part.format)
    found: list[dict[str, Any]] = []
    try:
        for each in source.parts(part):
            for batch in source.batches(each, versions or Known()):
                found.extend(batch.to_pylist())
    except (UnreadableError, OSError) as error:
        return found, str(error)
    return found, ""


def payloads(part: Part) -> tuple[list[bytes | None], str]:
    """Only the payloads."""
    found, problem = rows(part)
    return [row["payload"] for row in found], problem


def in_memory(part: Part, content: bytes) -> Part:
    """The same part of a file that somebody else opened."""
    return replace(part, file=replace(part.file, content=content))
