"""The nine changes of docs/how-to/read-a-check.md: reviewed, planned and applied."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.corpus.catalogue import SITUATIONS
from tests.corpus.shell import Shell
from tests.support.situations import SITUATIONS as CHANGES
from tests.support.situations import Situation, build

_WITH_FINDINGS: Final = {"breaking", "mixed", "policy", "replay"}
"""These are checked in all formats; what the others would add is in the text."""


def _review(change: Situation, shell: Shell) -> None:
    build(shell.root, change)
    replay = " --replay --engine local" if change.replayed else ""
    formats = () if change.name in _WITH_FINDINGS else ("text", "json", "markdown")
    shell.report(f"check --base main{replay}", *formats)
    shell.run(f"check --base main{replay} --history snapshot --fail-on warning")
    shell.report("plan", "text", "markdown")
    shell.report("rollout --base main")
    shell.run("validate")
    shell.run("plan --out plan.json", with_files=False)
    shell.run("apply plan.json", with_files=False)
    shell.run("drift")


for _change in CHANGES:
    SITUATIONS[f"review-{_change.name}"] = partial(_review, _change)
