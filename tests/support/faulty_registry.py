"""An embedded registry whose writes fail as a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from gitops.model.errors import OutsideError, UnknownOutcomeError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, Scope
from gitops.ports import Progress, no_progress
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.faults import Faults, with_fault

_T = TypeVar("_T")


class FaultyRegistry(EmbeddedRegistry):
    """Fails as it is told to."""

    faults = Faults()

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        if self.faults.gone:
            raise OutsideError("nothing answers")
        return super().observe(scope, progress)

    def create_namespace(self, namespace: NamespaceName) -> None:
        self._write(lambda: super(FaultyRegistry, self).create_namespace(namespace))

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        wanted = list(changes)
        self._write(lambda: super(FaultyRegistry, self).set_policies(subject, wanted))

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        return self._write(lambda: super(FaultyRegistry, self).register_schema(topic, info))

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        return self._write(lambda: super(FaultyRegistry, self).delete_schema(topic, force=force))

    def _write(self, work: Callable[[], _T]) -> _T:
        return with_fault(self.faults, work, lambda: UnknownOutcomeError("the connection broke"))
