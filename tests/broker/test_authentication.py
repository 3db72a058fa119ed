"""Tokens, client certificates and permissions, on a broker that insists on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gitops.model.config import (
    PulsarAuthentication,
    SecretRef,
    TlsAuthentication,
    TlsConfig,
    TokenAuthentication,
)
from gitops.model.errors import OutsideError, RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.secured_broker import STRANGER, SUPERUSER, SecuredBroker, secured_broker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gitops.ports import Registry

pytestmark = pytest.mark.broker

TOPIC = TopicName.parse("public/default/orders")
TOKEN = TokenAuthentication(token=SecretRef(kind="env", name="TEST_PULSAR_TOKEN"))


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    try:
        with secured_broker(tmp_path_factory.mktemp("secured")) as broker:
            yield broker
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def opened(
    secured: SecuredBroker,
    authentication: PulsarAuthentication | None,
    tls: TlsConfig | None = None,
) -> Registry:
    config = PulsarConfig(
        url=secured.broker.tls_admin_url,
        authentication=authentication,
        tls=tls or TlsConfig(ca_file=str(secured.ca_file)),
    )
    return open_registry("secured", config, secured.ca_file.parent)


def test_a_token_of_the_environment_is_enough(
    secured: SecuredBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_PULSAR_TOKEN", secured.token(SUPERUSER))
    registry = opened(secured, TOKEN)
    version = registry.register_schema(TOPIC, SchemaInfo(type=SchemaType.STRING))
    found = registry.observe(Scope(topics=frozenset({TOPIC}))).topics[TOPIC].history
    assert found.entries[-1].version == version
    assert TOPIC.namespace in registry.list_namespaces()


def test_a_token_of_a_file_is_enough(secured: SecuredBroker, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(secured.token(SUPERUSER) + "\n")
    authentication = TokenAuthentication(token=SecretRef(kind="file", name=str(path)))
    assert opened(secured, authentication).list_topics(TOPIC.namespace) == ()


def test_a_client_certificate_is_enough(secured: SecuredBroker) -> None:
    authentication = TlsAuthentication(
        certificate_file=str(secured.client_certificate), key_file=str(secured.client_key)
    )
    namespaces = opened(secured, authentication).list_namespaces()
    assert NamespaceName("public", "default") in namespaces


def test_nobody_is_told_to_authenticate(secured: SecuredBroker) -> None:
    with pytest.raises(RegistryRefusedError) as refused:
        opened(secured, None).observe(Scope(topics=frozenset({TOPIC})))
    assert refused.value.status == 401
    assert "authentication" in refused.value.hint


def test_a_wrong_token_is_refused_and_not_repeated(
    secured: SecuredBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secured.token(SUPERUSER)[:-6] + "AAAAAA"
    monkeypatch.setenv("TEST_PULSAR_TOKEN", token)
    with pytest.raises(RegistryRefusedError) as refused:
        opened(secured, TOKEN).list_namespaces()
    assert refused.value.status == 401
    assert token not in f"{refused.value} {refused.value.where} {refused.value.hint}"


@pytest.mark.parametrize(
    ("read", "needs"),
    [
        ("policies", "administrator of the tenant"),
        ("schemas", "produce or to consume"),
        ("namespaces", "superuser"),
        ("topics", "administrator of the tenant"),
    ],
)
def test_a_missing_permission_is_named(
    secured: SecuredBroker, monkeypatch: pytest.MonkeyPatch, read: str, needs: str
) -> None:
    monkeypatch.setenv("TEST_PULSAR_TOKEN", secured.token(STRANGER))
    registry = opened(secured, TOKEN)
    reads: dict[str, Callable[[], object]] = {
        "policies": lambda: registry.observe(Scope(namespaces=frozenset({TOPIC.namespace}))),
        "schemas": lambda: registry.observe(Scope(topics=frozenset({TOPIC}))),
        "namespaces": registry.list_namespaces,
        "topics": lambda: registry.list_topics(TOPIC.namespace),
    }
    with pytest.raises(RegistryRefusedError) as refused:
        reads[read]()
    assert refused.value.status in (401, 403)
    assert needs in refused.value.hint


def test_a_stranger_may_not_post(secured: SecuredBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_PULSAR_TOKEN", secured.token(STRANGER))
    with pytest.raises(RegistryRefusedError) as refused:
        opened(secured, TOKEN).register_schema(TOPIC, SchemaInfo(type=SchemaType.STRING))
    assert refused.value.status in (401, 403)
    assert "produce" in refused.value.hint


def test_a_certificate_of_an_unknown_authority_ends_it(secured: SecuredBroker) -> None:
    with pytest.raises(OutsideError, match="certificate") as failed:
        opened(secured, None, TlsConfig()).list_namespaces()
    assert "tls" in failed.value.hint
