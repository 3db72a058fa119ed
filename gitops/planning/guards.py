"""Limits on how much one apply may change."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.model.config import SafetyConfig
from gitops.model.findings import Finding
from gitops.model.plan import Action, DeleteSchema, RegisterSchema
from gitops.model.rules import finding
from gitops.model.state import RegistryState


def guard(
    actions: Sequence[Action], observed: RegistryState, safety: SafetyConfig
) -> tuple[Finding, ...]:
    """Findings for a plan that changes or deletes too much; first versions do not count."""
    return (*_share(actions, observed, safety), *_deletions(actions, safety))


def _share(
    actions: Sequence[Action], observed: RegistryState, safety: SafetyConfig
) -> tuple[Finding, ...]:
    existing = sum(1 for topic in observed.topics.values() if topic.history.latest)
    changed = {
        action.topic
        for action in actions
        if isinstance(action, DeleteSchema)
        or (isinstance(action, RegisterSchema) and action.latest_version is not None)
    }
    if existing < safety.min_topics or len(changed) <= existing * safety.max_changed_share:
        return ()
    return (
        finding(
            "PLAN-R004",
            (
                f"{len(changed)} of {existing} {'topic' if existing == 1 else 'topics'} "
                f"with a schema would change, more than {safety.max_changed_share:.0%}"
            ),
            hint="split the change, or raise safety.maxChangedShare in gitops.yaml",
        ),
    )


def _deletions(actions: Sequence[Action], safety: SafetyConfig) -> tuple[Finding, ...]:
    if safety.allow_deletions:
        return ()
    return tuple(
        finding(
            "PLAN-R005",
            f"the schema of {action.topic} would be deleted, all its versions with it",
            subject=str(action.topic),
            hint="set safety.allowDeletions in gitops.yaml, or write the topic's manifest",
        )
        for action in actions
        if isinstance(action, DeleteSchema)
    )
