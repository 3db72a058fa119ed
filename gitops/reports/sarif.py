"""SARIF 2.1.0, as OASIS publishes it and as GitHub's code scanning reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import gitops
from gitops.model.check import CheckReport
from gitops.model.findings import Finding, Location, Severity, causes_of
from gitops.model.rules import RULES
from gitops.reports.check_summary import (
    base_line,
    count,
    git_root_path,
    see_line,
    subjects_text,
    worst_first,
)
from gitops.reports.json.documents import to_text
from gitops.reports.results import ReviewResult
from gitops.reports.text.plain import short
from gitops.repository.shipped_files import rule_page

# A unified diff as the `fixes` of a SARIF result.

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def fix(patch: str, artifact: dict[str, Any]) -> list[dict[str, Any]]:
    """One fix that replaces the lines of each hunk.

    None for a patch of a last line without a line end: a region ends where a line starts.
    """
    replacements = list(_replacements(patch))
    if not replacements or "\n\\ No newline" in patch:
        return []
    change = {"artifactLocation": artifact, "replacements": replacements}
    return [{"artifactChanges": [change]}]


def _replacements(patch: str) -> Iterator[dict[str, Any]]:
    lines = patch.split("\n")
    heads = [number for number, line in enumerate(lines) if _HUNK.match(line)]
    for start, end in pairwise([*heads, len(lines)]):
        match = _HUNK.match(lines[start])
        if match is not None:
            body = lines[start + 1 : end]
            yield _replacement(int(match[1]), int(match[2] or 1), body)


def _replacement(first: int, count: int, body: list[str]) -> dict[str, Any]:
    """The lines of one hunk, from the start of the first to the start of the line behind."""
    text = "".join(f"{line[1:]}\n" for line in body if line[:1] in (" ", "+"))
    region = {"startLine": first, "startColumn": 1, "endLine": first + count, "endColumn": 1}
    return {"deletedRegion": region, "insertedContent": {"text": text}}


Document = dict[str, Any]
"""A JSON object."""

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT: Final = "%SRCROOT%"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_NOT_IN_A_PATH: Final = re.compile(rb"[^A-Za-z0-9._~/-]")
_LIMIT: Final = 5000
"""Results of a run. GitHub ignores what is beyond, and refuses a run of more than 25,000."""
_MAX_TEXT: Final = 2000
_NAMED: Final = 10
"""How many subjects of one finding its message names."""
_RELATED: Final = 100
"""How many other places of one finding are told."""
_WHOLE: Final = "gitops.yaml"
"""Where a finding about no file stands: GitHub refuses a result without a place."""

Explain = Callable[[str], str]
"""From a rule's id to the Markdown text of its page."""


def sarif_text(result: ReviewResult) -> str:
    """The log of a run for each registry."""
    return to_text(sarif(result.report, rule_page, result.folder, result.notes))


def sarif(
    report: CheckReport, explain: Explain, prefix: str = "", notes: Sequence[str] = ()
) -> Document:
    """A log with a run for the files, and one for each registry; a result for each cause.

    A plan says nothing of files: an empty run would close the alerts that `validate` has raised.
    `prefix` is the folder of the schemas repository in its git repository, empty or with a `/`
    at its end. Findings of one run that are equal are told apart by their number. `notes` belong to
    every run.
    """
    about_files = bool(report.base) or not (report.registries or report.failures)
    rank = worst_first(report)
    parts = [("files", report.findings)] if about_files else []
    parts += [(registry.plan.registry, registry.plan.findings) for registry in report.registries]
    causes = [(name, causes_of(sorted(findings, key=rank))) for name, findings in parts]
    runs = [
        _run(name, [cause.finding for cause in members], explain, prefix, notes)
        for name, members in causes
    ]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": runs}


