"""Applies of random changes with random faults: the same plan goes on until all is as it would be.

`APPLY_FAULTS=200` in the environment makes so many applies with a fault on each registry, and
`APPLY_FAULTS_SEED` others than the usual ones.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from gitops.journal.reader import read_journal
from gitops.model.config import RegistryConfig
from gitops.model.errors import OutsideError, UnknownOutcomeError
from gitops.model.journal import Outcome as JournalOutcome
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange
from gitops.model.schema import SchemaInfo
from gitops.model.state import Scope
from gitops.planning.fingerprints import state_fingerprints
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.admin_client import AdminClient
from gitops.registries.pulsar.error_responses import Answer
from gitops.registries.server.server import serve_in_thread
from tests.support.admin_rest import admin_request
from tests.support.command_line import CommandLine, Outcome
from tests.support.faults import Fault, Faults, KilledError, faulty_proxy, with_fault
from tests.support.interrupts import ctrl_c_as_ever
from tests.support.states import field as avro_field
from tests.support.states import record

_RUNS: Final = int(os.environ.get("APPLY_FAULTS", "4"))
_SEED: Final = int(os.environ.get("APPLY_FAULTS_SEED", "1"))
_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: {}\n"
_AGAIN: Final = "run the same command again: it goes on where it stopped"
_REPLAN: Final = "make a new plan and have it reviewed"
_EXPIRES: Final = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=30)).date()
_TOPICS: Final = 4
_ENOUGH: Final = 40


@dataclass(slots=True)
class _Change:
    """A repository before and after a random change, which deletes, changes, adds and waives."""

    chance: random.Random
    root: Path
    waived: set[str] = field(default_factory=set)

    def write(self, registry: str) -> None:
        """The repository as it was."""
        (self.root / "waivers").mkdir(parents=True)
        settings = f"registries:\n  live: {registry}\nsafety: {{allowDeletions: true, "
        text = f"{_HEAD.format('Config')}{settings}maxChangedShare: 1.0}}\n"
        (self.root / "gitops.yaml").write_text(text)
        for namespace in ("shop/a", "shop/b"):
            self._namespace(namespace, "BACKWARD")
            for number in range(_TOPICS):
                self._topic(f"{namespace}/t{number}", [avro_field("a")])

    def change(self) -> None:
        """The repository as it is to be; a waiver is needed for some of it."""
        for namespace in ("shop/a", "shop/b"):
            strategies = ["BACKWARD", "BACKWARD_TRANSITIVE", "FULL"]
            self._namespace(namespace, self.chance.choice(strategies))
            for number in range(_TOPICS):
                self._changed(f"{namespace}/t{number}")
        for number in range(self.chance.randint(0, 2)):
            self._topic(f"shop/a/new{number}", [avro_field("n")])
        if self.chance.random() < 0.5:
            self._namespace("shop/c", "FULL")
            self._topic("shop/c/first", [avro_field("n")])

    def _changed(self, topic: str) -> None:
        roll = self.chance.random()
        if roll < 0.3:
            for path in (self.root / "namespaces").glob(f"{topic}.*"):
                path.unlink()
        elif roll < 0.55:
            self._topic(topic, [avro_field("a"), avro_field("b", default="")])
        elif roll < 0.75:
            self._topic(topic, [avro_field("a"), avro_field("c")])
            self.waived.add(topic)

    def _namespace(self, name: str, strategy: str) -> None:
        path = self.root / "namespaces" / name / "namespace.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = f"namespace: {name}\nschemaCompatibilityStrategy: {strategy}\n"
        path.write_text(f"{_HEAD.format('Namespace')}{body}")

    def _topic(self, name: str, fields: list[dict[str, object]]) -> None:
        path = self.root / "namespaces" / f"{name}.yaml"
        body = f"schema: {{type: AVRO, definition: {path.stem}.avsc}}\n"
        path.write_text(f"{_HEAD.format('Topic')}{body}")
        path.with_suffix(".avsc").write_text(json.dumps(record(*fields)))

    def approve(self) -> None:
        """Fill in the waivers that a plan has written."""
        for path in (self.root / "waivers").iterdir():
            text = re.sub(r"reason: .*", "reason: agreed", path.read_text())
            text = re.sub(r"approvedBy: .*", "approvedBy: somebody", text)
            path.write_text(re.sub(r"expires: .*", f"expires: {_EXPIRES}", text))


_T = TypeVar("_T")


class _Faulty(EmbeddedRegistry):
    """Fails as it is told to."""

    faults = Faults()

    def create_namespace(self, namespace: NamespaceName) -> None:
        self._write(lambda: super(_Faulty, self).create_namespace(namespace))

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        wanted = list(changes)
        self._write(lambda: super(_Faulty, self).set_policies(subject, wanted))

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        return self._write(lambda: super(_Faulty, self).register_schema(topic, info))

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        return self._write(lambda: super(_Faulty, self).delete_schema(topic, force=force))

    def _write(self, work: Callable[[], _T]) -> _T:
        return with_fault(self.faults, work, lambda: UnknownOutcomeError("the connection broke"))


@dataclass(slots=True, kw_only=True)
class _Apply:
    """A plan for a changed repository, and what became of its applies so far."""

    repo: Path
    registry: EmbeddedRegistry
    faults: Faults
    command: CommandLine
    waived: set[str]
    ends: Counter[str] = field(default_factory=Counter)

    @property
    def plan_file(self) -> Path:
        return self.repo.with_name("plan.json")

    @property
    def journal(self) -> Path:
        return self.repo.with_name("plan.json.journal")

    @property
    def output(self) -> Path:
        return self.repo.with_name("applied.json")

    def run(self, *args: object) -> Outcome:
        return self.command(*args, "--repo", self.repo)

    def apply(self, fault: Fault | None, at: int) -> tuple[Outcome | None, dict[str, Any]]:
        """One apply with a fault at a write; its end, None where it was killed, and its report."""
        self.output.unlink(missing_ok=True)
        self.faults.fault, self.faults.at = fault, at
        self.faults.writes, self.faults.dead = 0, False
        form = ["--format", "json", "--output", self.output]
        try:
            again = ["--resume"] if self.journal.exists() and at % 2 else []
            done = self.run("apply", self.plan_file, *again, *form)
        except KilledError:
            return None, {}
        finally:
            self.faults.fault, self.faults.dead = None, False
        return done, json.loads(self.output.read_text())

    def held(self) -> dict[str, str]:
        """What the registry holds of everything."""
        names = frozenset(NamespaceName("shop", name) for name in "abc")
        topics = [f"t{number}" for number in range(_TOPICS)] + ["new0", "new1", "first"]
        every = frozenset(TopicName(name, topic) for name in names for topic in topics)
        return state_fingerprints(self.registry.observe(Scope(namespaces=names, topics=every)))

    def check_end(self, done: Outcome, report: dict[str, Any]) -> None:
        """The exit code and the hint fit what the report says."""
        outcomes = Counter(one["outcome"] for one in report["results"])
        broken = outcomes["failed"] + outcomes["unknown"]
        self.ends[f"exit {done.code}"] += 1
        if done.code == 0:
            assert set(outcomes) <= {"done"}
            return
        assert broken or outcomes["notAttempted"], done
        # What comes after the failure only sets a topic back.
        begun = report["results"][0]["outcome"] == "done"
        expected = {130} if "interrupted" in done.err else {6} if begun else {4}
        assert done.code in expected, (done, outcomes)
        assert done.err.count(_AGAIN) == 1, done
        assert _REPLAN not in done.err

    def check_report(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """What a report says is done is not left to do, and all else is."""
        left = {_effect(one["action"]) for one in after["results"]}
        for one in before["results"]:
            if not self._is_waived(one["action"]) and one["outcome"] != "unknown":
                assert (_effect(one["action"]) not in left) is (one["outcome"] == "done"), one

    def check_journal(self) -> None:
        """Each action was done once, or nobody knew; what was done was not tried again."""
        runs = read_journal(self.journal)
        assert runs[-1].is_whole
        tried: dict[str, list[JournalOutcome]] = {}
        for one in (attempt for run in runs for attempt in run.attempts):
            tried.setdefault(_effect(dict(one.action)), []).append(one.outcome)
        plan = json.loads(self.plan_file.read_text())
        for action in plan["actions"]:
            if not self._is_waived(action):
                outcomes = tried[_effect(action)]
                assert JournalOutcome.DONE not in outcomes[:-1], (action, outcomes)
        registered = [
            (one.action["version"], one.version)
            for run in runs
            for one in run.attempts
            if one.action["action"] == "RegisterSchema" and one.outcome is JournalOutcome.DONE
        ]
        assert all(planned == version for planned, version in registered)

    def _is_waived(self, action: dict[str, Any]) -> bool:
        """Whether its topic may have been set back since."""
        subject = str(action.get("subject", action.get("topic", ""))).removeprefix("topic ")
        return subject in self.waived


def _chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - the same every time


def _effect(action: dict[str, Any]) -> str:
    kept = {k: v for k, v in action.items() if k not in ("before", "direction", "waiver")}
    return json.dumps(kept, sort_keys=True)


@contextmanager
def _embedded(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any, Faults]]:
    faults = Faults()

    def opened(name: str, _config: RegistryConfig, root: Path) -> EmbeddedRegistry:
        found = _Faulty(name, root / "live.db", address="live.db")
        found.faults = faults
        return found

    monkeypatch.setattr("gitops.registries.factory.open_registry", opened)
    registry = EmbeddedRegistry("live", repo / "live.db")
    yield "{kind: embedded, path: live.db}", registry, faults
    registry.close()


@contextmanager
def _behind_a_proxy(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Any, Faults]]:
    faults, killer = Faults(), Faults()
    registry = EmbeddedRegistry("live", repo.with_name("served.db"))
    send = AdminClient.send

    def killing(self: AdminClient, method: str, path: str, body: bytes | None = None) -> Answer:
        """Kills are this process's own; all else happens on the way."""
        if faults.fault not in (Fault.KILLED, Fault.KILLED_AFTER):
            return send(self, method, path, body)
        if not faults.writes:  # the first of this apply: nothing has come to the proxy
            killer.fault, killer.at = faults.fault, faults.at
            killer.writes, killer.dead = 0, False
        work = lambda: send(self, method, path, body)  # noqa: E731 - too short for a name
        return with_fault(killer, work, lambda: OutsideError("never raised"))

    monkeypatch.setattr(AdminClient, "send", killing)
    with serve_in_thread(registry) as upstream, faulty_proxy(upstream, faults) as url:
        admin = f"{upstream}/admin/v2"
        body = {"adminRoles": [], "allowedClusters": ["standalone"]}
        admin_request("PUT", f"{admin}/tenants/shop", body)
        for namespace in ("shop/a", "shop/b"):
            admin_request("PUT", f"{admin}/namespaces/{namespace}", {})
            for number in range(_TOPICS):
                admin_request("PUT", f"{admin}/persistent/{namespace}/t{number}")
        yield f"{{kind: pulsar, url: '{url}'}}", registry, faults


