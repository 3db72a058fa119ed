"""The endpoints under /admin/v2/brokers: of which line the broker is, and what it decides by."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.responses import PlainTextResponse, Response

from gitops.model.policy import BrokerSettings
from gitops.registries.server import responses
from gitops.registries.server.requests import Call
from gitops.schemas.json.compatibility import JacksonForm

_HTTP: Final = 80
"""The port of a URL that names none."""


def list_brokers(call: Call) -> Response:
    """The one active broker, by host and port; a broker answers so for any cluster (4.0.7)."""
    url = urlsplit(call.base_url)
    return responses.value([f"{url.hostname}:{url.port or _HTTP}"])


def get_version(call: Call) -> Response:
    """The version, as plain text: the one that the line was seen with, unless one was given."""
    release = call.registry.broker.release
    line = call.registry.line
    return PlainTextResponse(line.seen if line.seen and release == line.name else release)


def get_runtime_configuration(call: Call) -> Response:
    """The values of broker.conf that decide about schemas, each as text."""
    broker = call.registry.broker
    values = {
        "schemaCompatibilityStrategy": broker.schema_compatibility_strategy.value,
        "isAllowAutoUpdateSchemaEnabled": _text(broker.is_allow_auto_update_schema_enabled),
        "isSchemaValidationEnforced": _text(broker.is_schema_validation_enforced),
        "systemTopicSchemaCompatibilityStrategy": (
            broker.system_topic_schema_compatibility_strategy.value
        ),
        # There are no messages, so that none is retained: Pulsar's defaults.
        "defaultRetentionTimeInMinutes": "0",
        "defaultRetentionSizeInMB": "0",
    }
    return responses.value(values | _since_4_2(call, broker))


def _since_4_2(call: Call, broker: BrokerSettings) -> dict[str, str]:
    """A key that older brokers do not have."""
    if call.registry.line.rules.jackson is JacksonForm.AFTER_PARSE_FAILURE:
        return {}
    key = "schemaJsonAllowLegacyJacksonFormat"
    return {key: _text(broker.schema_json_allow_legacy_jackson_format)}


def _text(value: bool) -> str:  # noqa: FBT001 - the value of a setting
    return str(value).lower()
