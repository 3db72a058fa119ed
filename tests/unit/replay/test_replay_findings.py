"""What is said of a replay: one finding for each sample and reader."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from msgspec import structs

from gitops.model.config import Config
from gitops.model.findings import Finding, Location, Severity
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.replay import Direction, ReaderSchema, Sample, TopicReplay
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import RegistryState, Repository, TopicSource
from gitops.replay.counts import Counts, FailedRows, Key, Tally
from gitops.replay.job import DuplicateFiles, RunResult, UnreadSample
from gitops.replay.replay_findings import findings_of, is_above, missing_sample_findings
from tests.support.states import CREATED, STRING

TOPIC = str(CREATED)
FILE = "namespaces/shop/orders/created.yaml"


def sample(line: int, max_failures: float = 0) -> Sample:
    where = Location(file=FILE, line=line, column=5)
    return Sample(format="avro", path="x/*.avro", location=where, max_failures=max_failures)


REPLAY = TopicReplay(
    topic=CREATED,
    versions={0: STRING},
    proposed=STRING,
    readers=(
        ReaderSchema(name="proposed", direction=Direction.BACKWARD, schema=STRING, gates=True),
        ReaderSchema(name="v0", direction=Direction.FORWARD, schema=STRING, gates=False),
    ),
    samples=(sample(7),),
    strategy=Strategy.BACKWARD,
)
TWO = replace(REPLAY, samples=(sample(7), sample(8)))
PROPOSED = Key(TOPIC, 0, "proposed")
ASIDE = Key(TOPIC, None, "")


OTHER = {structs.replace(PROPOSED, sample=1): Tally(rows=9)}
"""The second sample is good."""


def failing(rows: int, failed: int, *reasons: str) -> Tally:
    share = failed // max(1, len(reasons))
    return Tally(
        rows=rows,
        failed=failed,
        failures=[
            FailedRows(path="a", reason=reason, rows=share) for reason in reasons or ("bad",)
        ],
    )


def said(
    tallies: dict[Key, Tally], replay_: TopicReplay = REPLAY, *, complete: bool = True
) -> list[Finding]:
    return list(findings_of([replay_], RunResult(tallies=tallies, complete=complete)))


@pytest.mark.rule("REPLAY-R001")
def test_failures_that_count() -> None:
    (found,) = said({PROPOSED: failing(50, 12)})
    assert (found.rule, found.severity) == ("REPLAY-R001", Severity.ERROR)
    assert found.message == (
        "12 of 50 sample messages cannot be read by the proposed schema: bad at 'a'"
    )
    assert found.subject == TOPIC
    assert found.location == REPLAY.samples[0].location


@pytest.mark.rule("REPLAY-R002")
def test_failures_that_do_not_count() -> None:
    (found,) = said({Key(TOPIC, 0, "v0", "forward"): failing(50, 1)})
    assert (found.rule, found.severity) == ("REPLAY-R002", Severity.WARNING)
    assert "by v0 once they are written with the proposed schema" in found.message
    assert "consumers upgrade first" in found.hint


@pytest.mark.rule("REPLAY-R003")
def test_messages_that_nobody_was_asked_about() -> None:
    tallies = {ASIDE: failing(1, 1, "the message has no payload"), PROPOSED: Tally(rows=1)}
    (found,) = said(tallies)
    assert (found.rule, found.severity) == ("REPLAY-R003", Severity.WARNING)
    assert found.message.startswith("1 message was not replayed: the message has no payload")


@pytest.mark.rule("REPLAY-R012")
def test_a_sample_of_which_nothing_was_replayed() -> None:
    """Another one of its topic that is good does not hide it."""
    tallies = {ASIDE: failing(7, 7, "no version"), **OTHER}
    (found,) = said(tallies, TWO)
    assert (found.rule, found.severity) == ("REPLAY-R012", Severity.ERROR)
    assert found.location == REPLAY.samples[0].location
    assert found.message == "none of the 7 messages of x/*.avro was replayed: no version at 'a'"


def test_what_was_not_replayed_up_to_an_interruption() -> None:
    """The rest of the sample may be good."""
    rules = [one.rule for one in said({ASIDE: failing(7, 7)}, complete=False)]
    assert rules == ["REPLAY-R003", "REPLAY-R008"]


def test_messages_that_can_be_read_and_not_written_were_replayed() -> None:
    aside = Key(TOPIC, 0, "", "forward")
    (found,) = said({PROPOSED: Tally(rows=3), aside: failing(3, 3)})
    assert found.rule == "REPLAY-R003"


def test_one_sample_of_many_without_a_message() -> None:
    (found,) = said(OTHER, TWO)
    assert (found.rule, found.severity) == ("REPLAY-R012", Severity.WARNING)
    assert found.message == f"x/*.avro contains no message of {CREATED}"
    assert found.location == REPLAY.samples[0].location


def test_samples_without_a_message_show_nothing() -> None:
    (found,) = said({})
    assert (found.rule, found.severity) == ("REPLAY-R012", Severity.ERROR)
    assert found.message.startswith(f"no sample of {CREATED} contains a message")
    assert found.location == REPLAY.samples[0].location


@pytest.mark.rule("REPLAY-R004")
def test_a_sample_that_is_not_there() -> None:
    unread = UnreadSample(
        topic=CREATED, sample=TWO.samples[1], why="nothing is there", missing=True
    )
    (found,) = findings_of([TWO], RunResult(tallies={PROPOSED: Tally(rows=1)}, unread=(unread,)))
    assert (found.rule, found.severity) == ("REPLAY-R004", Severity.ERROR)
    assert found.message == "x/*.avro: nothing is there"
    assert found.location == TWO.samples[1].location


def test_a_path_as_windows_writes_it() -> None:
    sample = replace(TWO.samples[1], path="..\\samples\\orders.avro")
    unread = UnreadSample(topic=CREATED, sample=sample, why="nothing is there", missing=True)
    found, *_ = findings_of([TWO], RunResult(tallies={PROPOSED: Tally(rows=1)}, unread=(unread,)))
    assert found.hint.startswith("folders are separated by /")


def broken(number: int, why: str, of: int = 0) -> UnreadSample:
    file = f"x/{number}.avro"
    return UnreadSample(topic=CREATED, sample=TWO.samples[of], file=file, why=f"{file}: {why}")


def test_many_files_that_cannot_be_read_are_one_finding() -> None:
    """The format may be wrong, which is the same for all of them."""
    unread = [broken(number, "no Avro container") for number in reversed(range(500))]
    unread += [broken(7, "no Avro container"), broken(300, "denied", of=1)]
    first, second = findings_of([TWO], RunResult(tallies=OTHER, unread=tuple(unread)))
    assert first.message == (
        "x/*.avro: 500 files cannot be read: x/0.avro: no Avro container; "
        "x/1.avro: no Avro container; x/10.avro: no Avro container and 497 more"
    )
    assert (second.location, second.message) == (
        TWO.samples[1].location,
        "x/300.avro: denied",
    )


def test_a_file_that_is_broken_otherwise_is_named_among_many() -> None:
    unread = [broken(number, "no Avro container") for number in range(9)]
    unread[8] = replace(broken(8, "permission denied"), hint="let it be read")
    (found,) = findings_of([TWO], RunResult(tallies=OTHER, unread=tuple(unread)))
    assert found.message == (
        "x/*.avro: 9 files cannot be read: x/0.avro: no Avro container; "
        "x/8.avro: permission denied; x/1.avro: no Avro container and 6 more"
    )
    assert found.hint == "let it be read"


def test_files_that_two_samples_read_alike() -> None:
    twice = DuplicateFiles(
        topic=CREATED, sample=TWO.samples[1], first=REPLAY.samples[0], files=("x/a.avro",)
    )
    (found,) = findings_of([TWO], RunResult(tallies={PROPOSED: Tally(rows=1)}, twice=(twice,)))
    assert (found.rule, found.severity) == ("REPLAY-R011", Severity.INFO)
    assert found.location == TWO.samples[1].location
    assert found.message == (
        f"x/a.avro: the sample at {FILE}:7:5 names it too, and it is counted only there"
    )


@pytest.mark.rule("REPLAY-R011")
def test_files_that_two_samples_read_otherwise() -> None:
    other = replace(TWO.samples[1], format="orc", version=3, columns={"payload": "value"})
    files = tuple(f"x/{number}" for number in range(5))
    twice = DuplicateFiles(topic=CREATED, sample=other, first=REPLAY.samples[0], files=files)
    topic = replace(REPLAY, samples=(*REPLAY.samples, other))
    (found,) = findings_of([topic], RunResult(tallies={PROPOSED: Tally(rows=1)}, twice=(twice,)))
    assert (found.rule, found.severity) == ("REPLAY-R011", Severity.WARNING)
    assert found.message == (
        f"x/0, x/1, x/2 and 2 more: the sample at {FILE}:7:5 names them too, and they are counted "
        "only there; they are read with its settings (format: avro, version: none), not with "
        "these (columns.payload: value, format: orc, version: 3)"
    )


def test_files_whose_logical_types_two_samples_read_otherwise() -> None:
    other = replace(TWO.samples[1], logical_types="none")
    twice = DuplicateFiles(
        topic=CREATED, sample=other, first=REPLAY.samples[0], files=("x/a.avro",)
    )
    topic = replace(REPLAY, samples=(*REPLAY.samples, other))
    (found,) = findings_of([topic], RunResult(tallies={PROPOSED: Tally(rows=1)}, twice=(twice,)))
    assert (found.rule, found.severity) == ("REPLAY-R011", Severity.WARNING)
    assert "(logicalTypes: java), not with these (logicalTypes: none)" in found.message


@pytest.mark.rule("REPLAY-R005")
def test_a_named_topic_without_samples() -> None:
    where, other = Location(file=FILE), replace(CREATED, local_name="paid")
    topics = {
        CREATED: TopicSource(manifest=where),
        other: TopicSource(manifest=where, samples=(sample(7),)),
    }
    nothing = Config(registries={}, default_registry="")
    files = Repository(config=nothing, desired=RegistryState(), digest="", topics=topics)
    (found,) = missing_sample_findings(topics, files)
    assert (found.rule, found.severity) == ("REPLAY-R005", Severity.INFO)
    assert (found.subject, found.location) == (str(CREATED), where)


@pytest.mark.rule("REPLAY-R006")
@pytest.mark.parametrize(
    ("limit", "rule"),
    [(11, "REPLAY-R001"), (12, "REPLAY-R006"), (0.1, "REPLAY-R001"), (0.24, "REPLAY-R006")],
)
def test_failures_within_the_limit_of_their_sample(limit: float, rule: str) -> None:
    lenient = replace(REPLAY, samples=(sample(7, limit),))
    (found,) = said({PROPOSED: failing(50, 12)}, lenient)
    assert found.rule == rule
    assert ("maxFailures allows" in found.message) is (rule == "REPLAY-R006")


_OTHERS = "would read other values than the proposed schema writes at"


@pytest.mark.rule("REPLAY-R007")
def test_values_that_change() -> None:
    tally = Tally(rows=5, fields={"b[]": Counts(read=9, changed=2), "a": Counts(read=5)})
    (found,) = said({PROPOSED: tally})
    assert (found.rule, found.severity) == ("REPLAY-R007", Severity.WARNING)
    assert found.message == (
        "the proposed schema reads other values than were written at 'b[]' (2 of 9 values), "
        "without an error"
    )


def test_a_message_that_is_one_value_changes_itself() -> None:
    (found,) = said({PROPOSED: Tally(rows=5, fields={"": Counts(read=5, changed=1)})})
    assert found.message.endswith("at the message itself (1 of 5 values), without an error")


@pytest.mark.parametrize("gates", [True, False])
def test_values_that_change_on_the_way_through_the_new_schema(*, gates: bool) -> None:
    reader = replace(REPLAY.readers[1], gates=gates)
    tally = Tally(rows=5, fields={"a": Counts(read=5, changed=5)})
    found = said({Key(TOPIC, 0, "v0", "forward"): tally}, replace(REPLAY, readers=(reader,)))
    assert [one.rule for one in found] == (["REPLAY-R007"] if gates else [])
    if gates:
        assert found[0].message.startswith(f"v0 {_OTHERS} 'a' (5 of 5 values)")


def test_readers_with_the_same_outcome_are_one_finding_that_has_each() -> None:
    old = REPLAY.readers[1]
    readers = tuple(replace(old, name=name, gates=True) for name in ("a", "b", "c", "d", "e"))
    tally = Tally(rows=5, fields={"x": Counts(read=5, changed=5)})
    other = Tally(rows=5, fields={"y": Counts(read=5, changed=5)})
    tallies = {Key(TOPIC, 0, one.name, "forward"): tally for one in readers}
    tallies[Key(TOPIC, 0, "c", "forward")] = other
    many, single = said(tallies, replace(REPLAY, readers=readers))
    assert many.message.startswith(f"a, b, d and e {_OTHERS} 'x' (5 of 5 values)")
    assert [one.message.split(" would")[0] for one in many.members] == ["a", "b", "d", "e"]
    assert single.message.startswith(f"c {_OTHERS} 'y' (5 of 5 values)")


@pytest.mark.rule("REPLAY-R010")
def test_a_sensitive_field_that_no_definition_has() -> None:
    fields = [{"name": "email", "type": "string"}, {"name": "id", "type": "long"}]
    record = {"type": "record", "name": "Order", "fields": fields}
    schema = SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(record))
    names = ("email", "Email", "customer.phone")
    places = tuple(Location(file=FILE, line=7, column=at) for at in (30, 37, 44))
    topic = replace(
        REPLAY,
        versions={},
        proposed=schema,
        readers=(replace(REPLAY.readers[0], schema=schema),),
        samples=(replace(sample(7), sensitive=names, sensitive_at=places),),
    )
    (found,) = said({PROPOSED: Tally(rows=5)}, topic)
    assert (found.rule, found.severity) == ("REPLAY-R010", Severity.WARNING)
    assert found.message == (
        "no definition has the sensitive fields 'Email', 'customer.phone': no value of this topic "
        "is shown until they are corrected"
    )
    assert found.location == places[1]
    assert found.hint == "for 'Email', did you mean email?"


def test_where_no_definition_says_its_fields_any_may_be_sensitive() -> None:
    topic = replace(REPLAY, samples=(replace(sample(7), sensitive=("email",)),))
    assert not said({PROPOSED: Tally(rows=5)}, topic)


@pytest.mark.rule("REPLAY-R008")
def test_an_interruption() -> None:
    (found,) = said({PROPOSED: Tally(rows=5)}, complete=False)
    assert (found.rule, found.severity) == ("REPLAY-R008", Severity.WARNING)


def test_each_sample_has_a_limit_of_its_own() -> None:
    lenient = replace(REPLAY, samples=(sample(7, 5), sample(8)))
    found = said(
        {
            PROPOSED: failing(50, 5),
            Key(TOPIC, 0, "proposed", sample=1): failing(50, 1),
        },
        lenient,
    )
    assert [(one.rule, one.location and one.location.line) for one in found] == [
        ("REPLAY-R006", 7),
        ("REPLAY-R001", 8),
    ]


def test_versions_count_together_against_the_limit() -> None:
    lenient = replace(REPLAY, samples=(sample(7, 5),))
    (found,) = said({PROPOSED: failing(50, 3), Key(TOPIC, 1, "proposed"): failing(50, 3)}, lenient)
    assert found.rule == "REPLAY-R001"
    assert found.message.startswith("6 of 100 sample messages")


def test_many_reasons_are_counted() -> None:
    (found,) = said({PROPOSED: failing(50, 10, "a", "b", "c", "d", "e")})
    assert found.message.endswith("a at 'a' (2), b at 'a' (2), c at 'a' (2) and 2 more")


def test_good_messages_need_no_words() -> None:
    assert said({PROPOSED: Tally(rows=5, fields={"a": Counts(read=5, promoted=5)})}) == []


@pytest.mark.parametrize(
    ("failed", "rows", "limit", "above"),
    [
        (0, 0, 0, False),
        (1, 1, 0, True),
        (1, 1, 1.0, False),
        (1, 3, 0.5, False),
        (2, 3, 0.5, True),
        (29, 100, 0.29, False),
        (30, 100, 0.29, True),
        (1, 100_000, 1e-05, False),
    ],
)
def test_limits(failed: int, rows: int, limit: float, above: bool) -> None:  # noqa: FBT001
    assert is_above(failed, rows, limit) is above
