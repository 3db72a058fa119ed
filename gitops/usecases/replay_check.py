"""The replay of a checked change, and where its samples lie."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitops.model.check import History
from gitops.model.errors import UnreadableFileError
from gitops.model.replay import ReplayReport
from gitops.model.repository import Repository
from gitops.planning.make import Question
from gitops.ports import FileTree, Progress
from gitops.usecases.change import LoadedChange
from gitops.usecases.replay import Past, Replaying, replay
from gitops.usecases.replay_samples import subjects_of
from gitops.usecases.replay_trust import held_back
from gitops.usecases.sample_places import is_elsewhere, place_of

_WILD: Final = "*?[{"


def replay_touched(
    replaying: Replaying,
    loaded: LoadedChange,
    question: Question,
    history: History,
    progress: Progress,
) -> ReplayReport:
    """What becomes of the samples of the topics that `question` is about.

    Raises OutsideError where the runner fails.
    """
    topics = [topic for topic in sorted(question.desired.topics) if topic in loaded.head.topics]
    past = Past(
        registry=question.registry,
        source=history.source.value,
        limits=(),  # which the check tells
        rules=loaded.limits.rules,
        findings=held_back(topics, loaded.head, loaded.base),
    )
    subjects = subjects_of(question, loaded.head, topics, loaded.base)
    return replay(replaying, subjects, past, progress)


@contextmanager
def samples_root(loaded: LoadedChange) -> Iterator[Path]:
    """The folder from which the files of manifests count.

    Of a change that is a commit, its samples are written to a temporary folder: the clone may
    have another one checked out.
    """
    if not loaded.change.head:
        yield loaded.change.checkout.root
        return
    with tempfile.TemporaryDirectory(prefix="pulsar-gitops-") as folder:
        _write_samples(loaded, Path(folder))
        yield Path(folder)


def sample_files(tree: FileTree, repository: Repository) -> Iterator[str]:
    """The files of a tree that manifests may mean as samples."""
    wanted: set[str] = set()
    for source in repository.topics.values():
        for sample in source.samples:
            if not is_elsewhere(sample):
                wanted.add(_fixed(place_of(source, sample)))
    for path in tree.paths() if wanted else ():
        if any(path == each or path.startswith(f"{each}/") for each in wanted):
            yield path


def _write_samples(loaded: LoadedChange, folder: Path) -> None:
    tree = loaded.change.head_tree
    for path in sample_files(tree, loaded.head):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            place.write_bytes(tree.read(path))
        except UnreadableFileError:
            continue  # a sample that is not there is found by whoever reads it


def _fixed(pattern: str) -> str:
    """The file of a pattern, or the last folder before its first wildcard."""
    parts = pattern.split("/")
    wild = next((i for i, part in enumerate(parts) if any(c in part for c in _WILD)), len(parts))
    return "/".join(parts[:wild])
