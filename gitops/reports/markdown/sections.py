"""The sections of a Markdown report: each topic's details, policies, drift, history, rollout."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import shorten
from typing import Final

from gitops.model.check import CheckReport, History, HistorySource, Impact, RegistryCheck
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import (
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    Plan,
    SchemaChange,
    SetPolicy,
)
from gitops.model.rollout import Rollout
from gitops.planning.plan import subject_of
from gitops.planning.plan_document import to_document
from gitops.planning.policies import direction, policy_text
from gitops.reports.broker_wording import broker_lines
from gitops.reports.check_summary import (
    RegistryCauses,
    affected_text,
    claim,
    count,
    name_list,
    shows_rollout,
    told_messages,
)
from gitops.reports.markdown.document import changes_block, finding_item, paragraphs
from gitops.reports.markdown.escaping import block, code, code_tag, message, prose
from gitops.reports.markdown.replay import replay_body
from gitops.reports.rollout_wording import Line, alternative, block_lines, has_order, lines
from gitops.reports.topic_rows import (
    ALIKE,
    Row,
    TopicStatus,
    Weight,
    changes_key,
    creation_text,
    rows_of,
    shared_changes,
    tenant_text,
)

# What is folded below the table: for each topic what differs, why that is not let in, a fix.

_MAX_FINDINGS: Final = 20
_MAX_ITEMS: Final = 8000
"""Characters of findings, then one more is too many: a fold that is larger than a comment is cut as
a whole, and tells nothing."""
_MAX_TITLE: Final = 120


def details(rows: Iterable[Row], *, several: bool, unfolded: bool) -> tuple[str, ...]:
    """One fold for each topic; registries of which there is the same to say share it.

    So do topics with the same changes and nothing else. Registries are named where there are
    `several`.
    """
    folds: dict[tuple[str, str, str], tuple[str, list[str]]] = {}
    causes = RegistryCauses()
    every = list(rows)
    alike = _alike(every)
    shared = {id(row) for members in alike for row in members}
    for row in every:
        if body := "" if id(row) in shared or _is_said_elsewhere(row) else _body(row):
            key = (str(row.topic), _title(row), body)
            if key not in folds:
                short = causes.shortened(row.findings, row.registry)
                folds[key] = _body(replace(row, findings=short)), []
            folds[key][1].extend([row.registry] if several else [])
    opened = "<details open>" if unfolded else "<details>"
    return (
        *(
            f"{opened}{_summary(topic, title, registries)}\n\n{body}\n</details>\n\n"
            for (topic, title, _), (body, registries) in folds.items()
        ),
        *map(_fold_of_alike, alike),
    )


def _alike(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows of at least so many topics with the same changes and nothing else to tell."""
    plain: dict[Hashable, list[Row]] = {}
    for row in rows:
        if _is_plain(row):
            plain.setdefault((row.verdict[0], changes_key(row.changes)), []).append(row)
    return [members for members in plain.values() if len({row.topic for row in members}) >= ALIKE]


def _is_plain(row: Row) -> bool:
    """Whether there are changes and nothing else to tell."""
    other = row.findings or row.before or row.waiver or row.waived_by or row.replay
    return bool(row.changes) and not other and not _is_said_elsewhere(row)


def _fold_of_alike(rows: Sequence[Row]) -> str:
    """What changes in all of these topics, once."""
    changes = shared_changes([row.changes for row in rows])
    names = list(dict.fromkeys(row.topic for row in rows))
    what = f"<b>{count(len(names), 'topic')}</b>: {_changes_title(changes)}"
    summary = f"<summary>{rows[0].verdict[0]} {what}</summary>"
    body = f"{changes_block(changes)}\n{_names(names)}\n"
    return f"<details>{summary}\n\n{body}\n</details>\n\n"


def _is_said_elsewhere(row: Row) -> bool:
    """What Pulsar ignores has a section of its own."""
    return row.standing is TopicStatus.IGNORED and not row.findings and row.weight is Weight.GOOD


