"""Shared types of a whole definition become references to their files again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.repository.definitions.shared_types import SharedTypes
from gitops.repository.file_trees import OverlaidTree
from gitops.repository.tracked_files import TrackedFiles
from gitops.repository.writing.type_references import fold_references
from tests.support.examples import examples
from tests.support.states import field, record
from tests.support.trees import repository

_OWN = "namespaces/a/b/t.avsc"
_NAMES = ("n.A", "n.B", "m.C")


def _same(one: str, other: str) -> bool:
    return bool(json.loads(one) == json.loads(other))


@st.composite
def _shared(draw: st.DrawFn) -> dict[str, str]:
    """Files of records, each of which may name those before it."""
    files: dict[str, str] = {}
    for index, name in enumerate(_NAMES):
        types = st.sampled_from(["int", "string", *_NAMES[:index]])
        fields = [field(f"f{i}", each) for i, each in enumerate(draw(st.lists(types, max_size=3)))]
        space, _, simple = name.rpartition(".")
        made = {"type": "record", "name": simple, "namespace": space, "fields": fields}
        files[f"types/{simple}.avsc"] = json.dumps(made)
    return files


def _whole(files: dict[str, str], names: list[str]) -> str:
    definition = json.dumps(record(*(field(f"x{i}", name) for i, name in enumerate(names))))
    return SharedTypes(TrackedFiles(repository(files))).expand(definition, _OWN).text


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(_shared(), _shared(), st.lists(st.sampled_from(_NAMES), max_size=4))
def test_a_definition_with_references_is_the_whole_one(
    files: dict[str, str], others: dict[str, str], names: list[str]
) -> None:
    text = _whole(others, names)
    tree = repository(files)

    folded = fold_references(text, _OWN, files, tree, _same)

    after = OverlaidTree(tree, {**folded.shared, _OWN: folded.text.encode()})
    assert _same(SharedTypes(TrackedFiles(after)).expand(folded.text, _OWN).text, text)
    assert '"fields"' not in folded.text.replace('"fields"', "", 1)
    if files == others:
        assert folded.shared == {}


def test_a_type_inside_a_file_of_several_is_replaced_there() -> None:
    inner = {"type": "enum", "name": "K", "namespace": "n", "symbols": ["X"]}
    outer = {"type": "record", "name": "R", "namespace": "n", "fields": [field("k", inner)]}
    text = json.dumps(record(field("k", {**inner, "symbols": ["X", "Y"]})))

    folded = fold_references(
        text, _OWN, ["types/r.avsc"], repository({"types/r.avsc": json.dumps(outer)}), _same
    )

    assert json.loads(folded.text) == record(field("k", "n.K"))
    (changed,) = folded.shared.values()
    assert json.loads(changed)["fields"][0]["type"]["symbols"] == ["X", "Y"]


@pytest.mark.parametrize("text", ["{", '"n.A"', "[" * 5000, '{"type": "fixed", "name": "n.A"}'])
def test_what_has_nothing_to_put_back_stays(text: str) -> None:
    tree = repository({"types/a.avsc": '{"type": "fixed", "name": "n.A", "size": 1}'})

    assert fold_references(text, _OWN, ["types/a.avsc"], tree, _same).text == text
