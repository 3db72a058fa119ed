"""Names, default values and numbers that stand in descriptors, good ones and odd ones."""

from __future__ import annotations

from typing import Final

TEXTS: Final = (
    *(b"A", b"B", b"E", b"p", b"q", b"A.B", b".A", b".p.A", b"p.A", b"q.A", b"p.q.A", b".p.q.A.B"),
    *(
        b"",
        b".",
        b"..",
        b"1a",
        b"a-b",
        b"\xc3\xa9",
        b"\xff",
        b"\xed\xa0\x80",
        b"p..q",
        b"p.",
        b".p",
    ),
    *(
        b"a.proto",
        b"b.proto",
        b"nope",
        b"true",
        b"1",
        b"-1",
        b"08",
        b"0x1F",
        b"1.5",
        b"inf",
        b"nan",
    ),
    *(
        b"4294967295",
        b"4294967296",
        b"9223372036854775808",
        b"18446744073709551616",
        b"-2147483649",
    ),
    *(b"1e5f", b" 1 ", b".", b"0x1p3", b"--1", b"+1", b"0x-1", b"0o7", b"Infinity", b"1_0", b"a\\"),
    *(b"\\x", b"\\777", b"\\u12g4", b"\\ud800", b"\\U0010FFFF", b"\\U00110000", b"\\q", b"\\'"),
)
DEFAULTS: Final = {
    **dict.fromkeys((1, 2), (b"1.5", b"inf", b"-inf", b"nan", b"1e5f", b" 1 ", b"0x1p3", b".5")),
    **dict.fromkeys((3, 5, 15, 16, 17, 18), (b"1", b"-1", b"0x1F", b"017", b"-2147483648")),
    **dict.fromkeys((4, 6, 7, 13), (b"1", b"0x1F", b"4294967295", b"017")),
    12: (b"a", b"\\777", b"\\x1f", b"\\U0010FFFF", b"\\'", b"\xc3\xa9"),
}
"""Default values that a type takes, by its number; other types take any text."""

NUMBERS: Final = (
    *range(21),
    *(-1, 100, 998, 999, 1000, 1001, 19000, 2**29 - 1, 2**29, 2**31 - 1, 2**31, 2**32 - 1),
    *(2**32, 2**32 + 1, 2**63, 2**64 - 1),
)
