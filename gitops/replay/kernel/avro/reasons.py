"""Why bytes are not what the writer's schema says, and how much of it is taken.

Where Avro for Java 1.11.4 is laxer (bytes left over, a boolean of any byte, the upper bits of a
varint's last byte, a block's size that nobody looks at) this is strict, as Avro's specification is:
data that only happens to be read is data of another schema.
"""

from __future__ import annotations

from typing import Final

ENDS: Final = "the message ends too early"
LEFT: Final = "bytes are left over"
BOOLEAN: Final = "a boolean that is neither 0 nor 1"
INT: Final = "an int of more than 32 bits"
LONG: Final = "a long of more than 64 bits"
LENGTH: Final = "a negative length"
BRANCH: Final = "a branch that the writer's union does not have"
SYMBOL: Final = "a symbol that the writer's enum does not have"
COUNT: Final = "a count of more items than the message has bytes for"
BLOCK: Final = "a block whose size is not that of its items"
EMPTY: Final = "more than 1,000 items that take no bytes"
DEEP: Final = "nested deeper than 1,000 levels"

MOST_EMPTY: Final = 1_000
"""Items of no bytes in a message: a few bytes could ask for any number of them."""

DEEPEST: Final = 1_000
"""Records, unions, arrays and maps around a value. Only a recursive schema can ask for more, as
the broker takes definitions of that depth; Java's stack ends at some thousand."""


ROUNDED: Final = "the reader's type has fewer digits"
DEFAULT_SYMBOL: Final = "the reader's enum has its default for the symbol"
NO_TEXT: Final = "bytes that are not UTF-8 become U+FFFD"
