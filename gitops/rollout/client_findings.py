"""Findings about declared clients, each where the client is declared."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.clients import Client, Consumes, Produces
from gitops.model.findings import Finding, Location, group
from gitops.model.names import TopicName
from gitops.model.rollout import Block, Constraint, Delete, Drain, Register, Upgrade
from gitops.model.rollout_reason import Reason, last_name, merged, name_list
from gitops.model.rules import make_finding
from gitops.planning.refusals import version_list
from gitops.rollout.model import Service

_MOST_NAMES: Final = 10
_STILL_USED: Final = "CLIENT-R005"


class ClientFindings:
    """Findings about clients, each where the client is declared.

    `reference` is the base of the change as the user names it. On `blocked` topics no order is
    safe, so that no client reads both versions. Of `lost` topics the registry lost versions.
    """

    def __init__(
        self,
        clients: dict[str, Client],
        reference: str,
        blocked: frozenset[TopicName],
        lost: frozenset[str],
    ) -> None:
        self._clients = clients
        self._reference = reference
        self._blocked = blocked
        self._lost = lost

    def blocks(self, blocks: Iterable[Block]) -> Iterator[Finding]:
        """Why there is no order; the topics that a client still uses are one finding."""
        left: dict[str, list[tuple[TopicName, Finding]]] = {}
        for block in blocks:
            finding = self._block(block)
            if finding.rule == _STILL_USED and len(block.topics) == 1:
                left.setdefault(finding.subject, []).append((block.topics[0], finding))
            else:
                yield finding
        for client, uses in left.items():
            topics = name_list([str(topic) for topic, _ in uses], _MOST_NAMES)
            message = f"{client} still uses {len(uses):,} topics whose schemas go away: {topics}"
            yield group(message, [finding for _, finding in uses])

    def _block(self, block: Block) -> Finding:
        names = [step.service for step in block.steps if isinstance(step, Upgrade)]
        alone = len(block.steps) == 1
        if any(isinstance(step, Delete) for step in block.steps):
            rule, hint = _STILL_USED, "change the client first, and remove the topic after that"
        elif alone and names:
            rule, hint = "CLIENT-R002", "see `pulsar-gitops connect` for each step of the decision"
        else:
            rule, hint = "CLIENT-R004", self._two_steps_hint()
        subject = names[0] if names else ""
        return make_finding(
            rule,
            block.reason,
            location=self._place(subject, block.topics),
            subject=subject,
            hint=hint,
        ).from_origin(str(next(iter(block.topics), "")))

    def _two_steps_hint(self) -> str:
        command = shlex.join(["pulsar-gitops", "rollout", "--base", self._reference])
        return f"change the schema in two steps, or move to a new topic: `{command}` shows how"

    def broken(self, blocks: Iterable[Block]) -> Iterator[Finding]:
        """What does not work already, and is no fault of the change."""
        yield from map(self._broken_finding, blocks)

    def _broken_finding(self, broken: Block) -> Finding:
        names = [step.service for step in broken.steps if isinstance(step, Upgrade)]
        message = f"does not work now: {broken.reason}"
        hint = "declare the schema of the deployed client in its manifest, or fix the client"
        if lost := sorted(self._lost & {str(topic) for topic in broken.topics}):
            message = (
                f"does not work now, since the registry lost versions of {name_list(lost)}: "
                f"{broken.reason}"
            )
            hint = "bring the lost versions back: PLAN-R023 has the command"
        return make_finding(
            "CLIENT-R009",
            message,
            location=self._place(names[0], broken.topics),
            subject=names[0],
            hint=hint,
        )

    def too_early(
        self, before: tuple[Constraint, ...], services: tuple[Service, ...]
    ) -> Iterator[Finding]:
        """What a merge would do, or let be done, for which the base lacks something."""
        declared = {service.name for service in services if service.changes and not service.assumed}
        locked: dict[tuple[Register, Reason], list[tuple[Upgrade, Constraint]]] = {}
        waits: dict[tuple[str, TopicName, str], list[tuple[Drain, Finding]]] = {}
        for constraint in before:
            if isinstance(constraint.first, Upgrade) and isinstance(constraint.then, Register):
                alike = constraint.then, replace(constraint.reason, clients=())
                locked.setdefault(alike, []).append((constraint.first, constraint))
            if not isinstance(constraint.then, Upgrade) or constraint.then.service not in declared:
                continue
            if isinstance(constraint.first, Upgrade):
                yield self._second(constraint.first, constraint.then, constraint)
            elif isinstance(constraint.first, Drain):
                same = waits.setdefault(
                    (constraint.then.service, constraint.topic, constraint.cause), []
                )
                same.append(
                    (
                        constraint.first,
                        self._waiting_finding(constraint.first, constraint.then, constraint.reason),
                    )
                )
        yield from map(self._locked_out, locked.values())
        yield from map(_group_waits, waits.items())

    def _locked_out(self, clients: list[tuple[Upgrade, Constraint]]) -> Finding:
        """The merge registers at once, and locks out who has not upgraded by then."""
        names = [first.service for first, _ in clients]
        (whole,) = merged(constraint.reason for _, constraint in clients)
        findings = [
            make_finding(
                "CLIENT-R003",
                constraint.reason.sentence(),
                location=self._place(first.service, [constraint.topic]),
                subject=first.service,
                hint=self._first_hint(names, constraint.topic),
            ).from_origin(str(constraint.topic), _last_name(constraint.reason))
            for first, constraint in clients
        ]
        return group(whole.sentence(_MOST_NAMES), findings)

    def _second(self, first: Upgrade, then: Upgrade, constraint: Constraint) -> Finding:
        """Another client has to be ready first: a consumer that reads both, or a producer."""
        is_reader = constraint.reason.clients == (first.service,)
        own = f"First merge and deploy the upgrade of {first.service}, then merge this"
        return make_finding(
            "CLIENT-R003",
            constraint.reason.sentence(),
            location=self._place(then.service, [constraint.topic]),
            subject=then.service,
            hint=self._first_hint([first.service], constraint.topic) if is_reader else own,
        ).from_origin(str(constraint.topic), _last_name(constraint.reason))

    def _first_hint(self, names: Sequence[str], topic: TopicName) -> str:
        """Who is deployed before the merge, with what, and where that is declared."""
        if topic in self._blocked:
            return self._two_steps_hint()
        how = "`schema: {definition: …}`"
        if len(names) > 1:
            who = f"versions of {name_list(names, _MOST_NAMES)} that read both versions"
            return f"First deploy {who} ({how} in each client's manifest), then merge the schema"
        client = self._clients.get(names[0])
        where = client.location.file if client else f"the manifest of {names[0]}"
        who = f"a {names[0]} that reads both versions"
        return f"First deploy {who} ({how} in {where}), then merge the schema"

    def _waiting_finding(self, drain: Drain, then: Upgrade, reason: Reason) -> Finding:
        """Messages have to be gone first, of which the files know nothing."""
        return make_finding(
            "CLIENT-R008",
            f"wait until no message of v{drain.version} is left in {drain.topic} before "
            f"{then.service} upgrades: {reason.cause.clause() if reason.cause else ''}",
            location=self._place(then.service, [drain.topic]),
            subject=then.service,
            hint=f"see how long: pulsar-admin namespaces get-retention {drain.topic.namespace}; "
            "or let the new schema read them, too",
        ).from_origin(str(drain.topic), _last_name(reason))

    def _place(self, name: str, topics: Collection[TopicName]) -> Location | None:
        """Where the client names one of the topics; its name, where it no longer does."""
        client = self._clients.get(name)
        if client is None:
            return None
        uses: list[Consumes | Produces] = [*client.consumes, *client.produces]
        places = (use.location for use in uses if use.topic in topics)
        return next(places, client.location)


def _group_waits(
    waits: tuple[tuple[str, TopicName, str], list[tuple[Drain, Finding]]],
) -> Finding:
    """Of versions that cannot be read for one cause."""
    (service, topic, why), same = waits
    newest_first = sorted(same, key=lambda items: -items[0].version)
    versions = version_list([drain.version for drain, _ in newest_first])
    return group(
        f"wait until no message of {versions} is left in {topic} before {service} "
        f"upgrades: the new {service} cannot read them: {why}",
        [finding for _, finding in newest_first],
    )


def _last_name(reason: Reason) -> str:
    """The field at which it is."""
    return last_name(reason.cause.path if reason.cause else "")
