"""The endpoints under /admin/v2/schemas."""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from gitops.broker.registration import unknown_type
from gitops.model.errors import RegistryRefusedError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.schema_rows import StoredTopic, StoredVersion
from gitops.registries.server import responses
from gitops.registries.server.request_bodies import PostSchemaPayload, schema_payload
from gitops.registries.server.requests import Call
from gitops.schemas.key_value.parser import known_halves
from gitops.schemas.payload import PayloadError, to_info
from gitops.schemas.row import DefinitionForm, UndecodableError

_LONG: Final = re.compile(r"[+-]?[0-9]+")
_LONG_MAX: Final = 2**63 - 1
_NULL_SCHEMA: Final = (
    'Cannot invoke "String.getBytes(java.nio.charset.Charset)" because the return value of '
    '"org.apache.pulsar.common.protocol.schema.PostSchemaPayload.getSchema()" is null'
)
_NULL_PAYLOAD: Final = (
    'Cannot invoke "org.apache.pulsar.common.protocol.schema.PostSchemaPayload.getType()" '
    'because "payload" is null'
)
_PAGES: Final = (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)


class _UnusablePayloadError(Exception):
    """A payload on which the broker fails with an unexpected error; the text is its message.

    Without a text the error has none.
    """


def post_schema(call: Call) -> Response:
    """Register a schema: its version, an error page for 409 and 422, a JSON reason for 500."""
    payload = schema_payload(call.json_body())
    topic = call.schema_topic()
    _require_namespace(call, topic)

    def register() -> Response:
        _require_storable(call, topic, payload)
        version = call.registry.register_schema(topic, _info(call, payload))
        return responses.value({"version": {"version": version}})

    try:
        return _guard(register)
    except RegistryRefusedError as refusal:
        if refusal.status in _PAGES:
            return responses.page(refusal.what, refusal.status, call.uri, call.accept)
        if refusal.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return responses.failure(refusal.what)
        raise


def post_compatibility(call: Call) -> Response:
    """202 if the schema could follow; a broker never answers false but fails with 500."""
    payload = schema_payload(call.json_body())
    topic = call.schema_topic()
    _require_tenant(call, topic)
    _require_namespace(call, topic)

    def check() -> Response:
        decision, strategy = call.registry.check_compatibility(topic, _info(call, payload))
        if not decision.accepted:
            return responses.failure(decision.reason)
        content = {"compatibility": True, "schemaCompatibilityStrategy": strategy.value}
        return responses.value(content, HTTPStatus.ACCEPTED)

    return _guard(check)


def post_version(call: Call) -> Response:
    """The version that holds these very bytes, -1 if none does."""
    payload = schema_payload(call.json_body())
    topic = call.schema_topic()

    def find() -> Response:
        version = call.registry.find_version(topic, _info(call, payload))
        return responses.value({"version": -1 if version is None else version})

    return _guard(find)


def get_schema(call: Call) -> Response:
    """The latest live schema."""
    stored = call.administration.stored(call.schema_topic())
    if not stored.live:
        return _not_found()

    def show() -> Response:
        _require_readable(call, stored, only_latest=True)
        return responses.value(_shown(call, stored.live[-1]))

    return _guard(show)


def get_schema_version(call: Call) -> Response:
    """One live version, by its number as Java's `Long.parseLong` reads it."""
    topic, text = call.schema_topic(), call.params["version"]
    if not _LONG.fullmatch(text) or abs(_java_long(text)) > _LONG_MAX:
        return responses.failure(f'For input string: "{text}"')
    wanted = _java_long(text)

    def show() -> Response:
        stored = call.administration.stored(topic)
        _require_readable(call, stored)
        for entry in stored.live:
            if entry.version == wanted:
                return responses.value(_shown(call, entry))
        return _not_found()

    return _guard(show)


def get_schemas(call: Call) -> Response:
    """All live versions, oldest first."""

    def show() -> Response:
        stored = call.administration.stored(call.schema_topic())
        _require_readable(call, stored)
        return responses.value(
            {"getSchemaResponses": [_shown(call, version) for version in stored.live]}
        )

    return _guard(show)