def _summary(topic: str, title: str, registries: list[str]) -> str:
    on = f" on {prose(', '.join(registries))}" if any(registries) else ""
    return f"<summary>{title[0]} <b>{prose(topic)}</b>{on}{title[1:]}</summary>"


def _title(row: Row) -> str:
    """The sign of the verdict, and the first thing to know."""
    is_odd = row.standing >= TopicStatus.ACCEPTED and row.weight is not Weight.GOOD
    if row.replay and (is_odd or row.is_unread):
        return f"{row.replay.sign}: {prose(row.replay.cell.removeprefix(f'{row.replay.sign} '))}"
    if row.before:
        text = row.verdict[2:]
    elif row.findings:
        worst = max(row.findings, key=lambda finding: finding.severity)
        text = shorten(claim(worst), _MAX_TITLE, placeholder=" …")
    else:
        return f"{row.verdict[0]}: {_changes_title(row.changes)}"
    return f"{row.verdict[0]}: {prose(text)}"


def _changes_title(changes: Sequence[SchemaChange]) -> str:
    """The change, where there is one; else how many."""
    if len(changes) != 1:
        return count(len(changes), "change")
    change = changes[0]
    values = " → ".join(value for value in (change.before, change.after) if value)
    text = f"{change.kind.value} {change.path or '(schema)'} {values}".rstrip()
    return code_tag(shorten(text, _MAX_TITLE, placeholder=" …"))


def _body(row: Row) -> str:
    """The parts, a blank line between two; the fixes stand beside what they mend."""
    parts = (
        changes_block(row.changes),
        _waived(row),
        _reasons(row),
        _before(row),
        _waiver(row),
        replay_body(row.replay) if row.replay else "",
    )
    return paragraphs(parts)


def _waived(row: Row) -> str:
    """Which waiver lets pass what is said below."""
    if not row.waived_by:
        return ""
    return f"The waiver {code(row.waived_by)} allows it despite this:\n"


def _reasons(row: Row) -> str:
    return _items(row.findings)


def _items(findings: Sequence[Finding]) -> str:
    """The worst ones, and how many more there are."""
    worst = sorted(findings, key=lambda finding: -finding.severity)
    items: list[str] = []
    for finding in worst[:_MAX_FINDINGS]:
        if sum(map(len, items)) > _MAX_ITEMS:
            break
        items.append(finding_item(finding))
    left = len(findings) - len(items)
    return "".join(items) + (f"- … {count(left, 'more finding')}\n" if left > 0 else "")


def _before(row: Row) -> str:
    """What this change would meet if it did not loosen the policies."""
    if not row.before:
        return ""
    # No error of this change, and nothing to mend.
    past = [replace(finding, severity=Severity.INFO, hint="", patch="") for finding in row.before]
    return f"Without the loosened policies it would be refused:\n\n{_items(past)}"


def _waiver(row: Row) -> str:
    """The file that would let it pass, ready to paste."""
    if row.waiver is None:
        return ""
    note = f" ({prose(row.waiver.fits)})" if row.waiver.fits else ""
    lines = row.waiver.text.rstrip("\n").split("\n")
    head = f"<details><summary>Or a waiver, as {code_tag(row.waiver.file)}{note}</summary>"
    return f"{head}\n\n{block(lines, 'yaml')}\n</details>\n"


# The sections beside the topics' own: policies, what Pulsar would ignore, drift, history.


_DIGITS: Final = 12
_MAX_CHANGES: Final = 20
_MAX_NAMES: Final = 10


def policy_rows(checks: Sequence[RegistryCheck]) -> tuple[tuple[str, ...], ...]:
    """The cells of a row for each subject whose policies would be set, and each new namespace."""
    return tuple(row for check in checks for row in _policy_rows(check.plan))


