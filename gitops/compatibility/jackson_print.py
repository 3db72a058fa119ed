"""JSON as Jackson prints what it has read, which is how Pulsar 4.0.7 shows half a KEY_VALUE."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any, Final

Json = Any

_PLAIN: Final = range(-3, 7)
"""Powers of ten that Java's Double.toString writes without an exponent."""

_ESCAPED: Final = re.compile(r"\\u00[0-9a-f]{2}")


def reprinted(text: str) -> str:
    """The compact text of the same value; raises ValueError, RecursionError.

    Of several members of one name the last counts; a number with a point or an exponent has become
    a Java double.
    """
    return _write(json.loads(text))


def _write(value: Json) -> str:
    match value:
        case dict():
            members = (f"{_write(name)}:{_write(one)}" for name, one in value.items())
            return "{" + ",".join(members) + "}"
        case list():
            return "[" + ",".join(map(_write, value)) + "]"
        case str():
            text = json.dumps(value, ensure_ascii=False)
            return _ESCAPED.sub(lambda found: r"\u" + found[0][2:].upper(), text)
        case float():
            return double_text(value)
        case _:
            return json.dumps(value)


def double_text(number: float) -> str:
    """What Java's Double.toString gives, in quotes where JSON has no such number (Java 19)."""
    if not math.isfinite(number):
        return json.dumps(str(number).replace("inf", "Infinity").replace("nan", "NaN"))
    if number == 0:
        return str(number)
    sign, digits, exponent = Decimal(_shortest(number)).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0")
    power = len(digits) + int(exponent) - 1
    return "-" * sign + (_plain(shown, power) if power in _PLAIN else _scientific(shown, power))


def _shortest(number: float) -> str:
    """The shortest decimal that is read as `number`, of two digits the nearest of them."""
    two = f"{number:.1e}"
    return two if float(two) == number else repr(number)


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    padded = digits.ljust(power + 1, "0")
    return f"{padded[: power + 1]}.{padded[power + 1 :] or '0'}"


def _scientific(digits: str, power: int) -> str:
    return f"{digits[0]}.{digits[1:] or '0'}E{power}"
