"""Where a walk over two definitions is, and what it is asked about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from gitops.compatibility.avro.schema import Field


class Wire(Enum):
    """How messages are laid out: by position in Avro's binary form, by name in JSON."""

    AVRO = "AVRO"
    JSON = "JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`path` is dotted field names; `forward`: old readers are to read new messages too.

    The pointers are those of the nearest field: a type that is only named has no place of its own.
    """

    wire: Wire
    forward: bool
    path: str = ""
    pointer: str = ""
    old_pointer: str = ""

    def into(self, step: str) -> Change:
        """One step further down: a field's name, `[]` or `{}`."""
        if step in ("[]", "{}") or not self.path:
            return replace(self, path=self.path + step)
        return replace(self, path=f"{self.path}.{step}")

    def into_field(self, old: Field, new: Field) -> Change:
        """Down into the type of a field."""
        inner = self.into(new.name)
        return replace(inner, pointer=f"{new.pointer}/type", old_pointer=f"{old.pointer}/type")
