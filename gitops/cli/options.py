"""The options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gitops.cli.completion import broker_lines, registry_and_group_names, registry_names
from gitops.cli.extras import Engine
from gitops.model.check import HistoryChoice
from gitops.model.errors import UsageError
from gitops.model.policy import BrokerSettings
from gitops.reports import results
from gitops.reports.formats import DEFAULT, available_formats

_FEW: Final = 2
"""So many formats are listed instead of the word FORMAT."""

FORMAT: Final = DEFAULT
"""The default of `--format`."""


class FailOn(StrEnum):
    """The severity from which on findings make the exit code 1."""

    ERROR = "error"
    WARNING = "warning"


def _only_one(names: list[str] | None) -> list[str] | None:
    """Refuse a second name: the last one would win, and nobody would hear of it."""
    if names and len(names) > 1:
        raise UsageError(
            f"this command works on one registry, and --registry names {len(names)}",
            hint="run it once for each; `plan`, `apply`, `check` and `drift` accept several",
        )
    return names


def _known_release(release: str | None) -> str | None:
    """Refuse a release without a profile before anything is read; raises UnknownBrokerError."""
    if release is not None:
        from gitops.broker.lines.table import line_of

        line_of(BrokerSettings(release=release))
    return release


def format_of(*kinds: type) -> Any:  # noqa: ANN401 - Typer's own, which has no name
    """`--format` of a command with these kinds of results: the formats that have all of them."""
    names = available_formats(*kinds)
    few = len(names) <= _FEW

    def require_offered(name: str) -> str:
        if name not in names:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, names))}.")
        return name

    return typer.Option(
        "--format",
        metavar=f"<{'|'.join(names)}>" if few else "FORMAT",
        help="How to print the answer."
        if few
        else f"How to print it: {', '.join(names[:-1])} or {names[-1]}.",
        callback=require_offered,
        autocompletion=lambda: list(names),
    )


def journal_at(default: str) -> Any:  # noqa: ANN401 - Typer's own, which has no name
    """`--journal` of a command that writes one there by default."""
    return typer.Option(
        "--journal", metavar="FILE", help="Write down there what is done.", show_default=default
    )


def reports_of(given: list[str] | None) -> tuple[tuple[str, Path], ...]:
    """The values of `--report`; raises UsageError for one that is not `FORMAT=FILE`."""
    reports = []
    names = available_formats(results.CheckResult)
    for report in given or ():
        name, _, file = report.partition("=")
        if name not in names or not file:
            raise UsageError(
                f"--report {report} is not FORMAT=FILE",
                hint=f"formats: {', '.join(names)}; for example --report markdown=report.md",
            )
        reports.append((name, Path(file)))
    return tuple(reports)


Repo = Annotated[
    Path, typer.Option("--repo", metavar="DIR", help="The schemas repository.", show_default="here")
]
RepoOrUrl = Annotated[
    str,
    typer.Option(
        "--repo",
        metavar="DIR|URL",
        help="The schemas repository: a folder, or the URL of a git repository, which is cloned.",
        show_default="here",
    ),
]
ModuleFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--path",
        metavar="DIR",
        help="Where to look for MODULE before the current folder; may be repeated.",
    ),
]
AlwaysAllowNull = Annotated[
    bool | None,
    typer.Option(
        "--always-allow-null/--no-always-allow-null",
        help="Allow null in each field but numbers and booleans, as Pulsar's Java client.",
        show_default="for Java only",
    ),
]
Jsr310 = Annotated[
    bool,
    typer.Option("--jsr310", help="Times in milliseconds: Pulsar's jsr310ConversionEnabled."),
]
RegistryName = Annotated[
    list[str] | None,
    typer.Option(
        "--registry",
        metavar="NAME",
        help="A registry of gitops.yaml instead of the default.",
        callback=_only_one,
        autocompletion=registry_names,
    ),
]
RegistryNames = Annotated[
    list[str] | None,
    typer.Option(
        "--registry",
        metavar="NAME",
        help="A registry or a group of gitops.yaml instead of the default; may be repeated.",
        autocompletion=registry_and_group_names,
    ),
]
ServiceUrl = Annotated[
    str | None,
    typer.Option(
        "--service-url",
        metavar="URL",
        help="Where clients connect to, pulsar:// or pulsar+ssl://.",
        show_default="serviceUrl of the registry, or what the cluster shows",
    ),
]
ClusterUrl = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Admin REST of a cluster, in place of a registry of gitops.yaml.",
        show_default="outside of a repository PULSAR_ADMIN_URL",
    ),
]
Broker = Annotated[
    str | None,
    typer.Option(
        "--broker",
        metavar="LINE",
        help="The broker line that decides: 3.0, 3.3, 4.0, 4.1, 4.2, 5.0, or a version of one.",
        autocompletion=broker_lines,
    ),
]
AsIfBroker = Annotated[
    str | None,
    typer.Option(
        "--as-if-broker",
        metavar="LINE",
        help="Decide as this broker line does, whatever the registry's own is.",
        callback=_known_release,
        autocompletion=broker_lines,
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write the answer there, not to the terminal."),
]
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORMAT=FILE",
        help="Also write the answer in this format to that file; may be repeated.",
    ),
]
Threshold = Annotated[
    FailOn, typer.Option("--fail-on", help="The severity from which on findings fail the run.")
]
WaiversFolder = Annotated[
    Path | None,
    typer.Option(
        "--waivers", metavar="DIR", help="Write a waiver to fill in for each refusal, there."
    ),
]
Fix = Annotated[
    bool,
    typer.Option("--fix", help="Edit the definitions so that Pulsar accepts them, where it can."),
]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours (also NO_COLOR).")]

BaseRef = Annotated[
    str, typer.Option("--base", metavar="REF", help="What the change is to be merged into.")
]
HeadRef = Annotated[
    str | None,
    typer.Option("--head", metavar="REF", help="The change.", show_default="the folder"),
]
HistorySource = Annotated[
    HistoryChoice, typer.Option("--history", help="Where known versions come from.")
]

ReplayEngine = Annotated[
    Engine, typer.Option("--engine", help="Spark, or a quick look in this process.")
]
SparkMaster = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Spark's: local[4], spark://…, yarn, k8s://…, or sc://… for Spark Connect.",
        show_default="local[*]",
    ),
]

HERE = Path()
"""The default of `--repo`."""
EXAMPLES = 5
"""The default of `--max-examples`."""
