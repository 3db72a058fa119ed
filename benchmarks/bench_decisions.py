"""How fast definitions are parsed and checked, against those that do the same.

Pairs of realistic records (see `schema_pairs`) in alternating rounds in one run: this project, the
Python `avro` package's checker, Avro for Java in one warm JVM (its SchemaCompatibility, and its
SchemaValidator, which a Pulsar broker uses), and POST …/compatibility of a broker over one
connection. Reasons for refusals are included in ours. Then whole decisions, as `compat --jsonl`
makes them: a line of JSON in, every gate of a registration, a line out. Then whole decisions of
each broker line. Then a long history of a wide record is checked under FULL_TRANSITIVE, cold. Uses
the broker of PULSAR_ADMIN_URL, else starts one; a peer that this machine lacks is left out, with
the reason.

    python benchmarks/bench_decisions.py [--pairs 1000] [--slow-pairs 200] [--rounds 5]
"""

from __future__ import annotations

import argparse
import gc
import http.client
import json
import os
import statistics
import subprocess
import sys
import time
import uuid
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.lines.table import LINES

sys.path.insert(0, str(Path(__file__).parents[1]))

import avro.schema
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

from benchmarks.avro_java import AvroJava, avro_java
from benchmarks.schema_pairs import history, pairs
from gitops.broker.registration import register
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.documents.decision_cases import decide_lines
from gitops.schemas.avro.compatibility import can_read
from gitops.schemas.avro.parser import AVRO_1_11
from tests.support.admin_rest import admin_request
from tests.support.command_line import PROGRAM
from tests.support.pulsar_broker import pulsar_broker
from tests.support.pulsar_class_path import BrokerUnavailableError

forget = AVRO_1_11.forget
parse = AVRO_1_11.parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitops.broker.lines.line import BrokerLine

    Pairs = Sequence[tuple[str, str]]
    Rates = dict[str, list[float]]
    Round = Callable[[], dict[str, float]]

SEED: Final = 7
WARM_UP: Final = 8
VERSIONS: Final = 100
FIELDS: Final = 500
OURS: Final = ("parse + check, cold", "parse + check, seen before", "check alone")
WHOLE: Final = (
    OURS[0],
    "decisions, cold",
    "decisions, definitions seen before",
    "compat --jsonl, its start included",
)


