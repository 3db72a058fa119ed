"""The same cases over admin REST: a history is posted, and then the candidate."""

from __future__ import annotations

import http.client
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from gitops.model.policy import SchemaCompatibilityStrategy
from tests.oracle.nesting import is_up_to_the_stack
from tests.oracle.shrinker import shrunk

Case = Mapping[str, Any]

_SEEDED_UNDER: Final = "ALWAYS_COMPATIBLE"
_PATHS: Final = {"compat": "compatibility", "version": "version"}
_OFF_LIMITS: Final = "KEY_VALUE"
"""As the type of a half it makes a broker allocate gigabytes."""

_REFUSED: Final = 300
_MOST_QUESTIONS: Final = 150
_FORGOTTEN: Final = frozenset({"timestamp", "reason"})
"""Members of an answer that differ by nature: the time, and Java's words for a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestAnswer:
    """What is compared of a response; `content` None for what only says that it failed."""

    status: int
    content: Any = None


def is_for_rest(case: Case) -> bool:
    """Whether its history can be posted, does a broker no harm, and is decided by its rules."""
    if is_up_to_the_stack(case):
        return False
    entries = [*case["existing"], case["candidate"]]
    return not any("encoding" in one or _asks_for_much(one) for one in entries)


def _asks_for_much(entry: Mapping[str, Any]) -> bool:
    return _OFF_LIMITS in (entry.get("properties") or {}).values()


class AdminRest:
    """An admin REST with a fresh namespace for each strategy."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self._tenant = f"oracle-{uuid.uuid4().hex[:10]}"
        (cluster, *_) = self._send("GET", "/clusters").content
        body = {"adminRoles": [], "allowedClusters": [cluster]}
        self._send("PUT", f"/tenants/{self._tenant}", body)
        for strategy in SchemaCompatibilityStrategy:
            self._send("PUT", f"/namespaces/{self._tenant}/{strategy.value}", {})

    def ask(self, cases: Sequence[Case]) -> list[list[RestAnswer]]:
        """For each case the answer to each step: the entries, the candidate, what is there then."""
        self._connection.close()  # a server may have ended it since it was used last
        topics = [f"{self._tenant}/{case['strategy']}/{uuid.uuid4().hex}" for case in cases]
        pairs = list(zip(topics, cases, strict=True))
        used = {str(case["strategy"]) for case in cases}
        for strategy in used:
            self._set_strategy(strategy, _SEEDED_UNDER)
        answers = [[self._post(topic, one) for one in case["existing"]] for topic, case in pairs]
        for strategy in used:
            self._set_strategy(strategy, strategy)
        for (topic, case), steps in zip(pairs, answers, strict=True):
            steps.append(self._decide(topic, case))
            steps.append(self._send("GET", f"/schemas/{topic}/schemas"))
        return answers

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _set_strategy(self, namespace: str, strategy: str) -> None:
        path = f"/namespaces/{self._tenant}/{namespace}/schemaCompatibilityStrategy"
        self._send("PUT", path, strategy)
        for _ in range(1000):
            if self._send("GET", path).content == strategy:
                return
        raise RuntimeError(f"{namespace} does not take the strategy {strategy}")

    def _post(self, topic: str, entry: Mapping[str, Any]) -> RestAnswer:
        if "deleted" in entry:
            return self._send("DELETE", f"/schemas/{topic}/schema")
        return self._send("POST", f"/schemas/{topic}/schema", entry)

    def _decide(self, topic: str, case: Case) -> RestAnswer:
        path = _PATHS.get(case["mode"], "schema")
        return self._send("POST", f"/schemas/{topic}/{path}", case["candidate"])

    def _send(self, method: str, path: str, body: object = None) -> RestAnswer:
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        self._connection.request(method, f"/admin/v2{path}", data, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= _REFUSED or not content:
            return RestAnswer(status=response.status)
        return RestAnswer(status=response.status, content=_compared(json.loads(content)))


def _compared(value: object) -> object:
    if isinstance(value, dict):
        return {key: _compared(one) for key, one in value.items() if key not in _FORGOTTEN}
    return [_compared(one) for one in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class RestDifference:
    """A case with the step at which two admin RESTs part, and what they answer to it."""

    case: Case
    step: int
    broker: RestAnswer
    other: RestAnswer

    def line(self) -> str:
        """That step as a line of a conformance file, below a comment with both answers."""
        existing = list(self.case["existing"])
        case = self.case
        if self.step < len(existing):
            candidate = existing[self.step]
            seeded = {"strategy": _SEEDED_UNDER, "mode": "producer", "candidate": candidate}
            case = {**case, **seeded, "existing": existing[: self.step]}
        broker = {
            "accepted": self.broker.status < _REFUSED,
            "version": _version(self.broker.content),
            "http": self.broker.status,
        }
        comment = f"# step {self.step}: broker {self.broker}, other {self.other}"
        return f"{comment}\n{json.dumps({**case, 'broker': broker})}"


def _version(content: object) -> object:
    while isinstance(content, dict):
        content = content.get("version")
    return content


def rest_differences(
    cases: Sequence[Case], broker: AdminRest, other: AdminRest
) -> list[RestDifference]:
    """Every case of these to which the two do not answer alike."""
    asked = zip(cases, broker.ask(cases), other.ask(cases), strict=True)
    return [
        RestDifference(case=case, step=step, broker=ones[step], other=others[step])
        for case, ones, others in asked
        for step in [_parted(ones, others)]
        if step is not None
    ]


def _parted(ones: Sequence[RestAnswer], others: Sequence[RestAnswer]) -> int | None:
    steps = enumerate(zip(ones, others, strict=True))
    return next((step for step, (one, other) in steps if one != other), None)


def smallest_over_rest(
    found: RestDifference, broker: AdminRest, other: AdminRest
) -> RestDifference:
    """A difference of the same statuses with as little as possible in its case."""
    kind = (found.broker.status, found.other.status)

    def same(case: Case) -> RestDifference | None:
        parted = rest_differences([case], broker, other)
        one = parted[0] if parted else None
        return one if one and (one.broker.status, one.other.status) == kind else None

    small = shrunk(found.case, lambda case: same(case) is not None, most=_MOST_QUESTIONS)
    return same(small) or found
