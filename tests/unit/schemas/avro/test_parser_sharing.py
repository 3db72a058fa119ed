"""Definitions share what they have in common, and nobody can tell.

A parsed schema is what it would be if no other had been read before; a check that leaves out what
both sides share answers as one that does not.
"""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.schemas.avro import compatibility
from gitops.schemas.avro.compatibility import Readability, can_read
from gitops.schemas.avro.equality import equal
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.resolution import Resolver
from gitops.schemas.avro.schema import Field, Fixed, Record, Schema, Union, facts_of
from tests.support.avro_shapes import shape, whole_key

forget = AVRO_1_11.forget
parse = AVRO_1_11.parse
parse_data = AVRO_1_11.parse_data

_RECORDED: Final = Path(__file__).parents[3] / "conformance" / "generated.jsonl"
_STRUCT: Final = ("AVRO", "JSON", "PROTOBUF")
_CASES: Final = 1200


def _definitions(case: dict[str, Any]) -> list[str]:
    stored = [*case["existing"], case["candidate"]]
    return [one["schema"] for one in stored if one.get("type") in _STRUCT]


def _histories() -> list[list[str]]:
    """The definitions of recorded cases: those of one case are versions of one another."""
    lines = _RECORDED.read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line]
    found = [_definitions(case) for case in cases if case["candidate"]["type"] in _STRUCT]
    return random.Random(0).sample(found, _CASES)  # noqa: S311 - which ones is no secret


@pytest.fixture(autouse=True)
def nothing_read_before() -> None:
    forget()


@pytest.fixture(scope="module")
def histories() -> list[list[str]]:
    return _histories()


def _outcome(text: str, *, validate_defaults: bool = False) -> Hashable:
    """The schema with what is known of it, or every problem."""
    try:
        schema = parse(text, validate_defaults=validate_defaults)
    except AvroParseError as error:
        return error.problems
    facts = facts_of(schema)
    return (shape(schema), facts.has_aliases, facts.refers_back)


def _cold(text: str, *, validate_defaults: bool = False) -> Hashable:
    forget()
    return _outcome(text, validate_defaults=validate_defaults)


@pytest.mark.slow
@pytest.mark.parametrize("validate_defaults", [False, True])
def test_a_definition_is_read_as_if_it_were_the_first(
    histories: list[list[str]], *, validate_defaults: bool
) -> None:
    texts = [text for history in histories for text in history]
    cold = {text: _cold(text, validate_defaults=validate_defaults) for text in set(texts)}
    forget()

    for text in texts:
        assert _outcome(text, validate_defaults=validate_defaults) == cold[text], text


@pytest.mark.slow
def test_threads_that_read_at_once_read_the_same(histories: list[list[str]]) -> None:
    texts = [text for history in histories[:150] for text in history]
    cold = {text: _cold(text) for text in set(texts)}
    forget()
    wrong: list[str] = []

    def read(seed: int) -> None:
        mine = random.Random(seed).sample(texts, len(texts))  # noqa: S311 - an order, no secret
        wrong.extend(text for text in mine if _outcome(text) != cold[text])

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong


def _parsed(text: str) -> Schema | None:
    try:
        return parse(text)
    except AvroParseError:
        return None


def _pairs(histories: list[list[str]]) -> Iterator[tuple[str, str]]:
    for history in histories:
        yield from ((one, other) for one in history for other in history)


def _whole(*, whole: bool) -> Resolver:
    assert whole in (True, False)
    return Resolver(whole=True)


