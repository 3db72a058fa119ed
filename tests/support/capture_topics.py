"""Topics with messages for captures, and what a capture has of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gitops.messaging.capture_files import CaptureFolder, CaptureManifest
from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import RunningBroker


def keep_messages(pulsar: RunningBroker, namespace: NamespaceName) -> None:
    """Have a namespace keep messages that nobody subscribed to, and their topics."""
    url = f"{pulsar.admin_url}/admin/v2/namespaces/{namespace}"
    admin_request(
        "POST", f"{url}/retention", {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}
    )
    inactive = {
        "inactiveTopicDeleteMode": "delete_when_no_subscriptions",
        "maxInactiveDurationSeconds": 3600,
        "deleteWhileInactive": False,
    }
    admin_request("POST", f"{url}/inactiveTopicPolicies", inactive)


def key_pair(folder: Path, name: str) -> tuple[Path, Path]:
    """The files of a private and a public key, as PEM."""
    key = rsa.generate_private_key(65537, 2048)
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    public.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return private, public


@contextmanager
def pulsar_client(pulsar: RunningBroker, **options: Any) -> Iterator[Any]:  # noqa: ANN401
    """A client of the library, which logs errors alone."""
    import pulsar as library

    logger = library.FileLogger(library.LoggerLevel.Error, "/dev/null")
    client = library.Client(pulsar.service_url, logger=logger, **options)
    try:
        yield client
    finally:
        client.close()


def manifest_of(out: Path, topic: TopicName) -> CaptureManifest:
    """The manifest of a captured topic."""
    found = CaptureFolder.of(out, topic).manifest()
    assert found is not None
    return found


def rows_of(out: Path, topic: TopicName) -> list[dict[str, Any]]:
    """The messages of a captured topic, properties and metadata as dicts."""
    folder = CaptureFolder.of(out, topic).path
    tables = [pyarrow.parquet.read_table(each) for each in sorted(folder.glob("*.parquet"))]
    rows = pyarrow.concat_tables(tables).to_pylist() if tables else []
    for row in rows:
        row["properties"] = dict(row["properties"])
    return rows


def plain(rows: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    """What a message is, wherever it is kept: without ids, times and the producer."""
    other = ("message_id", "publish_time", "producer_name", "topic", "sequence_id")
    return [{name: value for name, value in row.items() if name not in other} for row in rows]


def schema_body(out: Path, topic: TopicName, version: int) -> Any:  # noqa: ANN401 - JSON
    """A schema that lies beside the messages."""
    return json.loads((CaptureFolder.of(out, topic).path / f"_schemas/{version}.json").read_bytes())
