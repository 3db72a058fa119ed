"""One decision in a terminal: of a schema, or of a client that connects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.broker.connection import Admission, ClientError, Step
from gitops.changes.client_connections import Answer, DeclaredConnection, Verdict
from gitops.changes.schema_match import SchemaMatch
from gitops.model.decision import Decision
from gitops.model.findings import Location, Severity
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.reports.check_summary import count
from gitops.reports.results import (
    ClientConnectionsResult,
    ConnectionResult,
    DecisionResult,
    Excerpt,
    MatchResult,
)
from gitops.reports.text.findings import finding_block
from gitops.reports.text.layout import change_table
from gitops.reports.text.plain import safe, short
from gitops.repository.file_comparison import Comparison
from gitops.usecases.connect import Connection, SchemaAdmission
from gitops.usecases.schemas import ClassMatch

# One decision in a terminal: the verdict, what differs, and every reason.

_MAX_FINDINGS: Final = 200
_INVALID: Final = "AVRO-P001"


def decision_text(result: DecisionResult) -> RenderableType:
    """What a broker would answer."""
    return decision_report(result.comparison)


def connection_text(result: ConnectionResult) -> RenderableType:
    """Whether a client may connect."""
    return connection_report(result.connection, result.excerpt, registry=result.registry.name)


def match_text(result: MatchResult) -> RenderableType:
    """What a topic has of the schema of a class."""
    return match_report(result.matched, result.excerpt, registry=result.registry.name)


def decision_report(compared: Comparison) -> RenderableType:
    """The whole answer."""
    decision, findings, old = compared.decision, compared.findings, compared.old
    lines_of = cache(lambda file: compared.texts.get(file, "").splitlines())

    def excerpt(where: Location) -> str | None:
        lines = lines_of(where.file)
        return lines[where.line - 1] if 0 < where.line <= len(lines) else None

    invalid = _invalid_file(compared)
    held_back = any(item.severity is Severity.ERROR for item in findings)
    parts: list[RenderableType] = [
        _verdict(compared.strategy, decision, len(old) - 1, invalid, held_back=held_back)
    ]
    if len(old) > 1:
        named = " · ".join(f"v{number} {safe(file)}" for number, file in enumerate(old))
        parts.append(Text(f"    {named}", style="dim"))
    if compared.changes and not invalid:
        parts.append(Padding(change_table(compared.changes), (0, 0, 0, 4)))
    for finding in findings[:_MAX_FINDINGS]:
        parts += [Text(""), finding_block(finding, excerpt)]
    left = len(findings) - _MAX_FINDINGS
    if left > 0:
        parts += [Text(""), Text(f"… {count(left, 'more finding')}; `--format json` has all")]
    return Group(*parts)


def _invalid_file(compared: Comparison) -> str:
    """The file that is refused since it is no definition; its texts say nothing beside others."""
    if compared.decision.accepted:
        return ""
    texts = (
        finding.location.file
        for finding in compared.findings
        if finding.rule == _INVALID and finding.location
    )
    return next(texts, "")


def _verdict(
    strategy: SchemaCompatibilityStrategy,
    decision: Decision,
    latest: int,
    invalid: str,
    *,
    held_back: bool,
) -> Text:
    if invalid:
        return Text.assemble(("✗ refused", "bold red"), f": {safe(invalid)} is not valid")
    if not decision.accepted:
        under = f" under {strategy.value}" if latest >= 0 else " as the first schema of a topic"
        return Text.assemble(("✗ refused", "bold red"), under)
    if latest < 0:
        text = " as v0, the first schema of a topic: nothing was compared"
    elif not decision.known:
        text = f" under {strategy.value} as v{decision.version}"
    elif (decision.version or 0) < latest:
        equal = f"v{decision.version}, which it equals"
        text = f" as {equal}: v{latest} stays the latest, and nothing changes"
        return Text.assemble(("⚠ accepted", "bold yellow"), text)
    else:
        text = f" as v{decision.version}, which it equals"
    if held_back:
        return Text.assemble(("✗ held back", "bold red"), f": Pulsar would accept it{text}")
    return Text.assemble(("✓ accepted", "bold green"), text)


# Whether a client may connect, in a terminal: the steps of the decision, then its end.


_INDENT = 7
_ON, _GOOD, _BAD = ("·", "dim"), ("✓", "green"), ("✗", "bold red")
"""The last step decides; those before it only led there."""

_ERRORS: Final[dict[ClientError, str]] = {
    "IncompatibleSchema": "the client gets IncompatibleSchema",
    "UnknownError": "the client gets UnknownError, and tries again until its operation timeout",
    "NotAllowedError": "the client gets NotAllowedError",
    "ClientFailure": "the client fails before it connects",
    "Timeout": "the broker fails without an answer, and the client waits for its operation timeout",
}


def connection_report(connection: Connection, excerpt: Excerpt, *, registry: str) -> RenderableType:
    """Everything; a blank line between two schemas of one producer."""
    line_of = _line_reader(connection.texts, excerpt)
    request = connection.request
    pulsar = connection.line.example
    head = f"{request.role} on {request.topic} · {registry} · as Pulsar {pulsar} decides"
    parts: list[RenderableType] = [Text(safe(head), style="bold")]
    for answered in connection.answered:
        parts += [Text(""), *_answered(answered, line_of)]
    if connection.misread:
        parts.append(Text("✗ it misreads stored messages", style="bold red"))
        parts += [
            _inset(Text(short(misread_version.text, 2000)))
            for misread_version in connection.misread
        ]
    if connection.notes:
        parts += [Text(""), *(_note(note) for note in connection.notes)]
    return Group(*parts)


def _line_reader(texts: Mapping[str, str], excerpt: Excerpt) -> Excerpt:
    """Reads lines of these texts, and of other files as `excerpt` does."""

    def line_of(where: Location) -> str | None:
        lines = texts.get(where.file, "").splitlines()
        return lines[where.line - 1] if 0 < where.line <= len(lines) else excerpt(where)

    return line_of


def _answered(answered: SchemaAdmission, excerpt: Excerpt) -> Iterator[RenderableType]:
    further = answered.admission.request == "getOrCreateSchema"
    name = short(answered.name)
    yield Text(f"get-or-create for a message with {name}" if further else f"connect with {name}")
    steps = answered.admission.steps
    width = max(len(step.question) for step in steps)
    for number, step in enumerate(steps, 1):
        mark = _ON if number < len(steps) else _GOOD if step.passed else _BAD
        yield from _step(number, mark, step, width)
    yield _end(answered.admission)
    yield from _after(answered, excerpt)


def _step(number: int, mark: tuple[str, str], step: Step, width: int) -> Iterator[RenderableType]:
    question = short(step.question).ljust(width)
    line = Text.assemble(f"{number:>3}  ", mark, f" {question}  ", short(step.answer))
    yield line
    if step.why:
        yield _inset(Text(short(step.why, 2000), style="dim"))


def _end(admission: Admission) -> Text:
    if admission.accepted:
        return Text.assemble(("✓ accepted", "bold green"), f"; {_let_in(admission)}")
    further = admission.request == "getOrCreateSchema"
    head = "✗ the message is not sent" if further else "✗ refused"
    return Text.assemble((head, "bold red"), f"; {_ERRORS[admission.error or 'UnknownError']}")


def _let_in(admission: Admission) -> str:
    version = f"v{admission.version}"
    if admission.role == "producer":
        if admission.version is None:
            return "its messages contain no version"
        if admission.registers:
            return f"its schema becomes {version}, which its messages contain"
        return f"its messages contain {version}"
    if admission.sent is None:
        return "nothing is registered"
    if admission.registers:
        return f"its schema becomes {version}"
    own = f", which is {version}" if admission.version is not None else ""
    return f"it reads with its own schema{own}; nothing is registered"


def _after(answered: SchemaAdmission, excerpt: Excerpt) -> Iterator[RenderableType]:
    admission = answered.admission
    if not admission.accepted and not answered.findings:
        yield _inset(Text(short(admission.decision.reason, 2000)))
    if answered.differs and answered.differs.changes:
        yield _inset(Text(f"differs from v{answered.differs.version}:"))
        yield Padding(change_table(answered.differs.changes), (0, 0, 0, _INDENT + 2))
        if answered.differs.advice:
            yield _note(answered.differs.advice)
    for finding in answered.findings:
        yield _inset(finding_block(finding, excerpt))
    for note in admission.notes:
        yield _note(note)


def _note(text: str) -> RenderableType:
    return Text.assemble(("! ", "yellow"), short(text, 2000))


def _inset(what: RenderableType) -> RenderableType:
    return Padding(what, (0, 0, 0, _INDENT), expand=False)


# Whether a declared client may connect to its topics, in a terminal: a line for each schema.

_MARKS: Final[dict[Verdict, tuple[str, str]]] = {
    "yes": _GOOD,
    "no": _BAD,
    "misreads": _BAD,
    "unknown": ("?", "bold yellow"),
}

_VERDICTS: Final[dict[Verdict, str]] = {
    "yes": "yes",
    "no": "no",
    "misreads": "connects, but misreads messages",
    "unknown": "unknown",
}


def client_connections_text(result: ClientConnectionsResult) -> RenderableType:
    """Whether a declared client may connect, a line for each schema on each topic."""
    connections = result.connections
    pulsar = connections.line.example
    head = f"{connections.client.name} · {result.registry.name} · as Pulsar {pulsar} decides"
    parts: list[RenderableType] = [Text(safe(head), style="bold"), Text("")]
    parts += [_client_connection_line(connection) for connection in connections.connections]
    if connections.notes:
        parts += [Text(""), *(_note(note) for note in connections.notes)]
    return Group(*parts)


def _client_connection_line(connection: DeclaredConnection) -> Text:
    now, after = (_VERDICTS[answer.verdict] for answer in (connection.now, connection.after_plan))
    verb = "consumes" if connection.role == "consumer" else "produces"
    who = f" {verb} {connection.topic} with {connection.schema}: "
    why_now, why_after = _reason_text(connection.now), _reason_text(connection.after_plan)
    if (now, why_now) == (after, why_after):
        answer = f"{now}, now and after the plan{why_now}"
    else:
        answer = f"{now} now{why_now}; {after} after the plan{why_after}"
    return Text.assemble(_MARKS[connection.verdict], short(who, 2000), short(answer, 2000))


def _reason_text(answer: Answer) -> str:
    """Why not, or what an accepted client registers or writes; empty where nothing is to say."""
    admission = answer.admission
    if answer.reason or admission is None:
        return f": {answer.reason.rstrip('.')}"
    if admission.registers:
        return f": it registers its schema as v{admission.version}"
    if admission.role == "producer" and admission.version is not None:
        return f": its messages contain v{admission.version}"
    return ""


# What a topic has of the schema of a class, in a terminal.


def match_report(matched: ClassMatch, excerpt: Excerpt, *, registry: str) -> RenderableType:
    """The verdict, where it comes from, what differs, and every reason."""
    match = matched.match
    kind, pulsar = matched.extraction.info.type.value, match.line.example
    head = f"{matched.name} · {kind} · {match.topic} · {registry} · as Pulsar {pulsar} decides"
    parts: list[RenderableType] = [Text(safe(head), style="bold"), _match_verdict(match)]
    parts += [
        Text(f"    {short(match_place)}", style="dim") for match_place in _match_places(match)
    ]
    if match.changes:
        parts.append(Padding(change_table(match.changes), (0, 0, 0, 4)))
    line_of = _line_reader(matched.extraction.sources, excerpt)
    for finding in match.findings[:_MAX_FINDINGS]:
        parts += [Text(""), finding_block(finding, line_of)]
    if match.is_kept_out:
        kept_out = "clients with it are refused until then: isAllowAutoUpdateSchema is false"
        parts += [Text(""), _note(f"it is not registered; {kept_out}")]
    if match.is_new:
        file = f" {match.file}" if match.file else ""
        next_step = f"next: write the schema of the class into the repository{safe(file)}"
        parts += [Text(""), Text(next_step)]
    return Group(*parts)


def _match_verdict(match: SchemaMatch) -> Text:
    version = f"v{match.decision.version}"
    if not match.decision.accepted:
        return Text.assemble(("✗ refused", "bold red"), f" under {match.strategy.value}")
    if match.is_new:
        sign = ("⚠ new", "bold yellow")
        return Text.assemble(
            sign, f": it would be {version}, accepted under {match.strategy.value}"
        )
    return Text.assemble(("✓ same", "bold green"), f" as {version}")


def _match_places(match: SchemaMatch) -> Iterator[str]:
    """What the file and the registry have; nothing of a file that is refused itself."""
    if match.file and match.file_version is not None:
        same = match.decision.known and match.decision.version == match.file_version
        yield f"{match.file} is {'this schema' if same else f'v{match.file_version}'}"
    elif match.file:
        yield f"{match.file} is refused itself; `pulsar-gitops plan` has the reason"
    if match.is_registered:
        yield f"v{match.decision.version} is registered"
    elif match.registered is None:
        yield "no version is registered"
    else:
        yield f"the latest registered version is v{match.registered}"
