"""Bodies of admin REST v2, read strictly: whatever is not as expected fails closed."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gitops.model.policy import (
    NamespacePolicies,
    Retention,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
)
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState
from gitops.registries.pulsar.error_responses import unexpected_body

if TYPE_CHECKING:
    from gitops.model.names import NamespaceName
    from gitops.registries.pulsar.error_responses import Answer

Version = Annotated[int, Field(ge=0)]


class _Body(BaseModel):
    """Members that later brokers add are passed over; those that are read must be right."""

    model_config = ConfigDict(strict=True, extra="ignore")


class SchemaResponse(_Body):
    """One stored version; `timestamp` in ms since 1970, `data` empty for primitives."""

    version: Version
    type: SchemaType
    timestamp: int
    data: str
    properties: dict[str, str] | None


class AllSchemasResponse(_Body):
    """GET …/schemas: the live history, oldest first."""

    get_schema_responses: list[SchemaResponse] = Field(alias="getSchemaResponses")


class VersionBody(_Body):
    """A version number."""

    version: Version


class _Ledger(_Body):
    ledger_id: int = Field(alias="ledgerId")


class _Cursor(_Body):
    properties: dict[str, int]


class _InternalStats(_Body):
    """GET …/internalStats: positions are `ledger:entry`, with -1 for none."""

    number_of_entries: int = Field(alias="numberOfEntries")
    last_confirmed_entry: str = Field(alias="lastConfirmedEntry")
    compacted_ledger: _Ledger = Field(alias="compactedLedger")
    cursors: dict[str, _Cursor]


class PostSchemaResponse(_Body):
    """POST …/schema: the version within a version."""

    version: VersionBody


class DeleteSchemaResponse(_Body):
    """DELETE …/schema: the tombstone's number; -1 after `force`."""

    version: Annotated[int, Field(ge=-1)]


class MetadataResponse(_Body):
    """GET …/metadata: where the entries are stored; `info` is the last one, tombstone or not."""

    info: VersionBody


class RetentionBody(_Body):
    """How long acknowledged messages stay; -1 is without a limit."""

    minutes: int = Field(alias="retentionTimeInMinutes")
    megabytes: int = Field(alias="retentionSizeInMB")


class NamespaceBody(_Body):
    """GET namespaces/T/N, as far as schemas and messages are concerned.

    Pulsar 4.0.7 always answers the first three and the last; the others are left out when not set.
    """

    schema_compatibility_strategy: SchemaCompatibilityStrategy | None = None
    is_allow_auto_update_schema: bool | None = None
    schema_validation_enforced: bool
    schema_auto_update_compatibility_strategy: SchemaAutoUpdateCompatibilityStrategy | None = None
    retention_policies: RetentionBody | None = None
    encryption_required: bool = False
    replication_clusters: list[str] = []
    compaction_threshold: int | None = None


class CompatibilityResponse(_Body):
    """POST …/compatibility: the strategy that is in force for the topic."""

    strategy: SchemaCompatibilityStrategy = Field(alias="schemaCompatibilityStrategy")


_ALL_SCHEMAS: Final = TypeAdapter(AllSchemasResponse)
_NAMES: Final = TypeAdapter(list[str])
_STRATEGY: Final = TypeAdapter(SchemaCompatibilityStrategy)
_BOOLEAN: Final = TypeAdapter(bool, config=ConfigDict(strict=True))


def read_entries(answer: Answer) -> tuple[SchemaEntry, ...]:
    """The live versions, oldest first; raises OutsideError for anything else."""
    try:
        schema_responses = _ALL_SCHEMAS.validate_json(answer.body).get_schema_responses
    except ValidationError as cause:
        raise unexpected_body(answer, f"a list of schema versions ({_first(cause)})") from cause
    entries = tuple(sorted(map(_entry, schema_responses), key=lambda entry: entry.version))
    if len({entry.version for entry in entries}) != len(entries):
        raise unexpected_body(answer, "a list of schema versions (a version comes twice)")
    return entries


def _entry(body: SchemaResponse) -> SchemaEntry:
    info = SchemaInfo(type=body.type, schema=body.data, properties=body.properties or {})
    return SchemaEntry(version=body.version, info=info, timestamp=body.timestamp)


