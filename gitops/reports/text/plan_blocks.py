"""What a plan does to each subject, in a terminal: the worst first, what repeats told once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.findings import Cause, Finding, Severity, causes_of
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTenant,
    CreateTopic,
    DeleteSchema,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaChange,
    SchemaDrift,
    SchemaSwallowed,
    SchemaWithoutEffect,
    SetPolicy,
)
from gitops.model.policy import PolicyChange, SchemaCompatibilityStrategy
from gitops.model.waivers import WaiverProposal
from gitops.planning.drift import adopt_command, uncertainty_text, unknown_versions_text
from gitops.planning.plan import subject_of
from gitops.planning.policies import direction
from gitops.reports.check_summary import count, waivers_hint
from gitops.reports.results import Excerpt
from gitops.reports.text.findings import finding_block
from gitops.reports.text.layout import SIGNS, align_columns, change_table
from gitops.reports.text.plain import safe
from gitops.reports.text.plan_steps import policy_table, steps_table
from gitops.reports.topic_rows import (
    ALIKE,
    changes_key,
    creation_text,
    shared_changes,
    tenant_text,
)

AnySubject = TenantName | NamespaceName | TopicName
_MAX_SUBJECT: Final = 50
_SHORT: Final = 2
"""Headings with as few columns as this say something in words, not in columns."""
_STRATEGY: Final = 2
"""The column of the strategy, where there is one."""
_COMPATIBLE: Final = "compatible"
_SHOWN_ALIKE: Final = 10
_SPARE: Final = 2
"""So many more are shown, too: their number takes the room of one."""
_SHOWN_ROWS: Final = 100
"""How many topics without anything of their own are named, with and without changes."""
_NONE: Final[Mapping[TopicName, SchemaCompatibilityStrategy]] = MappingProxyType({})
_NOTHING: Final[Mapping[TopicName, str]] = MappingProxyType({})
_SAID_BY_BLOCKS: Final = ("PLAN-R003", "PLAN-R007", "PLAN-R010")
_REFUSED: Final = "✗"
_ORDER: Final = "✗-!~+="
"""The signs of the blocks, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A heading with a sign, a subject and columns, and what stands below it.

    `waiver` would let it pass. `is_odd`: a person should look at it, whatever its sign. `policies`
    are what `steps` show of a subject whose policies alone are set.
    """

    sign: str
    subject: AnySubject
    columns: tuple[str, ...]
    steps: tuple[RenderableType, ...] = ()
    changes: tuple[SchemaChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    waiver: WaiverProposal | None = None
    is_odd: bool = False
    policies: tuple[PolicyChange, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it has nothing of its own but changes."""
        steps = self.steps and not self.policies
        return not (steps or self.findings or self.notes)

    @property
    def rank(self) -> tuple[int, bool, bool, str]:
        """The worst first; namespaces before topics, since what they say holds for these."""
        odd = self.is_odd or any(finding.severity >= Severity.WARNING for finding in self.findings)
        place = _ORDER.index("!") if odd and self.sign in "~+=" else _ORDER.index(self.sign)
        is_accepted = bool(self.columns) and self.columns[-1].startswith(_COMPATIBLE)
        return place, is_accepted, isinstance(self.subject, TopicName), str(self.subject)


