"""How pytest-xdist shares the tests out to its processes."""

from __future__ import annotations

from typing import Final

from xdist.scheduler import LoadGroupScheduling

_FAST: Final = ("tests/unit/", "tests/conformance/", "tests/oracle/")


class FileOrGroupScheduling(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """`loadgroup`, in which the fast tests of a file are a group, too.

    Handing out ten thousand tests singly takes the controlling process more than a minute, for it
    counts what is left of all groups at each end of a test.
    """

    def _split_scope(self, nodeid: str) -> str:
        scope = super()._split_scope(nodeid)
        is_alone = scope == nodeid and nodeid.startswith(_FAST)
        return nodeid.partition("::")[0] if is_alone else scope
