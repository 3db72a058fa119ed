"""What a waiver is bound to, which one holds, what it makes of a refusal, and proposals."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.check import History, HistorySource
from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Notice, Plan, RefusedSchema, RegisterSchema, SchemaSwallowed
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.waivers import LimitWaiver, Waiver, WaiverProposal
from gitops.planning.fingerprints import history_fingerprint, schema_fingerprint
from gitops.planning.refusals import TopicCase

DIGITS: Final = 32
"""Of a fingerprint. Half as many could be met on purpose: a harmless change, approved, and a
harmful one of the same fingerprint, are found by some 2**32 tries."""

PROPOSED_DAYS: Final = 30
"""How long a proposed waiver holds."""

_REASON: Final = 'reason: "" # why this change may pass'
_NAMED: Final = 8
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9._:/-]*[A-Za-z0-9]")
_MAX_SLUG: Final = 60
_COMMENT_WIDTH: Final = 90


def waiver_fingerprint(
    topic: TopicName,
    history: SchemaHistory,
    info: SchemaInfo,
    *,
    own: Strategy | None,
    strategy: Strategy,
) -> str:
    """32 hex digits of one candidate schema against one history of one topic.

    What counts: the topic's name; the candidate's type, content and properties; number, type,
    content and properties of each live version, and the next number; the topic's own strategy
    (UNDEFINED is none) and the one that holds. Content is what is stored, so that white space
    counts for an Avro definition, and the order of properties for nothing. What does not count:
    the registry's name, files and their places, when a version was stored, and which rules speak
    against the candidate.
    """
    content = [
        str(topic),
        schema_fingerprint(info),
        history_fingerprint(history),
        None if own in (None, Strategy.UNDEFINED) else own.value,
        strategy.value,
    ]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def case_fingerprint(case: TopicCase) -> str:
    """The fingerprint of what is wanted of a topic."""
    return waiver_fingerprint(
        case.topic, case.history, case.desired, own=case.own, strategy=case.strategy
    )


def waived_fingerprint(case: TopicCase) -> str | None:
    """The fingerprint that the latest version had before it was one, None where there is none."""
    latest = case.history.latest
    if latest is None:
        return None
    before = drop_latest_version(case.history)
    return waiver_fingerprint(case.topic, before, latest.info, own=case.own, strategy=case.strategy)


def drop_latest_version(history: SchemaHistory) -> SchemaHistory:
    """The history as it was before its latest version, which it must have."""
    return SchemaHistory(entries=history.entries[:-1], next_version=history.entries[-1].version)


def find_waiver(case: TopicCase, wanted: str) -> Waiver | None:
    """The waiver of this fingerprint that holds today, the first by name if there are several."""
    items = (w for w in case.waivers if w.fingerprint == wanted and not has_expired(w, case.today))
    return min(items, key=lambda waiver: waiver.name, default=None)


def has_expired(waiver: Waiver | LimitWaiver, today: datetime.date) -> bool:
    """Whether the last day on which it holds is over; `today` is the day in UTC."""
    return waiver.expires < today


WAIVED_UNTIL: Final = "waived until "


def is_waived(finding: Finding) -> bool:
    """Whether a waiver approves what it is about."""
    return finding.severity is Severity.INFO and finding.hint.startswith(WAIVED_UNTIL)


def waive_findings(findings: Iterable[Finding], waiver: Waiver) -> tuple[Finding, ...]:
    """The findings as they read once the waiver already lets the schema pass: no error is left."""
    text = _approval(waiver)
    return tuple(
        replace(finding, severity=Severity.INFO, hint=text, patch="")
        if finding.severity is Severity.ERROR
        else finding
        for finding in findings
    )


def _approval(waiver: Waiver) -> str:
    reason = " ".join(waiver.reason.split())
    return (
        f"{WAIVED_UNTIL}{waiver.expires} by {waiver.file}, approved by {waiver.approved_by}, "
        f'with the reason "{reason}"'
    )


def used_waivers(waivers: Iterable[Waiver], plans: Iterable[Plan]) -> tuple[Waiver, ...]:
    """Those that let a schema of a plan in, or a difference that Pulsar ignores, or a lockout."""
    plans = tuple(plans)
    entries = (entry for plan in plans for entry in (*plan.actions, *plan.notices))
    used = {
        entry.waiver for entry in entries if isinstance(entry, RegisterSchema | SchemaSwallowed)
    }
    approvals = {finding.hint for plan in plans for finding in plan.findings if is_waived(finding)}
    return tuple(
        waiver for waiver in waivers if waiver.name in used or _approval(waiver) in approvals
    )


def propose_waiver(
    subject: TopicName | NamespaceName,
    wanted: str,
    today: datetime.date,
    waivers: Iterable[Waiver],
    effects: Sequence[str] = (),
) -> WaiverProposal:
    """The file of a waiver; reason and approval are empty, and no such file is accepted.

    Where one of `waivers` with this fingerprint has expired, it takes that one's place.
    """
    key = "topic" if isinstance(subject, TopicName) else "namespace"
    expires = today + datetime.timedelta(days=PROPOSED_DAYS)
    expired = sorted(waiver.file for waiver in waivers if waiver.fingerprint == wanted)
    comments = [line for effect in effects for line in textwrap.wrap(effect, _COMMENT_WIDTH)]
    lines = (
        "# yaml-language-server: $schema=../.schemas/waiver.schema.json",
        "apiVersion: pulsar-gitops/v1",
        "kind: Waiver",
        *(f"# {line}" for line in comments),
        f"{key}: {quoted_name(subject)}",
        f'fingerprint: "{wanted}"',
        _REASON,
        'approvedBy: "" # who approves it',
        f"expires: {expires}",
    )
    text = "".join(f"{line}\n" for line in lines)
    if expired:
        return WaiverProposal(
            file=expired[0], text=text, effects=tuple(effects), has_expired=True, hint=_EXPIRED
        )
    return WaiverProposal(file=_file(subject, wanted), text=text, effects=tuple(effects))


def name_locked_out(proposal: WaiverProposal, clients: Collection[str]) -> WaiverProposal:
    """The waiver of a topic's schema with the declared clients that the schema locks out."""
    if not clients:
        return proposal
    names = ", ".join(map(quoted_name, clients))
    line = f"lockedOut: [{names}] # declared clients that can no longer connect"
    return replace(proposal, text=proposal.text.replace(_REASON, f"{line}\n{_REASON}", 1))


