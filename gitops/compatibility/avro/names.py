"""Avro's names: what may be one, and how one is looked up."""

from __future__ import annotations

from dataclasses import dataclass, field

from gitops.compatibility.avro.errors import AvroParseError, AvroProblem, JavaError
from gitops.compatibility.avro.schema import PRIMITIVES, Named, Primitive, Schema

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


def check_name(name: str, pointer: str) -> str:
    """A simple name: a letter of any script or `_`, then letters, decimal digits, `_`.

    Java looks at UTF-16 units, so no letter beyond the basic plane passes (Avro 1.11.4).
    """
    if name.isascii() and name.isidentifier():
        return name
    if not name:
        raise problem("bad-name", "a name is empty", pointer)
    if not all(c == "_" or (ord(c) <= _BMP and (c.isalpha() or c.isdecimal())) for c in name):
        raise problem("bad-name", f"'{name}' is not a name: use letters, digits and _", pointer)
    if name[0].isdecimal():
        raise problem("bad-name", f"'{name}' starts with a digit", pointer)
    return name


def full_name(name: str, space: str | None, pointer: str) -> str:
    """The full name of `name` in namespace `space`; a dotted one brings its own namespace.

    Only the part behind the last dot is checked (Avro 1.11.4).
    """
    before, dot, simple = name.rpartition(".")
    check_name(simple, pointer)
    inside = before if dot else space
    return f"{inside}.{simple}" if inside else simple


@dataclass(slots=True)
class Names:
    """The named types read so far, and the namespace that encloses what is being read."""

    space: str | None = None
    known: dict[str, Named] = field(default_factory=dict)

    def add(self, schema: Named) -> None:
        """Make a type known; its name must be new, and not a primitive's."""
        if schema.name in PRIMITIVES:
            message = f"'{schema.name}' is the name of a primitive type"
            raise problem("bad-name", message, schema.pointer, java=JavaError.RUNTIME)
        if schema.name in self.known:
            raise problem("redefined", f"{schema.name} is defined twice", schema.pointer)
        self.known[schema.name] = schema

    def find(self, name: str, pointer: str) -> Schema | None:
        """What a text in the place of a schema means: enclosing namespace first, then none.

        A name with a dot is looked up as it stands (Avro 1.11.4).
        """
        if name in PRIMITIVES:
            return _SHARED[name]
        found = self.known.get(full_name(name, self.space, pointer))
        return found or self.known.get(name)


_SHARED = {kind: Primitive(kind=kind) for kind in PRIMITIVES}
