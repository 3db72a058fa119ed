"""Protobuf as the classes of Pulsar's Java client read it: verdicts and values."""

from __future__ import annotations

import base64
import json
import math
import os
import secrets
import struct
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.protobuf.definition import message_of
from gitops.replay.kernel.protobuf.rows import read
from gitops.replay.kernel.protobuf.schema_pair import pair
from gitops.replay.kernel.protocol import CountKey, Reason, Unreadable
from gitops.replay.kernel.schema_types import kernel_for
from gitops.repository.writing.proto_files import proto_sources
from gitops.schemas.protobuf_native.descriptors import Type
from gitops.schemas.protobuf_native.schema import Field, Message
from tests.support.command_line import captured
from tests.support.java_program import JavaProgram
from tests.support.proto_rows import broken
from tests.support.proto_wire import ProtoWire
from tests.support.protoc_java import make_java
from tests.support.protos import native
from tests.support.pulsar_class_path import BrokerUnavailableError, class_path

pytestmark = pytest.mark.broker  # no broker is started, but its jars are needed

HERE: Final = Path(__file__).parent
ROWS: Final = 3000
_UNSIGNED: Final = {Type.UINT32: 32, Type.FIXED32: 32, Type.UINT64: 64, Type.FIXED64: 64}
_NAN: Final = "0x7ff8000000000000"

BY_HAND: Final = {
    "an entry without its value": "0801 a20100",
    "an entry of which the value has all that it needs": "0801 a20107 1205 0801 120161",
    "a value in two parts": "0801 a20109 1202 0801 1203 120161",
    "an entry that another one replaces": "0801 a20100 a20107 1205 0801 120161",
    "a required field in two parts": "0801 920302 0801 920303 120161",
    "a required field in one of them only": "0801 920302 0801 920302 0802",
    "a key that is no text": "0801 b20103 0a01ff",
    "a value of a map that is no text": "0801 b20103 1201ff",
    "a key that is no text and is replaced": "0801 b20106 0a01ff 0a0161",
    "a surrogate as text": "0801 1203 eda080",
    "half a character as text": "0801 1203 61e282",
    "a number that a map's enum does not name": "0801 aa0104 0801 1007",
    "the same, replaced in its entry": "0801 aa0106 0801 1007 1005",
    "the same, replacing": "0801 aa0106 0801 1005 1007",
    "the same behind another entry of the key": "0801 aa0104 0801 1005 aa0104 0801 1007",
    "a number that an open enum does not name": "0801 5809",
    "the same, replaced": "0801 5809 5801",
    "the same, packed": "0801 6203 010902",
    "the same in a map": "0801 82020b 09 0100000000000000 1009",
    "a closed enum, packed and apart": "0801 3203 010209 3001 3009 3a03 010902 3802",
    "numbers that are packed against the definition": "0801 2a02 0102 2803 2001 2202 0203",
    "several members of a oneof": "0801 c00201 ca020161 e00201",
    "a member that an unknown number follows": "0801 c00201 e00209",
    "groups": "0801 4b 0801 1002 4c 53 0a0161 54 53 54 db02 1001 dc02",
    "a group that lacks a field": "0801 4b 0801 4c",
    "a group in two parts": "0801 4b 0801 4c 4b 1002 4c",
    "a group without an end": "0801 4b 1002",
    "a group with another one's end": "0801 4b 1002 54",
    "an entry with the end of a group": "0801 b20101 4c",
    "an entry with more than it has": "0801 b20107 0a0161 1801 2201",
    "an entry with a value of another type": "0801 b20102 1001",
    "an extension": "0801 a00601 aa0600",
    "a number of ten bytes": "0801 68 80808080808080808000",
    "the same with a last byte that says too much": "0801 28 8080808080808080807c",
    "the same as an item": "0801 2a0a 80808080808080808000",
    "the same in an entry": "0801 ba010d 08 80808080808080808000 1200",
    "a number of eleven bytes": "0801 68 8080808080808080808000",
    "nothing": "",
}


Answer = dict[str, Any] | None
"""The fields of a message, None where it is refused."""


class Shapes:
    """The messages of the `.proto` files beside this one."""

    def __init__(self, program: JavaProgram, classes: Path) -> None:
        self._program = program
        self.classes = classes
        lines = [json.loads(line) for line in program.run("schema")]
        kind = SchemaType.PROTOBUF_NATIVE
        self.infos = {one["name"]: SchemaInfo(type=kind, schema=one["schema"]) for one in lines}
        self.messages = {name: message_of(info) for name, info in self.infos.items()}

    def read(self, rows: list[tuple[str, bytes]]) -> list[Answer]:
        """Each by the class of that name."""
        lines = [f"{name} {base64.b64encode(one).decode()}\n" for name, one in rows]
        answers = self._program.run("read", lines="".join(lines))
        return [json.loads(line) for line in answers]


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Shapes:
    """The compiled classes; skips where there is no Java or no Maven."""
    try:
        protos = sorted(HERE.glob("*.proto"))
        made = make_java(protos, tmp_path_factory.mktemp("made"))
        source, classes = HERE / "ProtobufScenario.java", tmp_path_factory.mktemp("classes")
        return Shapes(JavaProgram(source, classes, *made), classes)
    except BrokerUnavailableError as error:
        pytest.skip(str(error))


