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
from gitops.planning.lockouts import lockouts_of_waiver, waiver_effects
from gitops.planning.refusals import (
    DefinitionLocations,
    TopicCase,
    findings_of,
    findings_of_remarks,
    merge_renames,
)
from gitops.planning.temporary_strategy import obstacle
from gitops.planning.waivers import (
    case_fingerprint,
    find_waiver,
    name_locked_out,
    propose_waiver,
    waive_findings,
)
from gitops.schemas.avro.java_classes import JAVA_CLASS_CHANGES
from gitops.schemas.diff import schema_changes
from gitops.schemas.event_kinds import is_of_kind
from gitops.schemas.payload import PayloadError, stored_history, to_stored, to_stored_type
from gitops.schemas.review import ONLY_IF_TAKEN, changes_of_all
from gitops.schemas.row import Remark
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
    if not any(finding.severity is Severity.ERROR for finding in findings):
        return notice
    fingerprint = case_fingerprint(case)
    if waiver := find_waiver(case, fingerprint):
        return replace(notice, findings=waive_findings(findings, waiver), waiver=waiver.name)
    effects = _reader_effects(findings)
    return replace(
        _refused_action(case, findings),
        changes=swallowed,
        accepted=True,
        fingerprint=fingerprint,
        waiver=propose_waiver(case.topic, fingerprint, case.today, case.waivers, effects),
    )


def _decide(case: TopicCase, readers: Sequence[ClientReader]) -> RegisterSchema | RefusedSchema:
    """Ask the broker's rules, then combine their refusal with what our own rules find."""
    subject = str(case.topic)
    refusals: tuple[Finding, ...] = ()
    try:
        decision = register(stored_history(case.history), case.desired, case.strategy, case.line)
        accepted = decision.accepted
        if not accepted:
            refusals = findings_of(subject, decision, DefinitionLocations(new=case.locate))
    except PayloadError as error:
        accepted, refusals = False, (_broken_history(subject, str(error)),)

    remarks = _remarks(case, readers)
    if not accepted:
        remarks = tuple(remark for remark in remarks if remark.rule not in ONLY_IF_TAKEN)
    refusals = tuple(refusal for refusal in refusals if not _is_given(refusal, case.content))
    # The same reason as a warning about lines has the better place, and is one finding.
    line_reasons = {
        _line_reason(finding): finding for finding in case.content if finding.rule == _OTHER_LINE
    }
    refusals = tuple(
        replace(refusal, location=line_reasons[reason].location)
        if (reason := _given_reason(refusal, line_reasons)) is not None
        else refusal
        for refusal in refusals
    )
    places = {refusal.location for refusal in refusals}
    content = tuple(finding for finding in case.content if finding.location not in places)
    findings = merge_renames((*refusals, *remarks, *content))

    if not any(finding.severity is Severity.ERROR for finding in findings):
        return _register_action(case, remarks)
    fingerprint = case_fingerprint(case)
    refused = replace(_refused_action(case, findings), accepted=accepted, fingerprint=fingerprint)
    if not accepted and obstacle(case):
        return refused
    if waiver := find_waiver(case, fingerprint):
        waived = _register_action(case, waive_findings(findings, waiver))
        return replace(waived, waiver=waiver.name, accepted=accepted)
    effects = _reader_effects(findings)
    lockouts = lockouts_of_waiver(case)
    if not accepted:
        effects = (*waiver_effects(case, lockouts), *effects)
    proposal = propose_waiver(case.topic, fingerprint, case.today, case.waivers, effects)
    return replace(refused, waiver=name_locked_out(proposal, lockouts.clients_by_schema))


def _reader_effects(findings: Iterable[Finding]) -> tuple[str, ...]:
    """What a waiver approves beside what Pulsar refuses: readers that fail, or misread."""
    failures = [
        finding
        for finding in findings
        if finding.severity is Severity.ERROR and RULES[finding.rule].if_promised is not None
    ]
    if not failures:
        return ()
    places = dict.fromkeys(
        f"{failure.rule} {place[0]}" if (place := _FIELD.match(failure.message)) else failure.rule
        for failure in failures
    )
    shown, left = ", ".join(list(places)[:_SHOWN_FAILURES]), len(places) - _SHOWN_FAILURES
    if left > 0:
        shown += f" and {left} more"
    return (f"A waiver approves that messages are not read as they were written: {shown}.",)


def _line_reason(content: Finding) -> str:
    """What a line has against a definition: `… does not accept it: 'a$b' is not a name`."""
    return content.message.partition("does not accept it: ")[2]


def _given_reason(refused: Finding, reasons: Iterable[str]) -> str | None:
    if refused.rule != "PLAN-R001":
        return None
    return next((reason for reason in reasons if reason and reason in refused.message), None)


def _is_given(refused: Finding, content: Iterable[Finding]) -> bool:
    """Whether an error of the definition gives the broker's reason, at the better place."""
    if refused.rule != "PLAN-R001":
        return False
    is_invalid = _OF_CANDIDATE in refused.message
    return any(
        error.message in refused.message or (is_invalid and error.rule == _INVALID)
        for error in content
        if error.severity is Severity.ERROR
    )


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
        same_kind = [info for info in infos if _is_of_kind(case.line.types, info, case.desired)]
        # Another type is no other kind of event of the same sort, and has to be seen.
        infos = same_kind or [info for info in infos[-1:] if info.type is not case.desired.type]
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
        if all(reader.language != "java" for reader in readers):
            remarks = [(version, _without_java(remark)) for version, remark in remarks]
        remarks = [
            (version, remark)
            for version, remark in remarks
            if remark.rule != UNKNOWN_MISREADS or not (is_java or remark.path in reported)
        ]
    unknown = unknown_reading_remarks(readers_case)
    places = DefinitionLocations(new=case.locate)
    findings: list[Finding] = []
    for version, remark in (*remarks, *misread, *unknown):
        findings += findings_of_remarks(str(case.topic), f"v{version}", (remark,), places)
    findings += captured_message_findings(case, versions, new)
    if not latest_only:
        findings += auto_producer_findings(case, versions, new)
    return apply_severities(findings, case.rules)


def _without_java(remark: Remark) -> Remark:
    """A Java class breaks nothing that was promised to clients of other languages."""
    return replace(remark, breaks_promise=False) if remark.rule == JAVA_CLASS_CHANGES else remark


def _readable(entries: Sequence[SchemaEntry]) -> Iterator[tuple[int, StoredSchema]]:
    for entry in entries:
        try:
            yield entry.version, to_stored_type(to_stored(entry.info))
        except PayloadError:
            continue
