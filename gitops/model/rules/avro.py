"""AVRO-P*: a definition that Pulsar would not take, or would regret."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule

AVRO_DEFINITION_RULES: Final = (
    Rule(id="AVRO-P001", title="not a valid Avro definition", severity=Severity.ERROR),
    Rule(id="AVRO-P002", title="invalid default", severity=Severity.ERROR),
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
