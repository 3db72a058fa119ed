"""What is replaced in outputs before they are compared, because it differs between runs."""

from __future__ import annotations

import re
from typing import Final

import gitops

_RULE_PAGE: Final = r'("markdown": ")# ([A-Z0-9]+-[A-Z][0-9]{3}): (?:[^"\\]|\\.)*"'
REPLACEMENTS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    # Durations: "1 error   0.3 s", "applied 3 actions to local   0.3 s".
    (re.compile(r"(?<![\w.])\d+\.\d s\b"), "0.0 s"),
    (re.compile(r'("seconds": )\d+(\.\d+)?'), r"\g<1>0.0"),
    # What is waited for after two seconds, which depends on the machine.
    (re.compile(r"^waiting \d+ s for .*\n", re.MULTILINE), ""),
    # The port of a server that listens on a free one, in errors.
    (re.compile(r"\b(127\.0\.0\.1|localhost):\d{4,5}\b"), r"\1:PORT"),
    # The version of the program.
    (re.compile(rf"\b{re.escape(gitops.__version__)}(?=[\"'\s<]|$)"), "VERSION"),
    # Random names: of a run in a journal, and of the delimiters in a step's outputs.
    (re.compile(r'("run": ?")[0-9a-f]+(?=")'), r"\1RUN"),
    (re.compile(r"\bpulsar_gitops_[0-9a-f]{32}\b"), "pulsar_gitops_DELIMITER"),
    # SARIF has the page of each rule, which is in docs/reference/rules.
    (re.compile(_RULE_PAGE), r'\1<the page of \2>"'),
)
"""Applied to every text, in this order."""

_STYLE: Final = re.compile(r"(<style>).*?(</style>)", re.DOTALL)
_SCRIPT: Final = re.compile(r"(<script>).*?(</script>)", re.DOTALL)


def normalised(text: str, folders: dict[str, str], *, with_style: bool = False) -> str:
    """The text without what differs between runs.

    `folders` are machine paths and the names that replace them. The style and the script of HTML
    pages are the same on each page: they are left out unless `with_style` is set.
    """
    for folder, name in folders.items():
        text = text.replace(folder, name)
    for pattern, replacement in REPLACEMENTS:
        text = pattern.sub(replacement, text)
    if not with_style:
        text = _SCRIPT.sub(r"\1…\2", _STYLE.sub(r"\1…\2", text))
    return text
