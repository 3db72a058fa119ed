"""`schemas`: a registry's schemas by hand, in the words of `pulsar-admin`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops import signals
from gitops.cli import completion, options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.cli.answer import Display
    from gitops.cli.cluster import Place
    from gitops.extraction.extraction import Extraction, ExtractRequest
    from gitops.ports import Registry
    from gitops.registries.git.recorded_versions import VersionLookUp

app = typer.Typer(
    help="Upload, read and delete schemas of a registry, and make them from classes.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Topic = Annotated[
    str,
    typer.Argument(
        metavar="TOPIC", help="tenant/namespace/topic", autocompletion=completion.topics
    ),
]


@app.command("upload", short_help="Register a schema.")
def upload(
    topic: Topic,
    schema: Annotated[
        str,
        typer.Argument(
            metavar="SCHEMA", help="A definition's file, or a type that has none, such as INT64."
        ),
    ],
    schema_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="The file's SchemaType [default: that of the file, as for pulsar-admin].",
            autocompletion=completion.schema_types,
        ),
    ] = None,
    properties: Annotated[
        list[str] | None, typer.Option("--property", metavar="KEY=VALUE", help="May be repeated.")
    ] = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    url: options.ClusterUrl = None,
) -> int:
    """Register a schema; prints the version that the registry answers.

    Warns of clients that can no longer connect once it is registered. Refused if its version would
    have a number that a lost version had.
    """
    from gitops.cli.cluster import open_either
    from gitops.cli.console import print_message, print_text
    from gitops.cli.session import open_repository
    from gitops.model.findings import Severity
    from gitops.repository.definitions.upload import read_upload, repeated_members_of_upload
    from gitops.usecases.schemas import upload_findings

    info = read_upload(schema, schema_type, properties or [])
    for finding in repeated_members_of_upload(info, schema, whole=schema_type is not None):
        print_message(f"{finding.location}: warning: {finding.message} ({finding.rule})")
    name = TopicName.parse(topic)
    with open_either(repo, registry, url, None) as live:
        look_up = _version_look_up(live, repo, url)
        files = open_repository(repo).repository if look_up else None
        warnings, reused = upload_findings(live, name, info, look_up, files)
        for warning in warnings:
            print_message(f"warning: {warning}")
        if reused is not None:
            print_message(
                f"{reused.severity.name.lower()}: {name}: {reused.message} ({reused.rule})"
            )
            print_message(f"  {reused.hint}")
            if reused.severity is Severity.ERROR:
                print_message("nothing was registered")
                return Exit.FINDINGS
        signals.raise_if_requested()
        version = live.register_schema(name, info)
    print_text(f"{version}\n")
    print_message(f"{name} is registered as v{version}")
    return Exit.GOOD


@app.command("get", short_help="Print a schema.")
def get(
    topic: Topic,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", help="This version instead of the latest."),
    ] = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    url: options.ClusterUrl = None,
    output_format: Annotated[str, options.format_of(results.VersionResult)] = options.FORMAT,
    output: options.OutputFile = None,
) -> int:
    """Print a schema: its definition as text, everything as JSON."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.cluster import open_either
    from gitops.usecases.schemas import read_version

    name = TopicName.parse(topic)
    with open_either(repo, registry, url, output) as live:
        entry = read_version(live, name, version)
    result = results.VersionResult(topic=name, entry=entry)
    print_result(result, Display(output_format=output_format, output=output))
    return Exit.GOOD


