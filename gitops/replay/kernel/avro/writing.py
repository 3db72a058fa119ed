"""Values back to bytes, with the schema that they were read with."""

from __future__ import annotations

import struct
from typing import Any, Final

from gitops.compatibility.avro.schema import (
    Array,
    Enum,
    Fixed,
    Map,
    Record,
    Schema,
    Union,
    branch_name,
)
from gitops.replay.kernel.avro.values import Tagged
from gitops.replay.kernel.walk import Reason, Unreadable

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_BITS: Final = {"int": 32, "long": 64}


class AvroRowWriter:
    """Writes values that an AvroRowReader answered with `schema` as reader: a RowWriter."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - any value that a schema can say
        """The payload, each array and map in one block; raises Unreadable."""
        out = bytearray()
        _Writing(out).value(self._schema, value, "")
        return bytes(out)


class _Writing:
    def __init__(self, out: bytearray) -> None:
        self._out = out

    def value(self, schema: Schema, value: Any, path: str) -> None:  # noqa: ANN401
        match schema:
            case Record() if isinstance(value, dict) and schema.by_name.keys() == value.keys():
                for field in schema.all_fields:
                    inner = f"{path}.{field.name}" if path else field.name
                    self.value(field.type, value[field.name], inner)
            case Union():
                self._union(schema, value, path)
            case Enum() if value in schema.symbols:
                self._number(schema.symbols.index(value))
            case Array() if isinstance(value, list):
                self._array(schema, value, path)
            case Map() if isinstance(value, dict):
                self._map(schema, value, path)
            case Fixed() if isinstance(value, bytes) and len(value) == schema.size:
                self._out += value
            case _:
                self._scalar(schema.kind, value, path)

    def _union(self, union: Union, value: Any, path: str) -> None:  # noqa: ANN401
        """The branch of its tag, else null or the only one that is not."""
        for index, branch in enumerate(union.branches):
            if isinstance(value, Tagged):
                found = branch_name(branch) == value.branch
            else:
                found = (branch.kind == "null") is (value is None)
            if found:
                self._number(index)
                self.value(branch, value.value if isinstance(value, Tagged) else value, path)
                return
        raise _misfit("union", value, path)

    def _array(self, schema: Array, value: list[Any], path: str) -> None:
        if value:
            self._number(len(value))
        for item in value:
            self.value(schema.items, item, f"{path}[]")
        self._number(0)

    def _map(self, schema: Map, value: dict[str, Any], path: str) -> None:
        if value:
            self._number(len(value))
        for name, item in value.items():
            self._text(name)
            self.value(schema.values, item, f"{path}{{}}")
        self._number(0)

    def _scalar(self, kind: str, value: Any, path: str) -> None:  # noqa: ANN401
        match kind, value:
            case "null", None:
                pass
            case "boolean", bool():
                self._out.append(value)
            case (("int" | "long"), int()) if -1 <= value >> (_BITS[kind] - 1) <= 0:
                self._number(value)
            case (("float" | "double"), (int() | float())):
                self._out += (_FLOAT if kind == "float" else _DOUBLE).pack(value)
            case "string", str():
                self._text(value)
            case "bytes", bytes():
                self._bytes(value)
            case _:
                raise _misfit(kind, value, path)

    def _text(self, text: str) -> None:
        """A default can hold half of a character, for which Java writes a question mark."""
        self._bytes(text.encode("utf-8", "replace"))

    def _bytes(self, data: bytes) -> None:
        self._number(len(data))
        self._out += data

    def _number(self, number: int) -> None:
        left = (number << 1) ^ (number >> 63)
        while left > 0x7F:  # noqa: PLR2004 - seven bits a byte
            self._out.append(left & 0x7F | 0x80)
            left >>= 7
        self._out.append(left)


def _misfit(kind: str, value: Any, path: str) -> Unreadable:  # noqa: ANN401
    reason = f"not a value of the type {kind}"
    return Unreadable(Reason(path, reason), f"{path}: {value!r:.80} is {reason}")
