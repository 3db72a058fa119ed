"""What client libraries send to the broker for a schema, which is not always its own text."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from gitops.broker.connection import NO_SCHEMA
from gitops.model.clients import ClientLanguage
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.client_profiles import CLIENT_PROFILES
from gitops.schemas.protobuf_native.client_envelopes import (
    cpp_envelope,
    go_envelope,
    python_envelope,
)
from gitops.schemas.row import DefinitionForm
from gitops.schemas.types import DEFINED_TYPES, TYPES

_COMPILED: Final = TYPES.types_with(DefinitionForm.DESCRIPTORS)
_ON_CPP: Final = frozenset[ClientLanguage]({"python", "node", "cpp"})


def sent_schema(
    schema: SchemaInfo, language: ClientLanguage | None
) -> SchemaInfo | Literal["NONE"]:
    """What a client with this schema sends to the broker (Java 4.0.7, Python 3.13.0).

    Clients on top of the C++ one send no type without a definition but STRING, which Python's sends
    with the text `null`. Of PROTOBUF_NATIVE each library writes the same descriptors in its own
    order and layout, and the broker compares bytes; .NET's are not known.
    """
    if schema.type in NO_SCHEMA:
        return "NONE"
    if schema.type is SchemaType.STRING and language in {"java", *_ON_CPP}:
        return replace(schema, schema="null" if language == "python" else "")
    if language in _ON_CPP and schema.type not in DEFINED_TYPES:
        return "NONE"
    if schema.type in _COMPILED:
        if language == "python":
            return replace(schema, schema=python_envelope(schema.schema))
        if language == "cpp":
            return replace(schema, schema=cpp_envelope(schema.schema))
        if language == "go":
            return replace(schema, schema=go_envelope(schema.schema))
    return schema


def own_form_text(schema: SchemaInfo, language: ClientLanguage | None) -> str:
    """What a library sends otherwise than Java's client, as a clause; empty for nothing."""
    if language is None:
        return ""
    library = CLIENT_PROFILES[language].library
    if language in _ON_CPP and schema.type not in DEFINED_TYPES | NO_SCHEMA | {SchemaType.STRING}:
        return f"{library} sends no schema for {schema.type.value}"
    is_own = schema.type in _COMPILED and language in {"python", "cpp", "go"}
    if is_own or (schema.type is SchemaType.STRING and language == "python"):
        return f"{library} sends {schema.type.value} in another form than Java's client"
    return ""
