"""Random PROTOBUF_NATIVE envelopes: descriptors that link, and ones spoilt in every place."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from tests.oracle.protobuf_texts import DEFAULTS, NUMBERS, TEXTS
from tests.support.protos import order

Node = int | bytes | list["Pair"]
Pair = tuple[int, Node]
"""A field of a message: its number, and a varint, text as bytes, or a message."""

_NAMES: Final = ("A", "B", "C", "E", "a", "b", "p", "q", "x")
_NAMES_AS_BYTES: Final = (b"A", b"B", b"a", b"b")
_PACKAGES: Final = (b"", b"", b"p", b"p", b"p.q", b"p.q.x", b"A")
_FILES: Final = (b"a.proto", b"b.proto", b"c.proto", b"d.proto")
_SLIPS: Final = (
    "null",
    "[]",
    '"x"',
    "{}",
    "",
    "{",
    '{"fileDescriptorSet":"","rootMessageTypeName":"A","rootFileDescriptorName":""}',
    '{"rootMessageTypeName":"A","rootFileDescriptorName":"a.proto"}',
)
_OTHERS: Final[tuple[Any, ...]] = (
    *(None, 1, True, 1.5, [], {}, "QQ==", "QQ==QQ==", [True], [[]], ["-1", " +7 ", "x"]),
    *([None, "1", 255, -128, "", " ", "null"], [256], [-129], [1.9, -0.5, 1e2], ["256"]),
)
_SPECIAL_NAMES: Final = ("", ".", "..", "A", ".A", "A.", "p.A.", "A.B", ".A.B", "pxqxA", "p.q", "E")
_ENCODINGS: Final = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32-be")
_RAW: Final = (
    b"\xff\xfe",
    b"\x00\x00\x00",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf8",
    b"\xf7\xbf\xbf\xbf",
)
_MANY: Final = 1_200


def plain_native_schema() -> dict[str, Any]:
    """A schema for a broker, or its classes, to read before any other PROTOBUF_NATIVE one.

    If the first one of a 5.0.0-M1 broker is of an edition, protobuf-java 4.35 fails while it loads
    its own classes, and every later one is answered with 500 until the process is restarted.
    """
    info = order("int32 a = 1;")
    return {"type": info.type.value, "schema": info.schema, "properties": {}}


def plain_native_case() -> dict[str, Any]:
    """A case that registers `plain_native_schema`."""
    schema = plain_native_schema()
    return {"mode": "producer", "strategy": "FULL", "existing": [], "candidate": schema}


def varint(number: int) -> bytes:
    """The wire form of a number; a negative one has ten bytes."""
    number &= 2**64 - 1
    out = bytearray()
    while number > 127:  # the seven bits that one byte carries
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def encode(pairs: list[Pair]) -> bytes:
    """The wire form of a message."""
    return b"".join(_encode(number, value) for number, value in pairs)


def _encode(number: int, value: Node) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value if isinstance(value, bytes) else encode(value)
    return varint(number << 3 | 2) + varint(len(data)) + data


class Envelopes:
    """Envelopes around one set of descriptors until the next `renew`."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.files: list[Pair] = []
        self.known: dict[int, list[str]] = {}
        self.odd = 0.0
        self.usual_root = ""
        self.renew()

    def renew(self) -> None:
        """Begin with another set."""
        names = list(_FILES[: self.random.choice((1, 1, 2, 2, 3, 4))])
        self.files, self.usual_root = [], ""
        self.odd = self.random.choice((0, 0, 0.2))
        for index in reversed(range(len(names))):
            self.known = {11: [], 14: []}
            self.files.insert(0, (1, self._file(index, names)))

    def text(self) -> str:
        """An envelope as admin REST takes it."""
        random = self.random
        if random.random() < 0.02:
            return random.choice(_SLIPS)
        text = json.dumps(self.value(), separators=random.choice(((",", ":"), (", ", " : "))))
        return self._slipped(text) if random.random() < 0.08 else text

    def data(self) -> bytes:
        """An envelope as a client may have uploaded it, in any encoding."""
        data = self.text().encode(self.random.choice(_ENCODINGS), "surrogatepass")
        if self.random.random() < 0.5:
            at = self.random.randrange(len(data) + 1)
            data = data[:at] + self.random.choice(_RAW) + data[at + 1 :]
        return data

    def value(self) -> dict[str, Any]:
        """An envelope as a JSON value."""
        random = self.random
        files = copy.deepcopy(self.files)
        for _ in range(random.choice((0,) * 9 + (1, 1, 2))):
            self._mutate(files)
        data = encode(files)
        if random.random() < 0.03:
            data = self._damaged(data)
        value: dict[str, Any] = {
            "fileDescriptorSet": base64.b64encode(data).decode(),
            "rootMessageTypeName": self._root(files),
            "rootFileDescriptorName": self._file_name(files),
        }
        return self._altered(value, data) if random.random() < 0.05 else value

    # ------------------------------------------------------------ descriptors that link

    def _file(self, index: int, names: list[bytes]) -> list[Pair]:
        random = self.random
        imports = [name for name in names[index + 1 :] if random.random() < 0.6]
        if random.random() < self.odd / 2:
            imports.insert(random.randrange(len(imports) + 1), random.choice(names))
        pairs: list[Pair] = [(1, names[index]), (2, random.choice(_PACKAGES))]
        pairs += [(3, name) for name in imports]
        pairs += [(10, at) for at in range(len(imports)) if random.random() < 0.5]
        used: set[str] = set()
        package = pairs[1][1].decode() if isinstance(pairs[1][1], bytes) else ""
        pairs += [(5, self._enum(name, package)) for name in self._fresh(used, (0, 0, 1, 2))]
        messages = self._fresh(used, (1, 1, 2, 3))
        pairs += [(4, self._message(name, package, 0)) for name in messages]
        pairs += [(6, self._service(name)) for name in self._fresh(used, (0, 0, 0, 1))]
        pairs += [(7, self._extension(name)) for name in self._fresh(used, (0,) * 9 + (1,))]
        pairs += self._syntax()
        if random.random() < 0.1:
            pairs.append((9, [(1, [(1, b"\x01\x02"), (3, b"text")])]))
        return pairs

    def _fresh(self, used: set[str], sizes: tuple[int, ...]) -> list[str]:
        free = [name for name in _NAMES if name not in used]
        names = self.random.sample(free, min(len(free), self.random.choice(sizes)))
        used.update(names)
        return names

    def _message(self, name: str, scope: str, depth: int) -> list[Pair]:
        random = self.random
        full_name = f"{scope}.{name}" if scope else name
        pairs: list[Pair] = [(1, name.encode())]
        used: set[str] = set()
        nested = self._fresh(used, (0, 0, 1, 2)) if depth < 3 else []
        pairs += [(3, self._message(one, full_name, depth + 1)) for one in nested]
        pairs += [(4, self._enum(one, full_name)) for one in self._fresh(used, (0, 0, 0, 1))]
        self.known[11].append(full_name)
        oneofs = random.choice((0, 0, 0, 1, 2))
        numbers = random.sample(range(1, 20), 3)
        fields = self._fresh(used, (0, 1, 2, 3))
        pairs += [(2, self._field(one, n, oneofs)) for one, n in zip(fields, numbers, strict=False)]
        pairs += [(8, [(1, b"o")]) for _ in range(oneofs)]
        if random.random() < 0.1:
            pairs += self._map(full_name)
        if random.random() < 0.8:
            pairs.append((5, [(1, 100), (2, random.choice((200, 102, 536870912)))]))
        if random.random() < self.odd:
            pairs.append((7, [(random.choice((1, 7, 3, 11)), 1)]))
        pairs += [(6, self._extension(one)) for one in self._fresh(used, (0,) * 9 + (1,))]
        return pairs

    def _field(self, name: str, number: int, oneofs: int) -> list[Pair]:
        random = self.random
        kind = random.choice((*range(1, 10), 12, 13, *range(15, 19), 11, 11, 11, 14, 14))
        label = random.choice((1, 1, 1, 1, 2, 3, 3))
        pairs: list[Pair] = [(1, name.encode()), (3, number), (4, label)]
        if self.known.get(kind) or random.random() < self.odd / 9:
            pairs += [
                (6, self._type(kind)),
                (5, 10 if kind == 11 and random.random() < 0.2 else kind),
            ]
        elif kind not in {11, 14}:
            pairs.append((5, kind))
        else:
            pairs.append((5, 9))
        if label < 3 and kind != 11 and random.random() < 0.15:
            pairs.append((7, self._default(kind)))
        if oneofs and random.random() < 0.3:
            pairs += [(9, random.randrange(oneofs)), (17, int(random.random() < self.odd))]
        if label == 3 and kind not in {9, 11, 12} and random.random() < 0.2:
            pairs.append((8, [(2, 1)]))
        return pairs

    def _syntax(self) -> list[Pair]:
        """proto2, proto3, an edition with features, or nothing."""
        random = self.random
        syntax = random.choice((b"proto3", b"proto2", b"editions", b"x", b""))
        pairs: list[Pair] = [(12, syntax)] if syntax else []
        if syntax == b"editions" or random.random() < 0.02:
            pairs.append(
                (14, random.choice((998, 999, 1000, 1001, 1002, 9999, 2, 2147483647, 0, -1)))
            )
            features: list[Pair] = [(random.randrange(1, 8), random.randrange(4))]
            pairs += [(8, [(50, features)])] if random.random() < 0.5 else []
        return pairs

    def _map(self, scope: str) -> list[Pair]:
        """A map field, and the message that its entries are."""
        random = self.random
        key, value = random.choice((5, 9, 9, 8, 12, 1)), random.choice((5, 9, 12, 14, 11))
        entry: list[Pair] = [(1, b"MEntry")]
        for name, number, kind in ((b"key", 1, key), (b"value", 2, value)):
            field: list[Pair] = [(1, name), (3, number), (4, 1), (5, kind)]
            entry.append((2, [*field, (6, self._type(kind))] if kind in {11, 14} else field))
        entry.append((7, [(7, 1)]))
        number = random.choice((30, 31))
        field = [(1, b"m"), (3, number), (4, 3), (5, 11), (6, f".{scope}.MEntry".encode())]
        return [(3, entry), (2, field)]

    def _default(self, kind: int) -> bytes:
        if self.random.random() < self.odd:
            return self._text()
        return self.random.choice(DEFAULTS.get(kind, _NAMES_AS_BYTES))

    def _type(self, kind: int) -> bytes:
        """A name of a message or an enum, often short enough to need its scope."""
        random = self.random
        if random.random() < self.odd / 9 or not self.known.get(kind):
            return self._text()
        name = random.choice(self.known[kind])
        if random.random() > self.odd * 2:
            return f".{name}".encode()
        return name.split(".", random.randrange(2))[-1].encode()

    def _enum(self, name: str, scope: str) -> list[Pair]:
        self.known[14].append(f"{scope}.{name}" if scope else name)
        values = self.random.sample(_NAMES, 4)
        pairs: list[Pair] = [(1, name.encode())]
        pairs += [(2, [(1, one.encode()), (2, 0)]) for one in values]
        return pairs

    def _service(self, name: str) -> list[Pair]:
        return [(1, name.encode()), (2, [(1, b"m"), (2, self._type(11)), (3, self._type(11))])]

    def _extension(self, name: str) -> list[Pair]:
        number = 5 if self.random.random() < self.odd else 100
        return [*self._field(name, number, 0), (2, self._type(11))]

    # ------------------------------------------------------------ what spoils them

    def _text(self) -> bytes:
        return self.random.choice(TEXTS)

    def _mutate(self, files: list[Pair]) -> None:
        pairs = self.random.choice([pairs for pairs in _messages(files) if pairs] or [files])
        if not pairs:
            return
        at = self.random.randrange(len(pairs))
        number, value = pairs[at]
        change: Callable[[list[Pair], int, int, Node], None] = self.random.choice(
            (self._replace, self._replace, self._replace, self._drop, self._double, self._retag)
        )
        change(pairs, at, number, value)

    def _replace(self, pairs: list[Pair], at: int, number: int, value: Node) -> None:
        if isinstance(value, list):
            pairs.append((self.random.choice((1, 2, 3, 5, 7, 8, 9, 10, 11, 50, 999)), self._any()))
        else:
            other = self._text() if isinstance(value, bytes) else self.random.choice(NUMBERS)
            pairs[at] = (number, other)

    def _drop(self, pairs: list[Pair], at: int, _number: int, _value: Node) -> None:
        del pairs[at]

    def _double(self, pairs: list[Pair], _at: int, number: int, value: Node) -> None:
        pairs.insert(self.random.randrange(len(pairs) + 1), (number, copy.deepcopy(value)))

    def _retag(self, pairs: list[Pair], at: int, _number: int, value: Node) -> None:
        pairs[at] = (self.random.randrange(1, 21), value)

    def _any(self) -> Node:
        part: list[Pair] = [(1, b"x"), (2, 1)]
        options: list[Pair] = [(999, [(2, part[: self.random.randrange(3)])])]
        number = self.random.choice(NUMBERS)
        return self.random.choice((number, self._text(), b"\x80", b"\x01", [], options, part))

    def _damaged(self, data: bytes) -> bytes:
        random = self.random
        at = random.randrange(len(data) + 1)
        inner = bytes(random.randrange(256) for _ in range(random.randrange(4)))
        group = random.choice((b"\x0b\x0c", b"\x0b\x13\x14\x0c", b"\x0b", b"\x0c", b"\x09" * 9))
        return random.choice((data[:at], data[:at] + inner + data[at + 1 :], data + group))

    # ------------------------------------------------------------ names and JSON

    def _root(self, files: list[Pair]) -> str:
        random = self.random
        if random.random() < 0.07:
            return random.choice(_SPECIAL_NAMES)
        if self.usual_root and random.random() < 0.75:
            return self.usual_root
        file = _fields(random.choice(files)[1] if random.random() < 0.05 else files[0][1])
        names = [_first(file, 2)]
        message = [value for number, value in file if number == 4]
        while message and (len(names) < 2 or random.random() < 0.4):
            found = _fields(random.choice(message))
            names.append(_first(found, 1))
            message = [value for number, value in found if number == 3]
        name = ".".join(part for part in names if part)
        self.usual_root = self.usual_root or name
        return f".{name}" if random.random() < 0.04 else name

    def _file_name(self, files: list[Pair]) -> str:
        if self.random.random() < 0.05:
            return self._text().decode("utf-8", "replace")
        file = files[0] if self.random.random() < 0.9 else self.random.choice(files)
        return _first(_fields(file[1]), 1)

    def _altered(self, value: dict[str, Any], data: bytes) -> dict[str, Any]:
        random = self.random
        name = random.choice(list(value))
        value[name] = random.choice(_OTHERS)
        if random.random() < 0.5:
            numbers = [byte - random.choice((0, 256)) if byte > 127 else byte for byte in data]
            value["fileDescriptorSet"] = random.choice(([*numbers], [*map(str, data)], [*data]))
        return value

    def _slipped(self, text: str) -> str:
        random = self.random
        at = random.randrange(len(text) + 1)
        insert = random.choice(
            (" ", "\n", "\t", "=", "\\n", "\\u003d", "\x01", "/**/", '"', ",", "}")
        )
        tail = random.choice((" x", "}", "[" * _MANY, "//", "\x00", "é", "\ud800"))
        deep = '{"u":' + "[" * random.choice((3, 998, 999, 1000)) + "1"
        deep += "]" * deep.count("[") + "," + text[1:]
        again = text[:-1] + random.choice(
            (',"x":[1,{"y":null}]}', ',"rootMessageTypeName":null}', ",}")
        )
        texts = (text[:at] + insert + text[at:], text + tail, deep, again, text[:at])
        return random.choice((*texts, text.replace("=", "\\u003d")))


def _messages(pairs: list[Pair]) -> Iterator[list[Pair]]:
    for _, value in pairs:
        if isinstance(value, list):
            yield value
            yield from _messages(value)


def _fields(value: Node) -> list[Pair]:
    return value if isinstance(value, list) else []


def _first(pairs: list[Pair], number: int) -> str:
    texts = [value for key, value in pairs if key == number and isinstance(value, bytes)]
    return texts[-1].decode("utf-8", "replace") if texts else ""
