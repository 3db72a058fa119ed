"""Where a walk over two PROTOBUF_NATIVE definitions is, and what it is asked about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gitops.compatibility.protobuf_native.rendering import join
from gitops.compatibility.protobuf_native.schema import Field, Message, pointer
from gitops.compatibility.review.remark import Remark

_VALUE: Final = 2
"""The number of the value in a map's entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A pair of messages; `forward`: consumers of the old one are to read the new one too.

    `path` leads to the messages. The pointers are set inside the entries of a map, which have no
    place of their own: they are those of the map.
    """

    old: Message
    new: Message
    forward: bool
    path: str = ""
    pointer: str = ""
    old_pointer: str = ""

    def remark(
        self, rule: str, message: str, *, old: Field | None, new: Field | None, hint: str
    ) -> Remark:
        """About a field, of which one side may be missing: its message stands for it."""
        field = new or old
        return Remark(
            rule=rule,
            message=message,
            path=self.path_of(field) if field else self.path,
            pointer=self.pointer or (new.pointer if new else pointer(self.new.full_name)),
            old_pointer=self.old_pointer or (old.pointer if old else pointer(self.old.full_name)),
            hint=hint,
        )

    def path_of(self, field: Field) -> str:
        """`items[].sku`; `labels{}` for the value of a map, `labels.key` for its key."""
        if self.pointer and field.number == _VALUE:
            return f"{self.path}{{}}"
        return join(self.path, field.name)

    def into(self, old: Field, new: Field, messages: tuple[Message, Message]) -> Change:
        """Down into the messages of a field."""
        path, inner = self.path_of(new), replace(self, old=messages[0], new=messages[1])
        if old.entry and new.entry:
            return replace(inner, path=path, pointer=new.pointer, old_pointer=old.pointer)
        items = "[]" if new.repeated else ""
        return replace(inner, path=f"{path}{items}", pointer="", old_pointer="")
