"""What every CompatibilityChecker must do, as a suite that a plug-in runs.

Subclass CheckerContract as `Test…` and override `checker`, `compatible` and `incompatible`.
"""

from __future__ import annotations

import pytest

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import AUTO_TYPES, SchemaType
from gitops.ports import CompatibilityChecker, IncompatibleSchemaError

Pair = tuple[StoredSchema, StoredSchema]
"""An existing version, and a candidate."""

_ASKING = [
    strategy
    for strategy in SchemaCompatibilityStrategy
    if not strategy.value.startswith("ALWAYS") and strategy.value != "UNDEFINED"
]


class CheckerContract:
    """Behaviour on which a broker's decisions rely."""

    @pytest.fixture
    def checker(self) -> CompatibilityChecker:
        """The checker under test."""
        raise NotImplementedError

    @pytest.fixture
    def compatible(self) -> Pair:
        """A candidate that may follow under strategy strategy that asks."""
        raise NotImplementedError

    @pytest.fixture
    def incompatible(self) -> Pair:
        """A candidate that may not follow under any of them."""
        raise NotImplementedError

    @pytest.fixture(params=_ASKING, ids=lambda strategy: strategy.value)
    def strategy(self, request: pytest.FixtureRequest) -> SchemaCompatibilityStrategy:
        """Each strategy under which a broker asks a checker for pairs."""
        strategy: SchemaCompatibilityStrategy = request.param
        return strategy

    def test_its_type_is_one_that_is_stored(self, checker: CompatibilityChecker) -> None:
        assert checker.schema_type in set(SchemaType) - AUTO_TYPES - {SchemaType.KEY_VALUE}

    def test_the_examples_are_of_its_type(
        self, checker: CompatibilityChecker, compatible: Pair, incompatible: Pair
    ) -> None:
        assert {schema.type for schema in (*compatible, *incompatible)} == {checker.schema_type}

    def test_what_may_follow_passes(
        self,
        checker: CompatibilityChecker,
        compatible: Pair,
        strategy: SchemaCompatibilityStrategy,
    ) -> None:
        existing, candidate = compatible
        checker.check_compatible((existing,), candidate, strategy)
        checker.check_compatible((existing, existing), candidate, strategy)

    def test_what_may_not_follow_is_refused_with_a_reason(
        self,
        checker: CompatibilityChecker,
        incompatible: Pair,
        strategy: SchemaCompatibilityStrategy,
    ) -> None:
        existing, candidate = incompatible
        for _ in range(2):  # the same question has the same answer
            with pytest.raises(IncompatibleSchemaError, match=r"\w"):
                checker.check_compatible((existing,), candidate, strategy)

    def test_each_version_counts(
        self,
        checker: CompatibilityChecker,
        incompatible: Pair,
        strategy: SchemaCompatibilityStrategy,
    ) -> None:
        existing, candidate = incompatible
        with pytest.raises(IncompatibleSchemaError):
            checker.check_compatible((existing, candidate), candidate, strategy)

    def test_anything_follows_nothing(
        self,
        checker: CompatibilityChecker,
        compatible: Pair,
        strategy: SchemaCompatibilityStrategy,
    ) -> None:
        """Under a transitive strategy a broker asks with an empty history, too (Pulsar 4.0.7)."""
        checker.check_compatible((), compatible[1], strategy)
