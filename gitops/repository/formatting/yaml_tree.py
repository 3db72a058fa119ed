"""YAML as a tree of its own words with their comments, so that nothing is read and written anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import yaml

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KEPT_APART: Final = frozenset({"StreamStart", "Directive", "DocumentStart"})


class UnformattableYamlError(ValueError):
    """The text holds something that has no canonical form, which no manifest needs."""


@dataclass(slots=True, kw_only=True)
class Leaf:
    """A scalar or an alias as it stands, its anchor in front, from `start` to `end`."""

    text: str
    start: int
    end: int

    @property
    def is_block(self) -> bool:
        """Whether it is a literal or folded text."""
        return self.header[-1:] in "|>" and bool(self.header)

    @property
    def keeps_end(self) -> bool:
        """Whether blank lines behind it are a part of what it says."""
        first_line = self.text.partition("\n")[0]
        return self.is_block and "+" in first_line.partition("#")[0]

    @property
    def header(self) -> str:
        """What stands before the indicators of a block scalar; empty for every other one."""
        anchor, blank, rest = self.text.partition(" ")
        if self.text[:1] in ("|", ">"):
            return self.text[0]
        is_block = anchor.startswith("&") and rest.lstrip()[:1] in ("|", ">")
        return f"{anchor}{blank}{rest.lstrip()[0]}" if is_block else ""


@dataclass(slots=True, kw_only=True, eq=False)
class Entry:
    """A key with its value, or an item of a sequence (`key` is None).

    `above` are comments on lines of their own, "" is a blank line; `beside` is one behind it.
    """

    start: int
    parent: Block
    key: str | None = None
    explicit: bool = False
    value: Leaf | Block | None = None
    above: list[str] = field(default_factory=list)
    beside: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class Block:
    """A mapping or a sequence; `owner` is the entry whose value it is.

    `flow` ones stand in brackets; `tail` are the comments behind the last entry.
    """

    is_mapping: bool
    flow: bool
    start: int
    column: int
    end: int = 0
    anchor: str = ""
    owner: Entry | None = None
    commented: bool = False
    entries: list[Entry] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Tree:
    """A text: its root mapping, all entries in the order of the text, the spans of all words.

    `start` is where the document begins behind its `---`, 0 where it has none. In a `bound` one
    entries cannot change places: an alias needs its anchor above it, and a text that keeps its
    end would take in the blank lines of another neighbour.
    """

    root: Block
    entries: list[Entry]
    words: list[tuple[int, int]]
    start: int
    bound: bool


def read_tree(text: str) -> Tree:
    """The tree of a text that is YAML, without comments; raises OddYamlError."""
    return _Reader(text).tree()


class _Reader:
    """Recursive descent over libyaml's tokens; manifests nest 64 deep at most."""

    def __init__(self, text: str) -> None:
        self._text = text
        tokens: list[Any] = list(yaml.scan(text, Loader=_LOADER))
        self._start = 0
        for token in tokens:
            if _kind(token) == "DocumentStart":
                self._start = token.end_mark.index
        self._tokens: list[tuple[str, int, int]] = [
            (_kind(token), token.start_mark.index, token.end_mark.index)
            for token in tokens
            if _kind(token) not in _KEPT_APART
        ]
        self._at = 0
        self._entries: list[Entry] = []

    def tree(self) -> Tree:
        words = [(start, end) for _, start, end in self._tokens if end > start]
        root = self._node(None)
        if not isinstance(root, Block) or not root.is_mapping or root.anchor or not root.entries:
            raise UnformattableYamlError
        if self._kind not in ("DocumentEnd", "StreamEnd"):
            raise UnformattableYamlError
        bound = any(kind in ("Anchor", "Alias") for kind, _, _ in self._tokens) or any(
            isinstance(entry.value, Leaf)
            and entry.value.keeps_end
            and not self._is_cut(entry.value)
            for entry in self._entries
        )
        return Tree(root=root, entries=self._entries, words=words, start=self._start, bound=bound)

    def _is_cut(self, leaf: Leaf) -> bool:
        """Whether it ends with the file, on a line without an end: then there is none to keep."""
        return leaf.end == len(self._text) and not self._text.endswith("\n")

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _offset(self) -> int:
        return self._tokens[self._at][1]

    def _take(self) -> int:
        """Pass over a token; answers where it ends."""
        self._at += 1
        return self._tokens[self._at - 1][2]

    def _node(self, owner: Entry | None) -> Leaf | Block | None:
        """The value that begins here, None where there is none."""
        start, anchor = self._offset, ""
        if self._kind == "Anchor":
            anchor = self._text[start : self._take()]
        match self._kind:
            case "Scalar" | "Alias":
                return self._leaf(start)
            case "BlockMappingStart":
                return self._block(owner, anchor, is_mapping=True, opened=True)
            case "BlockSequenceStart":
                return self._block(owner, anchor, is_mapping=False, opened=True)
            case "BlockEntry" if owner is not None and owner.key is not None:
                return self._block(owner, anchor, is_mapping=False, opened=False)
            case "FlowMappingStart" | "FlowSequenceStart" as kind:
                return self._flow(owner, anchor, is_mapping=kind == "FlowMappingStart")
        return Leaf(text=anchor, start=start, end=start + len(anchor)) if anchor else None

    def _leaf(self, start: int) -> Leaf:
        end = self._take()
        return Leaf(text=self._text[start:end], start=start, end=end)

    def _new(self, owner: Entry | None, anchor: str, *, is_mapping: bool, flow: bool) -> Block:
        start = self._offset
        column = start - (self._text.rfind("\n", 0, start) + 1)
        return Block(
            is_mapping=is_mapping, flow=flow, start=start, column=column, anchor=anchor, owner=owner
        )

    def _block(self, owner: Entry | None, anchor: str, *, is_mapping: bool, opened: bool) -> Block:
        block = self._new(owner, anchor, is_mapping=is_mapping, flow=False)
        if opened:
            self._take()
        while self._kind in (("Key",) if is_mapping else ("BlockEntry",)):
            entry = self._entry(block)
            if is_mapping:
                self._pair(entry)
            else:
                self._take()
                entry.value = self._node(entry)
        if opened:
            if self._kind != "BlockEnd":
                raise UnformattableYamlError
            self._take()
        block.end = self._offset
        return block

    def _flow(self, owner: Entry | None, anchor: str, *, is_mapping: bool) -> Block:
        block = self._new(owner, anchor, is_mapping=is_mapping, flow=True)
        self._take()
        while self._kind not in ("FlowMappingEnd", "FlowSequenceEnd"):
            if self._kind == "FlowEntry":
                self._take()
                continue
            entry = self._entry(block)
            if is_mapping:
                self._pair(entry)
            elif self._kind == "Key":
                entry.value = self._single_pair(entry)
            else:
                entry.value = self._node(entry)
        block.end = self._take()
        return block

    def _single_pair(self, owner: Entry) -> Block:
        """`[a: b]`: a mapping without brackets."""
        block = self._new(owner, "", is_mapping=True, flow=True)
        self._pair(self._entry(block))
        block.end = self._offset
        return block

    def _entry(self, block: Block) -> Entry:
        entry = Entry(start=self._offset, parent=block)
        block.entries.append(entry)
        self._entries.append(entry)
        return entry

    def _pair(self, entry: Entry) -> None:
        """`key: value`, each of which may be missing behind it; a key is one word on one line."""
        if self._kind == "Key":
            entry.explicit = self._take() > entry.start
        key = self._node(entry)
        if not isinstance(key, Leaf) or "\n" in key.text or key.is_block:
            raise UnformattableYamlError
        entry.key = key.text
        entry.explicit &= not entry.parent.flow
        if self._kind == "Value":
            self._take()
            entry.value = self._node(entry)


def _kind(token: object) -> str:
    return type(token).__name__.removesuffix("Token")
