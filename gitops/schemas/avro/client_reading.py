"""How clients that are not Java decode what another schema wrote, compared with Avro for Java.

Three ways are known. pulsar-client for Python resolves by fastavro, and decodes with its own schema
alone where that raises an exception. Pulsar.Client for .NET resolves by Avro for C#, which compares
the full names of named types. The clients for Go and DotPulsar decode with their own schema alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from gitops.schemas.avro.aliases import apply_aliases, apply_data_aliases
from gitops.schemas.avro.compatibility import can_read
from gitops.schemas.avro.default_values import UnusableDefaultError
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.fastavro_definition import (
    AVRO_TYPES,
    NAMED_TYPES,
    FastavroDefinition,
    Json,
    UnusableError,
    logical_type,
    type_of,
)
from gitops.schemas.avro.parser import AvroParser
from gitops.schemas.avro.resolution import (
    PROMOTIONS,
    Action,
    Adjust,
    Branches,
    DoNothing,
    Error,
    Items,
    ReaderUnion,
    Resolver,
    TooManyBranchesError,
    Walk,
)
from gitops.schemas.avro.schema import short_name
from gitops.schemas.client_profiles import Cause, Decoding, Misreading


@lru_cache(maxsize=1024)
def find_misreadings(
    parser: AvroParser, decoding: Decoding, writer: bytes, reader: bytes
) -> tuple[Misreading, ...]:
    """Where a client with `reader` does not get what Java gets from messages of `writer`.

    Nothing where Java cannot resolve the two, which the broker's own check says.
    """
    if decoding in (Decoding.JAVA, Decoding.APPLICATION):
        return ()
    try:
        read = parser.parse_data(reader)
        written = apply_data_aliases(parser.parse_data(writer), read)
        if can_read(written, read).reasons:
            return ()
        action = Resolver(whole=True).resolve(apply_aliases(written, read), read)
        pair = _Pair(json.loads(writer), json.loads(reader), action)
        if decoding is Decoding.FASTAVRO:
            return tuple(_python_misreadings(pair))
        if decoding is Decoding.FULL_NAMES:
            return tuple(_renamed_types(pair))
        return tuple(_own_schema_misreadings(pair))
    except (UnusableError, TooManyBranchesError) as error:
        return (Misreading(cause=Cause.DEFINITION, message=f"{_NOT_READ}: {error}"),)
    except (AvroParseError, UnusableDefaultError, RecursionError, json.JSONDecodeError):
        return ()
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        # A definition that no library but Java's reads, such as a type by the name of a keyword.
        return (Misreading(cause=Cause.DEFINITION, message=f"{_NOT_READ} ({error})"),)


_NOT_READ: Final = "libraries other than Java's may refuse the definition"


class _Pair(NamedTuple):
    """Both definitions as JSON, and how Java's reader takes what was written."""

    writer: Json
    reader: Json
    action: Action


class _At(NamedTuple):
    """A place.

    `is_certain`: every message gets there. `is_last`: the reader reads nothing after it. `is_end`:
    the message ends with it.
    """

    path: str = ""
    writer: str = ""
    reader: str = ""
    is_certain: bool = True
    is_last: bool = True
    is_end: bool = True

    def field(
        self, name: str, writer: str, reader: str, *, is_last: bool = False, is_end: bool = False
    ) -> _At:
        path = f"{self.path}.{name}" if self.path else name
        last, end = self.is_last and is_last, self.is_end and is_end
        return _At(path, writer, reader, self.is_certain, last, end)

    def inside(self, step: str, member: str) -> _At:
        """In items or values, of which a message may have none."""
        writer, reader = f"{self.writer}/{member}", f"{self.reader}/{member}"
        path = self.path + step
        return _At(path, writer, reader, is_certain=False, is_last=False, is_end=False)


# What Java makes of a pair, in terms of the definitions' JSON.


