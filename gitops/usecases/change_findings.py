"""What is wrong with the files of a change, and its guards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitops.model.check import Touched
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import RefusedSchema
from gitops.model.policy import NamespacePolicies, PolicyValue
from gitops.model.repository import TopicSource
from gitops.model.rules import with_severities
from gitops.model.state import NamespaceState
from gitops.planning.change_guards import (
    Loosened,
    dropped,
    in_force,
    loosened,
    of_defaults,
    of_dropped,
    of_let_go,
    of_let_in,
    of_limits,
    of_loosened,
    of_removed,
    of_renamed,
    of_share,
    of_submodule,
    of_unmanaged,
)
from gitops.planning.make import Question, strategy_of
from gitops.ports import FileTree
from gitops.repository.loading.layout import CONFIG, NAMESPACE_FILE, layout
from gitops.usecases.change import UNUSED, LoadedChange
from gitops.usecases.change_places import place_of_policy, place_of_setting
from gitops.usecases.recorded_findings import recorded_guards
from gitops.usecases.registry_findings import naming_guards
from gitops.usecases.touching import differs, files_of


def own_findings(loaded: LoadedChange) -> tuple[Finding, ...]:
    """Findings about files that the change touches, and those that it causes elsewhere."""
    known = {each.fingerprint for each in loaded.base.findings}
    found = []
    for each in loaded.head.findings:
        file = each.location.file if each.location else ""
        is_used = each.rule == UNUSED and file in loaded.used
        if not is_used and (each.fingerprint not in known or file in loaded.changed):
            found.append(each)
    return tuple(found)


def is_config_broken(loaded: LoadedChange) -> bool:
    """Whether the change leaves it open which registries there are."""
    return any(_is_error(each, CONFIG) for each in own_findings(loaded))


def broken_topics(loaded: LoadedChange) -> frozenset[TopicName]:
    """The topics of which the change leaves open what they should be."""
    bad = {
        each.location.file
        for each in own_findings(loaded)
        if each.location and _is_error(each, each.location.file)
    }
    return frozenset(
        topic
        for topic, source in loaded.head.topics.items()
        if bad & {*files_of(source), f"namespaces/{topic.namespace}/{NAMESPACE_FILE}"}
    )


def _is_error(found: Finding, file: str) -> bool:
    where = found.location
    return found.severity is Severity.ERROR and where is not None and where.file == file


def guards(loaded: LoadedChange, touched: Touched) -> Iterator[Finding]:
    """Findings about the change as a whole, whatever a registry holds."""
    safety = loaded.limits.safety
    for topic in touched.removed:
        yield of_removed(topic, _top(loaded.base_tree, loaded.base.topics[topic]), safety)
    for new, old in touched.renamed.items():
        yield of_renamed(new, old, _top(loaded.head_tree, loaded.head.topics[new]), safety)
    count = len(layout(loaded.change.base_tree.paths()).topics)
    yield from of_share(_changed_topics(loaded, touched), count, safety)
    yield from recorded_guards(loaded)
    yield from _of_submodules(loaded)
    for topic in touched.topics:
        if _is_let_go(loaded, topic):
            yield of_let_go(topic, loaded.head.topics[topic].manifest, safety)


def _of_submodules(loaded: LoadedChange) -> Iterator[Finding]:
    """Those that are not told of already, because they stand where manifests or types do."""
    told = {each.location.file for each in loaded.head.findings if each.location}
    for each in loaded.change.files:
        path = each.after or each.before or ""
        if each.submodule and path not in told:
            yield of_submodule(path)


def _top(tree: FileTree, source: TopicSource) -> Location:
    """The first line of a manifest that says something: it is about the whole of it."""
    file = source.manifest.file
    lines = tree.read(file).decode("utf-8", "replace").splitlines()
    says = (n for n, line in enumerate(lines, 1) if line and not line.startswith(("#", "---")))
    return Location(file=file, line=next(says, 1), column=1)


def _is_let_go(loaded: LoadedChange, topic: TopicName) -> bool:
    """Whether the manifest is there and its schema is not, for no mistake."""
    states = loaded.base.desired.topics.get(topic), loaded.head.desired.topics.get(topic)
    old, new = (state.history.latest if state else None for state in states)
    return bool(old and not new) and topic not in broken_topics(loaded)


def _changed_topics(loaded: LoadedChange, touched: Touched) -> int:
    """How many topics of the base the change alters or takes away; new ones do not count."""
    altered = [t for t in touched.topics if t in loaded.base.topics and differs(loaded, t)]
    return len(altered) + len(touched.removed) + len(touched.renamed)


def limit_guards(loaded: LoadedChange) -> tuple[Finding, ...]:
    """Weaker limits, rated as the base rates them: a change does not switch off what tells of it.

    Not to be graded again.
    """
    if not (loaded.had_config and loaded.is_config_changed):
        return ()
    base, head = loaded.base.config, loaded.head.config

    def locate(key: tuple[str, str]) -> Location:
        return place_of_setting(loaded, key) or Location(file=CONFIG)

    found = (*of_limits(base, head, locate), *naming_guards(loaded))
    return with_severities(found, base.rules)


def policy_guards(
    loaded: LoadedChange,
    registry: str,
    questions: tuple[Question, Question],
    refused: Sequence[RefusedSchema],
) -> Iterator[Finding]:
    """Loosened policies, and what only they let in; `questions` are before and after."""
    before, after = questions
    for one in _loosened(before, after):
        yield of_loosened(one, place_of_policy(loaded, one.subject, one.change.key, registry))
    for one in _dropped(before, after):
        yield of_dropped(one, place_of_policy(loaded, one.subject, one.change.key, registry))
    for name in _unmanaged(loaded, after):
        yield of_unmanaged(name, loaded.head.namespaces.get(name))
    for each in refused:
        strategy = strategy_of(after, each.topic)
        key = "schemaCompatibilityStrategy"
        where = place_of_policy(loaded, each.topic, key, registry)
        where = where or place_of_policy(loaded, each.topic.namespace, key, registry)
        yield of_let_in(each, strategy, where)


def _dropped(before: Question, after: Question) -> Iterator[Loosened]:
    """Of a topic that is gone itself another guard tells."""
    none = NamespacePolicies()
    for name, state in sorted(before.desired.namespaces.items()):
        new = after.desired.namespaces.get(name)
        yield from dropped(name, new.policies if new else none, state.policies)
    for topic, known in sorted(before.desired.topics.items()):
        if wanted := after.desired.topics.get(topic):
            yield from dropped(topic, wanted.policies, known.policies)


def _unmanaged(loaded: LoadedChange, after: Question) -> list[NamespaceName]:
    """The namespaces that the base has no file of, and the change no policy."""
    known = {path.rpartition("/")[0] for path in loaded.change.base_tree.paths()}
    none = NamespacePolicies()
    return [
        name
        for name, state in sorted(after.desired.namespaces.items())
        if state.policies == none and f"namespaces/{name}" not in known
    ]


def _loosened(before: Question, after: Question) -> Iterator[Loosened]:
    defaults = of_defaults(before.defaults)
    for name, state in sorted(after.desired.namespaces.items()):
        old = before.desired.namespaces.get(name)
        observed = after.observed.namespaces[name]
        if state.policies != (old and old.policies) and (old or observed.exists):
            base = old.policies if old else NamespacePolicies()
            held = in_force(base, observed.policies, defaults)
            yield from loosened(name, state.policies, held)
    for topic, wanted in sorted(after.desired.topics.items()):
        known = before.desired.topics.get(topic)
        if known and known.policies != wanted.policies:
            above = _above(before, topic)
            held = in_force(known.policies, after.observed.topics[topic].policies, above)
            yield from loosened(topic, wanted.policies, held)


def _above(before: Question, topic: TopicName) -> Mapping[str, PolicyValue]:
    """What held for a topic before by its namespace and the broker."""
    none = NamespaceState(namespace=topic.namespace)
    desired = before.desired.namespaces.get(topic.namespace, none)
    observed = before.observed.namespaces.get(topic.namespace, none)
    return in_force(desired.policies, observed.policies, of_defaults(before.defaults))
