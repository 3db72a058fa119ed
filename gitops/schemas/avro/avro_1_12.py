"""How Avro for Java 1.12.0 reads definitions otherwise than 1.11.4 (Pulsar 4.2.4, 5.0.0-M1).

Names may have a `$`, namespaces are checked, types may be used before they are defined and some
defined twice, and what is copied afterwards loses whole numbers beyond 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from gitops.schemas.avro.errors import AvroParseError, AvroProblem, JavaError
from gitops.schemas.avro.fields import has_valid_default
from gitops.schemas.avro.incremental_parser import IncrementalParser
from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.names import (
    DEFINED,
    SIGNS,
    Names,
    check_name,
    check_not_primitive,
    problem,
)
from gitops.schemas.avro.node_parser import Reader, make_union
from gitops.schemas.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Record,
    Schema,
    Union,
    describe,
)

_LONG: Final = range(-(2**63), 2**63)


class NamespaceError(AvroParseError):
    """The namespace of a type has parts that are no names."""

    def __init__(self, problems: tuple[AvroProblem, ...], full_name: str) -> None:
        super().__init__(problems)
        self.full_name = full_name


class _Rules(Reader):
    """What both readings of a definition share; a `lenient` one accepts what 1.11.4 does, too."""

    signs = "_$"
    any_default = True
    lenient: ClassVar[bool] = False
    _known_space = ""

    def enter(self, name: str, given: str | None, at: str) -> str:
        """The full name, of which each part must be a name."""
        full = super().enter(name, given, at)
        space = full.rpartition(".")[0]
        if space and not self.lenient:
            try:
                self._check_space(space, at, "namespace" if given is not None else "name")
            except AvroParseError as error:
                raise NamespaceError(error.problems, full) from None
        return full

    def _check_space(self, space: str, at: str, member: str) -> None:
        if space == self._known_space:  # most types of a definition are in one
            return
        for part in space.split("."):
            check_name(part, at, member, signs=self.signs)
        self._known_space = space

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
        if schema.props and not self.lenient and not all(map(_is_copied, schema.props.values())):
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
        return super().reference(_without_first_dot(name, at), at)

    def object_reference(self, name: str, at: str) -> Schema:
        """A type that is defined already."""
        return super().object_reference(_without_first_dot(name, at), at)


def _without_first_dot(name: str, at: str) -> str:
    """The name: no type's begins with a dot, and Avro 1.12 looks a name up as it is written."""
    if name.startswith("."):
        raise problem("undefined-name", f"'{name}' is not a defined type", at, name=name)
    return name


class WholeReader(_Rules):
    """One reading of one definition as Avro 1.12.0 reads it."""

    def __init__(self, *, strict: bool) -> None:
        super().__init__(strict=strict)
        self.names: Names = _NamesOnceOrTwice()
        self._late: list[AvroProblem] = []
        self._forward: dict[int, tuple[Record, str]] = {}
        self._places: dict[int, str] = {}

    def fail_late(self, kind: str, message: str, at: str, name: str = "") -> None:
        """Note the problem: any that Java meets on its way goes before it."""
        avro_problem = AvroProblem(
            kind=kind, message=message, pointer=at, name=name, java=JavaError.RUNTIME
        )
        self._late.append(avro_problem)

    def reference(self, name: str, at: str) -> Schema:
        """A type by its name, in the enclosing namespace first; it may be defined later."""
        if self.lenient and name.count(".") == 1:
            name = name.removeprefix(".")  # which 1.11.4 takes for a name without a namespace
        space = self.names.space
        full = f"{space}.{name}" if space and "." not in name else name
        known = self.names.known
        result = known.get(full) or known.get(name)
        if result is not None:
            self.names.note(result)
            return result
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
        order = self._copies(schema)
        self._replace_in(schema)
        self._judge_defaults(order)
        return self._defined(schema)

    def read_field(self, node: Json, at: str) -> Field:
        """A record's field, and where it is."""
        field = super().read_field(node, at)
        self._places[id(field)] = at
        return field

    def _copies(self, schema: Schema) -> list[Record]:
        copies = _CopyOrder(
            {key: self._defined(record) for key, (record, _) in self._forward.items()}
        )
        for item in (*self.names.known.values(), schema):
            copies.visit(item, set())
        return copies.order

    def _judge_defaults(self, order: list[Record]) -> None:
        """Java judges each default again by what is in the place of a placeholder.

        A record that is not copied yet has no fields, and no default can be one of it.
        """
        given = [record.all_fields for record in order]
        for record in order:
            record.fields = None
        misfits: list[Field] = []
        for record, members in zip(order, given, strict=True):
            misfits += (
                member for member in members if member.has_default and not has_valid_default(member)
            )
            record.fields = members
        if misfits:
            self.defaults_valid = False
        if misfits and self.strict:
            name, at = misfits[0].name, self._places[id(misfits[0])]
            message = f"the default of '{name}' is no {describe(misfits[0].type)}"
            raise problem("invalid-default", message, f"{at}/default", java=JavaError.RUNTIME)

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


class _CopyOrder:
    """The order in which Java copies records: its ResolvingVisitor, from each named type on.

    `forward` has what is in the place of each placeholder; a visit begins there anew.
    """

    def __init__(self, forward: Mapping[int, Schema]) -> None:
        self.order: list[Record] = []
        self._forward = forward
        self._begun: set[int] = set()
        self._complete: set[int] = set()

    def visit(self, schema: Schema, visited: set[int]) -> None:
        """Copy what `schema` consists of, then `schema` itself."""
        if id(schema) in visited:
            return
        visited.add(id(schema))
        if id(schema) in self._forward:
            target = self._forward[id(schema)]
            if id(target) not in self._begun:
                self.visit(target, set())
            return
        self._begun.add(id(schema))
        for part in _parts(schema):
            self.visit(part, visited)
        if isinstance(schema, Record) and id(schema) not in self._complete:
            self._complete.add(id(schema))
            self.order.append(schema)


def _parts(schema: Schema) -> list[Schema]:
    """What a schema consists of, in the order in which Java visits it."""
    match schema:
        case Record():
            return [field.type for field in schema.all_fields]
        case Array():
            return [schema.items]
        case Map():
            return [schema.values]
        case Union():
            return [*reversed(schema.branches)]
        case _:
            return []


class PlainNamesQuickReader(QuickReader):
    """As QuickReader, with Avro's own rule for names: they have no `$`."""

    signs = SIGNS


class PlainNamesReader(WholeReader):
    """As WholeReader, with Avro's own rule for names: they have no `$`."""

    signs = SIGNS


class LenientQuickReader(QuickReader):
    """As QuickReader, for what a broker of any line may hold."""

    lenient = True


class LenientReader(WholeReader):
    """As WholeReader, for what a broker of any line may hold."""

    lenient = True


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
