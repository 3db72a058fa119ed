"""A plan in a terminal: a heading for each subject, what changes, the verdict and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.check import CheckReport
from gitops.model.findings import Severity, causes_of
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    Plan,
)
from gitops.model.policy import BrokerSettings
from gitops.planning.fingerprints import subject_name
from gitops.planning.plan_document import summary
from gitops.planning.registry_comparison import VersionSkew, version_skews
from gitops.planning.skipped_subjects import skip_blocked_subjects
from gitops.reports.broker_wording import broker_lines
from gitops.reports.check_summary import versions_text
from gitops.reports.headline import headline
from gitops.reports.plan_reports import plans_report
from gitops.reports.results import Excerpt, PlanResult, PlansResult, RegistryPlan
from gitops.reports.text.findings import count_line
from gitops.reports.text.layout import Hanging, align_columns
from gitops.reports.text.plain import safe
from gitops.reports.text.plan_blocks import plan_body
from gitops.reports.text.skipped import skipped_text
from gitops.reports.topic_rows import rows_of

_SUMMARY: Final = (
    ("change", "to change", "to change"),
    ("add", "to add", "to add"),
    ("delete", "to delete", "to delete"),
    ("createTenants", "tenant to create", "tenants to create"),
    ("createNamespaces", "namespace to create", "namespaces to create"),
    ("createTopics", "topic to create", "topics to create"),
    ("policies", "policy to set", "policies to set"),
    ("refused", "refused", "refused"),
    ("heldBack", "held back", "held back"),
    ("withoutEffect", "without effect", "without effect"),
    ("drift", "drifted", "drifted"),
    ("swallowed", "ignored by Pulsar", "ignored by Pulsar"),
    ("unchanged", "unchanged", "unchanged"),
)
_SHOWN_SKEWS: Final = 100
_VERDICTS: Final = {"✗": "bold red", "⚠": "bold yellow", "✓": "bold green"}


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
    parts = [_registry_plan(plan, result.excerpt, commit) for plan in result.plans]
    parts += skew_text(version_skews([planned.plan for planned in result.plans if planned.plan]))
    return Group(*[part for item in parts for part in (item, Text(""))][:-1])


def skew_text(skews: Sequence[VersionSkew]) -> list[RenderableType]:
    """`shop/orders   v3 at staging, v2 at production   same schema`; nothing where none differs."""
    if not skews:
        return []
    rows = [
        (
            Text(safe(str(skew.topic))),
            *(Text(safe(text)) for text in versions_text(skew).rsplit("; ", 1)),
        )
        for skew in skews[:_SHOWN_SKEWS]
    ]
    left = len(skews) - len(rows)
    head = Text(f"{_count(len(skews), 'topic')} with other latest versions", style="bold")
    texts = [Text(f"    and {_count(left, 'more topic')}")] if left else []
    return [Group(head, Padding(align_columns(rows), (0, 0, 0, 4), expand=False), *texts)]


def _registry_plan(registry: RegistryPlan, excerpt: Excerpt, commit: str | None) -> RenderableType:
    if registry.plan:
        files = _files(registry.plan, commit)
        return plan_report(registry.plan, excerpt, files=files, seconds=registry.seconds)
    why = safe(registry.error.what) if registry.error else ""
    return Text.assemble((safe(registry.registry), "bold"), f" · no plan: {why}")


def _files(plan: Plan, commit: str | None) -> str:
    files = f"files {plan.files.removeprefix('sha256:')[:7]}"
    return f"{files} ({commit})" if commit else files


def plan_report(plan: Plan, excerpt: Excerpt, *, files: str, seconds: float) -> RenderableType:
    """The whole plan; `files` says which files they were, `seconds` how long it took."""
    verdict = headline_text(plans_report([plan]))
    parts: list[RenderableType] = [verdict, Text(""), _head(plan, files)]
    parts += [*broker_text(plan.broker), Text("")]
    parts += plan_body(plan, excerpt)
    causes = [cause.finding for cause in causes_of(plan.findings)]
    counts = [cause for cause in causes if cause.severity >= Severity.WARNING]
    texts: list[RenderableType] = [count_line(counts)] if counts else []
    took = ("   ", (f"{seconds:.1f} s", "dim"))
    if plan.keep_going:
        remaining = skip_blocked_subjects(plan, Severity.ERROR)
        texts += [skipped_text(remaining.skipped, planned=True)] if remaining.skipped else []
    return Group(*parts, *texts, *_unmanaged(plan), Text.assemble(plan_summary(plan), *took))


def _head(plan: Plan, files: str) -> Text:
    counts = f"{_count(plan.topics, 'topic')}, {_count(plan.namespaces, 'namespace')}"
    only = f"only {safe(', '.join(plan.scope))} · " if plan.scope else ""
    rest = f" · {safe(plan.address)} · {only}{counts} · {safe(files)}"
    return Text.assemble((safe(plan.registry), "bold"), rest)


def headline_text(report: CheckReport) -> RenderableType:
    """The verdict, in the colour of its sign."""
    return Hanging(_in_colour(headline(report, rows_of(report.registries))), 2)


def _in_colour(text: str) -> Text:
    return Text(safe(text), style=_VERDICTS.get(text[0], "bold"))


def broker_text(broker: BrokerSettings) -> list[RenderableType]:
    """What is known of the broker, below the head of its registry."""
    lines = (Text(safe(line), style="dim") for line in broker_lines(broker))
    return [Padding(line, (0, 0, 0, 2)) for line in lines]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _unmanaged(plan: Plan) -> Iterator[RenderableType]:
    """What the registry has and the files do not name: every topic, by its namespace."""
    managed = {topic for topic in plan.unmanaged if subject_name(topic.namespace) in plan.observed}
    other_topics = [topic for topic in plan.unmanaged if topic not in managed]
    if managed:
        is_single = len(managed) == 1
        text = f"{_count(len(managed), 'unmanaged topic')} (in the registry, not in git)"
        adopts = f"pulsar-gitops import adopts {'it' if is_single else 'them'}"
        deletes = f", plan --prune deletes {'its schema' if is_single else 'their schemas'}"
        yield Text(f"{text}: {adopts}{'' if plan.prune else deletes}")
        yield _by_namespace(sorted(managed))
    if spaces := sorted({*plan.unmanaged_namespaces, *(topic.namespace for topic in other_topics)}):
        text = _count(len(spaces), "unmanaged namespace")
        names = " ".join(safe(str(name)) for name in spaces)
        it = "it" if len(spaces) == 1 else "them"
        yield Text(
            f"{text} (earlier files had {it}): pulsar-gitops import {names} adopts {it}, "
            "schemas delete deletes a schema"
        )
        yield _by_namespace(other_topics, spaces)
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
    rows = [
        (Text(safe(str(name))), Text(", ".join(texts))) for name, texts in sorted(names.items())
    ]
    return Padding(align_columns(rows), (0, 0, 0, 4), expand=False)


def _short(topic: TopicName) -> str:
    return topic.local_name if topic.domain == "persistent" else str(topic)


def plan_summary(plan: Plan) -> Text:
    """`2 to change, 1 refused, 210 unchanged`."""
    counts = summary(plan)
    texts = [
        f"{counts[key]:,} {text if counts[key] == 1 else many}"
        for key, text, many in _SUMMARY
        if counts[key]
    ]
    style = "bold red" if counts["refused"] else "bold"
    return Text(", ".join(texts) or "nothing to do", style=style)
