"""`--url`: a cluster in place of a registry of gitops.yaml, in a repository and outside of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.app import PATHS
from gitops.registries.server.server import serve_in_thread
from tests.support.command_line import CommandLine

pytestmark = pytest.mark.slow


CREATED = "shop/orders/order-created"
CANCELLED = "shop/orders/order-cancelled"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PULSAR_ADMIN_URL", "PULSAR_TOKEN", "PULSAR_CLIENT_CONF"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def url(applied: Path) -> Iterator[str]:
    """Admin REST of the template's registry, once it is applied."""
    registry = EmbeddedRegistry("served", applied / ".gitops/registry.db")
    with serve_in_thread(registry) as address:
        yield address
    registry.close()


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside of any schemas repository, as the current one."""
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize("by", ["--url", "PULSAR_ADMIN_URL", "PULSAR_CLIENT_CONF"])
def test_versions_without_a_repository(
    by: str, url: str, command: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "client.conf").write_text(f"webServiceUrl={url}/\n")
    options = ["--url", url] if by == "--url" else []
    if not options:
        conf = by == "PULSAR_CLIENT_CONF"
        monkeypatch.setenv(by, str(tmp_path / "client.conf") if conf else url)
    done = command("schemas", "versions", CREATED, *options)
    assert (done.code, done.err) == (0, "")
    assert "v0  AVRO" in done.out
    got = command("schemas", "get", CREATED, "--format", "json", *options)
    assert json.loads(got.out)["version"] == 0


def test_connect_without_a_repository(
    url: str, applied: Path, outside: Path, command: CommandLine
) -> None:
    own = outside / "own.avsc"
    own.write_text((applied / f"namespaces/{CANCELLED}.avsc").read_text())
    good = command("connect", "consumer", CANCELLED, "own.avsc", "--type", "JSON", "--url", url)
    assert (good.code, good.err) == (0, "")
    assert f"consumer on {CANCELLED} · {url} · as Pulsar" in good.out
    assert command("connect", "producer", CANCELLED, "INT64", "--url", url).code == 1


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that does not tell its configuration, nor lets its namespaces be asked for it."""
    monkeypatch.delitem(PATHS, "/brokers/configuration/runtime")
    monkeypatch.delitem(PATHS, "/schemas/{tenant}/{namespace}/{topic}/compatibility")


@pytest.mark.usefixtures("silent", "outside")
def test_what_is_assumed_of_the_broker_is_said(
    request: pytest.FixtureRequest, applied: Path, command: CommandLine
) -> None:
    url = request.getfixturevalue("url")
    key = "schemaCompatibilityStrategy="
    setting = ("policies", "set", "shop/orders", key, "--repo", applied)
    assert command(*setting).code == 0
    line = ("connect", "consumer", CREATED, "AUTO_CONSUME", "--url", url)
    assert "! assumed of the broker: Pulsar's defaults" in command(*line).out
    notes = json.loads(command(*line, "--format", "json").out)["notes"]
    assert any("brokerDefaults" in note for note in notes)


def test_a_url_comes_before_the_registry_of_a_repository(
    url: str, applied: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files count as ever: a manifest is a schema, policies are theirs."""
    monkeypatch.chdir(applied)
    manifest = f"namespaces/{CREATED}.yaml"
    done = command("connect", "producer", CREATED, manifest, "--url", url)
    assert (done.code, f"· {url} ·" in done.out) == (0, True)
    assert command("schemas", "get", CREATED, "--url", url).code == 0


def test_the_environment_does_not_come_before_a_repository(
    applied: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULSAR_ADMIN_URL", "http://127.0.0.1:1")
    assert command("schemas", "versions", CREATED, "--repo", applied).code == 0
    monkeypatch.chdir(applied / "namespaces")
    assert command("schemas", "versions", CREATED).code == 0


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(
    "line",
    [
        ("schemas", "versions", CREATED),
        ("schemas", "get", CREATED),
        ("connect", "consumer", CREATED, "NONE"),
    ],
)
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "--url http://broker.example:8080 names one, or the variable PULSAR_ADMIN_URL"),
        (("--url", "http://x", "--registry", "y"), "--url and --registry name two registries"),
        (("--url", "pulsar://x:6650"), "in --url\n"),
        (("--registry", "y"), "gitops.yaml"),
    ],
)
def test_what_names_no_cluster(
    line: tuple[str, ...], more: tuple[str, ...], said: str, command: CommandLine
) -> None:
    done = command(*line, *more)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
