"""What `import` and `snapshot` read of a registry."""

from __future__ import annotations

import datetime
import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.messaging.capture_files import (
    CaptureFolder,
    CaptureManifest,
    PartitionState,
    Selection,
)
from gitops.model.broker_settings import known_settings, with_probed
from gitops.model.clients import (
    ObservedClients,
    ObservedSubscription,
    ObservedTopic,
    ShortLivedTopics,
)
from gitops.model.config import Config
from gitops.model.errors import NotThereError, OutsideError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, NamespacePolicies, SettingSource, TopicPolicies
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.state import RegistryState, Repository, TopicState
from gitops.ports import Progress, no_progress
from gitops.repository.broker_snapshots import recorded_time
from gitops.repository.loader import load
from gitops.usecases.import_registry import import_new_topics, new_to, observe_all
from gitops.usecases.snapshot import SnapshotFiles, make_snapshot, observe_managed
from tests.support.fake_registry import FakeRegistry
from tests.support.states import CREATED, INT64, ORDERS, STRING, state, topic_state
from tests.support.trees import MemoryTree

_PAYMENTS = NamespaceName("shop", "payments")
_RECORDED = TopicName(ORDERS, "recorded")
_VOLATILE = TopicName(ORDERS, "created", "non-persistent")


def _repository(desired: RegistryState) -> Repository:
    config = Config(registries={}, default_registry="")
    return Repository(config=config, desired=desired, digest="sha256:0")


# ------------------------------------------------------------------ import


def test_everything_is_read_where_no_namespace_is_named() -> None:
    known = state(
        topic_state(CREATED, STRING),
        topic_state(_RECORDED, STRING),
        namespaces={_PAYMENTS: NamespacePolicies()},
    )

    found = observe_all(FakeRegistry(known, listed=[CREATED]), recorded=[_RECORDED])

    assert set(found.namespaces) == {ORDERS, _PAYMENTS}
    assert set(found.topics) == {CREATED, _RECORDED}


def test_only_the_namespaces_that_are_named_are_read() -> None:
    known = state(topic_state(CREATED, STRING), namespaces={_PAYMENTS: NamespacePolicies()})

    found = observe_all(
        FakeRegistry(known, listed=[CREATED]), namespaces=(_PAYMENTS,), recorded=[_RECORDED]
    )

    assert (set(found.namespaces), set(found.topics)) == ({_PAYMENTS}, set())


def test_a_namespace_that_is_not_there_is_an_error() -> None:
    with pytest.raises(NotThereError, match="no namespace 'shop/payments'"):
        observe_all(FakeRegistry(state()), namespaces=(_PAYMENTS,))


def test_a_history_belongs_to_both_domains_and_is_read_once() -> None:
    known = state(topic_state(CREATED, STRING), topic_state(_VOLATILE, STRING))

    found = observe_all(FakeRegistry(known, listed=[CREATED, _VOLATILE]), recorded=[_VOLATILE])

    assert set(found.topics) == {CREATED}


def test_topics_with_nothing_to_say_are_left_out() -> None:
    silent = [
        TopicState(topic=TopicName(ORDERS, "empty")),
        TopicState(topic=TopicName(ORDERS, "gone"), history=SchemaHistory(next_version=2)),
    ]
    own = TopicPolicies(schema_validation_enforced=False)
    told = [topic_state(CREATED, STRING), topic_state(_RECORDED, policies=own)]
    known = state(*silent, *told)

    found = observe_all(FakeRegistry(known, listed=[one.topic for one in (*silent, *told)]))

    assert set(found.topics) == {CREATED, _RECORDED}


def test_topics_that_have_a_manifest_are_kept_as_they_are() -> None:
    files = _repository(state(topic_state(CREATED, STRING)))
    observed = state(topic_state(_VOLATILE, STRING), topic_state(_RECORDED, STRING))

    new, kept = new_to(files, observed)

    assert kept == (_VOLATILE,)
    assert set(new.topics) == {_RECORDED}
    assert new.namespaces == observed.namespaces


# ------------------------------------------------------------------ snapshot


