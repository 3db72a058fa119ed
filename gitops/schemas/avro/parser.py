"""Text to schema, as strict and as lenient as the Schema.Parser of Avro for Java.

What was read lately is kept, whole definitions by their text and fields by what they say, so that
a definition seen before costs nothing and a new version only what is new in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitops.schemas.avro import avro_1_12, avro_1_12_2
from gitops.schemas.avro.errors import AvroParseError, AvroProblem
from gitops.schemas.avro.fragments import KnownFragments, RecordText, SizeBoundedCache, cut_type
from gitops.schemas.avro.incremental_parser import IncrementalParser
from gitops.schemas.avro.json_text import JsonTextError
from gitops.schemas.avro.node_parser import Reader
from gitops.schemas.avro.schema import Record, Schema, Union
from gitops.schemas.java_text import java_text


@dataclass(slots=True, eq=False)
class _Parsed:
    schema: Schema
    defaults_valid: bool


class AvroParser:
    """The parser of one version of Avro for Java.

    `whole` reads a definition and finds each problem; a definition that it refuses for a name that
    is defined twice is left to `other`. `quick` may refuse what `whole` accepts, and accepts
    nothing else. Not `limited`: Jackson's limits are not looked at (before Jackson 2.15).
    `may_repeat`: what has one name twice can be written down.
    """

    def __init__(
        self,
        *,
        whole: type[Reader] = Reader,
        other: type[Reader] | None = None,
        quick: type[IncrementalParser] = IncrementalParser,
        limited: bool = True,
        may_repeat: bool = False,
    ) -> None:
        self.may_repeat: Final = may_repeat
        self._reader, self._quick_reader, self._limited = whole, quick, limited
        self._other_reader = other
        # A parsed definition takes about five times the memory of its text.
        self._known: SizeBoundedCache[bytes, _Parsed] = SizeBoundedCache(2**24)
        self._fragments = KnownFragments()

    def parse(self, text: str, *, validate_defaults: bool = False) -> Schema:
        """The schema that `text` defines; raises AvroParseError with every problem found.

        Like the broker's checks, it looks at defaults only if told to: a broker takes a first
        schema with an invalid default and fails on every later one (Pulsar 4.0.7). Nobody may
        change the schema: others get it too.
        """
        try:
            data = text.encode()
        except UnicodeEncodeError:  # half a character, which no bytes can say
            return self._read(text, strict=validate_defaults).schema
        return self.parse_data(data, validate_defaults=validate_defaults)

    def parse_data(self, data: bytes, *, validate_defaults: bool = False) -> Schema:
        """As `parse`, for the bytes that a registry stores; raises AvroParseError."""
        parsed = self._known.get(data)
        if parsed is None:
            parsed = self._read(java_text(data), strict=validate_defaults)
            self._known.put(data, parsed)
        if validate_defaults and not parsed.defaults_valid:
            self._whole(java_text(data), strict=True)  # says which
        return parsed.schema

    def forget(self) -> None:
        """Forget what was read, so that the next reading starts cold."""
        self._known.clear()
        self._fragments.clear()

    def _read(self, text: str, *, strict: bool) -> _Parsed:
        """A quick reading may answer what a strict one refuses, and notes it."""
        return self._quick(text) or self._whole(text, strict=strict)

    def _quick(self, text: str) -> _Parsed | None:
        """What `_whole` answers, or None: any error is left to it, which sees what comes first."""
        reader = self._quick_reader(self._fragments)
        try:
            node = cut_type(text.encode())
            if not isinstance(node, RecordText | dict):  # a record's fields are looked at for depth
                return None
            return _noted(reader.schema(node, ""), reader)
        except (AvroParseError, JsonTextError, UnicodeError, RecursionError):
            return None

    def _whole(self, text: str, *, strict: bool) -> _Parsed:
        reader = self._reader(strict=strict)
        try:
            return _noted(reader.read_text(text, limited=self._limited), reader)
        except JsonTextError as error:
            raise AvroParseError((not_json(error),)) from None
        except AvroParseError as error:
            if self._other_reader is None or error.problems[0].kind != "redefined":
                raise
            try:
                reader = self._other_reader(strict=strict)
                return _noted(reader.read_text(text, limited=self._limited), reader)
            except AvroParseError:
                raise error from None


def not_json(error: JsonTextError) -> AvroProblem:
    """The problem of a text that is not JSON, at the character where that shows."""
    return AvroProblem(kind="not-json", message=f"not JSON: {error}", offset=error.offset)


def _noted(schema: Schema, reader: Reader) -> _Parsed:
    if isinstance(schema, Record | Union):
        schema.facts = reader.names.facts()
    return _Parsed(schema, reader.defaults_valid)


AVRO_1_11: Final = AvroParser()
"""Avro 1.11.4 with Jackson 2.15 or later (Pulsar 4.0.7)."""

AVRO_1_11_UNLIMITED: Final = AvroParser(limited=False)
"""Avro 1.11.4 with Jackson 2.14 (Pulsar 3.0.7)."""

AVRO_1_12_PLAIN_NAMES: Final = AvroParser(
    whole=avro_1_12.PlainNamesReader, quick=avro_1_12.PlainNamesQuickReader, may_repeat=True
)
"""Avro 1.12.0 with its own rule for names (Pulsar 4.1, read and not run)."""

AVRO_1_12: Final = AvroParser(
    whole=avro_1_12.WholeReader, quick=avro_1_12.QuickReader, may_repeat=True
)
"""Avro 1.12.0 (Pulsar 4.2.4, 5.0.0-M1)."""

AVRO_1_12_2: Final = AvroParser(
    whole=avro_1_12_2.WholeReader, quick=avro_1_12_2.QuickReader, may_repeat=True
)
"""Avro 1.12.2, and what Pulsar 5.0.1 does before."""

ANY_AVRO: Final = AvroParser(
    whole=avro_1_12.LenientReader,
    other=avro_1_12_2.WholeReader,
    quick=avro_1_12.LenientQuickReader,
)
"""What any of these reads, with the same meaning: for definitions that no broker is asked about.

Jackson's limits hold: without them a file could be nested deeper than can be read.
"""
