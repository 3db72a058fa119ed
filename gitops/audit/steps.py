"""What to do before an upgrade, and in which order: once for all findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitops.audit.upgrade import DOWNGRADE, INVALID, NOT_AVRO, OTHERWISE
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import with_legacy_json
from gitops.model.findings import Finding


def upgrade_steps(
    present: BrokerLine, target: BrokerLine, findings: Iterable[Finding]
) -> Iterator[str]:
    """Whole clauses, in the order in which to do them; none where nothing is to be done."""
    subjects: dict[str, set[str]] = {}
    for one in findings:
        subjects.setdefault(one.rule, set()).update(member.subject for member in one.members)
    stored = subjects.get(INVALID, set()) | subjects.get(NOT_AVRO, set())
    if stored:
        yield (
            f"on {present.name}, before the first broker of {target.name}, {_for(len(stored))}: "
            "let consumers read the backlog, delete the topic's schema (a version on top does not "
            "help), register what the finding names, and deploy it with producers and consumers"
        )
    if NOT_AVRO in subjects and with_legacy_json(target) is not target:
        yield (
            "where JSON stays in Jackson's form: schemaJsonAllowLegacyJacksonFormat=true in the "
            f"broker.conf of every broker of {target.name}"
        )
    if OTHERWISE in subjects:
        yield (
            f"before the first broker of {target.name}, {_for(len(subjects[OTHERWISE]))} with "
            f"{OTHERWISE}: register a definition that {present.name} and {target.name} both accept"
        )
    if DOWNGRADE in subjects:
        yield f"until no broker of {present.name} is left: register nothing that {DOWNGRADE} lists"


def _for(topics: int) -> str:
    return "for 1 topic" if topics == 1 else f"for each of {topics:,} topics"
