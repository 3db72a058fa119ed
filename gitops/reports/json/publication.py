"""How far a capture is published, and what its schemas would become, as stable JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitops.planning.plan_document import API_VERSION
from gitops.reports.results import ForecastResult, PublicationResult

if TYPE_CHECKING:
    from gitops.usecases.publish import ExpectedVersion


def publication_document(result: PublicationResult) -> dict[str, Any]:
    """How many messages are there, which are not and why."""
    publication = result.publication
    state = publication.state
    return {
        "apiVersion": API_VERSION,
        "kind": "Publication",
        "topic": str(result.topic),
        "complete": publication.is_complete,
        "captureComplete": publication.is_of_all,
        "messages": publication.total,
        "acknowledged": state.acknowledged,
        "repeated": publication.repeated,
        "failures": [{"reason": why, "messages": n} for why, n in state.failed.items()],
        "versions": [
            {"captured": before, "version": now}
            for before, now in sorted(publication.versions.items())
        ],
    }


def forecast_document(result: ForecastResult) -> dict[str, Any]:
    """What the broker would answer to each version of a capture, in their order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "PublicationForecast",
        "topic": str(result.topic),
        "accepted": result.forecast.is_accepted,
        "captureComplete": result.source.manifest.is_complete,
        "unencrypted": result.forecast.unencrypted,
        "schemas": [_expected(result, version) for version in result.forecast.versions],
    }


def _expected(result: ForecastResult, version: ExpectedVersion) -> dict[str, Any]:
    admission = version.admission
    info = None if version.version is None else result.source.schemas[version.version]
    return {
        "captured": version.version,
        "type": info.type.value if info else None,
        "messages": version.messages,
        "accepted": admission.accepted,
        "version": admission.version,
        "registers": admission.registers,
        "reason": "" if admission.accepted else admission.decision.reason,
    }
