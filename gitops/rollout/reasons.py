"""The reasons of a rollout's order, each as one clause with its client and its moment."""

from __future__ import annotations

from typing import Final

from gitops.model.names import TopicName
from gitops.model.rollout import Drain, Register
from gitops.model.rollout_reason import Cause, Reason, cause_of

CURRENT: Final = "current"
NEW: Final = "new"
IN_TURN: Final = Reason(verb="versions are registered one after the other")
UNREGISTERED: Final = Cause(text="its schema is not registered")


def _once(register: Register) -> str:
    return f"Once v{register.version} of {register.topic} is registered"


def reconnect_reason(client: str, state: str, register: Register, why: Cause) -> Reason:
    """A client that the broker refuses from a registration on."""
    return Reason(
        moment=_once(register), state=state, clients=(client,), verb="cannot reconnect", cause=why
    )


def connect_reason(client: str, register: Register, why: Cause) -> Reason:
    """A client that the broker refuses until a registration."""
    return Reason(
        clients=(client,),
        verb="connect",
        rest=f"only after v{register.version} of {register.topic} is registered",
        cause=None if why == UNREGISTERED else why,
    )


def read_reason(
    consumer: str, producer: str, topic: TopicName, why: str, states: tuple[str, str] = ("", "")
) -> Reason:
    """A consumer that cannot read what a producer writes; `states` are theirs, in this order."""
    reader, writer = states
    which = f"the {writer} {producer}" if writer else producer
    return Reason(
        state=reader,
        clients=(consumer,),
        verb="cannot read",
        rest=f"what {which} writes to {topic}",
        cause=cause_of(why, producer),
    )


def latest_reason(
    consumer: str, state: str, producer: str, register: Register, why: Cause
) -> Reason:
    """A consumer that cannot read the latest version, which AUTO_PRODUCE writes."""
    is_new = state == NEW
    moment = "" if is_new else _once(register)
    until = f" until v{register.version} is registered" if is_new else ""
    return Reason(
        moment=moment,
        state=state,
        clients=(consumer,),
        verb="cannot read",
        rest=f"what {producer} writes to {register.topic} by AUTO_PRODUCE{until}",
        cause=why,
    )


def retained_reason(consumer: str, drain: Drain, why: str) -> Reason:
    """A consumer that cannot read messages which are there already."""
    return Reason(
        state=NEW,
        clients=(consumer,),
        verb="cannot read",
        rest=f"retained messages of v{drain.version} of {drain.topic}",
        cause=cause_of(why, f"v{drain.version}"),
    )


def writes_reason(producer: str, drain: Drain, *, again: bool = False) -> Reason:
    """A producer of messages of which none are to be left."""
    what = f"v{drain.version} of {drain.topic}"
    if again:
        return Reason(moment="After its upgrade", clients=(producer,), verb="write", rest=what)
    return Reason(clients=(producer,), verb="write", rest=f"{what} until its upgrade")


def use_reason(client: str, topic: TopicName) -> Reason:
    """A client of a topic that is to go."""
    return Reason(clients=(client,), verb="use", rest=f"{topic} until its upgrade")
