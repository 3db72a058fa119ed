"""Enums: messages carry the number of a value, and readers look up its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gitops.compatibility.protobuf_native.matching import alike
from gitops.compatibility.protobuf_native.schema import Enum, EnumValue, pointer, short_name
from gitops.compatibility.review.remark import Remark


def remarks(old: Enum, new: Enum, path: str, *, forward: bool) -> tuple[Remark, ...]:
    """What became of each value; and new ones, where consumers of a closed enum read them."""
    return tuple(_Enums(old, new, path).remarks(forward=forward))


@dataclass(slots=True)
class _Enums:
    old: Enum
    new: Enum
    path: str

    def remarks(self, *, forward: bool) -> Iterator[Remark]:
        later, earlier = self.new.numbers, self.old.numbers
        kept = {number for name, number in earlier.items() if later.get(name) == number}
        there: dict[int, list[str]] = {}
        for value in self.new.values:
            there.setdefault(value.number, []).append(value.name)
        for value in self.old.values:
            now, names = later.get(value.name), there.get(value.number, [])
            if now is not None and now != value.number:
                yield self._renumbered(value, now, names)
            elif not names:
                yield self._removed(value)
            elif value.number not in kept:  # else it was another name of a value that stays
                yield self._other_name(value, names[0], known=names[0] in earlier)
        if forward and self.old.closed:
            yield from self._added()

    def _removed(self, value: EnumValue) -> Remark:
        reserved = self.new.reserved.has(value.number)
        return self._remark(
            "PROTO-W009",
            f"{self._name} loses '{value.name}' = {value.number}: consumers with the new schema "
            f"{self._unknown()}",
            value,
            None,
            "" if reserved else f'add `reserved {value.number};` and `reserved "{value.name}";`',
        )

    def _renumbered(self, value: EnumValue, now: int, names: list[str]) -> Remark:
        what = f"read the old number as '{names[0]}'" if names else self._unknown()
        return self._remark(
            "PROTO-W009",
            f"'{value.name}' of {self._name} changes from {value.number} to {now}: "
            f"consumers with the new schema {what}",
            value,
            value.name,
            f"keep the number {value.number}",
        )

    def _other_name(self, value: EnumValue, name: str, *, known: bool) -> Remark:
        if known or not alike(value.name, name):
            return self._remark(
                "PROTO-W009",
                f"{value.number} of {self._name} means '{name}' instead of '{value.name}': "
                "consumers with the new schema read one as the other",
                value,
                name,
                f"give '{name}' a number that was never used",
            )
        return self._remark(
            "PROTO-W011",
            f"'{value.name}' of {self._name} is called '{name}' now: messages are read as before, "
            "JSON and generated code are not",
            value,
            name,
            "",
        )

    def _added(self) -> Iterator[Remark]:
        known = {value.number for value in self.old.values}
        for value in self.new.values:
            if value.number not in known:
                yield self._remark(
                    "PROTO-W009",
                    f"{self._name} gets '{value.name}' = {value.number}: consumers with the old "
                    "schema, where the enum is closed, take the field for unset",
                    None,
                    value.name,
                    "upgrade every consumer before a producer writes it",
                )

    @property
    def _name(self) -> str:
        return short_name(self.new.full_name)

    def _unknown(self) -> str:
        if self.new.closed:
            return "take the field for unset, since the enum is closed"
        return "get a number without a name"

    def _remark(
        self, rule: str, message: str, old: EnumValue | None, new: str | None, hint: str
    ) -> Remark:
        return Remark(
            rule=rule,
            message=message,
            path=self.path,
            pointer=pointer(self.new.full_name, new),
            old_pointer=pointer(self.old.full_name, old.name if old else None),
            hint=hint,
        )
