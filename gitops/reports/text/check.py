"""A check in a terminal: each registry's answer, the change as a whole, then drift."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gitops.model.check import CheckReport, RegistryCheck
from gitops.model.findings import Finding, Location, Severity, causes_of
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema, SchemaSwallowed
from gitops.reports.check_summary import (
    RegistryCauses,
    Verdict,
    affected_text,
    all_findings,
    count,
    count_unanswered,
    name_list,
    reported_causes,
    unchecked_text,
    verdict,
)
from gitops.reports.merge_decision import merge_decision
from gitops.reports.results import CheckResult, Excerpt
from gitops.reports.text.findings import count_line, finding_block
from gitops.reports.text.layout import ShellCommand
from gitops.reports.text.plain import safe
from gitops.reports.text.plan import broker_text, headline_text, plan_summary
from gitops.reports.text.plan_blocks import plan_body
from gitops.reports.text.replay import replay_section
from gitops.reports.text.rollout import history_line, rollout_section
from gitops.reports.topic_rows import TopicStatus, rows_of
from gitops.reports.upgrade_order import UpgradeOrder, clients_first

_MOST: Final = 200
"""How many findings are shown: a change may have a finding in each of thousands of files."""
_SHOWN: Final = 10
"""How many names stand in a line that only mentions them."""
_DOUBTFUL: Final = (TopicStatus.NO_SAFE_ORDER, TopicStatus.LOOSENED, TopicStatus.WARNED)


def check_text(result: CheckResult) -> RenderableType:
    """The change that was checked."""
    return check_report(result.check, result.excerpt, seconds=result.seconds)


def check_report(report: CheckReport, excerpt: Excerpt, *, seconds: float) -> RenderableType:
    """The whole answer; `seconds` is how long it took."""
    parts: list[RenderableType] = [headline_text(report), Text(""), *_decision(report)]
    parts += [_head(report), *_touched(report)]
    if unchecked := unchecked_text(report):
        parts.append(Text(safe(unchecked)))
    parts.append(Text(""))
    for name, why in sorted(report.failures.items()):
        parts += [Text.assemble((safe(name), "bold"), f" · no answer: {safe(why)}"), Text("")]
    errors, others = _findings(report.findings, excerpt)
    # What the verdict is about comes first: behind what is refused, and before what is not.
    behind = errors if verdict(report) is Verdict.REFUSED else []
    parts += _spaced(errors if not behind else [])
    causes = RegistryCauses()
    for number, registry_check in enumerate(report.registries):
        short = _in_short(registry_check, causes)
        unseen = partial(_unseen_line, excerpt, causes.repeated)
        parts += [*_registry(short, unseen, report, () if number else behind), Text("")]
    parts += _spaced(others)
    parts += _not_from_this_change(report)
    parts.append(Text.assemble(*_summary(report), "   ", (f"{seconds:.1f} s", "dim")))
    if report.command:
        parts.append(ShellCommand("reproduce:", report.command))
    return Group(*parts)


def _decision(report: CheckReport) -> Iterator[RenderableType]:
    """Why, what next, who first: each in a few lines, below its label."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    decided = merge_decision(report, rows_of(report.registries)).items
    is_long = any(len(words) > 1 for _, words, _ in decided)
    for number, (label, texts, in_order) in enumerate(decided):
        if number and is_long:
            table.add_row("", "")
        table.add_row(label, _list(texts, in_order=in_order))
    if table.rows:
        yield table
        yield Text("")


def _list(texts: Sequence[str], *, in_order: bool) -> RenderableType:
    if len(texts) == 1:
        return Text(safe(texts[0]))
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column()
    table.add_column(overflow="fold")
    for number, text in enumerate(texts, start=1):
        table.add_row(f"{number}." if in_order else "-", Text(safe(text)))
    return table


def _summary(report: CheckReport) -> list[Text]:
    """How many findings; `no findings` only where every registry answered."""
    findings = [reported_cause.finding for reported_cause in reported_causes(all_findings(report))]
    if not report.failures:
        return [count_line(findings)]
    missing, asked = count_unanswered(report)
    what = f"no answer from {missing:,} of {_count(asked, 'registry')}"
    texts = [Text(what if missing else "the replay failed", style="bold red")]
    return [*texts, Text(", "), count_line(findings)] if findings else texts


def _head(report: CheckReport) -> Text:
    head = f"..{report.head[:7]}" if report.head else " with the files here"
    files = report.files.removeprefix("sha256:")[:7]
    rest = f" {report.base[:7]}{head} · files digest {files}"
    return Text.assemble("compares ", (safe(report.reference), "bold"), rest)


def _touched(report: CheckReport) -> Iterator[Text]:
    touched = report.touched
    counts = [
        _count(len(touched.topics), "topic"),
        _count(len(touched.namespaces), "namespace"),
        _count(len(touched.clients), "client") + _in_brackets(touched.clients),
        _count(len(touched.waivers), "waiver"),
    ]
    texts = [text for text in counts if not text.startswith("0 ")]
    yield Text(f"affects {_in_words(texts) if texts else 'no topics'}")
    for file, topics in affected_text(touched):
        yield Text(f"  {safe(file)}: {_count(len(topics), 'topic')}")


