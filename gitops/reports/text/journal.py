"""What a journal tells, in a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from gitops.model.journal import Attempt, JournalRun, Outcome, final_outcomes, unfinished
from gitops.reports.check_summary import count
from gitops.reports.operation_results import JournalResult
from gitops.reports.text.apply import SIGNS, WORDS, partitions_text
from gitops.reports.text.layout import align_columns
from gitops.reports.text.plain import safe

_DONE: Final = Outcome.DONE
_MADE: Final = {
    "CreateTenant": ("tenant created", "tenants created"),
    "CreateTopic": ("topic created", "topics created"),
    "CreateNamespace": ("namespace created", "namespaces created"),
    "SetPolicy": ("policy set", "policies set"),
    "RegisterSchema": ("version registered", "versions registered"),
    "DeleteSchema": ("schema deleted", "schemas deleted"),
}


def journal_text(result: JournalResult) -> RenderableType:
    """Each apply with its actions, all that was made, and what to do next."""
    parts: list[RenderableType] = [Text(safe(result.path), style="bold"), Text("")]
    for run in result.runs:
        parts += [_head(run), align_columns([*map(_line, run.attempts)]), Text("")]
    parts += [Text(_made(result.runs)), *_next(result)]
    return Group(*parts)


def _head(run: JournalRun) -> Text:
    ended = run.ended or "the process ended before the apply did"
    of = f"{run.began} to {ended}" if run.ended else f"{run.began}, {ended}"
    text = Text.assemble((safe(run.registry), "bold"), f" · {safe(run.address)} · {of}\n")
    return text.append(f"plan {safe(run.digest[:19])} · {_counts(run)}")


def _counts(run: JournalRun) -> str:
    """`3 of 5 actions done, 1 failed, 1 not tried`, with those of earlier applies."""
    done = run.done_before + run.count(Outcome.DONE)
    total = run.done_before + run.actions
    texts = [f"{done:,} of {count(total, 'action')} done"]
    others = (Outcome.FAILED, Outcome.UNKNOWN)
    texts += [f"{n:,} {WORDS[outcome]}" for outcome in others if (n := run.count(outcome))]
    texts += [f"{run.closings:,} set back"] if run.closings else []
    open_still = sum(
        attempt.closes and attempt.outcome is not Outcome.DONE for attempt in run.attempts
    )
    texts += [f"{open_still:,} not set back"] if open_still else []
    left = run.actions - run.tried
    texts += [f"{left:,} not tried"] if left > 0 else []
    return ", ".join(texts)


def _line(attempt: Attempt) -> tuple[Text, ...]:
    sign, style = SIGNS[attempt.outcome]
    subject = Text.assemble(("  ", ""), (sign, style), " ", safe(_subject(attempt.action)))
    what = Text(safe(_what(attempt)))
    if attempt.error:
        what.append(": ").append(safe(attempt.error), style=style)
    return subject, what


def _subject(action: Any) -> str:  # noqa: ANN401 - as JSON has it
    keys = ("topic", "namespace", "tenant", "subject")
    named = next((action[key] for key in keys if action.get(key)), "")
    return str(named).removeprefix("topic ").removeprefix("namespace ")


def _what(attempt: Attempt) -> str:
    action = attempt.action
    match action.get("action"):
        case "CreateTenant" | "CreateNamespace":
            return "create"
        case "CreateTopic":
            return f"create, {partitions_text(action['partitions'])}"
        case "SetPolicy":
            return f"{action['key']} {_value(action['before'])} → {_value(action['after'])}"
        case "RegisterSchema":
            version = action["version"] if attempt.version is None else attempt.version
            return f"→ v{version}"
        case other:
            return "delete" if other == "DeleteSchema" else str(other)


def _value(value: object) -> str:
    """`–` for none, `true`, `FULL`."""
    return "–" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _made(runs: Sequence[JournalRun]) -> str:
    """`2 namespaces created, 11 versions registered`: everything that these applies did."""
    ended = [(action.get("action"), outcome) for action, outcome in final_outcomes(runs)]
    texts = [count(n, *words) for kind, words in _MADE.items() if (n := ended.count((kind, _DONE)))]
    unknown = sum(outcome is Outcome.UNKNOWN for _, outcome in ended)
    texts += [f"{unknown:,} {WORDS[Outcome.UNKNOWN]}"] if unknown else []
    return f"in all: {', '.join(texts) or 'nothing'}"


def _next(result: JournalResult) -> Iterator[Text]:
    for last in unfinished(result.runs):
        if last.command != "apply":
            text = f"next: the same {last.command} again looks at the registry and goes on"
            yield Text(safe(text))
            continue
        is_kept = any(run.plan for run in result.runs if run.digest == last.digest)
        file = "" if is_kept else f" {shlex.quote(result.plan_file or 'PLANFILE')}"
        text = f"next: pulsar-gitops apply --resume{file} looks at the registry and goes on"
        yield Text(safe(text))
