"""Edits of a definition that may take a finding away, by rule; none is tried here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gitops.repository.definitions.text_edits import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is to be patched: a rule's finding, and where it stands on both sides.

    `new_reads`: the new schema is the reader, so that a default in it helps.
    """

    rule: str
    pointer: str
    old_pointer: str
    new_reads: bool = True

    @property
    def is_rename(self) -> bool:
        """Whether what is missing is compared with another field, and not with the record."""
        is_field = self.rule in ("AVRO-R002", "AVRO-W006")
        return is_field and self.new_reads and self.old_pointer.endswith("/name")


@dataclass(frozen=True, slots=True)
class Edit:
    """A whole new text of a definition, and what it has in place of what was found."""

    text: str
    attempt: str

    @property
    def is_old(self) -> bool:
        """Whether it takes the change back."""
        return self.attempt.startswith(_OLD)


def edits(problem: Problem, new: Definition, old: Definition | None) -> Iterator[Edit]:
    """What may help, the smallest first; none is tried yet."""
    for attempt, maker in _MAKERS.get(problem.rule, ()):
        edited = maker(problem, new, old)
        if edited is not None and edited != new.text:
            yield Edit(edited, attempt)


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


def _old_field_name(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """A field under the name that it had."""
    name = old.at(problem.old_pointer) if old and problem.is_rename else None
    return new.replace(problem.pointer, name) if name else None


def _old_type(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """The type as it was."""
    if old is None:
        return None
    mine, other = _type(problem.pointer, new), _type(problem.old_pointer, old)
    kind = old.at(other)
    return None if kind is None or not mine else new.replace(mine, kind)


def _old_default(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """The type as it was with its default, where a new default is of the new type."""
    retyped = _old_type(problem, new, old)
    mine, other = _field_of_type(problem.pointer), _field_of_type(problem.old_pointer)
    default = old.at(f"{other}/default") if old else None
    if retyped is None or default is None or new.at(f"{mine}/default") is None:
        return None
    return new.with_text(retyped).replace(f"{mine}/default", default)


def _old_name(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """The name of the type as it was, which another file may define now."""
    if old is None:
        return None
    mine, other = _type(problem.pointer, new), _type(problem.old_pointer, old)
    if not mine or old.at(f"{other}/type") not in _NAMED:
        return None
    return new.replace(mine, json.dumps(_type_name(old, other)))


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
            name = _type_name(definition, place, name.rpartition(".")[0])
    return name


def _type_name(definition: Definition, pointer: str, outer: str | None = None) -> str:
    """The full name of the type at a place; `outer` is the namespace around it."""
    own = json.loads(definition.at(f"{pointer}/name") or '""')
    space = definition.at(f"{pointer}/namespace")
    if outer is None:
        outer = _full_name(definition, pointer.rpartition("/")[0]).rpartition(".")[0]
    outer = json.loads(space) if space else outer
    return own if "." in own or not outer else f"{outer}.{own}"


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


def _no_default(problem: Problem, new: Definition, _old: Definition | None) -> str | None:
    """A field without the default that is not of its type."""
    is_default = problem.pointer.endswith("/default")
    return new.remove_member(problem.pointer) if is_default else None


def _null_default(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """Null as the default in place of one that is not of the type."""
    without = _no_default(problem, new, old)
    if without is None:
        return None
    return new.with_text(without).nullable(problem.pointer.removesuffix("/default"))


_TWO: Final = 2

_Maker = Callable[[Problem, Definition, Definition | None], str | None]

_OLD: Final = "the old"
"""How the attempts begin that take a change back."""

NULL: Final = "null"
"""The attempt that lets a field be null."""

_OLD_TYPE: Final = (
    (f"{_OLD} type by its name", _old_name),
    (f"{_OLD} type", _old_type),
    (f"{_OLD} type with its default", _old_default),
)

_MAKERS: Final[dict[str, tuple[tuple[str, _Maker], ...]]] = {
    "AVRO-R001": _OLD_TYPE,
    "AVRO-R002": (
        (NULL, _null_only),
        (NULL, _nullable),
        (f"{_OLD} field", _put_back),
        (f"{_OLD} name", _old_field_name),
    ),
    "AVRO-R003": _OLD_TYPE,
    "AVRO-R004": _OLD_TYPE,
    "AVRO-R005": _OLD_TYPE,
    "AVRO-P002": (
        ("the default's branch in front", _default_first),
        ("no default", _no_default),
        (NULL, _null_default),
    ),
    "AVRO-P003": ((NULL, _nullable),),
    "AVRO-W001": ((f"{_OLD} symbols", _symbols),),
    "AVRO-W003": _OLD_TYPE,
    "AVRO-W004": _OLD_TYPE,
    "AVRO-W005": _OLD_TYPE,
    "AVRO-W006": (("an alias", _alias), ("an alias of the record", _record_alias)),
    "AVRO-W008": _OLD_TYPE,
}


def _field(pointer: str) -> str:
    return pointer.removesuffix("/name")


def _field_of_type(pointer: str) -> str:
    return pointer.removesuffix("/type")


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
