"""Patches for findings: the smallest edit that the finding is gone after, without a new error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.planning.refusals import renames
from gitops.repository.definitions.text_edits import Definition

# The smallest edit of a definition that takes a finding away, where one is known.


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is to be patched: a rule's finding, and where it stands on both sides.

    `new_reads`: the new schema is the reader, so that a default in it helps.
    """

    rule: str
    pointer: str
    old_pointer: str
    new_reads: bool = True


def edits(problem: Problem, new: Definition, old: Definition | None) -> Iterator[str]:
    """New texts of the definition that may help, the smallest first; none is tried yet."""
    makers = _MAKERS.get(problem.rule, ())
    for maker in makers:
        edited = maker(problem, new, old)
        if edited is not None and edited != new.text:
            yield edited


def _nullable(problem: Problem, new: Definition, _old: Definition | None) -> str | None:
    """A new field that messages need not carry."""
    return new.nullable(_field(problem.pointer)) if problem.new_reads else None


def _null_only(problem: Problem, new: Definition, _old: Definition | None) -> str | None:
    """The same for a field whose union has null already, and first."""
    field = _field(problem.pointer)
    branches = new.items(f"{field}/type")
    if not problem.new_reads or branches[:1] != ['"null"']:
        return None
    return new.add_member(f"{field}/type", "default", "null")


