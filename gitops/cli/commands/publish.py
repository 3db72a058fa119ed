"""`publish`: the messages of a capture to a topic, each with its own schema."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gitops.cli import completion, options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.names import TopicName
from gitops.ports import Registry
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.messaging.publish_topic import Publication

_NEEDED: Final = ("cramjam", "fastavro", "google_crc32c", "numpy", "pyarrow")


def publish(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of `capture --out` with one topic.")
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="TOPIC",
            help="The topic, tenant/namespace/topic.",
            autocompletion=completion.topics,
        ),
    ],
    rate: Annotated[
        int | None,
        typer.Option(
            "--rate",
            metavar="N",
            min=1,
            help="At most so many messages a second.",
            show_default="as fast as the broker stores them",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a publication that was ended.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="List which schemas would be created or refused; send nothing."
        ),
    ] = False,
    service_url: options.ServiceUrl = None,
    url: options.ClusterUrl = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: Annotated[
        str, options.format_of(results.PublicationResult, results.ForecastResult)
    ] = options.FORMAT,
    no_color: options.NoColor = False,
) -> int:
    """Send the messages of a capture to a topic, each with its own schema."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.extras import require_modules, without_pandas
    from gitops.cli.progress import progress_bar
    from gitops.interrupts import interruptible

    require_modules("publish", _NEEDED, "pulsar")
    topic = TopicName.parse_whole(to)
    command = publish_command(
        folder, to, rate=rate, service_url=service_url, url=url, repo=repo, registry=registry
    )
    with (
        without_pandas(),
        _open(repo, registry, url) as (live, root),
        interruptible() as stopped,
        progress_bar(no_color=no_color, rate=True) as progress,
    ):
        from gitops.messaging.publish_capture import read_source
        from gitops.registries.pulsar.message_service import messages_of
        from gitops.usecases.publish import PublishRequest, forecast
        from gitops.usecases.publish import publish as run_publish

        if dry_run:
            source = read_source(folder)
            expected = forecast(live, source, topic)
        else:
            request = PublishRequest(
                folder=folder, topic=topic, rate=rate, resume=resume, command=command
            )
            messages = messages_of(live, root, service_url)
            publication = run_publish(live, messages, request, stopped, progress)
    display = Display(output_format=output_format, no_color=no_color)
    if dry_run:
        result = results.ForecastResult(topic=topic, source=source, forecast=expected)
        print_result(result, display)
        return Exit.GOOD if expected.is_accepted else Exit.FINDINGS
    ended = results.PublicationResult(topic=topic, publication=publication, command=command)
    print_result(ended, display)
    return _exit_code(publication)


@contextmanager
def _open(repo: Path, names: list[str] | None, url: str | None) -> Iterator[tuple[Registry, Path]]:
    """The registry, and the folder of its files."""
    from gitops.cli.cluster import cluster_address, open_cluster
    from gitops.cli.session import open_registry, open_repository

    if address := cluster_address(repo, names, url):
        with open_cluster(address) as (live, _):
            yield live, HERE
    else:
        opened = open_repository(repo)
        with open_registry(opened, names) as (live, _):
            yield live, opened.root


def publish_command(
    folder: Path,
    to: str,
    *,
    rate: int | None,
    service_url: str | None,
    url: str | None,
    repo: Path,
    registry: list[str] | None,
) -> str:
    """The command line that goes on."""
    words = ["pulsar-gitops", "publish", str(folder), "--to", to]
    words += [] if rate is None else ["--rate", str(rate)]
    words += [] if service_url is None else ["--service-url", service_url]
    words += [] if url is None else ["--url", url]
    words += [] if repo == HERE else ["--repo", str(repo)]
    words += [word for name in registry or () for word in ("--registry", name)]
    return shlex.join([*words, "--resume"])


def _exit_code(publication: Publication) -> int:
    if not publication.is_complete:
        return Exit.INTERRUPTED
    if not publication.state.failed:
        return Exit.GOOD
    return Exit.PARTIAL if publication.state.acknowledged else Exit.FINDINGS
