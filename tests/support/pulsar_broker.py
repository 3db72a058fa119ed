"""A real Pulsar broker for tests: the one of `PULSAR_ADMIN_URL`, else a standalone one of ours.

The one that we start listens on free loopback ports, keeps its data in a folder of its own, and
is ended, with its data removed, when the tests are done. Where a folder is given its data stay, for
a broker of another release to open.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.class_data import archive_of, jvm_flags, write_archive
from tests.support.pulsar_class_path import (
    QUICK_START,
    RELEASE,
    BrokerUnavailableError,
    broker_class_path,
    find_java,
)

__all__ = ["BrokerSettings", "BrokerUnavailableError", "RunningBroker", "pulsar_broker"]

START_SECONDS: Final = 120
POLL_SECONDS: Final = 0.1
END_SECONDS: Final = 30
STARTS: Final = 3
_LOG: Final = "broker.log"
_TAKEN: Final = "Address already in use"
LOG_TAIL: Final = 4000

_OPENED: Final = (
    "java.base/jdk.internal.loader",
    "java.base/java.lang",
    "java.base/sun.net",
    "java.management/sun.management",
    "java.base/jdk.internal.platform",
    "java.base/java.util.zip",
    "java.base/java.nio",
    "java.base/jdk.internal.misc",
)
_DRIVERS: Final = "org.apache.pulsar.metadata.bookkeeper.PulsarMetadata"
_JVM_FLAGS: Final = (
    "-Xmx1g",
    *QUICK_START,
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
    f"-Dbookkeeper.metadata.bookie.drivers={_DRIVERS}BookieDriver",
    f"-Dbookkeeper.metadata.client.drivers={_DRIVERS}ClientDriver",
)
_CONFIG: Final = {
    "zookeeperServers": "",
    "configurationStoreServers": "",
    "bindAddress": "127.0.0.1",
    "advertisedAddress": "127.0.0.1",
    "clusterName": "standalone",
    "managedLedgerDefaultEnsembleSize": "1",
    "managedLedgerDefaultWriteQuorum": "1",
    "managedLedgerDefaultAckQuorum": "1",
    "allowAutoTopicCreation": "true",
    "loadBalancerEnabled": "false",
    "allowLoopback": "true",  # the bookie of Pulsar 5.0 asks for it, others do not know it
    "webSocketServiceEnabled": "false",
    # Its bookie takes no writes on a disk used to 95 %, however much is left (BookKeeper 4.17), and
    # requests wait for long then. The tests write a few megabytes.
    "diskUsageThreshold": "0.9999",
    "diskUsageWarnThreshold": "0.9999",
    "diskUsageLwmThreshold": "0.9999",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """What differs from a plain broker.

    `release` is the one that is started. `config` are keys of broker.conf. `tls` opens an HTTPS
    port too, for which `config` names the certificates. `headers` are how the fixture itself may
    ask whether it is up. `data` is a folder whose data are opened and stay.
    """

    release: str = RELEASE
    data: Path | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    tls: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningBroker:
    """A broker that answers; `tls_admin_url` is empty where it has no HTTPS port.

    `zookeeper` is where its metadata are, empty where it keeps them by itself.
    """

    admin_url: str
    service_url: str = ""
    tls_admin_url: str = ""
    zookeeper: str = ""


@contextmanager
def pulsar_broker(settings: BrokerSettings | None = None) -> Iterator[RunningBroker]:
    """A broker while the block runs.

    Raises BrokerUnavailableError where this machine cannot start one, and RuntimeError with the
    end of its log where it was started and did not come up.
    """
    given = os.environ.get("PULSAR_ADMIN_URL", "").rstrip("/")
    if given and settings is None:
        yield RunningBroker(admin_url=given, service_url=os.environ.get("PULSAR_SERVICE_URL", ""))
        return
    wanted = settings or BrokerSettings()
    java, jars = find_java(wanted.release), broker_class_path(wanted.release)
    if wanted.data:
        with _started(java, jars, wanted.data, wanted) as running:
            yield running
        return
    folder = Path(tempfile.mkdtemp(prefix="pulsar-broker-"))
    try:
        with _started(java, jars, folder, wanted) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _started(
    java: str, jars: str, folder: Path, settings: BrokerSettings
) -> Iterator[RunningBroker]:
    """Start the process, wait until it answers, end it.

    A port that was free a moment ago may be taken by then: a new broker tries others.
    """
    for left in reversed(range(STARTS)):
        with _process(java, jars, folder, settings) as (process, running):
            try:
                _wait_until_up(process, running.admin_url, settings.headers, folder / _LOG)
            except RuntimeError as error:
                if left and not settings.data and _TAKEN in str(error):
                    continue
                raise
            write_archive(java, process.pid, archive_of(java, jars))
            yield running
            return


@contextmanager
def _process(
    java: str, jars: str, folder: Path, settings: BrokerSettings
) -> Iterator[tuple[subprocess.Popen[bytes], RunningBroker]]:
    """The process, which is ended."""
    broker_port, web_port, tls_port, bookie_port, zookeeper_port = _free_ports(5)
    config = {
        **_CONFIG,
        "brokerServicePort": str(broker_port),
        "webServicePort": str(web_port),
        **({"webServicePortTls": str(tls_port)} if settings.tls else {}),
        **settings.config,
    }
    running = RunningBroker(
        admin_url=f"http://127.0.0.1:{web_port}",
        service_url=f"pulsar://127.0.0.1:{broker_port}",
        tls_admin_url=f"https://localhost:{tls_port}" if settings.tls else "",
        zookeeper=f"127.0.0.1:{zookeeper_port}" if settings.data else "",
    )
    # Pulsar 5.0 has no such option: its bookie finds a port by itself.
    ports = [] if settings.release.startswith("5.") else ["--bookkeeper-port", str(bookie_port)]
    environment = {**os.environ, "CLASSPATH": jars}
    if settings.data:
        environment["PULSAR_STANDALONE_USE_ZOOKEEPER"] = "1"
        ports += ["--zookeeper-port", str(zookeeper_port)]
    else:
        ports.append("--wipe-data")
    command = [java, *jvm_flags(archive_of(java, jars)), *_arguments(folder, config), *ports]
    with (folder / _LOG).open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=environment
        )
    try:
        yield process, running
    finally:
        _end(process, tidy=settings.data is not None)


def _arguments(folder: Path, config: Mapping[str, str]) -> list[str]:
    """Write the config file and give the arguments of Java for a standalone broker."""
    conf = folder / "standalone.conf"
    conf.write_text("".join(f"{key}={value}\n" for key, value in config.items()))
    return [
        *_JVM_FLAGS,
        "org.apache.pulsar.PulsarStandaloneStarter",
        "--config",
        str(conf),
        "--no-functions-worker",
        "-nss",
        "--bookkeeper-dir",
        str(folder / "bookkeeper"),
        "--metadata-dir",
        str(folder / "metadata"),
        "--zookeeper-dir",
        str(folder / "zookeeper"),
    ]


def _free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that were free a moment ago, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _wait_until_up(
    process: subprocess.Popen[bytes], url: str, headers: Mapping[str, str], log: Path
) -> None:
    """Poll until its own namespace is there, the last that it makes (4.0.7), and keeps a schema.

    Raises RuntimeError with the end of its log if it does not come up.
    """
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _answers(f"{url}/admin/v2/namespaces/public/default", headers) and _answers(
            f"{url}/admin/v2/schemas/public/default/is-it-up/schema",
            {**headers, "Content-Type": "application/json"},
            body=b'{"type": "STRING", "schema": "", "properties": {}}',
        ):
            return
        time.sleep(POLL_SECONDS)
    tail = log.read_text(encoding="utf-8", errors="replace")[-LOG_TAIL:]
    state = f"ended with {process.poll()}" if process.poll() is not None else "does not answer"
    raise RuntimeError(f"the Pulsar broker {state}; its log ends:\n{tail}")


def _answers(url: str, headers: Mapping[str, str], *, body: bytes | None = None) -> bool:
    """Whether a GET, or a POST of the body, answers 200."""
    request = urllib.request.Request(url, data=body, headers=dict(headers))  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _end(process: subprocess.Popen[bytes], *, tidy: bool) -> None:
    """End the process that we started; it need not tidy up where its data are thrown away."""
    if tidy:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        else:
            return
    process.kill()
    process.wait()