_REGISTRIES: Final = {"embedded": _embedded, "proxy": _behind_a_proxy}


@pytest.fixture
def prepared(
    tmp_path: Path, command: CommandLine
) -> Callable[[str, int, int, pytest.MonkeyPatch, ExitStack], _Apply]:
    """Makes a changed repository with its plan; the same seed makes the same."""

    def make(
        kind: str, seed: int, copy: int, patch: pytest.MonkeyPatch, stack: ExitStack
    ) -> _Apply:
        repo = tmp_path / f"{kind}-{seed}-{copy}" / "repo"
        change = _Change(_chance(seed), repo)
        repo.mkdir(parents=True)
        registries, registry, faults = stack.enter_context(_REGISTRIES[kind](repo, patch))
        change.write(registries)
        made = _Apply(
            repo=repo, registry=registry, faults=faults, command=command, waived=change.waived
        )
        assert made.run("apply", "--auto-approve").code == 0
        change.change()
        made.run("plan", "--prune", "--waivers", repo / "waivers")
        change.approve()
        planned = made.run("plan", "--prune", "--out", made.plan_file)
        assert planned.code == 0, planned.out
        return made

    return make


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line as `pulsar-gitops` runs it."""
    monkeypatch.delenv("COLUMNS", raising=False)
    return CommandLine(capsys)


@pytest.mark.parametrize("kind", _REGISTRIES)
def test_whatever_happens_the_same_plan_goes_on_to_the_same_end(
    kind: str,
    prepared: Callable[[str, int, int, pytest.MonkeyPatch, ExitStack], _Apply],
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs, seed, ends = 0, _SEED, Counter[str]()
    while runs < _RUNS:
        with ExitStack() as stack, pytest.MonkeyPatch.context() as patch, ctrl_c_as_ever():
            undisturbed = prepared(kind, seed, 0, patch, stack)
            total = len(json.loads(undisturbed.plan_file.read_text())["actions"])
            done, _ = undisturbed.apply(None, 0)
            assert done is not None
            assert done.code == 0, done.err
            expected = undisturbed.held()
        with ExitStack() as stack, pytest.MonkeyPatch.context() as patch, ctrl_c_as_ever():
            one = prepared(kind, seed, 1, patch, stack)
            runs += _disturb(one, _chance(seed), total, _RUNS - runs)
            assert one.held() == expected, f"seed {seed}"
            ends += one.ends
        seed += 1
    with capsys.disabled():
        if _RUNS > 20:
            text = f"{kind}: {runs} applies with a fault, seeds {_SEED} to {seed - 1}: {ends}"
            sys.stdout.write(f"\n{text}\n")


def _disturb(one: _Apply, chance: random.Random, total: int, most: int) -> int:
    """Apply with faults, and without one in the end; answers how many had one."""
    faults, report = 0, None
    for _ in range(_ENOUGH):
        fault = chance.choice(list(Fault)) if faults < min(most, 8) else None
        faults += fault is not None
        done, now = one.apply(fault, chance.randrange(max(1, total // 2)))
        one.ends[str(fault and fault.name)] += 1
        if now and report:
            one.check_report(report, now)
        report = now or None
        if done is not None:
            one.check_end(done, now)
            if done.code == 0 and not now["results"]:
                break
    else:
        pytest.fail(f"not done after {_ENOUGH} applies")
    assert now["doneBefore"] == total
    one.check_journal()
    planned = one.run("plan", "--prune", "--format", "json")
    assert (planned.code, json.loads(planned.out)["actions"]) == (0, [])
    return faults