def read_empty_history(answer: Answer) -> SchemaHistory:
    """What follows a history that is empty now; an empty body is one that never was.

    Pulsar 3.0.7 has no such path (404), and no other tells the number: it is taken for one too.
    """
    if answer.status == HTTPStatus.NOT_FOUND or not answer.body.strip():
        return SchemaHistory()
    try:
        last = MetadataResponse.model_validate_json(answer.body).info.version
    except ValidationError as cause:
        raise unexpected_body(answer, f"the metadata of a schema ({_first(cause)})") from cause
    return SchemaHistory(next_version=last + 1)


def read_posted_version(answer: Answer) -> int:
    """The version that a posted schema has."""
    try:
        return PostSchemaResponse.model_validate_json(answer.body).version.version
    except ValidationError as cause:
        raise unexpected_body(answer, f"a schema version ({_first(cause)})") from cause


def read_deleted_version(answer: Answer) -> int:
    """The number of the tombstone, -1 where everything was forgotten."""
    try:
        return DeleteSchemaResponse.model_validate_json(answer.body).version
    except ValidationError as cause:
        raise unexpected_body(answer, f"a schema version ({_first(cause)})") from cause


def read_namespace(answer: Answer, namespace: NamespaceName) -> NamespaceState:
    """A namespace's schema policies, and what becomes of its messages."""
    try:
        body = NamespaceBody.model_validate_json(answer.body)
    except ValidationError as cause:
        raise unexpected_body(answer, f"a namespace's policies ({_first(cause)})") from cause
    policies = dict(body)
    value, threshold = policies.pop("retention_policies"), policies.pop("compaction_threshold")
    return NamespaceState(
        namespace=namespace,
        encryption_required=policies.pop("encryption_required"),
        replication_clusters=tuple(sorted(policies.pop("replication_clusters"))),
        is_compacted=bool(threshold),
        policies=NamespacePolicies(**policies),
        retention=Retention(**dict(value)) if value else None,
    )


def read_names(answer: Answer) -> list[str]:
    """A list of names."""
    try:
        return _NAMES.validate_json(answer.body)
    except ValidationError as cause:
        raise unexpected_body(answer, f"a list of names ({_first(cause)})") from cause


def read_topic_strategy(answer: Answer) -> SchemaCompatibilityStrategy | None:
    """A topic's own strategy; Pulsar 4.0.7 answers nothing where it has none."""
    if not answer.body.strip():
        return None
    try:
        strategy = _STRATEGY.validate_json(answer.body)
    except ValidationError as cause:
        raise unexpected_body(answer, f"a strategy ({_first(cause)})") from cause
    return None if strategy is SchemaCompatibilityStrategy.UNDEFINED else strategy


def read_tested_strategy(answer: Answer) -> SchemaCompatibilityStrategy:
    """The strategy of a compatibility test."""
    try:
        return CompatibilityResponse.model_validate_json(answer.body).strategy
    except ValidationError as cause:
        raise unexpected_body(answer, f"a compatibility test ({_first(cause)})") from cause


def read_boolean(answer: Answer) -> bool:
    """`true` or `false`."""
    try:
        return _BOOLEAN.validate_json(answer.body)
    except ValidationError as cause:
        raise unexpected_body(answer, f"true or false ({_first(cause)})") from cause


def read_never_written(answer: Answer) -> bool:
    """Whether internal statistics are those of a topic to which nobody has ever written.

    Of messages that were compacted, and are gone from the ledgers, the cursor tells.
    """
    try:
        stats = _InternalStats.model_validate_json(answer.body)
    except ValidationError:
        return False
    is_empty = stats.number_of_entries == 0 and stats.last_confirmed_entry.endswith(":-1")
    was_compacted = any(cursor.properties for cursor in stats.cursors.values())
    return is_empty and not was_compacted and stats.compacted_ledger.ledger_id < 0


def write_schema(info: SchemaInfo) -> bytes:
    """The body of POST …/schema."""
    body = {
        "type": info.type.value,
        "schema": info.schema,
        "properties": dict(info.properties),
    }
    return json.dumps(body).encode()


def _first(error: ValidationError) -> str:
    """The first thing that is wrong and where, without the value."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = "/".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