def _put_back(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """A field that old readers need, at its place among the others."""
    if problem.new_reads or old is None:
        return None
    pointer = _field(problem.old_pointer)
    fields, _, index = pointer.rpartition("/")
    text, before = old.at(pointer), _names(old, fields)[: int(index)]
    target = _fields_below(problem.pointer, new)
    if text is None or target is None:
        return None
    present = _names(new, target)
    place = max((present.index(name) + 1 for name in before if name in present), default=0)
    return new.insert_item(target, place, text)


def _old_type(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """The type as it was."""
    if old is None:
        return None
    mine, other = _type(problem.pointer, new), _type(problem.old_pointer, old)
    kind = old.at(other)
    return None if kind is None or not mine else new.replace(mine, kind)


def _symbols(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """The symbols that are gone, behind the others."""
    if old is None:
        return None
    array = problem.old_pointer.rpartition("/")[0]
    present = set(new.items(problem.pointer))
    gone = [symbol for symbol in old.items(array) if symbol not in present]
    return new.append(problem.pointer, gone)


def _alias(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """The old name as an alias of the new one."""
    name = old.at(problem.old_pointer) if old else None
    return _with_alias(new, _field(problem.pointer), name) if name else None


def _record_alias(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """The old name of the record as an alias of the new one, without which no field's counts."""
    if old is None:
        return None
    name = json.dumps(_full_name(old, problem.old_pointer))
    return _with_alias(new, _field(problem.pointer).rpartition("/fields/")[0], name)


def _with_alias(new: Definition, named: str, alias: str) -> str | None:
    """One more alias of a record or a field; none where it has it."""
    aliases = f"{named}/aliases"
    if new.at(aliases) is None:
        return new.add_member(f"{named}/name", "aliases", f"[{alias}]")
    return None if alias in new.items(aliases) else new.append(aliases, [alias])


def _full_name(definition: Definition, pointer: str) -> str:
    """Of the innermost record around a place, whose name may take the namespace of an outer one."""
    steps, name = pointer.split("/"), ""
    for end in range(1, len(steps) + 1):
        place = "/".join(steps[:end])
        if definition.at(f"{place}/fields") is not None:
            own = json.loads(definition.at(f"{place}/name") or '""')
            space = definition.at(f"{place}/namespace")
            outer = json.loads(space) if space else name.rpartition(".")[0]
            name = own if "." in own or not outer else f"{outer}.{own}"
    return name


def _default_first(problem: Problem, new: Definition, _old: Definition | None) -> str | None:
    """The branch that the default is of, in front of the others."""
    field = problem.pointer.removesuffix("/default")
    branches, default = new.items(f"{field}/type"), new.at(problem.pointer)
    if default is None or len(branches) < _TWO:
        return None
    is_null = default == "null"
    first = [branch for branch in branches if (branch == '"null"') is is_null]
    rest = [branch for branch in branches if branch not in first]
    return new.replace(f"{field}/type", f"[{', '.join([*first, *rest])}]")


_TWO: Final = 2

_Maker = Callable[[Problem, Definition, Definition | None], str | None]

_MAKERS: Final[dict[str, tuple[_Maker, ...]]] = {
    "AVRO-R001": (_old_type,),
    "AVRO-R002": (_null_only, _nullable, _put_back),
    "AVRO-R003": (_old_type,),
    "AVRO-R004": (_old_type,),
    "AVRO-R005": (_old_type,),
    "AVRO-P002": (_default_first,),
    "AVRO-P003": (_nullable,),
    "AVRO-W001": (_symbols,),
    "AVRO-W003": (_old_type,),
    "AVRO-W004": (_old_type,),
    "AVRO-W005": (_old_type,),
    "AVRO-W006": (_alias, _record_alias),
    "AVRO-W008": (_old_type,),
}


def _field(pointer: str) -> str:
    return pointer.removesuffix("/name")


def _type(pointer: str, definition: Definition) -> str:
    """The place of the type of what the pointer means: a field has one, a type is one."""
    inner = f"{pointer}/type"
    is_field = definition.at(f"{pointer}/name") is not None and definition.at(inner) is not None
    kind = definition.at(inner) if is_field else None
    return pointer if kind is None or kind in _NAMED else inner


_NAMED: Final = {json.dumps(kind) for kind in ("record", "error", "enum", "fixed")}


def _fields_below(pointer: str, definition: Definition) -> str | None:
    """The fields of the record that a pointer to it, or to the field that has it, means."""
    steps = ("", "/type", "/type/items", "/type/values")
    places = [f"{pointer}{step}/fields" for step in steps]
    places += [f"{pointer}{step}/{n}/fields" for step in steps[1:] for n in range(_BRANCHES)]
    return next((place for place in places if definition.at(place) is not None), None)


_BRANCHES: Final = 8
"""How many branches of a union are looked through for a record."""


def _names(definition: Definition, fields: str) -> list[str]:
    count = len(definition.items(fields))
    return [definition.at(f"{fields}/{index}/name") or "" for index in range(count)]


# Patches for findings: one is offered if the finding is gone after it, and no error is new.


Said = Mapping[tuple[str, str], Severity]
"""Rule and message of each finding, and how bad it is."""

Judge = Callable[[str], Said]
"""From a text of the new definition to what would be said of it."""

_TRIED: Final = 2_000_000
"""About how many characters of definitions are compared again, all patches together."""

_FINDING: Final = 500
"""As many characters as a finding counts for: each is found again at every trial."""

_FEWEST: Final = 2
"""How many edits are tried however large the definitions are."""


_NO_MORE: Final = "no patch is tried from here on: too much has changed"


class PatchSuggester:
    """Of one comparison: edits of `new`, each tried once, as many as the time allows.

    `old` are the definitions that findings compare with, by file.
    """

    def __init__(self, new: Definition, old: Mapping[str, Definition], judge: Judge) -> None:
        self._new = new
        self._old = old
        self._judge = judge
        self._size = len(new.text) + sum(len(each.text) for each in old.values())
        self._left = _FEWEST
        self._told = False
        self._found: dict[str, Said] = {}
        self._offered: set[str] = set()

    def with_patches(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """The findings with the smallest patch that helps; each patch is offered once.

        The first one for which there is no time says so.
        """
        cost = self._size + _FINDING * len(findings)
        self._left = max(_FEWEST, _TRIED // max(1, cost))
        self._found[self._new.text] = severities_of(findings)
        renamed = renames(findings)
        return tuple(self._patched(one, renamed) for one in findings)

    def _patched(self, one: Finding, renamed: Mapping[str, Finding]) -> Finding:
        if one.location is None or one.location.file != self._new.file:
            return one
        if not self._left:
            return self._untried_edits(one)
        rename = renamed.get(one.location.pointer)
        tried = [rename, one] if rename and rename is not one else [one]
        for edited in chain.from_iterable(map(self._edits, tried)):
            if self._helps(one, edited):
                offered = edited in self._offered
                self._offered.add(edited)
                return one if offered else replace(one, patch=self._new.patch(edited))
        return one

    def _untried_edits(self, one: Finding) -> Finding:
        if self._told or next(self._edits(one), None) is None:
            return one
        self._told = True
        return replace(one, hint=f"{one.hint} ({_NO_MORE})")

    def _edits(self, one: Finding) -> Iterator[str]:
        if one.rule == "AVRO-W006" and '"aliases"' not in one.hint:
            return iter(())  # where an alias would help the new schema's readers alone
        old = self._old.get(one.compared.file) if one.compared else None
        return edits(_problem(one), self._new, old)

    def _helps(self, one: Finding, edited: str) -> bool:
        before, after = self._edit_text(self._new.text), self._edit_text(edited)
        if before is None or after is None or not after.keys().isdisjoint(severities_of([one])):
            return False
        errors = (key for key, severity in after.items() if severity is Severity.ERROR)
        return all(before.get(key) is Severity.ERROR for key in errors)

    def _edit_text(self, text: str) -> Said | None:
        """None where there is no time left to ask."""
        if text not in self._found:
            if not self._left:
                return None
            self._left -= 1
            self._found[text] = self._judge(text)
        return self._found[text]


def severities_of(findings: Iterable[Finding]) -> Said:
    """What counts of findings: what one of several versions is the cause of counts by itself."""
    return {(each.rule, each.message): each.severity for one in findings for each in one.members}


def _problem(one: Finding) -> Problem:
    return Problem(
        rule=one.rule,
        pointer=one.location.pointer if one.location else "",
        old_pointer=one.compared.pointer if one.compared else "",
        new_reads=" cannot read what the new schema writes" not in one.message,
    )
