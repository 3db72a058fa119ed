"""A plan in a terminal: a heading for each subject, what changes, the verdict and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    DeleteSchema,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaDrift,
    SchemaSwallowed,
    SchemaWithoutEffect,
    SetPolicy,
)
from gitops.model.policy import BrokerSettings, SchemaCompatibilityStrategy
from gitops.model.waivers import WaiverProposal
from gitops.planning.drift import adopt_command, uncertainty_text, unknown_versions_text
from gitops.planning.fingerprints import subject_name
from gitops.planning.plan import subject_of
from gitops.planning.plan_document import summary
from gitops.planning.policies import direction, policy_text
from gitops.reports.broker_wording import broker_lines
from gitops.reports.results import Excerpt, PlanResult, PlansResult, RegistryPlan
from gitops.reports.text.findings import count_line, finding_block
from gitops.reports.text.layout import SIGNS, align_columns, change_table
from gitops.reports.text.plain import safe

_MAX_SUBJECT: Final = 50
_SHORT: Final = 2
"""Headings with as few columns as this say something in words, not in columns."""
_SUMMARY: Final = (
    ("change", "to change", "to change"),
    ("add", "to add", "to add"),
    ("delete", "to delete", "to delete"),
    ("createNamespaces", "namespace to create", "namespaces to create"),
    ("policies", "policy to set", "policies to set"),
    ("refused", "refused", "refused"),
    ("heldBack", "held back", "held back"),
    ("withoutEffect", "without effect", "without effect"),
    ("drift", "drifted", "drifted"),
    ("swallowed", "ignored by Pulsar", "ignored by Pulsar"),
    ("unchanged", "unchanged", "unchanged"),
)
_STRATEGY: Final = 2
"""The column of the strategy, where there is one."""
_NONE: Final[Mapping[TopicName, SchemaCompatibilityStrategy]] = MappingProxyType({})
_LOOSENED: Final = {"loosened": "yellow", "tightened": "green"}


def plan_text(result: PlanResult) -> RenderableType:
    """One plan."""
    return plan_report(
        result.plan,
        result.excerpt,
        files=_files(result.plan, result.commit()),
        seconds=result.seconds,
    )


def plans_text(result: PlansResult) -> RenderableType:
    """The plans for several registries, one below the other."""
    commit = result.commit()
    parts = [_registry_plan(one, result.excerpt, commit) for one in result.plans]
    return Group(*[part for each in parts for part in (each, Text(""))][:-1])


def _registry_plan(one: RegistryPlan, excerpt: Excerpt, commit: str | None) -> RenderableType:
    if one.plan:
        files = _files(one.plan, commit)
        return plan_report(one.plan, excerpt, files=files, seconds=one.seconds)
    why = safe(one.error.what) if one.error else ""
    return Text.assemble((safe(one.registry), "bold"), f" · no plan: {why}")


def _files(plan: Plan, commit: str | None) -> str:
    files = f"files {plan.files.removeprefix('sha256:')[:7]}"
    return f"{files} ({commit})" if commit else files


def plan_report(plan: Plan, excerpt: Excerpt, *, files: str, seconds: float) -> RenderableType:
    """The whole plan; `files` says which files they were, `seconds` how long it took."""
    parts: list[RenderableType] = [_head(plan, files), *broker_text(plan.broker), Text("")]
    parts += plan_body(plan, excerpt)
    counts = [f for f in plan.findings if f.severity >= Severity.WARNING]
    said = [count_line(counts)] if counts else []
    took = ("   ", (f"{seconds:.1f} s", "dim"))
    return Group(*parts, *said, *_unmanaged(plan), Text.assemble(plan_summary(plan), *took))


def plan_body(
    plan: Plan, excerpt: Excerpt, before: Mapping[TopicName, SchemaCompatibilityStrategy] = _NONE
) -> list[RenderableType]:
    """What is done and said, with a blank line after each; `before` are strategies that change."""
    blocks = [*_action_blocks(plan.actions, excerpt), *_notice_blocks(plan, excerpt)]
    blocks = [_with_strategy(block, before) for block in blocks]
    widths = _widths(blocks)
    parts: list[RenderableType] = []
    for block in sorted(blocks, key=_by_subject):
        parts += [_render(block, widths), Text("")]
    for finding in _other_findings(plan):
        parts += [finding_block(finding, excerpt), Text("")]
    return parts


@dataclass(frozen=True, slots=True)
class _Block:
    """A heading with a sign, a subject and columns, and what stands below it."""

    sign: str
    subject: NamespaceName | TopicName
    columns: tuple[str, ...]
    body: tuple[RenderableType, ...] = ()


def _with_strategy(
    block: _Block, before: Mapping[TopicName, SchemaCompatibilityStrategy]
) -> _Block:
    """`BACKWARD (was FULL)` where a block names the strategy."""
    old = before.get(block.subject) if isinstance(block.subject, TopicName) else None
    if old is None or len(block.columns) <= _STRATEGY:
        return block
    columns = list(block.columns)
    columns[_STRATEGY] += f" (was {old.value})"
    return replace(block, columns=tuple(columns))


def _by_subject(block: _Block) -> tuple[bool, str]:
    """Namespaces first, since what they say holds for their topics."""
    return isinstance(block.subject, TopicName), str(block.subject)


def _head(plan: Plan, files: str) -> Text:
    counts = f"{_count(plan.topics, 'topic')}, {_count(plan.namespaces, 'namespace')}"
    rest = f" · {safe(plan.address)} · {counts} · {safe(files)}"
    return Text.assemble((safe(plan.registry), "bold"), rest)


def broker_text(broker: BrokerSettings) -> list[Text]:
    """What is known of the broker, below the head of its registry."""
    return [Text(f"  {safe(line)}", style="dim") for line in broker_lines(broker)]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _action_blocks(actions: Sequence[Action], excerpt: Excerpt) -> Iterator[_Block]:
    """One block for each subject; what happens to one subject stands together."""
    subjects: dict[NamespaceName | TopicName, list[Action]] = {}
    for action in actions:
        subjects.setdefault(subject_of(action), []).append(action)
    for subject, its in subjects.items():
        yield _subject_block(subject, its, excerpt)


def _subject_block(
    subject: NamespaceName | TopicName, actions: list[Action], excerpt: Excerpt
) -> _Block:
    schema = next((a for a in actions if isinstance(a, RegisterSchema | DeleteSchema)), None)
    policies = [a for a in actions if isinstance(a, SetPolicy)]
    loosened = isinstance(schema, RegisterSchema) and not schema.accepted
    shown = _steps(actions) if loosened else _policy_table(policies)
    body: tuple[RenderableType, ...] = (shown,) if policies else ()
    match schema:
        case RegisterSchema():
            sign = "+" if schema.latest_version is None else "~"
            verdict = "waived" if schema.waiver else "compatible"
            columns = (*_versions(schema), schema.strategy.value, verdict)
            said = _changes_and_findings(schema, excerpt)
            return _Block(sign, subject, columns, (*body, *said))
        case DeleteSchema():
            lost = f"{_count(len(schema.versions), 'version')}: their messages lose their schema"
            deleted = (f"v{schema.versions[-1]} → deleted",)
            return _Block("-", subject, deleted, (*body, Text(lost)))
        case None:
            created = any(isinstance(a, CreateNamespace) for a in actions)
            kind = "namespace" if isinstance(subject, NamespaceName) else "topic policies"
            return _Block("+" if created else "~", subject, (kind,), body)


def _versions(action: RegisterSchema) -> tuple[str, str]:
    before = "new" if action.latest_version is None else f"v{action.latest_version}"
    return action.info.type.value, f"{before} → v{action.version}"


def _notice_blocks(plan: Plan, excerpt: Excerpt) -> Iterator[_Block]:
    for notice in plan.notices:
        match notice:
            case RefusedSchema():
                yield _refused(notice, excerpt)
            case SchemaWithoutEffect():
                yield _without_effect(notice)
            case SchemaDrift():
                yield _drift(notice, plan.registry)
            case SchemaSwallowed():
                columns = (f"v{notice.version}", "Pulsar ignores every difference")
                yield _Block("=", notice.topic, columns, _changes_and_findings(notice, excerpt))


def _without_effect(notice: SchemaWithoutEffect) -> _Block:
    said = Text(
        f"Pulsar answers v{notice.equal_version} for this schema and keeps "
        f"v{notice.latest_version} as the latest: a revert does not roll back. "
        "See `pulsar-gitops explain PLAN-R003`."
    )
    columns = (f"same as v{notice.equal_version}, latest is v{notice.latest_version}",)
    return _Block("!", notice.topic, columns, (said,))


def _drift(notice: SchemaDrift, registry: str) -> _Block:
    said = unknown_versions_text(notice.unknown, notice.limit)
    adopt = f"adopt it: {adopt_command(notice.topic, registry)}"
    changes = (change_table(notice.changes),) if notice.changes else ()
    columns = (
        f"same as v{notice.equal_version}, latest is v{notice.latest_version}",
        "" if notice.limit else "not in git",
    )
    below = (Text(safe(each)) for each in (uncertainty_text(notice), adopt) if each)
    return _Block("!", notice.topic, columns, (Text(said), *changes, *below))


def _refused(notice: RefusedSchema, excerpt: Excerpt) -> _Block:
    before = "new" if notice.latest_version is None else f"v{notice.latest_version}"
    ends = "held back" if notice.accepted else "refused"
    columns = [notice.info.type.value, f"{before} → {ends}", notice.strategy.value]
    if notice.accepted:
        columns.append("Pulsar would take it")
    body = _changes_and_findings(notice, excerpt)
    if notice.waiver:
        body = (*body, Text(_or_a_waiver(notice.waiver)))
    return _Block("✗", notice.topic, tuple(columns), body)


def _or_a_waiver(waiver: WaiverProposal) -> str:
    said = "; ".join(each for each in (waiver.hint, waiver.fits) if each)
    return f"or a waiver: {safe(waiver.file)} ({safe(said)})"


def _changes_and_findings(
    about: RegisterSchema | RefusedSchema | SchemaSwallowed, excerpt: Excerpt
) -> tuple[RenderableType, ...]:
    changes = (change_table(about.changes),) if about.changes else ()
    return (*changes, *(finding_block(finding, excerpt) for finding in about.findings))


def _widths(blocks: Sequence[_Block]) -> tuple[int, int, int]:
    """How wide subject, type and versions are where they stand below each other."""
    subject = max((len(str(block.subject)) for block in blocks), default=0)
    full = [block.columns for block in blocks if len(block.columns) > _SHORT]
    kind, versions = (max((len(c[i]) for c in full), default=0) for i in (0, 1))
    return min(subject, _MAX_SUBJECT) + 2, kind, versions


def _render(block: _Block, widths: Sequence[int]) -> RenderableType:
    title = Text.assemble((block.sign, SIGNS[block.sign]), " ", (safe(str(block.subject)), "bold"))
    head = align_columns([(title, *map(Text, block.columns))], widths=widths)
    if not block.body:
        return head
    return Group(head, Padding(Group(*block.body), (0, 0, 0, 4), expand=False))


def _policy_table(actions: Sequence[SetPolicy]) -> RenderableType:
    return align_columns(
        [
            (
                Text(action.change.key),
                Text(f"{policy_text(action.change.before)} → {policy_text(action.change.after)}"),
                Text(word := direction(action.change), style=_LOOSENED.get(word, "")),
            )
            for action in actions
        ]
    )


def _steps(actions: Sequence[Action]) -> RenderableType:
    """What is done for a schema that Pulsar would refuse, in order."""
    rows = [(f"{number}.", *_step(action)) for number, action in enumerate(actions, 1)]
    return align_columns([tuple(map(Text, row)) for row in rows])


def _step(action: Action) -> tuple[str, str, str]:
    if isinstance(action, SetPolicy):
        change = action.change
        values = f"{policy_text(change.before)} → {policy_text(change.after)}"
        why = "set back" if action.sets_back else direction(change)
        return change.key, values, "for this schema only" if action.loosens else why
    version = f"v{action.version}" if isinstance(action, RegisterSchema) else ""
    return "register", version, ""


def _other_findings(plan: Plan) -> list[Finding]:
    """Those that no block has shown yet."""
    quiet = ("PLAN-R003", "PLAN-R007", "PLAN-R010")
    beside = (*plan.actions, *plan.notices)
    shown = {
        f for b in beside if isinstance(b, RegisterSchema | SchemaSwallowed) for f in b.findings
    }
    shown |= {f for n in plan.notices if isinstance(n, RefusedSchema) for f in n.findings}
    return [f for f in plan.findings if f.rule not in quiet and f not in shown]


def _unmanaged(plan: Plan) -> Iterator[RenderableType]:
    """What the registry has and the files do not name: every topic, by its namespace."""
    managed = {topic for topic in plan.unmanaged if subject_name(topic.namespace) in plan.observed}
    others = [topic for topic in plan.unmanaged if topic not in managed]
    if managed:
        one = len(managed) == 1
        said = f"{_count(len(managed), 'unmanaged topic')} (in the registry, not in git)"
        adopts = f"pulsar-gitops import adopts {'it' if one else 'them'}"
        deletes = f", plan --prune deletes {'its schema' if one else 'their schemas'}"
        yield Text(f"{said}: {adopts}{'' if plan.prune else deletes}")
        yield _by_namespace(sorted(managed))
    if spaces := sorted({*plan.unmanaged_namespaces, *(topic.namespace for topic in others)}):
        said = _count(len(spaces), "unmanaged namespace")
        names = " ".join(safe(str(name)) for name in spaces)
        it = "it" if len(spaces) == 1 else "them"
        yield Text(
            f"{said} (earlier files had {it}): pulsar-gitops import {names} adopts {it}, "
            "schemas delete deletes a schema"
        )
        yield _by_namespace(others, spaces)
    if count := plan.without_schema:
        yield Text(f"{_count(count, 'topic')} without a manifest {_has(count)} no schema")
    if plan.unlisted:
        names = ", ".join(safe(str(name)) for name in plan.unlisted)
        yield Text(f"unmanaged topics are unknown where none can be listed or read: {names}")
    yield from (Text(safe(limit)) for limit in plan.limits)


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


def _by_namespace(
    topics: Iterable[TopicName], namespaces: Iterable[NamespaceName] = ()
) -> RenderableType:
    names: dict[NamespaceName, list[str]] = {name: [] for name in namespaces}
    for topic in topics:
        names.setdefault(topic.namespace, []).append(safe(_short(topic)))
    rows = [(Text(safe(str(name))), Text(", ".join(its))) for name, its in sorted(names.items())]
    return Padding(align_columns(rows), (0, 0, 0, 4), expand=False)


def _short(topic: TopicName) -> str:
    return topic.local_name if topic.domain == "persistent" else str(topic)


def plan_summary(plan: Plan) -> Text:
    """`2 to change, 1 refused, 210 unchanged`."""
    counts = summary(plan)
    said = [
        f"{counts[key]:,} {one if counts[key] == 1 else many}"
        for key, one, many in _SUMMARY
        if counts[key] or key == "unchanged"
    ]
    style = "bold red" if counts["refused"] else "bold"
    return Text(", ".join(said), style=style)
