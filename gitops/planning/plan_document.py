"""A plan as a JSON document, and its digest.

The document is what a reviewer approves. Applying it makes the plan anew and compares: nothing
is ever carried out that only stands in a file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, assert_never

from gitops.model.findings import Finding, Location, causes_of
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    Notice,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaChange,
    SchemaDrift,
    SchemaSwallowed,
    SchemaWithoutEffect,
    SetPolicy,
)
from gitops.model.policy import value_text
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.waivers import WaiverProposal
from gitops.planning.broker_document import broker_document
from gitops.planning.fingerprints import subject_name
from gitops.planning.policies import direction

API_VERSION: Final = "pulsar-gitops/v1"

Document = dict[str, Any]
"""A JSON object."""

_UNDIGESTED: Final = (
    "waivers",
    "causes",
    "digest",
    "unmanaged",
    "unmanagedNamespaces",
    "withoutSchema",
    "unlisted",
    "limits",
)
_OF_THE_DAY: Final = ("WAIVER-R001", "WAIVER-R002", "PLAN-R016")
"""Findings that come with the calendar, or with another registry; where they decide anything,
actions differ too, or `apply` asks again."""


def to_document(plan: Plan) -> Document:
    """The plan as JSON: stable, sorted, without a time, with its digest as last member."""
    document: Document = {
        "apiVersion": API_VERSION,
        "kind": "Plan",
        "registry": {"name": plan.registry, "address": plan.address},
        "files": plan.files,
        "broker": broker_document(plan.broker),
        "prune": plan.prune,
        **({"scope": list(plan.scope)} if plan.scope else {}),
        **({"keepGoing": True} if plan.keep_going else {}),
        "summary": summary(plan),
        "actions": [action_document(action) for action in plan.actions],
        "notices": [notice_document(notice) for notice in plan.notices],
        "findings": [finding_document(finding) for finding in plan.findings],
        "causes": cause_documents(plan.findings),
        "observed": dict(plan.observed),
        "expected": {name: list(prints) for name, prints in plan.expected.items()},
        "unmanaged": [str(topic) for topic in plan.unmanaged],
        "unmanagedNamespaces": [str(namespace) for namespace in plan.unmanaged_namespaces],
        "withoutSchema": plan.without_schema,
        "unlisted": [str(namespace) for namespace in plan.unlisted],
        "limits": list(plan.limits),
        "waivers": [proposal_document(proposal) for proposal in plan.proposals],
    }
    return {**document, "digest": digest(document)}


def digest(document: Mapping[str, Any]) -> str:
    """`sha256:` and 64 hex digits over everything in the document that decides something."""
    return f"sha256:{hashlib.sha256(canonical(_deciding_part(document))).hexdigest()}"


def _deciding_part(document: Mapping[str, Any]) -> Document:
    """What is the same on another day; a document from a file may be anything."""
    content = {key: value for key, value in document.items() if key not in _UNDIGESTED}
    content |= _deciding_settings(content.pop("broker", None))
    findings, notices = content.get("findings"), content.get("notices")
    if isinstance(findings, list):
        content["findings"] = [finding for finding in findings if not _is_of_the_day(finding)]
    if isinstance(notices, list):
        content["notices"] = [_strip_proposal(notice) for notice in notices]
    return content


def _deciding_settings(broker: object) -> Document:
    """Nothing for a broker of which there is nothing to say; without what could not be asked."""
    if broker is None:
        return {}
    if not isinstance(broker, dict):
        return {"broker": broker}
    return {"broker": {key: value for key, value in broker.items() if key != "limits"}}


def _is_of_the_day(finding: object) -> bool:
    return isinstance(finding, dict) and finding.get("rule") in _OF_THE_DAY


def _strip_proposal(notice: object) -> object:
    if not isinstance(notice, dict):
        return notice
    return {key: value for key, value in notice.items() if key != "waiver"}


def canonical(value: object) -> bytes:
    """The one text of a JSON value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def summary(plan: Plan) -> dict[str, int]:
    """How many of each: what the last line of a plan says."""

    def count(kind: type) -> int:
        return sum(isinstance(item, kind) for item in (*plan.actions, *plan.notices))

    held_back = sum(isinstance(n, RefusedSchema) and n.accepted for n in plan.notices)
    added = sum(isinstance(a, RegisterSchema) and a.latest_version is None for a in plan.actions)
    return {
        "topics": plan.topics,
        "namespaces": plan.namespaces,
        "add": added,
        "change": count(RegisterSchema) - added,
        "policies": count(SetPolicy),
        "createTenants": count(CreateTenant),
        "createNamespaces": count(CreateNamespace),
        "createTopics": count(CreateTopic),
        "delete": count(DeleteSchema),
        "refused": count(RefusedSchema) - held_back,
        "heldBack": held_back,
        "withoutEffect": count(SchemaWithoutEffect),
        "drift": count(SchemaDrift),
        "swallowed": count(SchemaSwallowed),
        "unchanged": plan.unchanged,
    }


