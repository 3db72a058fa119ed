"""Classes with typed fields as Avro: each type, defaults, names, and values that it encodes."""

from __future__ import annotations

import dataclasses
import io
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, ClassVar, Final, Literal, NewType
from uuid import UUID, uuid4

import fastavro
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.extraction.avro_definition import class_definition
from gitops.extraction.avro_types import Avro
from gitops.model.errors import UsageError

Number = NewType("Number", int)


class Colour(Enum):
    RED = "r"
    GREEN = "g"


@dataclass
class Point:
    x: float = 0
    y: float = 1.5


def avro_of(annotation: object, default: object = dataclasses.MISSING, **options: bool) -> Any:  # noqa: ANN401 - Avro
    """The field of a class with this one, as JSON."""
    factory = field(default_factory=default) if isinstance(default, type) else default
    more = () if default is dataclasses.MISSING else (factory,)
    made = dataclasses.make_dataclass("Made", [("it", annotation, *more)])
    flags = {"always_allow_null": False, "jsr310": False} | options
    content: Any = class_definition(made, **flags).content
    return {key: value for key, value in content["fields"][0].items() if key != "name"}


COLOUR: Final = {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}
DECIMAL: Final = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
MICROS: Final = {"type": "long", "logicalType": "timestamp-micros"}


@pytest.mark.parametrize(
    ("annotation", "avro"),
    [
        (str, "string"),
        (bytes, "bytes"),
        (bool, "boolean"),
        (int, "long"),
        (Number, "long"),
        (float, "double"),
        (Annotated[int, "INT32"], "int"),
        (Annotated[float, "FLOAT"], "float"),
        (Annotated[Decimal, "DECIMAL(9, 2)"], DECIMAL),
        (Annotated[Decimal, pydantic.Field(max_digits=9, decimal_places=2)], DECIMAL),
        (datetime, MICROS),
        (date, {"type": "int", "logicalType": "date"}),
        (time, {"type": "int", "logicalType": "time-millis"}),
        (UUID, {"type": "string", "logicalType": "uuid"}),
        (Literal["a", "b"], "string"),
        (pydantic.HttpUrl, "string"),
        (Colour, COLOUR),
        (list[int], {"type": "array", "items": "long"}),
        (set[str], {"type": "array", "items": "string"}),
        (tuple[int, ...], {"type": "array", "items": "long"}),
        (dict[str, list[Colour]], {"type": "map", "values": {"type": "array", "items": COLOUR}}),
        (int | str, ["long", "string"]),
        (list[int | None], {"type": "array", "items": ["long", "null"]}),
    ],
)
def test_a_type_of_python_is_one_of_avro(annotation: object, avro: Avro) -> None:
    assert avro_of(annotation) == {"type": avro}


@pytest.mark.parametrize(
    ("annotation", "default", "expected"),
    [
        (str, "x", {"type": "string", "default": "x"}),
        (str | None, None, {"type": ["null", "string"], "default": None}),
        (str | None, "x", {"type": ["string", "null"], "default": "x"}),
        (int | str, "x", {"type": ["string", "long"], "default": "x"}),
        (float, 0, {"type": "double", "default": 0.0}),
        (bytes, b"\x01\xff", {"type": "bytes", "default": "\x01\xff"}),
        (Colour, Colour.GREEN, {"type": COLOUR, "default": "GREEN"}),
        (list[int], list, {"type": {"type": "array", "items": "long"}, "default": []}),
        (datetime, datetime(1970, 1, 2, tzinfo=UTC), {"type": MICROS, "default": 86_400_000_000}),
        (
            Annotated[Decimal, "DECIMAL(9, 2)"],
            Decimal("-1.25"),
            {"type": DECIMAL, "default": "\x83"},
        ),
        (
            time,
            time(0, 0, 1),
            {"type": {"type": "int", "logicalType": "time-millis"}, "default": 1000},
        ),
    ],
)
def test_a_default_is_one_of_the_first_type(
    annotation: object, default: object, expected: dict[str, Avro]
) -> None:
    assert avro_of(annotation, default) == expected


def test_a_union_with_null_has_null_as_its_default_as_in_java() -> None:
    assert avro_of(str | None) == {"type": ["null", "string"], "default": None}


