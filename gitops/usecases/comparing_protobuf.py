"""A `.proto` file as one side of a comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gitops.model.errors import UsageError
from gitops.model.findings import Location
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.proto_positions import ProtoPositions
from gitops.repository.definitions.protobuf import Files, envelope, messages, read_files
from gitops.repository.definitions.protoc import Compiled, Protoc
from gitops.repository.files import FolderTree
from gitops.repository.folder import read_definition
from gitops.repository.sources import Sources
from gitops.repository.suggestions import did_you_mean_or_list
from gitops.usecases.comparing import Side


def read_proto(path: Path, message: str | None) -> Side:
    """The schema of a message; imports resolve inside the file's folder. Raises UsageError.

    `message` is the full name of the root; a file that defines a single message needs none.
    """
    text = read_definition(path)
    sources = Sources(FolderTree(path.parent))
    files = read_files(_compiled(sources, path).files)
    root = _root(files, path, message)
    positions = ProtoPositions(sources, path.name)

    def locate(pointer: str) -> Location:
        found = positions.at_pointer(pointer)
        return replace(found, file=str(path.parent / found.file))

    info = SchemaInfo(
        type=SchemaType.PROTOBUF_NATIVE,
        schema=envelope(files, messages(files, path.name)[root], root),
    )
    return Side(file=str(path), text=text, info=info, locate=locate)


def _compiled(sources: Sources, path: Path) -> Compiled:
    if not Protoc.is_installed():
        hint = "install pulsar-schema-gitops with its extra 'protobuf'"
        raise UsageError(f"no protoc to compile {path} with", hint=hint)
    protoc = Protoc(sources)
    try:
        compiled = protoc.compile(path.name)
    finally:
        protoc.close()
    if compiled.problems:
        said = "; ".join(
            f"{one.file or path.name}:{one.line}:{one.column} {one.message}"
            for one in compiled.problems
        )
        raise UsageError(f"{path} does not compile: {said}")
    return compiled


def _root(files: Files, path: Path, message: str | None) -> str:
    known = messages(files, path.name)
    if message in known:
        return message or ""
    if message is not None:
        hint = did_you_mean_or_list(message, sorted(known))
        raise UsageError(f"{path} has no message '{message}'", hint=hint)
    own = [name for name, file in known.items() if file == path.name]
    if len(own) != 1:
        hint = did_you_mean_or_list("", sorted(own))
        raise UsageError(f"name the root message of {path} with --message", hint=hint)
    return own[0]
