"""Edits of a definition that may take a finding away, by rule; none is tried here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gitops.repository.definitions.text_edits import Definition, with_null
from gitops.schemas.avro.fields import is_number, is_whole
from gitops.schemas.avro.json_text import Json, JsonTextError, blank_comments, read_json


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
    text, other = _type(problem.pointer, new), _type(problem.old_pointer, old)
    kind, edited = old.at(other), new.at(text)
    if kind is None or not text or edited is None or _added_content(edited, kind):
        return None
    return new.replace(text, kind)


_TYPE_MEMBERS: Final = frozenset(
    ("type", "name", "namespace", "items", "values", "fields", "symbols", "size")
) | {"logicalType", "precision", "scale", "default", "java-class", "java-key-class"}
"""Members of a type or a field that the type of another version has its own of."""


def _added_content(new: str, old: str) -> bool:
    """Whether a type has fields, symbols or members that the other one lacks.

    An edit that puts the other one in its place would lose them.
    """
    try:
        return bool(_content(read_json(new)) - _content(read_json(old)))
    except (JsonTextError, RecursionError):
        return True


def _content(node: Json) -> Counter[str]:
    counter: Counter[str] = Counter()
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, list):
            waiting += here
        if isinstance(here, dict):
            own = {name: value for name, value in here.items() if name not in _TYPE_MEMBERS}
            counter.update(f"{name}: {json.dumps(value)}" for name, value in own.items())
            symbols, fields = here.get("symbols"), here.get("fields")
            if isinstance(symbols, list):
                counter.update(f"symbol {symbol}" for symbol in symbols)
            for field in fields if isinstance(fields, list) else ():
                if isinstance(field, dict):
                    counter[f"field {field.get('name')}"] += 1
                    counter["default"] += "default" in field
                    waiting.append(field)
            waiting += [here[name] for name in ("type", "items", "values") if name in here]
    return counter


def _old_name(problem: Problem, new: Definition, old: Definition | None) -> str | None:
    """The name of the type as it was, which another file may define now."""
    if old is None:
        return None
    text, other = _type(problem.pointer, new), _type(problem.old_pointer, old)
    if not text or old.at(f"{other}/type") not in _NAMED:
        return None
    return new.replace(text, json.dumps(_type_name(old, other)))


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


def _intended_default(problem: Problem, new: Definition, _old: Definition | None) -> str | None:
    """The default that the author meant, with the union's branch that it is of in front.

    Text may spell a value, as "0", "false" or "null". Where the text fits as well, null is meant
    by "null"; what is meant by other text is unknown.
    """
    field = problem.pointer.removesuffix("/default")
    kind, written = new.at(f"{field}/type"), new.at(problem.pointer)
    if kind is None or written is None:
        return None
    branches = new.items(f"{field}/type") if kind.startswith("[") else [kind]
    default = read_json(written)
    fitting = {
        value: index
        for value in _meanings(default)
        if (index := _fitting_branch(branches, value)) is not None
    }
    value = next(iter(fitting), None)
    if value is None:
        return None
    if isinstance(default, str) and len(fitting) > 1 and not _is_symbol(branches, default):
        if _NULL not in fitting:
            return None
        value = _NULL
    edited = new.text
    if value != json.dumps(default, ensure_ascii=False):
        edited = new.replace(problem.pointer, value) or edited
    if index := fitting[value]:
        if blank_comments(kind) != kind:  # comments would be lost
            return None
        ordered = [branches[index], *branches[:index], *branches[index + 1 :]]
        union = f"[{', '.join(ordered)}]"
        edited = new.with_text(edited).replace(f"{field}/type", union) or edited
    return edited


def _meanings(default: Json) -> list[str]:
    """JSON texts of the values that a default may stand for: itself first."""
    meanings = [json.dumps(default, ensure_ascii=False)]
    if isinstance(default, float) and default.is_integer() and abs(default) <= _EXACT:
        meanings.append(str(int(default)))
    if isinstance(default, str):
        spelled = default.strip()
        if spelled.lower() in ("null", "true", "false"):
            spelled = spelled.lower()
        with suppress(JsonTextError, RecursionError):
            if not isinstance(read_json(spelled), str):
                meanings.append(spelled)
    return meanings


def _is_symbol(branches: Sequence[str], text: str) -> bool:
    """Whether an enum among the branches has the text as a symbol."""
    nodes = map(read_json, branches)
    return any(isinstance(node, dict) and text in node.get("symbols", ()) for node in nodes)


def _fitting_branch(branches: Sequence[str], value: str) -> int | None:
    """The first branch that a default may be of; a type by its name where no other is."""
    parsed, named = read_json(value), None
    for index, branch in enumerate(branches):
        node = read_json(branch)
        kind = node.get("type") if isinstance(node, dict) else node
        if kind == "enum":
            is_fitting = isinstance(parsed, str) and parsed in node.get("symbols", ())
        elif isinstance(kind, str) and kind in _VALUES:
            is_fitting = _VALUES[kind](parsed)
        else:
            is_fitting = False
            if named is None and isinstance(parsed, str | dict):
                named = index
        if is_fitting:
            return index
    return named


_EXACT: Final = 2**53
"""Up to here a double is exactly the whole number that it shows."""

_VALUES: Final[dict[Json, Callable[[Json], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "int": is_whole,
    "long": is_whole,
    "float": is_number,
    "double": is_number,
    "string": lambda value: isinstance(value, str),
    "bytes": lambda value: isinstance(value, str),
    "fixed": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "map": lambda value: isinstance(value, dict),
    "record": lambda value: isinstance(value, dict),
    "error": lambda value: isinstance(value, dict),
}
"""Which JSON values may be a default of a kind of type."""


def _null_default(problem: Problem, new: Definition, _old: Definition | None) -> str | None:
    """A type that takes null, where the default is null, or text that spells it."""
    field = problem.pointer.removesuffix("/default")
    kind, written = new.at(f"{field}/type"), new.at(problem.pointer)
    if kind is None or written is None or _NULL not in _meanings(read_json(written)):
        return None
    nullable = with_null(kind, new.items(f"{field}/type"))
    edited = new.replace(problem.pointer, _NULL)
    return None if edited is None else new.with_text(edited).replace(f"{field}/type", nullable)


_NULL: Final = "null"

_Maker = Callable[[Problem, Definition, Definition | None], str | None]

_OLD: Final = "the old"
"""How the attempts begin that take a change back."""

NULL: Final = "null"
"""The attempt that lets a field be null."""

_OLD_TYPE: Final = (
    (f"{_OLD} type by its name", _old_name),
    (f"{_OLD} type", _old_type),
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
        ("the default as it is meant", _intended_default),
        (NULL, _null_default),
    ),
    "AVRO-P003": ((NULL, _nullable),),
    "AVRO-W001": ((f"{_OLD} symbols", _symbols),),
    "AVRO-W003": _OLD_TYPE,
    "AVRO-W004": _OLD_TYPE,
    "AVRO-W005": _OLD_TYPE,
    "AVRO-W006": (("an alias", _alias), ("an alias of the record", _record_alias)),
    "AVRO-W008": _OLD_TYPE,
    "AVRO-W013": _OLD_TYPE,
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
