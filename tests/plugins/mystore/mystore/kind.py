"""The kind `mystore`: its settings, and how one is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, field_validator

from gitops.plugins import (
    NonEmpty,
    Registry,
    RegistryConfig,
    RegistryDocument,
    RegistryKind,
    Secret,
    SecretRef,
    problem,
    read_secret,
    secret_ref,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MyStoreConfig(RegistryConfig):
    """The settings as the registry needs them."""

    folder: str
    pin: SecretRef | None

    @property
    def address(self) -> str:
        """The folder, as gitops.yaml names it."""
        return self.folder

    @property
    def local_path(self) -> str:
        """The same folder: it lies on this machine."""
        return self.folder


class MyStoreDocument(RegistryDocument):
    """JSON files in a folder."""

    folder: NonEmpty = Field(description="Relative to the repository's root.")
    pin: Secret | None = None

    @field_validator("folder")
    @classmethod
    def _is_below_the_root(cls, folder: str) -> str:
        if ".." in Path(folder).parts:
            raise problem("REPO-R012", "{name} leaves the repository", "name a folder in it")
        return folder

    def model(self) -> MyStoreConfig:
        """The same as a MyStoreConfig."""
        pin = secret_ref(self.pin) if self.pin else None
        return MyStoreConfig(folder=self.folder, pin=pin, **self.common())


def _open(name: str, config: MyStoreConfig, root: Path) -> Registry:
    from mystore.store import MyStore

    if config.pin is not None:
        read_secret(config.pin, root, f"gitops.yaml, registry '{name}'")
    return MyStore(name, root / config.folder, config)


KIND = RegistryKind(document=MyStoreDocument, open=_open)
