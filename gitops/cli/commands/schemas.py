"""`schemas`: a registry's schemas by hand, in the words of `pulsar-admin`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gitops.cli import completion, options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.reports import results

app = typer.Typer(
    help="Upload, read and delete schemas of a registry.",
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
            help="The file's SchemaType [default: what it says, as for pulsar-admin].",
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
    """Register a schema; prints the version that the registry answers."""
    from gitops.cli.cluster import open_either
    from gitops.cli.console import print_message, print_text
    from gitops.repository.definitions.upload import read_upload, repeated_members_of_upload

    info = read_upload(schema, schema_type, properties or [])
    for each in repeated_members_of_upload(info, schema, whole=schema_type is not None):
        print_message(f"{each.location}: warning: {each.message} ({each.rule})")
    name = TopicName.parse(topic)
    with open_either(repo, registry, url, None) as live:
        version = live.register_schema(name, info)
    print_text(f"{version}\n")
    return Exit.GOOD


@app.command("get", short_help="Print a schema.")
def get(
    topic: Topic,
    version: Annotated[
        int | None, typer.Option("--version", help="This version instead of the latest.")
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
    """Delete a topic's schema, all its versions with it."""
    from gitops.cli.cluster import open_either
    from gitops.cli.console import print_message

    name = TopicName.parse(topic)
    with open_either(repo, registry, url, None) as live:
        question = f"Delete all schema versions of {name} in {live.name} ({live.address})?"
        if not yes and not _confirm(question):
            print_message("nothing was deleted")
            return Exit.USAGE
        version = live.delete_schema(name, force=force)
    print_message(
        "deleted all versions" if force else f"deleted; the deletion took version {version}"
    )
    return Exit.GOOD


def _confirm(question: str) -> bool:
    """Ask; raises UsageError where nobody is there to answer."""
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to confirm on", hint="--yes deletes without asking")
    return typer.confirm(question, err=True)