def plan_body(
    plan: Plan,
    excerpt: Excerpt,
    before: Mapping[TopicName, SchemaCompatibilityStrategy] = _NONE,
    besides: Mapping[TopicName, str] = _NOTHING,
    beside_errors: Sequence[RenderableType] = (),
) -> list[RenderableType]:
    """What is done and reported; `before` are strategies that change.

    `besides` is what speaks against a schema that Pulsar accepts, such as `✗ 2 clients first`.
    `beside_errors` are errors of the same change, shown behind what is refused.

    A finding of several subjects stands once, before them.
    """
    blocks = [*_action_blocks(plan.actions), *_notice_blocks(plan)]
    other_findings = _other_findings(plan, blocks)
    causes = causes_of(
        [*(finding for block in blocks for finding in block.findings), *other_findings]
    )
    shared = [cause for cause in causes if cause.is_shared]
    known = {finding for cause in shared for finding in cause.members}
    alone = [cause for cause in causes_of(other_findings) if not known.issuperset(cause.members)]
    items = sorted([*shared, *alone], key=lambda cause: -cause.finding.severity)
    errors = [cause for cause in items if cause.finding.severity is Severity.ERROR]
    parts = [_cause_block(error, blocks, excerpt) for error in errors]
    own = [_with_verdict(_of_own(block, known, before), besides) for block in blocks]
    own.sort(key=lambda block: block.rank)
    parts += _blocks([block for block in own if block.sign == _REFUSED], excerpt)
    parts += beside_errors
    parts += _blocks([block for block in own if block.sign != _REFUSED], excerpt)
    parts += [_cause_block(cause, blocks, excerpt) for cause in items if cause not in errors]
    return [item for part in parts for item in (part, Text(""))]


def _of_own(
    block: _Block, shared: set[Finding], before: Mapping[TopicName, SchemaCompatibilityStrategy]
) -> _Block:
    """Without what is told with others; `BACKWARD (was FULL)` where it names the strategy."""
    findings = tuple(finding for finding in block.findings if finding not in shared)
    odd = any(finding.severity >= Severity.WARNING for finding in block.findings)
    waiver = block.waiver if findings or not block.findings else None
    block = replace(block, findings=findings, waiver=waiver, is_odd=block.is_odd or odd)
    old = before.get(block.subject) if isinstance(block.subject, TopicName) else None
    if old is None or len(block.columns) <= _STRATEGY:
        return block
    columns = list(block.columns)
    columns[_STRATEGY] += f" (was {old.value})"
    return replace(block, columns=tuple(columns))


def _with_verdict(block: _Block, besides: Mapping[TopicName, str]) -> _Block:
    """`2 clients first`, `compatible, 1 warning`: what Pulsar accepts clients may not read."""
    text = besides.get(block.subject, "") if isinstance(block.subject, TopicName) else ""
    if not text or block.columns[-1:] != (_COMPATIBLE,):
        return block
    sign, _, why = text.partition(" ")
    columns = (*block.columns[:-1], why if sign == _REFUSED else f"{_COMPATIBLE}, {why}")
    return replace(
        block, sign=_REFUSED if sign == _REFUSED else block.sign, columns=columns, is_odd=True
    )


def _cause_block(cause: Cause, blocks: Sequence[_Block], excerpt: Excerpt) -> RenderableType:
    """A finding that no block has alone; of refused topics, also what writes their waivers."""
    shown = finding_block(cause.finding, excerpt)
    waivers = [b.waiver for b in blocks if b.waiver and set(b.findings) & set(cause.members)]
    if not cause.is_shared or not waivers:
        return shown
    hint = waivers_hint(waivers)
    text = f"or {count(len(waivers), 'waiver')}{f': {hint}' if hint else ''}"
    return Group(shown, Padding(Text(safe(text)), (0, 0, 0, 4), expand=False))


# Blocks from what a plan does, and from what it only reports.


def _action_blocks(actions: Sequence[Action]) -> Iterator[_Block]:
    """One block for each subject; what happens to one subject stands together."""
    subjects: dict[AnySubject, list[Action]] = {}
    for action in actions:
        subjects.setdefault(subject_of(action), []).append(action)
    for subject, members in subjects.items():
        yield _subject_block(subject, members)


