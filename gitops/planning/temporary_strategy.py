"""How a topic is loosened for the one schema that a waiver lets in, and closed again.

A broker cannot be told to accept a schema. It takes any valid one while the topic's own
schemaCompatibilityStrategy is ALWAYS_COMPATIBLE, so that is set, the schema registered, and the
strategy set back to what it was (Pulsar 4.0.7, where POST …/schema sees a topic's policy as soon
as the request that set it is answered).

An apply that is killed in between leaves the topic open and tells nobody. The waiver remembers:
its fingerprint is made with the strategy that the topic had, so the plan that follows finds out
which one that was, and closes the topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitops.broker.registration import register
from gitops.model.names import TopicName
from gitops.model.plan import Action, RegisterSchema, SetPolicy
from gitops.model.policy import PolicyChange, PolicyValue
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.state import TopicState
from gitops.model.waivers import Waiver
from gitops.planning.refusals import TopicCase
from gitops.planning.waivers import drop_latest_version, waiver_fingerprint
from gitops.schemas.payload import PayloadError, stored_history

KEY: Final = "schemaCompatibilityStrategy"
OPEN: Final = Strategy.ALWAYS_COMPATIBLE
Holds = Callable[[Strategy | None], Strategy]
"""From a topic's own strategy to the one that holds for it then."""

_MEND: Final = "no waiver helps here: fix the reasons for the refusal"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnloosenedTopic:
    """A topic as it is when nobody has loosened it; `waiver` names the one that somebody has."""

    state: TopicState
    waiver: str = ""

    @property
    def own(self) -> Strategy | None:
        """The topic's own strategy."""
        return self.state.policies.schema_compatibility_strategy


def obstacle(case: TopicCase) -> tuple[str, str] | None:
    """Why loosening the topic does not let the schema in, and what to do; None if it does.

    It takes a schema that Pulsar accepts under ALWAYS_COMPATIBLE, so invalid data and a history
    that cannot be read stay refused, and a topic that can have policies, of which those of a
    non-persistent one do not count for a registration (Pulsar 4.0.7).
    """
    try:
        decision = register(stored_history(case.history), case.desired, OPEN, case.line)
    except PayloadError as error:
        return f"the registry contains a schema that cannot be read: {error}", _MEND
    if not decision.accepted:
        return f"Pulsar refuses the schema under every strategy: {decision.reason}", _MEND
    if case.topic.domain == "non-persistent":
        return (
            "a non-persistent topic cannot have its own strategy",
            "loosen the strategy of its namespace, apply, and put it back",
        )
    if not case.exists:
        return (
            "the registry accepts no policies for the topic, so its strategy cannot be loosened",
            f"create it: pulsar-admin topics create {case.topic}; see PLAN-R008",
        )
    return None


def settle(
    desired: TopicState,
    observed: TopicState,
    waivers: Sequence[Waiver],
    holds: Holds,
) -> UnloosenedTopic:
    """`observed`, with the strategy that it had before an apply that did not come to its end.

    Where the files manage the topic's strategy there is nothing to remember.
    """
    is_open = observed.policies.schema_compatibility_strategy is OPEN
    managed = desired.policies.schema_compatibility_strategy is not None
    if not is_open or managed or observed.topic.domain == "non-persistent":
        return UnloosenedTopic(state=observed)
    by_fingerprint = {waiver.fingerprint: waiver.name for waiver in waivers}
    for own in (
        None,
        *(strategy for strategy in Strategy if strategy not in (OPEN, Strategy.UNDEFINED)),
    ):
        for history, info in _unfinished(desired, observed) if waivers else ():
            made = waiver_fingerprint(observed.topic, history, info, own=own, strategy=holds(own))
            if made in by_fingerprint:
                policies = replace(observed.policies, schema_compatibility_strategy=own)
                state = replace(observed, policies=policies)
                return UnloosenedTopic(state=state, waiver=by_fingerprint[made])
    return UnloosenedTopic(state=observed)


def _unfinished(
    desired: TopicState, observed: TopicState
) -> Iterator[tuple[SchemaHistory, SchemaInfo]]:
    """What a waiver may have let in: what is wanted still, or what is the latest version now."""
    if desired.history.latest:
        yield observed.history, desired.history.latest.info
    if observed.history.latest:
        yield drop_latest_version(observed.history), observed.history.latest.info


def actions_of(
    observed: TopicState,
    settled: UnloosenedTopic,
    changes: Iterable[PolicyChange],
    schema: RegisterSchema | None,
) -> list[Action]:
    """What is done to one topic, in order; `changes` are those that the files ask for."""
    topic, changes = observed.topic, list(changes)
    if schema and not schema.accepted:
        own = next((change.after for change in changes if change.key == KEY), settled.own)
        others = (change for change in changes if change.key != KEY)
        now = observed.policies.schema_compatibility_strategy
        return [
            *(SetPolicy(subject=topic, change=change) for change in others),
            *([] if now is OPEN else [_set(topic, schema.waiver, now, OPEN)]),
            schema,
            _set(topic, schema.waiver, OPEN, own),
        ]
    return [
        *(SetPolicy(subject=topic, change=change) for change in changes),
        *([_set(topic, settled.waiver, OPEN, settled.own)] if settled.waiver else []),
        *([schema] if schema else []),
    ]


def _set(topic: TopicName, waiver: str, before: PolicyValue, after: PolicyValue) -> SetPolicy:
    change = PolicyChange(key=KEY, before=before, after=after)
    return SetPolicy(subject=topic, change=change, waiver=waiver)
