"""Applies of random changes with random faults: the same plan goes on until all is as it would be.

`APPLY_FAULTS=1000` in the environment makes so many runs on each registry, each of a random plan
with its own seed, and `APPLY_FAULTS_SEED` others than the usual ones.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.journal import writer
from gitops.journal.reader import read_journal
from gitops.model.config import RegistryConfig
from gitops.model.errors import OutsideError
from gitops.model.journal import Outcome as JournalOutcome
from gitops.model.names import NamespaceName, TopicName
from gitops.model.state import RegistryState, Scope
from gitops.ports import Registry
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.admin_client import AdminClient
from gitops.registries.pulsar.error_responses import Answer
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.registries.server.server import serve_in_thread
from tests.scenarios.registries import behind_rest
from tests.support.admin_rest import admin_request
from tests.support.command_line import CommandLine, Outcome
from tests.support.faults import Fault, Faults, KilledError, cutting, faulty_proxy, with_fault
from tests.support.faulty_registry import FaultyRegistry
from tests.support.interrupts import ctrl_c_as_ever
from tests.support.plan_ends import PlanEnd
from tests.support.random_changes import TOPICS, RandomChange

pytestmark = pytest.mark.slow

_RUNS: Final = int(os.environ.get("APPLY_FAULTS", "2"))
_SEED: Final = int(os.environ.get("APPLY_FAULTS_SEED", "1"))
_AGAIN: Final = "run the same command again: it goes on where it stopped"
_REPLAN: Final = "make a new plan and have it reviewed"
_ENOUGH: Final = 40
_MOST_FAULTS: Final = 3
_TIMEOUTS: Final = "timeouts: {read: 2}"


@dataclass(slots=True, kw_only=True)
class _Apply:
    """A plan for a changed repository, and what became of its applies so far."""

    repo: Path
    tenant: str
    registry: Registry
    faults: Faults
    command: CommandLine
    waived: set[str]
    before: RegistryState
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

    @property
    def actions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.plan_file.read_text())["actions"]
        return found

    def run(self, *args: object) -> Outcome:
        return self.command(*args, "--repo", self.repo)

    def apply(
        self, fault: Fault | None, at: int = 0, kept: float = 0.0
    ) -> tuple[Outcome | None, dict[str, Any]]:
        """One apply with a fault at a write; its end, None where it was killed, and its report."""
        self.output.unlink(missing_ok=True)
        self.faults.set(fault, at, kept)
        form = ["--format", "json", "--output", self.output]
        has_run = self.journal.exists() and bool(read_journal(self.journal))
        try:
            again = ["--resume"] if has_run and at % 2 else []
            done = self.run("apply", self.plan_file, *again, *form)
        except KilledError:
            return None, {}
        finally:
            self.faults.set(None)
        return done, json.loads(self.output.read_text())

    def held(self) -> RegistryState:
        """What the registry holds of everything."""
        return self.registry.observe(_scope(self.tenant))

    def check_end(self, done: Outcome, report: dict[str, Any]) -> None:
        """The exit code and the hint fit what the report says."""
        outcomes = Counter(one["outcome"] for one in report["results"])
        broken = outcomes["failed"] + outcomes["unknown"]
        self.ends[f"exit {done.code}"] += 1
        if done.code == 0:
            assert set(outcomes) <= {"done"}
            return
        # Where only the closing was left, it is done, too.
        assert broken or outcomes["notAttempted"] or "is set back" in done.err, done
        may_be_open = "could not be set back" in done.err
        begun = may_be_open or _has_begun(report)
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


def _scope(tenant: str) -> Scope:
    """All that a random change may be about."""
    names = frozenset(NamespaceName(tenant, name) for name in "abc")
    topics = [f"t{number}" for number in range(TOPICS)] + ["new0", "new1", "first"]
    every = frozenset(TopicName(name, topic) for name in names for topic in topics)
    return Scope(namespaces=names, topics=every)


def _chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - the same every time


def _has_begun(report: dict[str, Any]) -> bool:
    """Whether anything was done that does not set a topic back after the failure."""
    return any(one["outcome"] == "done" and not one["closes"] for one in report["results"])


def _effect(action: dict[str, Any]) -> str:
    kept = {k: v for k, v in action.items() if k not in ("before", "direction", "waiver")}
    return json.dumps(kept, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where plans are applied: its entry in `gitops.yaml`, itself without faults, and a tenant."""

    entry: str
    registry: Registry
    faults: Faults
    tenant: str


