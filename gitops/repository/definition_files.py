"""A definition file as one side of a comparison: `.avsc`, `.json`, `.proto`, a manifest."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gitops.model.decision import StoredSchema
from gitops.model.errors import UnreadableFileError, UsageError, extra_hint
from gitops.model.findings import Finding, Location
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaInfo
from gitops.ports import FileTree
from gitops.repository.definitions.file_extensions import (
    COMPILED_TYPE,
    DEFAULT_TYPE,
    is_compiled,
    is_proto,
)
from gitops.repository.definitions.foreign_forms import recognize_text
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.definitions.proto_positions import ProtoPositions
from gitops.repository.definitions.protobuf import Files, envelope, messages, read_files
from gitops.repository.definitions.protoc import CompiledFiles, Protoc, ProtocProblem
from gitops.repository.definitions.text_edits import Definition
from gitops.repository.definitions.upload import parse_type, read_payload
from gitops.repository.file_references import imports
from gitops.repository.file_trees import FolderTree, GivenFiles
from gitops.repository.folder import read_definition
from gitops.repository.suggestions import did_you_mean_or_list
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.payload import PayloadError, to_stored, to_stored_type

# One side of a comparison: a definition file and what is in it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A file, the schema in it, and where a pointer into the schema's definition stands.

    `positions` is None where the file is not the definition itself, and so is `definition`, the
    text as one that can be edited. With `problems` there is no schema in it.
    """

    file: str
    text: str
    info: SchemaInfo
    locate: Callable[[str], Location]
    positions: JsonPositions | None = None
    definition: Definition | None = None
    problems: tuple[Finding, ...] = ()


def read_file(
    path: Path, schema_type: str | None, message: str | None, root: Path | None = None
) -> Side:
    """The schema of a file, in a `.proto` file that of a message; raises UsageError."""
    if is_proto(path.name) and (schema_type is None or is_compiled(parse_type(schema_type))):
        return read_proto(path, message, root)
    return read_side(path, schema_type)


def read_side(path: Path, schema_type: str | None) -> Side:
    """The schema of a file; raises UsageError.

    Without a type it is AVRO, unless the file is what `pulsar-admin schemas upload` takes, which
    says its type itself.
    """
    text = read_definition(path)
    if schema_type is None and _is_payload(text):
        info = read_payload(text, path, {})
        return Side(file=str(path), text=text, info=info, locate=_payload_locator(str(path), text))
    kind = DEFAULT_TYPE if schema_type is None else parse_type(schema_type)
    positions = JsonPositions(str(path), text)
    return Side(
        file=str(path),
        text=text,
        info=SchemaInfo(type=kind, schema=text),
        locate=positions.at_pointer,
        positions=positions,
        definition=Definition(str(path), text, positions),
    )


def _payload_locator(file: str, text: str) -> Callable[[str], Location]:
    """The definition is one piece of text in there, beside the properties."""
    positions = JsonPositions(file, text)
    whole = next((at for at in ("/schemaInfo/schema", "/data") if positions.span(at)), "/schema")
    places = {
        "/encoding": "/properties/kv.encoding.type",
    }
    return lambda pointer: positions.at_pointer(
        pointer if f"{pointer}/".startswith("/properties/") else places.get(pointer, whole)
    )


def stored_schema(side: Side) -> StoredSchema:
    """What a registry would keep of it; of a pair that is none, the text as it is."""
    try:
        return to_stored_type(to_stored(side.info))
    except PayloadError:
        return StoredSchema(type=side.info.type, data=side.info.schema.encode())


def _is_payload(text: str) -> bool:
    """Whether it is no definition, but contains one and says its type."""
    form = recognize_text(text)
    return form is not None and form.info is not None


def read_proto(path: Path, message: str | None, root: Path | None = None) -> Side:
    """The schema of a message; raises UsageError.

    Imports resolve inside the file's folder, then inside `root`; without one it is the nearest
    folder above the file that has a `gitops.yaml`. `message` is the full name of the root
    message; a file that defines a single one needs none. What does not compile is a finding.
    """
    text = read_definition(path)
    base = _base(path, root)
    name = path.resolve().relative_to(base.resolve()).as_posix()
    sources = TrackedFiles(GivenFiles(_imported_files(FolderTree(base), name)))
    compiled = _compile(sources, path, name)
    if compiled.problems:
        return Side(
            file=str(path),
            text=text,
            info=SchemaInfo(type=COMPILED_TYPE, schema=""),
            locate=lambda pointer: Location(file=str(path), line=1, column=1, pointer=pointer),
            problems=tuple(
                _problem(problem, path, name, base, sources) for problem in compiled.problems
            ),
        )
    files = read_files(compiled.files)
    root_message = _root(files, path, message)
    positions = ProtoPositions(sources, name)

    def locate(pointer: str) -> Location:
        location = positions.at_pointer(pointer)
        return replace(location, file=_shown(location.file, path, name, base))

    info = SchemaInfo(
        type=COMPILED_TYPE,
        schema=envelope(files, messages(files, path.name)[root_message], root_message),
    )
    return Side(file=str(path), text=text, info=info, locate=locate)


def _imported_files(tree: FileTree, name: str) -> dict[str, bytes]:
    """The file and what it imports: whatever else lies around it is none of our business."""
    folder, grouped, waiting = posixpath.dirname(name), dict[str, bytes](), [name]
    while waiting:
        path = waiting.pop()
        if path in grouped:
            continue
        with suppress(UnreadableFileError):  # protoc has some of its own, and misses the others
            grouped[path] = tree.read(path)
            for text in imports(grouped[path].decode("utf-8", "replace")):
                beside = posixpath.normpath(posixpath.join(folder, text))
                waiting += [beside, posixpath.normpath(text)]
    return grouped


def _problem(
    problem: ProtocProblem, path: Path, name: str, base: Path, sources: TrackedFiles
) -> Finding:
    """What protoc says, in the file that it names if that is there, else in the file itself."""
    beside = posixpath.join(posixpath.dirname(name), problem.file)
    file = next((text for text in (beside, problem.file) if text in sources), None)
    return make_finding(
        "REPO-R020",
        problem.message if file or not problem.file else f"{problem.file}: {problem.message}",
        location=Location(
            file=_shown(file or name, path, name, base),
            line=problem.line or 1,
            column=problem.column or 1,
        ),
        subject=str(path),
    )


def _shown(file: str, path: Path, name: str, base: Path) -> str:
    """A file as people name it."""
    return str(path) if file == name else str(base / file)


def _base(path: Path, root: Path | None) -> Path:
    """The folder that imports may reach, always one around the file."""
    around = path.resolve().parents
    if root is not None:
        return root if root.resolve() in around else path.parent
    return next((item for item in around if (item / "gitops.yaml").is_file()), path.parent)


def _compile(sources: TrackedFiles, path: Path, name: str) -> CompiledFiles:
    if not Protoc.is_installed():
        hint = extra_hint("protobuf")
        raise UsageError(f"no protoc to compile {path} with", hint=hint)
    protoc = Protoc(sources)
    try:
        return protoc.compile(name)
    finally:
        protoc.close()


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
