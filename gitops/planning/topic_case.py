"""Everything that the decision about one topic's schema needs."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.waivers import Waiver
from gitops.planning.refusals import Locate


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCase:
    """One topic: what is wanted, what is there, and what holds.

    `strategy` is the one that holds and `own` the topic's own, both as they are once the plan is
    carried out. `exists` is false where the topic takes no policies. `content` are the findings
    about the desired definition; `locate` says where a JSON pointer of it stands in the files;
    `rules` are the severities that differ from the table's. `waivers` are those of this topic, and
    `today` is the day, in UTC, on which they must hold.
    """

    topic: TopicName
    desired: SchemaInfo
    history: SchemaHistory
    strategy: SchemaCompatibilityStrategy
    locate: Locate
    today: datetime.date
    own: SchemaCompatibilityStrategy | None = None
    exists: bool = True
    content: tuple[Finding, ...] = ()
    rules: Mapping[str, Severity] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
