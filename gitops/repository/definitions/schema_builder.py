"""Builds the SchemaInfo of a topic or a client out of what its manifest says."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from gitops.broker.lines.line import BrokerLine
from gitops.model.errors import OutsideRepositoryError, UnreadableFileError, extra_hint
from gitops.model.findings import Finding, Location
from gitops.model.rules import make_finding
from gitops.model.schema import KeyValueEncodingType, SchemaInfo, SchemaType
from gitops.repository.definitions.avro import AvroDefinitions
from gitops.repository.definitions.file_extensions import COMPILED_TYPE, is_compiled, is_proto
from gitops.repository.definitions.foreign_forms import recognize_text
from gitops.repository.definitions.json_mistakes import json_mistake
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.definitions.line_types import LineTypes
from gitops.repository.definitions.protobuf import envelope, messages, read_files
from gitops.repository.definitions.protoc import Protoc, ProtocProblem
from gitops.repository.definitions.shared_types import SharedTypes
from gitops.repository.definitions.text import DefinitionText, definition_file, definition_text
from gitops.repository.documents.manifests import ClientSchemaDocument, HalfDocument, SchemaDocument
from gitops.repository.documents.parser import Manifest
from gitops.repository.positions import Path, parts
from gitops.repository.suggestions import did_you_mean_or_list, one_line
from gitops.repository.tracked_files import TrackedFiles, resolve
from gitops.schemas.avro.json_text import JsonTextError, blank_comments, read_json
from gitops.schemas.key_value.parser import ENCODING, NO_DEFINITION
from gitops.schemas.payload import PayloadError, to_stored
from gitops.schemas.review import accepted_mistakes
from gitops.schemas.types import AVRO_DEFINED, DEFINED_TYPES, TYPES

JAVA_NAMES: Final[Mapping[str, str]] = {
    "BYTES": "Bytes", "STRING": "String", "BOOLEAN": "Boolean", "INT8": "INT8", "INT16": "INT16",
    "INT32": "INT32", "INT64": "INT64", "FLOAT": "Float", "DOUBLE": "Double", "DATE": "Date",
    "TIME": "Time", "TIMESTAMP": "Timestamp", "INSTANT": "Instant", "LOCAL_DATE": "LocalDate",
    "LOCAL_TIME": "LocalTime", "LOCAL_DATE_TIME": "LocalDateTime",
}  # fmt: skip
"""How Java's client calls the schemas that have no definition; it calls the others nothing."""

_STRING_OR_SPACE: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[ \t\r\n]+', re.DOTALL)
_HTML: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&='\u2028\u2029"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """The key or the value; `text` is its definition in JSON, empty where it has none."""

    type: SchemaType
    text: str = ""
    name: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


def compact(text: str) -> str:
    """JSON without comments and without space between its words; raises JsonTextError."""
    try:
        read_json(text)
    except RecursionError:
        raise JsonTextError("nested too deep to be read", 0) from None
    blanked = blank_comments(text) if "/" in text else text
    return _STRING_OR_SPACE.sub(lambda m: m[0] if m[0][0] == '"' else "", blanked)


def pair_text(key: Half, value: Half) -> str:
    """The member `schema` of admin REST: an object of both definitions."""
    return f'{{"key":{key.text or NO_DEFINITION},"value":{value.text or NO_DEFINITION}}}'


def pair_properties(key: Half, value: Half, encoding: KeyValueEncodingType) -> dict[str, str]:
    """The properties that say what the halves are."""
    return {
        **_half_properties("key", key),
        **_half_properties("value", value),
        ENCODING: encoding.value,
    }


def _half_properties(prefix: str, half: Half) -> dict[str, str]:
    return {
        f"{prefix}.schema.name": half.name,
        f"{prefix}.schema.type": half.type.value,
        f"{prefix}.schema.properties": gson(half.properties),
    }


