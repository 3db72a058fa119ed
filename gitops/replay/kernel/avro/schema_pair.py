"""A writer and a reader in one plan, as Avro for Java 1.11.4 pairs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, Final, NamedTuple

from gitops.model.replay import LogicalTypes
from gitops.replay.kernel.avro.logical_types import (
    UUID_OF_BYTES,
    Meaning,
    accepts_no_value,
    refused_default,
    sense_of,
    value_meaning,
)
from gitops.replay.kernel.avro.steps import (
    Branches,
    Counts,
    Fail,
    Fields,
    FixedSize,
    Flag,
    Group,
    Items,
    Number,
    Plan,
    ReaderBranch,
    Recursion,
    Step,
    Symbols,
    Text,
)
from gitops.replay.kernel.avro.values import default_value, needs_tag
from gitops.replay.kernel.protocol import CountKey, CountKind, Reason
from gitops.schemas.avro.aliases import apply_aliases, apply_data_aliases
from gitops.schemas.avro.compatibility import TOO_MANY_BRANCHES, can_read, explain
from gitops.schemas.avro.default_values import UnusableDefaultError
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.resolution import (
    Action,
    Adjust,
    DoNothing,
    Error,
    ReaderUnion,
    Resolver,
    TooManyBranchesError,
    Walk,
)
from gitops.schemas.avro.resolution import Branches as Resolved
from gitops.schemas.avro.resolution import Items as ResolvedItems
from gitops.schemas.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Record,
    Schema,
    Union,
    branch_name,
)

_MANY: Final = 20_000
"""Steps after which a pair of records that was met before shares the paths that it had there:
records that hold each other twice each would have paths without end."""

_SIZES: Final = {"null": 0, "float": 4, "double": 8}


def make_plan(writer: Schema, reader: Schema, logical_types: LogicalTypes = "java") -> Plan:
    """How `reader` takes what `writer` wrote; a pair that Java cannot resolve fails every row.

    With `none` for its `logical_types` a value is taken as the type beneath it, as readers of
    generic records do.
    """
    writer = apply_data_aliases(writer, reader)
    judged = can_read(writer, reader)
    if not judged.overflows:
        try:
            written = apply_aliases(writer, reader)
            action = Resolver(whole=True).resolve(written, reader)
            return _Planner(reader, logical=logical_types == "java").plan(action, written, reader)
        except (AvroParseError, UnusableDefaultError):
            pass  # it stands in what was judged
        except TooManyBranchesError:
            judged = TOO_MANY_BRANCHES
    first = judged.reasons[0]
    fail = Fail(reason=Reason(first.path, first.message), path=first.path)
    return Plan(top=Group(fail), steps=(fail,))


def make_skip(writer: Schema) -> Plan:
    """How a value of `writer` is passed over: only where it ends is of interest."""
    return _Planner(writer, logical=False).skip(writer)


_Pair = tuple[int, int | None]


class _Location(NamedTuple):
    """Where a step stands, and what a value there counts."""

    path: str
    counted: Counts = ()

    def inner(self, name: str) -> str:
        """The path of the field `name`."""
        return f"{self.path}.{name}" if self.path else name


def _read(path: str) -> _Location:
    return _Location(path, (CountKey(path, CountKind.READ),))


_SKIPPED: Final = DoNothing()


class _Planner:
    """One pair on its way; `reader` None where the writer's value is dropped."""

    def __init__(self, reader: Schema, *, logical: bool) -> None:
        self._places = Pointers(reader)
        self._logical = logical
        self._resolver = Resolver(whole=True)
        self._steps: list[Step] = []
        self._groups: list[Group] = []
        self._open: dict[_Pair, Fields] = {}
        self._met: dict[_Pair, Fields] = {}

    def plan(self, action: Action, writer: Schema, reader: Schema) -> Plan:
        top = _Location("") if isinstance(writer, Record) else _read("")
        group = self._group(self._step(action, writer, reader, top))
        for item in self._groups:
            item.keys = (*item.extra, *(_keys_in if item.inside else _keys)(item.step))
        return Plan(top=group, steps=tuple(self._steps))

    def skip(self, writer: Schema) -> Plan:
        group = self._group(self._step(_SKIPPED, writer, None, _Location("")))
        return Plan(top=group, steps=tuple(self._steps))

    def _group(self, step: Step, extra: Counts = (), *, inside: bool = False) -> Group:
        group = Group(step, extra, inside=inside)
        self._groups.append(group)
        return group

    def _step(self, action: Action, writer: Schema, reader: Schema | None, at: _Location) -> Step:
        step = self._made(action, writer, reader, at)
        self._steps.append(step)
        return step

    def _made(self, action: Action, writer: Schema, reader: Schema | None, at: _Location) -> Step:
        if isinstance(action, Error):
            return self._fail(action, at)
        if self._logical and reader is not None and accepts_no_value(reader):
            return Fail(reason=Reason(at.path, UUID_OF_BYTES), path=at.path)
        if isinstance(action, ReaderUnion) and isinstance(reader, Union):
            return self._into(reader, action.index, action.action, writer, at)
        match writer:
            case Record():
                return self._record(action, writer, at)
            case Union():
                return self._union(action, writer, reader, at)
            case Array() | Map():
                return self._items(action, writer, reader, at)
            case Enum():
                return _symbols(writer, reader, at)
            case _:
                return self._scalar(writer, reader, at)

    def _fail(self, error: Error, at: _Location) -> Fail:
        first = explain(error, at.path, "", "", self._places)[0]
        return Fail(reason=Reason(first.path, first.message), path=at.path)

    def _into(
        self, union: Union, index: int, action: Action, writer: Schema, at: _Location
    ) -> Step:
        branch = union.branches[index]
        step = self._step(action, writer, branch, at)
        if branch.kind == "null" or not needs_tag(union):
            return step
        return ReaderBranch(branch=branch_name(branch), step=step, path=at.path)

    # ------------------------------------------------------------ what holds others

    def _record(self, action: Action, writer: Record, at: _Location) -> Step:
        adjust = action if isinstance(action, Adjust) else None
        pair = (id(writer), None if adjust is None else id(adjust.reader))
        met = self._met.get(pair) if len(self._steps) > _MANY else self._open.get(pair)
        if met is not None:
            # The way from a record to itself leads over a union, an array or a map.
            least = 1 if pair in self._open else met.least
            again = self._group(met, inside=True)
            return Recursion(group=again, path=at.path, counted=at.counted, least=least)
        fields = Fields(path=at.path, counted=at.counted)
        self._open[pair] = self._met[pair] = fields
        if adjust is None:
            self._dropped(fields, writer, at)
        else:
            self._adjusted(fields, adjust, at)
        fields.least = sum(step.least for _, step in fields.fields)
        del self._open[pair]
        return fields

    def _dropped(self, fields: Fields, writer: Record, at: _Location) -> None:
        fields.fields = tuple(
            (None, self._step(_SKIPPED, field.type, None, _Location(at.inner(field.name))))
            for field in writer.all_fields
        )

    def _adjusted(self, fields: Fields, adjust: Adjust, at: _Location) -> None:
        steps = {id(written): step for written, _, step in adjust.fields}
        fields.fields = tuple(
            self._field(field, adjust.reader.by_name.get(field.name), steps, at)
            for field in adjust.writer.all_fields
        )
        fields.fields += tuple(self._unusable(adjust.defaults, at))
        fields.defaults = tuple((default.name, _default(default)) for default in adjust.defaults)
        fields.order = tuple(field.name for field in adjust.reader.all_fields)
        fields.filled = tuple(
            CountKey(at.inner(default.name), CountKind.DEFAULTED) for default in adjust.defaults
        )

    def _unusable(self, defaults: Iterable[Field], at: _Location) -> Iterator[tuple[str, Step]]:
        """Java makes values of a reader's defaults too: those that it cannot fail every row."""
        for default in defaults:
            if self._logical and (
                first := refused_default(default.type, _default(default)(), at.inner(default.name))
            ):
                fail = Fail(reason=Reason(*first), path=first[0])
                self._steps.append(fail)
                yield default.name, fail

    def _field(
        self, written: Field, read: Field | None, steps: dict[int, Action], at: _Location
    ) -> tuple[str | None, Step]:
        path = at.inner(written.name)
        if read is None:
            dropped = _Location(path, (CountKey(path, CountKind.DROPPED),))
            return None, self._step(_SKIPPED, written.type, None, dropped)
        action = steps.get(id(written), _SKIPPED)
        return read.name, self._step(action, written.type, read.type, _read(path))

    def _union(self, action: Action, writer: Union, reader: Schema | None, at: _Location) -> Step:
        groups = []
        for index, branch in enumerate(writer.branches):
            step = self._branch(action, index, writer, reader, _Location(at.path))
            extra = (CountKey(at.path, CountKind.BRANCH, branch_name(branch)),) if reader else ()
            groups.append(self._group(step, extra))
        return Branches(groups=tuple(groups), path=at.path, counted=at.counted)

    def _branch(
        self, action: Action, index: int, writer: Union, reader: Schema | None, at: _Location
    ) -> Step:
        branch = writer.branches[index]
        match action:
            case Resolved():
                return self._step(action.actions[index], branch, reader, at)
            case Walk(schema=Union() as union):  # branch by branch
                inner = self._resolver.resolve(branch, union.branches[index])
                return self._into(union, index, inner, branch, at)
            case _:
                return self._step(_SKIPPED, branch, None, at)

    def _items(
        self, action: Action, writer: Array | Map, reader: Schema | None, at: _Location
    ) -> Step:
        keyed = isinstance(writer, Map)
        path = at.path + ("{}" if keyed else "[]")
        inner = action.action if isinstance(action, ResolvedItems) else _SKIPPED
        taken = None if reader is None else _items_of(reader)
        item = self._step(
            inner, _items_of(writer), taken, _Location(path) if taken is None else _read(path)
        )
        reads = None if reader is None else reader.kind
        group = self._group(item)
        return Items(item=group, keyed=keyed, reads=reads, path=at.path, counted=at.counted)

    def _scalar(self, writer: Schema, reader: Schema | None, at: _Location) -> Step:
        kind, reads = writer.kind, None if reader is None else reader.kind
        sense = sense_of(writer, reader) if self._logical and reader else None
        meaning = self._meaning(reader) if reader else None
        path, counted = at.path, at.counted
        if reads is not None and reads != kind:
            counted += (CountKey(path, CountKind.PROMOTED),)
        match kind:
            case "boolean":
                return Flag(reads=reads, path=path, counted=counted)
            case "int" | "long":
                made: type[Number | Text] = Number
            case "string" | "bytes":
                made = Text
            case _:
                if kind == "null" and reads is not None:
                    counted += (CountKey(path, CountKind.NULLS),)
                size = writer.size if isinstance(writer, Fixed) else _SIZES[kind]
                return FixedSize(
                    kind=kind,
                    reads=reads,
                    size=size,
                    path=path,
                    counted=counted,
                    sense=sense,
                    meaning=meaning,
                )
        return made(
            kind=kind, reads=reads, path=path, counted=counted, sense=sense, meaning=meaning
        )

    def _meaning(self, reader: Schema) -> Meaning:
        return value_meaning(reader) if self._logical else Meaning(reader.kind)


def _items_of(schema: Schema) -> Schema:
    """What an array or a map holds."""
    match schema:
        case Array():
            return schema.items
        case Map():
            return schema.values
        case _:
            raise TypeError(schema.kind)


def _default(field: Field) -> Callable[[], Any]:
    return cache(partial(default_value, field.type, field.default))


def _symbols(writer: Enum, reader: Schema | None, at: _Location) -> Symbols:
    taken: tuple[str | None, ...] = ()
    if isinstance(reader, Enum):
        # Java looks the default up among the symbols.
        default = reader.default if reader.default in reader.symbols else None
        taken = tuple(symbol if symbol in reader.symbols else default for symbol in writer.symbols)
    return Symbols(symbols=writer.symbols, taken=taken, path=at.path, counted=at.counted)


def _keys(step: Step) -> Counts:
    """What all steps count that are taken with this one."""
    match step:
        case ReaderBranch():
            return _keys(step.step)
        case Fields():
            return (*step.counted, *_keys_in(step))
        case _:
            return step.counted


def _keys_in(step: Step) -> Counts:
    """The same of what a record holds, without the record itself."""
    if not isinstance(step, Fields):
        return ()
    inner = (key for _, field in step.fields for key in _keys(field))
    return (*step.filled, *inner)