def test_a_proto_file_is_compiled_into_what_the_client_sends(shapes: Shapes) -> None:
    protos = {proto.name: proto.read_bytes() for proto in HERE.glob("*.proto")}
    for name, info in shapes.infos.items():
        assert native(protos, f"{name.lower()}.proto", f"shapes.{name}") == info


def test_a_class_on_a_class_path_has_the_schema_that_its_client_sends(shapes: Shapes) -> None:
    """`schemas extract --java --type PROTOBUF_NATIVE`: a class with an import, and one without."""
    for name in ("Two", "Three"):
        ran = captured(
            "schemas", "extract", "--java", f"shapes.{name}", "--type", "PROTOBUF_NATIVE",
            "--classpath", f"{shapes.classes}{os.pathsep}{class_path()}", "--format", "json",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        found = json.loads(ran.out)
        assert found["type"] == "PROTOBUF_NATIVE"
        assert found["schema"] == shapes.infos[name].schema


def test_what_the_client_sends_is_written_as_proto_files_that_compile_to_it(shapes: Shapes) -> None:
    for info in shapes.infos.values():
        made = proto_sources(info)
        assert native(made.texts, made.file, made.message) == info


def test_messages_made_by_hand_are_read_as_java_reads_them(shapes: Shapes) -> None:
    rows = [("Two", bytes.fromhex(payload)) for payload in BY_HAND.values()]
    ours = [_ours(shapes.messages[name], payload) for name, payload in rows]
    assert dict(zip(BY_HAND, ours, strict=True)) == dict(
        zip(BY_HAND, shapes.read(rows), strict=True)
    )


def test_random_messages_are_read_as_java_reads_them(shapes: Shapes) -> None:
    seed = secrets.randbelow(10**9)
    rows = list(_random_rows(shapes, Random(seed)))  # noqa: S311 - a test's rows
    for (name, payload), theirs in zip(rows, shapes.read(rows), strict=True):
        ours = _ours(shapes.messages[name], payload)
        assert ours == theirs, f"seed {seed}: {name} {payload.hex()}"


def test_a_column_of_them_is_what_its_rows_are(shapes: Shapes) -> None:
    seed = secrets.randbelow(10**9)
    rows = list(_random_rows(shapes, Random(seed)))  # noqa: S311 - a test's rows
    for name, info in shapes.infos.items():
        payloads = [payload for one, payload in rows if one == name]
        walk = kernel_for(info, info).walk(pyarrow.array(payloads, pyarrow.binary()))
        reasons, counts = _by_rows(shapes.messages[name], payloads)
        found = [walk.reasons[v - 1] if v else None for v in walk.verdicts.tolist()]
        assert found == reasons, f"seed {seed}"
        assert walk.counts == counts, f"seed {seed}"


def _random_rows(shapes: Shapes, random: Random) -> list[tuple[str, bytes]]:
    rows: list[tuple[str, bytes]] = []
    for _ in range(ROWS):
        name = random.choice(["Two", "Two", "Three", "Checked"])
        wire = ProtoWire(random, odd=random.choice([0, 0, 0.01, 0.05]))
        payload = wire.message(shapes.messages[name])
        rows.append((name, broken(payload, random) if random.random() < 0.1 else payload))
    return rows


def _ours(message: Message, payload: bytes) -> Answer:
    try:
        return _shown(message, read(pair(message, message), payload)[0])
    except Unreadable:
        return None


def _by_rows(
    message: Message, payloads: list[bytes]
) -> tuple[list[Reason | None], Counter[CountKey]]:
    plan = pair(message, message)
    reasons: list[Reason | None] = []
    counts: Counter[CountKey] = Counter()
    for payload in payloads:
        try:
            counts.update(read(plan, payload)[1])
            reasons.append(None)
        except Unreadable as unreadable:
            reasons.append(unreadable.reason)
    return reasons, counts


def _shown(message: Message, value: dict[str, Any]) -> dict[str, Any]:
    """The fields that are set, as the program prints them; it knows no extensions."""
    return {
        field.name: _shown_field(field, value[field.name])
        for field in message.fields
        if field.name in value and _is_set(field, value[field.name])
    }


def _is_set(field: Field, value: Any) -> bool:  # noqa: ANN401 - any value
    if field.repeated or field.presence:
        return value not in (None, [], {})
    if field.enum is not None:
        return bool(value != field.enum.values[0].name)
    return bool(value) or str(value) == "-0.0"


def _shown_field(field: Field, value: Any) -> Any:  # noqa: ANN401 - any value
    if field.entry is not None:
        key, inner = field.entry.fields
        return {_single(key, name): _single(inner, one) for name, one in value.items()}
    return [_single(field, one) for one in value] if field.repeated else _single(field, value)


def _single(field: Field, value: Any) -> Any:  # noqa: ANN401 - any value
    match value:
        case bool():
            return str(value).lower()
        case float():
            bits = struct.unpack("<Q", struct.pack("<d", value))[0]
            return _NAN if math.isnan(value) else f"0x{bits:x}"
        case bytes():
            return base64.b64encode(value).decode()
        case int():
            bits = _UNSIGNED.get(field.type, 0)  # Java has no unsigned numbers
            return str(value - (1 << bits) if bits and value >> (bits - 1) else value)
        case dict() if field.message is not None:
            return _shown(field.message, value)
        case _:
            return value
