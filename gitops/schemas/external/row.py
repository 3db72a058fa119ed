"""The row of EXTERNAL in the table of schema types, and that of lines that do not know it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.row import InvalidSchemaDataError, SchemaTypeRow, UndecodableError
from gitops.schemas.strategies import COMPATIBLE, LabelledSchema, Outcome

_NOT_KNOWN: Final = "this broker line does not support the schema type"


def _accept(_schema: StoredSchema) -> None:
    """Any data is valid."""


def _compatible(
    _existing: Sequence[LabelledSchema], _candidate: LabelledSchema, _strategy: Strategy
) -> Outcome:
    """Pulsar 4.2.4's ExternalSchemaCompatibilityCheck: also under ALWAYS_INCOMPATIBLE."""
    return COMPATIBLE


def _fail_to_pack(_text: str) -> NoReturn:
    raise UndecodableError(_NOT_KNOWN)


def _refuse(_schema: StoredSchema) -> NoReturn:
    raise InvalidSchemaDataError(_NOT_KNOWN, status=500)


EXTERNAL: Final = SchemaTypeRow(validate=_accept, check=_compatible, is_opaque=True)

UNKNOWN: Final = SchemaTypeRow(validate=_refuse, pack=_fail_to_pack, is_known=False)
"""Up to Pulsar 4.0 admin REST answers 500 to the name."""
