"""From the samples of all topics to the parts that workers read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from gitops.model.samples import Sample
from gitops.replay.job import Owner
from gitops.replay.runner import Running, UnreadSample
from gitops.replay.sources.files import (
    NothingThereError,
    NotOpenedHereError,
    find_files,
    is_uri,
)
from gitops.replay.sources.formats import source_for
from gitops.replay.sources.part import File, Part, UnreadableError

_NAMES_TOPICS: Final = ("parquet", "orc", "table", "capture")
_THREADS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Samples that are one and the same data: it is read once for all topics that name it.

    `why` says what kept pyarrow from opening it, where it knows the kind of address.
    """

    sample: Sample
    owners: tuple[Owner, ...]
    why: str = ""


@dataclass(slots=True, kw_only=True)
class Planned:
    """What is read. `left` is what only Spark can open."""

    parts: list[Part] = field(default_factory=list)
    left: list[Wanted] = field(default_factory=list)
    unread: list[UnreadSample] = field(default_factory=list)


class _Broken(NamedTuple):
    file: str
    why: str


def plan(running: Running) -> Planned:
    """Look for the files, and into those that can be cut; what is not there is `unread`."""
    planned = Planned()
    for wanted in wanted_of(running):
        if wanted.sample.format == "table":
            planned.left.append(wanted)
            continue
        try:
            parts = _parts(wanted, running)
        except NotOpenedHereError as error:
            planned.left.append(replace(wanted, why=str(error)))
        except NothingThereError as error:
            planned.unread.extend(unread(running, wanted, str(error), missing=True))
        except (UnreadableError, OSError) as error:
            planned.unread.extend(unread(running, wanted, why(error)))
        else:
            _sort_out(planned, parts, running, wanted)
    return planned


def unread(
    running: Running, wanted: Wanted, why: str, *, file: str = "", missing: bool = False
) -> Iterator[UnreadSample]:
    """The same words for each topic that names the data."""
    topics = {str(one.topic): one.topic for one in running.replays}
    for owner in wanted.owners:
        sample = next(
            one.samples[owner.sample] for one in running.replays if str(one.topic) == owner.topic
        )
        yield UnreadSample(
            topic=topics[owner.topic], sample=sample, why=why, file=file, missing=missing
        )


def why(error: Exception) -> str:
    """What went wrong, without the place where Python or Arrow noticed it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def why_of(file: File, error: Exception) -> str:
    """What went wrong with a file; Arrow does not always say with which."""
    told = why(error)
    return told if file.name in told or file.uri in told else f"{file.name}: {told}"


def wanted_of(running: Running) -> list[Wanted]:
    """The samples of all topics, those together that are the same table."""
    found: dict[object, list[tuple[Sample, Owner]]] = {}
    for replay in running.replays:
        for number, sample in enumerate(replay.samples):
            owner = Owner(str(replay.topic), number)
            found.setdefault(_identity(sample, owner), []).append((sample, owner))
    return [
        Wanted(sample=its[0][0], owners=tuple(owner for _, owner in its)) for its in found.values()
    ]


def _identity(sample: Sample, owner: Owner) -> object:
    if sample.format not in _NAMES_TOPICS:
        return owner
    folder = (
        ""
        if is_uri(sample.path) or sample.format == "table"
        else sample.location.file.rpartition("/")[0]
    )
    return (sample.format, folder, sample.path, tuple(sorted(sample.columns.items())))


def _parts(wanted: Wanted, running: Running) -> list[list[Part] | _Broken]:
    """By file: its parts, or why it has none."""
    source = source_for(wanted.sample.format)

    def cut(whole: Part) -> list[Part] | _Broken:
        name = whole.file.name.encode("utf-8", "backslashreplace").decode()
        if name != whole.file.name:
            return _Broken(name, f"the name of {name} is not UTF-8")
        try:
            return list(source.parts(whole))
        except (UnreadableError, OSError) as error:
            return _Broken(name, why_of(whole.file, error))

    wholes = [
        Part(
            owners=wanted.owners,
            format=wanted.sample.format,
            file=file,
            columns=dict(wanted.sample.columns),
            bytes=file.size,
        )
        for file in find_files(wanted.sample, running.root)
    ]
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(cut, wholes))


def _sort_out(
    planned: Planned, found: Iterable[list[Part] | _Broken], running: Running, wanted: Wanted
) -> None:
    for parts in found:
        if isinstance(parts, _Broken):
            planned.unread.extend(unread(running, wanted, parts.why, file=parts.file))
        else:
            planned.parts.extend(parts)