@pytest.mark.slow
def test_a_check_that_skips_what_is_shared_answers_as_one_that_does_not(
    histories: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[tuple[str, str], Readability] = {}
    for writer, reader in _pairs(histories):
        written, read = _parsed(writer), _parsed(reader)
        if written is not None and read is not None:
            found[writer, reader] = can_read(written, read)
    assert any(one.reasons for one in found.values())

    monkeypatch.setattr(compatibility, "Resolver", _whole)
    for (writer, reader), skipped in found.items():
        forget()  # of the two, nothing is shared
        written = parse(writer)
        forget()
        assert can_read(written, parse(reader)) == skipped, (writer, reader)


@pytest.mark.slow
def test_definitions_are_equal_if_all_that_counts_in_either_is(histories: list[list[str]]) -> None:
    """Equality ends at the first difference and leaves out what is shared."""
    answers: Counter[bool] = Counter()
    for one, other in _pairs(histories):
        first, second = _parsed(one), _parsed(other)
        if first is not None and second is not None:
            same = whole_key(first) == whole_key(second)
            assert equal(first, second) is same, (one, other)
            answers[same] += one != other

    assert min(answers[True], answers[False]) > 50, answers


def _record(*fields: dict[str, Any], **members: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps({"type": "record", "name": "R", "fields": fields, **members})


def _fields(text: str) -> tuple[Field, ...]:
    schema = parse(text)
    assert isinstance(schema, Record)
    return schema.all_fields


_A: Final = {"name": "a", "type": {"type": "array", "items": "long"}}
_B: Final = {"name": "b", "type": {"type": "map", "values": "int"}}
_DEFINES: Final = {"name": "d", "type": {"type": "fixed", "name": "F", "size": 4}}
_NAMES: Final = {"name": "n", "type": ["null", "F"]}


def test_definitions_share_the_fields_that_say_the_same_wherever_they_stand() -> None:
    (old,) = _fields(_record(_A))
    new = _fields(_record(_B, _A))

    assert new[1] is old


def test_a_field_in_another_namespace_is_another() -> None:
    (old,) = _fields(_record(_DEFINES))
    (new,) = _fields(_record(_DEFINES, namespace="n"))

    assert isinstance(old.type, Fixed)
    assert isinstance(new.type, Fixed)
    assert (old.type.name, new.type.name) == ("F", "n.F")


def test_a_field_that_names_a_type_from_outside_is_never_shared() -> None:
    before = _fields(_record(_DEFINES, _NAMES))
    wider = {"name": "d", "type": {"type": "fixed", "name": "F", "size": 8}}
    after = _fields(_record(wider, _NAMES))

    assert isinstance(after[1].type, Union)
    assert after[1].type.branches[1] is after[0].type
    assert not before[1].shared
    assert before[0].shared


def test_a_name_is_not_looked_up_where_it_was_before() -> None:
    """The field reads as `F` without a namespace, then as the namespace's own."""
    outer = {"name": "x", "type": {"type": "fixed", "name": "F", "namespace": "", "size": 1}}
    inner = {"name": "y", "type": {"type": "fixed", "name": "n.F", "size": 2}}
    _fields(_record(outer, _NAMES, namespace="n"))
    after = _fields(_record(inner, _NAMES, namespace="n"))

    assert isinstance(after[1].type, Union)
    assert after[1].type.branches[1] is after[0].type


def test_a_known_field_cannot_define_a_type_twice() -> None:
    _fields(_record(_A, _DEFINES))
    twice = _record({**_DEFINES, "name": "e"}, _DEFINES)

    with pytest.raises(AvroParseError) as caught:
        parse(twice)

    assert [(one.kind, one.pointer) for one in caught.value.problems] == [
        ("redefined", "/fields/1/type")
    ]


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0.0, -0.0), ("1", 1)])
def test_properties_that_python_calls_equal_are_not_mixed_up(one: object, other: object) -> None:
    first = _fields(_record({"name": "f", "type": "int", "x": one}))
    second = _fields(_record({"name": "f", "type": "int", "x": other}))

    assert repr(first[0].props) == repr({"x": one})
    assert repr(second[0].props) == repr({"x": other})


def test_an_invalid_default_is_told_again_each_time() -> None:
    text = _record({"name": "f", "type": "int", "default": "x"}, _A)

    for _ in range(2):
        assert parse_data(text.encode()) is parse(text)
        with pytest.raises(AvroParseError, match="default of 'f'"):
            parse_data(text.encode(), validate_defaults=True)


def test_defaults_that_default_to_one_another_are_looked_at_once() -> None:
    def doubling(number: int) -> dict[str, Any]:
        fields = [{"name": name, "type": f"R{number - 1}", "default": {}} for name in "ab"]
        return {"type": "record", "name": f"R{number}", "fields": fields if number else []}

    fields = [{"name": f"f{n}", "type": doubling(n), "default": {}} for n in range(60)]

    parse(_record(*fields), validate_defaults=True)


def test_a_definition_may_nest_as_deep_as_jackson_allows() -> None:
    depth = 990
    kind = '{"type": "array", "items": ' * depth + '"int"' + "}" * depth
    field = f'{{"name": "f", "type": {kind}}}'

    assert parse(f'{{"type": "record", "name": "R", "fields": [{field}]}}').kind == "record"


def test_quotes_in_comments_hide_no_depth() -> None:
    text = '[/*"*/' + "[" * 1000 + "]" * 1000 + '/*"*/]'

    with pytest.raises(AvroParseError, match="deeper than 1000"):
        parse(text)
