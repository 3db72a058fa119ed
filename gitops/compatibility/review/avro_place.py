"""Where a walk over two definitions is, and what it is asked about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum as PythonEnum

from gitops.compatibility.avro.aliases import Aliases
from gitops.compatibility.avro.places import Places
from gitops.compatibility.avro.schema import Enum, Field, Fixed, Record, Schema


class Wire(PythonEnum):
    """How messages are laid out: by position in Avro's binary form, by name in JSON."""

    AVRO = "AVRO"
    JSON = "JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`path` is dotted field names; `forward`: old readers are to read new messages too.

    The pointers are those of what is looked at, as far as it stands there and is not only named.
    `aliases` are those by which the new schema's readers find what messages of the old one carry.
    """

    wire: Wire
    forward: bool
    old: Places
    new: Places
    aliases: Aliases
    path: str = ""
    pointer: str = ""
    old_pointer: str = ""

    def field_path(self, name: str) -> str:
        """The path of a field of the record that is looked at."""
        return f"{self.path}.{name}" if self.path else name

    def into(self, sign: str, member: str) -> Change:
        """Down into items (`[]`) or values (`{}`), which stand in `member` on both sides."""
        return replace(
            self,
            path=self.path + sign,
            pointer=f"{self.pointer}/{member}",
            old_pointer=f"{self.old_pointer}/{member}",
        )

    def into_old_branch(self, index: int) -> Change:
        """Down into a branch of the old union."""
        return replace(self, old_pointer=f"{self.old_pointer}/{index}")

    def into_new_branch(self, index: int) -> Change:
        """Down into a branch of the new union."""
        return replace(self, pointer=f"{self.pointer}/{index}")

    def into_field(self, old: tuple[Record, Field], new: tuple[Record, Field]) -> Change:
        """Down into the type of a field, given with its record on each side."""
        return replace(
            self,
            path=self.field_path(new[1].name),
            pointer=f"{self.new.field(*new)}/type",
            old_pointer=f"{self.old.field(*old)}/type",
        )

    def at_definitions(self, old: Schema, new: Schema) -> Change:
        """Where named types are defined, which may be elsewhere."""
        named = (Record, Enum, Fixed)
        return replace(
            self,
            pointer=self.new.of(new) if isinstance(new, named) else self.pointer,
            old_pointer=self.old.of(old) if isinstance(old, named) else self.old_pointer,
        )
