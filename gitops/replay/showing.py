"""What is shown of a message that failed: never a value of a sensitive field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from gitops.model.replay import Direction, TopicReplay
from gitops.model.schema import SchemaInfo
from gitops.replay.job import Job
from gitops.replay.kernel.avro.values import Tagged
from gitops.replay.kernel.symbols import without_symbol
from gitops.replay.kernel.walk import Reason, Unreadable
from gitops.replay.other_names import other_names
from gitops.replay.places import Path, Places, Sensitive, is_sensitive, schemas_of, steps
from gitops.replay.tally import Key

REDACTED: Final = "(sensitive)"

FORWARD: Final = Direction.FORWARD.value

_LONGEST: Final = 2_000
"""Characters of a value; what is cut off ends in an ellipsis."""


class Showing:
    """The message and the value of a failed row, read again slowly."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._sensitive = {name: sensitive_names(one) for name, one in job.replays.items()}
        self._places: dict[str, Places] = {}

    def hides(self, topic: str, path: str) -> bool:
        """Whether the values at a path are sensitive: the symbols of an enum are values too."""
        return is_sensitive(steps(path), self._sensitive[topic])

    def reason(self, topic: str, reason: Reason) -> Reason:
        """The reason, without the symbol that it may name if that is sensitive."""
        if self.hides(topic, reason.path):
            return reason._replace(reason=without_symbol(reason.reason))
        return reason

    def __call__(self, key: Key, reason: Reason, payload: bytes | None) -> tuple[str, str | None]:
        """The value is None unless values are to be shown, and where the writer cannot read it."""
        pair = self._pair(key) if self._job.show_values and payload is not None else None
        if pair is None or payload is None:
            return reason.reason, None
        sensitive = self._sensitive[key.topic]
        message, partly = self._read_again(*pair, payload)
        if sensitive:  # what a message quotes cannot be told apart
            message = reason.reason
        places = self._places_of(key.topic)
        return message or reason.reason, self._value(pair[0], payload, partly, sensitive, places)

    def _places_of(self, topic: str) -> Places:
        if topic not in self._places:
            sensitive = self._sensitive[topic]
            schemas = schemas_of(self._job.replays[topic]) if sensitive else []
            self._places[topic] = Places.of(schemas, lambda path: is_sensitive(path, sensitive))
        return self._places[topic]

    def _pair(self, key: Key) -> tuple[SchemaInfo, SchemaInfo] | None:
        """Who wrote the payload and who could not read it; None where nobody was asked."""
        replay = self._job.replays[key.topic]
        if key.version is None:
            return None
        written = replay.versions[key.version]
        if not key.reader:
            return (written, replay.proposed) if key.direction == FORWARD else None
        writer = replay.proposed if key.direction == FORWARD else written
        readers = {(one.name, one.direction.value): one.schema for one in replay.readers}
        return writer, readers[key.reader, key.direction]

    def _read_again(
        self, writer: SchemaInfo, reader: SchemaInfo, payload: bytes
    ) -> tuple[str, Any]:
        """The message of the reader, and what it read up to where it stopped."""
        try:
            self._job.kernels.row_reader(writer, reader).read(payload)
        except Unreadable as error:
            return error.message, error.value
        except (ValueError, RecursionError):
            pass
        return "", None

    def _value(
        self,
        writer: SchemaInfo,
        payload: bytes,
        partly: object,
        sensitive: Sensitive,
        places: Places,
    ) -> str | None:
        """The message as its writer's own schema reads it, else the part that was read."""
        try:
            try:
                value = self._job.kernels.row_reader(writer, writer).read(payload)
            except Unreadable:
                value = partly
            return None if value is None else as_text(redacted(value, sensitive, places))
        except (ValueError, RecursionError):
            return None


def sensitive_names(replay: TopicReplay) -> Sensitive:
    """The sensitive fields of all samples of a topic, as steps of their paths.

    A field is so under its other names too: those that an alias in any of the schemas says, and
    those that it has in other versions of a Protobuf message, which know it by its number.
    """
    found = {steps(each) for sample in replay.samples for each in sample.sensitive}
    if not found:
        return frozenset()
    groups = other_names(schemas_of(replay))
    grown = True
    while grown:
        more = {path for names in groups for path in _under_names(found, names)} - found
        found |= more
        grown = bool(more)
    return frozenset(found)


def _under_names(found: Iterable[tuple[str, ...]], names: set[str]) -> Iterator[tuple[str, ...]]:
    """Paths under the other names of a field; of one above it, the last step says enough."""
    for path in found:
        if names & set(path[-1:]):
            yield from ((name,) for name in names)
        elif names & set(path):
            yield path[-1:]


def redacted(value: Any, sensitive: Sensitive, places: Places, at: Path = ()) -> Any:  # noqa: ANN401
    """The value, with REDACTED for all that is sensitive, or stands where that should be."""
    if isinstance(value, dict):
        return {
            name: REDACTED
            if is_sensitive((*at, str(name)), sensitive)
            else redacted(inner, sensitive, places, (*at, str(name)))
            for name, inner in value.items()
        }
    if isinstance(value, Tagged):
        return redacted(value.value, sensitive, places, at)
    if isinstance(value, list | tuple):
        return [redacted(inner, sensitive, places, at) for inner in value]
    return value if value is None or not places.may_hold(at) else REDACTED


def as_text(value: Any) -> str:  # noqa: ANN401 - any value that a schema can say
    """A value for a person, as JSON where JSON can say it."""
    said = json.dumps(value, ensure_ascii=False, default=_plain)
    text = said.encode("utf-8", "backslashreplace").decode()  # JSON can say half of a character
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _plain(value: object) -> str | float:
    if isinstance(value, Decimal) and Decimal(repr(float(value))) == value:
        return float(value)
    return value.hex() if isinstance(value, bytes | bytearray | memoryview) else str(value)
