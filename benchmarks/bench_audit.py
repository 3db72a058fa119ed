"""Times `audit --as-if-broker 5.0` of 10,000 topics with 3 versions each on the embedded registry.

Every topic has definitions of its own: 12 fields, then one and two optional ones more; one topic of
a hundred has a namespace that 5.0 refuses, with `--every 1` each; with `--distinct` each such
namespace is another one. The command runs in a process of its own, whose largest memory is
measured.

With `--cluster` the same topics, 1,000 unless said otherwise, are on a broker of 4.0.7
that is started. Then an audit and a loop of 8 threads with one
`http.client` connection each, which asks the same and throws the answers away, take turns.

    python benchmarks/bench_audit.py [--topics TOPICS] [--every 100] [--distinct] [--format json]
    python benchmarks/bench_audit.py --cluster [--topics TOPICS] [--rounds 7]
"""

from __future__ import annotations

import argparse
import http.client
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import uuid
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.admin_client import AdminClient
from gitops.registries.pulsar.cluster import open_cluster
from gitops.usecases.audit import AuditRequest
from gitops.usecases.audit import audit as run_audit
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerSettings as BrokerConfig
from tests.support.pulsar_broker import pulsar_broker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitops.ports import Registry
    from gitops.registries.pulsar.error_responses import Answer

ATTEMPTS = 20
EVERY = 100
"""One topic of so many has a namespace that 5.0 refuses."""
CONNECTIONS = 8
NAMESPACES = 10
VERSIONS = 3
KEPT = BrokerConfig(config={"brokerDeleteInactiveTopicsEnabled": "false"})
"""A broker deletes topics without clients after a minute."""
CONFIG = """apiVersion: pulsar-gitops/v1
kind: Config
registries:
  local: {kind: embedded, path: x.db}
"""


