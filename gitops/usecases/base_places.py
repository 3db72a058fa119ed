"""Places in the base for findings that compare with a version: there it stands in a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitops.model.findings import Finding, Location, group
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema, SchemaSwallowed
from gitops.model.state import RegistryState
from gitops.planning.sameness import is_same
from gitops.repository.definitions.locating import Locator
from gitops.usecases.change import LoadedChange


class BasePlaces:
    """Finds the lines of the base, where the base holds the version that is compared with."""

    def __init__(self, loaded: LoadedChange, observed: RegistryState) -> None:
        self._loaded = loaded
        self._observed = observed
        self._locator = Locator(loaded.base_tree, loaded.base.topics)
        self._names = {topic.keeper: topic for topic in loaded.base.topics}
        self._topics = {str(topic): topic for topic in observed.topics}

    def in_plan(self, plan: Plan) -> Plan:
        """The plan with such places in all its findings."""
        return replace(
            plan,
            actions=tuple(
                replace(one, findings=self.of(one.findings))
                if isinstance(one, RegisterSchema)
                else one
                for one in plan.actions
            ),
            notices=tuple(
                replace(one, findings=self.of(one.findings))
                if isinstance(one, RefusedSchema | SchemaSwallowed)
                else one
                for one in plan.notices
            ),
            findings=self.of(plan.findings),
        )

    def of(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings with their places in the base.

        What was removed stands there and nowhere else.
        """
        return tuple(
            group(found.message, [self._placed(one) for one in found.members]) for found in findings
        )

    def _placed(self, found: Finding) -> Finding:
        topic, where = self._topics.get(found.subject), found.compared
        there = self._place(topic, where) if topic and where and not where.line else None
        if there is None or where is None:
            return found
        if not _is_removed(found, where):
            return replace(found, compared=there)
        return replace(found, location=there, compared=found.location)

    def _place(self, topic: TopicName, where: Location) -> Location | None:
        name = self._names.get(topic.keeper, topic)
        state = self._loaded.base.desired.topics.get(name)
        latest = state.history.latest if state else None
        entries = self._observed.topics[topic].history.entries
        version = next((each for each in entries if f"v{each.version}" == where.file), None)
        if latest is None or version is None or not is_same(version.info, latest.info):
            return None
        place = self._locator.locate(name, where.pointer)
        return replace(place, in_base=True) if place else None


def _is_removed(found: Finding, where: Location) -> bool:
    """Whether the finding is about something that the new definition has no place for."""
    old_reads = found.message.startswith(f"{where.file} cannot read")
    return found.rule == "PROTO-W001" or (found.rule == "AVRO-R002" and old_reads)
