"""The checker for JSON against one version: Avro definitions, and the old Jackson form.

A registration reaches it only with two Avro definitions, since equality has read both before;
the compatibility endpoint and consumers reach the rest (Pulsar 4.0.7).
"""

from __future__ import annotations

from enum import Enum

from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.avro import compatibility
from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.parser import AvroParser
from gitops.schemas.json.legacy_parser import LegacyParser, NotJacksonError, UnknownTypeIdError
from gitops.schemas.strategies import COMPATIBLE, End, LabelledSchema, Outcome, incompatible


class _CrashError(Exception):
    pass


class JacksonForm(Enum):
    """When the definition of a JSON schema is read as Jackson's JsonSchema, which old clients sent.

    Pulsar 4.0.7 tries it after Avro's SchemaParseException alone; 4.2.4 never (PIP-464), or, with
    `schemaJsonAllowLegacyJacksonFormat`, after any failure.
    """

    AFTER_PARSE_FAILURE = "after a SchemaParseException"
    AFTER_ANY_FAILURE = "after any failure"
    NEVER = "never"


class JsonChecker:
    """JsonSchemaCompatibilityCheck for a single version, by the rules of one broker line."""

    def __init__(self, parser: AvroParser, jackson: JacksonForm, legacy: LegacyParser) -> None:
        self._parser, self._jackson, self._legacy = parser, jackson, legacy

    def check(
        self, existing: LabelledSchema, candidate: LabelledSchema, strategy: Strategy
    ) -> Outcome:
        """How the check ends."""
        try:
            if self._jackson is JacksonForm.NEVER:
                return self._check_avro(existing, candidate, strategy)
            return self._check(existing, candidate, strategy)
        except _CrashError as error:
            return Outcome(end=End.CRASHED, reason=str(error))

    def _check_avro(
        self, existing: LabelledSchema, candidate: LabelledSchema, strategy: Strategy
    ) -> Outcome:
        for schema in (candidate, existing):
            if not self._is_avro(schema):
                return incompatible(f"{schema.label} is not a valid Avro schema")
        return compatibility.check(self._parser, [existing], candidate, strategy)

    def _check(
        self, existing: LabelledSchema, candidate: LabelledSchema, strategy: Strategy
    ) -> Outcome:
        if self._is_avro(existing):
            if self._is_avro(candidate):
                return compatibility.check(self._parser, [existing], candidate, strategy)
            if self._is_jackson(candidate):
                return COMPATIBLE
            return incompatible("the candidate is neither an Avro nor a JSON schema definition")
        if self._is_jackson(existing):
            if self._is_avro(candidate):
                return COMPATIBLE
            if self._is_jackson(candidate):
                return self._same_id(existing, candidate)
            return incompatible("the candidate is neither an Avro nor a JSON schema definition")
        return COMPATIBLE

    def _is_avro(self, schema: LabelledSchema) -> bool:
        try:
            self._parser.parse_data(schema.schema.data)
        except AvroParseError as error:
            stops = self._jackson is JacksonForm.AFTER_PARSE_FAILURE
            if stops and error.java is not JavaError.SCHEMA_PARSE:
                raise _CrashError(f"{schema.label}: {error}") from None
            return False
        return True

    def _is_jackson(self, schema: LabelledSchema) -> bool:
        try:
            self._legacy.read_data(schema.schema.data)
        except NotJacksonError:
            return False
        except UnknownTypeIdError as error:
            raise _CrashError(f"{schema.label}: {error}") from None
        return True

    def _same_id(self, existing: LabelledSchema, candidate: LabelledSchema) -> Outcome:
        old, new = (self._legacy.read_data(schema.schema.data) for schema in (existing, candidate))
        if old is None or new is None or old.id is None:
            raise _CrashError(f"{existing.label} or {candidate.label} has no 'id' to compare")
        return (
            COMPATIBLE if old.id == new.id else incompatible("the 'id' of the JSON schema differs")
        )
