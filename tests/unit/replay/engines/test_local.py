"""A replay in this process: what is counted, what is shown, and what cannot be read."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import fastavro
import pyarrow.fs
import pytest

from gitops.model.replay import Sample
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.batch_reader import (
    NO_PAYLOAD,
    NO_SUCH_SCHEMA,
    NO_VERSION,
    OTHER_TOPIC,
    UNKNOWN_VERSION,
)
from gitops.replay.counts import Counts, Key, Tally
from gitops.replay.engines.local import LocalRunner
from gitops.replay.failure_display import MISNAMED, WITHHELD
from gitops.replay.job import RunRequest
from tests.support.pairs_kernel import (
    PAIRS,
    PROPOSED,
    run,
    sample,
    schema,
    topic_replay,
    write_parquet,
)

CREATED = "shop/orders/created"
NOBODY = Key(topic=CREATED, version=None, reader="")


def data(root: Path, **columns: Sequence[object]) -> None:
    write_parquet(root / "samples/a.parquet", 1000, **columns)


def of_file(**other: object) -> Sample:
    return sample("../../../samples/a.parquet", **other)


def test_every_row_is_read_by_the_version_that_it_was_written_with(tmp_path: Path) -> None:
    data(tmp_path, payload=["a=1;b=2", "a=1", "a=x;b=2"], schema_version=[0, 1, 1])
    versions = {0: schema("a b"), 1: schema("a")}
    ran = run(tmp_path, topic_replay(of_file(), versions=versions))
    assert {key.version: (its.rows, its.failed) for key, its in ran.tallies.items()} == {
        0: (1, 0),
        1: (2, 1),
    }
    assert ran.complete
    assert not ran.unread


def test_a_failure_has_path_reason_and_where(tmp_path: Path) -> None:
    data(tmp_path, payload=["a=1", "a=x", "b=1", "a=y"], schema_version=[0] * 4)
    ran = run(tmp_path, topic_replay(of_file()))
    assert [
        (one.path, one.reason, one.rows, [each[:3] for each in one.examples])
        for one in ran.tallies[PROPOSED].failures
    ] == [
        ("a", "is missing", 1, [("samples/a.parquet#3", "is missing", None)]),
        (
            "a",
            "is no number",
            2,
            [
                ("samples/a.parquet#2", "is no number", None),
                ("samples/a.parquet#4", "is no number", None),
            ],
        ),
    ]


def test_the_first_examples_of_a_file_are_kept_in_the_order_of_its_rows(tmp_path: Path) -> None:
    write_parquet(tmp_path / "samples/a.parquet", 3, payload=["a=x"] * 20, schema_version=[0] * 20)
    ran = run(tmp_path, topic_replay(of_file()), examples=11)
    (failed,) = ran.tallies[PROPOSED].failures
    assert [one.where for one in failed.examples] == [
        f"samples/a.parquet#{row}" for row in range(1, 12)
    ]


def test_a_topic_is_known_in_either_domain(tmp_path: Path) -> None:
    names = [f"{domain}://{CREATED}" for domain in ("persistent", "non-persistent")]
    data(tmp_path, payload=["a=1"] * 2, schema_version=[0] * 2, topic=names)
    ran = run(tmp_path, topic_replay(of_file()))
    assert {key: its.rows for key, its in ran.tallies.items()} == {PROPOSED: 2}


def test_what_no_reader_is_asked_about_is_counted(tmp_path: Path) -> None:
    data(
        tmp_path,
        payload=["a=1", None, "a=1", "a=1", "a=1"],
        schema_version=[0, 0, None, 7, 0],
        topic=[None, None, None, None, "shop/orders/cancelled"],
    )
    ran = run(tmp_path, topic_replay(of_file()))
    empty = Key(topic=CREATED, version=0, reader="")
    assert {key: (its.rows, its.failed) for key, its in ran.tallies.items()} == {
        PROPOSED: (1, 0),
        empty: (1, 1),
        NOBODY: (3, 3),
    }
    assert [one.reason for one in ran.tallies[empty].failures] == [NO_PAYLOAD.reason]
    assert {one.reason for one in ran.tallies[NOBODY].failures} == {
        OTHER_TOPIC.reason,
        NO_VERSION.reason,
        UNKNOWN_VERSION.reason,
    }


def test_the_manifest_says_the_version_where_the_data_does_not(tmp_path: Path) -> None:
    data(tmp_path, payload=["a=1"])
    ran = run(tmp_path, topic_replay(of_file(version=0)))
    assert ran.tallies == {PROPOSED: Tally(rows=1, fields=ran.tallies[PROPOSED].fields)}


def test_a_file_of_many_topics_is_read_once_for_all_that_name_it(tmp_path: Path) -> None:
    topics = ["persistent://shop/orders/created", "shop/orders/paid-partition-3", "shop/orders/x"]
    data(tmp_path, payload=["a=1", "a=2", "a=3"], schema_version=[0] * 3, topic=topics)
    done: list[tuple[str, int, int]] = []
    replays = (topic_replay(of_file()), topic_replay(of_file(), topic="shop/orders/paid"))
    running = RunRequest(replays=replays, root=tmp_path)
    ran = LocalRunner(PAIRS).run(running, lambda *each: done.append(each))
    assert {key.topic: its.rows for key, its in ran.tallies.items() if key.reader} == {
        CREATED: 1,
        "shop/orders/paid": 1,
    }
    assert ran.tallies[NOBODY].rows == 1
    assert done == [("reading messages", 3, 3)]


def test_each_sample_of_a_topic_is_counted_by_itself(tmp_path: Path) -> None:
    data(tmp_path, payload=["a=1"], schema_version=[0])
    write_parquet(tmp_path / "samples/b.parquet", payload=["a=1"], schema_version=[0])
    ran = run(tmp_path, topic_replay(of_file(), sample("../../../samples/b.parquet")))
    assert [key.sample for key in ran.tallies] == [0, 1]


def test_a_definition_that_cannot_be_used_fails_every_row(tmp_path: Path) -> None:
    data(tmp_path, payload=["a=1", "a=2"], schema_version=[0, 0])
    ran = run(tmp_path, topic_replay(of_file(), versions={0: schema("?")}))
    tally = ran.tallies[PROPOSED]
    assert (tally.rows, tally.failed) == (2, 2)
    assert tally.failures[0].reason == "a schema cannot be used: a definition with a question mark"


def test_values_are_shown_only_if_asked_for_and_never_sensitive_ones(tmp_path: Path) -> None:
    data(tmp_path, payload=["a=1;b=7", "a=x;b=7"], schema_version=[0, 0])
    versions = {0: schema("b")}
    silent = run(tmp_path, topic_replay(of_file(), versions=versions))
    loud = run(tmp_path, topic_replay(of_file(), versions=versions), show_values=True)
    hidden = run(
        tmp_path, topic_replay(of_file(sensitive=("b",)), versions=versions), show_values=True
    )
    assert [
        one.tallies[PROPOSED].failures[0].examples[0][1:3] for one in (silent, loud, hidden)
    ] == [
        ("is no number", None),
        ("a is x", '{"b": 7}'),
        ("is no number", '{"b": "(sensitive)"}'),
    ]


class TestForward:
    def test_rows_are_rewritten_and_read_by_those_who_do_not_know_the_schema_yet(
        self, tmp_path: Path
    ) -> None:
        data(tmp_path, payload=["a=1;b=2", "a=x;b=2"], schema_version=[0, 0])
        ran = run(
            tmp_path, topic_replay(of_file(), forward={"v0": schema("a b"), "billing": schema("a")})
        )
        forward = {
            key.reader: (its.rows, its.failed)
            for key, its in ran.tallies.items()
            if key.direction == "forward"
        }
        assert forward == {"": (1, 1), "v0": (1, 1), "billing": (1, 0)}

    def test_a_value_that_a_reader_got_before_and_does_not_get_after_is_counted(
        self, tmp_path: Path
    ) -> None:
        data(tmp_path, payload=["a=1", "a=99"], schema_version=[0, 0])
        replay = topic_replay(
            of_file(), proposed=schema("a", most="50"), forward={"v0": schema("a")}
        )
        tally = run(tmp_path, replay).tallies[
            Key(topic=CREATED, version=0, reader="v0", direction="forward")
        ]
        assert (tally.rows, tally.fields["a"].read, tally.fields["a"].changed) == (2, 2, 1)

    def test_no_more_rows_are_rewritten_than_wanted(self, tmp_path: Path) -> None:
        data(tmp_path, payload=["a=1"] * 100, schema_version=[0] * 100)
        replay = topic_replay(of_file(), forward={"v0": schema("a")}, forward_rows=7)
        forward = Key(topic=CREATED, version=0, reader="v0", direction="forward")
        assert run(tmp_path, replay).tallies[forward].rows == 7


@pytest.mark.slow
def test_how_the_data_is_cut_makes_no_difference(tmp_path: Path) -> None:
    payload = [f"a={'x' if row % 7 == 0 else row}" for row in range(1000)]
    found = []
    for size in (1000, 333, 10):
        write_parquet(
            tmp_path / "samples/a.parquet", size, payload=payload, schema_version=[0] * 1000
        )
        replay = topic_replay(of_file(), forward={"v0": schema("a")}, forward_rows=50)
        found.append(run(tmp_path, replay))
    assert found[0] == found[1] == found[2]


def test_a_container_that_no_version_wrote_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    with (tmp_path / "samples/a.avro").open("wb") as file:
        fastavro.writer(file, "string", ["x"])
    ran = run(tmp_path, topic_replay(sample("../../../samples/a.avro", format="avro")))
    assert [one.reason for one in ran.tallies[NOBODY].failures] == [NO_SUCH_SCHEMA.reason]


def test_an_address_that_does_not_open_tells_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_uri: str) -> None:
        raise OSError("no such bucket\nand much more")

    monkeypatch.setattr(pyarrow.fs, "FileSystem", SimpleNamespace(from_uri=refuse))
    ran = run(tmp_path, topic_replay(sample("s3://acme/a.parquet")))
    assert [one.why for one in ran.unread] == ["it cannot be opened: no such bucket"]


def test_ctrl_c_leaves_what_was_done(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_parquet(
            tmp_path / f"samples/{name}.parquet", payload=["a=1"] * 10, schema_version=[0] * 10
        )

    def press(_what: str, _done: int, _total: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    samples = [sample(f"../../../samples/{name}.parquet") for name in ("a", "b")]
    running = RunRequest(replays=(topic_replay(*samples),), root=tmp_path)
    before = signal.getsignal(signal.SIGINT)
    ran = LocalRunner(PAIRS).run(running, press)
    assert not ran.complete
    assert ran.tallies == {PROPOSED: Tally(rows=10, fields={"a": Counts(read=10)})}
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("rows", [0, 1])
def test_a_file_of_few_rows_is_read(tmp_path: Path, rows: int) -> None:
    data(tmp_path, payload=["a=1"] * rows, schema_version=[0] * rows)
    ran = run(tmp_path, topic_replay(of_file()))
    assert sum(its.rows for its in ran.tallies.values()) == rows


AVRO = SchemaInfo(
    type=SchemaType.AVRO,
    schema=(
        '{"type": "record", "name": "R", "fields": [{"name": "kind", "type":'
        ' {"type": "enum", "name": "K", "symbols": ["A", "B"]}}]}'
    ),
)


@pytest.mark.parametrize(
    ("sensitive", "symbols"), [((), {"A": 1, "B": 2}), (("kind",), {}), (("knid",), {})]
)
def test_symbols_are_values_too(
    tmp_path: Path, sensitive: tuple[str, ...], symbols: dict[str, int]
) -> None:
    data(tmp_path, payload=[b"\0", b"\2", b"\2"])
    replay = topic_replay(
        of_file(sensitive=sensitive, version=0), versions={0: AVRO}, proposed=AVRO
    )
    ran = LocalRunner().run(RunRequest(replays=(replay,), root=tmp_path))
    assert ran.tallies[PROPOSED].fields["kind"].symbols == symbols


@pytest.mark.parametrize(
    ("sensitive", "reasons"),
    [
        ((), {"A": 1, "B": 2}),
        (("kind",), {"the symbol": 3}),
        (("knid",), {"the symbol": 3}),
    ],
)
def test_a_reason_names_no_symbol_of_a_sensitive_field(
    tmp_path: Path, sensitive: tuple[str, ...], reasons: dict[str, int]
) -> None:
    data(tmp_path, payload=[b"\0", b"\2", b"\2"])
    without = replace(AVRO, schema=AVRO.schema.replace('["A", "B"]', '["C"]'))
    replay = topic_replay(
        of_file(sensitive=sensitive, version=0), versions={0: AVRO}, proposed=without
    )
    tally = LocalRunner().run(RunRequest(replays=(replay,), root=tmp_path)).tallies[PROPOSED]
    assert {one.reason: (one.rows, len(one.examples)) for one in tally.failures} == {
        f"the reader's enum has neither {symbol} nor a default": (rows, rows)
        for symbol, rows in reasons.items()
    }
    said = [text for one in tally.failures for example in one.examples for text in example[1:]]
    assert all("A" not in str(text) and "B" not in str(text) for text in said) == bool(sensitive)


@pytest.mark.parametrize(("name", "said"), [("kind", WITHHELD), ("knid", MISNAMED)])
def test_a_value_that_is_withheld_says_so(tmp_path: Path, name: str, said: str) -> None:
    data(tmp_path, payload=[b"\0\0"])
    replay = topic_replay(of_file(sensitive=(name,), version=0), versions={0: AVRO}, proposed=AVRO)
    ran = LocalRunner().run(RunRequest(replays=(replay,), root=tmp_path, show_values=True))
    (example,) = ran.tallies[PROPOSED].failures[0].examples
    assert example.value == said


def test_a_decimal_is_shown_as_a_number_unless_it_is_sensitive(tmp_path: Path) -> None:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    price = {"name": "price", "type": decimal}
    written, wanted = (
        SchemaInfo(
            type=SchemaType.AVRO,
            schema=json.dumps({"type": "record", "name": "R", "fields": [price, *more]}),
        )
        for more in ([], [{"name": "more", "type": "int"}])
    )
    data(tmp_path, payload=[b"\x04\x04\xd2"])
    for sensitive, said in (((), '{"price": 12.34}'), (("price",), '{"price": "(sensitive)"}')):
        replay = topic_replay(
            of_file(sensitive=sensitive, version=0), versions={0: written}, proposed=wanted
        )
        ran = LocalRunner().run(RunRequest(replays=(replay,), root=tmp_path, show_values=True))
        (example,) = ran.tallies[PROPOSED].failures[0].examples
        assert example.value == said


def test_a_key_of_its_own_is_read_with_its_value(tmp_path: Path) -> None:
    pair = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema='{"key": "", "value": ""}',
        properties={
            "key.schema.name": "",
            "key.schema.type": "STRING",
            "key.schema.properties": "{}",
            "value.schema.name": "",
            "value.schema.type": "INT32",
            "value.schema.properties": "{}",
            "kv.encoding.type": "SEPARATED",
        },
    )
    data(tmp_path, payload=[b"\0\0\0\1", None, b"\1"], key=[b"k", b"k", None])
    replay = topic_replay(of_file(version=0), versions={0: pair}, proposed=pair)
    ran = LocalRunner().run(RunRequest(replays=(replay,), root=tmp_path))
    tally = ran.tallies[PROPOSED]
    assert (tally.rows, tally.failed) == (3, 1)
    assert tally.failures[0].path == "value"
