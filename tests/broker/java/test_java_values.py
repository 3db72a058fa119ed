"""Values are written in the bytes of Pulsar's own Java client, under the schemas that it sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf.descriptor_pb2 import EnumDescriptorProto

from gitops.messaging.values.table import value_schema
from gitops.model.schema import SchemaType
from gitops.replay.kernel.schema_types import row_reader_for
from tests.support.java_scenarios import Scenario, Written, scenario

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

SOURCE: Final = Path(__file__).with_name("PayloadScenario.java")
COMPARED: Final = (
    "avro", "native", "protobuf", "BOOLEAN", "INT8", "INT16", "INT32", "INT64", "FLOAT", "DOUBLE",
    "STRING", "BYTES", "DATE", "TIME", "TIMESTAMP", "INSTANT", "LOCAL_DATE", "LOCAL_TIME",
    "LOCAL_DATE_TIME",
)  # fmt: skip
"""JSON is left out: Jackson leaves out nulls, and halves of a pair are compared on the broker."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """Compiled."""
    return scenario(SOURCE, tmp_path_factory.mktemp("classes"))


@pytest.mark.parametrize("name", COMPARED)
def test_values_are_written_in_the_bytes_of_java(client: Scenario, name: str) -> None:
    written = client.written[name]
    schema = value_schema(written.info)
    assert written.payloads
    for payload in written.payloads:
        schema.validate(payload)
        assert schema.encode(value_of(written, payload)) == payload


def value_of(written: Written, payload: bytes) -> Any:  # noqa: ANN401 - of any type
    """The value in the form that our schemas take."""
    if written.info.type in {SchemaType.PROTOBUF, SchemaType.PROTOBUF_NATIVE}:
        return EnumDescriptorProto.FromString(payload)
    return row_reader_for(written.info, written.info).read(payload)


@pytest.mark.parametrize("name", ["json", "times"])
def test_json_of_java_is_valid(client: Scenario, name: str) -> None:
    written = client.written[name]
    for payload in written.payloads:
        value_schema(written.info).validate(payload)
