"""How fast a plan reads a cluster, against a bare `http.client` loop on the same GETs.

Posts 1,000 topics with 3 versions each, then reads all histories in alternating rounds: a loop of
8 threads with one `http.client` connection each, which throws the answers away, and the `pulsar`
registry's `observe`, which parses and checks them, and a whole `plan` of a repository that wants
what is there (its requests for the namespace are not counted). With `--existing` the topics are
also created, in a second namespace where one has a policy of its own too, and plans of the two are
compared. Uses the broker of PULSAR_ADMIN_URL, else starts one.

    python benchmarks/bench_plan_requests.py [--topics 1000] [--rounds 7] [--existing]
"""

from __future__ import annotations

import argparse
import datetime
import http.client
import json
import statistics
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from gitops.changes.repository_plan import PlanRequest, plan_repository
from gitops.model.config import Config
from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import RegistryState, Repository, Scope, TopicState
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerSettings, pulsar_broker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitops.ports import Registry

CONNECTIONS = 8
VERSIONS = 3


def main() -> None:
    """Print the medians and their ratio."""
    options = _options()
    settings = BrokerSettings(config={"brokerDeleteInactiveTopicsEnabled": "false"})
    with pulsar_broker(settings) as broker:
        if options.existing:
            _print_existing(broker.admin_url, options)
            return
        topics = _post_topics(broker.admin_url, options.topics)
        bare, observed, planned = _measure(broker.admin_url, topics, options.rounds)
    print(f"{options.topics} topics x {VERSIONS} versions, {CONNECTIONS} connections")
    print(f"http.client: {_shown(bare)}")
    print(f"observe:     {_shown(observed)}")
    print(f"plan:        {_shown(planned)}")
    for name, rates in (("observe", observed), ("plan", planned)):
        ratio = statistics.median(rates) / statistics.median(bare)
        print(f"{name} against http.client, ratio of the medians: {ratio:.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--existing", action="store_true")
    return parser.parse_args()


def _print_existing(url: str, options: argparse.Namespace) -> None:
    """The seconds of a plan of topics that exist, without any topic's policy and with one."""
    plans = [_existing(url, options.topics, policies=number) for number in range(2)]
    seconds: list[list[float]] = [[], []]
    for number in range(options.rounds + 1):
        for index in (0, 1) if number % 2 else (1, 0):
            start = time.perf_counter()
            _plan(plans[index])
            seconds[index].append(time.perf_counter() - start)
    none, one = (each[1:] for each in seconds)
    print(f"{options.topics} topics that exist, {VERSIONS} versions, seconds of a plan")
    print("no topic has a policy:", " ".join(f"{each:.2f}" for each in none))
    print("one topic has one:    ", " ".join(f"{each:.2f}" for each in one))
    ratios = [with_one / without for without, with_one in zip(none, one, strict=True)]
    print(f"ratio: median {statistics.median(ratios):.2f}")


def _existing(url: str, count: int, *, policies: int) -> PlanRequest:
    """Created topics, of which so many have a policy; the plan is of all others."""
    topics = _post_topics(url, count + policies)
    for topic in topics:
        admin_request("PUT", f"{url}/admin/v2/persistent/{topic}")
    for topic in topics[count:]:
        path = f"{url}/admin/v2/persistent/{topic}/schemaCompatibilityStrategy"
        admin_request("PUT", path, "FULL")
    config = PulsarConfig(url=url, concurrency=CONNECTIONS)
    return _planning(open_registry("benchmark", config, Path()), config, topics[:count])


def _shown(rates: Sequence[float]) -> str:
    each = " ".join(f"{rate:.0f}" for rate in rates)
    return f"median {statistics.median(rates):.0f} requests/s (rounds: {each})"


