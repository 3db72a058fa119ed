"""`connect`: would the broker let this client connect, would it register a version, and why."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops.cli import completion, options
from gitops.cli.cluster import Place
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.names import TopicName
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.extraction.extraction import ExtractRequest
    from gitops.usecases.connect import ConnectRequest

app = typer.Typer(
    help="Decide whether a broker would let a client connect, and why.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


class State(StrEnum):
    """What no file can know of a topic."""

    IDLE = "idle"
    ACTIVE = "active"


class Language(StrEnum):
    """The client libraries that read differently."""

    JAVA = "java"
    PYTHON = "python"
    GO = "go"
    NODE = "node"
    CPP = "cpp"
    DOTNET = "dotnet"
    DOTPULSAR = "dotpulsar"


Topic = Annotated[
    str,
    typer.Argument(
        metavar="TOPIC", help="tenant/namespace/topic", autocompletion=completion.topics
    ),
]
_WHAT = (
    "a definition's file, a topic's manifest, a Python class as MODULE:CLASS, v3, a type such as "
    "INT64, NONE or"
)
Type = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="The file's SchemaType [default: that of the file, of the topic, or AVRO].",
        autocompletion=completion.schema_types,
    ),
]
Message = Annotated[
    str | None,
    typer.Option("--message", metavar="NAME", help="The root message of a .proto file."),
]


@app.command("producer", short_help="Decide whether a producer may connect.")
def producer(
    topic: Topic,
    schema: Annotated[
        str,
        typer.Argument(
            metavar="SCHEMA",
            help=f"Of the client: {_WHAT} AUTO_PRODUCE.",
            autocompletion=completion.client_schemas,
        ),
    ],
    new_schemas: Annotated[
        list[str] | None,
        typer.Option(
            "--new-schema",
            metavar="SCHEMA",
            help="A further schema that a message has; may be repeated.",
            autocompletion=completion.client_schemas,
        ),
    ] = None,
    schema_type: Type = None,
    message: Message = None,
    path: options.ModuleFolders = None,
    always_allow_null: options.AlwaysAllowNull = None,
    jsr310: options.Jsr310 = False,
    repo: options.RepoOrUrl = str(HERE),
    registry: options.RegistryName = None,
    url: options.ClusterUrl = None,
    as_if_broker: options.AsIfBroker = None,
    output_format: Annotated[str, options.format_of(results.ConnectionResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Show whether a producer could connect, and which version its messages would have."""
    from gitops.usecases.connect import ConnectRequest

    request = ConnectRequest(
        topic=TopicName.parse(topic),
        role="producer",
        schemas=(schema, *(new_schemas or [])),
        schema_type=schema_type,
        message=message,
        extraction=_extraction(path, jsr310, always_allow_null),
    )
    place = Place(repo=repo, names=registry, url=url, release=as_if_broker)
    return _answer(request, place, output_format, output, no_color=no_color)


@app.command("consumer", short_help="Decide whether a consumer may connect.")
def consumer(
    topic: Topic,
    schema: Annotated[
        str,
        typer.Argument(
            metavar="SCHEMA",
            help=f"Of the client: {_WHAT} AUTO_CONSUME.",
            autocompletion=completion.client_schemas,
        ),
    ],
    schema_type: Type = None,
    message: Message = None,
    state: Annotated[
        State | None,
        typer.Option(
            "--state",
            help="Whether the topic has clients or data  [default: idle is assumed, with a note].",
        ),
    ] = None,
    language: Annotated[
        Language | None,
        typer.Option(
            "--language",
            help="The client library, which also decides how it reads older messages  [default: "
            "python for a Python class, else java is assumed, with a note].",
        ),
    ] = None,
    path: options.ModuleFolders = None,
    always_allow_null: options.AlwaysAllowNull = None,
    jsr310: options.Jsr310 = False,
    repo: options.RepoOrUrl = str(HERE),
    registry: options.RegistryName = None,
    url: options.ClusterUrl = None,
    as_if_broker: options.AsIfBroker = None,
    output_format: Annotated[str, options.format_of(results.ConnectionResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Show whether a consumer could connect, what it would register, and what it would misread."""
    from gitops.usecases.connect import ConnectRequest

    request = ConnectRequest(
        topic=TopicName.parse(topic),
        role="consumer",
        schemas=(schema,),
        schema_type=schema_type,
        message=message,
        use=state.value if state else None,
        language=language.value if language else None,
        extraction=_extraction(path, jsr310, always_allow_null),
    )
    place = Place(repo=repo, names=registry, url=url, release=as_if_broker)
    return _answer(request, place, output_format, output, no_color=no_color)


@app.command("client", short_help="Decide whether a declared client may connect to its topics.")
def client(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The name in its manifest, clients/NAME.yaml.",
            autocompletion=completion.clients,
        ),
    ],
    repo: options.RepoOrUrl = str(HERE),
    registry: options.RegistryName = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Ask the registry's snapshot in the repository.")
    ] = False,
    output_format: Annotated[
        str, options.format_of(results.ClientConnectionsResult)
    ] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Show whether a client may connect to all its topics, now and after the pending plan."""
    from gitops.changes.client_connections import connect_client
    from gitops.cli.answer import Display, print_result
    from gitops.cli.plan_output import plan_request, print_blocking_findings
    from gitops.cli.session import (
        open_registry,
        open_repository,
        open_snapshot,
        repository_folder,
    )

    display = Display(output_format=output_format, output=output, no_color=no_color)
    open_named = open_snapshot if snapshot else open_registry
    with ExitStack() as stack:
        opened = open_repository(stack.enter_context(repository_folder(repo)), output)
        if code := print_blocking_findings(opened, display):
            return code
        live, config = stack.enter_context(open_named(opened, registry))
        pin_source = None
        if live.name != opened.repository.config.default_registry:
            pin_source, _ = stack.enter_context(open_named(opened, None))
        connections = connect_client(name, plan_request(opened, live, config), pin_source)
        print_result(
            results.ClientConnectionsResult(connections=connections, registry=live), display
        )
    return Exit.GOOD if connections.accepted else Exit.FINDINGS


def _extraction(path: list[Path] | None, jsr310: bool, null: bool | None) -> ExtractRequest:
    from gitops.extraction.extraction import ExtractRequest

    return ExtractRequest(name="", folders=tuple(path or ()), jsr310=jsr310, always_allow_null=null)


def _answer(
    request: ConnectRequest,
    place: Place,
    output_format: str,
    output: Path | None,
    *,
    no_color: bool,
) -> int:
    from gitops.cli.answer import Display, print_result
    from gitops.cli.cluster import open_files, open_target
    from gitops.cli.plan_output import print_blocking_findings
    from gitops.usecases.connect import ConnectContext, connect

    display = Display(output_format=output_format, output=output, no_color=no_color)
    with open_files(place, output) as opened:
        if code := print_blocking_findings(opened, display):
            return code
        with open_target(opened, place) as (live, config):
            connecting = ConnectContext(
                repository=opened.repository,
                tree=opened.tree,
                root=opened.root,
                registry=live,
                config=config,
            )
            connection = connect(request, connecting)
            result = results.ConnectionResult(
                connection=connection, registry=live, excerpt=opened.excerpt
            )
            print_result(result, display)
    is_good = connection.accepted and not connection.misread
    return Exit.GOOD if is_good else Exit.FINDINGS
