"""The settings of a registry of kind `embedded`."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from gitops.model.config import RegistryConfig
from gitops.repository.documents.base import NonEmpty
from gitops.repository.documents.registry_settings import RegistryDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedConfig(RegistryConfig):
    """The embedded registry: one SQLite file, relative to the repository's root.

    `as_cluster`: tenants and topics have to be created before they are used.
    """

    kind: str = "embedded"
    path: str
    as_cluster: bool = False

    @property
    def address(self) -> str:
        """The file, as gitops.yaml names it."""
        return self.path

    @property
    def local_path(self) -> str:
        """The same file."""
        return self.path


class EmbeddedDocument(RegistryDocument):
    """The embedded registry: one SQLite file."""

    path: NonEmpty = Field(description="Relative to the repository's root.")
    as_cluster: bool = Field(
        default=False,
        description="Whether tenants and topics must exist first, as on a cluster.",
    )

    def model(self) -> EmbeddedConfig:
        """The same as a value of the model."""
        return EmbeddedConfig(path=self.path, as_cluster=self.as_cluster, **self.common())