def gson(properties: Mapping[str, str]) -> str:
    """A map as Java's client writes it: keys in order, HTML's characters escaped."""
    ordered = {key: properties[key] for key in sorted(properties, key=_java_order)}
    text = json.dumps(ordered, separators=(",", ":"), ensure_ascii=False)
    return text.translate(_HTML)


def _java_order(text: str) -> bytes:
    """Java compares UTF-16 units, Python code points."""
    return text.encode("utf-16-be", "surrogatepass")


_WITH_HALVES = ("encoding", "key", "value")
_HALF_TYPES: Final = ("key.schema.type", "value.schema.type")


@dataclass(slots=True, kw_only=True)
class Place:
    """Where a schema stands, and what is gathered while it is built.

    `files` are the definitions used, `halves` those of a key and of a value, `content` the
    findings about what they say. Findings about the manifest go to the manifest itself.
    """

    manifest: Manifest[Any]
    path: Path
    subject: str
    files: list[str] = field(default_factory=list)
    halves: dict[str, tuple[str, ...]] = field(default_factory=dict)
    content: list[Finding] = field(default_factory=list)

    def add(self, rule: str, message: str, *keys: str, hint: str = "") -> None:
        """A finding at a key below the schema."""
        at_key = not keys
        self.manifest.add(rule, message, (*self.path, *keys), at_key=at_key, hint=hint)

    def below(self, key: str) -> Place:
        """One key further down: findings are gathered here, files there."""
        return Place(
            manifest=self.manifest,
            path=(*self.path, key),
            subject=self.subject,
            content=self.content,
        )


