"""Patches of a plan: each is accepted for all topics that use the file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.model.plan import RefusedSchema
from gitops.model.schema import SchemaType
from gitops.planning.plan import make_plan
from gitops.reports.markdown.document import patch_block
from gitops.repository.plan_fixes import add_patches, fixed_files
from tests.support.refusals import (
    FOLDER,
    RandomSituations,
    Situation,
    errors,
    is_refused,
    manifest,
)
from tests.support.states import avro, field, info, pair, record

_ADDRESS = record(field("street"), name="Address", namespace="com.acme")
_NEW_ADDRESS = """\
{"type": "record", "name": "Address", "namespace": "com.acme", "fields": [
  {"name": "street", "type": "string"},
  {"name": "house", "type": "string"}
]}
"""


def _order(address: object = "com.acme.Address") -> dict[str, object]:
    return record(field("id"), field("address", address))


def _shared(
    *topics: str, types: str = _NEW_ADDRESS, strategy: str = "FULL", **files: str
) -> Situation:
    """A shared type in these topics, which the registry has as it was."""
    found = {"types/address.avsc": types}
    for name in topics:
        found[f"{FOLDER}/{name}.yaml"] = manifest(f"{{type: AVRO, definition: {name}.avsc}}")
        found[f"{FOLDER}/{name}.avsc"] = json.dumps(_order())
    versions = {name: (info(_order(_ADDRESS)),) for name in topics}
    return Situation(files=found | files, versions=versions, strategy=strategy)


def _single(new: str, *versions: object, strategy: str = "FULL", kind: str = "AVRO") -> Situation:
    """One topic, with a definition of its own."""
    return Situation(
        files={
            f"{FOLDER}/t.yaml": manifest(f"{{type: {kind}, definition: t.avsc}}"),
            f"{FOLDER}/t.avsc": new,
        },
        versions={"t": tuple(map(avro, versions))},
        strategy=strategy,
    )


def test_a_field_of_a_shared_type_has_the_same_patch_in_every_topic() -> None:
    plan = _shared("a", "b", "c").plan()

    found = errors(plan)
    assert [one.subject for one in found] == [f"shop/orders/{name}" for name in "abc"]
    (patch,) = {one.patch for one in found}
    assert patch.startswith("--- a/types/address.avsc\n")
    assert '\n+  {"name": "house", "type": ["null", "string"], "default": null}\n' in patch
    refused = [one for one in plan.notices if isinstance(one, RefusedSchema)]
    of_notices = [one.patch for notice in refused for one in notice.findings]
    assert of_notices == [patch] * 3


def test_an_edit_that_another_topic_of_the_file_refuses_is_none() -> None:
    """`b` has seen a version whose readers cannot read null."""
    situation = _shared("a", "b", strategy="FULL_TRANSITIVE")
    house = record(field("street"), field("house"), name="Address", namespace="com.acme")
    seen = {**situation.versions, "b": (info(_order(house)), info(_order(_ADDRESS)))}

    found = errors(replace(situation, versions=seen).plan())

    missing = [one for one in found if "has no default" in one.message]
    assert {one.subject[-1] for one in missing} >= {"a"}
    assert not any(one.patch for one in missing)
    assert any(
        one.hint.startswith("consumers on v0 cannot read null: keep the type with its own default")
        for one in missing
    )


@pytest.mark.slow
def test_all_edits_of_a_file_are_made_one_after_the_other_in_its_own_layout() -> None:
    types = _NEW_ADDRESS.replace('"string"}\n]', '"string"},\n  {"name": "zip", "type": "int"}\n]')
    situation = _shared("a", "b", types=types.replace("\n", "\r\n"))

    fixed = situation.fixed()

    assert not is_refused(fixed.plan())
    assert fixed.accepted()
    after = fixed.edited["types/address.avsc"].decode()
    assert after == types.replace("\n", "\r\n").replace(
        '"house", "type": "string"', '"house", "type": ["null", "string"], "default": null'
    ).replace('"zip", "type": "int"', '"zip", "type": ["null", "int"], "default": null')


def test_files_outside_of_a_change_are_left_alone() -> None:
    request = replace(_shared("a").request(), editable=frozenset({f"{FOLDER}/a.avsc"}))
    plan = make_plan(request.plan_input)

    assert not any(one.patch for one in errors(add_patches(plan, request)))
    assert fixed_files(plan, request) == {}


def test_a_type_that_another_file_defines_is_put_back_by_its_name() -> None:
    """The registry has the whole type, and no other file may define it again."""
    situation = _shared("a", types=json.dumps(_ADDRESS))
    own = f"{FOLDER}/a.avsc"
    files = {**situation.files, own: json.dumps(_order("string"))}

    (found,) = {one.patch for one in errors(replace(situation, files=files).plan()) if one.patch}

    assert '{"name": "address", "type": "com.acme.Address"}' in found


def test_a_field_that_is_put_back_has_blanks_as_people_write_them() -> None:
    text = json.dumps(record(field("a")), indent=2)
    old = json.dumps(record(field("a"), field("b", "int")), separators=(",", ":"))
    situation = replace(_single(text), versions={"t": (info(old),)}, strategy="FORWARD")

    (found,) = errors(situation.plan())

    assert '+    {"name": "b", "type": "int"}' in found.patch


@pytest.mark.slow
def test_the_half_of_a_pair_is_edited_in_its_own_file() -> None:
    halves = "key: {type: STRING}, value: {type: AVRO, definition: v.avsc}"
    situation = Situation(
        files={
            f"{FOLDER}/t.yaml": manifest(f"{{type: KEY_VALUE, {halves}}}"),
            f"{FOLDER}/v.avsc": json.dumps(record(field("a", "string"))),
        },
        versions={"t": (pair("", record(field("a", "int")), key_type="STRING"),)},
    )

    patches = {one.patch for one in errors(situation.plan())} - {""}

    assert [patch.split("\n")[1] for patch in patches] == [f"+++ b/{FOLDER}/v.avsc"]
    assert not is_refused(situation.fixed().plan())


def test_a_definition_of_json_has_patches() -> None:
    situation = _single(json.dumps(record(field("a"), field("b"))), kind="JSON")
    versions = {"t": (info(record(field("a")), SchemaType.JSON),)}

    (found,) = errors(replace(situation, versions=versions).plan())

    assert '["null", "string"]' in found.patch


def test_a_plan_without_refusals_reads_nothing() -> None:
    request = _shared("a", types=json.dumps(_ADDRESS)).request()
    plan = make_plan(request.plan_input)
    reads = len(request.tree.reads)  # type: ignore[attr-defined]

    assert add_patches(plan, request) is plan
    assert len(request.tree.reads) == reads  # type: ignore[attr-defined]


@pytest.mark.slow
@settings(max_examples=300)
@given(seed=st.integers(0, 2**32))
def test_every_patch_of_a_random_refusal_is_accepted(seed: int) -> None:
    """The finding is gone after it, nothing new is wrong, and all of them together are accepted."""
    situation = RandomSituations(seed).one()
    before = situation.plan()
    known = {
        (one.rule, one.message, one.subject) for each in errors(before) for one in each.members
    }
    for found in errors(before):
        if found.patch:
            after = situation.with_patch(found.patch).plan()
            left = {(e.rule, e.message, e.subject) for each in errors(after) for e in each.members}
            assert left < known
            assert left.isdisjoint((e.rule, e.message, e.subject) for e in found.members)
    fixed = situation.fixed()
    if fixed.edited and not is_refused(fixed.plan()):
        assert fixed.accepted()


def test_a_patch_of_a_file_with_odd_line_ends_applies() -> None:
    """A line feed alone ends a line for git."""
    types = _NEW_ADDRESS.replace('"name": "Address"', '"doc": "a\u2028b", "name": "Address"')
    situation = _shared("a", types=types.replace("\n", "\r\n"))

    (found,) = errors(situation.plan())

    after = situation.with_patch(found.patch)
    assert not is_refused(after.plan())
    assert after.edited == situation.fixed().edited
    assert "\\r" not in patch_block(found.patch)
