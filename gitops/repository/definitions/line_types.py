"""The registries whose broker line does not have a schema type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import LINES
from gitops.model.findings import Finding, Location
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaType

LINE_HINT: Final = (
    'name the registry\'s line, for example `broker: "4.2"` in gitops.yaml, or record it with '
    "`snapshot`"
)
"""What to do about a line that is only assumed."""
_TYPE_HINT: Final = "use a type that the line of each registry has"


class LineTypes:
    """The schema types that the broker lines of the registries have.

    `lines` are those of the registries by name; those of `assumed` ones may be others, so that
    their word is a warning.
    """

    def __init__(self, lines: Mapping[str, BrokerLine], assumed: frozenset[str]) -> None:
        self._lines, self._assumed = lines, assumed

    def findings(
        self, schema_type: SchemaType, location: Location, subject: str
    ) -> Iterator[Finding]:
        """That no registry has the type, or which ones do not, at the place that names it."""
        without = [name for name, line in self._lines.items() if not _has(line, schema_type)]
        if len(without) < len(self._lines) or self._assumed:
            for name in without:
                message, hint = self._said(name, schema_type)
                yield make_finding(
                    "EXTERNAL-W001", message, location=location, subject=subject, hint=hint
                )
            return
        first = next(name for name, line in LINES.items() if _has(line, schema_type))
        yield make_finding(
            "EXTERNAL-P001",
            f"Pulsar has the type {schema_type.value} from {first} on, and the brokers of each "
            "registry are older",
            location=location,
            subject=subject,
            hint="use another type until the brokers are upgraded",
        )

    def _said(self, registry: str, schema_type: SchemaType) -> tuple[str, str]:
        """The message and the hint about a registry without the type."""
        line = f"Pulsar {self._lines[registry].name}"
        message = "registry {} ({}) does not have the type {}"
        if registry in self._assumed:
            return message.format(registry, f"{line}, assumed", schema_type.value), LINE_HINT
        return message.format(registry, line, schema_type.value), _TYPE_HINT


def _has(line: BrokerLine, schema_type: SchemaType) -> bool:
    return line.types.row_of(schema_type).is_known
