"""`serve`: the embedded registry behind Pulsar's admin REST paths."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.errors import UsageError

_PORT = 8080


def serve(
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    broker: options.Broker = None,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", help="The port; 0: a free one.")
    ] = _PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="HOST",
            help="Another name by which clients reach the server; repeatable.",
        ),
    ] = None,
) -> int:
    """Serve the embedded registry as a broker would."""
    from gitops.cli.console import print_message
    from gitops.cli.extras import require_modules
    from gitops.cli.session import open_registry, open_repository

    require_modules("`serve`", ("starlette", "uvicorn"), "serve")
    from gitops.broker.lines.table import line_of
    from gitops.model.policy import BrokerSettings
    from gitops.registries.embedded.registry import EmbeddedRegistry
    from gitops.registries.server.server import serve as run
    from gitops.schemas.installed_checkers import load_installed_checkers

    load_installed_checkers()
    if broker is not None:
        line_of(BrokerSettings(release=broker), "--broker")
    opened = open_repository(repo)
    with open_registry(opened, registry, release=broker) as (live, _):
        if not isinstance(live, EmbeddedRegistry):
            raise UsageError(
                f"{live.name} is not an embedded registry",
                where="gitops.yaml",
                hint="name one with `--registry`",
            )

        def ready(url: str) -> None:
            print_message(f"serving {live.address} at {url}")

        run(live, host, port, ready, allow_hosts=allow_host or ())
    return Exit.GOOD