@app.command("versions", short_help="List the live versions of a topic.")
def versions(
    topic: Topic,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    url: options.ClusterUrl = None,
    output_format: Annotated[str, options.format_of(results.VersionsResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """List the live versions of a topic, oldest first, and what each changed."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.cluster import open_either
    from gitops.usecases.schemas import read_history

    name = TopicName.parse(topic)
    with open_either(repo, registry, url, output) as live:
        history = read_history(live, name)
    display = Display(output_format=output_format, output=output, no_color=no_color)
    print_result(results.VersionsResult(topic=name, history=history), display)
    return Exit.GOOD


@app.command("delete", short_help="Delete a topic's schema, all versions.")
def delete(
    topic: Topic,
    force: Annotated[
        bool, typer.Option("--force", help="Forget all versions; numbering starts at 0 again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    url: options.ClusterUrl = None,
) -> int:
    """Delete a topic's schema, all its versions with it.

    Warns of clients that can no longer connect after that.
    With --force, versions that nothing has recorded are first written to
    .gitops/REGISTRY.deletions.journal, from which `restore` brings them back.
    """
    from gitops.changes.known_names import similar_topic
    from gitops.cli.cluster import open_either
    from gitops.cli.console import print_message
    from gitops.cli.session import repository_root
    from gitops.journal.versions import DELETIONS, FOLDER
    from gitops.journal.writer import JournalFile
    from gitops.model.state import Scope
    from gitops.usecases.schemas import (
        delete_by_force,
        deletion_warnings,
        forced_deletion,
        forced_deletion_lines,
    )

    name = TopicName.parse(topic)
    with open_either(repo, registry, url, None) as live:
        state = live.observe(Scope(topics=frozenset({name}))).topics[name]
        history = state.history
        if not history.entries and not history.next_version:
            hint = similar_topic(live, name) or "is the name right?"
            raise UsageError(f"{name} never had a schema", where=live.address, hint=hint)
        for warning in deletion_warnings(live, state):
            print_message(f"warning: {warning}")
        question = f"Delete all schema versions of {name} in {live.name} ({live.address})?"
        if not yes and not _confirm(question):
            print_message("nothing was deleted")
            return Exit.USAGE
        signals.raise_if_requested()
        if force:
            deletion = forced_deletion(name, history, _version_look_up(live, repo, url))
            path = repository_root(repo) / FOLDER / f"{live.name}{DELETIONS}"
            delete_by_force(live, deletion, JournalFile(path))
            for line in forced_deletion_lines(deletion, live.name):
                print_message(line)
            return Exit.GOOD
        version = live.delete_schema(name, force=False)
        print_message(
            f"deleted; the tombstone is version {version}: the next version is v{version + 1}, and "
            "messages stored with older versions cannot be decoded while these are deleted"
        )
    return Exit.GOOD


def _version_look_up(live: Registry, repo: Path, url: str | None) -> VersionLookUp | None:
    """Finds what the repository recorded of the registry; None without a repository."""
    from gitops.cli.session import has_repository, repository_root
    from gitops.registries.git.recorded_versions import recorded_at_head
    from gitops.registries.snapshot import SnapshotRegistry
    from gitops.repository.file_trees import FolderTree

    if url is not None or not has_repository(repo):
        return None
    root = repository_root(repo)
    snapshot = SnapshotRegistry(live.name, FolderTree(root), live.broker)
    return recorded_at_head(root, snapshot, address=live.address)


@app.command("extract", short_help="Make a schema from a class of a program.")
def extract(
    name: Annotated[
        str | None,
        typer.Argument(metavar="MODULE:CLASS", help="A Python class, such as acme.orders:Order."),
    ] = None,
    java: Annotated[
        str | None,
        typer.Option("--java", metavar="CLASS", help="A Java class, such as com.acme.Order."),
    ] = None,
    classpath: Annotated[
        str | None,
        typer.Option(
            "--classpath", metavar="PATH", help="The Java program's, with its own pulsar-client."
        ),
    ] = None,
    schema_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="AVRO, JSON or PROTOBUF_NATIVE.",
            show_default="the topic's, if the class has it",
            autocompletion=completion.schema_types,
        ),
    ] = None,
    path: options.ModuleFolders = None,
    always_allow_null: options.AlwaysAllowNull = None,
    jsr310: options.Jsr310 = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Compare it with a topic's file and registered versions."),
    ] = False,
    topic: Annotated[
        str | None,
        typer.Option(
            "--topic",
            metavar="TOPIC",
            help="With --check: tenant/namespace/topic.",
            autocompletion=completion.topics,
        ),
    ] = None,
    repo: options.RepoOrUrl = str(HERE),
    registry: options.RegistryName = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Ask the registry's snapshot in the repository.")
    ] = False,
    url: options.ClusterUrl = None,
    output_format: Annotated[
        str, options.format_of(results.ExtractionResult, results.MatchResult)
    ] = options.FORMAT,
    output: Annotated[
        Path | None,
        typer.Option(
            "--out", "--output", metavar="FILE", help="Write the answer there, not to the terminal."
        ),
    ] = None,
    no_color: options.NoColor = False,
) -> int:
    """Make a schema from a class: pulsar.schema, pydantic, dataclass, attrs, Protobuf or Java.

    Importing a Python class runs its module, in this environment.
    """
    from gitops.cli.answer import Display, print_result
    from gitops.cli.cluster import Place
    from gitops.extraction.extraction import ExtractRequest
    from gitops.usecases.schemas import extract as run_extract

    request = ExtractRequest(
        name=_class_name(name, java, classpath),
        schema_type=schema_type,
        folders=tuple(path or ()),
        class_path=classpath if java is None else classpath or "",
        always_allow_null=always_allow_null,
        jsr310=jsr310,
    )
    display = Display(output_format=output_format, output=output, no_color=no_color)
    if check:
        place = Place(repo=repo, names=registry, url=url, snapshot=snapshot)
        return _check(request, topic, place, display)
    if topic is not None:
        raise UsageError("--topic goes with --check", hint="add --check, or leave out --topic")
    extraction = run_extract(request)
    _print_notes(extraction)
    print_result(results.ExtractionResult(info=extraction.info), display)
    if output is None and sys.stdout.isatty():
        print()  # the definition itself ends without a line end
    return Exit.GOOD


def _class_name(name: str | None, java: str | None, classpath: str | None) -> str:
    """The class that is named, once; raises UsageError."""
    if (name is None) == (java is None):
        what = "no class is named" if name is None else "two classes are named"
        raise UsageError(what, hint="name MODULE:CLASS, or --java CLASS with --classpath PATH")
    if java is None and classpath is not None:
        raise UsageError("--classpath goes with --java", hint="name the class with --java")
    if name is not None and ":" not in name:
        hint = "write acme.orders:Order for the class Order of the module acme.orders"
        raise UsageError(f"'{name}' is not MODULE:CLASS", hint=hint)
    return name or java or ""


def _check(request: ExtractRequest, topic: str | None, place: Place, display: Display) -> int:
    from gitops.changes.schema_match import TopicPlace
    from gitops.cli.answer import print_result
    from gitops.cli.cluster import open_files, open_target
    from gitops.cli.plan_output import print_blocking_findings
    from gitops.usecases.schemas import match_class

    if topic is None:
        raise UsageError("--check needs a topic", hint="--topic tenant/namespace/topic")
    name = TopicName.parse(topic)
    with open_files(place, display.output) as opened:
        if code := print_blocking_findings(opened, display):
            return code
        with open_target(opened, place) as (live, config):
            where = TopicPlace(
                topic=name,
                repository=opened.repository,
                tree=opened.tree,
                registry=live,
                config=config,
            )
            class_match = match_class(request, where)
            _print_notes(class_match.extraction)
            result = results.MatchResult(matched=class_match, registry=live, excerpt=opened.excerpt)
            print_result(result, display)
    if not class_match.match.decision.accepted:
        return Exit.FINDINGS
    return Exit.CHANGES if class_match.match.is_new else Exit.GOOD


def _print_notes(extraction: Extraction) -> None:
    from gitops.cli.console import print_message

    for note in extraction.notes:
        print_message(f"note: {note}")


def _confirm(question: str) -> bool:
    """Ask; raises UsageError where nobody is there to answer."""
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to confirm on", hint="--yes deletes without asking")
    return typer.confirm(question, err=True)
