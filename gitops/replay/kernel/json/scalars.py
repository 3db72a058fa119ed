"""The JSON values that a type without parts takes, also URIs and URLs as Java reads them."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from ipaddress import AddressValueError, IPv6Address
from typing import Any, Final

from gitops.replay.kernel.json import times
from gitops.replay.kernel.protocol import ValueMismatchError
from gitops.schemas.avro.json_text import MAX_NUMBER_LENGTH
from gitops.schemas.avro.schema import Fixed, Primitive

# Which text Java takes for a URI or a URL: `java.net.URI` and `java.net.URL` of Java 17.
#
# `URI` parses as its documentation says (RFC 2396 with deviations); `URL` looks at the protocol,
# at the characters of a host, at a host in brackets and at the port, and at nothing else.

_PLAIN: Final = r"0-9A-Za-z\-_.!~*'()"
_ESCAPED: Final = r"%[0-9A-Fa-f]{2}|[^\x00-\xa0\s]"
"""What is escaped, and visible characters beyond ASCII."""

_ANY: Final = re.compile(rf"(?:[{_PLAIN};/?:@&=+$,\[\]]|{_ESCAPED})*")
_PATH: Final = re.compile(rf"(?:[{_PLAIN}:@&=+$,;/]|{_ESCAPED})*")
_NAME: Final = re.compile(rf"(?:[{_PLAIN}$,;:@&=+]|{_ESCAPED})+")
_SERVER: Final = re.compile(rf"(?:(?:[{_PLAIN};:&=+$,]|{_ESCAPED})*@)?\[([^\]]*)\](?::[0-9]*)?")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*")
_ZEROS: Final = re.compile(r"\b0+(?=[0-9A-Fa-f])")
"""Of which Java lets a number begin with any: `URI` in a dotted part, `URL` in each."""

_SCOPE: Final = re.compile(r"[A-Za-z0-9_.]+")
_URI: Final = re.compile(r"(?:([^:/?#]*):)?([^#]*)(?:#(.*))?", re.DOTALL)
_HIERARCHY: Final = re.compile(r"(?://([^/?]*))?([^?]*)(?:\?(.*))?", re.DOTALL)

_URL: Final = re.compile(
    r"(?:url:)?(https?|ftp|file|jar|mailto|jrt|jmod):([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL
)
_TRIMMED: Final = "".join(map(chr, range(0x21)))
_BLANK: Final = re.compile(r"[^\S\x85\xa0\u2007\u202f]*")
_AUTHORITY: Final = re.compile(r"(?!////)//([^/?]*)")
_DIGIT: Final = r"[^\D\U00010000-\U0010ffff]"
_PORT: Final = rf"([+-]?)(?={_DIGIT})0*({_DIGIT}{{0,10}})"
_HOST: Final = re.compile(rf"(\[[^\]]*\]|[^\[:][^:]*|)(?::(?:{_PORT})?)?", re.DOTALL)
_PORTS: Final = range(-1, 2**31)
_NO_HOST: Final = re.compile(
    "[\x00-\x1f\x7f\u2047-\u2049\u2100\u2101\u2105\u2106\u2a74"
    "\ufe55\ufe56\ufe5f\ufe6b\uff03\uff0f\uff1a\uff1f\uff20]"
)
"""Controls, and what stands for one of `#/:?@` where a name is normalized."""


def is_uri(text: str) -> bool:
    """Whether `URI.create` takes it."""
    match = _URI.fullmatch(text)
    if match is None:
        return False
    scheme, rest, fragment = match.groups()
    if not _ANY.fullmatch(fragment or ""):
        return False
    if scheme is not None and (not _SCHEME.fullmatch(scheme) or not rest):
        return False
    if scheme is not None and rest[0] != "/":
        return _ANY.fullmatch(rest) is not None
    return _is_hierarchy(rest, is_last=fragment is None)


def _is_hierarchy(text: str, *, is_last: bool) -> bool:
    match = _HIERARCHY.fullmatch(text)
    if match is None:
        return False
    authority, path, query = match.groups()
    if authority == "" and is_last and not path and query is None:
        return False
    if authority and not (_NAME.fullmatch(authority) or _is_server(authority)):
        return False
    return None not in (_PATH.fullmatch(path), _ANY.fullmatch(query or ""))


def _is_server(text: str) -> bool:
    match = _SERVER.fullmatch(text)
    if match is None:
        return False
    address, has_scope, scope = match[1].partition("%")
    groups, colon, dotted = address.rpartition(":")
    if "." in dotted:
        address = groups + colon + _ZEROS.sub("", dotted)
    return _is_ipv6(address) and (not has_scope or _SCOPE.fullmatch(scope) is not None)


def is_url(text: str) -> bool:
    """Whether `new URL` takes it, where no protocols are registered beside Java's own."""
    match = _URL.fullmatch(text.strip(_TRIMMED))
    if match is None:
        return False
    protocol, rest = match[1].lower(), match[2]
    match protocol:
        case "mailto":
            return _BLANK.fullmatch(rest) is None
        case "jar":
            inner, within, _ = rest.rpartition("!/")
            is_outer = text[:4].lower() == "jar:" != inner[:4].lower()
            return is_outer and bool(within) and is_url(inner)
        case _:
            authority = _AUTHORITY.match(rest)
            return authority is None or _has_host(authority[1])


