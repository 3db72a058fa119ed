"""Avro definitions as fastavro 1.13.1 reads them, with what it refuses that Avro for Java takes."""

from __future__ import annotations

import re
from typing import Any, Final

from gitops.schemas.avro.schema import PRIMITIVES

Json = Any

NAMED_TYPES: Final = frozenset({"record", "enum", "fixed", "error"})
AVRO_TYPES: Final = PRIMITIVES | NAMED_TYPES | {"array", "map", "union", "request", "error_union"}
_SYMBOL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_DEFAULT: Final = object()


class UnusableError(ValueError):
    """fastavro raises an exception for the definition."""


_LOGICAL_TYPES: Final = {
    "int": ("date", "time-millis"),
    "long": (
        *("timestamp-millis", "timestamp-micros", "time-micros"),
        *("local-timestamp-millis", "local-timestamp-micros"),
    ),
    "bytes": ("decimal",),
    "fixed": ("decimal",),
    "string": ("uuid",),
}
"""The logical types that fastavro 1.13.1 converts."""


def logical_type(schema: Json) -> str:
    """The logical type that fastavro converts values to, empty for none."""
    if not isinstance(schema, dict):
        return ""
    name = schema.get("logicalType")
    if name not in _LOGICAL_TYPES.get(type_of(schema), ()):
        return ""
    if name == "decimal":
        return f"decimal({schema.get('precision')}, {schema.get('scale', 0)})"
    return str(name)


def type_of(schema: Json) -> str:
    """The name of a type, or of the type that a reference names; `union` for a union."""
    if isinstance(schema, list):
        return "union"
    return str(schema["type"]) if isinstance(schema, dict) else str(schema)


class FastavroDefinition:
    """`fastavro.parse_schema` of a definition; raises UnusableError.

    `named` are the named types by full name, and `places` the JSON pointers of their definitions
    by identity. `unreadable_decimals` are decimals whose values it cannot read. Where it is not
    `checked`, defaults, symbols and decimals may be anything.
    """

    def __init__(self, schema: Json, *, checked: bool = True) -> None:
        self._is_checked = checked
        self.named: dict[str, Json] = {}
        self.places: dict[int, str] = {}
        self.unreadable_decimals: list[str] = []
        try:
            self.top = self._read(schema, "", "", _NO_DEFAULT)
        except UnusableError:
            raise
        except (KeyError, TypeError, AttributeError) as error:
            raise UnusableError(f"{type(error).__name__}: {error}") from None

    def resolve(self, schema: Json) -> Json:
        """The definition that a reference names; anything else as it is."""
        return self.named.get(schema, schema) if isinstance(schema, str) else schema

    def _read(self, schema: Json, namespace: str, pointer: str, default: Json) -> Json:
        if isinstance(schema, list):
            branches = [
                self._read(branch, namespace, f"{pointer}/{index}", _NO_DEFAULT)
                for index, branch in enumerate(schema)
            ]
            fits = default is _NO_DEFAULT or any(
                not isinstance(branch, str) or _fits(default, branch, strict=False)
                for branch in branches
            )
            self._check(fits, f"the default {default} fits no branch")
            return branches
        if isinstance(schema, str):
            return self._read_name(schema, namespace, default)
        kind = schema["type"]
        parsed = {
            key: value
            for key, value in schema.items()
            if key not in ("fields", "items", "values", "namespace", "doc")
        }
        if self._is_checked:
            _require_decimal(schema)
        if logical_type(schema).startswith("decimal") and not schema.get("precision"):
            self.unreadable_decimals.append(pointer)
        if kind in ("array", "map"):
            member = "items" if kind == "array" else "values"
            parsed[member] = self._read(
                schema[member], namespace, f"{pointer}/{member}", _NO_DEFAULT
            )
        elif kind in NAMED_TYPES:
            namespace, name = self._full_name(schema, namespace)
            _require(name not in self.named, f"{name} is defined twice")
            self.named[name] = parsed
            self.places[id(parsed)] = pointer
            parsed["name"] = name
            if kind == "enum" and self._is_checked:
                _require_symbols(schema)
            if kind in ("record", "error"):
                parsed["fields"] = [
                    self._read_field(field, namespace, f"{pointer}/fields/{index}/type")
                    for index, field in enumerate(schema.get("fields", []))
                ]
        elif isinstance(kind, str) and kind not in PRIMITIVES and not self._is_checked:
            return self._read_name(kind, namespace, default)
        elif not isinstance(kind, str) or kind not in PRIMITIVES:
            raise UnusableError(f"{kind} is no type")
        self._check(_fits(default, kind, strict=True), f"the default {default} is no {kind}")
        return parsed

    def _check(self, condition: bool, problem: str) -> None:  # noqa: FBT001 - as for _require
        _require(condition or not self._is_checked, problem)

    def _read_name(self, name: str, namespace: str, default: Json) -> str:
        if name in PRIMITIVES:
            self._check(_fits(default, name, strict=False), f"the default {default} is no {name}")
            return name
        is_short = "." not in name and bool(namespace)
        _require(not is_short or isinstance(namespace, str), "a namespace is no text")
        full = f"{namespace}.{name}" if is_short else name
        if full not in self.named and not self._is_checked:
            full = name  # as Avro for Java looks names up
        _require(full in self.named, f"the type {full} is not defined")
        return full

    def _full_name(self, schema: Json, namespace: str) -> tuple[str, str]:
        name = schema["name"]
        if "." in name:
            return name.rpartition(".")[0], name
        own = schema.get("namespace", namespace)
        if isinstance(own, str) or self._is_checked:  # Avro for Java ignores what is no text
            namespace = own
        return (namespace, f"{namespace}.{name}") if namespace else ("", name)

    def _read_field(self, field: Json, namespace: str, pointer: str) -> Json:
        _require(isinstance(field.get("aliases", []), list), "aliases are no list")
        default = field.get("default", _NO_DEFAULT)
        kept = {key: field[key] for key in ("name", "default", "aliases") if key in field}
        return {**kept, "type": self._read(field["type"], namespace, pointer, default)}


