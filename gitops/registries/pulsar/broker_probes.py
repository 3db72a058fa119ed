"""Asks namespaces for the broker's settings where the role may not read its configuration.

A namespace that enforces no validation shows whether the broker does, and the compatibility test of
a topic without a schema names the strategy in force. Where the release is hidden, the test of an
EXTERNAL schema tells whether it is of 4.1 or later, which 4.2 decides for. Nothing is stored and no
topic is created (Pulsar 3.0.7, 4.0.7, 4.2.4 and 5.0.0-M1); the administrator of a tenant may ask.
A release that gitops.yaml gives is asked about as well where the answer may contradict it.
Auto-update needs no question: a namespace that leaves it to the broker has the broker's value in
its policies.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, final

from gitops.broker.lines.table import find_line, is_beyond_doubt
from gitops.model.broker_settings import LATER_RELEASE, SettingValue, with_known, with_probed
from gitops.model.errors import OutsideError
from gitops.model.policy import BrokerSettings, NamespacePolicies, SchemaCompatibilityStrategy
from gitops.registries.pulsar import response_bodies
from gitops.registries.pulsar.address import namespace_path
from gitops.registries.pulsar.broker_settings import learn_settings
from gitops.registries.pulsar.error_responses import exception_name
from gitops.schemas.json.compatibility import JacksonForm

if TYPE_CHECKING:
    from gitops.model.names import NamespaceName
    from gitops.model.state import NamespaceState
    from gitops.registries.pulsar.admin_client import AdminClient
    from gitops.registries.pulsar.error_responses import Answer
    from gitops.registries.pulsar.settings import PulsarConfig

_TOPIC: Final = "pulsar-schema-gitops-probe"
"""The topic of the compatibility tests, which nobody creates."""
_STRING: Final = {"type": "STRING", "schema": "", "properties": {}}
_EXTERNAL: Final = {"type": "EXTERNAL", "schema": "", "properties": {}}
_WITH_EXTERNAL: Final = "4.2"
_OLD_JSON: Final = {"type": "JSON", "schema": '{"type":"object"}', "properties": {}}
_EXCEPTIONS: Final = "org.apache.pulsar.broker.service.schema.exceptions."
_VERDICTS: Final = {
    f"{_EXCEPTIONS}InvalidSchemaDataException": False,
    f"{_EXCEPTIONS}IncompatibleSchemaException": True,
}
_UNDEFINED: Final = SchemaCompatibilityStrategy.UNDEFINED

_RELEASE: Final = "release"
_STRATEGY: Final = "schema_compatibility_strategy"
_VALIDATION: Final = "is_schema_validation_enforced"
_LEGACY_JSON: Final = "schema_json_allow_legacy_jackson_format"


def _leaves_strategy(policies: NamespacePolicies) -> bool:
    own = policies.schema_compatibility_strategy
    return own in (None, _UNDEFINED) and policies.schema_auto_update_compatibility_strategy is None


_LEAVES: Final[dict[str, Callable[[NamespacePolicies], bool]]] = {
    _RELEASE: lambda _policies: True,
    _STRATEGY: _leaves_strategy,
    _VALIDATION: lambda policies: not policies.schema_validation_enforced,
    _LEGACY_JSON: lambda _policies: True,
}
"""Whether a namespace with these policies shows the broker's setting."""


@final
class ClusterBroker:
    """What is known of a cluster's brokers; asked for when needed."""

    def __init__(self, client: AdminClient, config: PulsarConfig) -> None:
        self._client = client
        self._config = config
        self._lock = threading.Lock()
        self._known: BrokerSettings | None = None
        self._settings: BrokerSettings | None = None
        self._probes = NamespaceProbes(client, knows_release=is_beyond_doubt(config.broker))

    def add(self, namespaces: Iterable[NamespaceState]) -> None:
        """Namespaces that may be asked for what the configuration does not tell."""
        with self._lock:
            self._probes.add(namespaces)

    @property
    def settings(self) -> BrokerSettings:
        """What the cluster tells, else `gitops.yaml`."""
        with self._lock:
            known = self._known or learn_settings(self._client, threads=self._config.concurrency)
            while probed := self._probes.ask(known):  # a release may have more to be asked for
                known = with_probed(known, probed)
                if _RELEASE in probed:
                    known = replace(known, limits=(*known.limits, LATER_RELEASE))
            if self._settings is None or known is not self._known:
                self._known, self._settings = known, with_known(self._config.broker, known)
            return self._settings


@final
class NamespaceProbes:
    """What namespaces tell of their broker; each setting is asked for once.

    The release is not asked for where somebody `knows_release`: a test shows less than a name.
    """

    def __init__(self, client: AdminClient, *, knows_release: bool = False) -> None:
        self._client = client
        self._namespaces: dict[str, NamespaceName] = {}
        self._asked: set[str] = {_RELEASE} if knows_release else set()

    def add(self, namespaces: Iterable[NamespaceState]) -> None:
        """Namespaces that may be asked."""
        for namespace in namespaces:
            for name, leaves in _LEAVES.items():
                if namespace.exists and leaves(namespace.policies):
                    self._namespaces.setdefault(name, namespace.namespace)

    def ask(self, known: BrokerSettings) -> dict[str, SettingValue]:
        """The values, by field, of settings that are not in `known`, as far as they are new."""
        grouped = {
            name: self._value(name, namespace)
            for name, namespace in self._namespaces.items()
            if name not in known.sources
            and name not in self._asked
            and (name != _LEGACY_JSON or _has_legacy_json(known))
        }
        self._asked |= grouped.keys()
        return {name: value for name, value in grouped.items() if value is not None}

    def _value(self, name: str, namespace: NamespaceName) -> SettingValue:
        path = f"namespaces/{namespace_path(namespace)}"
        test = f"schemas/{namespace_path(namespace)}/{_TOPIC}/compatibility"
        try:
            if name in _TESTS:
                schema, read = _TESTS[name]
                return read(self._client.send("POST", test, json.dumps(schema).encode()))
            return _boolean(self._client.get(f"{path}/schemaValidationEnforced?applied=true"))
        except OutsideError:
            return None


def _has_legacy_json(known: BrokerSettings) -> bool:
    """Whether the line has the switch: before 4.2 all accept the old form of JSON definitions."""
    line = find_line(known.release) if _RELEASE in known.sources else None
    return line is not None and line.rules.jackson is JacksonForm.NEVER


def _strategy(answer: Answer) -> SchemaCompatibilityStrategy | None:
    """The strategy that an answer of the compatibility test names."""
    if answer.status != HTTPStatus.ACCEPTED:
        return None
    return response_bodies.read_tested_strategy(answer)


def _takes_old_json(answer: Answer) -> bool | None:
    """Whether the definition got past the validator; a transitive strategy refuses it later."""
    if answer.status == HTTPStatus.ACCEPTED:
        return True
    return _VERDICTS.get(exception_name(answer.body))


def _release(answer: Answer) -> str | None:
    """The first line with the type, if the broker has it; before, no line is told from another."""
    return _WITH_EXTERNAL if answer.status == HTTPStatus.ACCEPTED else None


_TESTS: Final[dict[str, tuple[Mapping[str, object], Callable[[Answer], SettingValue]]]] = {
    _RELEASE: (_EXTERNAL, _release),
    _STRATEGY: (_STRING, _strategy),
    _LEGACY_JSON: (_OLD_JSON, _takes_old_json),
}
"""The schema of a compatibility test, and what its answer tells."""


def _boolean(answer: Answer) -> bool | None:
    return response_bodies.read_boolean(answer) if answer.status == HTTPStatus.OK else None