def action_document(action: Action) -> Document:
    """One action, with all that it writes."""
    match action:
        case CreateTenant():
            clusters = action.state.allowed_clusters
            return {
                "action": "CreateTenant",
                "tenant": str(action.tenant),
                "allowedClusters": None if clusters is None else sorted(clusters),
                "adminRoles": sorted(action.state.admin_roles or ()),
            }
        case CreateTopic():
            return {
                "action": "CreateTopic",
                "topic": str(action.topic),
                "partitions": action.partitions,
            }
        case CreateNamespace():
            return {"action": "CreateNamespace", "namespace": str(action.namespace)}
        case SetPolicy():
            hold = {"hold": action.hold.value} if action.hold else {}
            return {
                "action": "SetPolicy",
                "subject": subject_name(action.subject),
                "key": action.change.key,
                "before": value_text(action.change.before),
                "after": value_text(action.change.after),
                "direction": direction(action.change),
                "waiver": action.waiver or None,
                **hold,
            }
        case RegisterSchema():
            return {
                "action": "RegisterSchema",
                "topic": str(action.topic),
                "version": action.version,
                "latestVersion": action.latest_version,
                "strategy": action.strategy.value,
                "pulsarAccepts": action.accepted,
                "waiver": action.waiver or None,
                "schema": _schema(action.info),
                "changes": [change_document(change) for change in action.changes],
            }
        case DeleteSchema():
            tombstone = {} if action.tombstone is None else {"tombstone": action.tombstone}
            versions = list(action.versions)
            return {
                "action": "DeleteSchema",
                "topic": str(action.topic),
                "versions": versions,
                **tombstone,
            }
        case _:
            assert_never(action)


def notice_document(notice: Notice) -> Document:
    """One notice."""
    changes = [change_document(change) for change in notice.changes]
    common: Document = {"topic": str(notice.topic), "changes": changes}
    match notice:
        case RefusedSchema():
            return {
                "notice": "Refused",
                **common,
                "pulsarAccepts": notice.accepted,
                "type": notice.info.type.value,
                "latestVersion": notice.latest_version,
                "strategy": notice.strategy.value,
                "findings": [finding.fingerprint for finding in notice.findings],
                "fingerprint": notice.fingerprint,
                "waiver": proposal_document(notice.waiver),
            }
        case SchemaWithoutEffect():
            return {
                "notice": "WithoutEffect",
                **common,
                "equalVersion": notice.equal_version,
                "latestVersion": notice.latest_version,
            }
        case SchemaDrift():
            return {
                "notice": "Drift",
                **common,
                "equalVersion": notice.equal_version,
                "latestVersion": notice.latest_version,
                "unknownVersions": [
                    {"version": unknown_version.version, "timestamp": unknown_version.timestamp}
                    for unknown_version in notice.unknown
                ],
                "limit": notice.limit or None,
            }
        case SchemaSwallowed():
            return {"notice": "Swallowed", **common, "version": notice.version}
        case _:
            assert_never(notice)


def finding_document(finding: Finding) -> Document:
    """One finding; where it stands for several, with each of them as `members`."""
    members = finding.members if finding.variants else ()
    return {
        "rule": finding.rule,
        "severity": finding.severity.name.lower(),
        "message": finding.message,
        "subject": finding.subject,
        "hint": finding.hint,
        "fingerprint": finding.fingerprint,
        "location": _place(finding.location),
        "compared": _place(finding.compared),
        "patch": finding.patch,
        "members": [finding_document(member) for member in members],
    }


def cause_documents(findings: Iterable[Finding]) -> list[Document]:
    """What several subjects have findings of, once each; `findings` are their fingerprints."""
    return [
        {
            "rule": cause.finding.rule,
            "severity": cause.finding.severity.name.lower(),
            "message": cause.finding.message,
            "location": _place(cause.finding.location),
            "subjects": sorted(cause.finding.subjects),
            "findings": [member.fingerprint for member in cause.members],
        }
        for cause in causes_of(findings)
        if cause.is_shared
    ]


def proposal_document(waiver: WaiverProposal | None) -> Document | None:
    """A proposed waiver, null for none."""
    if waiver is None:
        return None
    return {
        "file": waiver.file,
        "text": waiver.text,
        "hint": waiver.hint,
        "fits": waiver.fits or None,
        "effects": list(waiver.effects),
    }


def _place(where: Location | None) -> Document | None:
    if where is None:
        return None
    return {
        "file": where.file,
        "line": where.line,
        "column": where.column,
        "pointer": where.pointer,
        "inBase": where.in_base,
    }


def history_document(history: SchemaHistory) -> Document:
    """All versions of a topic, with their schemas."""
    return {
        "versions": [
            {"version": entry.version, "schema": _schema(entry.info)} for entry in history.entries
        ],
        "nextVersion": history.next_version,
    }


def _schema(info: SchemaInfo) -> Document:
    return {
        "type": info.type.value,
        "schema": info.schema,
        "properties": dict(sorted(info.properties.items())),
    }


def change_document(change: SchemaChange) -> Document:
    """One difference between two schemas."""
    return {
        "kind": change.kind.name.lower(),
        "path": change.path,
        "before": change.before,
        "after": change.after,
        "note": change.note,
        "ignored": change.ignored,
    }
