"""AVRO-*: definitions of AVRO and JSON, and what becomes of them.

P: a definition that Pulsar would not take, or would regret. R: why it refuses a change. W: what it
takes although readers would suffer from it.
"""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule

AVRO_DEFINITION_RULES: Final = (
    Rule(id="AVRO-P001", title="not a valid Avro definition", severity=Severity.ERROR),
    Rule(id="AVRO-P002", title="invalid default", severity=Severity.ERROR),
    Rule(id="AVRO-P003", title="a record that can never evolve", severity=Severity.ERROR),
    Rule(id="JSON-P001", title="a JSON schema in Jackson's form", severity=Severity.ERROR),
    Rule(id="AVRO-W020", title="logicalType that Avro ignores", severity=Severity.WARNING),
    Rule(id="AVRO-W021", title="member that Avro ignores", severity=Severity.WARNING),
    Rule(id="AVRO-W022", title="member that is given twice", severity=Severity.WARNING),
)


def _resolution(number: int, title: str) -> Rule:
    """What the broker answers is not a matter of configuration."""
    rule = f"AVRO-R{number:03}"
    return Rule(id=rule, title=title, severity=Severity.ERROR, configurable=False)


AVRO_RESOLUTION_RULES: Final = (
    _resolution(1, "the reader's type cannot read the writer's"),
    _resolution(2, "a reader field has no default"),
    _resolution(3, "no branch of the reader's union fits"),
    _resolution(4, "the names of two enums or fixed types differ"),
    _resolution(5, "the sizes of two fixed types differ"),
    _resolution(6, "a record contains itself directly"),
    _resolution(7, "a default that a reader needs cannot be used"),
    _resolution(8, "aliases make the writer invalid"),
)


def _avro_change(number: int, title: str) -> Rule:
    return Rule(id=f"AVRO-W{number:03}", title=title, severity=Severity.WARNING)


AVRO_CHANGE_RULES: Final = (
    _avro_change(1, "an enum loses symbols"),
    _avro_change(2, "an enum gets symbols that consumers do not know"),
    _avro_change(3, "bytes and text are read as each other"),
    _avro_change(4, "a decimal gets another precision or scale"),
    _avro_change(5, "a logical type changes"),
    _avro_change(6, "a field looks renamed, without an alias"),
    _avro_change(7, "fields of the same type change places"),
    _avro_change(8, "a promotion rounds numbers"),
    _avro_change(9, "a record of a union is taken for another"),
)


# KV-*: pairs of key and value that the broker takes and should not.


KEY_VALUE_RULES: Final = (
    Rule(id="KV-P001", title="half of a KEY_VALUE is a KEY_VALUE", severity=Severity.ERROR),
    Rule(id="KV-W001", title="the encoding of a KEY_VALUE changes", severity=Severity.WARNING),
    Rule(
        id="KV-W002",
        title="half of a KEY_VALUE changes its type unseen",
        severity=Severity.WARNING,
    ),
    Rule(
        id="KV-W003",
        title="invalid default in half of a KEY_VALUE",
        severity=Severity.WARNING,
    ),
)


# PROTO-W*, PROTOBUF-W*: changes that Pulsar does not compare, and readers suffer from.


def _change(number: int, title: str, severity: Severity = Severity.WARNING) -> Rule:
    return Rule(id=f"PROTO-W{number:03}", title=title, severity=severity)


PROTOBUF_RULES: Final = (
    _change(1, "a field is removed"),
    _change(2, "a field gets another number"),
    _change(3, "a number is taken by another field"),
    _change(4, "a type is laid out in another way"),
    _change(5, "a type reads some values differently"),
    _change(6, "a field becomes repeated, single or optional"),
    _change(7, "a field becomes required, or is no longer"),
    _change(8, "fields are moved into one oneof, or out of it"),
    _change(9, "the values of an enum change"),
    _change(10, "a default changes"),
    _change(11, "a field or a value is renamed", Severity.INFO),
    Rule(
        id="PROTOBUF-W001",
        title="the fields of a PROTOBUF change",
        severity=Severity.WARNING,
    ),
)
