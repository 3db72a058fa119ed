"""A cluster on a command line, by its URL, in place of a registry of gitops.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitops.cli.session import (
    OpenedRepository,
    empty_repository,
    has_repository,
    open_registry,
    open_repository,
    open_settings,
    open_snapshot,
    repository_folder,
)
from gitops.model.config import RegistryConfig
from gitops.model.errors import UsageError
from gitops.ports import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAddress:
    """The URL of a cluster that no gitops.yaml names, and who named it."""

    url: str
    where: str


def cluster_address(root: Path, names: list[str] | None, url: str | None) -> ClusterAddress | None:
    """The cluster that takes the place of a registry of gitops.yaml; None where that decides.

    Inside a repository the environment names none. Raises UsageError where there is neither a
    repository nor a cluster, or both a registry and a URL.
    """
    if url and names:
        raise UsageError("--url and --registry name two registries", hint="leave one of them out")
    if url:
        return ClusterAddress(url=url, where="--url")
    if names or has_repository(root):
        return None
    from gitops.registries.pulsar.cluster import URL, cluster_of_environment

    value, where = cluster_of_environment()
    if not value:
        raise UsageError(
            "not a schemas repository (no gitops.yaml found here or above), and no cluster is "
            "named",
            hint=f"--url http://broker.example:8080 names one, or the variable {URL}; --repo names "
            "a repository",
        )
    return ClusterAddress(url=value, where=where)


@contextmanager
def open_cluster(
    address: ClusterAddress, release: str | None = None
) -> Iterator[tuple[Registry, RegistryConfig]]:
    """The registry behind a URL, deciding by `release` where that is given; closed in the end."""
    from gitops.registries.pulsar.cluster import open_cluster as open_by_url

    registry, config = open_by_url(address.url, address.where, release)
    try:
        yield registry, config
    finally:
        registry.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What the options say of files and a registry: `repo` is a folder or the URL of a clone.

    `release` is the one that decides in place of the registry's own; `snapshot`: the registry's
    recorded history in the repository is asked.
    """

    repo: str
    names: list[str] | None
    url: str | None
    release: str | None = None
    snapshot: bool = False


@contextmanager
def open_files(place: Place, output: Path | None) -> Iterator[OpenedRepository]:
    """The repository, or an empty one where a cluster is named and there is none."""
    with repository_folder(place.repo) as root:
        cluster = cluster_address(root, place.names, place.url)
        if cluster and not has_repository(root):
            yield empty_repository()
        else:
            yield open_repository(root, output, release=place.release)


@contextmanager
def open_target(
    opened: OpenedRepository, place: Place
) -> Iterator[tuple[Registry, RegistryConfig]]:
    """The registry that the options name, of these files or by its URL; closed in the end."""
    target: AbstractContextManager[tuple[Registry, RegistryConfig]]
    if place.snapshot:
        target = open_snapshot(opened, place.names, release=place.release)
    elif cluster := cluster_address(opened.root, place.names, place.url):
        target = open_cluster(cluster, place.release)
    else:
        target = open_registry(opened, place.names, release=place.release)
    with target as items:
        yield items


@contextmanager
def open_either(
    root: Path, names: list[str] | None, url: str | None, output: Path | None
) -> Iterator[Registry]:
    """The registry of a repository or the cluster behind a URL, for what needs no files.

    All files of the repository are read only for an `output`, which must not be one of them.
    """
    if address := cluster_address(root, names, url):
        with open_cluster(address) as (registry, _):
            yield registry
    else:
        opened = open_repository(root, output) if output else open_settings(root)
        with open_registry(opened, names) as (registry, _):
            yield registry
