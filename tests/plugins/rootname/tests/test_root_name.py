"""What every checker must do."""

from __future__ import annotations

import pytest
from rootname import CHECKER

from gitops.plugins import CompatibilityChecker, SchemaType, StoredSchema
from gitops.testing.checker_contract import CheckerContract, Pair


def _stored(name: str, *fields: str) -> StoredSchema:
    listed = ", ".join(f'{{"name": "{field}", "type": "int"}}' for field in fields)
    text = f'{{"type": "record", "name": "{name}", "fields": [{listed}]}}'
    return StoredSchema(type=SchemaType.PROTOBUF, data=text.encode())


class TestRootName(CheckerContract):
    @pytest.fixture
    def checker(self) -> CompatibilityChecker:
        return CHECKER

    @pytest.fixture
    def compatible(self) -> Pair:
        return _stored("Order", "id"), _stored("Order", "id", "count")

    @pytest.fixture
    def incompatible(self) -> Pair:
        return _stored("Order", "id"), _stored("Invoice", "id")
