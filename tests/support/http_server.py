"""An HTTP server for one test: it ends at once, where pytest-httpserver's waits half a second."""

from __future__ import annotations

from typing import Final

from pytest_httpserver import HTTPServer

_LOOK: Final = 0.01
"""Seconds between two looks at whether it is to end."""


class OneTestServer(HTTPServer):
    """`HTTPServer`, for a server that is made anew for each test."""

    def thread_target(self) -> None:
        """Answer until `stop` is called."""
        assert self.server is not None
        self.server.serve_forever(poll_interval=_LOOK)
