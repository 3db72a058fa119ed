"""The canonical layout of a repository's files, which changes nothing that they say."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from gitops.model.clients import Client, Consumes, Produces
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding, Severity
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Repository
from gitops.ports import FileTree
from gitops.repository.definitions.text_edits import Definition
from gitops.repository.documents.authentication import secret_offsets
from gitops.repository.documents.base import Document
from gitops.repository.documents.config import ConfigDocument
from gitops.repository.documents.manifests import LimitWaiverDocument
from gitops.repository.documents.parser import Manifest, unreadable
from gitops.repository.file_trees import is_selected
from gitops.repository.formatting.files import (
    LeftAloneError,
    format_definition,
    format_manifest,
    manifests,
)
from gitops.repository.loader import load
from gitops.repository.loading.layout import CONFIG, layout
from gitops.repository.loading.settings import load_settings
from gitops.repository.loading.waivers import is_limit_waiver
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.payload import PayloadError, shown_schema
from gitops.schemas.types import TYPES


@dataclass(frozen=True, slots=True, kw_only=True)
class FormattedFile:
    """A file whose canonical text is another; a `sensitive` one may hold a secret in clear text."""

    path: str
    before: bytes
    after: bytes
    sensitive: bool = False

    @property
    def diff(self) -> str:
        """A unified diff, empty where it could show a secret."""
        if self.sensitive:
            return ""
        before, after = (text.decode("utf-8", "replace") for text in (self.before, self.after))
        return Definition(self.path, before).patch(after)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatResult:
    """The files that are not in canonical form, how many are, and why others are left alone."""

    changes: tuple[FormattedFile, ...]
    canonical: int
    findings: tuple[Finding, ...]


def format_repository(
    tree: FileTree,
    paths: tuple[str, ...] = (),
    is_link: Callable[[str], bool] = lambda _path: False,
) -> FormatResult:
    """Lay out every manifest and every `.avsc`, or only those in these files or folders.

    Symbolic links are left alone: what they lead to is laid out under its own name. Raises
    UsageError where there is no `gitops.yaml`.
    """
    sources = TrackedFiles(tree)
    load_settings(sources)
    result = layout(sources.paths)
    models = manifests(result)
    for path in result.waivers:
        with suppress(UnreadableFileError):
            if is_limit_waiver(sources.data(path)):
                models[path] = LimitWaiverDocument
    known = sorted({*models, *result.avsc})
    wanted = [path for path in known if is_selected(path, paths) and not is_link(path)]
    run = _Run(sources)
    for path in wanted:
        model = models.get(path)
        run.take(path, partial(_laid_out, path, model))
    changes = tuple(_same_to_broker(run.changes, tree))
    return FormatResult(
        changes=changes,
        canonical=run.done - len(changes),
        findings=tuple(sorted(run.findings, key=lambda finding: finding.sort_key)),
    )


def _laid_out(path: str, model: type[Document] | None, data: bytes) -> bytes:
    return format_definition(path, data) if model is None else format_manifest(path, data, model)


class _Run:
    """Lays out one file after another."""

    def __init__(self, sources: TrackedFiles) -> None:
        self._sources = sources
        self.changes: list[FormattedFile] = []
        self.findings: list[Finding] = []
        self.done = 0

    def take(self, path: str, lay_out: Callable[[bytes], bytes]) -> None:
        try:
            before = self._sources.data(path)
            after = lay_out(before)
        except UnreadableFileError as error:
            self.findings.append(unreadable(path, error))
            return
        except LeftAloneError as error:
            self.findings += error.findings
            return
        self.done += 1
        if after != before:
            sensitive = path == CONFIG and _may_hold_secret(before)
            self.changes.append(
                FormattedFile(path=path, before=before, after=after, sensitive=sensitive)
            )


def _may_hold_secret(data: bytes) -> bool:
    """Also where a key is unknown: nobody knows what it is meant for."""
    manifest = Manifest(CONFIG, data, ConfigDocument)
    return bool(manifest.findings) or any(secret_offsets(manifest.parsed, ConfigDocument))


def _same_to_broker(changes: Iterable[FormattedFile], tree: FileTree) -> Iterator[FormattedFile]:
    """The changes, those of definitions held to what keeps them the same schema to a broker."""
    freedom: _Freedom | None = None
    for change in changes:
        if not change.path.endswith(".avsc"):
            yield change
            continue
        freedom = freedom or _Freedom(load(_WithoutMarks(tree)))
        held = freedom.held(change)
        if held is not None:
            yield held


class _WithoutMarks:
    """A tree whose definitions have no byte order mark, with which no broker takes one.

    What a definition is used for then shows, so that the mark can go.
    """

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree

    def paths(self) -> tuple[str, ...]:
        return self._tree.paths()

    def read(self, path: str) -> bytes:
        data = self._tree.read(path)
        return data.removeprefix(codecs.BOM_UTF8) if path.endswith(".avsc") else data


class _Freedom:
    """How far a definition may change and stay the same schema, by the uses that are made of it.

    A broker compares AVRO, JSON and PROTOBUF as Avro does, for which neither space nor the order
    of members counts; halves of a KEY_VALUE by their text without space; everything else, and
    what Avro cannot read, by its bytes (Pulsar 4.0.7).
    """

    def __init__(self, repository: Repository) -> None:
        self._untouchable: set[str] = set()
        self._in_order: set[str] = set()
        self._known: set[str] = set()
        self._understood = not any(
            finding.severity is Severity.ERROR and finding.rule.startswith("REPO-")
            for finding in repository.findings
        )
        for topic, source in repository.topics.items():
            latest = repository.desired.topics[topic].history.latest
            info = latest.info if latest else None
            whole = info is not None and info.type is SchemaType.KEY_VALUE and not source.halves
            self._add(source.definitions, None if whole else info)
        for client in repository.clients:
            for info in _schemas(client):
                self._add(client.definitions, info)

    def held(self, change: FormattedFile) -> FormattedFile | None:
        """As much of the change as is free, None where nothing is."""
        path = change.path
        if path in self._untouchable:
            return None
        if path not in self._in_order and (self._understood or path in self._known):
            return change
        # Also where a manifest is not understood, which may use the file in a way of its own.
        after = format_definition(path, change.before, ordered=False)
        return replace(change, after=after) if after != change.before else None

    def _add(self, files: Iterable[str], info: SchemaInfo | None) -> None:
        self._known.update(files)
        if info is not None and info.type is SchemaType.KEY_VALUE:
            self._in_order.update(files)
        elif info is None or not _is_compared_as_avro(info):
            self._untouchable.update(files)


def _schemas(client: Client) -> Iterator[SchemaInfo]:
    both: tuple[Consumes | Produces, ...] = (*client.consumes, *client.produces)
    for item in both:
        yield from (schema for schema in item.schemas if isinstance(schema, SchemaInfo))


def _is_compared_as_avro(info: SchemaInfo) -> bool:
    read_definition = TYPES.row_of(info.type).definition
    if read_definition is None:
        return False
    try:
        read_definition(shown_schema(info))
    except (AvroParseError, PayloadError):
        return False
    return True