def main() -> None:
    """Measure one or the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--topics", type=int)
    parser.add_argument("--every", type=int, default=EVERY)
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--format", default="json")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if options.cluster:
        measure_cluster(options.topics or 1000, options.rounds)
    else:
        measure_embedded(options.topics or 10_000, options)


# On the embedded registry.


def measure_embedded(topics: int, options: argparse.Namespace) -> None:
    """Fill the registry, time the command."""
    every = options.every
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "gitops.yaml").write_text(CONFIG)
        fill(root / "x.db", topics, options)
        started = time.perf_counter()
        audit(root, -(-topics // every), options.format)
        seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    told = f"{topics:,} topics, {VERSIONS} versions, one of {every} affected"
    told += ", each for a reason of its own" if options.distinct else ""
    print(f"audit --format {options.format}, {told}: {seconds:.1f} s, {memory:.0f} MiB")


def fill(path: Path, topics: int, options: argparse.Namespace) -> None:
    """The registry with all topics."""
    registry = EmbeddedRegistry("local", path, BrokerSettings(), address="x.db")
    for each in range(NAMESPACES):
        registry.create_namespace(NamespaceName("bench", f"n{each}"))
    for number in range(topics):
        name = TopicName(NamespaceName("bench", f"n{number % NAMESPACES}"), f"t{number:05}")
        for version in range(VERSIONS):
            bad = f"com.my-co{number if options.distinct else ''}"
            text = definition(number, version, options.every, bad)
            info = SchemaInfo(type=SchemaType.AVRO, schema=text)
            registry.register_schema(name, info)
    registry.close()


def definition(number: int, version: int, every: int = EVERY, bad: str = "com.my-co") -> str:
    """A record of 12 fields and an optional one for each version before."""
    fields: list[dict[str, Any]] = [
        {"name": f"f{n}", "type": ["string", "long", "double"][n % 3]} for n in range(12)
    ]
    fields += [
        {"name": f"o{n}", "type": ["null", "string"], "default": None} for n in range(version)
    ]
    namespace = bad if number % every == 0 else "com.acme"
    record = {"type": "record", "name": f"T{number}", "namespace": namespace, "fields": fields}
    return json.dumps(record)


def audit(root: Path, affected: int, output_format: str) -> None:
    """The command; fails unless it finds topics that 5.0 refuses, and by its JSON each of them."""
    program = str(Path(sys.executable).parent / "pulsar-gitops")
    line = [program, "audit", "--repo", str(root), "--as-if-broker", "5.0"]
    done = subprocess.run([*line, "--format", output_format], capture_output=True, check=False)
    if done.returncode != 1:
        raise RuntimeError(f"{done.returncode}: {done.stderr.decode()}")
    if output_format == "json":
        counts = json.loads(done.stdout)["counts"]
        if counts["topicsThatLoseSomething"] != affected:
            raise RuntimeError(f"{counts}")


# On a broker.


def measure_cluster(topics: int, rounds: int) -> None:
    """Post the topics, take turns, print the medians and their ratio."""
    with pulsar_broker(KEPT) as broker:
        tenant = post(broker.admin_url, topics)
        registry, _ = open_cluster(broker.admin_url, "--url")
        paths = asked_paths(registry, topics)
        bare: list[float] = []
        audited: list[float] = []
        for number in range(rounds + 1):
            runs: list[tuple[list[float], Callable[[], object]]] = [
                (bare, lambda: bare_loop(broker.admin_url, paths)),
                (audited, lambda: audit_cluster(registry, topics)),
            ]
            for rates, run in runs if number % 2 else reversed(runs):
                start = time.perf_counter()
                run()
                rates.append(len(paths) / (time.perf_counter() - start))
        registry.close()
    print(f"{topics:,} topics x {VERSIONS} versions of {tenant}, {len(paths):,} requests")
    print(f"http.client: {shown(bare[1:])}")
    print(f"audit:       {shown(audited[1:])}")
    pairs = [one / other for one, other in zip(audited[1:], bare[1:], strict=True)]
    print(f"audit against http.client, median of the pairs: {statistics.median(pairs):.2f}")


def audit_cluster(registry: Registry, topics: int) -> None:
    """The use case; fails unless it finds each topic that 5.0 refuses."""
    counts = run_audit(registry, AuditRequest(as_if_broker="5.0")).counts
    if counts.changed != -(-topics // EVERY):
        raise RuntimeError(f"{counts}")


def asked_paths(registry: Registry, topics: int) -> list[str]:
    """Every path that an audit asks for."""
    paths: list[str] = []
    get = AdminClient.get

    def recorded(client: AdminClient, path: str) -> Answer:
        paths.append(path)
        return get(client, path)

    with mock.patch.object(AdminClient, "get", recorded):
        audit_cluster(registry, topics)
    return paths


def bare_loop(url: str, paths: Sequence[str]) -> None:
    """Every path once, by threads with one connection each."""
    address = urlsplit(url)

    def work(own: Sequence[str]) -> None:
        connection = http.client.HTTPConnection(address.hostname or "", address.port)
        for path in own:
            connection.request("GET", f"/admin/v2/{path}")
            connection.getresponse().read()
        connection.close()

    in_threads(work, paths)


def post(url: str, topics: int) -> str:
    """Create all topics with their versions, in the namespaces of a new tenant."""
    tenant = f"bench-{uuid.uuid4().hex[:8]}"
    (cluster, *_) = json.loads(admin_request("GET", f"{url}/admin/v2/clusters"))
    roles = {"adminRoles": [], "allowedClusters": [cluster]}
    admin_request("PUT", f"{url}/admin/v2/tenants/{tenant}", roles)
    for each in range(NAMESPACES):
        admin_request("PUT", f"{url}/admin/v2/namespaces/{tenant}/n{each}", {})
    print(f"posting {topics} topics to {url} …", file=sys.stderr)

    def work(own: Sequence[int]) -> None:
        for number in own:
            name = f"{tenant}/n{number % NAMESPACES}/t{number:05}"
            patiently("PUT", f"{url}/admin/v2/persistent/{name}")
            for version in range(VERSIONS):
                body = {"type": "AVRO", "schema": definition(number, version), "properties": {}}
                patiently("POST", f"{url}/admin/v2/schemas/{name}/schema", body)

    in_threads(work, range(topics))
    return tenant


def patiently(method: str, url: str, body: object = None) -> None:
    """A request that a busy broker may fail at first (4.0.7: 500 for a ledger)."""
    for _ in range(ATTEMPTS):
        try:
            admin_request(method, url, body)
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.CONFLICT:
                return
            time.sleep(1)
        else:
            return
    raise RuntimeError(f"{method} {url} fails")


def in_threads(work: Callable[[Sequence[Any]], None], items: Sequence[Any]) -> None:
    """Each thread has its share of the items."""
    threads = [
        threading.Thread(target=work, args=(items[number::CONNECTIONS],))
        for number in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def shown(rates: Sequence[float]) -> str:
    """The median, and all."""
    each = " ".join(f"{rate:.0f}" for rate in rates)
    return f"median {statistics.median(rates):.0f} requests/s (rounds: {each})"


if __name__ == "__main__":
    main()
