"""Registries that scenarios run on: embedded, behind `serve`, and a real broker."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError

from tests.support.admin_rest import admin_request

Command = Callable[..., tuple[int, str]]
"""Runs a command line; answers its exit code and what it printed to stdout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A registry to live with: its entry in `gitops.yaml`, and a tenant of our own.

    `admin` is where its admin REST stands; the embedded registry has none, and makes topics itself.
    """

    registries: str
    tenant: str
    admin: str = ""

    def create_topic(self, name: str) -> None:
        if self.admin:
            admin_request("PUT", f"{self.admin}/persistent/{self.tenant}/{name}")

    def add_partitions(self, name: str, total: int) -> bool:
        """Have so many, where somebody else than an apply can; answers whether that is so."""
        if not self.admin:
            return False
        path = f"persistent/{self.tenant}/{name}/partitions"
        try:
            admin_request("POST", f"{self.admin}/{path}", total)
        except HTTPError as refused:
            if refused.code != HTTPStatus.METHOD_NOT_ALLOWED:  # which `serve` answers
                raise
            return False
        return True


@contextmanager
def embedded(folder: Path) -> Iterator[Live]:
    yield Live(registries=f"{{kind: embedded, path: {folder / 'live.db'}}}", tenant=_tenant())


def behind_rest(url: str) -> Live:
    """A tenant, which nothing of ours creates."""
    tenant, admin = _tenant(), f"{url}/admin/v2"
    (cluster, *_) = json.loads(admin_request("GET", f"{admin}/clusters"))
    admin_request(
        "PUT", f"{admin}/tenants/{tenant}", {"adminRoles": [], "allowedClusters": [cluster]}
    )
    return Live(registries=f"{{kind: pulsar, url: '{url}'}}", tenant=tenant, admin=admin)


def _tenant() -> str:
    return f"shop-{uuid.uuid4().hex[:8]}"
