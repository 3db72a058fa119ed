"""The root message of an envelope: the one thing that the broker compares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitops.schemas.protobuf_native.descriptors import DescriptorRules, File
from gitops.schemas.protobuf_native.envelope import read_envelope
from gitops.schemas.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError
from gitops.schemas.protobuf_native.linker import (
    Effort,
    Pool,
    Symbol,
    SymbolKind,
    link,
)
from gitops.schemas.protobuf_native.wire_format import read_files

_LONGEST_NAME: Final = 100
_DEEPEST_IMPORT: Final = 1_750
"""A broker runs out of stack on a longer chain of imports, the exact length is chance."""

_LONGEST_SEARCH: Final = 100_000_000
_PART: Final = re.compile(
    r"\\u[0-9a-fA-F]{4} | \\[^0-9a-zA-Z] | \\[1-9] | [^\\^$|?*+()\[{]", re.VERBOSE | re.DOTALL
)
"""A part of a Java pattern that stands for one character, or for a group that there is not."""

PULSAR_4_0: Final = DescriptorRules()
ANY_LINE: Final = DescriptorRules(message_set_fields=True, exact=True)
"""For what no broker is asked about: it reads all that any line reads."""
_NEVER: Final = "(?!)"
_ANY_CHARACTER: Final = "[^\n\r\x85\u2028\u2029]"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedRoot:
    """The root message, and the root file with all that it imports, imports first."""

    root: Symbol
    files: tuple[tuple[File, Pool], ...]


def root_message(data: bytes, rules: DescriptorRules = PULSAR_4_0) -> str:
    """The full name of the root message, as its descriptor has it (Pulsar 4.0.7).

    Raises InvalidEnvelopeError, or EndlessImportsError where the broker runs out of stack.
    """
    return link_envelope(data, rules).root.full_name


def link_envelope(data: bytes, rules: DescriptorRules = PULSAR_4_0) -> LinkedRoot:
    """The files of an envelope, linked as the broker links them (Pulsar 4.0.7).

    Raises InvalidEnvelopeError, or EndlessImportsError where the broker runs out of stack.
    A package is a regular expression to the broker; one that uses more of them than dots and
    escaped characters is refused here.
    """
    envelope = read_envelope(data, rules.jackson)
    files = {file.name: file for file in read_files(envelope.file_descriptor_set)}
    linked = _link_with_imports(envelope.root_file_descriptor_name, files, rules)
    name = envelope.root_message_type_name
    if name is None:
        raise InvalidEnvelopeError("the PROTOBUF_NATIVE envelope has no 'rootMessageTypeName'")
    pool = linked[envelope.root_file_descriptor_name]
    root = _exact_root(pool, name) if rules.exact else _find(pool, _path(name, pool.package))
    if root is None:
        raise InvalidEnvelopeError(f"the root message '{name}' is not in its file")
    return LinkedRoot(root=root, files=tuple((files[name], linked[name]) for name in linked))


def _link_with_imports(
    name: str, files: Mapping[str, File], rules: DescriptorRules
) -> dict[str, Pool]:
    """Each file behind its imports, in the order in which the broker links them."""
    effort = Effort()
    linked: dict[str, Pool] = {}
    path = [_open(name, files)]
    names = {name}
    while path:
        file, imports = path[-1]
        wanted = next((text for text in imports if text not in linked), None)
        if wanted is None:
            pools = tuple(linked[dependency] for dependency in file.dependencies)
            linked[file.name] = link(file, pools, effort, rules)
            names.discard(path.pop()[0].name)
        elif wanted in names and rules.exact:
            raise InvalidEnvelopeError(f"the imports of '{wanted}' go in a circle")
        elif wanted in names or len(path) > _DEEPEST_IMPORT:
            raise EndlessImportsError(f"the imports of '{wanted}' never end")
        else:
            path.append(_open(wanted, files, importer=file.name))
            names.add(wanted)
    return linked


def _open(
    name: str, files: Mapping[str, File], *, importer: str = ""
) -> tuple[File, Iterator[str]]:
    if name not in files and importer:
        raise InvalidEnvelopeError(
            f"the descriptor set lacks '{name[:_LONGEST_NAME]}', which "
            f"'{importer[:_LONGEST_NAME]}' imports: make it with `protoc --include_imports`"
        )
    if name not in files:
        raise InvalidEnvelopeError(f"the file '{name}' is not in the set")
    return files[name], iter(files[name].dependencies)


def _exact_root(pool: Pool, name: str) -> Symbol | None:
    """The message of that name in the file's package, else as it was before Pulsar 5.0.1."""
    prefix = f"{pool.package}." if pool.package else ""
    if name.startswith(prefix):
        exact = _find(pool, _parts(name.removeprefix(prefix)))
        return exact or _find(pool, _path(name, pool.package))
    return _find(pool, _path(name, pool.package)) or _find(pool, _parts(name))


def _find(pool: Pool, path: list[str]) -> Symbol | None:
    first, *others = path
    symbol = pool.names.get(pool.full_name(first, None))
    for other in others:
        if symbol is None or symbol.kind is not SymbolKind.MESSAGE:
            return None
        symbol = symbol.pool.find(f"{symbol.full_name}.{other}")
    return symbol if symbol is not None and symbol.kind is SymbolKind.MESSAGE else None


def _path(name: str, package: str) -> list[str]:
    """The names from the outermost message to the root: no package, and one dot less."""
    return _parts(_without(name, package).replace(".", "", 1))


def _parts(name: str) -> list[str]:
    """The parts between dots, without the empty ones at the end."""
    parts = name.split(".")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _without(name: str, package: str) -> str:
    """The name without the first place where the package fits, a dot being any character."""
    parts = _PART.findall(package)
    if sum(map(len, parts)) < len(package):
        raise InvalidEnvelopeError(f"'{package[:100]}' is not a package of Protobuf")
    if name.startswith(package) and "\\" not in package:
        return name[len(package) :]
    if len(parts) > len(name):
        return name
    if len(name) * len(parts) > _LONGEST_SEARCH:
        raise InvalidEnvelopeError("the name of the root message is too long")
    return re.sub("".join(map(_as_python, parts)), "", name, count=1)


def _as_python(part: str) -> str:
    """A part of a Java pattern, in Python's form; a group that there is not never fits in Java."""
    if part == ".":
        return _ANY_CHARACTER
    if part.startswith("\\u"):
        return re.escape(part.encode().decode("unicode_escape"))
    return _NEVER if len(part) > 1 and part[1] in "123456789" else re.escape(part[-1])
