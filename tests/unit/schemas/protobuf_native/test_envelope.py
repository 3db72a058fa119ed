"""The JSON around the descriptors, read as a Pulsar 4.0.7 broker reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.schemas.protobuf_native.envelope import Envelope, read_envelope
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError

_NAMES = '"rootMessageTypeName":"A","rootFileDescriptorName":"a.proto"'


def _set(value: str) -> bytes:
    return read_envelope(f'{{"fileDescriptorSet":{value},{_NAMES}}}'.encode()).file_descriptor_set


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ('""', b""),
        ('"QUJD"', b"ABC"),
        ('"QQ=="', b"A"),
        (r'"QQ\u003d\u003d"', b"A"),
        ('"QQ==QQ=="', b"AA"),
        ('" QUJD\n\\n\x01QUJD "', b"ABCABC"),
        (r'"\u003dQUJD"', b"ABC"),
        (r'"Q\u003dJD"', b"\xff\xe2\x43"),
        ("[65, -1, 255, null]", b"A\xff\xff\x00"),
        ('[1.9, "66", " +7 ", "", "null"]', b"\x01B\x07\x00\x00"),
        ("[]", b""),
    ],
)
def test_a_set_that_jackson_reads(value: str, data: bytes) -> None:
    assert _set(value) == data


@pytest.mark.parametrize(
    "value",
    [
        *('"QQ"', '"Q=="', '"Q UJD"', '"QUJ-"', '"QUJDé"', r'"\q"', r'"Q\u00e9JD"'),
        *("null", "1", "{}", "[256]", "[-129]", "[[]]", "[true]", '["x"]', "[1e99]"),
    ],
)
def test_a_set_that_jackson_refuses(value: str) -> None:
    with pytest.raises(InvalidEnvelopeError):
        _set(value)


_GOOD = f'{{"fileDescriptorSet":"QQ==",{_NAMES}}}'
_ENVELOPE = Envelope(
    file_descriptor_set=b"A", root_message_type_name="A", root_file_descriptor_name="a.proto"
)


@pytest.mark.parametrize(
    "data",
    [
        _GOOD.encode(),
        f"\ufeff \n{_GOOD}".encode(),
        f"{_GOOD} and more".encode(),
        _GOOD.encode() + b"\xff",
        (_GOOD + "[" * 2000).encode(),
        _GOOD.encode("utf-16"),
        _GOOD.encode("utf-16-be"),
        _GOOD.encode("utf-32-le"),
        f'{{"x":{"[" * 999}{"]" * 999},{_GOOD[1:]}'.encode(),
        f'{{"rootMessageTypeName":"B",{_GOOD[1:]}'.encode(),
        b'{"x":"\xc0\x80\xed\xa0\x80",' + _GOOD[1:].encode(),
    ],
)
def test_an_envelope_that_jackson_reads(data: bytes) -> None:
    assert read_envelope(data) == _ENVELOPE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        _GOOD[:-1].encode() + b",}",
        f"/**/{_GOOD}".encode(),
        _GOOD.replace('"A"', '["A"]').encode(),
        _GOOD.replace('"A"', "NaN").encode(),
        _GOOD.replace('"A"', '"A\x01"').encode(),
        f'{{"x":{"[" * 1000}{"]" * 1000},{_GOOD[1:]}'.encode(),
        f'{{"x":{"1" * 1001},{_GOOD[1:]}'.encode(),
        f'{{"fileDescriptorSet":"?",{_GOOD[1:]}'.encode(),
        _GOOD.replace('"a.proto"', "null").encode(),
        b'{"x":"\xff",' + _GOOD[1:].encode(),
        b"\x00\x00{\x00",
    ],
)
def test_an_envelope_that_jackson_refuses(data: bytes) -> None:
    with pytest.raises(InvalidEnvelopeError):
        read_envelope(data)


@pytest.mark.parametrize(("value", "text"), [("1", "1"), ("1.50", "1.50"), ("true", "true")])
def test_numbers_and_booleans_are_names(value: str, text: str) -> None:
    assert read_envelope(_GOOD.replace('"A"', value).encode()).root_message_type_name == text


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with pytest.raises(InvalidEnvelopeError):
        read_envelope(data)


@given(st.text(max_size=30, alphabet='{}[]",:\\u003dQA= \n1e-'), st.integers(0, len(_GOOD)))
def test_any_slip_is_read_or_refused(slip: str, at: int) -> None:
    try:
        found = read_envelope((_GOOD[:at] + slip + _GOOD[at:]).encode())
    except InvalidEnvelopeError:
        return
    assert isinstance(found.file_descriptor_set, bytes)
