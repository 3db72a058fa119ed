"""Opens the adapter against a server of a test, without waits between tries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitops.registries.pulsar.admin_client import READ_RETRY
from gitops.registries.pulsar.connections import Deadline, Deadlines
from gitops.registries.pulsar.registry import PulsarRegistry, open_admin_client
from gitops.registries.pulsar.settings import PulsarConfig

if TYPE_CHECKING:
    from gitops.registries.pulsar.admin_client import AdminClient


def unhurried() -> Deadline:
    """A deadline that no test reaches."""
    return Deadlines(request=600, run=600).begin()


NO_WAIT = READ_RETRY.new(backoff_factor=0, backoff_jitter=0)


def open_test_client(
    url: str,
    root: Path = Path(),
    **config: Any,  # noqa: ANN401 - whatever PulsarConfig takes
) -> AdminClient:
    """A admin_client with the rest of the configuration as given."""
    return open_admin_client("test", PulsarConfig(url=url, **config), root, NO_WAIT)


def open_test_registry(
    url: str,
    root: Path = Path(),
    **config: Any,  # noqa: ANN401 - whatever PulsarConfig takes
) -> PulsarRegistry:
    """A registry with the rest of the configuration as given."""
    settings = PulsarConfig(url=url, **config)
    return PulsarRegistry("test", settings, open_admin_client("test", settings, root, NO_WAIT))
