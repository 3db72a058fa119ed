"""Manifests and definitions as nobody would lay them out, out of a Random that hypothesis draws."""

from __future__ import annotations

from random import Random
from typing import Final

_KEYS: Final = (
    "kind", "apiVersion", "topic", "schema", "type", "definition", "policies", "samples", "format",
    "path", "a", '"q k"', "'s'",
)  # fmt: skip
_PLAIN: Final = (
    "word", "two words", "a-b", "http://x:1/y", "AVRO", "1.0", "-0", "0x1F", "1e3", "on", "null",
    "~", "1_000", "+1", '"x # y"', "'it''s'", '"1.0"',
)  # fmt: skip
_COMMENTS: Final = ("# c1", "#tight", "# a: b", "#   spaced  ", "# - {x: [")
_FAR: Final = " " * 40


class YamlLayouts:
    """Random manifests: any nesting, comments anywhere, block and flow style, long texts."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def text(self) -> str:
        """A whole manifest."""
        start = self._own_lines(0) + self._one("", "", "", "---\n", "%YAML 1.2\n--- # c\n")
        keys = self._random.sample(_KEYS, self._random.randint(1, 5))
        body = "".join(f"{self._own_lines(0)}{key}:{self._value(0, 3)}" for key in keys)
        text = start + body + self._own_lines(0)
        text = text.rstrip("\n") if self._chance(0.2) else text
        return text.replace("\n", "\r\n") if self._chance(0.2) else text

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _spaces(self, least: int, most: int) -> str:
        return " " * self._random.randint(least, most)

    def _own_lines(self, indent: int) -> str:
        lines = ""
        for _ in range(self._random.choice((0, 0, 0, 0, 1, 1, 2))):
            column = self._random.choice((indent, indent, indent + 2, indent + 1, 0))
            lines += self._one("", "", "\n", "\n\n") + " " * column + self._one(*_COMMENTS) + "\n"
        return lines + self._one("", "", "", "\n", "\n\n")

    def _line_end(self) -> str:
        comment = self._one(*_COMMENTS)
        return self._one("", "", "", "", f" {comment}", f"    {comment}", "  ") + "\n"

    def _block_scalar(self, indent: int) -> str:
        inner = " " * (indent + self._random.randint(1, 4))
        choices = (f"{inner}line", f"{inner}  deep # no", "", f"{inner}x  ")
        lines = [f"{inner}first", *self._random.choices(choices, k=self._random.randint(0, 4))]
        return (
            self._one("|", ">", "|-", "|+", ">-", ">+")
            + self._one("", " # head")
            + "\n"
            + ("\n".join(lines))
        )

    def _scalar(self, indent: int, *, flow: bool) -> str:
        deeper = " " * (indent + self._random.randint(1, 4))
        kind = self._random.randrange(8)
        if kind == 0 and not flow:
            return self._block_scalar(indent)
        if kind == 1 and not flow:
            return f"plain word\n{deeper}more"
        if kind == 2:
            return self._one(f'"esc \\u00e9 \\\n{deeper}next"', f'"two \n\n{deeper}lines"')
        return self._one(*_PLAIN)

    def _gap(self) -> str:
        if self._chance(0.9):
            return self._one("", " ", "  ")
        comment = self._one(*_COMMENTS)
        return self._one(f"\n{_FAR}", f"  {comment}\n{_FAR}", f"\n{_FAR}{comment}\n{_FAR}")

    def _flow(self, depth: int) -> str:
        if depth <= 0 or self._chance(0.3):
            return self._one("{}", "[]") if self._chance(0.2) else self._scalar(30, flow=True)
        if self._chance(0.5):
            keys = self._random.sample(_KEYS, self._random.randint(0, 3))
            members = [
                self._gap() + key + (f": {self._flow(depth - 1)}" if self._chance(0.9) else "")
                for key in keys
            ]
            return "{" + ",".join(member + self._gap() for member in members) + self._gap() + "}"
        items = [
            self._gap() + (self._flow(depth - 1) if self._chance(0.9) else "k: v") + self._gap()
            for _ in range(self._random.randint(0, 3))
        ]
        return "[" + self._gap() + ",".join(items) + "]"

    def _block(self, indent: int, depth: int, *, begun: bool = False) -> str:
        """A mapping or a sequence; `begun`: its first line is indented already."""
        text = ""
        of_keys = self._chance(0.65)
        starts = (
            self._random.sample(_KEYS, self._random.randint(1, 4))
            if of_keys
            else ["-"] * self._random.randint(1, 3)
        )
        for index, start in enumerate(starts):
            if index or not begun:
                text += self._own_lines(indent) + " " * indent
            if not of_keys:
                text += start + self._item(indent, depth)
            elif self._chance(0.03):
                text += f"? {start}\n{' ' * indent}:{self._value(indent, depth)}"
            else:
                text += f"{start}:{self._value(indent, depth)}"
        return text

    def _value(self, indent: int, depth: int) -> str:
        kind = self._random.randrange(10)
        if depth <= 0 or kind < 4:
            return f"{self._spaces(1, 3)}{self._scalar(indent, flow=False)}\n"
        if kind < 6:
            return self._spaces(1, 3) + self._flow(2) + self._line_end()
        if kind == 6:
            return self._line_end()
        if kind == 7:
            text = self._line_end()
            for _ in range(self._random.randint(1, 3)):
                text += self._own_lines(indent) + " " * indent + "-" + self._item(indent, depth - 1)
            return text
        return self._line_end() + self._block(indent + self._random.randint(1, 4), depth - 1)

    def _item(self, indent: int, depth: int) -> str:
        kind = self._random.randrange(10)
        if depth <= 0 or kind < 4:
            return f"{self._spaces(1, 3)}{self._scalar(indent, flow=False)}\n"
        if kind < 6:
            return self._spaces(1, 3) + self._flow(2) + self._line_end()
        if kind < 7:
            return self._line_end() + self._block(indent + self._random.randint(1, 3), depth - 1)
        gap = self._random.randint(1, 3)
        return " " * gap + self._block(indent + 1 + gap, depth - 1, begun=True)


_NAMES: Final = (
    '"type"', '"name"', '"fields"', '"doc"', '"items"', '"x"', '"\\u0074ype"', '"default"',
    '"a // b"', '"/* n"', '"logicalType"',
)  # fmt: skip
_WORDS: Final = (
    "1.0", "-0", "1e3", "123456789012345678901234567890", '"record"', '"s \\" q"', "true", "null",
    '"\\u00e9é"', f'"{"l" * 60}"',
)  # fmt: skip
_BETWEEN: Final = (" ", "\n", "\r\n", "\n\n", "\t", "/* c1 */", "// d1\n", "/* a\n  b  \r\n*/")


class JsonLayouts:
    """Random JSON with comments, twins of names among the members, odd white space."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def text(self) -> str:
        """A whole text."""
        depth = self._random.randint(0, 5)
        return self._gap() + self._value(depth) + self._random.choice(("", "\n", "\r\n"))

    def _gap(self) -> str:
        if self._random.random() < 0.7:
            return self._random.choice(("", " "))
        return "".join(self._random.choices(_BETWEEN, k=self._random.randint(0, 3)))

    def _value(self, depth: int) -> str:
        kind = self._random.randrange(10)
        if depth <= 0 or kind < 3:
            return self._random.choice(_WORDS)
        of_members = kind < 7
        items = []
        for _ in range(self._random.randint(0, 4)):
            name = f"{self._random.choice(_NAMES)}{self._gap()}:" if of_members else ""
            items.append(f"{self._gap()}{name}{self._gap()}{self._value(depth - 1)}{self._gap()}")
        opening, closing = "{}" if of_members else "[]"
        return f"{opening}{self._gap()}{','.join(items)}{self._gap()}{closing}"
