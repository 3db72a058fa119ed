"""The canonical text of an Avro definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitops.compatibility.avro.depth import deep_enough
from gitops.compatibility.avro.json_text import check_end, read_value
from gitops.repository.formatting.avro_order import name_of, put_in_order
from gitops.repository.formatting.avro_tree import Container, Item, Value, read_tree

WIDTH: Final = 100
_STEP: Final = "  "


def format_avro(text: str, *, ordered: bool = True) -> str:
    """The definition laid out; `ordered`: known members of types and fields in Avro's usual order.

    A value that fits stands on one line; each field of a record begins a line. Raises
    JsonTextError for what is no JSON, and RecursionError for what nests too deep.
    """
    with deep_enough(text):
        _, end = read_value(text)
        check_end(text, end)
        root = read_tree(text[:end])
        if ordered:
            put_in_order(root.value)
        root.above = _without_blank(root.above)
        return "".join(f"{line}\n" for line in _Printer().item(root, "", last=True))


class _Printer:
    """Lines of a tree; what fits on one line is found once for each container."""

    def __init__(self) -> None:
        self._flat: dict[int, str | None] = {}

    def item(self, item: Item, indent: str, *, last: bool) -> Iterator[str]:
        yield from _notes(item.above, indent)
        lines = self._value(item, indent, "" if last else ",")
        if item.beside:
            lines[-1] += f" {item.beside}"
        yield from lines

    def _value(self, item: Item, indent: str, comma: str) -> list[str]:
        start = indent + (f"{item.key}: " if item.key else "")
        flat = self._flat_item(item)
        if isinstance(item.value, str):
            return [f"{start}{item.value}{comma}"]
        if flat is not None and len(start) + len(flat) + len(comma) <= WIDTH:
            return [f"{start}{flat}{comma}"]
        inner = item.value
        lines = [start + inner.opening]
        for index, each in enumerate(inner.items):
            each.above = each.above if index else _without_blank(each.above)
            is_last = index + 1 == len(inner.items)
            lines += self.item(each, indent + _STEP, last=is_last)
        lines += _notes(_trimmed(inner), indent + _STEP)
        return [*lines, f"{indent}{inner.closing}{comma}"]

    def _flat_item(self, item: Item) -> str | None:
        return None if _are_fields(item) else self._on_one_line(item.value)

    def _on_one_line(self, value: Value) -> str | None:
        """The value without a line break, None where it cannot or may not be so."""
        if isinstance(value, str):
            return value
        if id(value) not in self._flat:
            self._flat[id(value)] = self._joined(value)
        return self._flat[id(value)]

    def _joined(self, value: Container) -> str | None:
        if any(value.tail):
            return None
        parts = []
        for item in value.items:
            text = self._flat_item(item)
            if text is None or any(item.above) or item.beside:
                return None
            parts.append(f"{item.key}: {text}" if item.key else text)
        whole = f"{value.opening}{', '.join(parts)}{value.closing}"
        return whole if len(whole) <= WIDTH else None


def _are_fields(item: Item) -> bool:
    """Whether these are the fields of a record, each of which begins a line."""
    value = item.value
    return (
        isinstance(value, Container)
        and value.opening == "["
        and bool(value.items)
        and bool(item.key)
        and name_of(item) == "fields"
    )


def _notes(notes: list[str], indent: str) -> Iterator[str]:
    """Comments, and blank lines where they are not the second in a row."""
    before = ""
    for index, note in enumerate(notes):
        if note:
            yield f"{indent}{note}"
        elif not index or before:
            yield ""
        before = note


def _without_blank(notes: list[str]) -> list[str]:
    return notes[1:] if notes and not notes[0] else notes


def _trimmed(value: Container) -> list[str]:
    """The comments before the end, without a blank line at either side that nothing follows."""
    notes = list(value.tail)
    while notes and not notes[-1]:
        notes.pop()
    return notes if value.items else _without_blank(notes)