def _subject_block(subject: AnySubject, actions: list[Action]) -> _Block:
    schema = next((a for a in actions if isinstance(a, RegisterSchema | DeleteSchema)), None)
    policies = [a for a in actions if isinstance(a, SetPolicy)]
    loosened = isinstance(schema, RegisterSchema) and not schema.accepted
    shown = steps_table(actions) if loosened else policy_table(policies)
    odd = any(direction(policy.change) == "loosened" for policy in policies)
    block = _Block(
        sign="~", subject=subject, columns=(), steps=(shown,) if policies else (), is_odd=odd
    )
    topic = next((creation_text(a) for a in actions if isinstance(a, CreateTopic)), "")
    match schema:
        case RegisterSchema():
            verdict = "waived" if schema.waiver else _COMPATIBLE
            return replace(
                block,
                sign="+" if schema.latest_version is None else "~",
                columns=(*_versions(schema, topic), schema.strategy.value, verdict),
                changes=schema.changes,
                findings=schema.findings,
                is_odd=bool(schema.waiver) or odd,
            )
        case DeleteSchema():
            versions = count(len(schema.versions), "version")
            lost = f"{versions}: their messages lose their schema"
            deleted = (f"v{schema.versions[-1]} → deleted",)
            return replace(block, sign="-", columns=deleted, notes=(lost,))
        case None:
            created = any(isinstance(a, CreateTenant | CreateNamespace) for a in actions)
            kinds = {TenantName: "tenant", NamespaceName: "namespace"}
            kind = topic or kinds.get(type(subject), "topic policies")
            sign, changes = (
                "+" if created or topic else "~",
                tuple(policy.change for policy in policies),
            )
            columns = (
                kind,
                *(safe(tenant_text(a.state)) for a in actions if isinstance(a, CreateTenant)),
            )
            return replace(block, sign=sign, columns=columns, policies=changes)


def _versions(action: RegisterSchema, topic: str) -> tuple[str, str]:
    """The type, and whether the `topic` is created for it; the versions."""
    before = "new" if action.latest_version is None else f"v{action.latest_version}"
    return ", ".join(filter(None, (action.info.type.value, topic))), f"{before} → v{action.version}"


def _notice_blocks(plan: Plan) -> Iterator[_Block]:
    for notice in plan.notices:
        match notice:
            case RefusedSchema():
                yield _refused(notice)
            case SchemaWithoutEffect():
                yield _without_effect(notice)
            case SchemaDrift():
                yield _drift(notice, plan.registry)
            case SchemaSwallowed():
                yield _Block(
                    sign="=",
                    subject=notice.topic,
                    columns=(f"v{notice.version}", "Pulsar ignores every difference"),
                    changes=notice.changes,
                    findings=notice.findings,
                )


def _without_effect(notice: SchemaWithoutEffect) -> _Block:
    text = (
        f"Pulsar answers v{notice.equal_version} for this schema and keeps "
        f"v{notice.latest_version} as the latest: a revert does not roll back. "
        "See `pulsar-gitops explain PLAN-R003`."
    )
    columns = (f"same as v{notice.equal_version}, latest is v{notice.latest_version}",)
    return _Block(sign="!", subject=notice.topic, columns=columns, notes=(text,))


def _drift(notice: SchemaDrift, registry: str) -> _Block:
    text = unknown_versions_text(notice.unknown, notice.limit)
    adopt = f"adopt it: {adopt_command(notice.topic, registry)}"
    changes = (change_table(notice.changes),) if notice.changes else ()
    columns = (
        f"same as v{notice.equal_version}, latest is v{notice.latest_version}",
        "" if notice.limit else "not in git",
    )
    below = tuple(safe(word) for word in (uncertainty_text(notice), adopt) if word)
    return _Block(
        sign="!",
        subject=notice.topic,
        columns=columns,
        steps=(Text(text), *changes),
        notes=below,
    )


def _refused(notice: RefusedSchema) -> _Block:
    before = "new" if notice.latest_version is None else f"v{notice.latest_version}"
    ends = "held back" if notice.accepted else "refused"
    columns = [notice.info.type.value, f"{before} → {ends}", notice.strategy.value]
    if notice.accepted:
        columns.append("Pulsar would accept it")
    return _Block(
        sign="✗",
        subject=notice.topic,
        columns=tuple(columns),
        changes=notice.changes,
        findings=notice.findings,
        waiver=notice.waiver,
    )


def _other_findings(plan: Plan, blocks: Iterable[_Block]) -> list[Finding]:
    """Those that no block has."""
    shown = {finding for block in blocks for finding in block.findings}
    return [f for f in plan.findings if f.rule not in _SAID_BY_BLOCKS and f not in shown]


