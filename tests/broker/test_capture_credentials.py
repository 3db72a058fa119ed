"""Captures and publications with a broker that asks for a token or a certificate, over TLS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gitops.model.names import TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import rows_of
from tests.support.command_line import Outcome, captured
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.secured_broker import STRANGER, SUPERUSER, SecuredBroker, secured_broker

pulsar_library = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = pytest.mark.broker

TOPIC: Final = TopicName.parse("public/default/secret-orders")
CONFIG: Final = """\
apiVersion: pulsar-gitops/v1
kind: Config
registries:
  secured:
    kind: pulsar
    url: {url}
    authentication: {authentication}
    tls: {{caFile: {ca}}}
defaultRegistry: secured
"""
TOKEN: Final = '{token: "${CAPTURE_TOKEN}"}'


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    ports = {"brokerServicePortTls": "0"}
    try:
        with secured_broker(tmp_path_factory.mktemp("secured"), ports) as broker:
            _fill(broker)
            yield broker
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def _fill(secured: SecuredBroker) -> None:
    headers = {"Authorization": f"Bearer {secured.token(SUPERUSER)}"}
    url = f"{secured.broker.admin_url}/admin/v2/namespaces/public/default/retention"
    kept = {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}
    admin_request("POST", url, kept, headers)
    client = pulsar_library.Client(
        secured.broker.service_url,
        authentication=pulsar_library.AuthenticationToken(secured.token(SUPERUSER)),
        logger=pulsar_library.FileLogger(pulsar_library.LoggerLevel.Error, "/dev/null"),
    )
    producer = client.create_producer(f"persistent://{TOPIC}")
    producer.send(b"secret order")
    client.close()


def repository(secured: SecuredBroker, folder: Path, authentication: str = TOKEN) -> Path:
    """With the broker as its registry."""
    text = CONFIG.format(
        url=secured.broker.tls_admin_url, authentication=authentication, ca=secured.ca_file
    )
    (folder / "repo").mkdir()
    (folder / "repo/gitops.yaml").write_text(text)
    return folder / "repo"


def capture(secured: SecuredBroker, folder: Path, authentication: str = TOKEN) -> Outcome:
    """From a registry of gitops.yaml; the cluster tells where clients connect to."""
    repo = repository(secured, folder, authentication)
    return captured("capture", TOPIC, "--out", folder / "cap", "--repo", repo)


def with_certificate(secured: SecuredBroker) -> str:
    ours = f"certificateFile: {secured.client_certificate}, keyFile: {secured.client_key}"
    return f"{{tls: {{{ours}}}}}"


def test_a_token_is_enough_and_is_written_nowhere(
    secured: SecuredBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secured.token(SUPERUSER)
    monkeypatch.setenv("CAPTURE_TOKEN", token)
    ran = capture(secured, tmp_path)
    assert ran.code == 0, ran.err
    (row,) = rows_of(tmp_path / "cap", TOPIC)
    assert row["payload"] == b"secret order"
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for part in (token, *token.split(".")):
        assert part.encode() not in written
        assert part not in f"{ran.out}{ran.err}"


def test_a_client_certificate_is_enough(secured: SecuredBroker, tmp_path: Path) -> None:
    ran = capture(secured, tmp_path, with_certificate(secured))
    assert ran.code == 0, ran.err
    assert len(rows_of(tmp_path / "cap", TOPIC)) == 1


def test_a_role_without_permission_and_a_wrong_token_are_told_apart(
    secured: SecuredBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = f"{secured.token(SUPERUSER)[:-6]}AAAAAA"
    for name, token in {"stranger": secured.token(STRANGER), "wrong": wrong}.items():
        monkeypatch.setenv("CAPTURE_TOKEN", token)
        folder = tmp_path / name
        folder.mkdir()
        ran = capture(secured, folder)
        assert ran.code == 4
        assert token not in f"{ran.out}{ran.err}"
        said = "permission" if name == "stranger" else "does not accept the credentials"
        assert said in ran.err
        assert not (folder / "cap").exists()


# Publications: admin REST decides what is expected, the binary protocol what is sent.


@pytest.mark.parametrize("name", ["token", "certificate"])
def test_a_capture_is_published_with_either(
    name: str, secured: SecuredBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secured.token(SUPERUSER)
    monkeypatch.setenv("CAPTURE_TOKEN", token)
    copy = TopicName.parse(f"public/default/copy-{name}")
    authentication = TOKEN if name == "token" else with_certificate(secured)
    assert capture(secured, tmp_path, authentication).code == 0
    repo = tmp_path / "repo"
    dry = captured("publish", tmp_path / "cap", "--to", copy, "--repo", repo, "--dry-run")
    assert (dry.code, dry.out.count("accepted")) == (0, 2), dry.err
    ran = captured("publish", tmp_path / "cap", "--to", copy, "--repo", repo)
    assert ran.code == 0, ran.err
    again = captured("capture", copy, "--out", tmp_path / "again", "--repo", repo)
    assert again.code == 0, again.err
    (row,) = rows_of(tmp_path / "again", copy)
    assert row["payload"] == b"secret order"
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for part in (token, *token.split(".")):
        assert part.encode() not in written
        assert part not in f"{ran.out}{ran.err}"


def test_a_publication_without_permission_or_with_a_wrong_token_sends_nothing(
    secured: SecuredBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No topic is made, and no journal is in the way of the next one."""
    monkeypatch.setenv("CAPTURE_TOKEN", secured.token(SUPERUSER))
    copy = TopicName.parse("public/default/copy-refused")
    assert capture(secured, tmp_path).code == 0
    wrong = f"{secured.token(SUPERUSER)[:-6]}AAAAAA"
    for token in (secured.token(STRANGER), wrong):
        monkeypatch.setenv("CAPTURE_TOKEN", token)
        ran = captured("publish", tmp_path / "cap", "--to", copy, "--repo", tmp_path / "repo")
        assert ran.code == 4, ran.err
        assert token not in f"{ran.out}{ran.err}"
        assert not list(tmp_path.glob("cap/**/*.publish-*"))
    headers = {"Authorization": f"Bearer {secured.token(SUPERUSER)}"}
    url = f"{secured.broker.admin_url}/admin/v2/persistent/public/default"
    assert b"copy-refused" not in admin_request("GET", url, headers=headers)