def _measure(
    url: str, topics: Sequence[TopicName], rounds: int
) -> tuple[list[float], list[float], list[float]]:
    """Requests per second, by turns, after one round of each to warm the broker."""
    paths = [f"/admin/v2/schemas/{topic}/schemas" for topic in topics]
    config = PulsarConfig(url=url, concurrency=CONNECTIONS)
    registry = open_registry("benchmark", config, Path())
    scope = Scope(topics=frozenset(topics))
    bare: list[float] = []
    observed: list[float] = []
    planned: list[float] = []
    planning = _planning(registry, config, topics)
    for number in range(rounds + 1):
        runs: list[tuple[list[float], Callable[[], object]]] = [
            (bare, lambda: _bare_loop(url, paths)),
            (observed, lambda: registry.observe(scope)),
            (planned, lambda: _plan(planning)),
        ]
        for rates, run in runs if number % 2 else reversed(runs):
            start = time.perf_counter()
            run()
            rates.append(len(topics) / (time.perf_counter() - start))
    registry.close()
    return bare[1:], observed[1:], planned[1:]


def _planning(registry: Registry, config: PulsarConfig, topics: Sequence[TopicName]) -> PlanRequest:
    """A repository that wants what is there."""
    info = SchemaInfo(type=SchemaType.AVRO, schema=_schema(VERSIONS - 1))
    history = SchemaHistory(entries=(SchemaEntry(version=0, info=info),), next_version=1)
    wanted = {topic: TopicState(topic=topic, history=history) for topic in topics}
    repository = Repository(
        config=Config(registries={}, default_registry="benchmark"),
        desired=RegistryState(topics=wanted),
        digest="sha256:0",
    )
    return PlanRequest(
        repository=repository,
        registry=registry,
        config=config,
        locate=lambda _topic, _at: None,
        today=datetime.date.today(),  # noqa: DTZ011 - there are no waivers
    )


def _plan(planning: PlanRequest) -> None:
    made = plan_repository(planning)
    if made.actions or made.unchanged != made.topics:
        raise RuntimeError("the plan should be empty")


def _bare_loop(url: str, paths: Sequence[str]) -> None:
    """Every path once, by threads with one connection each."""
    address = urlsplit(url)

    def work(own: Sequence[str]) -> None:
        connection = http.client.HTTPConnection(address.hostname or "", address.port)
        for path in own:
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
            if response.status != http.client.OK or not body:
                raise RuntimeError(f"{path}: {response.status}")
        connection.close()

    _in_threads(work, paths)


def _in_threads(work: Callable[[Sequence[str]], None], items: Sequence[str]) -> None:
    threads = [
        threading.Thread(target=work, args=(items[number::CONNECTIONS],))
        for number in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _post_topics(url: str, count: int) -> list[TopicName]:
    """Post `count` topics of 3 versions, about 1 KB each, into a new namespace."""
    namespace = NamespaceName(f"bench-{uuid.uuid4().hex[:8]}", "events")
    (cluster, *_) = json.loads(admin_request("GET", f"{url}/admin/v2/clusters"))
    tenant = {"adminRoles": [], "allowedClusters": [cluster]}
    admin_request("PUT", f"{url}/admin/v2/tenants/{namespace.tenant}", tenant)
    admin_request("PUT", f"{url}/admin/v2/namespaces/{namespace}", {})
    topics = [TopicName.of(namespace, f"topic-{number:05}") for number in range(count)]
    print(f"posting {count} topics to {url} …", file=sys.stderr)

    def post(own: Sequence[str]) -> None:
        for topic in own:
            for version in range(VERSIONS):
                body = {"type": "AVRO", "schema": _schema(version), "properties": {}}
                admin_request("POST", f"{url}/admin/v2/schemas/{topic}/schema", body)

    _in_threads(post, [str(topic) for topic in topics])
    return topics


def _schema(version: int) -> str:
    """A record of some 20 fields; each version adds one with a default."""
    fields: list[dict[str, object]] = [
        {"name": f"field_{number}", "type": ["null", "string"], "default": None}
        for number in range(18 + version)
    ]
    return json.dumps({"type": "record", "name": "Event", "namespace": "bench", "fields": fields})


if __name__ == "__main__":
    main()
