"""Where the command begins: signals are recorded before anything else is loaded."""

import sys
from contextlib import suppress

from gitops import signals


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        signals.listen()
        from gitops.cli.app import main as run

        run()
    except KeyboardInterrupt:
        with suppress(OSError):  # a terminal that was closed
            print("interrupted", file=sys.stderr)
        raise SystemExit(signals.exit_code()) from None