# Blocks as text: those that have the same changes, and nothing else, share one list of them.


def _blocks(blocks: Sequence[_Block], excerpt: Excerpt) -> list[RenderableType]:
    """Columns are aligned among blocks of one sign: others have other words in them."""
    signs: dict[str, list[_Block]] = {}
    for block in blocks:
        signs.setdefault(block.sign, []).append(block)
    widths = {sign: _widths(members) for sign, members in signs.items()}
    groups: dict[object, list[_Block]] = {}
    for block in blocks:
        groups.setdefault(_shape(block), []).append(block)
    parts: list[RenderableType] = []
    for group in groups.values():
        first = group[0]
        if not first.is_plain or ((first.changes or first.policies) and len(group) < ALIKE):
            parts += [_render(block, widths[block.sign], excerpt) for block in group]
        else:
            parts.append(_alike(group, widths[first.sign]))
    return parts


def _shape(block: _Block) -> object:
    """Equal for blocks that can share their text."""
    if not block.is_plain:
        return id(block)
    place = block.rank[0] if block.changes else (block.rank[0], block.rank[2])
    return block.sign, place, changes_key(block.changes), block.policies


def _alike(blocks: Sequence[_Block], widths: Sequence[int]) -> RenderableType:
    """Rows of subjects; above them, once, what changes in all of them."""
    first, changes = blocks[0], blocks[0].changes
    most = _SHOWN_ALIKE if changes or first.policies else _SHOWN_ROWS
    most = len(blocks) if len(blocks) <= most + _SPARE else most
    rows = [_headings(blocks[:most], widths)]
    if left := len(blocks) - most:
        rows.append(Text(f"  … and {left:,} more like these; `--format json` has all"))
    if not (changes or first.policies):
        return Group(*rows)
    shown = change_table(shared_changes([block.changes for block in blocks]))
    below = Group(*first.steps) if first.policies else shown
    word = "topics" if isinstance(first.subject, TopicName) else "namespaces"
    head = Text(f"{len(blocks):,} {word} with the same change{'s' if len(changes) > 1 else ''}:")
    return Group(head, Padding(below, (0, 0, 0, 4), expand=False), *rows)


def _widths(blocks: Sequence[_Block]) -> list[int]:
    """How wide subject, type, versions and strategy are where they stand below each other."""
    subject = max((len(str(block.subject)) for block in blocks), default=0)
    full = [block.columns for block in blocks if len(block.columns) > _SHORT]
    most = max((len(columns) for columns in full), default=0)
    columns = (max((len(c[i]) for c in full if i < len(c)), default=0) for i in range(most))
    return [min(subject, _MAX_SUBJECT) + 2, *columns]


def _headings(blocks: Sequence[_Block], widths: Sequence[int]) -> RenderableType:
    return align_columns([_heading(block) for block in blocks], widths=widths, titled=True)


def _heading(block: _Block) -> list[Text]:
    title = Text.assemble((block.sign, SIGNS[block.sign]), " ", (safe(str(block.subject)), "bold"))
    return [title, *map(Text, block.columns)]


def _render(block: _Block, widths: Sequence[int], excerpt: Excerpt) -> RenderableType:
    body: list[RenderableType] = [*block.steps]
    body += [change_table(block.changes)] if block.changes else []
    body += [finding_block(finding, excerpt) for finding in block.findings]
    body += [Text(note) for note in block.notes]
    if block.waiver:
        body += [Text(_or_a_waiver(block.waiver))]
        body += [Text(f"  {safe(effect)}") for effect in block.waiver.effects]
    head = _headings([block], widths)
    return Group(head, Padding(Group(*body), (0, 0, 0, 4), expand=False)) if body else head


def _or_a_waiver(waiver: WaiverProposal) -> str:
    text = "; ".join(word for word in (waiver.hint, waiver.fits) if word)
    return f"or a waiver: {safe(waiver.file)} ({safe(text)})"