def _java_branch(action: Action | None, index: int) -> tuple[int | None, Action | None]:
    """The reader's branch for the writer's branch `index`, and how it is read.

    None for a branch of a reader that is no union, and for what Java does not read.
    """
    if isinstance(action, Walk):
        return index, action
    if isinstance(action, Branches):
        action = action.actions[index]
    if isinstance(action, ReaderUnion):
        return action.index, action.action
    return None, action


def _java_fields(
    action: Action | None, writer: Json, reader: Json
) -> list[tuple[str | None, Action | None]]:
    """For each field of the writer the reader's field that takes it, and how."""
    if isinstance(action, Adjust):
        steps = {id(written): (read, step) for written, read, step in action.fields}
        fields: list[tuple[str | None, Action | None]] = []
        for field in action.writer.all_fields:
            read, step = steps.get(id(field), (action.reader.by_name.get(field.name), DoNothing()))
            fields.append((read.name if read else None, step if read else None))
        return fields
    if action is None or isinstance(action, Error):  # Java does not read it
        return [(None, None) for _ in writer["fields"]]
    return [(field["name"], action) for field in reader["fields"]]


def _java_items(action: Action | None) -> Action | None:
    return action.action if isinstance(action, Items) else action


# A client that decodes with its own schema alone.


class _OwnSchema:
    """Finds where bytes mean something else by the reader's schema than by resolution.

    Apart from other layouts: `symbols` is where a number stands for another symbol, `missing` where
    a message ends before the reader has what it reads, and `text` where bytes are read as text,
    which Python refuses if they are no UTF-8.
    """

    def __init__(self, writer: FastavroDefinition, reader: FastavroDefinition) -> None:
        self.writer, self._reader = writer, reader
        self.symbols: _At | None = None
        self.missing: _At | None = None
        self.text: _At | None = None
        self._seen: set[tuple[int, int, bool, bool]] = set()

    def difference(self, w: Json, r: Json, action: Action | None, at: _At) -> _At | None:
        """The first place with another layout, None where both are laid out alike."""
        w, r = self.writer.resolve(w), self._reader.resolve(r)
        if isinstance(w, list) or isinstance(r, list):
            return self._unions(w, r, action, at)
        kind = type_of(w)
        if kind != type_of(r):
            if (kind, type_of(r)) == ("bytes", "string"):
                self.text = at
            alike = {kind, type_of(r)} in ({"int", "long"}, {"string", "bytes"})
            return None if alike else at
        if kind in ("array", "map"):
            step, member = _STEPS[kind]
            inner = at.inside(step, member)
            return self.difference(w[member], r[member], _java_items(action), inner)
        if kind == "enum":
            if not _reads_symbols_alike(w, r):
                self.symbols = self.symbols or at
            return None
        if kind == "fixed":
            return None if w["size"] == r["size"] else at
        if kind in ("record", "error"):
            return self._records(w, r, action, at)
        return None

    def _unions(self, w: Json, r: Json, action: Action | None, at: _At) -> _At | None:
        if not (isinstance(w, list) and isinstance(r, list)):
            return at
        inside = at._replace(is_certain=at.is_certain and len(w) == 1)
        for index, branch in enumerate(w):
            chosen, step = _java_branch(action, index)
            if chosen != index:
                return at
            if items := self.difference(branch, r[index], step, inside):
                return items
        return None

    def _records(self, w: Json, r: Json, action: Action | None, at: _At) -> _At | None:
        if (id(w), id(r), at.is_last, at.is_end) in self._seen:
            return None
        self._seen.add((id(w), id(r), at.is_last, at.is_end))
        places = self.writer.places[id(w)], self._reader.places[id(r)]
        written_fields = [
            (index, field, java)
            for index, (field, java) in enumerate(
                zip(w["fields"], _java_fields(action, w, r), strict=True)
            )
            if not _is_empty(self.writer, field["type"])
        ]
        read_fields = [
            (index, field)
            for index, field in enumerate(r["fields"])
            if not _is_empty(self._reader, field["type"])
        ]
        for number, (index, written, (name, step)) in enumerate(written_fields):
            pointer = f"{places[0]}/fields/{index}"
            if number == len(read_fields):
                if at.is_last:  # nobody looks at the rest
                    return None
                return at.field(written["name"], pointer, places[1])
            read_index, read = read_fields[number]
            read_pointer = f"{places[1]}/fields/{read_index}"
            if read["name"] != name:
                return at.field(written["name"], pointer, read_pointer)
            inner = at.field(
                read["name"],
                f"{pointer}/type",
                f"{read_pointer}/type",
                is_last=number == len(read_fields) - 1,
                is_end=number == len(written_fields) - 1,
            )
            if items := self.difference(written["type"], read["type"], step, inner):
                return items
        if len(read_fields) > len(written_fields):
            extra, field = read_fields[len(written_fields)]
            missing = at.field(field["name"], places[0], f"{places[1]}/fields/{extra}")
            if not at.is_end:
                return missing
            self.missing = self.missing or missing
        return None


