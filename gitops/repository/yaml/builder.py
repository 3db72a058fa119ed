"""Builds plain values out of YAML events, without recursion."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from gitops.repository.positions import Path, Span
from gitops.repository.yaml.dumper import plain_value
from gitops.repository.yaml.problems import YamlProblem

MAX_DEPTH: Final = 64
MAX_ALIASED_NODES: Final = 10_000

_DROPPED: Final = -1
"""Part of the path of a value that does not count; no list has such an index."""


class StopParsingError(Exception):
    """The rest of the text cannot be made sense of; the problem is recorded already."""


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence that is not closed yet; `nodes` counts it and what it holds."""

    container: dict[str, object] | list[object]
    path: Path
    anchor: str | None
    key: str | None = None
    dropped: bool = False
    nodes: int = 1


@dataclass(slots=True)
class _Anchored:
    value: object
    nodes: int


@dataclass(slots=True)
class Builder:
    """Takes events one after another; `value`, spans and problems grow with them."""

    value: object = None
    documents: int = 0
    keys: dict[Path, Span] = field(default_factory=dict)
    values: dict[Path, Span] = field(default_factory=dict)
    problems: list[YamlProblem] = field(default_factory=list)
    _stack: list[_Frame] = field(default_factory=list)
    _anchors: dict[str, _Anchored] = field(default_factory=dict)
    _aliased: int = 0

    def take(self, event: Event) -> None:
        """The next event; raises StopParsingError where nothing after it can be understood."""
        if isinstance(event, ScalarEvent):
            self._scalar(event)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._open(event)
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._close()
        elif isinstance(event, AliasEvent):
            self._alias(event)
        elif isinstance(event, DocumentStartEvent):
            self._start(event)

    def _start(self, event: DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            self._problem(
                "REPO-R009",
                "a second document begins",
                event,
                "write one manifest per file: split it",
            )
            raise StopParsingError

    def _scalar(self, event: ScalarEvent) -> None:
        frame = self._stack[-1] if self._stack else None
        value = plain_value(event.value) if event.implicit[0] else event.value
        self._refuse_tag(event)
        if frame is not None and isinstance(frame.container, dict) and frame.key is None:
            self._key(frame, event, value)
            return
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, 1)
        self._add(value, event, 1)

    def _key(self, frame: _Frame, event: ScalarEvent, value: object) -> None:
        path = (*frame.path, event.value)
        frame.key, frame.dropped = event.value, True
        if not isinstance(value, str):
            self._problem(
                "REPO-R009", f"the key {event.value or 'null'} is not text", event, "quote it"
            )
        elif event.value == "<<" and event.implicit[0]:
            self._problem("REPO-R009", "merge keys are not used", event, "write the keys out")
        elif event.value in frame.container:
            message = f"duplicate key '{event.value}'"
            first = self.keys.get(path)
            self._problem("REPO-R003", message, event, "remove one of the two", first=first)
        else:
            frame.dropped = False
            self.keys[path] = _span(event)

    def _open(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        self._refuse_tag(event)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and isinstance(frame.container, dict) and frame.key is None:
            self._problem("REPO-R009", "a key is not text", event, "a key is a single word")
            raise StopParsingError
        if len(self._stack) >= MAX_DEPTH:
            self._problem("REPO-R008", f"nested deeper than {MAX_DEPTH} levels", event)
            raise StopParsingError
        container: dict[str, object] | list[object] = (
            {} if isinstance(event, MappingStartEvent) else []
        )
        path = self._path()
        self.values.setdefault(path, _span(event))
        if frame is None:
            self.value = container
        self._stack.append(_Frame(container, path, event.anchor))

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.anchor is not None:
            self._anchors[frame.anchor] = _Anchored(frame.container, frame.nodes)
        if self._stack:
            self._put(self._stack[-1], frame.container, frame.nodes)

    def _alias(self, event: AliasEvent) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is not None and isinstance(frame.container, dict) and frame.key is None:
            self._problem("REPO-R009", "a key is an alias", event, "write the key out")
            raise StopParsingError
        known = self._anchors.get(event.anchor or "")
        if known is None:
            self._problem("REPO-R009", "an alias of nothing that is complete above it", event)
            known = _Anchored(None, 1)
        self._aliased += known.nodes
        if self._aliased > MAX_ALIASED_NODES:
            message = f"aliases expand to more than {MAX_ALIASED_NODES} values"
            self._problem("REPO-R008", message, event, "write the values out")
            raise StopParsingError
        self._add(known.value, event, known.nodes)

    def _add(self, value: object, event: NodeEvent, nodes: int) -> None:
        self.values.setdefault(self._path(), _span(event))
        if self._stack:
            self._put(self._stack[-1], value, nodes)
        else:
            self.value = value

    def _put(self, frame: _Frame, value: object, nodes: int) -> None:
        frame.nodes += nodes
        if isinstance(frame.container, list):
            frame.container.append(value)
            return
        if frame.key is not None and not frame.dropped:
            frame.container[frame.key] = value
        frame.key = None

    def _path(self) -> Path:
        if not self._stack:
            return ()
        frame = self._stack[-1]
        if isinstance(frame.container, list):
            return (*frame.path, len(frame.container))
        if frame.key is None:
            return frame.path
        return (*frame.path, _DROPPED, frame.key) if frame.dropped else (*frame.path, frame.key)

    def _refuse_tag(self, event: NodeEvent) -> None:
        if getattr(event, "tag", None) is not None:
            self._problem("REPO-R009", "tags are not used", event, "remove the word after the !")

    def _problem(
        self,
        rule: str,
        message: str,
        event: Event,
        hint: str = "",
        *,
        first: Span | None = None,
    ) -> None:
        self.problems.append(
            YamlProblem(
                rule=rule,
                message=message,
                span=_span(event),
                path=tuple(part for part in self._path() if part != _DROPPED),
                hint=hint,
                first=first,
            )
        )


def _span(event: Event) -> Span:
    start, end = event.start_mark, event.end_mark
    return Span(start.index if start else 0, end.index if end else 0)
