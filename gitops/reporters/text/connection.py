"""Whether a client may connect, in a terminal: the steps of the decision, then its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.compatibility.connection.admission import PULSAR, Admission, ClientError, Step
from gitops.model.findings import Location
from gitops.reporters.text.findings import Excerpt, finding_block
from gitops.reporters.text.plain import safe, short
from gitops.usecases.connect import Answered, Connection

_INDENT = 7
_ON, _GOOD, _BAD = ("·", "dim"), ("✓", "green"), ("✗", "bold red")
"""The last step decides; those before it only led there."""

_ERRORS: Final[dict[ClientError, str]] = {
    "IncompatibleSchema": "the client gets IncompatibleSchema",
    "UnknownError": "the client gets UnknownError, and tries again until its operation timeout",
    "Timeout": "the broker fails without an answer, and the client waits for its operation timeout",
}


def connection_report(connection: Connection, excerpt: Excerpt, *, registry: str) -> RenderableType:
    """Everything; a blank line between two schemas of one producer."""

    def line_of(where: Location) -> str | None:
        lines = connection.texts.get(where.file, "").splitlines()
        return lines[where.line - 1] if 0 < where.line <= len(lines) else excerpt(where)

    question = connection.question
    head = f"{question.role} on {question.topic} · {registry} · as Pulsar {PULSAR} decides"
    parts: list[RenderableType] = [Text(safe(head), style="bold")]
    for answered in connection.answered:
        parts += [Text(""), *_answered(answered, line_of)]
    if connection.notes:
        parts += [Text(""), *(_note(note) for note in connection.notes)]
    return Group(*parts)


def _answered(answered: Answered, excerpt: Excerpt) -> Iterator[RenderableType]:
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
        return Text.assemble(("✓ let in", "bold green"), f"; {_let_in(admission)}")
    further = admission.request == "getOrCreateSchema"
    head = "✗ the message is not sent" if further else "✗ refused"
    return Text.assemble((head, "bold red"), f"; {_ERRORS[admission.error or 'UnknownError']}")


def _let_in(admission: Admission) -> str:
    version = f"v{admission.version}"
    if admission.role == "producer":
        if admission.version is None:
            return "its messages carry no version"
        if admission.registers:
            return f"its schema becomes {version}, which its messages carry"
        return f"its messages carry {version}"
    if admission.sent is None:
        return "nothing is registered"
    if admission.registers:
        return f"its schema becomes {version}"
    own = f", which is {version}" if admission.version is not None else ""
    return f"it reads with its own schema{own}; nothing is registered"


def _after(answered: Answered, excerpt: Excerpt) -> Iterator[RenderableType]:
    admission = answered.admission
    if not admission.accepted and not answered.findings:
        yield _inset(Text(short(admission.decision.reason, 2000)))

    for finding in answered.findings:
        yield _inset(finding_block(finding, excerpt))
    for note in admission.notes:
        yield _note(note)


def _note(text: str) -> RenderableType:
    return Text.assemble(("! ", "yellow"), short(text, 2000))


def _inset(what: RenderableType) -> RenderableType:
    return Padding(what, (0, 0, 0, _INDENT), expand=False)
