"""What happens to one topic's schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gitops.broker.registration import register
from gitops.model.decision import StoredSchema
from gitops.model.findings import Finding, Severity
from gitops.model.plan import RefusedSchema, RegisterSchema, SchemaSwallowed, SchemaWithoutEffect
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import RULES, apply_severities, make_finding
from gitops.model.schema import SchemaEntry, SchemaInfo
from gitops.planning.auto_producers import auto_producer_findings
from gitops.planning.captured_messages import captured_message_findings
from gitops.planning.client_readers import (
    UNKNOWN_MISREADS,
    ClientReader,
    ReadersCase,
    misreading_remarks,
    unknown_reading_remarks,
)
from gitops.planning.fingerprints import equal_version, is_same
from gitops.planning.lockouts import waiver_effects
from gitops.planning.refusals import (
    DefinitionLocations,
    TopicCase,
    findings_of,
    findings_of_remarks,
    merge_renames,
)
from gitops.planning.temporary_strategy import obstacle
from gitops.planning.waivers import case_fingerprint, find_waiver, propose_waiver, waive_findings
from gitops.schemas.diff import schema_changes
from gitops.schemas.event_kinds import is_of_kind
from gitops.schemas.payload import PayloadError, stored_history, to_stored, to_stored_type
from gitops.schemas.review import ONLY_IF_TAKEN, changes_of_all
from gitops.schemas.types import SchemaTypes

TopicOutcome = RegisterSchema | RefusedSchema | SchemaWithoutEffect | SchemaSwallowed | None
"""None: the topic is as the files want it."""

_OTHER_LINE: Final = "AVRO-W023"
_INVALID: Final = "AVRO-P001"
_SHOWN_FAILURES: Final = 3
_FIELD: Final = re.compile("at '[^']+'")
"""How the message of a finding about a field begins."""
_OF_CANDIDATE: Final = "(422)"
"""The broker's status for a definition that is not valid, whatever is stored (Pulsar 4.0.7)."""


def plan_topic(case: TopicCase, readers: Sequence[ClientReader] = ()) -> TopicOutcome:
    """Unchanged, swallowed, without effect, refused, or a new version.

    `readers` are the topic's consumers, as far as anybody knows them.
    """
    latest = case.history.latest
    if latest and is_same(latest.info, case.desired):
        return _without_effect_notice(case, readers)
    equal = equal_version(case.history, case.desired)
    if equal is not None and latest:
        return SchemaWithoutEffect(
            topic=case.topic,
            equal_version=equal,
            latest_version=latest.version,
            changes=schema_changes(latest.info, case.desired),
        )
    return _decide(case, readers)


def _without_effect_notice(
    case: TopicCase, readers: Sequence[ClientReader]
) -> SchemaSwallowed | RefusedSchema | None:
    latest = case.history.latest
    if latest is None:
        return None
    changes = schema_changes(latest.info, case.desired)
    if not changes:
        return None
    swallowed = tuple(replace(change, ignored=True) for change in changes)
    findings = _remarks(case, readers, latest_only=True)
    notice = SchemaSwallowed(
        topic=case.topic, version=latest.version, changes=swallowed, findings=findings
    )
    if not any(one.severity is Severity.ERROR for one in findings):
        return notice
    wanted = case_fingerprint(case)
    if waiver := find_waiver(case, wanted):
        return replace(notice, findings=waive_findings(findings, waiver), waiver=waiver.name)
    return replace(
        _refused_action(case, findings),
        changes=swallowed,
        accepted=True,
        fingerprint=wanted,
        waiver=propose_waiver(
            case.topic, wanted, case.today, case.waivers, _reader_effects(findings)
        ),
    )


def _decide(case: TopicCase, readers: Sequence[ClientReader]) -> RegisterSchema | RefusedSchema:
    said, accepted = _broker_says(case)
    remarks = _remarks(case, readers)
    if not accepted:
        remarks = tuple(one for one in remarks if one.rule not in ONLY_IF_TAKEN)
    said = tuple(one for one in said if not _is_said_by(one, case.content))
    # The same reason as a warning about lines has the better place, and is one finding.
    reasons = {_line_reason(one): one for one in case.content if one.rule == _OTHER_LINE}
    said = tuple(
        replace(one, location=reasons[reason].location)
        if (reason := _given_reason(one, reasons)) is not None
        else one
        for one in said
    )
    known = {one.location for one in said}
    content = tuple(one for one in case.content if one.location not in known)
    findings = merge_renames((*said, *remarks, *content))
    if not any(one.severity is Severity.ERROR for one in findings):
        return _register_action(case, remarks)
    wanted = case_fingerprint(case)
    refused = replace(_refused_action(case, findings), accepted=accepted, fingerprint=wanted)
    if not accepted and obstacle(case):
        return refused
    if waiver := find_waiver(case, wanted):
        passed = _register_action(case, waive_findings(findings, waiver))
        return replace(passed, waiver=waiver.name, accepted=accepted)
    effects = (*(() if accepted else waiver_effects(case)), *_reader_effects(findings))
    proposal = propose_waiver(case.topic, wanted, case.today, case.waivers, effects)
    return replace(refused, waiver=proposal)


