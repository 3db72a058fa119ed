"""Names, numbers and texts at the edges of what Java's JSON readers and Avro take."""

from __future__ import annotations

from typing import Any, Final

Json = Any

ODD_NAMES: Final = (
    *("1a", "a-b", "", "é", "a.", ".a", "\uff41", "\U0001d49c", "_", "a b", "a\u0301", "\u00aa"),
    *("int", "null", "record", "enum", "x.int", "a$b", "A\u0000", "\u0660a", "a\u0660", "\u2160"),
    *("a\ud800", "\udc00", "名前", "Ünï", "a\u200d", "\u00b2", "x\u00b2", "_1", "$", "a.b.c"),
)
ODD_SPACES: Final = (
    *("n", "m", "", "n.o", "a-b", "1x", "a..", ".", " ", "é.ü", "n.", "int", None, 7),
)
ODD_NUMBERS: Final = (
    *(0, 1, -1, 127, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63),
    *(-(2**63), -(2**63) - 1, 2**64, 10**30, 0.0, -0.0, 1.0, 1.5, 0.1, 1e30, 1e-30, 3.4e38, 1e39),
    *(1e308, 5e-324, 16777217, 16777217.0),
)
ODD_TEXTS: Final = (
    *("", " ", "A", "a", "null", "true", "NaN", "Infinity", "-Infinity", "INF", "1", "1.5"),
    *("0x1p3", " 2d ", "1f", "1e400", "-1", "+1", "1_0", "0x10", "\u0661", "1.", ".5", "e5"),
    *("\u0100", "\U0001f600", "\ud83d", "\udc00\ud800", "\u0000", "\u2028", "é", "<&>", "'"),
    *("\\", "/", "//", "/*", "*/", "\t", "\u007f", "\ufeff", "\ufffd", "a" * 300, "\u00ff", '"'),
)
ODD_VALUES: Final[tuple[Json, ...]] = (
    *(None, True, False, [], {}, [1], ["A"], {"a": 1}, {"a": None}, [None], {"b": {}}, [[]]),
    *({"": ""}, {"type": "int"}, ["int"], [{}], {"a": {"b": [1, None]}}),
)
NUMBER_WORDS: Final = (
    *("1e3", "1E+2", "1e-2", "4e0", "40e-1", "-0", "0.10", "1.10", "00", "01", "+1", "1.", ".5"),
    *("1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "0x10", "1" * 400, "1" * 1001),
    *("9" * 19, "9223372036854775808", "2147483648", "1.0000000000000000001", "1e", "-", "1e5000"),
    *("0.1e1", "1.5e0", "123456789012345678901234567890.5", "4294967296", "1e10", "0e0"),
)
"""Numbers as somebody may write them, which a value cannot tell apart or cannot hold."""
