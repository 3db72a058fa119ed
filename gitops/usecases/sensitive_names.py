"""Names in `sensitive` that are of no field: whoever misspells one hides nothing with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.replay import TopicReplay
from gitops.model.repository import Repository
from gitops.model.rules import finding
from gitops.model.samples import Sample
from gitops.replay.sensitive import known_names, schemas_of, unknown_names
from gitops.repository.suggestions import closest

_EXAMPLE: Final = "write it as the definition has it, as `email` or `lines[].card`"


def misnamed(topic: TopicReplay) -> Iterator[Finding]:
    """One for each sample: no schema of the replay has such a field, and so no value is shown."""
    schemas = schemas_of(topic)
    for sample in topic.samples:
        if names := unknown_names(schemas, sample.sensitive):
            yield _finding(
                topic.topic,
                sample,
                f"no definition has the sensitive {_fields(names)}: no value of this topic is "
                f"shown until {'they are' if len(names) > 1 else 'it is'} corrected",
                {name: closest(name, known_names(schemas)) for name in names},
            )


def perhaps_misnamed(repository: Repository) -> Iterator[Finding]:
    """Names that only nearly are those of fields: an older version may have them all the same."""
    for topic, source in repository.topics.items():
        latest = repository.desired.topics[topic].history.latest
        schemas = [latest.info] if latest else []
        for sample in source.samples:
            names = unknown_names(schemas, sample.sensitive)
            near = {name: closest(name, known_names(schemas)) for name in names}
            if meant := {name: its for name, its in near.items() if its}:
                what = (
                    f"the definition does not have the sensitive {_fields(list(meant))}: unless an "
                    f"older version has {'them' if len(meant) > 1 else 'it'}, no value of this "
                    "topic is shown"
                )
                yield replace(_finding(topic, sample, what, meant), severity=Severity.INFO)


def _finding(
    topic: TopicName, sample: Sample, what: str, meant: Mapping[str, str | None]
) -> Finding:
    places = dict(zip(sample.sensitive, sample.sensitive_at, strict=False))
    return finding(
        "REPLAY-R010",
        what,
        location=places.get(next(iter(meant)), sample.location),
        subject=str(topic),
        hint=_hint({name: its for name, its in meant.items() if its}, len(meant)),
    )


def _hint(meant: Mapping[str, str], names: int) -> str:
    if not meant:
        return _EXAMPLE
    if names == 1:
        return f"did you mean {next(iter(meant.values()))}?"
    return "; ".join(f"for '{name}', did you mean {its}?" for name, its in meant.items())


def _fields(names: Sequence[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"fields {quoted}" if len(names) > 1 else f"field {quoted}"
