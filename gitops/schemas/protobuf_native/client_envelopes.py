"""The envelope of a PROTOBUF_NATIVE schema as clients other than Java's write it.

Descriptors of classes that protoc generates are the same in every language (protobuf-java 3.25.5,
protobuf for Python 7.36.2): the order of the files and the JSON around them are not.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gitops.schemas.protobuf_native.descriptors import File
from gitops.schemas.protobuf_native.envelope import read_envelope
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError, WireError
from gitops.schemas.protobuf_native.wire_format import LENGTH_DELIMITED, Reader, read_files

_FILE: Final = 1
"""The number of a file in a FileDescriptorSet."""

_MOST_FILES: Final = 10_000
"""C++'s client repeats a file for each of its imports: more than these nobody sends."""

_Files = Mapping[str, tuple[File, bytes]]


def python_envelope(text: str) -> str:
    """What `ProtobufNativeSchema` of pulsar-client for Python sends (3.13.0).

    A file comes after its imports, in JSON with line breaks.
    """
    return _rewritten(text, _python_order, lambda members: json.dumps(members, indent=True))


def cpp_envelope(text: str) -> str:
    """What `createProtobufNativeSchema` of pulsar-client-cpp sends (read in its source, 4.0).

    A file comes before its imports, once for each file that imports it.
    """
    return _rewritten(
        text,
        _cpp_order,
        lambda members: json.dumps(members, separators=(",", ":"), ensure_ascii=False),
    )


def go_envelope(text: str) -> str:
    """Another text than Java's, unless Go's client may have sent it (read in its source, 0.15).

    Classes of Go have the JSON name of every field, and the files are in any order, so that nobody
    can tell the bytes; a line break stands for them, which no reader looks at.
    """
    try:
        envelope = read_envelope(text.encode("utf-8", "replace"))
        files = read_files(envelope.file_descriptor_set)
    except (InvalidEnvelopeError, WireError):
        return text
    root = envelope.root_file_descriptor_name
    waiting = [message for file in files if file.name == root for message in file.messages]
    for message in waiting:
        if any(field.json_name is None for field in message.fields):
            return f"{text.rstrip()}\n"
        waiting += message.messages
    return text


def files_in_import_order(root: str, imports: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """A file after all that it imports, each once."""
    done: set[str] = set()
    waiting = [(root, False)]
    while waiting:
        name, imports_done = waiting.pop()
        if imports_done:
            yield name
        elif name not in done:
            done.add(name)
            waiting.append((name, True))
            waiting += [(file, False) for file in reversed(list(imports(name)))]


def _python_order(files: _Files, root: str) -> Iterator[str]:
    return files_in_import_order(root, lambda name: files[name][0].dependencies)


def _cpp_order(files: _Files, root: str) -> Iterator[str]:
    waiting = [root]
    for _ in range(_MOST_FILES):
        if not waiting:
            return
        name = waiting.pop()
        yield name
        waiting += reversed(files[name][0].dependencies)


def _rewritten(
    text: str,
    order: Callable[[_Files, str], Iterator[str]],
    dump: Callable[[Mapping[str, str | None]], str],
) -> str:
    """The text with the same files in another order; as it is where it cannot be read."""
    try:
        envelope = read_envelope(text.encode("utf-8", "replace"))
        data = envelope.file_descriptor_set
        root = envelope.root_file_descriptor_name
        files = {
            file.name: (file, own)
            for file, own in zip(read_files(data), _members(data), strict=True)
        }
        descriptors = b"".join(files[name][1] for name in order(files, root))
    except (InvalidEnvelopeError, WireError, KeyError, ValueError):
        return text
    return dump(
        {
            "fileDescriptorSet": base64.b64encode(descriptors).decode(),
            "rootMessageTypeName": envelope.root_message_type_name,
            "rootFileDescriptorName": root,
        }
    )


def _members(data: bytes) -> Iterator[bytes]:
    """The bytes of each file in a FileDescriptorSet, with its tag and length."""
    reader = Reader(data, 0, len(data))
    while True:
        start = reader.at
        number, wire_type = reader.tag()
        if not number:
            return
        reader.skip_field(number, wire_type, 0)
        if (number, wire_type) == (_FILE, LENGTH_DELIMITED):
            yield data[start : reader.at]
