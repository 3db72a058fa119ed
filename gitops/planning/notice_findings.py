"""Findings about a plan's notices and the content of definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.plan import (
    Action,
    Notice,
    RefusedSchema,
    RegisterSchema,
    SchemaDrift,
    SchemaSwallowed,
    SchemaWithoutEffect,
)
from gitops.model.policy import PolicyChange, SchemaCompatibilityStrategy
from gitops.model.rules import make_finding
from gitops.model.state import TopicState
from gitops.planning.policies import direction
from gitops.planning.severities import at_most_warning

_STRATEGY: Final = "schemaCompatibilityStrategy"


def notice_findings(
    notices: Sequence[Notice], locate: Callable[[TopicName, str], Location | None]
) -> Iterator[Finding]:
    """Refusals with all their reasons, and what Pulsar would accept without doing it.

    `locate` says where a JSON pointer of a topic's definition stands in the files.
    """
    for notice in notices:
        match notice:
            case RefusedSchema():
                yield from notice.findings
            case SchemaWithoutEffect():
                versions = notice.equal_version, notice.latest_version
                yield revert_finding(str(notice.topic), *versions, locate(notice.topic, ""))
            case SchemaDrift():
                pass  # where git's history is known, beside this plan
            case SchemaSwallowed():
                if not notice.waiver:  # which says more
                    yield _swallowed(notice, locate(notice.topic, ""))
                yield from notice.findings


def action_findings(actions: Sequence[Action]) -> Iterator[Finding]:
    """What our own rules say about schemas that Pulsar takes."""
    for action in actions:
        if isinstance(action, RegisterSchema):
            yield from action.findings


def content_findings(
    content: Mapping[TopicName, tuple[Finding, ...]],
    actions: Sequence[Action],
    notices: Sequence[Notice],
) -> Iterator[Finding]:
    """What is to be said about definitions, where a refusal or a waiver has not said it yet.

    What a registry holds already is reported, and never stands in the way.
    """
    registered = [action for action in actions if isinstance(action, RegisterSchema)]
    changing = {action.topic for action in registered}
    topics = {notice.topic for notice in notices if isinstance(notice, RefusedSchema)}
    topics |= {action.topic for action in registered if action.waiver}
    for topic, findings in sorted(content.items()):
        for finding in findings if topic not in topics else ():
            yield finding if topic in changing else at_most_warning(finding)


def unread_findings(
    unread: Mapping[TopicName, str], locate: Callable[[TopicName, str], Location | None]
) -> Iterator[Finding]:
    """Topics of the files on whose schemas the registry fails: nothing is known to plan from."""
    for topic, reason in sorted(unread.items()):
        yield make_finding(
            "PLAN-R013",
            f"the schemas cannot be read, so nothing is planned for this topic: {reason}",
            subject=str(topic),
            location=locate(topic, ""),
            hint="brokers of the line that stored them can show them; else, when the backlog is "
            "consumed, delete the topic's schema and register it anew",
        )


def looser_topic_finding(
    desired: TopicState,
    observed: TopicState,
    holds: Callable[[SchemaCompatibilityStrategy | None], SchemaCompatibilityStrategy],
    locate: Callable[[TopicName, str], Location | None],
    removal: Callable[[], str],
) -> tuple[Finding, ...]:
    """A topic takes more than its namespace lets in, by a strategy that its manifest does not say.

    `holds` gives, from a topic's own strategy, the one in force; `locate` as in `notice_findings`.
    `removal` gives the command that removes the strategy, empty where clients need it. An apply
    that was killed between two requests may have left that.
    """
    own = observed.policies.schema_compatibility_strategy
    managed = desired.policies.schema_compatibility_strategy is not None
    if own is None or managed or observed.topic.domain == "non-persistent":
        return ()
    change = PolicyChange(key=_STRATEGY, before=holds(None), after=holds(own))
    if direction(change) != "loosened":
        return ()
    topic = str(observed.topic)
    command = removal()
    hint = (
        f"remove it: {command}; or, if it is intended, write it under policies: in the topic's "
        "manifest"
        if command
        else "write it under policies: in the topic's manifest; it cannot be removed yet: without "
        "it, clients with the latest version could no longer connect"
    )
    return (
        make_finding(
            "PLAN-R009",
            f"the registry has {_STRATEGY} {own.value} for this topic alone: it is looser "
            f"than {holds(None).value}, which applies without it, and no file contains it",
            location=locate(desired.topic, ""),
            subject=topic,
            hint=hint,
        ),
    )


def revert_finding(
    subject: str, equal: int, latest: int, location: Location | None = None
) -> Finding:
    """A schema is an older version's, which the registry then answers, and nothing changes."""
    return make_finding(
        "PLAN-R003",
        f"this schema is v{equal}; Pulsar keeps v{latest} as the latest, so a revert does not "
        "roll back",
        location=location,
        subject=subject,
        hint="add a custom property to the schema to make it a new version, or keep the latest",
    )


def _swallowed(notice: SchemaSwallowed, where: Location | None) -> Finding:
    places = ", ".join(dict.fromkeys(change.path or "the schema" for change in notice.changes))
    return make_finding(
        "PLAN-R007",
        f"Pulsar treats this as v{notice.version} and ignores the differences: {places}",
        location=where,
        subject=str(notice.topic),
        hint="see `pulsar-gitops explain PLAN-R007`",
    ).from_origin(str(notice.topic), _ignored_word(notice))


def _ignored_word(notice: SchemaSwallowed) -> str:
    """The member of a definition that differs: `doc` of `doc only`."""
    return next((change.after.partition(" ")[0] for change in notice.changes if change.ignored), "")
