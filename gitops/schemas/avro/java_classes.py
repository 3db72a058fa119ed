"""Java classes that a definition names: which values they hold, and what readers make of others.

`java-class` is written by Java's clients from a class. Readers in Java convert to it: Avro's
`ReflectDatumReader` (1.11.4) and Jackson. The broker compares neither it nor `java-key-class`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitops.schemas.avro.review_types import Change, Wire
from gitops.schemas.avro.schema import Array, Map, Primitive, Schema
from gitops.schemas.row import Remark

JAVA_CLASS_CHANGES: Final = "AVRO-W013"
_CHARACTER: Final = "java.lang.Character"
_INTS: Final = {
    "": range(-(2**31), 2**31),
    "java.lang.Integer": range(-(2**31), 2**31),
    "java.lang.Byte": range(-(2**7), 2**7),
    "java.lang.Short": range(-(2**15), 2**15),
    _CHARACTER: range(2**16),
}

_ANY_TEXT: Final = ("", "java.lang.String", "java.lang.CharSequence", "org.apache.avro.util.Utf8")
_TEXTS: Final = {
    "java.math.BigDecimal": ("number", ("java.math.BigInteger",)),
    "java.math.BigInteger": ("whole number", ()),
    "java.net.URI": ("URI", ()),
    "java.net.URL": ("URL", ()),
    "java.io.File": ("path", ()),
}
"""Class → what its text is, and the classes whose text it takes besides its own."""

_JSON_NUMBERS: Final = ("java.math.BigDecimal", "java.math.BigInteger")
_CHARS: Final = "[C"

_UTIL: Final = "java.util."
_LISTS: Final = frozenset(
    {"", "java.lang.Iterable"}
    | {f"{_UTIL}{name}" for name in ("Collection", "List", "ArrayList", "LinkedList", "Vector")}
    | {f"{_UTIL}{name}" for name in ("Queue", "Deque", "ArrayDeque", "Stack")}
    | {f"{_UTIL}{name}" for name in ("AbstractCollection", "AbstractList")}
    | {f"{_UTIL}concurrent.CopyOnWriteArrayList"}
)
_SETS: Final = frozenset(
    {f"{_UTIL}{name}" for name in ("Set", "HashSet", "LinkedHashSet", "AbstractSet", "EnumSet")}
    | {f"{_UTIL}{name}" for name in ("SortedSet", "NavigableSet", "TreeSet")}
    | {f"{_UTIL}concurrent.CopyOnWriteArraySet", f"{_UTIL}concurrent.ConcurrentSkipListSet"}
)


@dataclass(frozen=True, slots=True)
class _Loss:
    """What a reader does to some values; `is_certain`: there are values that it gets wrong."""

    verb: str
    is_certain: bool = True


def java_class_remarks(old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
    """The class of one type, and of the keys of a map; old readers count under any strategy."""
    classed = (Primitive, Array, Map)
    if not isinstance(old, classed) or not isinstance(new, classed) or old.kind != new.kind:
        return
    member = "java-key-class" if isinstance(old, Map) else "java-class"
    kind = "string" if isinstance(old, Map) else old.kind
    was, now = _class_in(old, member), _class_in(new, member)
    if was == now:
        return
    lost = _loss(kind, was, now, at.wire)
    lost_to_old = _loss(kind, now, was, at.wire)
    harms = [
        f"consumers in Java with the {who} schema {loss.verb}"
        for who, loss in (("new", lost), ("old", lost_to_old))
        if loss is not None
    ]
    if not harms:
        return
    if lost is not None and lost == lost_to_old:
        harms = [f"consumers in Java {lost.verb}"]
    place = "key of a map" if isinstance(old, Map) else kind
    yield Remark(
        rule=JAVA_CLASS_CHANGES,
        message=f"{place} {_as_class(was)} becomes {place} {_as_class(now)}, which Pulsar does not "
        f"compare: {', and '.join(harms)}",
        path=at.path,
        pointer=at.pointer,
        old_pointer=at.old_pointer,
        hint=f"keep the {member}, or add a new field",
        breaks_readers=lost is not None and lost.is_certain,
        breaks_old_readers=lost_to_old is not None and lost_to_old.is_certain,
    )


def _class_in(schema: Primitive | Array | Map, member: str) -> str:
    name = schema.props.get(member)
    return name if isinstance(name, str) else ""


def _as_class(name: str) -> str:
    return f"as {name}" if name else "without a Java class"


def _loss(kind: str, written: str, read: str, wire: Wire) -> _Loss | None:
    """What is lost where values of one class are read as another; None: nothing."""
    match kind:
        case "int":
            return _int_loss(written, read, wire)
        case "string":
            return _text_loss(written, read, wire)
        case "array":
            return _array_loss(written, read, wire)
        case _:
            return None


def _int_loss(written: str, read: str, wire: Wire) -> _Loss | None:
    for name in (written, read):
        if name not in _INTS:
            return _unknown(name)
    held, holds = _INTS[written], _INTS[read]
    if wire is Wire.JSON and written == _CHARACTER != read:
        return _Loss("fail on a character, which is text in JSON")
    if held[0] not in holds or held[-1] not in holds:
        verb = "fail on" if wire is Wire.JSON else "read other values from"
        return _Loss(f"{verb} numbers outside of {holds[0]} to {holds[-1]}")
    if written == _CHARACTER != read:
        return _Loss("get a number for a character", is_certain=False)
    return None


def _text_loss(written: str, read: str, wire: Wire) -> _Loss | None:
    for name in (written, read):
        if name not in _ANY_TEXT and name not in _TEXTS:
            return _unknown(name)
    if read in _ANY_TEXT:
        is_number = wire is Wire.JSON and written in _JSON_NUMBERS
        return _Loss("get a number as text, or fail", is_certain=False) if is_number else None
    text, others = _TEXTS[read]
    if written == read or written in others:
        return None
    if read == "java.io.File":
        return _Loss("change text like 'a//b', as a path has single slashes")
    return _Loss(f"fail on text that is no {text}")


def _array_loss(written: str, read: str, wire: Wire) -> _Loss | None:
    if wire is Wire.JSON and _CHARS in (written, read):
        return _Loss("may fail, as char[] is text in JSON", is_certain=False)
    for name in (written, read):
        if name not in _LISTS and name not in _SETS and not name.startswith("["):
            return _unknown(name)
    if read in _SETS and written not in _SETS:
        return _Loss("lose items that are there twice")
    return None


def _unknown(name: str) -> _Loss:
    return _Loss(f"may read other values, as {name} is not known here", is_certain=False)