def get_metadata(call: Call) -> Response:
    """The positions of all entries, tombstones included; made up, for there are no ledgers."""
    index = [
        {"ledgerId": version, "entryId": 0, "version": version}
        for version in call.administration.all_versions(call.schema_topic())
    ]
    return responses.value({"info": index[-1], "index": index}) if index else responses.empty()


def delete_schema(call: Call) -> Response:
    """Append a tombstone, or with `force=true` forget everything; answers the version."""
    version = call.registry.delete_schema(call.schema_topic(), force=call.asked("force"))
    return responses.value({"version": version})


def _guard(answer: Callable[[], Response]) -> Response:
    """Answer 500 for a payload on which the broker fails."""
    try:
        return answer()
    except (_UnusablePayloadError, PayloadError, UndecodableError) as error:
        return responses.failure(str(error) or None)


def _info(call: Call, payload: PostSchemaPayload | None) -> SchemaInfo:
    """The schema of a payload; raises _UnusablePayloadError with the broker's message."""
    if payload is None:
        raise _UnusablePayloadError(_NULL_PAYLOAD)
    if payload.type is None:
        raise _UnusablePayloadError("Name is null")
    if not _is_known(call, payload.type):
        constant = f"org.apache.pulsar.common.schema.SchemaType.{payload.type}"
        raise _UnusablePayloadError(f"No enum constant {constant}")
    if payload.schema is None:
        raise _UnusablePayloadError(_NULL_SCHEMA)
    properties = {key: text for key, text in payload.properties.items() if text is not None}
    return SchemaInfo(type=SchemaType(payload.type), schema=payload.schema, properties=properties)


def _is_known(call: Call, name: str) -> bool:
    """Whether the broker line has a schema type of that name."""
    return name in SchemaType.__members__ and (
        name != SchemaType.EXTERNAL.name or call.registry.line.rules.has_external
    )


def _require_storable(call: Call, topic: TopicName, payload: PostSchemaPayload | None) -> None:
    """A null property fails where it would be stored, and only there."""
    if payload is None or None not in payload.properties.values():
        return
    decision = call.registry.would_register(topic, _info(call, payload))
    if decision.accepted and not decision.known:
        raise _UnusablePayloadError


def _require_readable(call: Call, stored: StoredTopic, *, only_latest: bool = False) -> None:
    """Raise UndecodableError where the line does not know the type of what it has to read."""
    reason = unknown_type(stored.history, call.registry.line, only_latest=only_latest)
    if reason:
        raise UndecodableError(reason)


def _require_tenant(call: Call, topic: TopicName) -> None:
    """Refuse (404) where there is no such tenant."""
    if call.administration.tenant(topic.namespace.tenant) is None:
        raise RegistryRefusedError("Tenant does not exist", status=HTTPStatus.NOT_FOUND)


def _require_namespace(call: Call, topic: TopicName) -> None:
    """Refuse (404) where there is no such namespace; a broker looks before it reads the type."""
    if call.administration.namespace(topic.namespace) is None:
        raise RegistryRefusedError("Namespace does not exist", status=HTTPStatus.NOT_FOUND)


def _java_long(text: str) -> int:
    """The number, or one that is too large for a Java long."""
    digits = text.lstrip("+-").lstrip("0") or "0"
    size = int(digits) if len(digits) < len(str(_LONG_MAX)) + 1 else _LONG_MAX + 1
    return -size if text.startswith("-") else size


def _shown(call: Call, entry: StoredVersion) -> dict[str, Any]:
    """A version as GET answers it; raises UndecodableError for a half of an unknown type."""
    row_of = call.registry.line.types.row_of
    if row_of(entry.schema.type).form is DefinitionForm.HALVES:
        known_halves(row_of, entry.schema)
    info = to_info(entry.schema)
    return {
        "version": entry.version,
        "type": info.type.value,
        "timestamp": entry.timestamp,
        "data": info.schema,
        "properties": dict(info.properties),
    }


def _not_found() -> Response:
    return responses.reason("Schema not found", HTTPStatus.NOT_FOUND)
