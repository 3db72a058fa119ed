"""Avro's names: what may be one, and how one is looked up."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from gitops.compatibility.avro.errors import AvroParseError, AvroProblem, JavaError
from gitops.compatibility.avro.schema import PRIMITIVES, Contents, Named, Primitive, Record, Schema

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
    found = AvroProblem(kind=kind, message=message, pointer=pointer, name=name, java=java)
    return AvroParseError((found,))


def check_name(name: str, at: str, member: str | int | None = None) -> str:
    """A simple name: a letter of any script or `_`, then letters, decimal digits, `_`.

    The name stands in `member` of the node at pointer `at`, or is that node. Java looks at
    UTF-16 units, so no letter beyond the basic plane passes (Avro 1.11.4).
    """
    if name.isascii() and name.isidentifier():
        return name
    pointer = at if member is None else f"{at}/{member}"
    if not name:
        raise problem("bad-name", "a name is empty", pointer)
    if not all(c == "_" or (ord(c) <= _BMP and (c.isalpha() or c.isdecimal())) for c in name):
        raise problem("bad-name", f"'{name}' is not a name: use letters, digits and _", pointer)
    if name[0].isdecimal():
        raise problem("bad-name", f"'{name}' starts with a digit", pointer)
    return name


def full_name(name: str, space: str | None, at: str, member: str | None = None) -> str:
    """The full name of `name` in namespace `space`; a dotted one brings its own namespace.

    Only the part behind the last dot is checked (Avro 1.11.4).
    """
    before, dot, simple = name.rpartition(".")
    check_name(simple, at, member)
    inside = before if dot else space
    return f"{inside}.{simple}" if inside else simple


class Met(NamedTuple):
    """Something in a definition that is more than itself: a type by name, or aliases.

    `number` is that of a type that was looked up, by the order of definitions: -1 where another
    definition might mean another type by that name. `refers_back`: it is still being read.
    """

    number: int = sys.maxsize
    refers_back: bool = False
    has_aliases: bool = False


_DEFINED: Final = Met()


@dataclass(slots=True)
class Names:
    """The named types read so far, and the namespace that encloses what is being read.

    `met` tells, in order, what a field that stands for itself has not, or has beside.
    """

    space: str | None = None
    known: dict[str, Named] = field(default_factory=dict)
    met: list[Met] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, schema: Named) -> None:
        """Make a type known; its name must be new, and not a primitive's."""
        if schema.name in PRIMITIVES:
            message = f"'{schema.name}' is the name of a primitive type"
            raise problem("bad-name", message, schema.pointer, java=JavaError.RUNTIME)
        if schema.name in self.known:
            raise problem("redefined", f"{schema.name} is defined twice", schema.pointer)
        self._numbers[schema.name] = len(self.known)
        self.known[schema.name] = schema
        self.met.append(_DEFINED)

    def find(self, name: str, pointer: str) -> Schema | None:
        """What a text in the place of a schema means: enclosing namespace first, then none.

        A name with a dot is looked up as it stands (Avro 1.11.4).
        """
        if name in PRIMITIVES:
            return SHARED[name]
        if found := self.find_named(name, pointer):
            return found
        if found := self.known.get(name):
            self._note(found, -1)
        return found

    def find_named(self, name: str, at: str, member: str | None = None) -> Named | None:
        """The type of that name, in the enclosing namespace unless the name has a dot."""
        full = full_name(name, self.space, at, member)
        if found := self.known.get(full):
            self._note(found, self._numbers[full])
        return found

    def contents(self, known: int, met: int) -> Contents | None:
        """What was read since so many types were known and so much was met.

        None if it means something only where it stands, because it names a type from outside.
        """
        part = self.met[met:]
        if any(one.number < known for one in part):
            return None
        return Contents(
            tuple(islice(self.known.values(), known, None)),
            has_aliases=any(one.has_aliases for one in part),
            refers_back=any(one.refers_back for one in part),
        )

    def _note(self, found: Named, number: int) -> None:
        refers_back = isinstance(found, Record) and found.fields is None
        self.met.append(Met(number, refers_back))


SHARED: Final = {kind: Primitive(kind) for kind in PRIMITIVES}
"""The primitives without properties: one node for all, without a place."""
