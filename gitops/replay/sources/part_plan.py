"""From the samples of all topics to the parts that workers read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from gitops.messaging.capture_files import DAMAGE, CaptureFolder, checksum
from gitops.model.errors import UsageError
from gitops.model.replay import Sample
from gitops.model.sample_formats import SAMPLE_FORMATS
from gitops.replay.job import DuplicateFiles, Owner, RunRequest, UnreadSample
from gitops.replay.sources.files import (
    FileClaims,
    NoFileError,
    NotOpenedHereError,
    find_files,
    is_uri,
    place_of,
)
from gitops.replay.sources.source import File, Part, UnreadableError, source_for
from gitops.replay.sources.source_errors import (
    AGAIN,
    empty_file,
    error_text,
    file_error_text,
    hint_of,
)

_THREADS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleData:
    """Samples that are one and the same data: it is read once for all topics that name it.

    `why` says what kept pyarrow from opening it, where it knows the kind of address.
    """

    sample: Sample
    owners: tuple[Owner, ...]
    why: str = ""


@dataclass(slots=True, kw_only=True)
class PartPlan:
    """What is read, each file once for a topic. `left` is what only Spark can open."""

    parts: list[Part] = field(default_factory=list)
    left: list[SampleData] = field(default_factory=list)
    unread: list[UnreadSample] = field(default_factory=list)
    twice: list[DuplicateFiles] = field(default_factory=list)


class _UnreadableFile(NamedTuple):
    owners: tuple[Owner, ...]
    file: str
    error: Exception


class _FoundFiles(NamedTuple):
    """The files of what is wanted; None where only Spark may know them."""

    data: SampleData
    files: list[File] | None

    def places(self) -> list[str]:
        """What tells files apart that have several names."""
        return [self.data.sample.path] if self.files is None else list(map(place_of, self.files))


def plan_parts(request: RunRequest) -> PartPlan:
    """Look for the files, and into those that can be cut; what is not there is `unread`."""
    plan = PartPlan()
    found_files = list(_find(request, plan))
    claims = FileClaims()
    for found_file in found_files:
        for place in found_file.places():
            claims.name(found_file.data.owners, place)
    for found_file in found_files:
        _add(plan, found_file, claims, request)
    plan.twice = claims.twice(request)
    return plan


def _find(request: RunRequest, plan: PartPlan) -> Iterator[_FoundFiles]:
    """Everything that is there, or may be for Spark; the rest goes to `plan.unread`."""
    for data in sample_data(request):
        if not SAMPLE_FORMATS[data.sample.format].source:
            yield _FoundFiles(data, None)
            continue
        try:
            yield _FoundFiles(data, find_files(data.sample, request.root))
        except NotOpenedHereError as error:
            yield _FoundFiles(replace(data, why=str(error)), None)
        except (UnreadableError, OSError) as error:
            plan.unread.extend(unread_samples(request, data, error))


def _add(plan: PartPlan, found_files: _FoundFiles, claims: FileClaims, request: RunRequest) -> None:
    data = found_files.data
    if found_files.files is None:
        path = data.sample.path
        if owners := claims.keepers(data.owners, path, path):
            plan.left.append(replace(data, owners=owners))
        return
    names = zip(found_files.files, found_files.places(), strict=True)
    kept = [(file, claims.keepers(data.owners, place, file.name)) for file, place in names]
    for parts in _parts(data.sample, [(file, owners) for file, owners in kept if owners]):
        if isinstance(parts, _UnreadableFile):
            members = replace(data, owners=parts.owners)
            plan.unread.extend(unread_samples(request, members, parts.error, parts.file))
        else:
            plan.parts.extend(parts)


def unread_samples(
    request: RunRequest, data: SampleData, error: Exception, file: str = ""
) -> Iterator[UnreadSample]:
    """The same words for each topic that names the data; `file` is the one that it is about."""
    topics = {str(replay.topic): replay.topic for replay in request.replays}
    text = error_text(error) if not file else file_error_text(file, error)
    for owner in data.owners:
        sample = next(
            replay.samples[owner.sample]
            for replay in request.replays
            if str(replay.topic) == owner.topic
        )
        yield UnreadSample(
            topic=topics[owner.topic],
            sample=sample,
            why=text.replace(f"{request.root.resolve()}/", ""),  # a manifest's paths have no such
            file=file,
            missing=isinstance(error, NoFileError),
            hint=hint_of(error),
        )


def sample_data(request: RunRequest) -> list[SampleData]:
    """The samples of all topics, those together that are the same table."""
    grouped: dict[object, list[tuple[Sample, Owner]]] = {}
    for replay in request.replays:
        for number, sample in enumerate(replay.samples):
            owner = Owner(str(replay.topic), number)
            grouped.setdefault(_identity(sample, owner), []).append((sample, owner))
    return [
        SampleData(sample=owners[0][0], owners=tuple(owner for _, owner in owners))
        for owners in grouped.values()
    ]


def _identity(sample: Sample, owner: Owner) -> object:
    row = SAMPLE_FORMATS[sample.format]
    if not row.names_topics:
        return owner
    folder = (
        "" if is_uri(sample.path) or not row.source else sample.location.file.rpartition("/")[0]
    )
    return (sample.format, folder, sample.path, tuple(sorted(sample.columns.items())))


def _parts(
    sample: Sample, files: Iterable[tuple[File, tuple[Owner, ...]]]
) -> list[list[Part] | _UnreadableFile]:
    """By file: its parts, or why it has none."""
    source = source_for(sample.format)

    def cut(whole: Part) -> list[Part] | _UnreadableFile:
        name = whole.file.name.encode("utf-8", "backslashreplace").decode()
        if name != whole.file.name:
            error = UnreadableError(f"the name of {name} is not UTF-8", "rename the file")
            return _UnreadableFile(whole.owners, name, error)
        try:
            if nothing := empty_file(whole):
                raise nothing
            if SAMPLE_FORMATS[sample.format].has_checksums:
                _check_part(whole.file)
            return list(source.parts(whole))
        except (UnreadableError, OSError) as error:
            return _UnreadableFile(whole.owners, name, error)

    wholes = [
        Part(
            owners=owners,
            format=sample.format,
            file=file,
            columns=dict(sample.columns),
            bytes=file.size,
        )
        for file, owners in files
    ]
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(cut, wholes))


def _check_part(file: File) -> None:
    """Hold a part of a capture against the manifest beside it, where there is one.

    Raises UnreadableError for one that is damaged, OSError. What an object store has is not read
    twice.
    """
    if is_uri(file.uri):
        return
    path = Path(file.uri)
    try:
        manifest = CaptureFolder(path.parent).manifest()
    except UsageError as error:
        raise UnreadableError(error.what, error.hint) from error
    expected = manifest.checksums.get(path.name) if manifest else None
    if expected is not None and checksum(path) != expected:
        raise UnreadableError(f"{file.name} is damaged: {DAMAGE}", AGAIN)
