"""How far a capture is published, and what its schemas would become, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gitops.reports.check_summary import count
from gitops.reports.formats import Output
from gitops.reports.results import ForecastResult, PublicationResult

if TYPE_CHECKING:
    from gitops.usecases.publish import ExpectedVersion


def publication_text(result: PublicationResult) -> Output:
    """How many messages are there, which are not and why, and what to do next."""
    publication, topic = result.publication, result.topic
    state = publication.state
    lines = [f"{topic}: {state.acknowledged:,} of {count(publication.total, 'message')} published"]
    lines += [
        f"  v{before} of the capture is v{now} of the topic"
        for before, now in publication.versions.items()
        if before != now
    ]
    lines += [f"  failed: {count(n, 'message')}: {why}" for why, n in state.failed.items()]
    if publication.repeated:
        lines.append(f"  {_repeated(publication.repeated)}")
    if not publication.is_complete:
        lines.append(f"  go on with: {result.command}")
    if not publication.is_of_all:
        lines.append(f"⚠ {_PART}")
    return Output(body="".join(f"{line}\n" for line in lines), is_note=True)


_PART: Final = (
    "the capture was ended before its end: its command with --resume goes on; what comes then can "
    "only be published with all that is here, to another topic"
)


def _repeated(number: int) -> str:
    """Which they are: the run before had sent so many more than it knew to be stored."""
    return (
        f"up to {count(number, 'message')} may be there twice, those after the last one that was "
        "known to be stored: the broker has no deduplication for the topic, or had none of them"
    )


def forecast_text(result: ForecastResult) -> Output:
    """A line for each version, in the order in which they are registered."""
    lines = [f"{result.topic}: what the broker would answer; nothing is sent", *_versions(result)]
    return Output(body="".join(f"{line}\n" for line in [*lines, *_ends(result)]))


def _ends(result: ForecastResult) -> Iterator[str]:
    forecast = result.forecast
    if not result.source.manifest.is_complete:
        yield f"⚠ {_PART}"
    if forecast.is_accepted:
        yield "✓ all are accepted"
    if refused := sum(not version.admission.accepted for version in forecast.versions):
        yield f"✗ {count(refused, 'schema')} refused"
    if forecast.unencrypted:
        yield (
            f"✗ {result.topic.namespace} demands encryption (encryption_required), and "
            f"{forecast.unencrypted:,} of {count(result.source.total, 'message')} are not "
            "encrypted: nothing would be sent"
        )


def _versions(result: ForecastResult) -> Iterator[str]:
    for entry in result.forecast.versions:
        name = "no schema" if entry.version is None else f"v{entry.version}"
        kind = (
            "" if entry.version is None else f" {result.source.schemas[entry.version].type.value}"
        )
        sign = "✓" if entry.admission.accepted else "✗"
        yield f"  {sign} {name}{kind}, {count(entry.messages, 'message')}: {_answer(entry)}"


def _answer(version: ExpectedVersion) -> str:
    admission = version.admission
    if not admission.accepted:
        return f"refused: {admission.decision.reason}"
    if admission.version is None:
        return "accepted"
    return f"{'created as' if admission.registers else 'is'} v{admission.version} of the topic"
