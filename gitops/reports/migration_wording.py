"""The way to a new topic in words: as one line, and as steps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from gitops.model.rollout import Migration, Move, Rollout
from gitops.model.rollout_reason import name_list

_MOST_NAMES: Final = 3


def migrate_command(reference: str) -> str:
    """What writes the manifests of a migration's first steps; `reference` is the base."""
    return shlex.join(["pulsar-gitops", "rollout", "--base", reference or "REF", "--migrate"])


def alternative(rollout: Rollout, reference: str) -> str:
    """The way out by new topics in one line; empty where there is none."""
    if not rollout.migrations:
        return ""
    names = name_list([str(one.to) for one in rollout.migrations], _MOST_NAMES)
    return f"Alternative: move to {names} (`{migrate_command(reference)}` writes the manifests)"


def migration_lines(migration: Migration) -> Iterator[tuple[int, str]]:
    """The steps from the old topic to the new one, in order, with their numbers."""
    for number, move in enumerate(Move, start=1):
        yield number, _move_text(move, migration)


def _move_text(move: Move, migration: Migration) -> str:
    old, new = migration.topic, migration.to
    consumers = ", ".join(migration.consumers) or "all consumers"
    producers = ", ".join(migration.producers) or "all producers"
    match move:
        case Move.CREATE:
            return f"create {new} with the new schema"
        case Move.CONSUME_BOTH:
            return f"upgrade {consumers}: consume {new} beside {old}"
        case Move.PRODUCE:
            return f"upgrade {producers}: produce to {new} instead of {old}"
        case Move.DRAIN:
            return f"wait until no subscription of {old} has a message left"
        case Move.CONSUME_NEW:
            return f"upgrade {consumers}: consume {new} only"
        case Move.DELETE:
            return f"remove {old}"
