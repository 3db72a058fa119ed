"""What is shown of a message that failed: never a value of a sensitive field."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

from gitops.model.replay import Direction, LogicalTypes
from gitops.model.schema import SchemaInfo
from gitops.replay.counts import Key
from gitops.replay.job import Job
from gitops.replay.kernel.definition import remove_symbol
from gitops.replay.kernel.protocol import Reason, Unreadable, ValueChange
from gitops.replay.kernel.schema_types import carries_names, replace_decimals
from gitops.replay.sensitive_fields import SensitiveFields

FORWARD: Final = Direction.FORWARD.value

WITHHELD: Final = "(withheld: it cannot be read to its end, and some of its fields are sensitive)"
MISNAMED: Final = "(withheld: a name in `sensitive` matches no field)"

_LONGEST: Final = 2_000
"""Characters of a value; what is cut off ends in an ellipsis."""


class FailureDisplay:
    """The message and the value of a failed row, read again slowly."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._sensitive = {name: SensitiveFields.of(replay) for name, replay in job.replays.items()}

    @property
    def shows_values(self) -> bool:
        """Whether values are shown at all."""
        return self._job.show_values

    def hides_value(self, topic: str, path: str) -> bool:
        """Whether a value at a path is sensitive, or may hold something that is."""
        return self._sensitive[topic].hides_value(path)

    def hides(self, topic: str, path: str) -> bool:
        """Whether the values at a path are sensitive: the symbols of an enum are values too."""
        return self._sensitive[topic].hides(path)

    def reason(self, topic: str, reason: Reason) -> Reason:
        """The reason, without the symbol that it may name if that is sensitive."""
        if self.hides(topic, reason.path):
            return reason._replace(reason=remove_symbol(reason.reason))
        return reason

    def change(
        self, topic: str, path: str, what: ValueChange
    ) -> tuple[str, str | None, str | None]:
        """Why a value is another one, the value before and after; those only if they are shown."""
        if not self._job.show_values or self.hides_value(topic, path):
            return what.reason, None, None
        return what.reason, _value_text(what.before), _value_text(what.after)

    def __call__(self, key: Key, reason: Reason, payload: bytes | None) -> tuple[str, str | None]:
        """The value is None unless values are to be shown, and where the writer cannot read it."""
        sensitive = self._sensitive[key.topic]
        pair = self._pair(key) if self._job.show_values else None
        if pair is None or payload is None:
            return reason.reason, None
        if sensitive.all_of_it:
            return reason.reason, MISNAMED
        how = self._job.replays[key.topic].samples[key.sample].logical_types
        message, partly = self._read_again(*pair, how, payload)
        if sensitive:  # what a message quotes cannot be told apart
            message = reason.reason
        return message or reason.reason, self._value(pair[0], payload, partly, sensitive)

    def _pair(self, key: Key) -> tuple[SchemaInfo, SchemaInfo] | None:
        """Who wrote the payload and who could not read it; None where nobody was asked."""
        replay = self._job.replays[key.topic]
        if key.version is None:
            return None
        written = replay.versions[key.version]
        if not key.reader:
            return (written, replay.proposed) if key.direction == FORWARD else None
        writer = replay.proposed if key.direction == FORWARD else written
        readers = {
            (reader.name, reader.direction.value): reader.schema for reader in replay.readers
        }
        return writer, readers[key.reader, key.direction]

    def _read_again(
        self, writer: SchemaInfo, reader: SchemaInfo, how: LogicalTypes, payload: bytes
    ) -> tuple[str, Any]:
        """The message of the reader, and what it read up to where it stopped."""
        try:
            self._job.kernels.row_reader(writer, reader, how).read(payload)
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
        sensitive: SensitiveFields,
    ) -> str | None:
        """The message as its writer's own schema reads it, else the part that was read.

        Where that part has no names of fields, as in JSON, what is sensitive may have been taken
        for any of them: in a broken message, or one of another version.
        """
        try:
            try:
                read = self._job.kernels.row_reader(writer, writer, "none").read(payload)
                value = replace_decimals(read, writer)
            except Unreadable:
                if sensitive and not carries_names(writer):
                    return WITHHELD
                value = partly
            return None if value is None else as_text(sensitive.redacted(value))
        except (ValueError, RecursionError):
            return None


def as_text(value: Any) -> str:  # noqa: ANN401 - any value that a schema can say
    """A value for a person, as JSON where JSON can say it."""
    text = json.dumps(value, ensure_ascii=False, default=_json_value)
    return _shorten(text)


def _value_text(value: Any) -> str:  # noqa: ANN401 - any value that a schema can say
    """As `as_text`, but for text, which stands for itself."""
    return _shorten(value) if isinstance(value, str) else as_text(value)


def _shorten(message: str) -> str:
    text = message.encode("utf-8", "backslashreplace").decode()  # JSON can say half of a character
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _json_value(value: object) -> str | float:
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)
    if isinstance(value, Decimal) and Decimal(repr(float(value))) == value:
        return float(value)
    return value.hex() if isinstance(value, bytes | bytearray | memoryview) else str(value)