def _require(condition: bool, problem: str) -> None:  # noqa: FBT001 - a condition and its message
    if not condition:
        raise UnusableError(problem)


_DEFAULTS: Final[dict[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "string": (str,),
    "bytes": (str,),
    "int": (int,),
    "long": (int,),
    "enum": (str,),
    "fixed": (str,),
    "array": (list,),
    "map": (dict,),
    "record": (dict,),
    "error": (dict,),
}


def _fits(default: Json, kind: str, *, strict: bool) -> bool:
    """Whether a default is one of the type; `strict` where that is written as an object."""
    if default is _NO_DEFAULT:
        return True
    if kind in ("float", "double"):
        if strict:
            return isinstance(default, float)
        try:
            float(default)
        except (TypeError, ValueError):
            return False
        return True
    return isinstance(default, _DEFAULTS.get(kind, (object,)))


def _require_symbols(schema: Json) -> None:
    symbols = schema["symbols"]
    for symbol in symbols:
        is_symbol = isinstance(symbol, str) and _SYMBOL.fullmatch(symbol) is not None
        _require(is_symbol, f"'{symbol}' is no symbol")
    _require(len(symbols) == len(set(symbols)), "a symbol is given twice")
    is_known = "default" not in schema or schema["default"] in symbols
    _require(is_known, "the default is none of the symbols")


def _require_decimal(schema: Json) -> None:
    if schema.get("logicalType") != "decimal":
        return
    scale, precision = schema.get("scale"), schema.get("precision")
    problem = "the precision or scale of a decimal is not valid"
    if scale:
        _require(isinstance(scale, int) and scale >= 0, problem)
    if precision:
        _require(isinstance(precision, int) and precision > 0, problem)
        if schema["type"] == "fixed":
            # As fastavro computes it: log10(2) of all bits but the sign's.
            most = int(0.301029995663981198 * (8 * schema["size"] - 1))
            _require(precision <= most, problem)
    if scale and precision:
        _require(precision >= scale, problem)