def quoted_name(subject: TopicName | NamespaceName | str) -> str:
    """A name as YAML has it."""
    name = str(subject)
    return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _file(subject: TopicName | NamespaceName, wanted: str) -> str:
    name = str(subject)
    if isinstance(subject, TopicName):
        name = f"{subject.namespace}/{subject.local_name}"
    slug = _UNSAFE.sub("-", name).strip("-.")[:_MAX_SLUG]
    return f"waivers/{slug}-{wanted[:_NAMED]}.yaml"


# Waivers that a check proposes: a waiver fits the versions that it is computed from, no others.


_WRITES: Final = "`--waivers waivers/` writes it"
_EXPIRED: Final = "it has expired: have it approved again, with a later `expires`"
_FILL_IN: Final = "it is written: fill in reason and approvedBy"
_OF_SNAPSHOT: Final = "it fits the versions of the snapshot"
_NONE: Final = (
    "No waiver is proposed: it would be for the versions in git, and the registry may have others."
)


def fit_proposals(plan: Plan, history: History) -> tuple[Plan, History]:
    """The plan with waivers that can fit the registry, and a limit where there are none."""
    if history.source is not HistorySource.GIT:
        is_live = history.source is HistorySource.REGISTRY
        fits = "" if is_live else _OF_SNAPSHOT

        def fitted(proposal: WaiverProposal) -> WaiverProposal:
            hint = proposal.hint if proposal.has_expired else _WRITES
            return replace(proposal, hint=hint, fits=fits)

        return _each(plan, fitted), history
    bare = _each(plan, lambda _: None)
    if bare == plan:
        return plan, history
    return bare, replace(history, limits=(*history.limits, _NONE))


def with_written_proposals(plan: Plan, files: Collection[str]) -> Plan:
    """The plan whose proposals that are written among these files already say what they lack."""

    def named(proposal: WaiverProposal) -> WaiverProposal:
        is_written = proposal.file in files and not proposal.has_expired
        return replace(proposal, hint=_FILL_IN) if is_written else proposal

    return _each(plan, named)


def _each(plan: Plan, edit: Callable[[WaiverProposal], WaiverProposal | None]) -> Plan:
    proposals = tuple(kept for proposal in plan.proposals if (kept := edit(proposal)))

    def edited(refusal: Notice) -> Notice:
        if isinstance(refusal, RefusedSchema) and refusal.waiver:
            return replace(refusal, waiver=edit(refusal.waiver))
        return refusal

    return replace(plan, notices=tuple(map(edited, plan.notices)), proposals=proposals)
