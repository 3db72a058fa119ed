"""Definitions in files, compared as the versions of one topic: the decision and the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from gitops.broker.cases import history_of
from gitops.broker.lines.line import BrokerLine
from gitops.broker.registration import register
from gitops.model.decision import Decision
from gitops.model.errors import UsageError
from gitops.model.findings import Finding, Location, Severity
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import make_finding
from gitops.planning.notice_findings import revert_finding
from gitops.planning.refusals import (
    DefinitionLocations,
    findings_of,
    findings_of_remarks,
    merge_renames,
)
from gitops.repository.definition_files import Side, stored_schema
from gitops.repository.definitions.avro import AvroDefinitions
from gitops.repository.definitions.patch_suggester import PatchSuggester, Said, severities_of
from gitops.repository.definitions.shared_types import SharedTypes
from gitops.repository.definitions.text import DefinitionText
from gitops.repository.file_trees import GivenFiles
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.diff import schema_changes
from gitops.schemas.payload import PayloadError, to_stored
from gitops.schemas.review import ONLY_IF_TAKEN, accepted_mistakes, changes_of_all, poison_of
from gitops.schemas.types import AVRO_DEFINED

_FAILS: Final = 500

_ALONE: Final = (
    "define it in this file: compat reads each file alone; `pulsar-gitops check` in the repository "
    "finds types in other files"
)
"""Of a type that another file may define."""

_NO_SOURCES: Final = TrackedFiles(GivenFiles({}))
"""Definitions that are compared are no repository: each is whole by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The decision, every reason with its places, what differs from the last old file.

    `findings` are what speaks against the change, and what our own rules say although a broker
    takes it. `texts` are the files' contents by name, `old` the files of v0, v1, ….
    """

    strategy: SchemaCompatibilityStrategy
    decision: Decision
    findings: tuple[Finding, ...]
    changes: tuple[SchemaChange, ...]
    texts: dict[str, str]
    old: tuple[str, ...] = ()


def compare(
    sides: tuple[Side, ...], strategy: SchemaCompatibilityStrategy, line: BrokerLine
) -> Comparison:
    """The last side as a candidate after the others, oldest first; raises UsageError."""
    texts = {side.file: side.text for side in sides}
    old = tuple(side.file for side in sides[:-1])
    if broken := tuple(problem for side in sides for problem in side.problems):
        return Comparison(
            strategy=strategy,
            decision=Decision(accepted=False, status=0, reason="a definition does not compile"),
            findings=broken,
            changes=(),
            texts=texts,
            old=old,
        )
    comparer = _Comparer(sides=sides, strategy=strategy, line=line)
    decision = comparer.decision()
    return Comparison(
        strategy=strategy,
        decision=decision,
        findings=comparer.with_patches(merge_renames(comparer.findings(decision))),
        changes=comparer.changes(decision),
        texts=texts,
        old=old,
    )


def _locate_in(side: Side, pointer: str) -> Location:
    """Where a pointer into the definition stands."""
    return side.locate(pointer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparer:
    """Both sides, the old ones oldest first, the new one last."""

    sides: tuple[Side, ...]
    strategy: SchemaCompatibilityStrategy
    line: BrokerLine

    @property
    def new(self) -> Side:
        return self.sides[-1]

    def decision(self) -> Decision:
        for side in self.sides[:-1]:
            try:
                to_stored(side.info)
            except PayloadError as error:
                raise UsageError(f"{side.file}: {error}") from None
        history = history_of([side.info for side in self.sides[:-1]])
        return register(history, self.new.info, self.strategy, self.line)

    def changes(self, decision: Decision) -> tuple[SchemaChange, ...]:
        if self._reverts(decision):
            return ()
        old = self.sides[-2].info if len(self.sides) > 1 else None
        changes = schema_changes(old, self.new.info)
        if any(
            incompatibility.rule == "AVRO-R008" for incompatibility in decision.incompatibilities
        ):
            return tuple(
                _without_note(change) if change.after == "aliases only" else change
                for change in changes
            )
        return changes

    def _reverts(self, decision: Decision) -> bool:
        """Whether it is an older version, so that the latest stays the latest."""
        return decision.known and decision.version != len(self.sides) - 2

    def findings(
        self, decision: Decision, locate: Callable[[Side, str], Location | None] = _locate_in
    ) -> tuple[Finding, ...]:
        """Why it is refused first, then what our own rules say; `locate` says where.

        What is wrong with a schema that equals what the topic holds is told once, of the old side.
        """

        def old_place(version: str, pointer: str) -> Location | None:
            return locate(self.sides[int(version.removeprefix("v"))], pointer)

        places = DefinitionLocations(new=partial(locate, self.new), old=old_place)
        findings = tuple(self._unreadable(self.new))
        if not decision.accepted and not findings:
            findings = self._broken(decision) or findings_of(self.new.file, decision, places)
        old = (
            finding
            for side in self.sides[:-1]
            for finding in (*self._unreadable(side), *self._alone(side))
        )
        known = (replace(finding, severity=Severity.WARNING) for finding in old)
        own = () if decision.known else self._own_of_new()
        return (*findings, *own, *known, *self._remarks(decision, places))

    def _own_of_new(self) -> tuple[Finding, ...]:
        """What our own rules say of it; of poison, only a first schema gets in in spite of it."""
        findings = self._alone(self.new)
        if len(self.sides) == 1:
            return findings
        hint = "Pulsar would accept it as a first schema, and answers 500 to it after others"
        return tuple(
            replace(finding, hint=hint) if finding.rule == "AVRO-P002" else finding
            for finding in findings
        )

    def _broken(self, decision: Decision) -> tuple[Finding, ...]:
        """A refusal that an old version is to blame for."""
        if decision.incompatibilities or decision.status != _FAILS:
            return ()
        for side in self.sides[:-1]:
            if findings := (*self._unreadable(side), *self._poison(side)):
                what = f"Pulsar would refuse it ({_FAILS}): {decision.reason}"
                place = findings[0].location
                hint = "delete the topic's schema first, or compare with what it contained before"
                return (
                    make_finding("PLAN-R002", what, location=place, subject=side.file, hint=hint),
                )
        return ()

    def _remarks(self, decision: Decision, places: DefinitionLocations) -> Iterator[Finding]:
        """What the change does to readers, where it is one."""
        file, latest = self.new.file, len(self.sides) - 2
        if self._reverts(decision):
            yield revert_finding(file, decision.version or 0, latest, places.new(""))
            return
        versions = [(number, stored_schema(side)) for number, side in enumerate(self.sides[:-1])]
        for version, remark in changes_of_all(
            self.line.types, versions, stored_schema(self.new), self.strategy
        ):
            if decision.accepted or remark.rule not in ONLY_IF_TAKEN:
                yield from findings_of_remarks(file, f"v{version}", (remark,), places)

    def with_patches(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings, with patches where edits are known that help."""
        if self.new.definition is None:
            return tuple(findings)
        old = {side.file: side.definition for side in self.sides[:-1] if side.definition}
        suggester = PatchSuggester(
            new=self.new.definition,
            old=lambda finding: old.get(finding.compared.file) if finding.compared else None,
            judge=self._finding_texts,
            size=sum(len(definition.text) for definition in old.values()),
        )
        return suggester.with_patches(tuple(findings))

    def _finding_texts(self, text: str) -> Said:
        """What would be said of another text of the new definition."""
        edited = replace(self.new, info=replace(self.new.info, schema=text))
        after = replace(self, sides=(*self.sides[:-1], edited))
        findings = after.findings(after.decision(), lambda _side, _pointer: None)
        # Whatever the topic holds already, nobody is to be led back into it.
        every = (*findings, *self._alone(edited))
        return severities_of(every)

    def _unreadable(self, side: Side) -> Iterator[Finding]:
        """A definition that is none: where, which a refusal as a whole does not tell."""
        if side.info.type not in AVRO_DEFINED or side.positions is None or self._poison(side):
            return
        try:
            self.line.rules.avro.parse(side.info.schema)
        except (AvroParseError, RecursionError):
            given = DefinitionText(text=side.info.schema, places=side.positions, file=side.file)
            read = AvroDefinitions(_NO_SOURCES, SharedTypes(_NO_SOURCES), {"": self.line}).read(
                given, side.file, side.info.type
            )
            for finding in read.findings:
                if finding.rule == "AVRO-P001":
                    yield replace(
                        finding, hint=_ALONE if ".avsc of" in finding.hint else finding.hint
                    )

    def _poison(self, side: Side) -> tuple[Finding, ...]:
        """Why nothing would come after it."""
        return findings_of_remarks(
            side.file,
            "",
            poison_of(self.line.types, stored_schema(side)),
            DefinitionLocations(new=side.locate),
        )

    def _alone(self, side: Side) -> tuple[Finding, ...]:
        """What our own rules say of it, whatever it comes after."""
        remarks = accepted_mistakes(self.line.types, stored_schema(side))
        return (
            *self._poison(side),
            *findings_of_remarks(side.file, "", remarks, DefinitionLocations(new=side.locate)),
        )


def _without_note(change: SchemaChange) -> SchemaChange:
    """Pulsar keeps no alias, and goes by the new schema's own where it compares."""
    return replace(change, note="", ignored=False)