@contextmanager
def _embedded(
    repo: Path, patch: pytest.MonkeyPatch, _request: pytest.FixtureRequest
) -> Iterator[_Place]:
    faults = Faults()

    def opened(name: str, _config: RegistryConfig, root: Path) -> EmbeddedRegistry:
        found = FaultyRegistry(name, root / "live.db", address="live.db")
        found.faults = faults
        return found

    patch.setattr("gitops.registries.factory.open_registry", opened)
    registry = EmbeddedRegistry("live", repo / "live.db")
    entry = "{kind: embedded, path: live.db}"
    yield _Place(entry=entry, registry=registry, faults=faults, tenant="shop")
    registry.close()


@contextmanager
def _served(
    repo: Path, patch: pytest.MonkeyPatch, _request: pytest.FixtureRequest
) -> Iterator[_Place]:
    registry = EmbeddedRegistry("live", repo.with_name("served.db"))
    with serve_in_thread(registry) as url, _behind_a_proxy(url, registry, patch) as place:
        yield place
    registry.close()


@contextmanager
def _broker(
    repo: Path, patch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[_Place]:
    url = request.getfixturevalue("pulsar_admin_url")
    registry = open_registry("live", PulsarConfig(url=url), repo)
    with _behind_a_proxy(url, registry, patch) as place:
        yield place
    registry.close()


@contextmanager
def _behind_a_proxy(
    upstream: str, registry: Registry, patch: pytest.MonkeyPatch
) -> Iterator[_Place]:
    """What is on the way fails; kills are this process's own."""
    faults, killer = Faults(), Faults()
    send = AdminClient.send

    def killing(self: AdminClient, method: str, path: str, body: bytes | None = None) -> Answer:
        faults.check_alive()
        if faults.fault not in (Fault.KILLED, Fault.KILLED_AFTER):
            return send(self, method, path, body)
        if not faults.writes:  # the first of this apply: nothing has come to the proxy
            killer.set(faults.fault, faults.at)
        work = lambda: send(self, method, path, body)  # noqa: E731 - too short for a name
        try:
            return with_fault(killer, work, lambda: OutsideError("never raised"))
        finally:
            faults.dead = killer.dead

    patch.setattr(AdminClient, "send", killing)
    live = behind_rest(upstream)
    for namespace in (f"{live.tenant}/a", f"{live.tenant}/b"):
        admin_request("PUT", f"{live.admin}/namespaces/{namespace}", {})
        for number in range(TOPICS):
            admin_request("PUT", f"{live.admin}/persistent/{namespace}/t{number}")
    with faulty_proxy(upstream, faults) as url:
        entry = f"{{kind: pulsar, url: '{url}', {_TIMEOUTS}}}"
        yield _Place(entry=entry, registry=registry, faults=faults, tenant=live.tenant)


_PLACES: Final = {"embedded": _embedded, "proxy": _served, "broker": _broker}
_KINDS: Final = ["embedded", "proxy", pytest.param("broker", marks=pytest.mark.broker)]

Prepare = Callable[[str, int, pytest.MonkeyPatch, ExitStack], _Apply]


@pytest.fixture
def prepared(tmp_path: Path, command: CommandLine, request: pytest.FixtureRequest) -> Prepare:
    """Makes a changed repository with its plan; the same seed makes the same."""

    def make(kind: str, seed: int, patch: pytest.MonkeyPatch, stack: ExitStack) -> _Apply:
        repo = tmp_path / f"{kind}-{seed}" / "repo"
        repo.mkdir(parents=True)
        place = stack.enter_context(_PLACES[kind](repo, patch, request))
        change = RandomChange(_chance(seed), repo, place.tenant)
        change.write(place.entry)
        append = writer._append  # noqa: SLF001 - a crash may come in the middle of it
        patch.setattr(writer, "_append", cutting(append, place.faults))
        made = _Apply(
            repo=repo,
            tenant=place.tenant,
            registry=place.registry,
            faults=place.faults,
            command=command,
            waived=change.waived,
            before=RegistryState(),
        )
        assert made.run("apply", "--auto-approve").code == 0
        change.change()
        made.run("plan", "--prune", "--waivers", repo / "waivers")
        change.approve()
        planned = made.run("plan", "--prune", "--out", made.plan_file)
        assert planned.code == 0, planned.out
        made.before = made.held()
        return made

    return make


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line as `pulsar-gitops` runs it."""
    monkeypatch.delenv("COLUMNS", raising=False)
    return CommandLine(capsys)


@pytest.mark.timeout(max(600, 60 * _RUNS))
@pytest.mark.parametrize("kind", _KINDS)
def test_whatever_happens_the_same_plan_goes_on_to_the_same_end(
    kind: str, prepared: Prepare, capsys: pytest.CaptureFixture[str]
) -> None:
    ends, actions = Counter[str](), Counter[str]()
    for seed in range(_SEED, _SEED + _RUNS):
        with ExitStack() as stack, pytest.MonkeyPatch.context() as patch, ctrl_c_as_ever():
            one = prepared(kind, seed, patch, stack)
            try:
                _disturb(one, _chance(seed))
            except BaseException as error:
                error.add_note(f"seed {seed}")
                raise
            ends += one.ends
            actions += Counter(map(_kind_of, one.actions))
        shutil.rmtree(one.repo.parent)
    if _RUNS > 20:
        with capsys.disabled():
            seeds = f"seeds {_SEED} to {_SEED + _RUNS - 1}"
            sys.stdout.write(f"\n{kind}: {_RUNS} plans, {seeds}: {dict(actions)}, {dict(ends)}\n")


def _kind_of(action: dict[str, Any]) -> str:
    return f"{action['action']}{' waived' if action.get('waiver') else ''}"


def _disturb(one: _Apply, chance: random.Random) -> None:
    """Apply with faults, and without one in the end, and look at what is there then."""
    actions, report = one.actions, None
    faults = [chance.choice(list(Fault)) for _ in range(chance.randint(1, _MOST_FAULTS))]
    for fault in [*faults, *[None] * _ENOUGH]:
        most = 2 * len(actions) + 2 if fault is Fault.CUT_JOURNAL else max(1, len(actions) // 2)
        done, now = one.apply(fault, chance.randrange(most), chance.choice((0.0, 0.5, 1.0)))
        one.ends[str(fault and fault.name)] += 1
        if now and report:
            one.check_report(report, now)
        report = now or None
        if done is not None:
            one.check_end(done, now)
            if done.code == 0 and not now["results"] and fault is None:
                break
    else:
        pytest.fail(f"not done after {_ENOUGH} applies")
    assert now["doneBefore"] == len(actions)
    one.check_journal()
    planned = one.run("plan", "--prune", "--format", "json")
    assert (planned.code, json.loads(planned.out)["actions"]) == (0, [])
    PlanEnd.of(one.before, actions).check(one.held(), one.before)


def test_a_kill_around_every_line_of_the_journal_is_taken_up(prepared: Prepare) -> None:
    seed, at, total = _SEED, 0, 1
    while at < total:
        with ExitStack() as stack, pytest.MonkeyPatch.context() as patch, ctrl_c_as_ever():
            one = prepared("embedded", seed, patch, stack)
            actions = one.actions
            total = 2 * len(actions) + 2
            kept = (0.0, 0.5, 1.0)[at % 3]

            done, _ = one.apply(Fault.CUT_JOURNAL, at, kept)
            assert done is None, at
            again, _ = one.apply(None, 0)
            assert again is not None
            assert again.code == 0, again.err
            one.check_journal()
            PlanEnd.of(one.before, actions).check(one.held(), one.before)
        shutil.rmtree(one.repo.parent)
        at += 1
