"""What is replayed of a topic, and who reads it."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.clients import Client, ClientSchema, Consumes, VersionPin
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.replay import TopicReplay
from gitops.replay.gates import Gate
from gitops.replay.topic_replays import Subject, topic_replay
from tests.support.replay_subjects import HERE, MIDDLE, NEW, OLD, SUBJECT, history
from tests.support.states import CREATED, ORDERS, avro, field


def client(name: str, *schemas: ClientSchema, topic: TopicName = CREATED) -> Client:
    use = Consumes(topic=topic, subscription=name, schemas=schemas, location=HERE)
    return Client(name=name, owner="@x", consumes=(use,), produces=(), location=HERE)


def replayed(subject: Subject, gate: Gate = Gate.STRATEGY) -> TopicReplay:
    found = topic_replay(subject, gate)
    assert found is not None
    return found


def readers(subject: Subject, gate: Gate = Gate.STRATEGY) -> list[tuple[str, str, bool]]:
    its = replayed(subject, gate).readers
    assert len({(one.name, one.direction) for one in its}) == len(its)
    return [(one.name, one.direction.value, one.gates) for one in its]


def test_the_proposed_schema_reads_old_data_and_older_schemas_read_new() -> None:
    assert readers(SUBJECT) == [
        ("proposed", "backward", True),
        ("v0", "forward", False),
        ("v1", "forward", True),
    ]
    assert replayed(SUBJECT).versions == {0: OLD, 1: MIDDLE}


def test_transitive_strategies_look_at_every_version() -> None:
    strict = replace(SUBJECT, strategy=Strategy.FULL_TRANSITIVE)
    assert [one for one in readers(strict) if one[2]] == readers(strict)


def test_a_schema_that_is_live_already_does_not_read_itself() -> None:
    same = replace(SUBJECT, proposed=MIDDLE)
    assert readers(same) == [("proposed", "backward", True), ("v0", "forward", True)]


def test_a_choice_makes_all_of_a_direction_count() -> None:
    backward = replace(SUBJECT, strategy=Strategy.BACKWARD)
    assert [gates for _, _, gates in readers(backward, Gate.FORWARD)] == [False, True, True]
    assert not any(gates for _, _, gates in readers(backward, Gate.NONE))


def test_declared_consumers_read_with_their_own_schemas() -> None:
    clients = (
        client("billing", VersionPin(version=0)),
        client("audit", "AUTO_CONSUME"),
        client("search", OLD),
        client("other", OLD, topic=TopicName(ORDERS, "other")),
        client("ghost", VersionPin(version=7)),
    )
    found = readers(replace(SUBJECT, clients=clients, strategy=Strategy.FORWARD))
    assert found[3:] == [("billing", "forward", True), ("search", "forward", True)]


def test_a_client_is_told_from_the_readers_that_are_none() -> None:
    named = [client(name, OLD) for name in ("v0", "proposed", "v0-archive")]
    found = readers(replace(SUBJECT, clients=tuple(named)))
    names = ["proposed (client)", "v0 (client)", "v0-archive"]
    assert [name for name, _, _ in found[3:]] == names


def test_pins_mean_versions_of_the_default_registry_only() -> None:
    elsewhere = replace(
        SUBJECT, clients=(client("billing", VersionPin(version=0)),), knows_pins=False
    )
    assert [name for name, _, _ in readers(elsewhere)] == ["proposed", "v0", "v1"]


def test_a_consumer_of_several_kinds_of_event_reads_with_the_one_of_this_kind() -> None:
    other = avro(field("z"), name="Other")
    found = readers(replace(SUBJECT, clients=(client("billing", other, OLD, MIDDLE),)))
    assert [name for name, _, _ in found[3:]] == ["billing", "billing #2"]
    schemas = [one.schema for one in replayed(SUBJECT).readers[1:]]
    assert schemas == [OLD, MIDDLE]


def test_a_topic_without_versions_has_the_proposed_one_as_its_first() -> None:
    new = replace(SUBJECT, history=history())
    assert replayed(new).versions == {0: NEW}
    assert readers(new) == [("proposed", "backward", True)]


def test_a_schema_that_the_files_do_not_manage_is_read_by_the_latest() -> None:
    unmanaged = replace(SUBJECT, proposed=None)
    assert replayed(unmanaged).proposed == MIDDLE


def test_without_samples_or_schemas_there_is_nothing() -> None:
    assert topic_replay(replace(SUBJECT, samples=())) is None
    assert topic_replay(replace(SUBJECT, history=history(), proposed=None)) is None
