"""PROTO-W*, PROTOBUF-W*: changes that Pulsar does not compare, and readers suffer from."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule


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