def _policy_rows(plan: Plan) -> Iterator[tuple[str, ...]]:
    grouped: dict[str, list[str]] = {}
    for action in plan.actions:
        match action:
            case SetPolicy():
                grouped.setdefault(str(action.subject), []).append(_policy(action))
            case CreateTenant() | CreateNamespace() | CreateTopic():
                grouped.setdefault(str(subject_of(action)), []).append(_creation(action))
            case _:
                pass
    for subject, changes in grouped.items():
        yield code(subject), prose(plan.registry), "<br>".join(changes)


def _creation(action: CreateTenant | CreateNamespace | CreateTopic) -> str:
    match action:
        case CreateTenant():
            return f"new tenant, {prose(tenant_text(action.state))}"
        case CreateNamespace():
            return "new namespace"
        case CreateTopic():
            return creation_text(action)


def _policy(action: SetPolicy) -> str:
    change = action.change
    values = f"{policy_text(change.before)} → {policy_text(change.after)}"
    return f"{prose(change.key)}: {values}{_why(action)}"


def _why(action: SetPolicy) -> str:
    """Behind the values: what is odd about them."""
    if action.loosens:
        return " ⚠ **for this schema only**, by a waiver"
    if action.sets_back:
        return ", set back after that"
    return " ⚠ **loosened**" if direction(action.change) == "loosened" else ""


def ignored_items(rows: Sequence[Row]) -> tuple[str, ...]:
    """An item for each topic of which Pulsar takes differences for none."""
    grouped: dict[tuple[str, tuple[SchemaChange, ...]], list[str]] = {}
    for row in rows:
        if ignored := tuple(change for change in row.changes if change.ignored):
            grouped.setdefault((str(row.topic), ignored), []).append(row.registry)
    return tuple(_ignored(topic, ignored) for topic, ignored in sorted(grouped, key=lambda k: k[0]))


def _ignored(topic: str, changes: Sequence[SchemaChange]) -> str:
    text = ", ".join(_change(change) for change in changes[:_MAX_CHANGES])
    number = len(changes) - _MAX_CHANGES
    return f"- {code(topic)}: {text}{f' and {number} more' if number > 0 else ''}\n"


def _change(change: SchemaChange) -> str:
    values = " → ".join(code(value) for value in (change.before, change.after) if value)
    return f"{code(change.path or '(schema)')}{f' ({values})' if values else ''}"


def drift_items(report: CheckReport) -> tuple[str, ...]:
    """An item for each difference that this change does not make."""
    return tuple(
        item for check in report.registries if check.drift for item in _drift(check, check.drift)
    )


def _drift(check: RegistryCheck, drift: Plan) -> Iterator[str]:
    on = prose(check.plan.registry)
    for action in drift.actions:
        if isinstance(action, SetPolicy):
            yield f"- {code(str(action.subject))} on {on}: {_policy(action)}\n"
        elif isinstance(action, CreateTenant | CreateNamespace | CreateTopic):
            yield f"- {code(str(subject_of(action)))} on {on}: {_creation(action)}\n"
    for row in rows_of((RegistryCheck(plan=drift, history=check.history),)):
        verdict = "" if row.weight is Weight.GOOD else f", {row.verdict}"
        yield f"- {code(str(row.topic))} on {on}: {row.versions}{verdict}\n"


def unmanaged_items(checks: Sequence[RegistryCheck]) -> tuple[str, ...]:
    """An item for each topic of a registry without a manifest, and for what is not known."""
    return tuple(item for check in checks for item in _unmanaged(check.plan))


def _unmanaged(plan: Plan) -> Iterator[str]:
    on = prose(plan.registry)
    for namespace in plan.unmanaged_namespaces:
        yield f"- {code(str(namespace))} on {on}: a namespace that earlier files had\n"
    for topic in plan.unmanaged:
        yield f"- {code(str(topic))} on {on}\n"
    for namespace in plan.unlisted:
        yield f"- {code(str(namespace))} on {on}: its topics cannot be listed or read\n"
    if number := plan.without_schema:
        yield f"- {count(number, 'more topic')} on {on} without a schema\n"
    yield from (f"- {on}: {message(limit)}\n" for limit in plan.limits)