def _in_words(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _findings(
    findings: Sequence[Finding], excerpt: Excerpt
) -> tuple[list[RenderableType], list[RenderableType]]:
    """Errors, and all others: one for each cause, the worst where nobody reads them all."""
    causes = [cause.finding for cause in causes_of(findings)]
    worst = sorted(causes, key=lambda item: -item.severity)[:_MOST]
    shown = causes if len(causes) <= _MOST else [cause for cause in causes if cause in worst]
    errors: list[RenderableType] = []
    others: list[RenderableType] = []
    for finding in shown:
        texts = errors if finding.severity is Severity.ERROR else others
        texts.append(finding_block(finding, excerpt))
    if left := len(causes) - len(shown):
        remainder = f"… {count(left, 'more finding')}, none worse; `--format json` has all"
        others.append(Text(remainder))
    return errors, others


def _spaced(blocks: Iterable[RenderableType]) -> Iterator[RenderableType]:
    for block in blocks:
        yield block
        yield Text("")


def _in_brackets(names: Sequence[str]) -> str:
    return f" ({_names(names)})" if names else ""


def _names(topics: Sequence[TopicName | str]) -> str:
    return name_list([safe(str(topic)) for topic in topics], _SHOWN)


def _registry(
    registry_check: RegistryCheck,
    excerpt: Excerpt,
    report: CheckReport,
    errors: Sequence[RenderableType],
) -> list[RenderableType]:
    plan = registry_check.plan
    head = Text.assemble((safe(plan.registry), "bold"), f" · {safe(plan.address)}")
    limits = [
        Padding(Text(safe(limit), style="dim"), (0, 0, 0, 2))
        for limit in registry_check.history.limits
    ]
    return [
        Text.assemble(head, " · ", history_line(registry_check.history)),
        *limits,
        *broker_text(plan.broker),
        Text(""),
        *plan_body(
            plan, excerpt, registry_check.strategies_before, _besides(registry_check), errors
        ),
        *_refused_before(registry_check, excerpt),
        *([plan_summary(plan)] if plan.actions or plan.notices else []),
        *rollout_section(registry_check, report),
        *(replay_section(registry_check.replay) if registry_check.replay else ()),
    ]


def _in_short(registry_check: RegistryCheck, causes: RegistryCauses) -> RegistryCheck:
    """Without the details that an earlier registry has."""
    shortened = partial(causes.shortened, registry=registry_check.plan.registry)
    return replace(registry_check, plan=registry_check.plan.with_findings(shortened))


def _unseen_line(
    excerpt: Excerpt, seen: Collection[Location | None], where: Location
) -> str | None:
    return None if where in seen else excerpt(where)


def _besides(registry_check: RegistryCheck) -> dict[TopicName, str]:
    """What the table of a comment has beside schemas that Pulsar accepts, with its sign."""
    early = UpgradeOrder(registry_check.to_merge.rollout).early_clients
    grouped: dict[TopicName, str] = {}
    for row in rows_of((registry_check,)):
        if row.is_unread or row.standing in _DOUBTFUL:
            grouped[row.topic] = row.verdict
        number = early.get(row.topic, 0)
        if number and clients_first(number) not in grouped.get(row.topic, ""):
            also = grouped.get(row.topic, "")[2:]
            grouped[row.topic] = f"✗ {clients_first(number)}{also and f', {also}'}"
    return grouped


def _refused_before(registry_check: RegistryCheck, excerpt: Excerpt) -> Iterator[RenderableType]:
    for topic, findings in sorted(registry_check.refused_before.items()):
        strategy = registry_check.strategies_before[topic].value
        text = f"{safe(str(topic))} would be refused under {strategy}, the strategy of the base:"
        yield Text(text, style="bold")
        for finding in findings:
            past = replace(finding, severity=Severity.INFO, hint="")  # no error of this change
            yield Padding(finding_block(past, excerpt), (0, 0, 0, 4), expand=False)
        yield Text("")


def _not_from_this_change(report: CheckReport) -> list[RenderableType]:
    """What differs without the change, without its findings: they are not the change's."""
    texts: list[RenderableType] = []
    for registry in report.registries:
        plan = registry.drift
        if plan is not None and (plan.actions or plan.notices):
            body = Group(*plan_body(_without_findings(plan), lambda _where: None))
            texts += [
                Text(f"not from this change: {safe(plan.registry)}", style="bold"),
                Padding(body, (0, 0, 0, 4), expand=False),
            ]
    return texts


def _without_findings(plan: Plan) -> Plan:
    actions = tuple(
        replace(action, findings=()) if isinstance(action, RegisterSchema) else action
        for action in plan.actions
    )
    notices = tuple(
        replace(notice, findings=())
        if isinstance(notice, RefusedSchema | SchemaSwallowed)
        else notice
        for notice in plan.notices
    )
    return replace(plan, findings=(), actions=actions, notices=notices)


def _count(number: int, what: str) -> str:
    return count(number, what, "registries" if what == "registry" else "")