_STEPS: Final = {"array": ("[]", "items"), "map": ("{}", "values")}


def _is_empty(definition: FastavroDefinition, schema: Json) -> bool:
    """Whether values of the type take no bytes."""
    schema = definition.resolve(schema)
    match type_of(schema):
        case "null":
            return True
        case "fixed":
            return bool(schema["size"] == 0)
        case "record" | "error":
            return all(_is_empty(definition, field["type"]) for field in schema["fields"])
    return False


def _reads_symbols_alike(w: Json, r: Json) -> bool:
    """Whether each number stands for the symbol that Java reads, or for none where Java fails."""
    for index, symbol in enumerate(w["symbols"]):
        if index < len(r["symbols"]):
            if r["symbols"][index] != symbol:
                return False
        elif symbol in r["symbols"] or r.get("default"):
            return False
    return True


def _own_schema_misreadings(pair: _Pair) -> Iterator[Misreading]:
    writer, reader = (FastavroDefinition(side, checked=False) for side in pair[:2])
    own = _OwnSchema(writer, reader)
    layout = own.difference(writer.top, reader.top, pair.action, _At())
    if items := layout or own.missing or own.symbols:
        yield Misreading(
            cause=Cause.LAYOUT,
            message="the client decodes with its own schema alone, and the layout of messages "
            "differs from here on",
            path=items.path,
            writer_pointer=items.writer,
            reader_pointer=items.reader,
            is_silent=True,
        )


# A client that compares full names: Avro for C#, `CanRead` of each schema class.


def _renamed_types(pair: _Pair) -> Iterator[Misreading]:
    writer, reader = (FastavroDefinition(side, checked=False) for side in pair[:2])
    seen: set[tuple[int, int]] = set()

    def walk(w: Json, r: Json, action: Action | None, at: _At) -> Iterator[Misreading]:
        w, r = writer.resolve(w), reader.resolve(r)
        if isinstance(w, list) or (isinstance(r, list) and not isinstance(action, Error)):
            for index, branch in enumerate(w if isinstance(w, list) else [w]):
                chosen, step = _java_branch(action, index)
                if isinstance(r, list) and chosen is None:
                    continue
                inner = r[chosen] if isinstance(r, list) and chosen is not None else r
                yield from walk(branch, inner, step, at)
            return
        kind = type_of(w)
        if kind in _STEPS and kind == type_of(r):
            step_text, member = _STEPS[kind]
            yield from walk(w[member], r[member], _java_items(action), at.inside(step_text, member))
        if kind not in NAMED_TYPES or kind != type_of(r) or (id(w), id(r)) in seen:
            return
        seen.add((id(w), id(r)))
        here = _At(at.path, writer.places[id(w)], reader.places[id(r)])
        space = r["name"].rpartition(".")[0]
        aliases = {
            alias if "." in alias or not space else f"{space}.{alias}"
            for alias in r.get("aliases", ())
        }
        if w["name"] != r["name"] and w["name"] not in aliases:
            yield Misreading(
                cause=Cause.NAME,
                message=f"Avro for C# compares full names and does not take {kind} {w['name']} "
                f"for {r['name']}",
                path=at.path,
                writer_pointer=here.writer,
                reader_pointer=here.reader,
            )
        if kind in ("record", "error"):
            by_name = {field["name"]: field for field in r["fields"]}
            fields = zip(w["fields"], _java_fields(action, w, r), strict=True)
            for index, (written, (name, step)) in enumerate(fields):
                if name is not None:
                    inner = at.field(name, f"{here.writer}/fields/{index}", here.reader)
                    yield from walk(written["type"], by_name[name]["type"], step, inner)

    yield from walk(writer.top, reader.top, pair.action, _At())


