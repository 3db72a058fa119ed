"""A checker for PROTOBUF, which a broker does not check by default: the root keeps its name."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gitops.plugins import (
    IncompatibleSchemaError,
    SchemaCompatibilityStrategy,
    SchemaType,
    StoredSchema,
)


class RootNameChecker:
    """Compares names as Pulsar's checker for PROTOBUF_NATIVE does."""

    schema_type = SchemaType.PROTOBUF

    def check_compatible(
        self,
        existing: Sequence[StoredSchema],
        candidate: StoredSchema,
        strategy: SchemaCompatibilityStrategy,
    ) -> None:
        """Raise IncompatibleSchemaError for another name."""
        if strategy is SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE and existing:
            raise IncompatibleSchemaError("no other schema is allowed")
        new = _root(candidate)
        for each in existing:
            if _root(each) != new:
                raise IncompatibleSchemaError(f"the root message is {_root(each)}, not {new}")


def _root(schema: StoredSchema) -> str:
    return str(json.loads(schema.data)["name"])


CHECKER = RootNameChecker()
