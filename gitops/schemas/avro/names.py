"""Avro's names: what may be one, and how one is looked up."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Final, NamedTuple

from gitops.schemas.avro.errors import AvroParseError, AvroProblem, JavaError
from gitops.schemas.avro.schema import PRIMITIVES, Contents, Facts, Named, Primitive, Record, Schema

_BMP = 0xFFFF


def problem(
    kind: str,
    message: str,
    pointer: str,
    *,
    name: str = "",
    java: JavaError = JavaError.SCHEMA_PARSE,
) -> AvroParseError:
    """An error of a single problem."""
    avro_problem = AvroProblem(kind=kind, message=message, pointer=pointer, name=name, java=java)
    return AvroParseError((avro_problem,))


SIGNS: Final = "_"
"""What names may have beside letters and digits (Avro 1.11.4)."""


def check_name(name: str, at: str, member: str | int | None = None, *, signs: str = SIGNS) -> str:
    """A simple name: a letter of any script or one of `signs`, then decimal digits, too.

    The name stands in `member` of the node at pointer `at`, or is that node. Java looks at
    UTF-16 units, so no letter beyond the basic plane passes (Avro 1.11.4).
    """
    if name.isascii() and name.isidentifier():
        return name
    pointer = at if member is None else f"{at}/{member}"
    if not name:
        raise problem("bad-name", "a name is empty", pointer)
    if not all(c in signs or (ord(c) <= _BMP and (c.isalpha() or c.isdecimal())) for c in name):
        raise problem("bad-name", f"'{name}' is not a name: use letters, digits and _", pointer)
    if name[0].isdecimal():
        raise problem("bad-name", f"'{name}' starts with a digit", pointer)
    return name


def full_name(
    name: str, space: str | None, at: str, member: str | None = None, *, signs: str = SIGNS
) -> str:
    """The full name of `name` in namespace `space`; a dotted one brings its own namespace.

    Only the part behind the last dot is checked (Avro 1.11.4).
    """
    before, dot, simple = name.rpartition(".")
    check_name(simple, at, member, signs=signs)
    inside = before if dot else space
    return f"{inside}.{simple}" if inside else simple


class References(NamedTuple):
    """Something in a definition that is more than itself: a type by name, or aliases.

    `number` is that of a type that was looked up, by the order of definitions: -1 where another
    definition might mean another type by that name. `refers_back`: it is still being read.
    """

    number: int = sys.maxsize
    refers_back: bool = False
    has_aliases: bool = False


DEFINED: Final = References()


def _met(contents: Contents) -> References:
    if contents.has_aliases or contents.refers_back:
        return References(refers_back=contents.refers_back, has_aliases=contents.has_aliases)
    return DEFINED


@dataclass(slots=True)
class Names:
    """The named types read so far, and the namespace that encloses what is being read.

    `met` tells, in order, what a field that stands for itself has not, or has beside.
    """

    space: str | None = None
    known: dict[str, Named] = field(default_factory=dict)
    met: list[References] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, schema: Named, at: str) -> None:
        """Make a type known that stands `at`; its name must be new, and not a primitive's."""
        check_not_primitive(schema.name, at)
        if schema.name in self.known:
            raise problem("redefined", f"{schema.name} is defined twice", at)
        self.known[schema.name] = schema
        self.met.append(DEFINED)

    def add_all(self, contents: Contents) -> bool:
        """Make the types of a part known that is met again; not if one of its names is taken."""
        if not self.known.keys().isdisjoint(contents.names):
            return False
        self.known.update(contents.names)
        self.met.append(_met(contents))
        return True

    def facts(self) -> Facts:
        """What there is to know of a definition that was read to its end."""
        has_aliases = refers_back = False
        for references in self.met:
            has_aliases |= references.has_aliases
            refers_back |= references.refers_back
        return Facts(has_aliases, refers_back)

    def find(self, name: str, pointer: str) -> Schema | None:
        """What a text in the place of a schema means: enclosing namespace first, then none.

        A name with a dot is looked up as it stands (Avro 1.11.4).
        """
        if name in PRIMITIVES:
            return SHARED[name]
        if named := self.find_named(name, pointer):
            return named
        if named := self.known.get(name):
            self.note(named, -1)
        return named

    def find_named(self, name: str, at: str, member: str | None = None) -> Named | None:
        """The type of that name, in the enclosing namespace unless the name has a dot."""
        full = full_name(name, self.space, at, member)
        if result := self.known.get(full):
            self.note(result, self._number(full))
        return result

    def _number(self, full: str) -> int:
        """How many types were known before that one; worked out for those who name one."""
        numbered = len(self._numbers)
        if numbered < len(self.known):
            self._numbers.update(zip(islice(self.known, numbered, None), count(numbered)))
        return self._numbers[full]

    def contents(self, known: int, met: int) -> Contents | None:
        """What was read since so many types were known and so much was met.

        None if it means something only where it stands, because it names a type from outside.
        """
        has_aliases = refers_back = False
        references = self.met[met:]
        if references.count(DEFINED) < len(references):  # most only define
            for reference in references:
                if reference.number < known:
                    return None
                has_aliases |= reference.has_aliases
                refers_back |= reference.refers_back
        return Contents(dict(islice(self.known.items(), known, None)), has_aliases, refers_back)

    def note_recursion(self) -> None:
        """Note that a type may be part of itself."""
        self.met.append(References(refers_back=True))

    def note(self, result: Named, number: int = -1) -> None:
        """Note that a type was looked up."""
        refers_back = isinstance(result, Record) and result.fields is None
        self.met.append(References(number, refers_back))


def check_not_primitive(name: str, at: str) -> None:
    """Refuse a type of that name: Avro 1.11.4 does so before it looks at an enum's symbols."""
    if name in PRIMITIVES:
        message = f"'{name}' is the name of a primitive type"
        raise problem("bad-name", message, at, java=JavaError.RUNTIME)


SHARED: Final = {kind: Primitive(kind) for kind in PRIMITIVES}
"""The primitives without properties: one node for all, without a place."""
