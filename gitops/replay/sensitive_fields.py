"""The sensitive fields of a topic: how they are named, where they stand, and what hides them.

A name means a path of fields; others may stand before it and between its steps, such as the keys
of a map: a name of one step means the field wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.replay import Sample, TopicReplay
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaInfo
from gitops.model.state import Repository
from gitops.replay.field_aliases import FieldAliases, find_aliases
from gitops.replay.kernel.avro.values import UnionValue
from gitops.replay.kernel.definition_nodes import Node, Nodes, OpaqueNode, members_of, nodes_below
from gitops.replay.kernel.schema_types import nodes_of
from gitops.repository.suggestions import closest

REDACTED: Final = "(sensitive)"

Name = tuple[str, ...]
"""The steps of a field's path, without those into arrays and maps."""

_MOST_NAMED: Final = 2_000
_DEEPEST_NAMED: Final = 4
"""Of the fields among which the one is looked for that a name may mean."""

_MOST: Final = 10_000
"""Places that are remembered: the keys of maps make as many as there are."""


def split_path(path: str) -> Name:
    """`lines[].price` as (`lines`, `price`)."""
    return tuple(step for step in path.replace("[]", "").replace("{}", "").split(".") if step)


def matches_name(path: Name, names: Iterable[Name]) -> bool:
    """Whether one of the names means the path, or what stands above it."""
    return any(advance(name, 0, path) == len(name) for name in names)


@dataclass(frozen=True, slots=True)
class _Location:
    """`nodes` is what may stand there; `done` are the steps of each name that lead there."""

    nodes: Nodes
    done: tuple[int, ...]


@dataclass(slots=True, eq=False)
class SensitiveFields:
    """The names of a topic's sensitive fields, and what `nodes` its messages are.

    `in_reports` are those that paths of a report mean, too: what stands in a record within a record
    of the same name is counted at the path of the outer one. `all_of_it`: a name is of no field, so
    that any field may be the one that was meant.
    """

    names: tuple[Name, ...]
    nodes: Nodes
    in_reports: tuple[Name, ...]
    all_of_it: bool = False
    _inner: dict[tuple[_Location, str], _Location] = field(default_factory=dict)
    _holding: dict[_Location, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, replay: TopicReplay) -> SensitiveFields:
        """The names that all samples of a topic give, and the other ones of the same fields."""
        given = {text for sample in replay.samples for text in sample.sensitive}
        if not given:
            return cls((), (), ())
        schemas = schemas_of(replay)
        nodes = tuple(node for schema in schemas for node in nodes_of(schema))
        names = names_of_fields(schemas, given)
        in_reports = _suffixes(names) if _is_recursive(nodes) else names
        return cls(names, nodes, in_reports, bool(unknown_names(schemas, given)))

    def __bool__(self) -> bool:
        return bool(self.names)

    def hides(self, path: str) -> bool:
        """Whether the values at a path of a report are sensitive, or one of a map's is."""
        at = split_path(path)
        if self.all_of_it or matches_name(at, self.in_reports):
            return True
        return path.endswith("{}") and any(
            len(name) > 1 and advance(name, 0, at) == len(name) - 1 for name in self.in_reports
        )

    def hides_value(self, path: str) -> bool:
        """Whether a value at a path of a report is sensitive, or may hold something that is."""
        at = _Location(self.nodes, (0,) * len(self.names))
        for step in split_path(path):
            at = self._within(at, step)
        return self.hides(path) or self._may_hold(at)

    def redacted(self, value: Any) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value, with REDACTED for all that is sensitive, or stands where that should be."""
        at = _Location(self.nodes, (0,) * len(self.names))
        return REDACTED if self._is_named(at) else self._redacted(value, at)

    def _redacted(self, value: Any, at: _Location) -> Any:  # noqa: ANN401
        if isinstance(value, dict):
            return {name: self._member(inner, at, str(name)) for name, inner in value.items()}
        if isinstance(value, UnionValue):
            return self._redacted(value.value, at)
        if isinstance(value, list | tuple):
            return [self._redacted(inner, at) for inner in value]
        return value if value is None or not self._may_hold(at) else REDACTED

    def _member(self, value: Any, at: _Location, name: str) -> Any:  # noqa: ANN401
        within = self._within(at, name)
        return REDACTED if self._is_named(within) else self._redacted(value, within)

    def _is_named(self, at: _Location) -> bool:
        return any(done == len(name) for name, done in zip(self.names, at.done, strict=True))

    def _within(self, at: _Location, name: str) -> _Location:
        """A member that no definition has may be anything that stands beside it."""
        known = self._inner.get((at, name))
        if known is None:
            nodes, step = nodes_below(at.nodes, name), split_path(name)
            done = (advance(*pair, step) for pair in zip(self.names, at.done, strict=True))
            known = _Location(at.nodes if nodes is None else nodes, tuple(done))
            if len(self._inner) < _MOST:
                self._inner[at, name] = known
        return known

    def _may_hold(self, at: _Location) -> bool:
        """Whether a text or a number there stands where something sensitive should be."""
        if at not in self._holding:
            if len(self._holding) >= _MOST:
                self._holding.clear()
            pairs = zip(self.names, at.done, strict=True)
            self._holding[at] = any(contains_field(at.nodes, name, done) for name, done in pairs)
        return self._holding[at]


def contains_field(nodes: Iterable[Node], name: Name, done: int = 0) -> bool:
    """Whether a field that the rest of a name means stands in one of them, or might do so."""
    waiting, seen = [(node, done) for node in nodes], set[tuple[int, int]]()
    while waiting:
        node, done = waiting.pop()
        if node is OpaqueNode.OPAQUE or (node is OpaqueNode.ANYTHING and done):
            return True
        if (id(node), done) in seen:
            continue
        seen.add((id(node), done))
        for member, members in members_of(node).items():
            now = advance(name, done, split_path(member))
            if now == len(name):
                return True
            waiting.extend((item, now) for item in members)
    return False


def _is_recursive(nodes: Iterable[Node]) -> bool:
    """Whether a message may hold another one of its own type."""
    above, done = set[int](), set[int]()
    waiting: list[tuple[Node, bool]] = [(node, False) for node in nodes]
    while waiting:
        node, is_end = waiting.pop()
        if is_end:
            above.remove(id(node))
            done.add(id(node))
        elif id(node) in above:
            return True
        elif id(node) not in done:
            above.add(id(node))
            waiting.append((node, True))
            waiting += [
                (member, False) for members in members_of(node).values() for member in members
            ]
    return False


def _suffixes(names: Iterable[Name]) -> tuple[Name, ...]:
    """The names, also without their first steps."""
    return tuple(sorted({name[start:] for name in names for start in range(len(name))}))


def unknown_names(schemas: Iterable[SchemaInfo], names: Iterable[str]) -> list[str]:
    """Those that are no field of any definition, under whatever name.

    None where a definition cannot be looked into, and where none has fields: then no message of
    the topic is shown.
    """
    names = list(names)
    schemas = list(schemas) if names else []
    items = [nodes_of(schema) for schema in schemas]
    nodes = [node for item in items for node in item if node is not OpaqueNode.OPAQUE]
    if not all(items) or not nodes:
        return []
    other_aliases = find_aliases(schemas)
    return [
        name
        for name in names
        if not any(
            contains_field(nodes, path) for path in _all_names({split_path(name)}, other_aliases)
        )
    ]


def known_names(schemas: Iterable[SchemaInfo]) -> list[str]:
    """The fields of the definitions as one may name them, alone and by their paths; the first."""
    waiting = [("", node) for schema in schemas for node in nodes_of(schema)]
    grouped: dict[str, None] = {}
    for path, node in waiting:
        if len(waiting) > _MOST_NAMED or path.count(".") > _DEEPEST_NAMED:
            continue
        for member, members in members_of(node).items():
            below = ".".join(split_path(f"{path}.{member}"))
            if below:
                grouped.setdefault(below)
            waiting.extend((below, item) for item in members)
    return list(grouped | dict.fromkeys(path.rpartition(".")[2] for path in grouped))


def names_of_fields(schemas: Iterable[SchemaInfo], sensitive: Iterable[str]) -> tuple[Name, ...]:
    """The names that are given, and the other ones of the same fields."""
    texts = {split_path(text) for text in sensitive}
    return tuple(sorted(_all_names(texts, find_aliases(schemas))))


def schemas_of(replay: TopicReplay) -> list[SchemaInfo]:
    """All that a topic's messages are written and read with."""
    return [
        replay.proposed,
        *replay.versions.values(),
        *(reader.schema for reader in replay.readers),
    ]


