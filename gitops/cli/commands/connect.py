"""`connect`: would the broker let this client connect, would it register a version, and why."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from gitops.cli import completion, options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.names import TopicName
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.usecases.connect import ConnectRequest

app = typer.Typer(
    help="Say whether a broker would let a client connect, step by step.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


class State(StrEnum):
    """What no file can know of a topic."""

    IDLE = "idle"
    ACTIVE = "active"


Topic = Annotated[
    str,
    typer.Argument(
        metavar="TOPIC", help="tenant/namespace/topic", autocompletion=completion.topics
    ),
]
_WHAT = "a definition's file, a topic's manifest, v3, a type such as INT64, NONE or"
Type = Annotated[
    str | None,
    typer.Option(
        "--type",
        help="The file's SchemaType [default: what it says; the topic's; or AVRO].",
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
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    url: options.ClusterUrl = None,
    as_if_broker: options.AsIfBroker = None,
    output_format: Annotated[str, options.format_of(results.ConnectionResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Say whether a producer would be let in, and which version its messages would carry."""
    from gitops.usecases.connect import ConnectRequest

    request = ConnectRequest(
        topic=TopicName.parse(topic),
        role="producer",
        schemas=(schema, *(new_schemas or [])),
        schema_type=schema_type,
        message=message,
    )
    place = _Place(repo, registry, url, as_if_broker)
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
            help="Whether the topic has clients or data  [default: idle is assumed, and said].",
        ),
    ] = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    url: options.ClusterUrl = None,
    as_if_broker: options.AsIfBroker = None,
    output_format: Annotated[str, options.format_of(results.ConnectionResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Say whether a consumer would be let in, and whether it would register its schema."""
    from gitops.usecases.connect import ConnectRequest

    request = ConnectRequest(
        topic=TopicName.parse(topic),
        role="consumer",
        schemas=(schema,),
        schema_type=schema_type,
        message=message,
        use=state.value if state else None,
    )
    place = _Place(repo, registry, url, as_if_broker)
    return _answer(request, place, output_format, output, no_color=no_color)


class _Place(NamedTuple):
    """The options that say which registry is asked, and by which broker line it decides."""

    repo: Path
    registry: list[str] | None
    url: str | None
    release: str | None


def _answer(
    request: ConnectRequest,
    place: _Place,
    output_format: str,
    output: Path | None,
    *,
    no_color: bool,
) -> int:
    from gitops.cli.answer import Display, print_result
    from gitops.cli.cluster import cluster_address, open_cluster
    from gitops.cli.plan_output import print_blocking_findings
    from gitops.cli.session import empty_repository, has_repository, open_registry, open_repository
    from gitops.usecases.connect import ConnectContext, connect

    cluster = cluster_address(place.repo, place.registry, place.url)
    opened = (
        empty_repository()
        if cluster and not has_repository(place.repo)
        else open_repository(place.repo, output, release=place.release)
    )
    display = Display(output_format=output_format, output=output, no_color=no_color)
    if code := print_blocking_findings(opened, display):
        return code
    target = (
        open_cluster(cluster, place.release)
        if cluster
        else open_registry(opened, place.registry, release=place.release)
    )
    with target as (live, config):
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
    return Exit.GOOD if connection.accepted else Exit.FINDINGS
