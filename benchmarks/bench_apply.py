"""What `plan` and `apply` cost beside a bare loop of the same requests, on a broker.

A repository declares topics, whose definitions then change twice; each time a plan is written and
applied, so that each topic has 3 versions at the end; then a plan without changes is made. The
requests of a first round are recorded. After it two bare loops of them and the commands, each for a
tenant of its own, take turns. The loops are `http.client`'s: on 8 connections what is read before
the first write, then one request after the other; or also then on 8 connections, the requests of
one topic in their order, as an apply does. Uses the broker of PULSAR_ADMIN_URL, else starts one.

    python benchmarks/bench_apply.py [--topics 500] [--rounds 3]
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import re
import resource
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest import mock
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from gitops.registries.pulsar.admin_client import AdminClient
from gitops.registries.pulsar.error_responses import Answer
from tests.support.admin_rest import admin_request
from tests.support.command_line import captured
from tests.support.pulsar_broker import BrokerSettings, pulsar_broker

CONNECTIONS: Final = 8
VERSIONS: Final = 3
NAMESPACES: Final = 10
KEPT: Final = BrokerSettings(config={"brokerDeleteInactiveTopicsEnabled": "false"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request, and whether it was made before the first write."""

    method: str
    path: str
    body: bytes | None
    is_early: bool

    @property
    def topic(self) -> int | None:
        """The number of the topic that it is about."""
        found = re.search(r"/t(\d{5})", self.path)
        return int(found[1]) if found else None


Requests = dict[str, list[Request]]
Seconds = dict[str, float]
"""Of each kind of command; that of the processor has `cpu ` in front."""