def advance(name: Name, done: int, path: Name) -> int:
    """The steps of a name that are done behind a path, of which some were done before it."""
    for step in path:
        if done < len(name) and name[done] == step:
            done += 1
    return done


def _all_names(texts: set[Name], other_aliases: Iterable[FieldAliases]) -> set[Name]:
    """The names, and those that say the same field, or a field of a oneof that is meant."""
    other_aliases = list(other_aliases)
    names = set(texts)
    while (
        words := {
            other_name
            for other_alias in other_aliases
            for other_name in _other_names(names, other_alias)
        }
        - names
    ):
        names |= words
    return names


def _other_names(names: Iterable[Name], aliases: FieldAliases) -> Iterator[Name]:
    """Of a field under another name of what holds it, the last step says enough."""
    for name in names:
        if aliases.names & set(name[-1:]):
            yield from ((other,) for other in aliases.others)
        elif aliases.names & set(name):
            yield name[-1:]


# Names in `sensitive` that are of no field: whoever misspells one hides nothing with it.


_EXAMPLE: Final = "write it as in the definition, such as `email` or `lines[].card`"


def unknown_name_findings(topic: TopicReplay) -> Iterator[Finding]:
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


def likely_misspellings(repository: Repository) -> Iterator[Finding]:
    """Names that only nearly are those of fields: an older version may have them all the same."""
    for topic, source in repository.topics.items():
        latest = repository.desired.topics[topic].history.latest
        schemas = [latest.info] if latest else []
        for sample in source.samples:
            names = unknown_names(schemas, sample.sensitive)
            near = {name: closest(name, known_names(schemas)) for name in names}
            if meant := {name: value for name, value in near.items() if value}:
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
    return make_finding(
        "REPLAY-R010",
        what,
        location=places.get(next(iter(meant)), sample.location),
        subject=str(topic),
        hint=_hint({name: value for name, value in meant.items() if value}, len(meant)),
    )


def _hint(meant: Mapping[str, str], names: int) -> str:
    if not meant:
        return _EXAMPLE
    if names == 1:
        return f"did you mean {next(iter(meant.values()))}?"
    return "; ".join(f"for '{name}', did you mean {value}?" for name, value in meant.items())


def _fields(names: Sequence[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"fields {quoted}" if len(names) > 1 else f"field {quoted}"
