"""A restore in words, for every format that people read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTopic,
    DeleteSchema,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.restore import Obstacle, Restore, TopicRestore
from gitops.model.rollout_reason import name_list
from gitops.planning.policies import policy_text
from gitops.reports.check_summary import count
from gitops.reports.operation_results import RestoreResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreEntry:
    """A sign, the subject, what is done to it or why nothing is, and what follows from that."""

    sign: str
    subject: str
    title: str
    lines: tuple[str, ...] = ()


def verdict_text(result: RestoreResult) -> str:
    """The result in one line, with its sign."""
    restore = result.restore
    name = restore.plan.registry
    if obstacles := restore.obstacles:
        subjects = count(len({obstacle.subject for obstacle in obstacles}), "subject")
        return f"✗ refused: {name} cannot have what was recorded, because of {subjects}"
    done = sum(item.error is None and not item.closes for item in result.results)
    if result.error and done == len(restore.plan.actions):
        return f"✗ {name} is restored, and not compared with the snapshot"
    if result.error or (result.check and result.check.differences):
        return f"✗ {name} is restored in part"
    if not restore.plan.actions:
        return f"✓ nothing to restore: {name} has every recorded version"
    if result.dry_run:
        return f"✓ can be restored: {_work(restore)}"
    versions = result.check.versions if result.check else 0
    numbers = "its number" if versions == 1 else "their numbers"
    return f"✓ restored: {name} has {count(versions, 'recorded version')} under {numbers}"


def scope_text(restore: Restore) -> str:
    """Which registry becomes like which snapshot, and how much that is."""
    plan = restore.plan
    by = f" of Pulsar {restore.release}" if restore.release else ""
    taken = f", taken {restore.taken}" if restore.taken else ""
    before = f", {plan.unchanged:,} already there" if plan.unchanged else ""
    additions = f", with versions of {name_list(restore.additions)}" if restore.additions else ""
    return (
        f"{plan.registry} · {plan.address} · snapshot of {restore.source}{by}{taken}{additions} · "
        f"{count(plan.namespaces, 'namespace')} · {count(plan.topics, 'topic')}{before}"
    )


def restore_entries(result: RestoreResult) -> Iterator[RestoreEntry]:
    """The obstacles, or else each topic that is not complete, what differs, and the policies."""
    restore = result.restore
    if restore.obstacles:
        yield from map(_obstacle, restore.obstacles)
        return
    differences = result.check.differences if result.check else {}
    for state in restore.topics:
        if state.topic in differences:
            title = f"not as recorded: {differences[state.topic]}"
            yield RestoreEntry(sign="✗", subject=str(state.topic), title=title)
        elif not state.is_there:
            sign, ended = _ended(state, result) if result.error else ("+", "")
            yield RestoreEntry(sign=sign, subject=str(state.topic), title=f"{_topic(state)}{ended}")
    for subject, changes in result.policies.items():
        title = "; ".join(
            f"{change.key} {policy_text(change.before)} → {policy_text(change.after)}"
            for change in changes
        )
        yield RestoreEntry(sign="~", subject=str(subject), title=title)


def _ended(restore: TopicRestore, result: RestoreResult) -> tuple[str, str]:
    """How far a restore came that stopped."""
    steps = len(restore.deletions) + len(restore.versions)
    tried = [
        item
        for item in result.results
        if isinstance(item.action, RegisterSchema | DeleteSchema)
        and item.action.topic == restore.topic
    ]
    done = sum(item.error is None for item in tried)
    if done == steps:
        return "✓", ""
    return ("✗", f": {done} of {count(steps, 'step')} done") if tried else ("+", ": not begun")


def other_lines(result: RestoreResult) -> list[str]:
    """What else is written, and what to do next."""
    restore = result.restore
    if restore.obstacles:
        return [*(f"warning: {note}" for note in restore.notes), "nothing was written"]
    actions = _done_or_planned(result)
    made = sum(isinstance(action, CreateNamespace) for action in actions)
    topics = sum(isinstance(action, CreateTopic) for action in actions)
    held = sum(isinstance(action, SetPolicy) and action.loosens for action in actions)
    others = [count(made, "namespace")] if made else []
    others += [count(topics, "topic")] if topics else []
    lines = [f"warning: {note}" for note in restore.notes]
    lines += [
        f"warning: {difference.subject}: {difference.reason}; {difference.hint}"
        for difference in restore.unrecorded
    ]
    lines += [f"also as recorded: {', '.join(others)}"] if others else []
    if held and not result.error:
        lines.append(
            "while versions are registered, every strategy accepts them and no producer can "
            f"register one: {count(held, 'policy', 'policies')} set back at the end"
        )
    return lines + [
        f"left: {difference.subject} has {difference.reason}; {difference.hint}"
        for difference in restore.left
    ]


def _done_or_planned(result: RestoreResult) -> list[Action]:
    """All actions, or those that are done of a restore that stopped."""
    if not result.error:
        return [*result.restore.plan.actions]
    return [item.action for item in result.results if item.error is None and not item.closes]


def _obstacle(obstacle: Obstacle) -> RestoreEntry:
    lines = (
        [f"messages with {versions_text(obstacle.versions)} would not decode"]
        if obstacle.versions
        else []
    )
    lines += [f"→ {obstacle.hint}"] if obstacle.hint else []
    return RestoreEntry(
        sign="✗", subject=str(obstacle.subject), title=obstacle.reason, lines=tuple(lines)
    )


def _topic(restore: TopicRestore) -> str:
    if not restore.deletions:
        return versions_text(restore.versions)
    number = count(len(restore.deletions), "deletion")
    deleted = f"{number} in place of {versions_text(restore.deletions)}"
    return f"{versions_text(restore.versions)} after {deleted}" if restore.versions else deleted


def _work(restore: Restore) -> str:
    topics = [topic for topic in restore.topics if not topic.is_there]
    versions = sum(len(topic.versions) for topic in topics)
    return f"{count(versions, 'version')} of {count(len(topics), 'topic')}"


def versions_text(versions: Sequence[int]) -> str:
    """`v3`, or `v0 to v4` of numbers that follow each other; empty for none."""
    if not versions:
        return ""
    first, last = versions[0], versions[-1]
    if first == last:
        return f"v{first}"
    if last - first == len(versions) - 1:
        return f"v{first} to v{last}"
    return ", ".join(f"v{version}" for version in versions)
