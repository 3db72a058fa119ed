"""How long a restore takes, against a bare loop of the registrations that it makes.

Records 1,000 topics with 5 versions each, each incompatible with the one before, and makes them
again, by turns: by the registrations alone, one after the other, into a namespace that accepts
everything, and by the whole command `restore` with its proof, journal, checks and reading back. On
the embedded registry, or with `--cluster` on the broker of PULSAR_ADMIN_URL, else one that is
started: there the bare loop is one `http.client` connection.

    python benchmarks/bench_restore.py [--topics 1000] [--versions 5] [--rounds 5] [--cluster]
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.response_bodies import write_schema
from gitops.repository.snapshots import render
from tests.support.admin_rest import admin_request
from tests.support.command_line import captured
from tests.support.pulsar_broker import pulsar_broker

_HEAD = "apiVersion: pulsar-gitops/v1\nkind: Config\ndefaultRegistry: it\nregistries:\n"
_STRATEGY = "schemaCompatibilityStrategy"
Seconds = Callable[[RegistryState, Path], list[float]]


def main() -> None:
    """Print the seconds of each round, also of the processor, and the medians of their ratios."""
    options = _options()
    with _on_cluster() if options.cluster else _on_embedded() as (bare, whole):
        rounds = [_round(options, bare, whole, number) for number in range(options.rounds)]
    print(f"{options.topics} topics x {options.versions} versions")
    for number, what in enumerate(("seconds", "seconds of this process's processor time")):
        print(what)
        _print_rounds([(loop[number], ours[number]) for loop, ours in rounds])


def _print_rounds(rounds: list[tuple[float, float]]) -> None:
    ratios = [ours / loop for loop, ours in rounds]
    print("  registrations:", " ".join(f"{loop:.2f}" for loop, _ in rounds))
    print("  restore:      ", " ".join(f"{ours:.2f}" for _, ours in rounds))
    each = " ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"  ratio: median {statistics.median(ratios):.2f} (rounds: {each})")


@contextmanager
def _measured() -> Iterator[list[float]]:
    """A list that gets the seconds of the block, and those of the processor."""
    into: list[float] = []
    start, processor = time.perf_counter(), time.process_time()
    yield into
    into += [time.perf_counter() - start, time.process_time() - processor]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--versions", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cluster", action="store_true")
    return parser.parse_args()


def _round(
    options: argparse.Namespace, bare: Seconds, whole: Seconds, number: int
) -> tuple[list[float], list[float]]:
    """One of each, in turns which first."""
    seconds = {}
    for run in (bare, whole) if number % 2 else (whole, bare):
        namespace = NamespaceName(f"bench-{uuid.uuid4().hex[:8]}", "events")
        with tempfile.TemporaryDirectory() as folder:
            state = _state(namespace, options.topics, options.versions)
            seconds[run] = run(state, Path(folder))
    return seconds[bare], seconds[whole]


def _state(namespace: NamespaceName, topics: int, versions: int) -> RegistryState:
    history = SchemaHistory(
        entries=tuple(
            SchemaEntry(version=number, info=_schema(number), timestamp=1_790_000_000_000)
            for number in range(versions)
        ),
        next_version=versions,
    )
    names = [TopicName(namespace, f"topic-{number:04}") for number in range(topics)]
    full = NamespacePolicies(
        schema_compatibility_strategy=Strategy.FULL_TRANSITIVE, is_allow_auto_update_schema=True
    )
    return RegistryState(
        namespaces={namespace: NamespaceState(namespace=namespace, policies=full)},
        topics={name: TopicState(topic=name, history=history) for name in names},
    )


def _schema(number: int) -> SchemaInfo:
    fields = [
        {"name": f"f{number}-{each}".replace("-", "_"), "type": "string"} for each in range(8)
    ]
    definition = {"type": "record", "name": "Event", "fields": fields}
    return SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(definition))


@contextmanager
def _on_embedded() -> Iterator[tuple[Seconds, Seconds]]:
    def bare(state: RegistryState, folder: Path) -> list[float]:
        (namespace,) = state.namespaces
        change = PolicyChange(key=_STRATEGY, before=None, after=Strategy.ALWAYS_COMPATIBLE)
        with closing(EmbeddedRegistry("it", folder / "it.db")) as registry:
            registry.create_namespace(namespace)
            registry.set_policies(namespace, [change])
            with _measured() as seconds:
                for topic, its in state.topics.items():
                    for entry in its.history.entries:
                        registry.register_schema(topic, entry.info)
            return seconds

    yield bare, lambda state, folder: _restored(state, folder, "{kind: embedded, path: it.db}")


@contextmanager
def _on_cluster() -> Iterator[tuple[Seconds, Seconds]]:
    with pulsar_broker() as broker:
        admin = f"{broker.admin_url}/admin/v2"

        def bare(state: RegistryState, _folder: Path) -> list[float]:
            (namespace,) = state.namespaces
            _tenant(admin, namespace)
            admin_request("PUT", f"{admin}/namespaces/{namespace}", {})
            strategy = f"{admin}/namespaces/{namespace}/{_STRATEGY}"
            admin_request("PUT", strategy, "ALWAYS_COMPATIBLE")
            return _posted(broker.admin_url, state)

        def whole(state: RegistryState, folder: Path) -> list[float]:
            (namespace,) = state.namespaces
            _tenant(admin, namespace)
            return _restored(state, folder, f"{{kind: pulsar, url: '{broker.admin_url}'}}")

        yield bare, whole


def _tenant(admin: str, namespace: NamespaceName) -> None:
    (cluster, *_) = json.loads(admin_request("GET", f"{admin}/clusters"))
    tenant = {"adminRoles": [], "allowedClusters": [cluster]}
    admin_request("PUT", f"{admin}/tenants/{namespace.tenant}", tenant)


def _posted(url: str, state: RegistryState) -> list[float]:
    """The seconds of all registrations on one connection."""
    address = urlsplit(url)
    bodies = [
        (f"/admin/v2/schemas/{topic}/schema", write_schema(entry.info))
        for topic, its in state.topics.items()
        for entry in its.history.entries
    ]
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    with closing(connection), _measured() as seconds:
        for path, body in bodies:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            if response.status != http.client.OK:
                raise RuntimeError(f"{path}: {response.status}")
    return seconds


def _restored(state: RegistryState, folder: Path, registry: str) -> list[float]:
    """The seconds of the whole command."""
    (folder / "gitops.yaml").write_text(f"{_HEAD}  it: {registry}\n", "utf-8")
    for path, content in render("it", state).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    with _measured() as seconds:
        ran = captured("restore", "--repo", folder, "--output", folder / "answer.txt")
    if ran.code:
        raise RuntimeError(ran.err)
    return seconds


if __name__ == "__main__":
    main()