def broker_items(checks: Sequence[RegistryCheck], *, several: bool) -> tuple[str, ...]:
    """What is known of each registry's broker; registries are named where there are `several`."""
    return tuple(
        f"{f'{prose(check.plan.registry)}, ' if several else ''}{'<br>'.join(lines)}\n"
        for check in checks
        if (lines := [message(line) for line in broker_lines(check.plan.broker)])
    )


def history_lines(checks: Sequence[RegistryCheck]) -> tuple[str, ...]:
    """Lines for each registry: its plan, where the versions are from; then what is not known."""
    return tuple(
        "".join(f"<sub>{line}</sub><br>\n" for line in _registry(check)) for check in checks
    )


def _registry(check: RegistryCheck) -> Iterator[str]:
    plan, history = check.plan, check.history
    parts = [
        f"{prose(plan.registry)} ({code(plan.address)})",
        f"plan {code(short_digest(str(to_document(plan)['digest'])))}",
        f"history from {_source(history)}",
    ]
    yield " · ".join(parts)
    # Why there is no better source comes first in a history; what is unknown matters more here.
    yield from (f"⚠ {message(limit)}" for limit in reversed(history.limits))


def _source(history: History) -> str:
    match history.source:
        case HistorySource.REGISTRY:
            return "the registry"
        case HistorySource.SNAPSHOT:
            return (
                f"the snapshot of {prose(history.recorded)}" if history.recorded else "a snapshot"
            )
        case HistorySource.GIT:
            return "git"


def short_digest(digest: str) -> str:
    """As much of a digest as people compare."""
    return digest.removeprefix("sha256:")[:_DIGITS]


def reach_items(touched: Impact, rows: Sequence[Row]) -> tuple[str, ...]:
    """The shared files with their topics, many counted where the table has all; the clients."""
    shown = {row.topic for row in rows}
    items: list[str] = []
    for file, members in affected_text(touched):
        is_counted = len(members) >= ALIKE and shown.issuperset(members)
        topics = count(len(members), "topic") if is_counted else _names(members)
        items.append(f"- {code(file)} affects {topics}\n")
    if touched.clients:
        items.append(f"- {count(len(touched.clients), 'client')}: {_names(touched.clients)}\n")
    return tuple(items)


def _names(names: Sequence[TopicName | str]) -> str:
    return name_list([code(str(name)) for name in names], _MAX_NAMES)


def rollout_items(report: CheckReport) -> tuple[str, ...]:
    """The acts as a list to tick off."""
    texts = told_messages(report)
    return tuple(
        item
        for registry in report.registries
        if has_order((planned_rollout := registry.to_merge).rollout) and shows_rollout(report)
        for item in (
            *(
                f"- ✗ {message(block_line)}\n"
                for block_line in block_lines(planned_rollout.rollout, texts)
            ),
            *map(
                _act,
                lines(
                    planned_rollout.rollout,
                    planned_rollout.plan,
                    merged_already=not report.base,
                    shown_messages=texts,
                ),
            ),
            *_alternative(registry.rollout, report.reference),
        )
    )


def _alternative(rollout: Rollout, reference: str) -> Iterator[str]:
    if way := alternative(rollout, reference):
        yield f"- {message(way)}\n"


def _act(line: Line) -> str:
    """What is folded is another step once its names are others, though it has the same words."""
    below = [*line.remarks, *(f"⚠ {warning}" for warning in line.warnings)]
    lines_below = "".join(f"<br>\n      {message(text)}" for text in below)
    folded = f" <!-- {line.folded} -->" if line.folded else ""
    return f"- [ ] {line.number}. {prose(line.text)}{folded}{lines_below}\n"