def _has_host(authority: str) -> bool:
    """With several @, Java does not look for a host."""
    if authority.count("@") > 1:
        return True
    match = _HOST.fullmatch(authority.rpartition("@")[2])
    if match is None or _NO_HOST.search(match[1]):
        return False
    if int((match[2] or "") + (match[3] or "0")) not in _PORTS:
        return False
    address, has_scope, scope = match[1][1:-1].partition("%")
    is_name = match[1][:1] != "["
    return is_name or (_is_ipv6(_ZEROS.sub("", address)) and bool(scope or not has_scope))


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


# The JSON values that a type without parts takes, in every form that Jackson writes it in.


INT: Final = range(-(2**31), 2**31)
LONG: Final = range(-(2**63), 2**63)
MAX_FLOAT: Final = 3.4028235677973366e38
"""What rounds to a 32-bit float is below this."""

MAX_TEXT: Final = 20_000_000
"""Jackson's StreamReadConstraints: longer text is refused, in UTF-16 units; base64 is none."""

_JAVA_RANGES: Final = {
    "java.lang.Byte": range(-128, 256),
    "java.lang.Short": range(-(2**15), 2**15),
    "java.lang.Character": range(2**16),
}
JAVA_TEXTS: Final = {
    "java.math.BigDecimal": "number",
    "java.math.BigInteger": "whole",
    "java.net.URI": "uri",
    "java.net.URL": "url",
}
NOT_FINITE: Final = frozenset({"NaN", "Infinity", "-Infinity"})
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SURROGATES: Final = re.compile("[\U00010000-\U0010ffff]")
"""Characters of two UTF-16 units."""

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_UUID: Final = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_DAYS: Final = frozenset({"date"})
_TIMES: Final = frozenset({"time-millis", "time-micros"})
INSTANTS: Final = frozenset({"timestamp-millis", "timestamp-micros", "timestamp-nanos"})
LOCALS: Final = frozenset(
    {"local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """`kind` is Avro's; `form` is how Java writes it where that is not what the kind says.

    Forms: `decimal`, `character`, the names of logical types of time, and of a string `number`,
    `whole`, `uuid`, `uri` and `url`. `size` is a fixed's, `within` an int's or a long's.
    """

    kind: str
    form: str = ""
    size: int | None = None
    within: range | None = None

    def take(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """The value as the reader sees it; raises MisfitError."""
        other = _FORMS.get(self.form)
        if other is not None:
            taken = other(value)
            if taken is not None:
                return taken
        return _KINDS[self.kind](self, value)


def scalar(schema: Primitive | Fixed) -> Scalar:
    """The type, with what the definition tells about Java's."""
    logical, java = schema.props.get("logicalType"), schema.props.get("java-class")
    size = schema.size if isinstance(schema, Fixed) else None
    kind = schema.kind
    within: range | None = None
    form = ""
    if kind in {"int", "long"}:
        within = _JAVA_RANGES.get(str(java), INT) if kind == "int" else LONG
        form = logical if isinstance(logical, str) and logical in _FORMS else ""
        form = "character" if java == "java.lang.Character" else form
    elif kind in {"bytes", "fixed"} and logical == "decimal":
        form = "decimal"
    elif kind == "string":
        form = "uuid" if logical == "uuid" else JAVA_TEXTS.get(str(java), "")
    return Scalar(kind=kind, form=form, size=size, within=within)


def describe_value(value: Any) -> str:  # noqa: ANN401 - JSON
    """What a JSON value is, without the value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float() | Decimal():
            return "a fraction"
        case str():
            return "text"
        case dict():
            return "an object"
        case _:
            return "an array"


def _mismatch(kind: str, value: Any) -> ValueMismatchError:  # noqa: ANN401 - JSON
    return ValueMismatchError(f"expected {kind}, found {describe_value(value)}")


def _null(scalar: Scalar, value: Any) -> None:  # noqa: ANN401 - JSON
    if value is not None:
        raise _mismatch(scalar.kind, value)


def _boolean(scalar: Scalar, value: Any) -> bool:  # noqa: ANN401 - JSON
    if not isinstance(value, bool):
        raise _mismatch(scalar.kind, value)
    return value


def _integer(scalar: Scalar, value: Any) -> int:  # noqa: ANN401 - JSON
    if not isinstance(value, int) or isinstance(value, bool):
        raise _mismatch(scalar.kind, value)
    if scalar.within is not None and value not in scalar.within:
        raise ValueMismatchError(f"the number is out of the range of {scalar.kind}")
    return value


def _fraction(scalar: Scalar, value: Any) -> Any:  # noqa: ANN401 - JSON
    """A number; Jackson writes those that JSON has not as text."""
    if isinstance(value, str) and value in NOT_FINITE:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _mismatch(scalar.kind, value)
    try:
        number = abs(float(value))
    except OverflowError:
        number = float("inf")
    if not number < (MAX_FLOAT if scalar.kind == "float" else float("inf")):
        raise ValueMismatchError(f"the number is out of the range of {scalar.kind}")
    return value if isinstance(value, int) else float(value)


def _string(scalar: Scalar, value: Any) -> str:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        raise _mismatch(scalar.kind, value)
    if len(value) > MAX_TEXT // 2 and len(value) + len(_SURROGATES.findall(value)) > MAX_TEXT:
        raise ValueMismatchError(f"text of more than {MAX_TEXT:,} characters")
    return value


def _bytes(scalar: Scalar, value: Any) -> bytes:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        raise _mismatch(f"{scalar.kind} in base64", value)
    try:
        data = binascii.a2b_base64(value, strict_mode=True)
    except ValueError:
        raise ValueMismatchError("the text is not base64") from None
    if len(value) % 4 or value.endswith("==="):  # Python takes `=` behind what is whole
        raise ValueMismatchError("the text is not base64")
    if scalar.size is not None and len(data) != scalar.size:
        raise ValueMismatchError("not of the size of the fixed")
    return data


_KINDS: Final[Mapping[str, Callable[[Scalar, Any], Any]]] = {
    "null": _null,
    "boolean": _boolean,
    "int": _integer,
    "long": _integer,
    "float": _fraction,
    "double": _fraction,
    "string": _string,
    "bytes": _bytes,
    "fixed": _bytes,
}


def _decimal(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A BigDecimal is a number to Jackson, whatever the definition calls it."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if not times.has_scale(value):
        raise ValueMismatchError("the exponent is too large")
    return value


def _character(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Java's has 16 bits."""
    if isinstance(value, str) and (len(value) != 1 or value > "\uffff"):
        raise ValueMismatchError("the text is not one char of Java")
    return value if isinstance(value, str) else None


def _number(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A BigDecimal whose definition says text."""
    return _limited(value, "number") if isinstance(value, str) else _decimal(value)


def _whole(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A BigInteger whose definition says text."""
    if isinstance(value, str):
        return _limited(value, "whole")
    if isinstance(value, float | Decimal):
        raise _mismatch("a whole number", value)
    return None if isinstance(value, bool) or not isinstance(value, int) else value


def _limited(text: str, form: str) -> str:
    if len(text) > MAX_NUMBER_LENGTH:
        raise ValueMismatchError(f"a number of more than {MAX_NUMBER_LENGTH} digits")
    return check_text(form, text)


def check_text(form: str, text: str) -> str:
    """The text, if it is one of a form of a string; raises MisfitError."""
    what, fits = _TEXTS[form]
    if not fits(text):
        raise ValueMismatchError(f"the text is not {what}")
    return text


def _is_number(text: str) -> bool:
    if not _NUMBER.fullmatch(text):
        return False
    try:
        return times.has_scale(Decimal(text))
    except ArithmeticError:
        return False


def _text_of(form: str) -> Callable[[Any], str | None]:
    return lambda value: check_text(form, value) if isinstance(value, str) else None


_TEXTS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "number": ("a number", _is_number),
    "whole": ("a whole number", _WHOLE.fullmatch),
    "uuid": ("a UUID", _UUID.fullmatch),
    "uri": ("a URI", is_uri),
    "url": ("a URL", is_url),
}
_FORMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "decimal": _decimal,
    "character": _character,
    "number": _number,
    "whole": _whole,
    **{form: _text_of(form) for form in ("uuid", "uri", "url")},
    **dict.fromkeys(_DAYS, times.day),
    **dict.fromkeys(_TIMES, times.time),
    **dict.fromkeys(INSTANTS, times.instant),
    **dict.fromkeys(LOCALS, times.local),
}
