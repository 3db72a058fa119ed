"""How subjects were before a change that is to be undone: what a plan or a commit changed.

An undo is a change like any other, with its own plan; what it leaves is a finding of that plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    Policies,
    PolicyValue,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    camel_case,
    managed_items,
    value_text,
)
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, Scope, TopicState
from gitops.planning.reviewed_plan import scope_of
from gitops.planning.revision import is_revision_of
from gitops.planning.undo_findings import (
    deletion_left,
    left,
    namespace_left,
    tenant_left,
    topic_left,
)

Subject = NamespaceName | TopicName
_TENANT: Final = "CreateTenant"
_LEGACY: Final = "schemaAutoUpdateCompatibilityStrategy"
_STRATEGY: Final = "schemaCompatibilityStrategy"
_VALIDATION: Final = "schemaValidationEnforced"
_BY_COMMIT: Final = "undo the commit that made the change: pulsar-gitops plan --undo COMMIT"
_BY_PLAN: Final = "pulsar-gitops plan --undo PLANFILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerTopic:
    """A topic before the change; `schema` is None where the change left its schema alone.

    `policies` are the keys that the change set, with their values before it. `created` is the first
    schema, where the change gave the topic one.
    """

    topic: TopicName
    schema: SchemaInfo | None = None
    policies: Mapping[str, PolicyValue] = field(default_factory=dict)
    created: SchemaInfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerState:
    """Every subject that a change was about, as it was before; `left` is what cannot be undone.

    A value of None among the `namespaces`' policies was not set, and no file can have that.
    """

    namespaces: Mapping[NamespaceName, Mapping[str, PolicyValue]] = field(default_factory=dict)
    topics: Mapping[TopicName, FormerTopic] = field(default_factory=dict)
    left: tuple[Finding, ...] = ()

    @property
    def schemas(self) -> Mapping[TopicName, SchemaInfo]:
        """The former schemas of the topics whose schema the change replaced or deleted."""
        return {topic: one.schema for topic, one in self.topics.items() if one.schema}


# From a plan file, which has what each action changed.


def plan_scope(document: Mapping[str, Any]) -> Scope:
    """The subjects that a plan changes, with the namespaces of its topics."""
    looked_at = scope_of(document)
    actions = (one for one in document["actions"] if one["action"] != _TENANT)
    changed = {_subject_of(one, looked_at) for one in actions}
    topics = frozenset(one for one in changed if isinstance(one, TopicName))
    spaces = frozenset(one for one in changed if isinstance(one, NamespaceName))
    return Scope(namespaces=spaces | {one.namespace for one in topics}, topics=topics)


def before_plan(
    document: Mapping[str, Any],
    observed: RegistryState,
    recorded: RegistryState,
    broker: BrokerSettings,
) -> FormerState:
    """How a plan found its subjects.

    `observed` is the registry now, which has every version that a plan came after; `recorded` is
    its snapshot, which may have schemas that the plan deleted.
    """
    reader = _PlanReader(document, observed, recorded, broker)
    for action in document["actions"]:
        reader.add(action)
    return reader.former()


class _PlanReader:
    def __init__(
        self,
        document: Mapping[str, Any],
        observed: RegistryState,
        recorded: RegistryState,
        broker: BrokerSettings,
    ) -> None:
        self._scope = scope_of(document)
        self._observed, self._recorded, self._broker = observed, recorded, broker
        self._topics: dict[TopicName, FormerTopic] = {}
        self._policies: dict[Subject, dict[str, tuple[PolicyValue, PolicyValue]]] = {}
        self._left: list[Finding] = []

    def add(self, action: Mapping[str, Any]) -> None:
        if action["action"] == _TENANT:
            self._left.append(tenant_left(action["tenant"]))
            return
        subject = _subject_of(action, self._scope)
        match action["action"]:
            case "SetPolicy":
                self._add_policy(subject, action)
            case "RegisterSchema" if isinstance(subject, TopicName):
                self._add_registration(subject, action)
            case "DeleteSchema" if isinstance(subject, TopicName):
                self._add_deletion(subject, action)
            case "CreateNamespace" if isinstance(subject, NamespaceName):
                self._left.append(namespace_left(subject))
            case "CreateTopic" if isinstance(subject, TopicName):
                self._left.append(topic_left(subject))

    def former(self) -> FormerState:
        namespaces: dict[NamespaceName, dict[str, PolicyValue]] = {}
        for subject, keys in self._policies.items():
            former = {
                key: self._spelled(subject, key, before)
                for key, (before, after) in keys.items()
                if before != after
            }
            if isinstance(subject, NamespaceName):
                namespaces[subject] = former
            else:
                known = self._topics.get(subject, FormerTopic(topic=subject))
                self._topics[subject] = replace(known, policies=former)
        return FormerState(namespaces=namespaces, topics=self._topics, left=tuple(self._left))

    def _add_policy(self, subject: Subject, action: Mapping[str, Any]) -> None:
        """The first value and the last: what a waiver loosens is set back by the plan itself."""
        key = action["key"]
        before, after = (_value(key, action[when]) for when in ("before", "after"))
        keys = self._policies.setdefault(subject, {})
        keys[key] = (keys[key][0] if key in keys else before, after)

    def _add_registration(self, topic: TopicName, action: Mapping[str, Any]) -> None:
        latest, posted = action["latestVersion"], action["schema"]
        if latest is None:
            created = SchemaInfo(
                type=SchemaType(posted["type"]),
                schema=posted["schema"],
                properties=posted["properties"],
            )
            self._topics[topic] = FormerTopic(topic=topic, created=created)
            return
        entries = self._observed.topics[topic].history.entries
        info = next((one.info for one in entries if one.version == latest), None)
        if info is None:
            self._left.append(
                left(
                    topic,
                    f"not undone: the registry has no v{latest} any more, which the topic had "
                    "before",
                    _BY_COMMIT,
                )
            )
            return
        self._topics[topic] = FormerTopic(topic=topic, schema=info)

    def _add_deletion(self, topic: TopicName, action: Mapping[str, Any]) -> None:
        state = self._recorded.topics.get(topic)
        latest = state.history.latest if state else None
        if latest is None:
            what = "not undone: neither the plan nor a snapshot has the schema that it deleted"
            self._left.append(left(topic, what, _BY_COMMIT))
            return
        self._topics[topic] = FormerTopic(topic=topic, schema=latest.info)
        if not self._observed.topics[topic].history.entries:
            self._left.append(deletion_left(topic, action["versions"]))

    def _spelled(self, subject: Subject, key: str, before: PolicyValue) -> PolicyValue:
        """A value that a file can have and that means the same as one that is not set."""
        if before is not None:
            return before
        if key == _STRATEGY:
            return SchemaCompatibilityStrategy.UNDEFINED
        if key == _VALIDATION:
            return isinstance(subject, TopicName) and self._is_enforced(subject.namespace)
        if key == _LEGACY:
            self._left.append(
                left(
                    subject,
                    f"not undone: {key} was not set, and a file cannot have that",
                    f"apply, then: pulsar-gitops policies set {subject} {key}=",
                )
            )
            return None
        return self._broker.is_allow_auto_update_schema_enabled

    def _is_enforced(self, namespace: NamespaceName) -> bool:
        """What a namespace's topics did without a word of their own, before the plan."""
        set_ = self._policies.get(namespace, {}).get(_VALIDATION)
        now = self._observed.namespaces[namespace].policies.schema_validation_enforced
        return self._broker.is_schema_validation_enforced or bool(set_[0] if set_ else now)


