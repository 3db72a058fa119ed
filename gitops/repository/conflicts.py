"""What git leaves in a file that two people changed."""

from __future__ import annotations

import re
from typing import Final

from gitops.repository.positions import Span

CONFLICT: Final = "a conflict that git could not merge"
CONFLICT_HINT: Final = "keep what is right and remove the lines <<<<<<<, ======= and >>>>>>>"

_MARKER: Final = re.compile(r"^(?:<{7} .*|>{7} .*)$", re.MULTILINE)


def conflict_marker(text: str) -> Span | None:
    """The first line that git wrote into the file, None if there is none."""
    found = _MARKER.search(text)
    return None if found is None else Span(found.start(), found.end())
