"""`waivers/<name>.yaml`: an approved exception."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from gitops.repository.documents.base import ApiVersion, Document, NonEmpty, TopicText
from gitops.repository.documents.problems import problem

_HEX: Final = re.compile(r"[0-9a-f]{32}")


def _fingerprint(text: str) -> str:
    if not _HEX.fullmatch(text):
        raise problem(
            "REPO-R012",
            f"'{text[:80]}' is not a fingerprint",
            "copy the one that the refusal shows: 32 hex digits",
        )
    return text


def _day(text: str) -> str:
    try:
        datetime.date.fromisoformat(text)
    except ValueError as error:
        raise problem(
            "REPO-R012", f"'{text[:80]}' is not a day", "write it as 2026-12-31"
        ) from error
    return text


Fingerprint = Annotated[
    str,
    AfterValidator(_fingerprint),
    WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{32}$"}),
]
Day = Annotated[str, AfterValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]


class WaiverDocument(Document):
    """Lets one refused change pass until a day."""

    api_version: ApiVersion
    kind: Literal["Waiver"]
    topic: TopicText
    fingerprint: Fingerprint = Field(
        description="Of exactly one candidate schema against exactly one set of versions."
    )
    reason: NonEmpty
    approved_by: NonEmpty
    expires: Day = Field(description="The last day, in UTC, on which the waiver holds.")
