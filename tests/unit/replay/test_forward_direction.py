"""What a reader gets before and after a message is rewritten, field by field."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import Any

import pyarrow
import pytest

from gitops.model.replay import Direction, LogicalTypes
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay import forward_direction
from gitops.replay.counts import ForwardMessage, Key, sorted_result
from gitops.replay.forward_direction import rewrite
from gitops.replay.job import Job
from gitops.replay.kernel.protocol import Kernel, Walk
from gitops.replay.kernel.schema_types import CHOSEN
from tests.support.pairs_kernel import sample, topic_replay

TOPIC = "shop/orders/created"


def avro(*fields: object, name: str = "R") -> SchemaInfo:
    definition = {"type": "record", "name": name, "fields": list(fields)}
    return SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(definition), properties={})


def field(name: str, kind: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def changed(
    written: SchemaInfo, proposed: SchemaInfo, reader: SchemaInfo, *payloads: bytes
) -> dict[str, int]:
    """By path, the values that reach a reader otherwise."""
    replay = topic_replay(
        sample("a"), versions={0: written}, proposed=proposed, forward={"v0": reader}
    )
    chosen = [
        ForwardMessage(number, f"a#{number}", 0, each) for number, each in enumerate(payloads, 1)
    ]
    gathered = rewrite(Job(replays={TOPIC: replay}), TOPIC, 0, chosen)
    key = Key(topic=TOPIC, version=0, reader="v0", direction=Direction.FORWARD.value)
    assert set(gathered.tallies) == {key}
    its = gathered.tallies[key]
    assert (its.rows, its.failed) == (len(payloads), 0)
    return {path: counts.changed for path, counts in its.fields.items() if counts.changed}


def test_the_first_value_that_differs_is_shown_unless_it_is_sensitive() -> None:
    old, new = (avro(*fields) for fields in ([field("x", "int", default=0)], []))
    for sensitive, said in ((), (2, 0)), (("x",), (None, None)):
        replay = topic_replay(
            replace(sample("a"), sensitive=sensitive),
            versions={0: old},
            proposed=new,
            forward={"v0": old},
        )
        job = Job(replays={TOPIC: replay}, show_values=True)
        payloads = (b"\0", b"\6", b"\4")
        chosen = [ForwardMessage(9 - n, f"a#{9 - n}", 0, each) for n, each in enumerate(payloads)]
        (its,) = rewrite(job, TOPIC, 0, chosen).tallies.values()
        example = its.fields["x"].example
        assert example is not None
        assert (example.where, example.reason) == ("a#7", forward_direction.REWRITTEN)
        shown = tuple(None if each is None else str(each) for each in said)
        assert (example.before, example.after) == shown


def test_what_is_rewritten_as_it_was_is_not_changed() -> None:
    fields = (
        field("f", "float"),
        field("u", ["null", "int", "string"]),
        field("m", {"type": "map", "values": {"type": "array", "items": "double"}}),
    )
    nan = struct.pack("<d", float("nan"))
    payload = struct.pack("<f", float("nan")) + b"\x04\x02x" + b"\x02\x02k\x02" + nan + b"\x00\x00"
    assert not changed(avro(*fields), avro(*fields), avro(*fields), payload)


def test_each_value_that_differs_is_counted_at_its_path() -> None:
    line = {"type": "record", "name": "Line"}
    lines = {"type": "array", "items": line | {"fields": [field("n", "long"), field("x", "int")]}}
    less = {"type": "array", "items": line | {"fields": [field("n", "double")]}}
    read = line | {"fields": [field("n", "double"), field("x", "int", default=0)]}
    attrs = {"type": "map", "values": "long"}
    other = {"type": "map", "values": "float"}
    old = avro(field("lines", lines), field("attrs", attrs), field("kept", "int"))
    new = avro(field("lines", less), field("attrs", other), field("kept", "int"))
    reader = avro(
        field("lines", lines | {"items": read}),
        field("attrs", attrs | {"values": "double"}),
        field("kept", "int"),
    )
    large = bytes.fromhex("8280808004")  # 2 ** 29 + 1, which no float can say
    payload = b"\x04" + large + b"\x02" + large + b"\x00\x00" + b"\x04\x02a\x02\x02b" + large
    assert changed(old, new, reader, payload + b"\x00\x02", payload + b"\x00\x04") == {
        "lines[].x": 2,
        "attrs{}": 2,
    }


def test_a_value_that_comes_as_another_branch_is_changed() -> None:
    either = avro(field("u", ["int", "long"]))
    assert changed(either, avro(field("u", "long")), either, b"\x00\x02") == {"u": 1}


def test_a_record_within_itself_has_the_paths_of_the_outermost() -> None:
    node = {"type": "record", "name": "Node"}
    kids = field("kids", {"type": "array", "items": "Node"})
    tag = field(
        "tag", {"type": "record", "name": "Tag", "fields": [field("node", ["null", "Node"])]}
    )
    x = field("x", "int", default=0)
    whole, less = (node | {"fields": fields} for fields in ([x, kids, tag], [kids, tag]))
    old, new = avro(field("tree", whole)), avro(field("tree", less))
    leaf = b"\x02\x00\x00"
    inner = b"\x04" + b"\x04" + leaf + leaf + b"\x00\x02" + leaf
    payload = b"\x02" + b"\x02" + inner + b"\x00\x02" + leaf
    assert changed(old, new, old, payload) == {"tree.x": 6}


def test_what_other_messages_hold_does_not_say_where_a_value_stands() -> None:
    size = {"type": "record", "name": "Size", "fields": [field("x", "long")]}
    either = avro(field("u", [size, {"type": "map", "values": "long"}]))
    rounded = avro(field("u", [size, {"type": "map", "values": "float"}]))
    large = bytes.fromhex("8280808004")  # 2 ** 29 + 1, which no float can say
    of_record, of_map = b"\x00\x02", b"\x02\x02\x02x" + large + b"\x00"
    read = avro(field("u", [size, {"type": "map", "values": "double"}]))
    assert changed(either, rounded, read, of_map) == {"u{}": 1}
    assert changed(either, rounded, read, of_record, of_map) == {"u{}": 1}


class Watched:
    """Kernels whose walks tell how many bytes they were given."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def kernel(self, writer: SchemaInfo, reader: SchemaInfo, how: LogicalTypes) -> Kernel:
        made, sizes = CHOSEN.kernel(writer, reader, how), self.sizes

        class Watching:
            def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
                sizes.append(payloads.nbytes)
                return made.walk(payloads)

        return Watching()


