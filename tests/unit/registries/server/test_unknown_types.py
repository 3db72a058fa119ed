"""A file that a registry of 4.2 has filled, served as by a broker of 4.0."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.app import make_app
from gitops.registries.server.host_guard import HostNames
from tests.support.asgi import send
from tests.support.states import STRING

PLACE = NamespaceName("t", "n")
EXTERNAL = SchemaInfo(type=SchemaType.EXTERNAL, schema="x")
LOOSE = PolicyChange(
    key="schemaCompatibilityStrategy", before=None, after=Strategy.ALWAYS_COMPATIBLE
)
POSTED = b'{"type":"STRING","schema":"","properties":{}}'


def answer(folder: Path, versions: list[SchemaInfo | None], method: str, path: str) -> int:
    """The status of one request for a topic with these versions; None is a deletion."""
    topic, file = TopicName(PLACE, "x"), folder / "x.db"
    with closing(EmbeddedRegistry("new", file, BrokerSettings(release="4.2"))) as newer:
        newer.create_namespace(PLACE)
        newer.set_policies(PLACE, [LOOSE])
        for one in versions:
            newer.register_schema(topic, one) if one else newer.delete_schema(topic)
    with closing(EmbeddedRegistry("old", file, BrokerSettings(release="4.0"))) as older:
        app = make_app(older, HostNames("127.0.0.1"))
        body = POSTED if method == "POST" else b""
        return send(app, method, f"/schemas/t/n/x/{path}", body)


_ASKED = (
    ("GET", "schema"), ("GET", "schema/0"), ("GET", "schemas"), ("GET", "metadata"),
    ("POST", "version"), ("POST", "compatibility"), ("POST", "schema"), ("DELETE", "schema"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("versions", "statuses"),
    [
        ([EXTERNAL], (500, 500, 500, 200, 500, 202, 500, 200)),
        ([EXTERNAL, STRING], (200, 500, 500, 200, 500, 202, 500, 200)),
        ([STRING, EXTERNAL], (500, 500, 500, 200, 500, 202, 500, 200)),
        ([EXTERNAL, None], (404, 500, 500, 200, 500, 202, 500, 200)),
        ([EXTERNAL, None, STRING], (200, 500, 500, 200, 500, 202, 500, 200)),
        ([STRING, None], (404, 404, 200, 200, 200, 202, 200, 200)),
    ],
)
def test_a_type_that_the_line_does_not_know_stops_what_reads_it(
    versions: list[SchemaInfo | None], statuses: tuple[int, ...], tmp_path: Path
) -> None:
    """As seen on Pulsar 4.0.7, which opened the disk of 4.2.4."""
    found = []
    for count, asked in enumerate(_ASKED):
        folder = tmp_path / str(count)
        folder.mkdir()
        found.append(answer(folder, versions, *asked))

    assert tuple(found) == statuses
