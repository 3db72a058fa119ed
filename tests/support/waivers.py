"""Short ways to write down waivers."""

from __future__ import annotations

import datetime

from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema
from gitops.model.waivers import Waiver
from tests.support.states import CREATED, TODAY


def waiver(
    fingerprint: str,
    topic: TopicName = CREATED,
    *,
    name: str = "agreed",
    expires: datetime.date = TODAY,
) -> Waiver:
    """A waiver that holds until `expires`, that day included."""
    return Waiver(
        name=name,
        subject=topic,
        fingerprint=fingerprint,
        reason="every consumer\n  is upgraded",
        approved_by="@acme/platform",
        expires=expires,
        location=Location(file=f"waivers/{name}.yaml", line=4, column=14),
        places={"expires": Location(file=f"waivers/{name}.yaml", line=7, column=10)},
    )


def refusal(plan: Plan) -> RefusedSchema:
    """The one schema that a plan refuses."""
    (found,) = (one for one in plan.notices if isinstance(one, RefusedSchema))
    return found