def _run(
    name: str, ordered: Sequence[Finding], explain: Explain, prefix: str, notes: Sequence[str]
) -> Document:
    shown = ordered[:_LIMIT]
    rules = sorted({item.rule for item in shown})
    places = {rule: index for index, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    results = []
    for finding in shown:
        seen[finding.fingerprint] += 1
        results.append(_result(finding, places[finding.rule], seen[finding.fingerprint], prefix))
    return {
        "tool": {"driver": _driver(rules, explain)},
        "automationDetails": {"id": f"pulsar-gitops/{short(name)}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the git repository."}}},
        "invocations": [_invocation(len(ordered) - len(shown), notes)],
        "results": results,
    }


def _driver(rules: Sequence[str], explain: Explain) -> Document:
    return {
        "name": "pulsar-gitops",
        "fullName": "pulsar-schema-gitops",
        "semanticVersion": gitops.__version__,
        "rules": [_rule(rule, explain) for rule in rules],
    }


def _rule(rule: str, explain: Explain) -> Document:
    known = RULES.get(rule)
    title = known.title if known else rule
    severity = known.severity if known else Severity.ERROR
    return {
        "id": rule,
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {
            "text": f"{title}. See `pulsar-gitops explain {rule}`.",
            "markdown": explain(rule),
        },
        "defaultConfiguration": {"level": _LEVELS.get(severity, "none")},
    }


def _invocation(held_back: int, notes: Sequence[str]) -> Document:
    texts = [("note", short(note, _MAX_TEXT)) for note in notes]
    if held_back:
        limit = f"GitHub shows {_LIMIT:,} of a run, worst first."
        texts.append(("warning", f"{count(held_back, 'finding')} held back: {limit}"))
    words = [{"level": level, "message": {"text": text}} for level, text in texts]
    notifications = {"toolExecutionNotifications": words} if words else {}
    return {"executionSuccessful": True, **notifications}


def _result(finding: Finding, rule: int, number: int, prefix: str) -> Document:
    names = subjects_text(finding, _NAMED)
    texts = (
        finding.message,
        f"For {names}." if names else "",
        base_line(finding),
        see_line(finding, prefix),
        finding.hint,
    )
    text = "\n".join(short(word, _MAX_TEXT) for word in texts if word)
    result: Document = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_place(finding, prefix)],
        "partialFingerprints": {"pulsarGitops/v1": f"{finding.fingerprint}:{number}"},
    }
    if related := list(_related(finding, prefix)):
        result["relatedLocations"] = related
    if (where := _patched(finding)) and finding.patch:
        result["fixes"] = fix(finding.patch, _artifact(where.file, prefix))
    return result


def _related(finding: Finding, prefix: str) -> Iterator[Document]:
    """Its other places, and what it was compared with."""
    compared = [
        member.compared for member in finding.members if member.compared and member.compared.line
    ]
    places = dict.fromkeys(finding.other_places[:_RELATED], "here")
    places |= dict.fromkeys(compared, "compared with")
    for number, (where, text) in enumerate(places.items(), 1):
        physical = _physical(where, prefix)
        yield {"id": number, "physicalLocation": physical, "message": {"text": text}}


def _patched(finding: Finding) -> Location | None:
    """Where its patch is: what is removed stands in the base, and is put back elsewhere."""
    where = finding.location
    return finding.compared if where and where.in_base else where


def _place(finding: Finding, prefix: str) -> Document:
    where = finding.place or Location(file=_WHOLE)
    place: Document = {"physicalLocation": _physical(where, prefix)}
    if subjects := [subject for subject in finding.subjects if subject]:
        place["logicalLocations"] = [{"fullyQualifiedName": short(subject)} for subject in subjects]
    return place


def _physical(where: Location, prefix: str) -> Document:
    place: Document = {"artifactLocation": _artifact(where.file, prefix)}
    if where.line and not where.in_base:  # a line of the base is none of the change's
        place["region"] = {"startLine": where.line}
        if where.column:
            end = where.column + max(1, where.length)
            place["region"] |= {"startColumn": where.column, "endColumn": end}
    return place


def _artifact(file: str, prefix: str) -> Document:
    path = git_root_path(prefix, file).encode("utf-8", "surrogatepass")
    uri = _NOT_IN_A_PATH.sub(lambda match: f"%{match[0][0]:02X}".encode(), path)
    return {"uri": uri.decode("ascii"), "uriBaseId": _ROOT}
