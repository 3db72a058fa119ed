"""The day, as the edge tells it to everything below."""

from __future__ import annotations

import datetime


def today() -> datetime.date:
    """The day in UTC, so that a waiver ends everywhere at the same moment."""
    return datetime.datetime.now(datetime.UTC).date()
