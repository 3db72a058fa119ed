"""Definitions that the broker takes once and that then stand in the way of every later one.

Seen with Pulsar 4.0.7: the validator lets them in as the first schema of a topic, and equality or
the checker fails on them from then on, the very same text included, until the topic's schema is
deleted.
"""

from __future__ import annotations

from typing import Final

from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.fields import null_hint
from gitops.schemas.avro.parser import AvroParser
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.recursion import first_loop
from gitops.schemas.avro.schema import Record, Schema, describe
from gitops.schemas.row import Remark

INVALID_DEFAULTS: Final = {
    "AVRO-P002": "Pulsar accepts it as a first schema and then fails on every later one",
    "KV-W003": "Pulsar checks no default in a KEY_VALUE; readers that need it can fail",
}
"""What the rules about a default that does not fit say of it: of a schema, and of half of one."""


def review_defaults(parser: AvroParser, text: str, rule: str) -> tuple[Remark, ...]:
    """Defaults that do not fit, by the rule for a schema or the one for half of a KEY_VALUE."""
    try:
        parser.parse(text, validate_defaults=True)
    except AvroParseError as error:
        return tuple(
            Remark(
                rule=rule,
                message=problem.message,
                pointer=problem.pointer,
                hint=INVALID_DEFAULTS[rule],
            )
            for problem in error.problems
            if problem.kind == "invalid-default"
        )
    except RecursionError:  # without Jackson's limits anything may come
        pass
    return ()


def review_recursion(top: Schema) -> tuple[Remark, ...]:
    """A record that contains itself directly."""
    recursive = first_loop(top)
    if recursive is None:
        return ()
    record, field = recursive
    return (
        Remark(
            rule="AVRO-P003",
            message=f"field '{field.name}' makes {record.name} contain itself with no union, array "
            "or map between: Pulsar accepts it as a first schema, and no other one after it",
            path=field.name,
            pointer=Pointers(top).field(record, field),
            hint=null_hint(field, record),
        ),
    )


def review_top(top: Schema, *, is_half: bool = False) -> tuple[Remark, ...]:
    """A definition whose top is no record, which some clients cannot use.

    Java's AUTO_PRODUCE fails on it before it connects; AUTO_CONSUME reads it, but for a half of a
    KEY_VALUE (Pulsar 4.0.7).
    """
    if isinstance(top, Record):
        return ()
    fail = "Java's AUTO_PRODUCE fails on it before it connects"
    if is_half:
        fail = "Java's AUTO_PRODUCE and AUTO_CONSUME fail on it before they connect"
    return (
        Remark(
            rule="AVRO-W011",
            message=f"the definition is {describe(top)} and no record: {fail}, so that a "
            "replicator or a connector that uses it stops",
            hint="put it into a field of a record",
        ),
    )
