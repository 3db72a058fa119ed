"""Reads a whole scope: which requests are worth making, several at a time, in a fixed order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gitops.model.policy import TopicPolicies
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.registry.pulsar.parallel import map_in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitops.model.names import NamespaceName, TopicName
    from gitops.model.state import Scope
    from gitops.ports import Progress
    from gitops.registry.pulsar.reading import Reading
    from gitops.registry.pulsar.settings import PulsarConfig

_WORTH_LISTING: Final = 4
"""From how many topics on a list of the namespace's topics spares more requests than it costs."""


@dataclass(frozen=True, slots=True)
class _Observer:
    """What all reads of one observation share."""

    reading: Reading
    config: PulsarConfig
    progress: Progress
    total: int

    def namespaces(self, scope: Scope) -> dict[NamespaceName, NamespaceState]:
        names = sorted(scope.namespaces)
        found = map_in_threads(
            self.reading.namespace,
            names,
            threads=self.config.concurrency,
            on_progress=self._reporter("reading policies", 0),
        )
        return dict(zip(names, found, strict=True))

    def existing(self, scope: Scope) -> dict[NamespaceName, set[TopicName]]:
        """The topics that exist, for the namespaces of which many are asked for."""
        asked = Counter(topic.namespace for topic in scope.topics)
        names = sorted(name for name, count in asked.items() if count >= _WORTH_LISTING)
        found = map_in_threads(
            self.reading.existing,
            names,
            threads=self.config.concurrency,
            on_progress=lambda _done: None,
        )
        return dict(zip(names, found, strict=True))

    def topics(
        self,
        scope: Scope,
        namespaces: Mapping[NamespaceName, NamespaceState],
        existing: Mapping[NamespaceName, set[TopicName]],
    ) -> dict[TopicName, TopicState]:
        def read(topic: TopicName) -> TopicState:
            known = existing.get(topic.namespace)
            history = self.reading.history(topic)
            if known is not None and topic not in known:
                return TopicState(topic=topic, history=history, exists=False)
            policies = self._policies(topic, namespaces.get(topic.namespace))
            if policies is None:
                return TopicState(topic=topic, history=history, exists=False)
            return TopicState(topic=topic, history=history, policies=policies)

        names = sorted(scope.topics)
        found = map_in_threads(
            read,
            names,
            threads=self.config.concurrency,
            on_progress=self._reporter("reading schemas", len(scope.namespaces)),
        )
        return dict(zip(names, found, strict=True))

    def _policies(self, topic: TopicName, namespace: NamespaceState | None) -> TopicPolicies | None:
        by_broker = self.config.broker_defaults.is_schema_validation_enforced
        by_namespace = namespace is not None and namespace.policies.schema_validation_enforced
        return self.reading.topic_policies(topic, enforced_above=bool(by_namespace) or by_broker)

    def _reporter(self, what: str, before: int) -> Callable[[int], None]:
        """Tells the Progress how many of all names are done."""
        return lambda done: self.progress(what, before + done, self.total)


def observe(
    reading: Reading, config: PulsarConfig, scope: Scope, progress: Progress
) -> RegistryState:
    """Everything in `scope`, sorted by name; raises OutsideError where anything is not known.

    One request for each namespace, one for each topic, and more only where they tell something:
    the next version of an empty history, and the policies of topics that exist.
    """
    total = len(scope.namespaces) + len(scope.topics)
    observer = _Observer(reading, config, progress, total)
    namespaces = observer.namespaces(scope)
    topics = observer.topics(scope, namespaces, observer.existing(scope))
    return RegistryState(namespaces=namespaces, topics=topics)