def _reader_effects(findings: Iterable[Finding]) -> tuple[str, ...]:
    """What a waiver approves beside what Pulsar refuses: readers that fail, or misread."""
    failures = [
        one
        for one in findings
        if one.severity is Severity.ERROR and RULES[one.rule].if_promised is not None
    ]
    if not failures:
        return ()
    places = dict.fromkeys(
        f"{one.rule} {place[0]}" if (place := _FIELD.match(one.message)) else one.rule
        for one in failures
    )
    shown, left = list(places)[:_SHOWN_FAILURES], len(places) - _SHOWN_FAILURES
    what = f"{', '.join(shown)}{f' and {left} more' if left > 0 else ''}"
    return (f"A waiver approves that messages are not read as they were written: {what}.",)


def _line_reason(content: Finding) -> str:
    """What a line has against a definition: `… does not accept it: 'a$b' is not a name`."""
    return content.message.partition("does not accept it: ")[2]


def _given_reason(refused: Finding, reasons: Iterable[str]) -> str | None:
    if refused.rule != "PLAN-R001":
        return None
    return next((reason for reason in reasons if reason and reason in refused.message), None)


def _is_said_by(refused: Finding, content: Iterable[Finding]) -> bool:
    """Whether an error of the definition gives the broker's reason, at the better place."""
    return refused.rule == "PLAN-R001" and any(
        one.severity is Severity.ERROR
        and (_is_invalid(one, refused) or one.message in refused.message)
        for one in content
    )


def _is_invalid(content: Finding, refused: Finding) -> bool:
    return content.rule == _INVALID and _OF_CANDIDATE in refused.message


def _register_action(case: TopicCase, findings: tuple[Finding, ...]) -> RegisterSchema:
    latest = case.history.latest
    return RegisterSchema(
        topic=case.topic,
        info=case.desired,
        version=case.history.next_version,
        latest_version=latest.version if latest else None,
        strategy=case.strategy,
        changes=schema_changes(_compared_version(case), case.desired),
        findings=findings,
    )


def _compared_version(case: TopicCase) -> SchemaInfo | None:
    """The latest version, under ALWAYS_COMPATIBLE of the same kind of event; None: all is new."""
    infos = [entry.info for entry in case.history.entries]
    if case.strategy is SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE:
        of_kind = [one for one in infos if _is_of_kind(case.line.types, one, case.desired)]
        # Another type is no other kind of event of the same sort, and has to be seen.
        infos = of_kind or [one for one in infos[-1:] if one.type is not case.desired.type]
    return infos[-1] if infos else None


def _is_of_kind(types: SchemaTypes, old: SchemaInfo, new: SchemaInfo) -> bool:
    try:
        return is_of_kind(types, to_stored(old), to_stored(new))
    except PayloadError:
        return False


def _refused_action(case: TopicCase, findings: tuple[Finding, ...]) -> RefusedSchema:
    latest = case.history.latest
    return RefusedSchema(
        topic=case.topic,
        info=case.desired,
        latest_version=latest.version if latest else None,
        strategy=case.strategy,
        findings=findings,
        changes=schema_changes(latest.info if latest else None, case.desired),
    )


def _broker_says(case: TopicCase) -> tuple[tuple[Finding, ...], bool]:
    """What the broker has against it, and whether it would take it."""
    try:
        history = stored_history(case.history)
    except PayloadError as error:
        return (_broken_history(str(case.topic), str(error)),), False
    decision = register(history, case.desired, case.strategy, case.line)
    if decision.accepted:
        return (), True
    return findings_of(str(case.topic), decision, DefinitionLocations(new=case.locate)), False


def _broken_history(subject: str, why: str) -> Finding:
    """The registry holds something that cannot be compared with anything."""
    return make_finding(
        "PLAN-R002",
        f"the registry contains a schema that cannot be read: {why}",
        subject=subject,
        hint="delete the topic's schema, or leave the topic out of the files",
    )


def _remarks(
    case: TopicCase, readers: Sequence[ClientReader], *, latest_only: bool = False
) -> tuple[Finding, ...]:
    """What our own rules say about the change, for readers of all live versions' messages."""
    entries = case.history.entries[-1:] if latest_only else case.history.entries
    try:
        new = to_stored_type(to_stored(case.desired))
    except PayloadError:
        return ()
    versions = list(_readable(entries))
    remarks = [*changes_of_all(case.line.types, versions, new, case.strategy)]
    readers_case = ReadersCase(
        readers=readers, versions=versions, new=new, strategy=case.strategy, line=case.line
    )
    misread = list(misreading_remarks(readers_case))
    if readers and all(reader.language for reader in readers):
        reported = {remark.path for _, remark in misread}
        is_java = all(reader.language == "java" for reader in readers)
        remarks = [
            (version, remark)
            for version, remark in remarks
            if remark.rule != UNKNOWN_MISREADS or not (is_java or remark.path in reported)
        ]
    unknown = unknown_reading_remarks(readers_case)
    places = DefinitionLocations(new=case.locate)
    found = [
        one
        for version, remark in (*remarks, *misread, *unknown)
        for one in findings_of_remarks(str(case.topic), f"v{version}", (remark,), places)
    ]
    found += captured_message_findings(case, versions, new)
    if not latest_only:
        found += auto_producer_findings(case, versions, new)
    return apply_severities(found, case.rules)


def _readable(entries: Sequence[SchemaEntry]) -> Iterator[tuple[int, StoredSchema]]:
    for entry in entries:
        try:
            yield entry.version, to_stored_type(to_stored(entry.info))
        except PayloadError:
            continue
