"""Where the command begins: nothing is loaded yet that somebody could interrupt."""

import sys

_INTERRUPTED = 130
"""Exit.INTERRUPTED, which is not loaded yet either."""


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from gitops.cli.app import main as run
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(_INTERRUPTED) from None
    run()
