"""Why a text is not an Avro schema."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class JavaError(Enum):
    """The kind of exception that Avro for Java throws; the broker treats them differently.

    A SchemaParseException of a JSON schema makes the broker try the old Jackson format, and only
    it is reported as incompatible by the checkers; the others end in a server error.
    """

    SCHEMA_PARSE = "SchemaParseException"
    RUNTIME = "AvroRuntimeException"


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroProblem:
    """One problem: its `kind`, a message, and where.

    `pointer` is an RFC 6901 pointer into the definition; `offset` a character offset where the
    text is not JSON at all. `name` is the name that an "undefined-name" problem is about.
    """

    kind: str
    message: str
    pointer: str = ""
    name: str = ""
    offset: int | None = None
    java: JavaError = JavaError.SCHEMA_PARSE


class AvroParseError(ValueError):
    """The text is not a schema; `problems` holds every problem found, never none."""

    def __init__(self, problems: tuple[AvroProblem, ...]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems

    @property
    def java(self) -> JavaError:
        """What Java throws: it stops at the first problem."""
        return self.problems[0].java
