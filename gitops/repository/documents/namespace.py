"""`namespace.yaml`: a namespace's schema policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from gitops.model.policy import NamespacePolicies
from gitops.repository.documents.base import (
    ApiVersion,
    Document,
    LegacyStrategy,
    NamespaceText,
    Strategy,
)


class NamespacePoliciesDocument(Document):
    """Schema policies; a key that is absent is not managed."""

    schema_compatibility_strategy: Strategy | None = Field(
        default=None, description="Which changes of a schema the brokers accept."
    )
    is_allow_auto_update_schema: bool | None = Field(
        default=None, description="Whether producers may register new schemas by connecting."
    )
    schema_validation_enforced: bool | None = Field(
        default=None, description="Whether producers without a schema are refused."
    )
    schema_auto_update_compatibility_strategy: LegacyStrategy | None = Field(
        default=None,
        description="The older setting, which counts where the strategy is UNDEFINED.",
    )

    def policies(self) -> NamespacePolicies:
        """The same as a value of the model."""
        return NamespacePolicies(
            schema_compatibility_strategy=self.schema_compatibility_strategy,
            is_allow_auto_update_schema=self.is_allow_auto_update_schema,
            schema_validation_enforced=self.schema_validation_enforced,
            schema_auto_update_compatibility_strategy=self.schema_auto_update_compatibility_strategy,
        )


class NamespaceDocument(NamespacePoliciesDocument):
    """A namespace and its schema policies."""

    api_version: ApiVersion
    kind: Literal["Namespace"]
    namespace: NamespaceText = Field(description="tenant/namespace, as the folders say it.")

    @classmethod
    def values_by_path(cls, path: str, /) -> Mapping[str, str]:
        """The namespace that the folders imply."""
        return {"namespace": "/".join(path.split("/")[-3:-1])}