def main() -> None:
    """Print each command beside its loop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--topics", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with pulsar_broker(KEPT) as broker:
        url, requests = broker.admin_url, Requests()
        first = made_tenant(url)
        commands(url, first, options.topics, requests)  # a warm broker for all that counts
        rounds = [
            one_round(url, first, requests, options.topics, number)
            for number in range(options.rounds)
        ]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{options.topics:,} topics x {VERSIONS} versions; at most {memory:.0f} MiB")
    for kind, made in requests.items():
        print(f"{kind}, {len(made):,} requests")
        print("  command:          ", listed(ours[kind] for ours, _, _ in rounds))
        print("    its processor:  ", listed(ours[f"cpu {kind}"] for ours, _, _ in rounds))
        print("  one by one:       ", listed(bare[kind] for _, bare, _ in rounds))
        print("  on 8 connections: ", listed(bare[kind] for _, _, bare in rounds))
    together = [[sum(one[kind] for kind in ("plan", "apply")) for one in each] for each in rounds]
    chosen = [(kind, [[one[kind] for one in each] for each in rounds]) for kind in requests]
    for kind, seconds in (*chosen, ("plan and apply", together)):
        print(f"{kind}: {ratio(seconds, 1)} of one by one, {ratio(seconds, 2)} of 8 connections")


def one_round(
    url: str, first: str, requests: Requests, topics: int, number: int
) -> tuple[Seconds, Seconds, Seconds]:
    """The commands, the loop one by one, and the one on 8 connections; begun with another each."""
    work = (
        lambda: commands(url, made_tenant(url), topics),
        lambda: loop(url, first, requests, at_once=False),
        lambda: loop(url, first, requests, at_once=True),
    )
    done = {turn % 3: work[turn % 3]() for turn in range(number, number + 3)}
    return done[0], done[1], done[2]


def listed(seconds: Iterable[float]) -> str:
    """Some times."""
    return f"{' '.join(f'{each:.1f}' for each in seconds)} s"


def ratio(rounds: Sequence[Sequence[float]], which: int) -> str:
    """The command's share of a loop's time."""
    found = [each[0] / each[which] for each in rounds]
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def commands(url: str, tenant: str, topics: int, requests: Requests | None = None) -> Seconds:
    """All versions of all topics planned and applied, then a plan without changes."""
    found = Requests() if requests is None else requests
    seconds = Seconds()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for version in range(VERSIONS):
            write(root, url, tenant, topics, version)
            run("plan", seconds, found, "plan", "--repo", root, "--out", root / "plan.json")
            run("apply", seconds, found, "apply", root / "plan.json", "--repo", root)
        run("plan without changes", seconds, found, "plan", "--repo", root)
    return seconds


def made_tenant(url: str) -> str:
    """A new tenant."""
    tenant = f"bench-{uuid.uuid4().hex[:8]}"
    (cluster, *_) = json.loads(admin_request("GET", f"{url}/admin/v2/clusters"))
    roles = {"adminRoles": [], "allowedClusters": [cluster]}
    admin_request("PUT", f"{url}/admin/v2/tenants/{tenant}", roles)
    return tenant


def write(root: Path, url: str, tenant: str, topics: int, version: int) -> None:
    """The repository with a version of every definition."""
    (root / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        f"registries: {{it: {{kind: pulsar, url: '{url}'}}}}\n"
        "safety: {maxChangedShare: 1}\n"
    )
    for number in range(topics):
        folder = root / f"namespaces/{tenant}/n{number % NAMESPACES}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "namespace.yaml").write_text(
            "apiVersion: pulsar-gitops/v1\nkind: Namespace\n"
            f"namespace: {tenant}/n{number % NAMESPACES}\n"
        )
        (folder / f"t{number:05}.yaml").write_text(
            "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
            f"schema: {{type: AVRO, definition: t{number:05}.avsc}}\n"
        )
        (folder / f"t{number:05}.avsc").write_text(definition(number, version))


def definition(number: int, version: int) -> str:
    """A record of 12 fields, and an optional one for each version before."""
    fields: list[dict[str, object]] = [{"name": f"f{each}", "type": "string"} for each in range(12)]
    fields += [
        {"name": f"o{each}", "type": ["null", "string"], "default": None} for each in range(version)
    ]
    return json.dumps({"type": "record", "name": f"T{number}", "fields": fields})


def run(kind: str, seconds: Seconds, requests: Requests, *words: object) -> None:
    """The command, in this process."""
    with recorded(requests.setdefault(kind, [])):
        start, processor = time.perf_counter(), time.process_time()
        ran = captured(*words)
        took = time.perf_counter() - start, time.process_time() - processor
    for name, each in zip((kind, f"cpu {kind}"), took, strict=True):
        seconds[name] = seconds.get(name, 0) + each
    if ran.code:
        raise RuntimeError(f"{words}: {ran.out}{ran.err}")


@contextmanager
def recorded(requests: list[Request]) -> Iterator[None]:
    """Each request that the block makes."""
    writes: list[str] = []
    send = AdminClient._authorize  # noqa: SLF001 - all requests pass here

    def kept(
        client: AdminClient, method: str, path: str, body: bytes | None, root: str = "/admin/v2"
    ) -> Answer:
        writes.extend([path] if method != "GET" else [])
        requests.append(Request(method, f"{root}/{path}", body, is_early=not writes))
        return send(client, method, path, body, root)

    with mock.patch.object(AdminClient, "_authorize", kept):
        yield


def loop(url: str, first: str, requests: Requests, *, at_once: bool) -> Seconds:
    """The same requests for another tenant, kind by kind."""
    tenant = made_tenant(url)
    return {
        kind: repeat(url, first, tenant, list(parts(made, at_once=at_once)))
        for kind, made in requests.items()
    }


def parts(requests: Sequence[Request], *, at_once: bool) -> Iterator[list[list[Request]]]:
    """The requests, in parts that come after each other; each has a list for each connection."""
    for beside, its in itertools.groupby(
        requests, lambda one: one.is_early or (at_once and one.topic is not None)
    ):
        own: list[list[Request]] = [[] for _ in range(CONNECTIONS if beside else 1)]
        for number, each in enumerate(its):
            place = number if each.is_early or each.topic is None else each.topic
            own[place % len(own)].append(each)
        yield own


def repeat(url: str, first: str, tenant: str, requests: Sequence[list[list[Request]]]) -> float:
    """The seconds of these requests, for another tenant than the first."""
    address = urlsplit(url)
    connections = [
        http.client.HTTPConnection(address.hostname or "", address.port) for _ in range(CONNECTIONS)
    ]

    def work(connection: http.client.HTTPConnection, own: Sequence[Request]) -> None:
        connection.close()  # which a broker has done if it was idle for long
        for each in own:
            path = each.path.replace(first, tenant)
            connection.request(each.method, path, each.body, {"Content-Type": "application/json"})
            connection.getresponse().read()

    start = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for own in requests:
            list(pool.map(work, connections, own))
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
