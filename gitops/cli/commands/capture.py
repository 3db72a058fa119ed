"""`capture`: messages of topics to files, with their schemas beside them."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gitops.cli import completion, options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.ports import Registry
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.messaging.capture_files import Selection
    from gitops.replay.substitutes import Substitutes

MASK_KEY: Final = "PULSAR_GITOPS_MASK_KEY"
"""The environment variable with the key of `--mask hash`."""

_SHORTEST_KEY: Final = 16
_NEEDED: Final = ("cramjam", "cryptography", "google_crc32c", "numpy", "pyarrow")


class Format(StrEnum):
    """Of the files with messages."""

    PARQUET = "parquet"
    AVRO = "avro"


class Mask(StrEnum):
    """What stands in place of sensitive fields."""

    REDACT = "redact"
    HASH = "hash"


def capture(
    topics: Annotated[
        list[str],
        typer.Argument(
            metavar="TOPIC", help="tenant/namespace/topic.", autocompletion=completion.topics
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder, with a folder for each topic.")
    ],
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Published since then: 2026-05-01T10:00:00Z, or how long ago: 90m, 2h, 7d.",
            show_default="the oldest",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="TIME",
            help="Published before then.",
            show_default="the newest when the command starts",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="At most so many of each topic."),
    ] = None,
    sample: Annotated[
        float | None,
        typer.Option(
            "--sample",
            metavar="SHARE",
            min=0,
            max=1,
            help="Only this share, such as 0.01, chosen by message id: always the same ones.",
        ),
    ] = None,
    part_format: Annotated[Format, typer.Option("--format", help="Of the files.")] = Format.PARQUET,
    mask: Annotated[
        Mask, typer.Option("--mask", help="What replaces fields that a manifest names `sensitive`.")
    ] = Mask.REDACT,
    decryption_key: Annotated[
        Path | None,
        typer.Option(
            "--decryption-key",
            metavar="FILE",
            help="Decrypt encrypted messages with this private key (PEM).",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a capture in DIR that was ended.")
    ] = False,
    service_url: options.ServiceUrl = None,
    url: options.ClusterUrl = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    no_color: options.NoColor = False,
) -> int:
    """Write messages of topics to files, with their schemas beside them; changes no topic."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.extras import require_modules, without_pandas
    from gitops.cli.progress import progress_bar
    from gitops.interrupts import interruptible

    needed = (*_NEEDED, "fastavro") if part_format is Format.AVRO else _NEEDED
    require_modules("capture", needed, "pulsar")
    from gitops.messaging.broker_readers import BrokerReaders
    from gitops.registries.pulsar.message_service import messages_of
    from gitops.usecases.capture import CaptureRequest
    from gitops.usecases.capture import capture as run_capture

    names = tuple(dict.fromkeys(TopicName.parse_whole(text) for text in topics))
    selection = _selection(since, until, limit, sample)
    bar = progress_bar(no_color=no_color)
    with (
        _open(repo, registry, url) as (live, root, sensitive),
        interruptible() as stopped,
        bar as progress,
        without_pandas(),
    ):
        request = CaptureRequest(
            topics=names,
            out=out,
            selection=selection,
            part_format=part_format.value,
            sensitive={name: sensitive[name] for name in names if sensitive.get(name)},
            substitutes=_substitutes(mask),
            resume=resume,
            is_decrypted=decryption_key is not None,
            open_readers=partial(BrokerReaders, decryption_key=decryption_key),
        )
        messages = messages_of(live, root, service_url)
        captured = run_capture(live, messages, request, stopped, progress)
    print_result(results.CaptureResult(topics=captured), Display())
    complete = len(captured) == len(names) and all(
        captured_topic.manifest.is_complete for captured_topic in captured
    )
    if not complete:
        return Exit.INTERRUPTED
    lacks = any(captured_topic.manifest.without_schema for captured_topic in captured)
    return Exit.OUTSIDE if lacks else Exit.GOOD


@contextmanager
def _open(
    repo: Path, names: list[str] | None, url: str | None
) -> Iterator[tuple[Registry, Path, dict[TopicName, tuple[str, ...]]]]:
    """The registry, the folder of its files, and the sensitive fields that manifests name.

    Inside a repository they count for a cluster that --url names, too.
    """
    from gitops.cli.cluster import cluster_address, open_cluster
    from gitops.cli.session import has_repository, open_registry, open_repository

    opened = open_repository(repo) if has_repository(repo) else None
    sensitive: dict[TopicName, tuple[str, ...]] = {}
    if opened:
        for topic, source in opened.repository.topics.items():
            texts = {name for sample in source.samples for name in sample.sensitive}
            sensitive[topic] = tuple(sorted(texts))
    if address := cluster_address(repo, names, url):
        with open_cluster(address) as (live, _):
            yield live, HERE, sensitive
    elif opened:
        with open_registry(opened, names) as (live, _):
            yield live, opened.root, sensitive


def _selection(
    since: str | None, until: str | None, limit: int | None, sample: float | None
) -> Selection:
    from gitops.messaging.capture_files import Selection

    now = datetime.datetime.now(datetime.UTC)
    return Selection(
        since=None if since is None else moment("--since", since, now),
        until=None if until is None else moment("--until", until, now),
        limit=limit,
        sample=sample,
        since_text=since,
        until_text=until,
    )


_DURATION: Final = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def moment(option: str, text: str, now: datetime.datetime) -> int:
    """In ms since 1970; raises UsageError for what is neither a time nor a duration."""
    try:
        if match := _DURATION.fullmatch(text):
            time = now - datetime.timedelta(**{_UNITS[match[2]]: int(match[1])})
        else:
            time = datetime.datetime.fromisoformat(text)
        if time.tzinfo is None:
            time = time.replace(tzinfo=datetime.UTC)
        return int(time.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option} {text} is neither a time nor a duration",
            hint="write 2026-05-01T10:00:00Z (UTC where nothing else is given), or 90m, 2h, 7d",
        ) from None


def _substitutes(mask: Mask) -> Substitutes:
    from gitops.replay.substitutes import KeyedHashes, Substitutes

    if mask is Mask.REDACT:
        return Substitutes()
    key = os.environ.get(MASK_KEY, "")
    if len(key) < _SHORTEST_KEY:
        raise UsageError(
            f"--mask hash needs a key of at least {_SHORTEST_KEY} characters in the environment "
            f"variable {MASK_KEY}",
            hint="make one, such as with `openssl rand -hex 32`, and keep it as a secret",
        )
    return KeyedHashes(key.encode())