def test_a_snapshot_holds_managed_listed_and_recorded_topics() -> None:
    listed = TopicName(ORDERS, "listed")
    registry = FakeRegistry(state(namespaces={ORDERS: NamespacePolicies()}), listed=[listed])
    files = _repository(state(topic_state(CREATED, STRING)))
    elsewhere = TopicName(_PAYMENTS, "recorded")

    found = observe_managed(files, registry, frozenset({_RECORDED, elsewhere}))

    assert set(found.topics) == {CREATED, listed, _RECORDED}
    assert set(found.namespaces) == {ORDERS}


def test_one_history_is_recorded_once_under_the_files_own_name() -> None:
    registry = FakeRegistry(state(topic_state(CREATED, STRING)), listed=[CREATED])
    files = _repository(state(topic_state(_VOLATILE, STRING)))

    found = observe_managed(files, registry, frozenset({CREATED}))

    assert set(found.topics) == {_VOLATILE}


def test_a_namespace_that_the_registry_lacks_is_not_listed() -> None:
    files = _repository(state(topic_state(CREATED, STRING)))

    found = observe_managed(files, FakeRegistry(), frozenset())

    assert not found.namespaces[ORDERS].exists
    assert found.topics == {CREATED: TopicState(topic=CREATED)}


def test_a_namespace_of_a_topic_needs_no_manifest() -> None:
    files = _repository(replace(state(topic_state(CREATED, STRING)), namespaces={}))

    assert set(observe_managed(files, FakeRegistry(), frozenset()).namespaces) == {ORDERS}


# ------------------------------------------------------------------ clients


class _Cluster(FakeRegistry):
    """A registry with clients, or one that may not show them."""

    clients = ObservedClients()

    def observe_clients(
        self, topics: Collection[TopicName], progress: Progress = no_progress
    ) -> ObservedClients:
        del progress
        assert set(topics) == {CREATED}
        return self.clients

    def find_short_lived_topics(self, topics: Collection[TopicName]) -> ShortLivedTopics:
        raise NotImplementedError


_USED = ObservedClients(topics={CREATED: ObservedTopic(left_out=1)})
_SETTINGS = (
    b"apiVersion: pulsar-gitops/v1\nkind: Config\n"
    b"registries:\n  fake: {kind: embedded, path: x.db}\n"
)
_CLIENTS = "snapshots/fake/clients.json"


def _snapshot_with_clients(observed: ObservedClients, tree: MemoryTree) -> SnapshotFiles:
    registry = _Cluster(state(topic_state(CREATED, STRING)))
    registry.clients = observed
    files = _repository(state(topic_state(CREATED, STRING)))
    return make_snapshot(registry, Path(), tree, files, clients=True)


@pytest.mark.slow
def test_clients_are_recorded_where_they_are_asked_for() -> None:
    found = _snapshot_with_clients(_USED, MemoryTree({}))

    assert json.loads(found.files[_CLIENTS])["topics"][0]["topic"] == str(CREATED)
    assert not found.notes


@pytest.mark.slow
def test_recorded_clients_stay_where_nobody_asks_for_them() -> None:
    tree = MemoryTree(_snapshot_with_clients(_USED, MemoryTree({})).files)
    files = _repository(state(topic_state(CREATED, STRING)))

    without = make_snapshot(FakeRegistry(state(topic_state(CREATED, STRING))), Path(), tree, files)
    again = _snapshot_with_clients(_USED, tree)

    assert _CLIENTS not in {*without.files, *without.old}
    assert _CLIENTS in again.old
    assert again.files == {path: tree.read(path) for path in again.old}


@pytest.mark.slow
def test_clients_that_may_not_be_read_are_told_and_what_is_recorded_stays() -> None:
    tree = MemoryTree(_snapshot_with_clients(_USED, MemoryTree({})).files)

    found = _snapshot_with_clients(ObservedClients(unread={CREATED: "not for you"}), tree)

    assert found.notes == (f"the clients of {CREATED} are not known: not for you",)
    assert _CLIENTS not in {*found.files, *found.old}


def _write_capture(
    folder: Path, *counts: dict[int, int] | None, topic: TopicName = CREATED, registry: str = "fake"
) -> None:
    manifest = CaptureManifest(
        topic=f"persistent://{topic}",
        registry=registry,
        address=f"http://{registry}",
        broker="4.0.7",
        program="test",
        part_format="parquet",
        begun="2026-05-01T00:00:00+00:00",
        selection=Selection(),
        partitions=tuple(
            PartitionState(partition=number, messages_by_version=by_version)
            for number, by_version in enumerate(counts)
        ),
    )
    CaptureFolder.of(folder, topic).begin(manifest, {})


