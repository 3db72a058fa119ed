"""For a step of a GitHub workflow: commands that annotate files, and values for later steps.

The forms and limits are those of actions/runner (ActionCommand, ExecutionContext).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from gitops.model.check import CheckReport
from gitops.model.findings import Location, Severity
from gitops.model.plan import RegisterSchema, SchemaSwallowed
from gitops.planning.plan_document import to_document
from gitops.reports.check_summary import (
    ReportedFinding,
    all_findings,
    base_line,
    changed_lines,
    count,
    git_root_path,
    name_list,
    reported_causes,
    see_line,
    subjects_text,
    verdict,
    waived_schemas,
)
from gitops.reports.formats import Output, StepFiles, summary
from gitops.reports.results import ReviewResult
from gitops.reports.text.plain import short

_LIMIT: Final = 10
"""How many annotations of each level GitHub shows for one step."""
_MAX_MESSAGE: Final = 2000
_MAX_TITLE: Final = 200
_NAMED: Final = 10
"""How many subjects of one finding are named."""

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def step_output(result: ReviewResult) -> Output:
    """The commands, and what the step gets in its files."""
    report = result.report
    step = StepFiles(outputs=outputs(report), summary=lambda limit: summary(result, limit))
    return Output(body=github(report, result.folder), step=step)


def github(report: CheckReport, prefix: str = "") -> str:
    """One command a line, the worst first.

    `prefix` is the folder of the schemas repository in its git repository, empty or with a `/`
    at its end. Where a level has more than GitHub shows, the last of it says how many are held
    back.
    """
    causes = reported_causes(all_findings(report))
    lines: list[str] = []
    for severity in _LEVELS:
        texts = list(_before_findings(report, severity, prefix))
        texts += [
            _annotation(cause, prefix) for cause in causes if cause.finding.severity is severity
        ]
        shown = texts if len(texts) <= _LIMIT else texts[: _LIMIT - 1]
        lines += shown
        if held := len(texts) - len(shown):
            lines.append(_held_back(severity, held, report.command))
    return "".join(f"{line}\n" for line in lines)


def _before_findings(report: CheckReport, severity: Severity, prefix: str) -> Iterator[str]:
    """What weighs more than any finding of its level: no answer at all, and what is waived."""
    if severity is Severity.ERROR:
        yield from (_failure(name, why) for name, why in sorted(report.failures.items()))
    elif severity is Severity.WARNING:
        for registry, action in waived_schemas(report):
            yield _waived(action, registry, prefix)


def outputs(report: CheckReport) -> Mapping[str, str]:
    """Values for later steps, each on one line; `digests` is a JSON object by registry.

    Errors and warnings are counted as they are shown: what has one cause is one.
    `digest` is that of the plan where there is one plan, else empty.
    """
    findings = [reported_cause.finding for reported_cause in reported_causes(all_findings(report))]
    plans = [registry.plan for registry in report.registries]
    digests = {plan.registry: str(to_document(plan)["digest"]) for plan in plans}
    return {
        "verdict": verdict(report).value,
        "errors": str(sum(finding.severity is Severity.ERROR for finding in findings)),
        "warnings": str(sum(finding.severity is Severity.WARNING for finding in findings)),
        "changes": str(sum(len(plan.actions) for plan in plans)),
        "digest": next(iter(digests.values())) if len(digests) == 1 else "",
        "digests": json.dumps(digests),
    }


def _annotation(cause: ReportedFinding, prefix: str) -> str:
    finding, on = cause.finding, ", ".join(cause.registries)
    subjects = name_list(sorted(finding.subjects), 1)
    about = f"{finding.rule} {subjects}{f' on {on}' if on else ''}"
    names = subjects_text(finding, _NAMED)
    texts = [
        finding.message,
        f"For {names}." if names else "",
        base_line(finding),
        see_line(finding, prefix),
        finding.hint,
        *changed_lines(finding.patch),
    ]
    text = "\n".join(short(word, _MAX_MESSAGE) for word in texts if word)
    properties = {**_place(finding.place, prefix), "title": short(about, _MAX_TITLE)}
    return _command(_LEVELS[finding.severity], text, properties)


def _place(where: Location | None, prefix: str) -> dict[str, str]:
    if where is None:
        return {}
    # A file that is not there as written is shown nowhere, and that is as it should be.
    file = {"file": short(git_root_path(prefix, where.file), _MAX_MESSAGE)}
    if not where.line or where.in_base:  # a line of the base is none of the change's
        return file
    line = {**file, "line": str(where.line), "endLine": str(where.line)}
    if not where.column:
        return line
    end = where.column + max(1, where.length)
    return {**line, "col": str(where.column), "endColumn": str(end)}


def _held_back(severity: Severity, number: int, command: str) -> str:
    remainder = count(number, f"more {severity.name.lower()}")
    shows = f"`{command}` shows all" if command else "the log and the summary show all"
    text = f"GitHub shows {_LIMIT} of each level for one step; {shows}."
    return _command(_LEVELS[severity], short(text), {"title": f"{remainder} held back"})


def _waived(action: RegisterSchema | SchemaSwallowed, registry: str, prefix: str) -> str:
    """A warning at the first thing that the waiver lets pass."""
    by = "a rule would hold it back"
    if isinstance(action, RegisterSchema):
        by = by if action.accepted else "Pulsar would refuse it"
        by = f"{by} under {action.strategy.value}"
    text = f"{by}; the waiver {action.waiver} allows it"
    where = next((finding.place for finding in action.findings), None)
    title = short(f"waived: {action.topic} on {registry}", _MAX_TITLE)
    return _command("warning", short(text, _MAX_MESSAGE), {**_place(where, prefix), "title": title})


def _failure(registry: str, why: str) -> str:
    return _command("error", short(why, _MAX_MESSAGE), {"title": short(f"no answer: {registry}")})


def _command(name: str, text: str, properties: Mapping[str, str]) -> str:
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name}{f' {given}' if given else ''}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def assignments(values: Mapping[str, str], delimiter: str) -> str:
    """The values as `$GITHUB_OUTPUT` takes them; raises ValueError for a delimiter in a value."""
    if any(delimiter in value for value in values.values()):
        raise ValueError("a value contains the delimiter")
    return "".join(f"{k}<<{delimiter}\n{v}\n{delimiter}\n" for k, v in values.items())
