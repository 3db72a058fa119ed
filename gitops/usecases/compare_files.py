"""Definitions in files, compared as the versions of one topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gitops.compatibility.decision import Decision, Incompatibility
from gitops.compatibility.registration import CANDIDATE, register
from gitops.model.errors import UsageError
from gitops.model.findings import Finding, Location
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo
from gitops.planning.diff.schemas import schema_changes
from gitops.planning.refusals import findings_of
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.folder import read_definition
from gitops.repository.suggestions import did_you_mean_or_list
from gitops.usecases.compat import CaseError, history_of
from gitops.usecases.upload import parse_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The decision, every reason with its place, what differs from the last old file.

    `texts` are the files' contents by name.
    """

    strategy: SchemaCompatibilityStrategy
    decision: Decision
    findings: tuple[Finding, ...]
    changes: tuple[SchemaChange, ...]
    texts: dict[str, str]


def compare_files(files: Sequence[Path], strategy: str, schema_type: str) -> Compared:
    """The last file as a candidate after the others, oldest first; raises UsageError."""
    kind, rule = parse_type(schema_type), _strategy(strategy)
    texts = [read_definition(path) for path in files]
    infos = [SchemaInfo(type=kind, schema=text) for text in texts]
    try:
        history = history_of(infos[:-1])
    except CaseError as error:
        raise UsageError(str(error)) from None
    decision = register(history, infos[-1], rule)
    places = [JsonPositions(str(path), text) for path, text in zip(files, texts, strict=True)]
    found: tuple[Finding, ...] = ()
    if not decision.accepted:
        both = replace(
            decision,
            incompatibilities=tuple(_both_sides(i, places) for i in decision.incompatibilities),
        )
        found = findings_of(str(files[-1]), both, places[-1].at_pointer)
    return Compared(
        strategy=rule,
        decision=decision,
        findings=found,
        changes=schema_changes(infos[-2] if len(infos) > 1 else None, infos[-1]),
        texts={str(path): text for path, text in zip(files, texts, strict=True)},
    )


def _both_sides(one: Incompatibility, places: Sequence[JsonPositions]) -> Incompatibility:
    """The message with the place on the old side; the new side is where the finding stands."""
    old, pointer = (
        (one.writer, one.writer_pointer)
        if one.reader == CANDIDATE
        else (one.reader, one.reader_pointer)
    )
    where: Location = places[int(old.removeprefix("v"))].at_pointer(pointer)
    return replace(one, message=f"{one.message} (compare {where})")


def _strategy(name: str) -> SchemaCompatibilityStrategy:
    try:
        return SchemaCompatibilityStrategy(name)
    except ValueError:
        hint = did_you_mean_or_list(name, [s.value for s in SchemaCompatibilityStrategy])
        raise UsageError(f"'{name}' is not a strategy", hint=hint) from None