def _recorded_counts(
    captures: Path | None, before: SnapshotFiles | None = None, *versions: SchemaInfo
) -> tuple[SnapshotFiles, object]:
    live = state(topic_state(CREATED, *(versions or (STRING,))))
    registry, tree = (
        _Cluster(live),
        MemoryTree({"gitops.yaml": _SETTINGS, **(before.files if before else {})}),
    )
    registry.clients = _USED
    files = _repository(state(topic_state(CREATED, STRING)))
    files = replace(files, observed_clients=load(tree).observed_clients)
    found = make_snapshot(registry, Path(), tree, files, clients=True, captures=captures)
    return found, json.loads(found.files[_CLIENTS])["topics"][0].get("captured")


@pytest.mark.slow
def test_the_messages_of_captures_are_recorded_by_version(tmp_path: Path) -> None:
    counted = [{"version": 0, "messages": 5}, {"version": 2, "messages": 1}]
    _write_capture(tmp_path / "day-1", {0: 3}, {0: 2, 2: 1})
    _write_capture(tmp_path / "day-2", {0: 4}, {})

    first, recorded = _recorded_counts(tmp_path)

    assert recorded == counted
    assert not first.notes
    again, recorded = _recorded_counts(None, first)
    assert recorded == counted  # stays where no capture is named
    assert again.files == first.files


@pytest.mark.slow
def test_the_counts_of_lost_versions_are_dropped(tmp_path: Path) -> None:
    _write_capture(tmp_path, {0: 3, 1: 2})
    first, _ = _recorded_counts(tmp_path, None, STRING, INT64)

    found, recorded = _recorded_counts(None, first)

    assert found.lost == {CREATED: (1,)}
    assert recorded is None


@pytest.mark.slow
def test_captures_that_do_not_count_are_named(tmp_path: Path) -> None:
    _write_capture(tmp_path / "other", {0: 1}, registry="other")
    _write_capture(tmp_path / "former", {0: 1}, None)
    _write_capture(tmp_path / "unmanaged", {0: 1}, topic=_RECORDED)

    found, recorded = _recorded_counts(tmp_path)

    assert recorded is None
    reasons = [note.rpartition(f"{tmp_path}/")[2].partition("/")[0::2] for note in found.notes]
    assert reasons == [
        ("former", "shop/orders/created has no counts by version: capture the topic again"),
        ("other", "shop/orders/created is not counted: a capture of http://other"),
        ("unmanaged", f"shop/orders/recorded is not counted: no manifest declares {_RECORDED}"),
    ]


def test_a_registry_without_clients_has_none_to_record() -> None:
    registry = FakeRegistry(state(topic_state(CREATED, STRING)))
    files = _repository(state(topic_state(CREATED, STRING)))

    with pytest.raises(UsageError, match="has no clients to observe"):
        make_snapshot(registry, Path(), MemoryTree({}), files, clients=True)
    with pytest.raises(UsageError, match="has no clients to observe"):
        import_new_topics(registry, MemoryTree({}), files, clients=True)


@pytest.mark.slow
def test_an_import_proposes_clients_of_topics_with_and_without_a_manifest() -> None:
    registry = _Cluster(state(topic_state(CREATED, STRING)), listed=[CREATED])
    subscription = ObservedSubscription(name="billing")
    registry.clients = ObservedClients(
        topics={CREATED: ObservedTopic(subscriptions=(subscription,))}
    )
    managed, empty = _repository(state(topic_state(CREATED, STRING))), _repository(state())
    tree = MemoryTree({"gitops.yaml": _SETTINGS})

    of_new, new, _ = import_new_topics(registry, tree, empty, clients=True)
    of_kept, _, kept = import_new_topics(registry, tree, managed, clients=True)
    without, _, _ = import_new_topics(registry, tree, managed)

    assert (new, kept) == ((CREATED,), (CREATED,))
    for made in (of_new, of_kept):
        assert made.files.keys() - without.files.keys() >= {"clients/billing.yaml"}
    assert not any(path.startswith("clients/") for path in without.files)
    assert without.notes == ()