# pulsar-client for Python: fastavro, with the reader's name on the writer's record, and the
# reader's schema alone after any exception.


_NO_LOOK_UP: Final = "fastavro cannot look up {} in a union"
_NO_TEXT: Final = "fastavro fails on bytes that are no UTF-8, for which Java reads other text"
_LARGEST_FLOAT: Final = 3.4028235677973366e38
_NO_RECORD: Final = "AvroSchema of pulsar-client for Python reads named types alone"


def _python_misreadings(pair: _Pair) -> Iterator[Misreading]:
    if not isinstance(pair.reader, dict) or "name" not in pair.reader:
        yield Misreading(cause=Cause.DEFINITION, message=_NO_RECORD)
        return
    try:
        reader = FastavroDefinition(pair.reader)
    except UnusableError as error:
        yield Misreading(
            cause=Cause.DEFINITION, message=f"fastavro refuses the definition: {error}"
        )
        return
    if reader.unreadable_decimals:
        yield Misreading(
            cause=Cause.DEFINITION,
            message="fastavro reads no decimal without a precision",
            reader_pointer=reader.unreadable_decimals[0],
        )
        return
    renamed: Json = None
    if isinstance(pair.writer, dict):
        renamed = {**pair.writer, "name": pair.reader["name"]}
        if renamed == pair.reader:
            return
    try:
        walk = _Fastavro(FastavroDefinition(renamed), reader)
        walk.value(walk.writer.top, reader.top, pair.action, _At())
        failures, wrong, always = walk.failures, walk.wrong, walk.fails_always
    except UnusableError as error:
        why = f"fastavro refuses the definition with the reader's name: {error}"
        failures, wrong, always = [Misreading(cause=Cause.NAME, message=why)], [], True
    if failures:
        own = _OwnSchema(FastavroDefinition(pair.writer, checked=False), reader)
        layout = own.difference(own.writer.top, reader.top, pair.action, _At())
        ends = own.missing is not None and own.missing.is_certain and layout is None
        if layout or (own.symbols and not ends):
            for failure in failures:
                message = f"{failure.message}, and the client decodes with its own schema alone"
                yield replace(failure, message=message, is_silent=True)
        elif own.missing:
            for failure in failures:
                if failure.cause is not Cause.SYMBOL:  # on which Java fails as well
                    message = f"{failure.message}, and messages are too short for its own schema"
                    yield replace(failure, message=message)
        elif own.text:
            yield _misreading(Cause.TEXT, _NO_TEXT, own.text)
    if not always:
        yield from wrong