LARGE = {
    "text": field("filled", "string", default="x" * 100_000),
    "items": field("filled", {"type": "array", "items": "int"}, default=[7] * 30_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SchemaType.AVRO, SchemaType.JSON])
@pytest.mark.parametrize("name", LARGE)
def test_large_defaults_are_written_some_at_a_time_and_count_the_same(
    name: str, kind: SchemaType, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = replace(avro(field("n", "long")), type=kind)
    new = replace(avro(field("n", "float"), LARGE[name]), type=kind)
    reader = replace(avro(field("n", "double")), type=kind)
    replay = topic_replay(sample("a"), versions={0: old}, proposed=new, forward={"v0": reader})
    number = "8280808004" if kind is SchemaType.AVRO else b'{"n":536870913}'.hex()
    chosen = [ForwardMessage(at, f"a#{at}", 0, bytes.fromhex(number)) for at in range(12)]
    found, most = [], []
    for limit in (10**8, 250_000, 1):
        watched = Watched()
        job = Job(replays={TOPIC: replay}, kernels=replace(CHOSEN, kernel=watched.kernel))
        monkeypatch.setattr(forward_direction, "MOST_BYTES", limit)
        found.append(sorted_result(rewrite(job, TOPIC, 0, chosen)))
        most.append(max(watched.sizes))
    assert found[0] == found[1] == found[2]
    ((_, tally),) = found[0].tallies.items()
    changed = 12 if kind is SchemaType.AVRO else 0  # JSON's numbers keep all their digits
    assert (tally.rows, tally.fields["filled"].dropped) == (12, 12)
    assert tally.fields["n"].changed == changed
    assert most[0] > most[1] > most[2]
    assert most[1] < 400_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SchemaType.AVRO, SchemaType.JSON])
def test_a_message_that_grows_beyond_what_can_be_sent_is_told_and_never_written(
    kind: SchemaType,
) -> None:
    line = {"type": "record", "name": "Line"}
    lines = {"type": "array", "items": line | {"fields": [field("n", "int")]}}
    filled = field("filled", {"type": "array", "items": "int"}, default=[7] * 100_000)
    more = {"type": "array", "items": line | {"fields": [field("n", "int"), filled]}}
    old, new = (replace(avro(field("lines", one)), type=kind) for one in (lines, more))
    replay = topic_replay(sample("a"), versions={0: old}, proposed=new, forward={"v0": old})
    payload = json.dumps({"lines": [{"n": 1}] * 9_000}).encode()
    if kind is SchemaType.AVRO:
        payload = b"\xd0\x8c\x01" + b"\x02" * 9_000 + b"\0"
    gathered = rewrite(
        Job(replays={TOPIC: replay}), TOPIC, 0, [ForwardMessage(1, "a#1", 0, payload)]
    )
    ((key, tally),) = gathered.tallies.items()
    assert (key.reader, tally.rows, tally.failed) == ("", 1, 1)
    assert tally.failures[0].reason == "the proposed schema makes it larger than 64 MiB"
