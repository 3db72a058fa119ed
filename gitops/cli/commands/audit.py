"""`audit`: what a registry contains, judged by another broker line, a strategy, and as it is."""

from __future__ import annotations

import datetime
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gitops.cli import completion, options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, FailOn
from gitops.cli.session import (
    has_repository,
    open_registry,
    open_repository,
    open_snapshot,
    repository_root,
)
from gitops.model.errors import UsageError
from gitops.ports import Registry
from gitops.reports.operation_results import AuditResult

if TYPE_CHECKING:
    from gitops.usecases.audit import AuditRequest

_UNLISTED: Final = "schemas of topics that do not exist, which a cluster does not list"
_NOT_RECORDED: Final = (
    "whether messages are retained (AUDIT-H009), replicated (AUDIT-H011) or compacted "
    "(AUDIT-H012), and whether brokers delete inactive topics (AUDIT-H010), which a snapshot does "
    "not record"
)
_ASKED: Final = {
    "url": "--url",
    "repo": "--repo",
    "registry": "--registry",
    "snapshot": "--snapshot",
    "broker": "--broker",
    "as_if_broker": "--as-if-broker",
    "as_if_strategy": "--as-if-strategy",
}


def audit(
    context: typer.Context,
    namespaces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAMESPACE",
            help="tenant/namespace; without any all, which needs a superuser role.",
            show_default="all",
        ),
    ] = None,
    url: options.ClusterUrl = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Judge the registry's snapshot in the repository.")
    ] = False,
    broker: Annotated[
        str | None,
        typer.Option(
            "--broker",
            metavar="LINE",
            help="The present broker line.",
            show_default="the registry's own",
            autocompletion=completion.broker_lines,
        ),
    ] = None,
    as_if_broker: Annotated[
        str | None,
        typer.Option(
            "--as-if-broker",
            metavar="LINE",
            help="Find what this broker line refuses and the present one does not.",
            autocompletion=completion.broker_lines,
        ),
    ] = None,
    as_if_strategy: Annotated[
        str | None,
        typer.Option(
            "--as-if-strategy",
            metavar="STRATEGY",
            help="Find the versions that this strategy would have refused.",
            autocompletion=completion.strategies_in_force,
        ),
    ] = None,
    output_format: Annotated[str, options.format_of(AuditResult)] = options.FORMAT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Find what an upgrade of brokers would break, and what is wrong; changes nothing."""
    from gitops.cli.answer import Display, exit_code, print_result
    from gitops.cli.console import print_message
    from gitops.cli.progress import progress_bar
    from gitops.model.names import NamespaceName
    from gitops.repository.suggestions import parse_strategy
    from gitops.usecases.audit import MEASURES, AuditRequest
    from gitops.usecases.audit import audit as run_audit

    asked = AuditRequest(
        namespaces=tuple(NamespaceName.parse(text) for text in namespaces or []),
        broker=broker,
        as_if_broker=as_if_broker,
        as_if_strategy=(
            None if as_if_strategy is None else parse_strategy(as_if_strategy, MEASURES)
        ),
    )
    started = time.monotonic()
    source = _Source(url=url, registry=registry, snapshot=snapshot)
    bar = progress_bar(no_color=no_color)
    with _open(asked, source, repo, output) as (live, request), bar as progress:
        report = run_audit(live, request, progress)
    result = AuditResult(
        audit=report,
        command=_command_line(context),
        seconds=time.monotonic() - started,
        made=datetime.datetime.now(datetime.UTC),
        commit=lambda: None if url else _commit(repo),
    )
    display = Display(output_format=output_format, output=output, no_color=no_color)
    print_result(result, display)
    if output:
        print_message(f"audit written to {output}")
    code = exit_code(report.findings, fail_on)
    return Exit.OUTSIDE if report.limits and code == Exit.GOOD else code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The options that say what is judged."""

    url: str | None
    registry: list[str] | None
    snapshot: bool


@contextmanager
def _open(
    asked: AuditRequest, source: _Source, repo: Path, output: Path | None
) -> Iterator[tuple[Registry, AuditRequest]]:
    """The cluster, registry or snapshot to read, and what a repository adds to the request."""
    from gitops.changes.known_names import known_names
    from gitops.cli.cluster import cluster_address, open_cluster

    names = source.registry
    if source.snapshot and source.url:
        raise UsageError("--snapshot is of a registry in gitops.yaml, and --url names a cluster")
    if not source.snapshot and (address := cluster_address(repo, names, source.url)):
        with open_cluster(address) as (live, _):
            yield live, replace(asked, unlisted=_UNLISTED)
        return
    opened = open_repository(repo, output)
    asked = replace(asked, severities=opened.repository.config.rules)
    if source.snapshot:
        with open_snapshot(opened, names) as (recorded, _):
            yield recorded, replace(asked, unlisted=_NOT_RECORDED)
        return
    with open_registry(opened, names) as (live, config):
        known = known_names(opened.root, opened.tree, opened.repository, live.name)
        is_cluster = config.local_path is None
        unlisted = (f"{_UNLISTED}, unless this repository names them", *known.limits)
        unseen = "; ".join(unlisted) if is_cluster else ""
        yield live, replace(asked, topics=known.topics, unlisted=unseen)


def _commit(repo: Path) -> str | None:
    """The commit of the repository that was read, if there is one."""
    from gitops.git.references import describe

    return describe(repository_root(repo)) if has_repository(repo) else None


def _command_line(context: typer.Context) -> str:
    """The command that finds the same again, without how it was shown."""
    words = ["pulsar-gitops", "audit", *(context.params["namespaces"] or [])]
    for name, option in _ASKED.items():
        value = context.params[name]
        for item in value if isinstance(value, list) else [value]:
            if item is not None and item is not False and item != HERE:
                words += [option] if item is True else [option, str(item)]
    return shlex.join(words)
