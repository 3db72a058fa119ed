"""The server: its address, its end, and curl."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gitops.model.errors import OutsideError, UsageError
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve, serve_in_thread

PROGRAM = """
import sys
from collections.abc import Iterator
from pathlib import Path
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve

registry = EmbeddedRegistry("local", Path(sys.argv[1]))
serve(registry, "127.0.0.1", 0, lambda url: print(url, flush=True))
print("ended", flush=True)
"""


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[EmbeddedRegistry]:
    registry = EmbeddedRegistry("local", tmp_path / "registry.db")
    yield registry
    registry.close()


def clusters(url: str) -> object:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    try:
        connection.request("GET", "/admin/v2/clusters")
        return json.load(connection.getresponse())
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(tmp_path: Path, ending: signal.Signals) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "registry.db")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert clusters(url) == ["standalone"]
        process.send_signal(ending)
        said, complaints = process.communicate(timeout=30)
    assert (process.returncode, said, complaints) == (0, "ended\n", "")


@pytest.mark.slow
def test_it_serves_beside_a_block_on_a_free_port(registry: EmbeddedRegistry) -> None:
    with serve_in_thread(registry) as first, serve_in_thread(registry) as second:
        assert first != second
        assert clusters(first) == clusters(second) == ["standalone"]
    with pytest.raises(ConnectionRefusedError):
        clusters(first)


def test_a_port_that_is_taken_is_told(registry: EmbeddedRegistry) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OutsideError, match=f"port {port}") as refused:
            serve(registry, "127.0.0.1", port, lambda _url: None)
    assert "--port" in refused.value.hint


@pytest.mark.parametrize("host", ["no host at all", "192.0.2.1", "a" * 70 + ".example"])
def test_a_host_that_is_not_here_is_told(registry: EmbeddedRegistry, host: str) -> None:
    with pytest.raises(OutsideError, match="cannot listen"), serve_in_thread(registry, host):
        pass


@pytest.mark.parametrize("port", [-1, 65_536])
def test_an_impossible_port_is_told(registry: EmbeddedRegistry, port: int) -> None:
    with (
        pytest.raises(UsageError, match=f"{port} is no port"),
        serve_in_thread(registry, port=port),
    ):
        pass


@pytest.mark.slow
def test_other_machines_reach_it_only_with_a_warning(
    registry: EmbeddedRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    with serve_in_thread(registry, "0.0.0.0") as url:  # noqa: S104 - the warning is what is tested
        assert clusters(url.replace("0.0.0.0", "127.0.0.1")) == ["standalone"]  # noqa: S104
    assert "anybody who can reach this machine" in caplog.text


@pytest.mark.slow
def test_curl_works_against_it(registry: EmbeddedRegistry) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("no curl on the PATH")

    def run(method: str, path: str, body: str = "") -> str:
        command = [curl, "-sS", "--fail-with-body", "-X", method, f"{url}/admin/v2{path}"]
        if body:
            command += ["-H", "Content-Type: application/json", "-d", body]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with serve_in_thread(registry) as url:
        run("PUT", "/tenants/t", '{"allowedClusters":["standalone"]}')
        run("PUT", "/namespaces/t/n")
        answer = run("POST", "/schemas/t/n/topic/schema", '{"type":"STRING","schema":""}')
        assert answer == '{"version":{"version":0}}'
        assert json.loads(run("GET", "/schemas/t/n/topic/schema"))["type"] == "STRING"
