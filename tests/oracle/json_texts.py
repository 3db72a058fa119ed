"""JSON as people and programs write it: escapes, comments, members twice, and slips."""

from __future__ import annotations

import json
import re

from tests.oracle.odd_values import NUMBER_WORDS, ODD_TEXTS, Json
from tests.oracle.random_source import Chance

_HEADS = (
    *(" ", "\n", "/* c */", "// c\n", "\ufeff", "# c\n", "\u00a0", "/**/ ", "//\r", "\f"),
    ")]}'\n",
)
_TAILS = (
    *(
        " ",
        "\n",
        "/* c */",
        "// c",
        "x",
        "}",
        ",",
        "null",
        "\u0000",
        "\u00a0",
        " {}",
        "/",
        "\ufeff",
    ),
    *("\u001f", "\u000b", "\u0085", "#"),
)
_GAPS = (
    *("", "", "", " ", "\n", "\t", "\r\n", "/* , */", "// x\n", "/*\n*/", " # c\n", "\u00a0"),
    "\f",
)
_SLIPS = (
    *("", ",", '"', "}", "]", "{", "[", "\t", "0", ":", "'", "\\", "\u0000", "/", "\ud800"),
    "\u007f",
)
_DEEP = (10, 490, 498, 499, 500, 990, 996, 997, 998, 999, 1000, 1001)


class JsonTexts:
    """Writes values; `odd` from 0 (plain) to 1 says how strange."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.lenient = False
        """Also what only Gson takes: single quotes, bare names, `=` and `;`."""

    def written(self, value: Json, odd: float, *, lenient: bool = False) -> str:
        """The text of a value, in one of many ways."""
        chance, self.lenient = self.chance, lenient
        if chance.maybe(odd * 0.4):
            text = self._value(value, odd * 0.15)
        else:
            indent = chance.choice((None, None, None, 1))
            text = json.dumps(value, ensure_ascii=chance.maybe(0.5), indent=indent)
        if chance.maybe(odd * 0.15):
            text = chance.choice(_HEADS) + text
        if chance.maybe(odd * 0.15):
            text += chance.choice(_TAILS)
        return self.slipped(text) if chance.maybe(odd * 0.15) else text

    def slipped(self, text: str) -> str:
        """The text with one character wrong, cut off, or a piece of it twice."""
        chance = self.chance
        at = chance.randrange(len(text) + 1)
        match chance.randrange(8):
            case 0:
                return text[:at]
            case 1:
                end = min(len(text), at + chance.randrange(1, 20))
                return text[:end] + text[at:]
            case 2:
                return text[:at] + text[at + chance.randrange(1, 20) :]
            case 3:
                return text[:at] + chance.choice(ODD_TEXTS) + text[at:]
            case _:
                return text[:at] + chance.choice(_SLIPS) + text[at + chance.randrange(2) :]

    def deep(self, value: Json) -> str:
        """The value with something in or around it that nests, or is as long, as an edge allows."""
        chance, text = self.chance, json.dumps(value)
        edge = self._at_an_edge()
        match chance.randrange(4):
            case 0:
                levels = chance.choice(_DEEP)
                kind = chance.choice(('{"type":"array","items":', '{"type": "map", "values": '))
                return kind * levels + text + "}" * levels
            case 1:
                places = [found.end() for found in re.finditer(r'"(type|default|items)": ', text)]
                if places:
                    at = chance.choice(places)
                    end = re.compile(r"[^,}\]]*").match(text, at)
                    return text[:at] + edge + text[end.end() if end else at :]
                return edge
            case 2 if isinstance(value, dict) and value:
                # Said twice: what comes first is overwritten, and has been read all the same.
                return f'{{"{chance.choice(list(value))}":{edge},{text[1:]}'
            case _ if isinstance(value, dict):
                return f'{{"deep":{edge}{"," if value else ""}{text[1:]}'
            case _:
                return edge

    def _at_an_edge(self) -> str:
        chance = self.chance
        levels = chance.choice(_DEEP)
        inner = chance.choice(("", "1", '"x"'))
        return chance.choice(
            (
                "[" * levels + inner + "]" * levels,
                '{"type":"array","items":' * levels + '"int"' + "}" * levels,
                "9" * chance.choice((999, 1000, 1001)),
                "1." + "0" * chance.choice((998, 999, 1000, 1001)),
                '{"%s":1}' % ("k" * chance.choice((49_999, 50_000, 50_001))),
            )
        )

    def _value(self, value: Json, odd: float) -> str:
        match value:
            case dict():
                return self._members(value, odd)
            case list():
                return "[" + self._joined([self._value(one, odd) for one in value], odd) + "]"
            case str():
                return self._string(value, odd)
            case bool() | None:
                word = json.dumps(value)
                return word.upper() if self.chance.maybe(odd) else word
            case _:
                return self.chance.choice(NUMBER_WORDS) if self.chance.maybe(odd) else str(value)

    def _members(self, value: dict[str, Json], odd: float) -> str:
        chance = self.chance
        pairs = list(value.items())
        if chance.maybe(odd):
            chance.shuffle(pairs)
        if pairs and chance.maybe(odd):
            name = chance.choice(pairs)[0]
            other: Json = chance.choice((chance.choice(pairs)[1], None, "x", 1, {}, []))
            pairs.insert(chance.randrange(len(pairs) + 1), (name, other))
        return "{" + self._joined([self._member(*pair, odd) for pair in pairs], odd) + "}"

    def _member(self, name: str, value: Json, odd: float) -> str:
        colon = self.chance.choice((":", "=", "=>")) if self._slack(odd) else ":"
        shown = name if self._slack(odd) else self._string(str(name), odd)
        return f"{shown}{self._gap(odd)}{colon}{self._gap(odd)}{self._value(value, odd)}"

    def _joined(self, parts: list[str], odd: float) -> str:
        comma = ";" if self._slack(odd) else ","
        gap = self._gap(odd)
        text = f"{gap}{comma}{self._gap(odd)}".join(parts)
        return text + "," if self.chance.maybe(odd / 4) else text

    def _string(self, text: str, odd: float) -> str:
        chance = self.chance
        if self._slack(odd):
            return chance.choice((f"'{text}'", text))
        if not chance.maybe(odd):
            return json.dumps(text, ensure_ascii=chance.maybe(0.5))
        shown = "".join(f"\\u{ord(c):04x}" if ord(c) < 65536 else c for c in text)
        return f'"{chance.choice((shown, shown.upper(), text))}"'

    def _gap(self, odd: float) -> str:
        return self.chance.choice(_GAPS) if self.chance.maybe(odd * 2) else ""

    def _slack(self, odd: float) -> bool:
        return self.lenient and self.chance.maybe(odd)
