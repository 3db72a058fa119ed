"""What `--fix` may not do: give readers other values, or lose a part of a definition."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from random import Random
from typing import Any, Final

import fastavro
import pytest
from fastavro.utils import generate_one
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.json_text import read_json
from tests.support.refusals import FOLDER, RandomSituations, Situation, is_refused, manifest
from tests.support.states import field, info, record

_FILE: Final = f"{FOLDER}/t.avsc"


@pytest.mark.slow
@settings(max_examples=400)
@given(seed=st.integers(0, 2**32))
def test_a_fix_gives_no_reader_other_values_and_loses_nothing(seed: int) -> None:
    situation = _random_situation(seed)
    if situation is None:
        return
    fixed = situation.fixed()
    if _FILE not in fixed.edited:
        return
    before, after = (read_json(text) for text in (_text(situation), _text(fixed)))
    assert not _members(before) - _members(after)
    for version in situation.versions["t"]:
        for message in _messages(json.loads(version.schema)):
            values = [
                _decoded(message, json.loads(version.schema), reader) if _is_valid(reader) else None
                for reader in (before, after)
            ]
            if None not in values:
                assert _agrees(*values), values


def test_the_members_of_a_definition_are_counted() -> None:
    whole = record(field("a", doc="x"), field("b", default=1))
    without = record(field("a"), field("b"))

    assert _members(whole) - _members(without) == Counter({'doc: "x"': 1, "default": 1})
    assert _members(whole) - _members(record(field("a", doc="x"))) == Counter(
        {"field": 1, "default": 1}
    )


def test_a_guessed_rename_is_left_to_the_author() -> None:
    """An alias would give readers values of `berths` where they get the default now."""
    old = record(field("crew", "int"), field("berths", "int"))
    new = record(field("crew", "string"), field("berth", "int", default=0))
    situation = _situation(json.dumps(new), (old,), "BACKWARD")

    fixed = situation.fixed()

    assert not is_refused(fixed.plan())
    assert json.loads(_text(fixed)) == record(
        field("crew", "int"), field("berth", "int", default=0)
    )


def _random_situation(seed: int) -> Situation | None:
    """A change of one Avro definition of which some defaults are spelled as text."""
    random, drawn = Random(seed), RandomSituations(seed).one()  # noqa: S311 - a test's values
    if _FILE not in drawn.files or "AVRO" not in drawn.files[f"{FOLDER}/t.yaml"]:
        return None
    definition = json.loads(drawn.files[_FILE])
    for each in _fields(definition):
        if "default" in each and random.random() < 0.4:
            each["default"] = json.dumps(each["default"])
    return replace(drawn, files={**drawn.files, _FILE: json.dumps(definition, indent=1)})


def _situation(text: str, versions: tuple[Any, ...], strategy: str) -> Situation:
    return Situation(
        files={f"{FOLDER}/t.yaml": manifest("{type: AVRO, definition: t.avsc}"), _FILE: text},
        versions={"t": tuple(map(info, versions))},
        strategy=strategy,
    )


def _text(situation: Situation) -> str:
    edited = situation.edited.get(_FILE)
    return edited.decode() if edited else str(situation.files[_FILE])


def _fields(node: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    for inner in (
        node if isinstance(node, list) else node.values() if isinstance(node, dict) else ()
    ):
        yield from _fields(inner)
    if isinstance(node, dict) and isinstance(node.get("fields"), list):
        yield from (each for each in node["fields"] if isinstance(each, dict))


def _members(definition: Any) -> Counter[str]:  # noqa: ANN401 - JSON
    """How many fields there are, how many have a default, and everything that has no meaning."""
    found: Counter[str] = Counter()
    for each in _fields(definition):
        found["field"] += 1
        found["default"] += "default" in each
        for name in each.keys() - {"name", "type", "default"}:
            found[f"{name}: {json.dumps(each[name])}"] += 1
    return found


def _messages(writer: Any) -> Iterator[bytes]:  # noqa: ANN401 - JSON
    """Some payloads; none of a definition that fastavro does not take."""
    for _ in range(3):
        file = BytesIO()
        try:
            parsed = fastavro.parse_schema(writer, named_schemas={})
            fastavro.schemaless_writer(file, parsed, generate_one(parsed))
        except Exception:  # noqa: BLE001 - of whatever kind: there is no message then
            return
        yield file.getvalue()


def _is_valid(definition: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether Avro for Java takes it: fastavro also takes defaults of another type."""
    try:
        PULSAR_4_0.rules.avro.parse(json.dumps(definition), validate_defaults=True)
    except (AvroParseError, RecursionError):
        return False
    return True


def _decoded(message: bytes, writer: Any, reader: Any) -> Any:  # noqa: ANN401 - JSON
    try:
        written = fastavro.parse_schema(writer, named_schemas={})
        read = fastavro.parse_schema(reader, named_schemas={})
        return fastavro.schemaless_reader(BytesIO(message), written, read)
    except Exception:  # noqa: BLE001 - of whatever kind: this side does not read it
        return None


def _agrees(before: Any, after: Any) -> bool:  # noqa: ANN401
    """Whether both sides got the same; one may have got more fields."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(_agrees(before[name], after[name]) for name in before.keys() & after.keys())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_agrees, before, after))
    if isinstance(before, int | float) and isinstance(after, int | float):
        return (
            math.isclose(before, after, rel_tol=1e-6)
            or before == after
            or (math.isnan(before) and math.isnan(after))
        )
    return bool(before == after)