def _subject_of(action: Mapping[str, Any], looked_at: Scope) -> Subject:
    """One of the subjects that the plan looked at, as it names them."""
    name = action.get("subject") or action.get("topic") or action.get("namespace")
    name = str(name).partition(" ")[2] or str(name)
    known: dict[str, Subject] = {str(one): one for one in looked_at.topics}
    known |= {str(one): one for one in looked_at.namespaces}
    return known[name]


def _value(key: str, text: object) -> PolicyValue:
    """From a policy as JSON has it."""
    if text is None or isinstance(text, bool):
        return text
    if key == _LEGACY:
        return SchemaAutoUpdateCompatibilityStrategy(text)
    return SchemaCompatibilityStrategy(text)


# From the files of a commit and of its parent.


def before_commit(
    before: RegistryState,
    after: RegistryState,
    recorded: RegistryState,
    observed: RegistryState,
) -> FormerState:
    """How the files had what a commit changed; both states are what they want of one registry.

    `recorded` is the snapshot of before: it has policies that the files did not manage then.
    `observed` is the registry now.
    """
    found: list[Finding] = []
    topics = {
        topic: one
        for topic in sorted(before.topics.keys() | after.topics.keys())
        if (one := _former_topic(topic, before, after, recorded, found))
    }
    namespaces = {}
    for name in sorted(before.namespaces.keys() | after.namespaces.keys()):
        old, new = before.namespaces.get(name), after.namespaces.get(name)
        known = recorded.namespaces.get(name, NamespaceState(namespace=name)).policies
        if old is None:
            found.append(namespace_left(name))
        elif new and (keys := _former_policies(name, old.policies, new.policies, known, found)):
            namespaces[name] = keys
    found += (
        deletion_left(topic, ())
        for topic in topics
        if topic not in after.topics and not observed.topics[topic].history.entries
    )
    return FormerState(namespaces=namespaces, topics=topics, left=tuple(found))


