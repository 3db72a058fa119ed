"""Changes that Avro for Java reads and the clients of other languages do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.schemas.client_profiles import CLIENT_PROFILES, Cause, Decoding, Misreading
from gitops.schemas.row import Remark

_RESOLVING: Final = tuple(
    profile
    for profile in CLIENT_PROFILES.values()
    if profile.decoding in (Decoding.FASTAVRO, Decoding.FULL_NAMES)
)
"""Libraries that resolve two schemas otherwise than Java. Those that decode with their own schema
alone differ after any change of the layout, of which nobody needs to be warned each time."""

_HINTS: Final = {
    Cause.NAME: "keep the name, or give the new one an alias",
    Cause.UNION: "keep the order of the branches, and add new ones at the end",
    Cause.ALIAS: "keep the names of the record and of the field",
}
"""Symbols, logical types and bytes as text are left out: rules about them are for all languages. A
default that is returned as its JSON is told of declared clients alone: it harms few readers."""


Misreadings = Callable[[Decoding, StoredSchema, StoredSchema], tuple[Misreading, ...]]
"""Asked with a writer and a reader."""


def client_remarks(
    misreadings: Misreadings, old: StoredSchema, new: StoredSchema, *, forward: bool
) -> Iterator[Remark]:
    """What clients of unknown languages may suffer, by place; `forward` as for `avro_changes`."""
    reads_old = _by_path(misreadings, old, new)
    reads_new = _by_path(misreadings, new, old) if forward else {}
    for path, same in reads_old.items():
        who = "either" if reads_new.pop(path, None) else "the new"
        first = same[0][1]
        yield _remark(path, who, same, first.reader_pointer, first.writer_pointer)
    for path, same in reads_new.items():
        first = same[0][1]
        yield _remark(path, "the old", same, first.writer_pointer, first.reader_pointer)


def _by_path(
    misreadings: Misreadings, writer: StoredSchema, reader: StoredSchema
) -> dict[str, list[tuple[str, Misreading]]]:
    grouped: dict[str, list[tuple[str, Misreading]]] = {}
    for profile in _RESOLVING:
        for misreading in misreadings(profile.decoding, writer, reader):
            if misreading.cause in _HINTS:
                grouped.setdefault(misreading.path, []).append((profile.library, misreading))
    return grouped


def _remark(
    path: str, who: str, same: Sequence[tuple[str, Misreading]], pointer: str, old_pointer: str
) -> Remark:
    by_library: dict[str, list[Misreading]] = {}
    for library, misreading in same:
        by_library.setdefault(library, []).append(misreading)
    clauses = [
        f"{library} {'may read wrong values' if any(m.is_silent for m in some) else 'fails'}: "
        f"{'; '.join(dict.fromkeys(m.message for m in some))}"
        for library, some in by_library.items()
    ]
    return Remark(
        rule="AVRO-W010",
        message=f"Java reads these messages with {who} schema, but {'. '.join(clauses)}",
        path=path,
        pointer=pointer,
        old_pointer=old_pointer,
        hint=_HINTS[same[0][1].cause],
    )