def test_an_import_without_the_right_to_read_statistics_reports_it() -> None:
    registry = _Cluster(state(topic_state(CREATED, STRING)), listed=[CREATED])
    registry.clients = ObservedClients(unread={CREATED: "not for you"})
    managed = _repository(state(topic_state(CREATED, STRING)))

    made, _, _ = import_new_topics(
        registry, MemoryTree({"gitops.yaml": _SETTINGS}), managed, clients=True
    )

    assert not any(path.startswith("clients/") for path in made.files)
    assert made.notes == (f"the clients of {CREATED} are not known: not for you",)


# ------------------------------------------------------------------ when it was taken


_LEARNED = known_settings({"release": "4.0.7"}, SettingSource.LEARNED)
_FILE = "snapshots/fake/broker.json"


def test_a_broken_journal_is_named(tmp_path: Path) -> None:
    journal = tmp_path / ".gitops/live.journal"
    journal.parent.mkdir()
    journal.write_text('{"entry": "start", "run": 1}\n', "utf-8")
    known = state(topic_state(CREATED, STRING))

    made = make_snapshot(FakeRegistry(known), tmp_path, MemoryTree({}), _repository(known))

    (note,) = made.notes
    assert note.startswith("Lost versions that only .gitops/live.journal has are not known: line 1")


def _taken(
    root: Path,
    known: RegistryState,
    tree: MemoryTree,
    hour: int,
    broker: BrokerSettings = _LEARNED,
) -> dict[str, bytes]:
    """The files of a snapshot of a cluster at that hour."""
    registry = FakeRegistry(known, listed=list(known.topics), broker=broker)
    made = make_snapshot(
        registry,
        root,
        tree,
        _repository(state(namespaces={ORDERS: NamespacePolicies()})),
        now=lambda: datetime.datetime(2026, 11, 24, hour, tzinfo=datetime.UTC),
    )
    return dict(made.files)


@pytest.mark.slow
def test_the_time_is_that_of_the_last_snapshot_that_found_a_change(tmp_path: Path) -> None:
    known = state(topic_state(CREATED, STRING))

    first = _taken(tmp_path, known, MemoryTree({}), 8)
    again = _taken(tmp_path, known, MemoryTree(first), 9)
    later = _taken(tmp_path, state(topic_state(CREATED, STRING, INT64)), MemoryTree(again), 10)

    assert json.loads(first[_FILE])["recorded"] == "2026-11-24T08:00:00Z"
    assert again == first
    assert recorded_time(MemoryTree(later), "fake") == "2026-11-24T10:00:00Z"


def test_files_of_an_older_release_stay_while_nothing_changes(tmp_path: Path) -> None:
    known = state(topic_state(CREATED, STRING))
    files = _taken(tmp_path, known, MemoryTree({}), 8)
    document = json.loads(files[_FILE])
    del document["recorded"]
    older = {**files, _FILE: f"{json.dumps(document, indent=2)}\n".encode()}

    assert _taken(tmp_path, known, MemoryTree(older), 9) == older
    assert recorded_time(MemoryTree(older), "fake") == ""


@pytest.mark.slow
def test_brokers_that_fail_take_nothing_away_of_what_was_recorded(tmp_path: Path) -> None:
    known = state(topic_state(CREATED, STRING))
    hidden = known_settings({}, SettingSource.LEARNED, limits=("GET x answered 503.",))
    failing = replace(hidden, is_unanswered=True)
    first = _taken(tmp_path, known, MemoryTree({}), 8)

    with pytest.raises(OutsideError, match=r"GET x answered 503\."):
        _taken(tmp_path, known, MemoryTree(first), 9, failing)

    probed = replace(with_probed(failing, {"release": "4.2"}), is_unanswered=True)
    with pytest.raises(OutsideError, match="do not report now"):
        _taken(tmp_path, known, MemoryTree(first), 9, probed)

    # There is nothing to lose, and a role that may not read it any more is no failure.
    assert _FILE not in _taken(tmp_path, known, MemoryTree({}), 9, failing)
    assert _FILE not in _taken(tmp_path, known, MemoryTree(first), 9, hidden)
