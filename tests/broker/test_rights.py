"""The least right of each command, as docs/reference/rights.md has it, on a broker that insists."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.support.admin_rest import admin_request
from tests.support.command_line import captured
from tests.support.git_repos import GitRepository
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.secured_broker import STRANGER, SUPERUSER, SecuredBroker, secured_broker

if TYPE_CHECKING:
    from collections.abc import Iterator

pulsar_library = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = [pytest.mark.broker, pytest.mark.slow]

_PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "rights.md"
_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_TOPIC: Final = "shop/orders/created"
_FRESH: Final = "shop/orders/fresh"
_SENT: Final = "shop/orders/sent"
_RIGHTS: Final = {
    "none": STRANGER,
    "consume": "consumer",
    "produce on the topic": "producer",
    "administration of the tenant": "administrator",
    "superuser": SUPERUSER,
}
"""The rights, the smallest first, and the role that has each."""
_CALLS: Final[dict[str, tuple[str, ...]]] = {
    "schemas upload": ("schemas", "upload", _FRESH, "{definition}", "--type", "AVRO"),
    "schemas get": ("schemas", "get", _TOPIC),
    "schemas versions": ("schemas", "versions", _TOPIC),
    "schemas delete": ("schemas", "delete", "shop/orders/other", "--yes"),
    "policies get": ("policies", "get", "shop/orders"),
    "policies set": ("policies", "set", "shop/orders", "isAllowAutoUpdateSchema=true"),
    "connect producer": ("connect", "producer", _FRESH, "{definition}", "--type", "AVRO"),
    "connect consumer": ("connect", "consumer", _FRESH, "{definition}", "--type", "AVRO"),
    "check --history registry": ("check", "--base", "HEAD", "--history", "registry"),
    "plan": ("plan",),
    "drift": ("drift",),
    "drift --clients": ("drift", "--clients"),
    "rollout": ("rollout",),
    "snapshot": ("snapshot",),
    "snapshot --clients": ("snapshot", "--clients"),
    "capture": ("capture", _SENT, "--out", "{out}"),
    "publish": ("publish", "{messages}", "--to", "shop/orders/published"),
    "publish --dry-run": ("publish", "{messages}", "--to", _TOPIC, "--dry-run"),
    "apply": ("apply", "--auto-approve"),
    "import TENANT/NAMESPACE": ("import", "shop/orders"),
    "apply that creates a tenant": ("apply", "--auto-approve"),
    "import without names": ("import",),
    "audit without names": ("audit",),
}
_REFUSALS: Final = ("may not do this", "AuthorizationError")
"""The words of admin REST's refusals, and the broker's name for those of its protocol."""
_REFUSED: Final = (4, 6)
"""Where a command is refused at once, and after a part of its work."""
_OFFLINE: Final = ("none: no cluster is asked",)


def _rows() -> Iterator[tuple[str, str]]:
    """Each command of the page with its least right."""
    for cells in re.findall(r"^\| (`.+) \| (.+) \|$", _PAGE.read_text("utf-8"), re.MULTILINE):
        *_, behind = cells[0].rpartition("`")
        for name in re.findall(r"`([^`]+)`", cells[0]):
            yield f"{name}{behind}", cells[1]


_NEEDED: Final = {name: right for name, right in _rows() if right not in _OFFLINE}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    settings = {"brokerDeleteInactiveTopicsEnabled": "false", "brokerServicePortTls": "0"}
    try:
        with secured_broker(tmp_path_factory.mktemp("secured"), settings) as broker:
            _fill(broker)
            _send_message(broker)
            yield broker
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def _fill(secured: SecuredBroker) -> None:
    """A tenant with an administrator, and a namespace with a consumer and a producer."""
    send = partial(_send, secured)

    tenant = {"adminRoles": ["administrator"], "allowedClusters": ["standalone"]}
    send("PUT", "tenants/shop", tenant)
    send("PUT", "namespaces/shop/orders", {})
    for role, action in (("consumer", "consume"), ("producer", "produce")):
        send("POST", f"namespaces/shop/orders/permissions/{role}", [action])
    send("PUT", f"persistent/{_TOPIC}/partitions", 1)
    # Without a subscription a broker might delete the topic, and is not asked for its clients.
    send("PUT", f"persistent/{_TOPIC}/subscription/kept", None)
    for name in ("created", "other"):
        schema = {"type": "STRING", "schema": "", "properties": {}}
        send("POST", f"schemas/shop/orders/{name}/schema", schema)


def _send_message(secured: SecuredBroker) -> None:
    retention = {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}
    _send(secured, "POST", "namespaces/shop/orders/retention", retention)
    client = pulsar_library.Client(
        secured.broker.service_url,
        authentication=pulsar_library.AuthenticationToken(secured.token(SUPERUSER)),
        logger=pulsar_library.FileLogger(pulsar_library.LoggerLevel.Error, "/dev/null"),
    )
    client.create_producer(f"persistent://{_SENT}").send(b"an order")
    client.close()


def _send(secured: SecuredBroker, method: str, path: str, body: object) -> None:
    admin_request(
        method,
        f"{secured.broker.tls_admin_url}/admin/v2/{path}",
        body,
        {"Authorization": f"Bearer {secured.token(SUPERUSER)}"},
        ca_file=secured.ca_file,
    )


@pytest.fixture
def repo(secured: SecuredBroker, tmp_path: Path) -> Path:
    """A repository with a namespace and a topic, and a changed one that is not committed."""
    made = GitRepository(tmp_path / "repo")
    settings = (
        f"registries:\n  live:\n    kind: pulsar\n    url: {secured.broker.tls_admin_url}\n"
        f"    tls: {{caFile: '{secured.ca_file}'}}\n"
        "    authentication: {token: '${TEST_PULSAR_TOKEN}'}\n"
    )
    topic = f"{_HEAD}Topic\nschema: {{type: STRING}}\n"
    made.commit(
        {
            "gitops.yaml": f"{_HEAD}Config\n{settings}",
            "namespaces/shop/orders/namespace.yaml": f"{_HEAD}Namespace\nnamespace: shop/orders\n",
            "namespaces/shop/orders/created.yaml": topic,
        }
    )
    made.write({"namespaces/shop/orders/created.yaml": f"{topic}partitions: 1\n# changed\n"})
    return made.root


def test_the_page_has_a_right_for_each_command_that_is_tried() -> None:
    assert _NEEDED.keys() == _CALLS.keys()
    assert set(_NEEDED.values()) <= _RIGHTS.keys()


@pytest.mark.parametrize("name", _CALLS)
def test_a_command_needs_its_right_and_no_larger_one(
    name: str,
    secured: SecuredBroker,
    repo: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    definition = repo / "string.avsc"
    definition.write_text('{"type": "record", "name": "R", "fields": []}')
    if name == "apply that creates a tenant":
        manifest = repo / "namespaces" / "made" / "tenant.yaml"
        manifest.parent.mkdir()
        manifest.write_text(f"{_HEAD}Tenant\ntenant: made\n")
    messages = repo.with_name("messages")
    if "{messages}" in _CALLS[name]:
        monkeypatch.setenv("TEST_PULSAR_TOKEN", secured.token(SUPERUSER))
        assert captured("capture", _SENT, "--out", messages, "--repo", repo).code == 0
    files = {"definition": definition, "out": repo.with_name("out"), "messages": messages}
    words, rights = [word.format(**files) for word in _CALLS[name]], list(_RIGHTS)

    for right in rights[: rights.index(_NEEDED[name]) + 1]:
        monkeypatch.setenv("TEST_PULSAR_TOKEN", secured.token(_RIGHTS[right]))
        done = captured(*words, "--repo", repo)
        # A command may also name what it could not read, and do the rest.
        is_refused = done.code in _REFUSED
        assert is_refused is (right != _NEEDED[name]), (right, done)
        assert not is_refused or any(words in done.err + done.out for words in _REFUSALS), done


def test_an_administrator_of_the_tenant_may_read_who_is_connected(
    secured: SecuredBroker, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_PULSAR_TOKEN", secured.token("administrator"))

    done = captured("drift", "--clients", "--repo", repo)

    assert done.code == 3, done
    assert "+ subscription 'kept'" in done.out
    assert "The clients of" not in done.out
