"""The root message of an envelope, found or refused as a Pulsar 4.0.7 broker does.

Each expectation was seen with the broker's own classes.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import check_latest
from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaType
from gitops.schemas.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError
from gitops.schemas.protobuf_native.root_message import root_message
from gitops.schemas.protobuf_native.wire_format import is_descriptor_set
from gitops.schemas.row import InvalidSchemaDataError
from gitops.schemas.strategies import End, LabelledSchema
from gitops.schemas.types import TYPES
from tests.oracle.protobuf_native_cases import Pair, encode

_A: Pair = (4, [(1, b"A")])
_INT32 = 5
_STRING = 9
_MESSAGE = 11
_ENUM = 14


def _file(*pairs: Pair, name: bytes = b"a.proto", package: bytes = b"p") -> Pair:
    return 1, [(1, name), (2, package), *pairs]


def _envelope(*files: Pair, root: str = "p.A", damage: bytes = b"") -> bytes:
    return _around(encode(list(files)) + damage, root)


def _around(data: bytes, root: str) -> bytes:
    return json.dumps(
        {
            "fileDescriptorSet": base64.b64encode(data).decode(),
            "rootMessageTypeName": root,
            "rootFileDescriptorName": "a.proto",
        }
    ).encode()


def _field(*pairs: Pair, name: bytes = b"f", number: int = 1) -> Pair:
    return 2, [(1, name), (3, number), *pairs]


def _fields(*fields: Pair) -> bytes:
    value: Pair = (2, [(1, b"V"), (2, 0)])
    return _envelope(_file((4, [(1, b"A"), *fields]), (5, [(1, b"E"), value])))


@pytest.mark.parametrize(
    ("root", "full_name"),
    [
        ("p.A", "p.A"),
        ("A", "p.A"),
        ("p.A.B", "p.A.B"),
        ("p.A.", "p.A"),
        ("pA", "p.A"),
    ],
)
def test_the_full_name_comes_from_the_descriptor(root: str, full_name: str) -> None:
    file = _file((4, [(1, b"A"), (3, [(1, b"B")])]))

    assert root_message(_envelope(file, root=root)) == full_name


@pytest.mark.parametrize("root", ["A.B", ".p.A", "p.B", "", ".", "p.", "p.A..B", "q.A"])
def test_a_name_that_leads_to_no_message_is_refused(root: str) -> None:
    file = _file((4, [(1, b"A"), (3, [(1, b"B")])]))

    with pytest.raises(InvalidEnvelopeError, match="root message"):
        root_message(_envelope(file, root=root))


@pytest.mark.parametrize(("root", "name"), [(".A", "A"), ("A", "A"), (".A.B", "A.B")])
def test_without_a_package_one_dot_is_left_out(root: str, name: str) -> None:
    file = _file((4, [(1, b"A"), (3, [(1, b"B")])]), package=b"")

    assert root_message(_envelope(file, root=root)) == name


def test_a_name_that_is_not_given_is_refused() -> None:
    with pytest.raises(InvalidEnvelopeError, match="rootMessageTypeName"):
        root_message(_envelope(_file(_A)).replace(b'"p.A"', b"null"))


def test_a_dot_of_the_package_is_any_character() -> None:
    assert root_message(_envelope(_file(_A, package=b"p.q"), root="pxq.A")) == "p.q.A"


@pytest.mark.parametrize(
    ("package", "root"),
    [(rb"\'", "'.A"), (rb"\u0041", "AA"), (rb"p\.q", "p.q.A"), (rb"\ud800", "A"), (rb"\777", "A")],
)
def test_a_package_may_have_escapes_of_a_regular_expression(package: bytes, root: str) -> None:
    assert root_message(_envelope(_file(_A, package=package), root=root)) == f"{package.decode()}.A"


@pytest.mark.parametrize("package", [b"p+", b"(p", b"p\\", rb"p\q", rb"\u12g4"])
def test_a_package_that_is_more_of_a_regular_expression_is_refused(package: bytes) -> None:
    with pytest.raises(InvalidEnvelopeError, match="not a package"):
        root_message(_envelope(_file(_A, package=package), root="A"))


@pytest.mark.parametrize(
    "field",
    [
        _field((5, _INT32), (7, b"0x1F")),
        _field((5, _INT32), (7, b"-2147483648")),
        _field((5, 1), (7, b" 1.5f ")),
        _field((5, 12), (7, rb"\777\x1\U0010FFFF")),
        _field((6, b".p.A")),
        _field((6, b"A"), (5, _MESSAGE)),
        _field((6, b"E"), (7, b"V")),
        _field((5, _INT32), (4, 3), (8, [(2, 1)])),
        _field((5, _INT32), number=2**29),
    ],
)
def test_a_field_that_fits(field: Pair) -> None:
    assert root_message(_fields(field)) == "p.A"


@pytest.mark.parametrize(
    "field",
    [
        _field(),
        _field((5, 19)),
        _field((5, _INT32), number=0),
        _field((5, _INT32), number=-1),
        _field((5, _INT32), name=b""),
        _field((5, _INT32), name=b"1a"),
        _field((5, _INT32), name="é".encode()),
        _field((5, _INT32), (6, b".p.A")),
        _field((5, _MESSAGE)),
        _field((5, _MESSAGE), (6, b"E")),
        _field((5, _ENUM), (6, b"A")),
        _field((5, _ENUM), (6, b"nope")),
        _field((6, b"E"), (7, b"W")),
        _field((6, b"A"), (7, b"x")),
        _field((5, _INT32), (4, 3), (7, b"1")),
        _field((5, _INT32), (7, b"2147483648")),
        _field((5, _INT32), (7, b"08")),
        _field((5, 13), (7, b"-1")),
        _field((5, 1), (7, b"1_0")),
        _field((5, 12), (7, rb"\x")),
        _field((5, 12), (7, rb"\ud800")),
        _field((5, _INT32), (8, [(2, 1)])),
        _field((5, _STRING), (4, 3), (8, [(2, 1)])),
        _field((5, _INT32), (9, 0)),
        _field((5, _INT32), (2, b".p.A")),
        _field((5, _INT32), (8, [(999, [(2, [(1, b"x")])])])),
    ],
)
def test_a_field_that_does_not_fit(field: Pair) -> None:
    with pytest.raises(InvalidEnvelopeError):
        root_message(_fields(field))


@pytest.mark.parametrize(
    "pairs",
    [
        [_A, _A],
        [_A, (5, [(1, b"E")])],
        [_A, (10, 0)],
        [_A, (6, [(1, b"S"), (2, [(1, b"m"), (2, b"A"), (3, b"nope")])])],
        [_A, (7, [(1, b"x"), (3, 100), (5, 5), (2, b".p.A")])],
        [(4, [(1, b"A"), _field((5, 5)), _field((5, 5), name=b"g")])],
        [(4, [(1, b"A"), (7, [(1, 1)]), _field((5, 5))])],
        [(4, [(1, b"A"), _field((5, 5), (9, 0), (17, 1)), (8, []), (8, [])])],
    ],
)
def test_a_file_that_does_not_link(pairs: list[Pair]) -> None:
    with pytest.raises(InvalidEnvelopeError):
        root_message(_envelope(_file(*pairs)))


def test_a_message_may_have_the_extensions_that_it_declares() -> None:
    message: Pair = (4, [(1, b"A"), (5, [(1, 100), (2, 101)])])
    extension: Pair = (7, [(1, b"x"), (3, 100), (5, 5), (2, b"A")])

    assert root_message(_envelope(_file(message, extension))) == "p.A"


def test_a_type_is_seen_through_public_imports_only() -> None:
    names = _file((4, [(1, b"N")]), name=b"n.proto")
    hidden = _file((3, b"n.proto"), name=b"h.proto")
    shown = _file((3, b"n.proto"), (10, 0), name=b"h.proto")
    root = _file((3, b"h.proto"), (4, [(1, b"A"), _field((6, b".p.N"))]))

    assert root_message(_envelope(root, shown, names)) == "p.A"
    with pytest.raises(InvalidEnvelopeError, match="not defined"):
        root_message(_envelope(root, hidden, names))


def test_an_import_that_is_missing_is_refused() -> None:
    with pytest.raises(InvalidEnvelopeError, match=r"b\.proto"):
        root_message(_envelope(_file(_A, (3, b"b.proto"))))


def test_the_last_of_two_files_with_one_name_counts() -> None:
    assert root_message(_envelope(_file((4, [(1, b"B")])), _file(_A))) == "p.A"


def test_imports_in_a_circle_are_a_server_error() -> None:
    data = _envelope(_file(_A, (3, b"b.proto")), _file((3, b"a.proto"), name=b"b.proto"))
    schema = StoredSchema(type=SchemaType.PROTOBUF_NATIVE, data=data)
    other = StoredSchema(type=SchemaType.PROTOBUF_NATIVE, data=_envelope(_file(_A)))

    for envelope in (data, data.replace(b'"p.A"', b"null")):
        with pytest.raises(EndlessImportsError):
            root_message(envelope)
    with pytest.raises(InvalidSchemaDataError) as refused:
        TYPES.validate(schema)
    assert refused.value.status == 500
    outcome = check_latest(
        LabelledSchema("v0", schema),
        LabelledSchema("candidate", other),
        SchemaCompatibilityStrategy.FULL,
        PULSAR_4_0,
    )
    assert outcome.end is End.OVERFLOWED


@pytest.mark.slow
def test_a_long_chain_of_imports_and_a_deep_package_are_endless() -> None:
    chain = [_file((3, b"%d" % (n + 1)), name=b"%d" % n) for n in range(3000)]
    deep = _file(_A, package=b".".join([b"p"] * 9000))

    for files in ([_file((3, b"0")), *chain], [deep]):
        with pytest.raises(EndlessImportsError):
            root_message(_envelope(*files))


def test_always_incompatible_reads_what_it_refuses() -> None:
    broken = StoredSchema(type=SchemaType.PROTOBUF_NATIVE, data=b"{}")
    good = StoredSchema(type=SchemaType.PROTOBUF_NATIVE, data=_envelope(_file(_A)))
    strategy = SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE

    outcome = check_latest(
        LabelledSchema("v0", broken), LabelledSchema("candidate", good), strategy, PULSAR_4_0
    )

    assert outcome.end is End.CRASHED


@pytest.mark.parametrize(
    "damage",
    [b"\x0b", b"\x0c", b"\x0b\x14", b"\x0a\x05", b"\x0e", b"\x00", b"\x80", b"\x08" + b"\xff" * 10],
)
def test_a_set_that_is_no_set(damage: bytes) -> None:
    with pytest.raises(InvalidEnvelopeError, match="not a FileDescriptorSet"):
        root_message(_envelope(_file(_A), damage=damage))


@pytest.mark.parametrize("known", [b"\x10\x01", b"\x13\x0b\x0c\x14", b"\x12\x01x", b"\x15abcd"])
def test_an_unknown_field_does_no_harm(known: bytes) -> None:
    assert root_message(_envelope(_file(_A), damage=known)) == "p.A"


@pytest.mark.parametrize("depth", [98, 99])
def test_messages_nest_a_hundred_deep(depth: int) -> None:
    message: list[Pair] = [(1, b"A")]
    for _ in range(depth):
        message = [(1, b"A"), (3, message)]
    data = _envelope(_file((4, message)))

    if depth < 99:
        assert root_message(data) == "p.A"
    else:
        with pytest.raises(InvalidEnvelopeError, match="too deep"):
            root_message(data)


@pytest.mark.slow
def test_a_set_that_costs_too_much_is_refused() -> None:
    package = b"p" * 1_000_000
    messages: list[Pair] = [(4, [(1, b"M%d" % n)]) for n in range(300)]

    with pytest.raises(InvalidEnvelopeError, match="too large"):
        root_message(_envelope(_file(_A, *messages, package=package)))


def test_what_is_said_of_a_long_name_is_short() -> None:
    with pytest.raises(InvalidEnvelopeError) as refused:
        root_message(_envelope(_file(_A, (3, b"x" * 100_000))))

    assert len(str(refused.value)) < 1000


def test_descriptors_of_protoc(tmp_path: Path) -> None:
    protoc = pytest.importorskip("grpc_tools.protoc", reason="grpcio-tools is not installed")
    (tmp_path / "money.proto").write_text(
        'syntax = "proto3"; package shop; message Money { int64 units = 1; }'
    )
    (tmp_path / "a.proto").write_text(
        """syntax = "proto2"; package shop.orders; import "money.proto";
        message Order { extensions 100 to 199; optional Money total = 1; repeated Line lines = 2;
          message Line { optional string sku = 1 [default = "none"]; map<string, int32> n = 2;
            oneof of { double price = 3; Kind kind = 4; } }
          enum Kind { GOODS = 0; SERVICE = 1; } }
        extend Order { optional Order.Kind kind = 100 [default = SERVICE]; }
        service Orders { rpc Get(Order) returns (stream Order.Line); }"""
    )
    out = tmp_path / "set.bin"
    arguments = [f"-I{tmp_path}", "--include_imports", f"--descriptor_set_out={out}", "a.proto"]
    assert protoc.main(["protoc", *arguments]) == 0

    data = _around(out.read_bytes(), "shop.orders.Order.Line")

    assert root_message(data) == "shop.orders.Order.Line"


def test_a_set_without_imports_names_the_option_of_protoc(tmp_path: Path) -> None:
    protoc = pytest.importorskip("grpc_tools.protoc", reason="grpcio-tools is not installed")
    (tmp_path / "money.proto").write_text('syntax = "proto3"; message Money { int64 units = 1; }')
    text = 'syntax = "proto3"; import "money.proto"; message Order { Money total = 1; }'
    (tmp_path / "a.proto").write_text(text)
    out = tmp_path / "set.bin"
    arguments = ["protoc", f"-I{tmp_path}", f"--descriptor_set_out={out}", "a.proto"]
    assert protoc.main(arguments) == 0
    message = (
        "the descriptor set lacks 'money.proto', which 'a.proto' imports: make it with "
        "`protoc --include_imports`"
    )

    assert is_descriptor_set(out.read_bytes())
    with pytest.raises(InvalidEnvelopeError) as error:
        root_message(_around(out.read_bytes(), "Order"))
    assert str(error.value) == message
    assert protoc.main([*arguments[:-1], "--include_imports", "a.proto"]) == 0
    assert root_message(_around(out.read_bytes(), "Order")) == "Order"


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\nO\n", b'{"a": 1}', b"\n\nx.proto\n", b"x\n.proto"]
)
def test_other_files_are_no_sets(data: bytes) -> None:
    assert not is_descriptor_set(data)


@given(st.binary(max_size=200))
def test_any_bytes_as_a_set_are_read_or_refused(data: bytes) -> None:
    try:
        found = root_message(_envelope(_file(_A), damage=data))
    except InvalidEnvelopeError:
        return
    assert found.endswith("A")