def main() -> None:
    """Print medians, and their ratios to each peer's."""
    options = _options()
    texts = list(pairs(options.pairs, SEED))
    size = statistics.mean(len(text) for pair in texts for text in pair)
    print(f"{options.pairs} pairs, {size:.0f} characters a schema, {_ours(texts)[1]} compatible")
    with ExitStack() as stack:
        runs = _peers(stack, texts, texts[: options.slow_pairs])
        rates = _alternate([lambda: _ours(texts)[0], *runs], options.rounds)
    for name, each in rates.items():
        shown = " ".join(f"{rate:.0f}" for rate in each)
        print(f"{name}: median {statistics.median(each):.0f} pairs/s (rounds: {shown})")
    _print_ratios(rates)
    _print_whole("pairs", texts, options.rounds)
    _print_whole("pairs without a field in common", _apart(texts), options.rounds)
    _print_lines(texts, options.rounds)
    _print_history(options.rounds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--slow-pairs", type=int, default=200, help="for avro and the broker")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def _peers(stack: ExitStack, texts: Pairs, few: Pairs) -> list[Round]:
    """A round of each peer that there is; they are ended with the stack."""
    _same_answers("the avro package", few, _avro_package(few)[1])
    found: list[Round] = [lambda: _avro_package(few)[0]]
    try:
        java = stack.enter_context(avro_java(texts, WARM_UP))
        _same_answers("Java", texts, java.round().compatible)
        found.append(lambda: _java(java, len(texts)))
    except BrokerUnavailableError as error:
        print(f"without Java: {error}", file=sys.stderr)
    try:
        url = stack.enter_context(pulsar_broker()).admin_url
        paths = _post_writers(url, few)
        _same_answers("the broker", few, _rest(url, paths, few)[1])
        found.append(lambda: _rest(url, paths, few)[0])
    except BrokerUnavailableError as error:
        print(f"without a broker: {error}", file=sys.stderr)
    return found


def _same_answers(peer: str, texts: Pairs, compatible: int) -> None:
    ours = _ours(texts)[1]
    if ours != compatible:
        print(f"{peer} finds {compatible} of {len(texts)} pairs compatible, not {ours}")


def _alternate(runs: Sequence[Round], rounds: int) -> Rates:
    """Pairs per second by name, by turns, after one round of each."""
    rates: Rates = {}
    for number in range(rounds + 1):
        for run in runs if number % 2 else reversed(runs):
            for name, rate in run().items():
                rates.setdefault(name, []).append(rate)
    return {name: each[1:] for name, each in rates.items()}


def _ours(texts: Pairs) -> tuple[dict[str, float], int]:
    """Rates by name, and how many pairs are compatible."""
    forget()
    cold, compatible = _timed(lambda: _parse_and_check(texts))
    warm, _ = _timed(lambda: _parse_and_check(texts))
    forget()  # so that no pair was checked before
    schemas = [(parse(writer), parse(reader)) for writer, reader in texts]
    check, _ = _timed(lambda: sum(not can_read(*pair).reasons for pair in schemas))
    seconds = zip(OURS, (cold, warm, check), strict=True)
    return {f"pulsar-gitops, {name}": len(texts) / each for name, each in seconds}, compatible


def _parse_and_check(texts: Pairs) -> int:
    return sum(not can_read(parse(writer), parse(reader)).reasons for writer, reader in texts)


def _timed(run: Callable[[], int]) -> tuple[float, int]:
    gc.collect()  # the garbage of what ran before is not this one's to take away
    start = time.perf_counter()
    answer = run()
    return time.perf_counter() - start, answer


def _avro_package(texts: Pairs) -> tuple[dict[str, float], int]:
    gc.collect()
    start = time.perf_counter()
    schemas = [(avro.schema.parse(writer), avro.schema.parse(reader)) for writer, reader in texts]
    parsed = time.perf_counter()
    make_checker: Callable[[], ReaderWriterCompatibilityChecker] = ReaderWriterCompatibilityChecker
    compatible = sum(
        make_checker().get_compatibility(reader, writer).compatibility
        is SchemaCompatibilityType.compatible
        for writer, reader in schemas
    )
    end = time.perf_counter()
    both, check = len(texts) / (end - start), len(texts) / (end - parsed)
    return {"avro package, parse + check": both, "avro package, check alone": check}, compatible


def _java(java: AvroJava, count: int) -> dict[str, float]:
    done = java.round()
    named = {
        "SchemaCompatibility": done.schema_compatibility,
        "SchemaValidator": done.schema_validator,
    }
    rates: dict[str, float] = {}
    for name, seconds in named.items():
        rates[f"Java {name}, parse + check"] = count / (done.parse + seconds)
        rates[f"Java {name}, check alone"] = count / seconds
    return rates


def _post_writers(url: str, texts: Pairs) -> list[str]:
    """Store each writer under a topic of its own; the paths that its readers are checked at."""
    tenant = f"bench-{uuid.uuid4().hex[:8]}"
    (cluster, *_) = json.loads(admin_request("GET", f"{url}/admin/v2/clusters"))
    allowed = {"adminRoles": [], "allowedClusters": [cluster]}
    namespace = f"{url}/admin/v2/namespaces/{tenant}/pairs"
    admin_request("PUT", f"{url}/admin/v2/tenants/{tenant}", allowed)
    admin_request("PUT", namespace, {})
    admin_request("PUT", f"{namespace}/schemaCompatibilityStrategy", "BACKWARD")
    topics = [f"/admin/v2/schemas/{tenant}/pairs/pair-{n:05}" for n in range(len(texts))]
    for topic, (writer, _) in zip(topics, texts, strict=True):
        admin_request("POST", f"{url}{topic}/schema", _payload(writer))
    return [f"{topic}/compatibility" for topic in topics]


def _rest(url: str, paths: Sequence[str], texts: Pairs) -> tuple[dict[str, float], int]:
    """One keep-alive connection; the broker answers 500 for an incompatible pair (4.0.7)."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    compatible = 0
    start = time.perf_counter()
    for path, (_, reader) in zip(paths, texts, strict=True):
        body = json.dumps(_payload(reader))
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        compatible += response.status == http.client.ACCEPTED
    rate = len(paths) / (time.perf_counter() - start)
    connection.close()
    return {"broker, POST …/compatibility": rate}, compatible


def _payload(text: str) -> dict[str, object]:
    return {"type": "AVRO", "schema": text, "properties": {}}


def _print_ratios(rates: Rates) -> None:
    """Like with like: a peer that only checks against our check alone."""
    medians = {name: statistics.median(each) for name, each in rates.items()}
    for name, peer in medians.items():
        if name.startswith("pulsar-gitops"):
            continue
        alone = name.endswith("check alone")
        for ours in OURS[2:] if alone else OURS[:2]:
            print(f"{ours} ÷ {name}: {medians[f'pulsar-gitops, {ours}'] / peer:.1f}")


def _apart(texts: Pairs) -> Pairs:
    """The same definitions with names of fields that no other pair has."""

    def renamed(text: str, pair: int) -> str:
        return text.replace('"field_', f'"pair_{pair}_field_')

    return [(renamed(old, n), renamed(new, n)) for n, (old, new) in enumerate(texts)]


def _print_whole(name: str, texts: Pairs, rounds: int) -> None:
    """Whole decisions beside parse and check of the same pairs; each line is a case of its own."""
    lines = [f"{json.dumps(_case(*pair))}\n" for pair in texts]
    _same_answers("the stream", texts, _decide(lines))
    rates = _alternate([lambda: _whole(texts, lines)], rounds)
    print(f"whole decisions, {len(lines)} {name}, by processor time:")
    for what, each in rates.items():
        shares = [one / both for one, both in zip(each, rates[WHOLE[0]], strict=True)]
        print(
            f"  {what}: median {statistics.median(each):.0f}/s, of {WHOLE[0]}: "
            f"{statistics.median(shares):.2f} ({' '.join(f'{one:.2f}' for one in shares)})"
        )


def _case(writer: str, reader: str) -> dict[str, object]:
    existing, candidate = [_payload(writer)], _payload(reader)
    return {"strategy": "BACKWARD", "existing": existing, "candidate": candidate}


def _whole(texts: Pairs, lines: Sequence[str]) -> dict[str, float]:
    forget()
    both = _processor_time(lambda: _parse_and_check(texts))
    forget()
    runs = (lambda: _decide(lines), lambda: _decide(lines), lambda: _run_command(lines))
    seconds = (both, *map(_processor_time, runs))
    return {name: len(lines) / each for name, each in zip(WHOLE, seconds, strict=True)}


def _processor_time(run: Callable[[], int]) -> float:
    """Seconds of this process and of those that it waited for, whatever else the machine does."""
    gc.collect()
    start = sum(os.times()[:4])
    run()
    return sum(os.times()[:4]) - start


def _print_lines(texts: Pairs, rounds: int) -> None:
    """Whole decisions of each broker line, cold, beside those of 4.0."""
    rates = _alternate([partial(_of_line, line, texts) for line in LINES.values()], rounds)
    print(f"whole decisions by broker line, {len(texts)} pairs, cold, by processor time:")
    for name, each in rates.items():
        share = statistics.median(one / old for one, old in zip(each, rates["4.0"], strict=True))
        print(f"  {name}: median {statistics.median(each):.0f}/s, of 4.0: {share:.2f}")


def _of_line(line: BrokerLine, texts: Pairs) -> dict[str, float]:
    line.rules.avro.forget()
    seconds = _processor_time(lambda: sum(_is_accepted(line, *pair) for pair in texts))
    return {line.name: len(texts) / seconds}


def _is_accepted(line: BrokerLine, writer: str, reader: str) -> bool:
    stored = StoredSchema(type=SchemaType.AVRO, data=writer.encode())
    known = StoredHistory(entries=((0, stored),), next_version=1)
    candidate = SchemaInfo(type=SchemaType.AVRO, schema=reader)
    return register(known, candidate, SchemaCompatibilityStrategy.BACKWARD, line).accepted


def _decide(lines: Sequence[str]) -> int:
    """How many are accepted."""
    return sum('"accepted": true' in verdict for verdict, _ in decide_lines(lines))


def _run_command(lines: Sequence[str]) -> int:
    """With bytecode, as it is once installed; the first run writes it."""
    done = subprocess.run(
        [str(PROGRAM), "compat", "--jsonl"],
        input="".join(lines).encode(),
        stdout=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
        check=True,
    )
    return done.stdout.count(b'"accepted": true')


def _print_history(rounds: int) -> None:
    """Register one more version behind a long history, with nothing read before."""
    *older, new = history(VERSIONS + 1, FIELDS, SEED)
    candidate = SchemaInfo(type=SchemaType.AVRO, schema=new)
    seconds: list[float] = []
    for _ in range(rounds):
        stored = [StoredSchema(type=SchemaType.AVRO, data=text.encode()) for text in older]
        known = StoredHistory(entries=tuple(enumerate(stored)), next_version=VERSIONS)
        forget()
        start = time.perf_counter()
        decision = register(
            known, candidate, SchemaCompatibilityStrategy.FULL_TRANSITIVE, PULSAR_4_0
        )
        seconds.append(time.perf_counter() - start)
        if decision.version != VERSIONS or decision.known:
            raise RuntimeError(f"the new version should be accepted: {decision}")
    each = " ".join(f"{one:.2f}" for one in seconds)
    median = statistics.median(seconds)
    print(
        f"{VERSIONS} versions of {FIELDS} fields, FULL_TRANSITIVE: median {median:.2f} s ({each})"
    )


if __name__ == "__main__":
    main()
