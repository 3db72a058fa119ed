"""What a registry has to have once a plan is carried out: each action once, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from gitops.model.names import TopicName
from gitops.model.policy import managed_items
from gitops.model.state import RegistryState


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEnd:
    """What the registry has to have once a plan is carried out, and nothing else."""

    versions: dict[TopicName, list[int]]
    next_version: dict[TopicName, int]
    policies: dict[tuple[str, str], object]

    @classmethod
    def of(cls, before: RegistryState, actions: list[dict[str, Any]]) -> PlanEnd:
        """From what it had, and the actions: each of them once."""
        versions = {t: [e.version for e in s.history.entries] for t, s in before.topics.items()}
        following = {t: s.history.next_version for t, s in before.topics.items()}
        policies: dict[tuple[str, str], object] = {}
        for one in actions:
            if one["action"] == "SetPolicy" and not one["waiver"]:
                policies[one["subject"].partition(" ")[2], one["key"]] = one["after"]
            if one["action"] in ("RegisterSchema", "DeleteSchema"):
                topic = TopicName.parse(one["topic"])
                following[topic] += 1
                is_new = one["action"] == "RegisterSchema"
                versions[topic] = [*versions[topic], one["version"]] if is_new else []
        return cls(versions=versions, next_version=following, policies=policies)

    def check(self, now: RegistryState, before: RegistryState) -> None:
        """Nothing is registered twice, nothing is lost, nothing is loosened."""
        for topic, state in now.topics.items():
            assert [one.version for one in state.history.entries] == self.versions[topic], topic
            assert state.history.next_version == self.next_version[topic], topic
            kept = zip(before.topics[topic].history.entries, state.history.entries, strict=False)
            assert all(old.info == new.info for old, new in kept), topic
        for name, states in (("namespaces", before.namespaces), ("topics", before.topics)):
            for subject, old in states.items():
                found = dict(managed_items(getattr(now, name)[subject].policies))
                planned = {
                    key: value for (of, key), value in self.policies.items() if of == str(subject)
                }
                wanted = {**dict(managed_items(old.policies)), **planned}
                for key in found.keys() | wanted.keys():
                    both = (found.get(key), wanted.get(key))
                    has, wants = (getattr(one, "value", one) for one in both)
                    is_unset = {has, wants} <= {None, "UNDEFINED"} or key in _OF_A_NEW_ONE
                    assert has == wants or is_unset, (subject, key, has, wants)


_OF_A_NEW_ONE: Final = ("isAllowAutoUpdateSchema", "schemaValidationEnforced")
"""Which a broker spells out for a new namespace; no plan here sets them."""