class _Fastavro:
    """`fastavro.schemaless_reader` on two definitions, beside what Java does with them.

    `failures` are where it raises an exception, `wrong` where it reads something else than Java.
    """

    def __init__(self, writer: FastavroDefinition, reader: FastavroDefinition) -> None:
        self.writer, self._reader = writer, reader
        self.failures: list[Misreading] = []
        self.wrong: list[Misreading] = []
        self.fails_always = False
        self._seen: set[tuple[int, int]] = set()

    def value(self, w: Json, r: Json, action: Action | None, at: _At) -> None:
        """`read_data`."""
        if isinstance(w, list):
            self._union(w, r, action, at)
            return
        matched = self._match(w, r)
        if matched is None:
            self._fail(Cause.NAME, self._mismatch(w, r), at)
            return
        if isinstance(r, list):
            taken = next(index for index, branch in enumerate(r) if branch is matched)
            chosen, action = _java_branch(action, 0)
            if chosen is not None and not self._is_branch(w, r, chosen, taken, at):
                return
        kind = type_of(w)
        if kind not in AVRO_TYPES:  # a type that is defined elsewhere
            if isinstance(matched, str):
                self.value(self.writer.named[kind], self._reader.named[matched], action, at)
            else:
                self._fail(
                    Cause.UNION, f"fastavro cannot look up {short_name(kind)} in a union", at
                )
        elif kind in NAMED_TYPES and kind != "fixed" and isinstance(matched, str):
            self._fail(Cause.UNION, _NO_LOOK_UP.format(short_name(matched)), at)
        elif kind in NAMED_TYPES and kind != "fixed" and _layout_of(w) != _layout_of(matched):
            message = f"fastavro uses {self._branch_name(matched)} for {self._branch_name(w)}"
            self._fail(Cause.UNION, message, at)
        elif kind in ("record", "error"):
            self._record(w, matched, action, at)
        elif kind == "enum":
            self._enum(w, matched, at)
        elif kind in _STEPS:
            step, member = _STEPS[kind]
            self.value(w[member], matched[member], _java_items(action), at.inside(step, member))
        else:
            self._scalar(w, matched, at)

    def _union(self, w: list[Json], r: Json, action: Action | None, at: _At) -> None:
        at = at._replace(is_certain=at.is_certain and len(w) == 1)
        for index, branch in enumerate(w):
            chosen, step = _java_branch(action, index)
            if not isinstance(r, list):
                if self._matches(branch, r):
                    self.value(branch, r, step, at)
                else:
                    self._fail(Cause.NAME, self._mismatch(branch, r), at)
                continue
            taken = next((i for i, other in enumerate(r) if self._matches(branch, other)), None)
            if taken is None:
                self._fail(Cause.NAME, self._mismatch(branch, r), at)
            elif chosen is None or self._is_branch(branch, r, chosen, taken, at):
                self.value(branch, r[taken], step, at)

    def _is_branch(self, w: Json, r: list[Json], chosen: int, taken: int, at: _At) -> bool:
        """Whether both read by one branch; else it is noted where values differ."""
        if chosen == taken:
            return True
        kinds = [type_of(side) for side in (w, r[chosen], r[taken])]
        if _NUMBERS.issuperset(kinds):  # which Python compares as numbers, whatever their type
            self._scalar(w, r[chosen], at)
            if kinds[:2] == ["long", "long"] and not logical_type(w):
                message = (
                    f"fastavro reads long as {kinds[2]}, the first branch that accepts it, and "
                    "rounds numbers beyond 2^53"
                )
                self._note_wrong(Cause.UNION, message, at)
            return False
        written, other, java = (
            self._branch_name(side, full=True) for side in (w, r[taken], r[chosen])
        )
        message = f"fastavro uses {other}, the first branch that accepts it, for {written}"
        reads_some = self._attempt(w, r[taken], Cause.UNION, message, at)
        read = self._reader.resolve(r[chosen])
        sent = self.writer.resolve(w)
        if type_of(sent) == "fixed" or logical_type(sent):
            self._scalar(sent, read, at)  # read as it was written, whatever it is taken for
        elif type_of(sent) == "enum" and reads_some:
            if not _reads_same_symbols(sent, read, self._reader.resolve(r[taken])):
                self._note_wrong(Cause.UNION, message, at)
        elif reads_some:
            message = (
                f"fastavro reads {written} as {other}, the first branch that accepts it, and Java "
                f"as {java}"
            )
            self._note_wrong(Cause.UNION, message, at)
        return False

    def _attempt(self, w: Json, r: Json, cause: Cause, message: str, at: _At) -> bool:
        """Whether fastavro reads some messages where Java does not read `w` by `r`.

        Those on which it fails are noted with the message.
        """
        attempt = _Fastavro(self.writer, self._reader)
        attempt.value(w, r, None, _At())
        if attempt.failures:
            is_certain = at.is_certain and attempt.fails_always
            self._fail(cause, message, at._replace(is_certain=is_certain))
        return not attempt.fails_always

    def _record(self, w: Json, r: Json, action: Action | None, at: _At) -> None:
        if (id(w), id(r)) in self._seen:
            return
        self._seen.add((id(w), id(r)))
        in_writer, in_reader = self.writer.places[id(w)], self._reader.places[id(r)]
        order = {field["name"]: index for index, field in enumerate(r["fields"])}
        left = {field["name"]: field for field in r["fields"]}
        aliases = {alias: field for field in r["fields"] for alias in field.get("aliases", ())}
        java_fields = _java_fields(action, w, r)
        is_read_by_java = not (action is None or isinstance(action, Error))
        read_by_java = {name for name, _ in java_fields if name is not None}
        for index, (written, (java_name, step)) in enumerate(
            zip(w["fields"], java_fields, strict=True)
        ):
            read = left.get(written["name"], aliases.get(written["name"]))
            place = at.field(written["name"], f"{in_writer}/fields/{index}", in_reader)
            if read is None:
                continue
            name = read["name"]
            place = at.field(name, place.writer, f"{in_reader}/fields/{order[name]}")
            if name not in left:
                why = f"fastavro cannot read both '{name}' and its alias '{written['name']}'"
                self._fail(Cause.ALIAS, why, place)
                return
            del left[name]
            if java_name == name or not is_read_by_java:
                inner = place._replace(writer=f"{place.writer}/type", reader=f"{place.reader}/type")
                self.value(written["type"], read["type"], step, inner)
            else:
                message = f"fastavro reads '{written['name']}' as '{name}', and Java does not"
                if self._attempt(written["type"], read["type"], Cause.ALIAS, message, place):
                    self._note_wrong(Cause.ALIAS, message, place)
        for name, field in left.items():
            place = at.field(name, in_writer, f"{in_reader}/fields/{order[name]}")
            if "default" not in field:
                self._fail(Cause.DEFAULT, f"fastavro finds no value for '{name}'", place)
            elif name in read_by_java:
                message = f"fastavro reads the default of '{name}', and Java what was written"
                self._note_wrong(Cause.ALIAS, message, place)
            elif self._is_raw(field["type"], field["default"]):
                message = f"fastavro returns the default of '{name}' as its JSON text or number"
                self._note_wrong(Cause.DEFAULT, message, place)

    def _enum(self, w: Json, r: Json, at: _At) -> None:
        known = set(r["symbols"])
        missing = [symbol for symbol in w["symbols"] if symbol not in known]
        if missing and not r.get("default"):
            symbols = ", ".join(f"'{symbol}'" for symbol in missing)
            message = f"fastavro does not find {symbols} in enum {short_name(r['name'])}"
            is_certain = at.is_certain and len(missing) == len(w["symbols"])
            self._fail(Cause.SYMBOL, message, at._replace(is_certain=is_certain))

    def _scalar(self, w: Json, r: Json, at: _At) -> None:
        if logical_type(w).startswith("decimal") and not w.get("precision"):
            self._fail(Cause.LOGICAL_TYPE, "fastavro reads no decimal without a precision", at)
            return
        was, now = logical_type(w), logical_type(r)
        if (type_of(w), type_of(r)) == ("bytes", "string") and not was:
            self._fail(Cause.TEXT, _NO_TEXT, at._replace(is_certain=False))
        if was != now:
            message = (
                f"fastavro returns values of the writer's {was or 'plain type'}, and Java those of "
                f"the reader's {now or 'plain type'}"
            )
            self._note_wrong(Cause.LOGICAL_TYPE, message, at)

    def _is_raw(self, schema: Json, default: Json) -> bool:
        """Whether a default is returned as it stands in the JSON, which is not the value."""
        schema = self._reader.resolve(schema)
        if isinstance(schema, list):
            return default is not None and bool(schema) and self._is_raw(schema[0], default)
        kind = type_of(schema)
        if kind in ("bytes", "fixed") or logical_type(schema):
            return True
        if kind in ("float", "double"):
            if not isinstance(default, int | float):  # "NaN", as Avro for Java takes it
                return True
            return kind == "float" and abs(default) > _LARGEST_FLOAT
        if kind == "array":
            return not isinstance(default, list) or any(
                self._is_raw(schema["items"], item) for item in default
            )
        if kind == "map":
            return not isinstance(default, dict) or any(
                self._is_raw(schema["values"], item) for item in default.values()
            )
        if kind in ("record", "error"):
            return not isinstance(default, dict) or any(
                field["name"] not in default or self._is_raw(field["type"], default[field["name"]])
                for field in schema["fields"]
            )
        return False

    # ------------------------------------------------------------ which types match

    def _matches(self, w: Json, r: Json) -> bool:
        """`match_types`."""
        if isinstance(w, list) or isinstance(r, list):
            return True
        if isinstance(w, dict) or isinstance(r, dict):
            return self._match(w, r) is not None
        if w == r or r in PROMOTIONS.get(w, ()):
            return True
        written, read = self.writer.named.get(w), self._reader.named.get(r)
        return written is not None and read is not None and self._matches(written, read)

    def _match(self, w: Json, r: Json) -> Json:
        """`match_schemas` for a writer that is no union: what is read by, None for no match."""
        if isinstance(r, list):
            return next((branch for branch in r if self._matches(w, branch)), None)
        was, now = type_of(w), type_of(r)
        if was == now and was in _STEPS:
            member = _STEPS[was][1]
            return r if self._matches(w[member], r[member]) else None
        if was in NAMED_TYPES and now in NAMED_TYPES:
            if was == now == "fixed" and w["size"] != r["size"]:
                return None
            aliases = r.get("aliases", ())
            name = short_name(w["name"])
            known = name == short_name(r["name"]) or w["name"] in aliases or name in aliases
            return r if known else None
        if was not in AVRO_TYPES and now in NAMED_TYPES:
            return r["name"] if self._matches(was, r["name"]) else None
        if was in NAMED_TYPES and now not in AVRO_TYPES:
            read = self._reader.named.get(now)
            return read if read is not None and self._matches(w, read) else None
        return r if self._matches(was, now) else None

    # ------------------------------------------------------------ what is noted

    def _fail(self, cause: Cause, message: str, at: _At) -> None:
        self.fails_always |= at.is_certain
        self.failures.append(_misreading(cause, message, at))

    def _note_wrong(self, cause: Cause, message: str, at: _At) -> None:
        self.wrong.append(replace(_misreading(cause, message, at), is_silent=True))

    def _mismatch(self, w: Json, r: Json) -> str:
        branches = r if isinstance(r, list) else [r]
        readers = " or ".join(self._branch_name(branch) for branch in branches if branch != "null")
        return (
            f"fastavro compares names and does not take {self._branch_name(w)} for "
            f"{readers or 'null'}"
        )

    def _branch_name(self, schema: Json, *, full: bool = False) -> str:
        kind = type_of(schema)
        named = self.writer.named.get(kind) or self._reader.named.get(kind)
        schema = named if named is not None and kind not in AVRO_TYPES else schema
        kind = type_of(schema)
        if kind in NAMED_TYPES:
            return f"{kind} {schema['name'] if full else short_name(schema['name'])}"
        if kind in _STEPS:
            return f"{kind} of {self._branch_name(schema[_STEPS[kind][1]], full=full)}"
        return kind


def _reads_same_symbols(written: Json, read: Json, taken: Json) -> bool:
    """Whether two enums of the reader make the same of every symbol that may be written."""

    def symbols_by(enum: Json) -> list[str | None]:
        return [
            symbol if symbol in enum["symbols"] else enum.get("default")
            for symbol in written["symbols"]
        ]

    return symbols_by(read) == symbols_by(taken)


def _layout_of(schema: Json) -> str:
    return "record" if type_of(schema) == "error" else type_of(schema)


def _misreading(cause: Cause, message: str, at: _At) -> Misreading:
    return Misreading(
        cause=cause,
        message=message,
        path=at.path,
        writer_pointer=at.writer,
        reader_pointer=at.reader,
    )


_NUMBERS: Final = frozenset({"int", "long", "float", "double"})
