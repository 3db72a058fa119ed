"""What admin REST tells of a topic's messages: the broker, the partitions, the newest ones."""

from __future__ import annotations

import ssl
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Final, TypeVar, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gitops.messaging.capture_client import MessageService, Position
from gitops.model.config import TlsAuthentication
from gitops.model.errors import NotThereError, OutsideError, UsageError
from gitops.registries.pulsar.address import topic_path
from gitops.registries.pulsar.error_responses import Answer, refusal, unexpected_body
from gitops.registries.pulsar.registry import PulsarRegistry
from gitops.registries.pulsar.secrets import config_path, expand_variable

if TYPE_CHECKING:
    from pathlib import Path

    from gitops.model.names import TopicName
    from gitops.ports import Registry

_CONSUME: Final = "the permission to consume the topic"


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class PartitionsResponse(_Body):
    """GET …/partitions: 0 for a topic without."""

    partitions: Annotated[int, Field(ge=0)]


class MessageIdResponse(_Body):
    """GET …/lastMessageId and …/messageid/TIME; -1 for what there is none of."""

    ledger_id: int = Field(alias="ledgerId")
    entry_id: int = Field(alias="entryId")
    batch_index: int = Field(default=-1, alias="batchIndex")


class LedgerBody(_Body):
    """One of a topic's ledgers; -1 for none."""

    ledger_id: int = Field(default=-1, alias="ledgerId")


class InternalStatsResponse(_Body):
    """GET …/internalStats: the ledgers, oldest first, and the one that compaction wrote."""

    ledgers: list[LedgerBody] = Field(default_factory=list)
    compacted: LedgerBody = Field(default_factory=LedgerBody, alias="compactedLedger")


class LookupResponse(_Body):
    """GET /lookup/v2/topic/…: the broker that has the topic; empty where it has no such port."""

    broker_url: str | None = Field(default=None, alias="brokerUrl")
    broker_url_tls: str | None = Field(default=None, alias="brokerUrlTls")


_B = TypeVar("_B", bound=_Body)


def messages_of(registry: Registry, root: Path, service_url: str | None) -> TopicMessages:
    """The messages of a registry; raises UsageError for one that has none.

    `service_url` is used in place of the one in gitops.yaml and of what the cluster tells.
    """
    if not isinstance(registry, PulsarRegistry):
        raise UsageError(
            f"the registry '{registry.name}' has no messages",
            hint="--registry names one with `kind: pulsar`, --url the admin REST of a cluster",
        )
    return TopicMessages(registry, root, service_url)


@final
class TopicMessages:
    """What is asked of a cluster before its messages are read."""

    def __init__(self, registry: PulsarRegistry, root: Path, service_url: str | None) -> None:
        self._admin_client = registry.admin_client
        self._config = registry.config
        self._root = root
        where = f"gitops.yaml, registry '{registry.name}'"
        named = self._config.service_url and expand_variable(self._config.service_url, where)
        self._url = service_url or named

    def service(self, topic: TopicName) -> MessageService:
        """How clients get to the brokers; raises OutsideError where the cluster does not tell."""
        config = self._config
        ours = config.authentication
        ours = ours if isinstance(ours, TlsAuthentication) else None
        ca_file = config.tls.ca_file or ssl.get_default_verify_paths().cafile
        return MessageService(
            url=self._url or self._looked_up(topic),
            authorization=self._admin_client.authorization,
            ca_file=self._path(ca_file),
            verify_hostname=config.tls.verify_hostname,
            certificate_file=self._path(ours.certificate_file if ours else None),
            key_file=self._path(ours.key_file if ours else None),
        )

    def partitions(self, topic: TopicName) -> tuple[int, ...]:
        """Their numbers; -1 alone for a topic without. Raises NotThereError."""
        answer = self._admin_client.get(f"persistent/{topic_path(topic)}/partitions")
        partitions = self._read(answer, PartitionsResponse, "a number of partitions").partitions
        return tuple(range(partitions)) if partitions else (-1,)

    def last_position(self, topic: TopicName, partition: int) -> Position | None:
        """The newest message of a partition, None where it never had one. Raises NotThereError."""
        answer = self._admin_client.get(f"{_path(topic, partition)}/lastMessageId")
        if partition >= 0 and answer.status == HTTPStatus.NOT_FOUND:
            return None  # no broker has made it yet
        message_id_response = self._read(answer, MessageIdResponse, "a message id")
        if message_id_response.ledger_id < 0:
            return None
        return Position(
            message_id_response.ledger_id,
            message_id_response.entry_id,
            message_id_response.batch_index,
        )

    def first_position(self, topic: TopicName, partition: int, since: int) -> Position | None:
        """The first message that was published then (ms since 1970) or later.

        It may be one before, and is the newest where there is none. Raises NotThereError.
        """
        answer = self._admin_client.get(f"{_path(topic, partition)}/messageid/{since}")
        message_id_response = self._read(answer, MessageIdResponse, "a message id")
        if message_id_response.ledger_id < 0:
            return None
        return Position(message_id_response.ledger_id, max(0, message_id_response.entry_id), -1)

    def trimmed_before(self, topic: TopicName, partition: int) -> int | None:
        """The oldest ledger that is there, of a partition that was compacted; None for any other.

        What a broker deleted from before it may be in the compacted ledger.
        """
        answer = self._admin_client.get(f"{_path(topic, partition)}/internalStats")
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        internal_stats_response = self._read(
            answer, InternalStatsResponse, "a topic's internal stats"
        )
        if not internal_stats_response.ledgers or internal_stats_response.compacted.ledger_id < 0:
            return None
        return internal_stats_response.ledgers[0].ledger_id

    def _looked_up(self, topic: TopicName) -> str:
        answer = self._admin_client.get_below("/lookup/v2", f"topic/persistent/{topic_path(topic)}")
        lookup_response = self._read(answer, LookupResponse, "the address of a broker")
        is_secure = self._admin_client.address.origin.is_secure
        url = lookup_response.broker_url_tls if is_secure else lookup_response.broker_url
        if not url:
            port = "TLS port" if is_secure else "port without TLS"
            raise OutsideError(
                f"the broker does not show a {port} for clients",
                where=answer.where,
                hint="--service-url names it, or `serviceUrl` of the registry in gitops.yaml",
            )
        return url

    def _path(self, name: str | None) -> str | None:
        return None if name is None else str(config_path(name, self._root))

    def _read(self, answer: Answer, kind: type[_B], expected: str) -> _B:
        if answer.status == HTTPStatus.NOT_FOUND:
            raise NotThereError(
                f"the cluster has no such topic: {self._admin_client.redact(answer.message)}",
                where=answer.where,
                hint="a topic is there once it was created, or a client has used it",
            )
        if answer.status != HTTPStatus.OK:
            raise refusal(answer, self._admin_client.redact(answer.message), permission=_CONSUME)
        try:
            return kind.model_validate_json(answer.body)
        except ValidationError as cause:
            raise unexpected_body(answer, expected) from cause


def _path(topic: TopicName, partition: int) -> str:
    suffix = "" if partition < 0 else f"-partition-{partition}"
    return f"persistent/{topic_path(topic)}{suffix}"
