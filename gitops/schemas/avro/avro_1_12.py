"""How Avro for Java 1.12.0 reads definitions otherwise than 1.11.4 (Pulsar 4.2.4, 5.0.0-M1).

Names may have a `$`, namespaces are checked, types may be used before they are defined and some
defined twice, and what is copied afterwards loses whole numbers beyond 64 bits.
"""

from __future__ import annotations

from typing import Final

from gitops.schemas.avro.errors import AvroParseError, AvroProblem, JavaError
from gitops.schemas.avro.incremental_parser import IncrementalParser
from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.names import DEFINED, Names, check_name, check_not_primitive, problem
from gitops.schemas.avro.node_parser import Reader, make_union
from gitops.schemas.avro.schema import Array, Enum, Fixed, Map, Named, Record, Schema, Union

_LONG: Final = range(-(2**63), 2**63)


class _Rules(Reader):
    """What both readings of a definition share."""

    signs = "_$"
    any_default = True

    def enter(self, name: str, given: str | None, at: str) -> str:
        """The full name, of which each part must be a name."""
        full = super().enter(name, given, at)
        for part in full.split(".")[:-1]:
            check_name(part, at, "namespace" if given is not None else "name", signs=self.signs)
        return full

    def record(self, node: dict[str, Json], at: str) -> Schema:
        """A record, which is copied once all is read."""
        return self.copied(super().record(node, at), at)

    def array(self, node: dict[str, Json], at: str) -> Schema:
        """An array, which is copied once all is read."""
        return self.copied(super().array(node, at), at)

    def map(self, node: dict[str, Json], at: str) -> Schema:
        """A map, which is copied once all is read."""
        return self.copied(super().map(node, at), at)

    def copied(self, schema: Schema, at: str) -> Schema:
        """The schema, whose properties Java turns into objects and back."""
        if schema.props and not all(map(_is_copied, schema.props.values())):
            message = "a member has a whole number beyond 64 bits, which Avro 1.12 cannot copy"
            self.fail_late("lost-number", message, at)
        return schema

    def fail_late(self, kind: str, message: str, at: str, name: str = "") -> None:
        """What Java finds once all is read."""
        raise problem(kind, message, at, name=name, java=JavaError.RUNTIME)


def _is_copied(value: Json) -> bool:
    match value:
        case dict():
            return all(map(_is_copied, value.values()))
        case list():
            return all(map(_is_copied, value))
        case int():
            return value in _LONG
        case _:
            return True


class QuickReader(IncrementalParser, _Rules):
    """One reading of a definition that is cut; any surprise is left to the other."""

    def reference(self, name: str, at: str) -> Schema:
        """A type that is defined already."""
        if name.startswith("."):
            raise problem("undefined-name", f"'{name}' is not a defined type", at, name=name)
        return super().reference(name, at)


class WholeReader(_Rules):
    """One reading of one definition as Avro 1.12.0 reads it."""

    def __init__(self, *, strict: bool) -> None:
        super().__init__(strict=strict)
        self.names: Names = _NamesOnceOrTwice()
        self._late: list[AvroProblem] = []
        self._forward: dict[int, tuple[Record, str]] = {}

    def fail_late(self, kind: str, message: str, at: str, name: str = "") -> None:
        """Note the problem: any that Java meets on its way goes before it."""
        found = AvroProblem(
            kind=kind, message=message, pointer=at, name=name, java=JavaError.RUNTIME
        )
        self._late.append(found)

    def reference(self, name: str, at: str) -> Schema:
        """A type by its name, in the enclosing namespace first; it may be defined later."""
        space = self.names.space
        full = f"{space}.{name}" if space and "." not in name else name
        known = self.names.known
        found = known.get(full) or known.get(name)
        if found is not None:
            self.names.note(found)
            return found
        # Java puts a record without fields in its place, by which a default is judged.
        placeholder = Record(name=f"{full}?{len(self._forward)}", fields=())
        self._forward[id(placeholder)] = (placeholder, at)
        return placeholder

    def object_reference(self, name: str, at: str) -> Schema:
        """As a text in the place of a schema."""
        return self.reference(name, f"{at}/type")

    def finish(self, schema: Schema) -> Schema:
        """Put each type where it was used before it was defined; raises AvroParseError."""
        for placeholder, at in self._forward.values():
            name = _forward_name(placeholder)
            if name not in self.names.known:
                self.fail_late("undefined-name", f"'{name}' is not a defined type", at, name)
        if self._late:
            raise AvroParseError(tuple(self._late))
        if not self._forward:
            return schema
        self.names.note_recursion()
        self._replace_in(schema)
        return self._defined(schema)

    def _replace_in(self, schema: Schema) -> None:
        seen: set[int] = set()
        waiting = [schema]
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            waiting += self._parts(node)

    def _parts(self, node: Schema) -> list[Schema]:
        """What a node consists of, now without placeholders."""
        match node:
            case Record():
                for field in node.all_fields:
                    field.type = self._defined(field.type)
                return [field.type for field in node.all_fields]
            case Array():
                node.items = self._defined(node.items)
                return [node.items]
            case Map():
                node.values = self._defined(node.values)
                return [node.values]
            case Union():
                branches = tuple(map(self._defined, node.branches))
                node.branches = make_union(branches, "", any_default=True).branches
                return list(node.branches)
            case _:
                return []

    def _defined(self, schema: Schema) -> Schema:
        if id(schema) not in self._forward or not isinstance(schema, Record):
            return schema
        return self.names.known[_forward_name(schema)]


def _forward_name(placeholder: Record) -> str:
    return placeholder.name.rpartition("?")[0]


class _NamesOnceOrTwice(Names):
    """Names of which some may be defined twice; the first definition is the one referred to."""

    def add(self, schema: Named, at: str) -> None:
        """Make a type known that is at `at`, unless it is known already."""
        check_not_primitive(schema.name, at)
        known = self.known.setdefault(schema.name, schema)
        if known is not schema and not _may_repeat(known, schema):
            raise problem("redefined", f"{schema.name} is defined twice", at)
        self.met.append(DEFINED)


def _may_repeat(first: Named, second: Named) -> bool:
    """Java compares the two before it has read the members of the second."""
    match first, second:
        case Record(), Record():
            return first.fields is None
        case Enum(), Enum():
            return first.symbols == second.symbols and not first.props
        case Fixed(), Fixed():
            return first.size == second.size and not first.props
        case _:
            return False
