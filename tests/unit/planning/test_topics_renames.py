"""A field that seems renamed is one cause, with both ways to mend it."""

from __future__ import annotations

from gitops.model.findings import Location
from gitops.model.plan import RefusedSchema, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from tests.support.states import avro, field, history
from tests.support.topic_plans import locate, planned


def test_a_rename_that_neither_side_reads_is_one_cause() -> None:
    outcome = planned(avro(field("a"), field("nn")), history(avro(field("a"), field("n"))))

    assert isinstance(outcome, RefusedSchema)
    (found,) = outcome.findings
    assert (found.rule, found.location) == ("AVRO-R002", locate("/fields/1/name"))
    assert found.message == (
        "v0 and the new schema cannot read each other's messages at 'nn': 'n' is gone and 'nn' of "
        "the same type is new, and neither has a default"
    )
    assert found.hint.startswith("if it is a rename, keep 'n' beside 'nn' for a while")
    assert found.compared == Location(file="v0", pointer="/fields/1/name")
    assert [one.message.partition(" at ")[0] for one in found.members] == [
        "the new schema cannot read messages of v0",
        "v0 cannot read messages of the new schema",
    ]


def test_a_rename_that_the_new_schema_alone_cannot_read_is_one_finding() -> None:
    old, new = avro(field("n")), avro(field("nn"))
    outcome = planned(new, history(old), Strategy.BACKWARD)

    assert isinstance(outcome, RefusedSchema)
    (found,) = outcome.findings
    assert found.message.startswith("the new schema cannot read messages of v0 at 'nn'")
    assert found.hint.startswith('if it is a rename, add "aliases": ["n"] to \'nn\'; else give')


def test_a_rename_of_a_field_with_a_default_still_warns() -> None:
    old, new = avro(field("a"), field("n", default="")), avro(field("a"), field("nn", default=""))
    outcome = planned(new, history(old))

    assert isinstance(outcome, RegisterSchema)
    assert [one.rule for one in outcome.findings] == ["AVRO-W006"]