def test_always_allow_null_is_for_all_but_numbers_and_booleans() -> None:
    assert avro_of(str, always_allow_null=True) == {"type": ["null", "string"], "default": None}
    assert avro_of(int, always_allow_null=True) == {"type": "long"}


def test_jsr310_has_times_in_milliseconds() -> None:
    assert avro_of(datetime, jsr310=True)["type"]["logicalType"] == "timestamp-millis"


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (object, dataclasses.MISSING),
        (Any, dataclasses.MISSING),
        (Decimal, dataclasses.MISSING),
        (dict[int, str], dataclasses.MISSING),
        (tuple[int, str], dataclasses.MISSING),
        (int, "x"),
        (Annotated[int, "INT32"], 2**31),
        (float, float("nan")),
        (int, True),
    ],
)
def test_what_avro_does_not_have_is_an_error_at_its_field(
    annotation: object, default: object
) -> None:
    with pytest.raises(UsageError) as raised:
        avro_of(annotation, default)
    assert raised.value.where.endswith("Made.it")
    assert raised.value.hint


@dataclass(kw_only=True)
class Tree:
    _avro_namespace: ClassVar[str] = "acme"
    at: Point = field(default_factory=Point)
    parent: Tree | None = None
    key: UUID = field(default_factory=uuid4)


def test_a_class_is_defined_once_and_a_default_of_a_function_is_a_note() -> None:
    definition = class_definition(Tree, always_allow_null=False, jsr310=False)
    content: Any = definition.content
    at, parent, key = content["fields"]
    assert (content["name"], content["namespace"]) == ("Tree", "acme")
    assert at["default"] == {"x": 0.0, "y": 1.5}
    assert parent == {"name": "parent", "type": ["null", "Tree"], "default": None}
    assert "default" not in key
    assert [note.partition(" ")[0].rpartition(".")[2] for note in definition.notes] == ["key"]
    assert definition.classes == {"acme.Tree": Tree, "acme.Point": Point}


def test_two_classes_of_one_name_are_an_error() -> None:
    other = dataclasses.make_dataclass("Point", [("z", int)])
    both = dataclasses.make_dataclass("Both", [("a", Point), ("b", other)])
    with pytest.raises(UsageError, match="two classes have the name Point in Avro"):
        class_definition(both, always_allow_null=False, jsr310=False)


@dataclass
class Everything:
    text: str
    data: bytes
    flag: bool
    small: Annotated[int, "INT32"]
    large: int
    real: float
    price: Annotated[Decimal, "DECIMAL(9, 2)"]
    moment: datetime
    day: date
    hour: time
    key: UUID
    colour: Colour
    point: Point
    note: str | None
    either: int | str | None
    points: list[Point]
    counts: dict[str, int]


_NUMBERS: Final = st.integers(-(2**63), 2**63 - 1)
_POINTS: Final = st.builds(Point, x=st.floats(allow_nan=False), y=st.floats(allow_nan=False))
VALUES: Final = st.builds(
    Everything,
    small=st.integers(-(2**31), 2**31 - 1),
    large=_NUMBERS,
    real=st.floats(allow_nan=False),
    price=st.decimals(-9_999_999, 9_999_999, places=2),
    moment=st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds are naive
    hour=st.times().map(lambda one: one.replace(microsecond=one.microsecond // 1000 * 1000)),
    key=st.uuids(),
    point=_POINTS,
    either=st.none() | _NUMBERS | st.text(),
    points=st.lists(_POINTS, max_size=3),
    counts=st.dictionaries(st.text(), _NUMBERS, max_size=3),
)
"""Values with the precision that Avro has: milliseconds in a time, as Pulsar's Java client."""


@pytest.mark.slow
@given(value=VALUES)
def test_values_of_a_class_are_encoded_and_decoded_with_its_schema(value: Everything) -> None:
    definition = class_definition(Everything, always_allow_null=False, jsr310=False)
    schema = fastavro.parse_schema(json.loads(json.dumps(definition.content)))
    plain = _plain(dataclasses.asdict(value))
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, plain)
    stream.seek(0)
    assert fastavro.schemaless_reader(stream, schema, None) == plain


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.name if isinstance(value, Enum) else value
