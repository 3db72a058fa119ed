"""Fills a broker with topics: each several times, since a question may change its topic."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import urlsplit

from gitops.model.names import NamespaceName, TopicName
from tests.broker.upgrade_topics import CLOSED, NAMESPACES, Wanted
from tests.oracle.protobuf_native_cases import plain_native_schema

TENANT: Final = "rehearsal"
STAGES: Final = ("before", "after")
TWINS: Final = ("binary", "rest", "java")
"""Who asks about a topic of the same history, at each of the two stages."""

THREADS: Final = 16
_SECONDS: Final = 60
_IDLE_SECONDS: Final = 10
_OPEN: Final = "ALWAYS_COMPATIBLE"
_ONE = TypeVar("_ONE")
_ANSWER = TypeVar("_ANSWER")


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """One topic of a wanted history, for one who asks at one stage."""

    wanted: Wanted
    stage: str
    asker: str

    @property
    def topic(self) -> TopicName:
        """Its name."""
        namespace = NamespaceName(TENANT, self.wanted.namespace)
        return TopicName(namespace, f"{self.wanted.name}-{self.stage}-{self.asker}")


def twins_of(wanted: Iterable[Wanted]) -> list[Twin]:
    """All topics of these histories."""
    return [
        Twin(wanted=one, stage=stage, asker=asker)
        for one in wanted
        for stage in STAGES
        for asker in TWINS
    ]


def in_threads(call: Callable[[_ONE], _ANSWER], items: Iterable[_ONE]) -> list[_ANSWER]:
    """What `call` answers to each, in their order."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(call, items))


class Admin:
    """Admin REST without the code under test; a connection for each thread."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url).netloc
        self._local = threading.local()
        self._all: list[http.client.HTTPConnection] = []

    def close(self) -> None:
        """End all connections."""
        for each in self._all:
            each.close()

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """Status and body of the answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        connection = self._connection()
        try:
            connection.request(method, f"/admin/v2{path}", data, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except BaseException:
            connection.close()
            raise

    def _connection(self) -> http.client.HTTPConnection:
        """The one of this thread; a broker ends one that is idle for half a minute."""
        found: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        now = time.monotonic()
        if found and now - self._local.used > _IDLE_SECONDS:
            found.close()
        if found is None:
            found = http.client.HTTPConnection(self._address, timeout=_SECONDS)
            self._local.connection = found
            self._all.append(found)
        self._local.used = now
        return found


def warm_up(admin: Admin) -> None:
    """A plain PROTOBUF_NATIVE schema before all others: `plain_native_schema` has the reason."""
    body = plain_native_schema()
    assert admin.ask("POST", "/schemas/public/default/first/schema", body)[0] == 200


def fill(admin: Admin, twins: Sequence[Twin]) -> None:
    """Make namespaces and post all that the broker takes."""
    warm_up(admin)
    body = {"adminRoles": [], "allowedClusters": ["standalone"]}
    admin.ask("PUT", f"/tenants/{TENANT}", body)
    for name in NAMESPACES:
        admin.ask("PUT", f"/namespaces/{TENANT}/{name}", {})
        _set_strategy(admin, name, _OPEN)
    in_threads(lambda twin: _post(admin, twin), twins)
    for name in NAMESPACES:
        _set_strategy(admin, name, "FULL" if name == CLOSED else name)
    path = f"/namespaces/{TENANT}/{CLOSED}/isAllowAutoUpdateSchema"
    assert admin.ask("POST", path, False)[0] < 300  # noqa: FBT003 - the body is a bare boolean


def _post(admin: Admin, twin: Twin) -> None:
    path = f"/schemas/{twin.topic}/schema"
    for one in twin.wanted.entries:
        if "deleted" in one:
            admin.ask("DELETE", path)
        else:
            admin.ask("POST", path, one)


def _set_strategy(admin: Admin, namespace: str, strategy: str) -> None:
    path = f"/namespaces/{TENANT}/{namespace}/schemaCompatibilityStrategy"
    admin.ask("PUT", path, strategy)
    deadline = time.monotonic() + _SECONDS
    while json.loads(admin.ask("GET", path)[1]) != strategy:
        assert time.monotonic() < deadline, f"{namespace} does not take {strategy}"