class SchemaBuilder:
    """Builds the schemas of one repository.

    `lines` are the broker lines of its registries by name, the default one first; those of
    `assumed` ones may be others. `shared` are its shared types, where they are known already.
    """

    def __init__(
        self,
        sources: TrackedFiles,
        lines: Mapping[str, BrokerLine],
        assumed: frozenset[str] = frozenset(),
        shared: SharedTypes | None = None,
    ) -> None:
        self._sources = sources
        self._avro = AvroDefinitions(sources, shared or SharedTypes(sources), lines, assumed)
        self._line_types = LineTypes(lines, assumed)
        self._protoc = Protoc(sources)
        self._own: set[str] = set()

    def close(self) -> None:
        """Give back temporary files."""
        self._protoc.close()

    def build(
        self, document: SchemaDocument | ClientSchemaDocument, schema_type: SchemaType, place: Place
    ) -> SchemaInfo | None:
        """The schema, or None with findings that say why there is none."""
        if schema_type is SchemaType.KEY_VALUE and document.definition is None:
            return self._pair(document, place)
        extra = [key for key in _WITH_HALVES if getattr(document, key) is not None]
        for key in extra:
            both = schema_type is SchemaType.KEY_VALUE
            why = "definition contains it" if both else f"{schema_type.value} has no halves"
            place.add("REPO-R015", f"'{key}' does not go here: {why}", key)
        text = self._text(document, schema_type, place)
        self._check_halves(document, schema_type, place)
        if text is None or extra:
            return None
        info = SchemaInfo(type=schema_type, schema=text, properties=dict(document.properties))
        if schema_type is SchemaType.KEY_VALUE:
            self._review_pair(info, place)
        return info

    def _review_pair(self, info: SchemaInfo, place: Place) -> None:
        """Look at halves whose types are properties."""
        with suppress(PayloadError):
            for remark in accepted_mistakes(TYPES, to_stored(info)):
                if remark.rule == "KV-W004":
                    path = (*place.path, *parts(remark.pointer))
                    location = place.manifest.location(path, at_key=True)
                    place.content.append(
                        make_finding(
                            remark.rule,
                            remark.message,
                            location=location,
                            subject=place.subject,
                            hint=remark.hint,
                        )
                    )

    def _check_halves(
        self, document: SchemaDocument | ClientSchemaDocument, schema_type: SchemaType, place: Place
    ) -> None:
        """Look at the types of halves whose definitions are one text."""
        for name in _HALF_TYPES if schema_type is SchemaType.KEY_VALUE else ():
            half = document.properties.get(name)
            if half in SchemaType.__members__:
                self._check_type(SchemaType(half), place, "properties", name)

    def _check_type(self, schema_type: SchemaType, place: Place, *keys: str) -> None:
        location = place.manifest.location((*place.path, *keys))
        place.content += self._line_types.findings(schema_type, location, place.subject)

    def findings_beside(self, files: Iterable[str]) -> list[Finding]:
        """What is wrong with files that are no definition of any schema built so far.

        They may define shared types, of which some are used, or none, so that they are read as
        JSON: a list of types is no mistake there. A cycle of types and twins are reported where
        one of them is used.
        """
        items: list[Finding] = []
        for file in files:
            text = None if file in self._own else _text_of(file, self._sources)
            if text is not None:
                given = DefinitionText(text=text, places=JsonPositions(file, text), file=file)
                findings = self._avro.read(given, file, SchemaType.JSON).findings
                # A shared type may be an enum: it is part of a topic's definition.
                items += [finding for finding in findings if finding.rule != "AVRO-W011"]
        return items

    def _pair(
        self, document: SchemaDocument | ClientSchemaDocument, place: Place
    ) -> SchemaInfo | None:
        if document.message is not None:
            place.add("REPO-R015", "'message' belongs in key: or value:", "message")
        key = self._half(document.key, "key", place)
        value = self._half(document.value, "value", place)
        if key is None or value is None:
            return None
        encoding = KeyValueEncodingType(document.encoding or "INLINE")
        derived = pair_properties(key, value, encoding)
        for name in sorted(derived.keys() & document.properties.keys()):
            place.add("REPO-R015", f"'{name}' follows from the halves", "properties", name)
        return SchemaInfo(
            type=SchemaType.KEY_VALUE,
            schema=pair_text(key, value),
            properties={**document.properties, **derived},
        )

    def _half(self, document: HalfDocument | None, key: str, pair: Place) -> Half | None:
        if document is None:
            hint = "a KEY_VALUE needs key: and value:, or a definition:"
            pair.add("REPO-R005", f"missing key '{key}'", hint=hint)
            return None
        schema_type = SchemaType(document.type)
        place = pair.below(key)
        text = self._text(document, schema_type, place, half=True)
        pair.halves[key] = tuple(place.files)
        pair.files.extend(file for file in place.files if file not in pair.files)
        if text is None:
            return None
        name = JAVA_NAMES.get(document.type, "") if document.name is None else document.name
        return Half(
            type=schema_type,
            text=compact(text) if text else "",
            name=name,
            properties=document.properties,
        )

    def _text(
        self,
        document: SchemaDocument | ClientSchemaDocument | HalfDocument,
        schema_type: SchemaType,
        place: Place,
        *,
        half: bool = False,
    ) -> str | None:
        self._check_type(schema_type, place, "type")
        given = document.definition
        if isinstance(given, str) and is_proto(given):
            return self._protobuf(given, document.message, schema_type, place)
        if document.message is not None and given is not None:
            message = "'message' goes with a definition that is a .proto file"
            place.add("REPO-R015", message, "message")
        if given is None:
            return self._no_definition(schema_type, document.message, place)
        text = self._plain(given, schema_type, place, half=half)
        return None if document.message is not None else text

    @staticmethod
    def _no_definition(schema_type: SchemaType, message: str | None, place: Place) -> str | None:
        if schema_type not in DEFINED_TYPES:
            if message is None:
                return ""
            what = f"'message' does not go here: {schema_type.value} has no definition"
            place.add("REPO-R015", what, "message")
            return None
        hint = f"{schema_type.value} needs one: the name of a file, or the definition itself"
        place.add("REPO-R005", "missing key 'definition'", hint=hint)
        return None

    def _plain(
        self, given: object, schema_type: SchemaType, place: Place, *, half: bool
    ) -> str | None:
        path = (*place.path, "definition")
        text = definition_text(given, place.manifest, path, self._sources)
        if text is None:
            place.files.extend(self._unusable(given, place))
            return None
        if text.file:
            self._own.add(text.file)
        if half and not self._is_json(text, place):
            place.files.extend([text.file] if text.file else [])
            return None
        if schema_type not in AVRO_DEFINED:
            place.files.extend([text.file] if text.file else [])
            is_checked = schema_type is SchemaType.KEY_VALUE or is_compiled(schema_type)
            form = recognize_text(text.text) if is_checked else None
            if form:
                finding = make_finding(
                    "REPO-R019",
                    f"this is {form.name}",
                    location=text.places.at_pointer(""),
                    subject=place.subject,
                    hint=form.hint,
                )
                place.manifest.findings.append(finding)
            return None if form else text.text
        read = self._avro.read(text, place.subject, schema_type, half=half)
        place.files.extend(file for file in read.files if file not in place.files)
        place.content.extend(read.findings)
        place.manifest.findings.extend(read.obstacles)
        return None if read.obstacles else read.text

    @staticmethod
    def _is_json(text: DefinitionText, place: Place) -> bool:
        """Whether a half can be put into the text of a KEY_VALUE, with a finding if not."""
        try:
            compact(text.text)
        except JsonTextError as error:
            mistake = json_mistake(text.text, str(error), error.offset)
            place.manifest.findings.append(
                make_finding(
                    "REPO-R019",
                    one_line(f"the definition is not JSON: {mistake.message}"),
                    location=text.places.at_offset(mistake.offset),
                    subject=place.subject,
                    hint=mistake.hint,
                )
            )
            return False
        return True

    def _unusable(self, given: object, place: Place) -> list[str]:
        """The file that is named but of no use, so that nobody calls it unused as well."""
        try:
            file = resolve(posixpath.dirname(place.manifest.file), str(given))
        except OutsideRepositoryError:
            return []
        return [file] if file in self._sources else []

    def _protobuf(
        self, given: str, message: str | None, schema_type: SchemaType, place: Place
    ) -> str | None:
        file = definition_file(given, place.manifest, (*place.path, "definition"), self._sources)
        place.files.extend([file] if file else [])
        if not is_compiled(schema_type):
            needs = "an Avro" if schema_type in AVRO_DEFINED else "no such"
            native = COMPILED_TYPE.value
            hint = f"{schema_type.value} has {needs} definition; {native} needs .proto files"
            place.add("REPO-R015", f"a .proto file goes with {native} only", "type", hint=hint)
            return None
        if message is None:
            hint = "name the root message with its package, as message: shop.Order"
            place.add("REPO-R005", "missing key 'message'", hint=hint)
        if file is None or message is None:
            return None
        if not self._protoc.is_installed():
            hint = extra_hint("protobuf")
            place.add("REPO-R020", "no protoc to compile it with", "definition", hint=hint)
            return None
        compiled = self._protoc.compile(file)
        for problem in compiled.problems:
            place.manifest.findings.append(self._protoc_finding(problem, file, place))
        return None if compiled.problems else self._envelope(compiled.files, file, message, place)

    def _envelope(
        self, compiled: tuple[bytes, ...], file: str, message: str, place: Place
    ) -> str | None:
        files = read_files(compiled)
        known = messages(files, file.rpartition("/")[2])
        if message in known:
            return envelope(files, known[message], message)
        hint = did_you_mean_or_list(message, sorted(known))
        place.add("REPO-R011", f"there is no message '{message}'", "message", hint=hint)
        return None

    def _protoc_finding(self, problem: ProtocProblem, file: str, place: Place) -> Finding:
        ours = not problem.file or problem.file in self._sources
        return make_finding(
            "REPO-R020",
            problem.message if ours else f"{problem.file}: {problem.message}",
            location=Location(
                file=problem.file if ours and problem.file else file,
                line=problem.line,
                column=problem.column,
            ),
            subject=place.subject,
        )


def _text_of(file: str, sources: TrackedFiles) -> str | None:
    try:
        return sources.peek(file).decode()
    except (UnreadableFileError, UnicodeDecodeError):
        return None