def commit_scope(before: RegistryState, after: RegistryState) -> Scope:
    """The subjects that a commit changed, with the namespaces of its topics."""
    topics = frozenset(
        one
        for one in before.topics.keys() | after.topics.keys()
        if before.topics.get(one) != after.topics.get(one)
    )
    spaces = frozenset(
        one
        for one in before.namespaces.keys() | after.namespaces.keys()
        if before.namespaces.get(one) != after.namespaces.get(one)
    )
    return Scope(namespaces=spaces | {one.namespace for one in topics}, topics=topics)


def _former_topic(
    topic: TopicName,
    before: RegistryState,
    after: RegistryState,
    recorded: RegistryState,
    found: list[Finding],
) -> FormerTopic | None:
    old, new = before.topics.get(topic), after.topics.get(topic)
    if old == new:
        return None
    if old is None:
        first = new.history.latest if new else None
        return FormerTopic(topic=topic, created=first.info if first else None)
    latest, known = old.history.latest, recorded.topics.get(topic, TopicState(topic=topic))
    now = new or TopicState(topic=topic)
    policies = _former_policies(topic, old.policies, now.policies, known.policies, found)
    changed = now.history.latest is None or latest is None or latest.info != now.history.latest.info
    return FormerTopic(
        topic=topic, schema=latest.info if latest and changed else None, policies=policies
    )


def _former_policies(
    subject: Subject, old: Policies, new: Policies, recorded: Policies, found: list[Finding]
) -> dict[str, PolicyValue]:
    was, now, known = (dict(managed_items(one)) for one in (old, new, recorded))
    former: dict[str, PolicyValue] = {}
    for key in sorted(was.keys() | now.keys()):
        if was.get(key) == now.get(key):
            continue
        former[key] = was.get(key, known.get(key))
        if former[key] is None:
            found.append(
                left(
                    subject,
                    f"{key} stays {_text(now[key])} in the registry: the files did not have it "
                    "before, so its value then is not known",
                    f"set it in the files; the plan that set it has the value: {_BY_PLAN}",
                )
            )
    return former


def _text(value: PolicyValue) -> str:
    text = value_text(value)
    return str(text).lower() if isinstance(text, bool) else str(text)


# The state as the files shall have it.


def former_topic_state(one: FormerTopic, now: TopicState | None) -> TopicState:
    """The topic as the files shall have it; `now` is how they have it."""
    state = now or TopicState(topic=one.topic)
    policies = _overlaid(state.policies, one.policies)
    history = state.history
    latest = history.latest
    if one.schema is not None and not (latest and is_revision_of(latest.info, one.schema)):
        history = SchemaHistory(entries=(SchemaEntry(version=0, info=one.schema),))
    return replace(state, history=history, policies=policies)


def _overlaid(policies: TopicPolicies, keys: Mapping[str, PolicyValue]) -> TopicPolicies:
    values: dict[str, Any] = dict(managed_items(policies)) | dict(keys)
    snake = {name: values.get(camel_case(name)) for name in TopicPolicies.__slots__}
    return TopicPolicies(**snake)
