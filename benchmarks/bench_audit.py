"""Times `audit --as-if-broker 5.0` of 10,000 topics with 3 versions each on the embedded registry.

Every topic has definitions of its own: 12 fields, then one and two optional ones more; one topic of
a hundred has a namespace that 5.0 refuses. The command runs in a process of its own, whose largest
memory is measured.

    python benchmarks/bench_audit.py [TOPICS]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import EmbeddedRegistry

NAMESPACES = 10
VERSIONS = 3
CONFIG = """apiVersion: pulsar-gitops/v1
kind: Config
registries:
  local: {kind: embedded, path: x.db}
"""


def main() -> None:
    """Fill the registry, time the command."""
    topics = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "gitops.yaml").write_text(CONFIG)
        fill(root / "x.db", topics)
        started = time.perf_counter()
        audit(root, topics)
        seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"audit, {topics:,} topics, {VERSIONS} versions: {seconds:.1f} s, {memory:.0f} MiB")


def fill(path: Path, topics: int) -> None:
    """The registry with all topics."""
    registry = EmbeddedRegistry("local", path, BrokerSettings(), address="x.db")
    for each in range(NAMESPACES):
        registry.create_namespace(NamespaceName("bench", f"n{each}"))
    for number in range(topics):
        name = TopicName(NamespaceName("bench", f"n{number % NAMESPACES}"), f"t{number:05}")
        for version in range(VERSIONS):
            info = SchemaInfo(type=SchemaType.AVRO, schema=definition(number, version))
            registry.register_schema(name, info)
    registry.close()


def definition(number: int, version: int) -> str:
    """A record of 12 fields and an optional one for each version before."""
    fields: list[dict[str, Any]] = [
        {"name": f"f{n}", "type": ["string", "long", "double"][n % 3]} for n in range(12)
    ]
    fields += [
        {"name": f"o{n}", "type": ["null", "string"], "default": None} for n in range(version)
    ]
    namespace = "com.my-co" if number % 100 == 0 else "com.acme"
    record = {"type": "record", "name": f"T{number}", "namespace": namespace, "fields": fields}
    return json.dumps(record)


def audit(root: Path, topics: int) -> None:
    """The command; fails unless it finds each topic that 5.0 refuses."""
    program = str(Path(sys.executable).parent / "pulsar-gitops")
    line = [program, "audit", "--repo", str(root), "--as-if-broker", "5.0", "--format", "json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    counts = json.loads(done.stdout)["counts"]
    if counts["topicsThatLoseSomething"] != -(-topics // 100):
        raise RuntimeError(f"{counts}: {done.stderr}")


if __name__ == "__main__":
    main()
