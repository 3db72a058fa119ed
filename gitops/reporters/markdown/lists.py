"""The sections beside the topics' own: policies, what Pulsar would ignore, drift, history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gitops.model.check import CheckReport, History, HistorySource, RegistryCheck, Touched
from gitops.model.names import TopicName
from gitops.model.plan import CreateNamespace, Plan, SchemaChange, SetPolicy
from gitops.model.rollout import Migration
from gitops.planning.plan_document import to_document
from gitops.planning.policies import direction, policy_text
from gitops.reporters.markdown.escaping import code, message, prose
from gitops.reporters.markdown.rows import Row, Weight, rows_of
from gitops.reporters.rollout import Line, has_order, lines, migrate_command, migration_lines
from gitops.reporters.tally import count, reaching

_DIGITS: Final = 12
_MAX_CHANGES: Final = 20
_MAX_NAMES: Final = 10


def policy_rows(checks: Sequence[RegistryCheck]) -> tuple[tuple[str, ...], ...]:
    """The cells of a row for each subject whose policies would be set, and each new namespace."""
    return tuple(row for check in checks for row in _policy_rows(check.plan))


def _policy_rows(plan: Plan) -> Iterator[tuple[str, ...]]:
    said: dict[str, list[str]] = {}
    for action in plan.actions:
        match action:
            case SetPolicy():
                said.setdefault(str(action.subject), []).append(_policy(action))
            case CreateNamespace():
                said.setdefault(str(action.namespace), []).append("new namespace")
            case _:
                pass
    for subject, changes in said.items():
        yield code(subject), prose(plan.registry), "<br>".join(changes)


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
    found: dict[tuple[str, tuple[SchemaChange, ...]], list[str]] = {}
    for row in rows:
        if ignored := tuple(change for change in row.changes if change.ignored):
            found.setdefault((str(row.topic), ignored), []).append(row.registry)
    return tuple(_ignored(topic, ignored) for topic, ignored in sorted(found, key=lambda k: k[0]))


def _ignored(topic: str, changes: Sequence[SchemaChange]) -> str:
    said = ", ".join(_change(change) for change in changes[:_MAX_CHANGES])
    more = len(changes) - _MAX_CHANGES
    return f"- {code(topic)}: {said}{f' and {more} more' if more > 0 else ''}\n"


def _change(change: SchemaChange) -> str:
    values = " → ".join(code(each) for each in (change.before, change.after) if each)
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
        elif isinstance(action, CreateNamespace):
            yield f"- {code(str(action.namespace))} on {on}: new namespace\n"
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
        f"versions from {_source(history)}",
    ]
    yield " · ".join(parts)
    # Why there is no better source comes first in a history; what is unknown matters more here.
    yield from (f"⚠ {message(limit)}" for limit in reversed(history.limits))


def _source(history: History) -> str:
    match history.source:
        case HistorySource.REGISTRY:
            return "the registry itself"
        case HistorySource.SNAPSHOT:
            return (
                f"the snapshot of {prose(history.recorded)}" if history.recorded else "a snapshot"
            )
        case HistorySource.GIT:
            return "git"


def short_digest(digest: str) -> str:
    """As much of a digest as people compare."""
    return digest.removeprefix("sha256:")[:_DIGITS]


def reach_items(touched: Touched) -> tuple[str, ...]:
    """The shared files with the topics that they lead to, and the clients of the change."""
    items = [f"- {code(file)} reaches {_names(topics)}\n" for file, topics in reaching(touched)]
    if touched.clients:
        items.append(f"- {count(len(touched.clients), 'client')}: {_names(touched.clients)}\n")
    return tuple(items)


def _names(names: Sequence[TopicName | str]) -> str:
    shown, left = ", ".join(code(str(name)) for name in names[:_MAX_NAMES]), len(names) - _MAX_NAMES
    return f"{shown} and {left:,} more" if left > 0 else shown


def rollout_items(report: CheckReport) -> tuple[str, ...]:
    """The steps as a list to tick off; a merge registers what is to be registered."""
    return tuple(
        item
        for one in report.registries
        if has_order(one.rollout)
        for item in (
            *(f"- ✗ no safe order: {message(block.reason)}\n" for block in one.rollout.blocks),
            *map(_step, lines(one.rollout, one.plan)),
            *(each for way in one.rollout.migrations for each in _migration(way, report.reference)),
        )
    )


def _migration(way: Migration, reference: str) -> Iterator[str]:
    command = code(migrate_command(reference))
    yield f"- the way to a new topic, {code(str(way.to))}; {command} begins it\n"
    for line in migration_lines(way):
        yield f"  - [ ] {line.number}. {prose(line.text)}\n"


def _step(line: Line) -> str:
    note = f" · {line.note}" if line.note else ""
    below = [*line.since(1), *([line.advice] if line.advice else [])]
    below += [f"⚠ {each}" for each in line.warnings]
    lines_below = "".join(f"<br>\n      {message(each)}" for each in below)
    return f"- [ ] {line.number}. {prose(line.text)}{note}{lines_below}\n"
