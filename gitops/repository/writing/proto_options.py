"""Options of a descriptor, and literals, as `.proto` text."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor
    from google.protobuf.message import Message

_MADE_BY_PROTOC: Final = "map_entry"
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def options(given: Message, prefix: str = "") -> Iterator[str]:
    """`name = value` for each option that is set; raises KeyError for an enum's unknown number."""
    for field, value in given.ListFields():
        if field.name == _MADE_BY_PROTOC:
            continue
        name = prefix + (f"({field.full_name})" if field.is_extension else field.name)
        if field.message_type and not field.is_extension and not _is_list(value):
            yield from options(value, f"{name}.")
            continue
        for one in value if _is_list(value) else [value]:
            yield f"{name} = {_value(field, one)}"


def literal(text: str) -> str:
    """A text in quotes."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character < " " or character == "\x7f":
        return _ESCAPES.get(character, f"\\{ord(character):03o}")
    return _ESCAPES.get(character, character)


def _value(field: FieldDescriptor, value: Any) -> str:  # noqa: ANN401 - of any type
    if field.message_type:
        from google.protobuf.text_format import MessageToString

        return f"{{ {MessageToString(value, as_one_line=True, as_utf8=True)} }}"
    if field.enum_type:
        return field.enum_type.values_by_number[value].name
    if isinstance(value, bytes):
        from google.protobuf.text_encoding import CEscape

        return f'"{CEscape(value, as_utf8=False)}"'
    if isinstance(value, bool):
        return str(value).lower()
    return literal(value) if isinstance(value, str) else repr(value)


def _is_list(value: object) -> bool:
    return isinstance(value, MutableSequence)
