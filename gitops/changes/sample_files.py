"""Which files of a repository are samples, and which manifests name those that a change touches."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.model.replay import Sample
from gitops.model.sample_formats import SAMPLE_FORMATS
from gitops.model.state import Repository, TopicSource
from gitops.ports import FileTree
from gitops.repository.affected_files import Search
from gitops.repository.file_trees import SelectedTree
from gitops.repository.globs import Folders, ListedFolders, matching_entries
from gitops.repository.loader import load
from gitops.repository.loading.layout import CONFIG
from gitops.repository.tracked_files import resolve

_FOLDER: Final = "samples"
"""Where samples usually are, and the key by which a manifest names them."""

_WILD: Final = "*?[{"

_NO_DATA: Final = (".yaml", ".yml", ".avsc", ".proto", ".md")
"""How files end that are no samples, which a change has most of."""


def manifests_of(
    tree: FileTree, changed: Collection[str], search: Search
) -> Mapping[str, frozenset[str]]:
    """The unchanged manifests that mean a changed file as a sample: manifest → those files."""
    files = {path for path in changed if not path.endswith(_NO_DATA)}
    if not files or CONFIG not in tree.paths():
        return {}
    texts = search({word for path in files for word in _search_words(path)}, (".yaml",))
    manifests = {path for path in texts if path.startswith("namespaces/")}.difference(changed)
    if not manifests:
        return {}
    folders = ListedFolders(files)
    named = {
        source.manifest.file: frozenset(_meant(folders, source))
        for source in load(SelectedTree(tree, {CONFIG, *manifests})).topics.values()
    }
    return {manifest: words for manifest, words in named.items() if words}


def _meant(folders: Folders, source: TopicSource) -> Iterable[str]:
    """The files that the samples of a topic mean."""
    places = (place_of(source, sample) for sample in source.samples if not is_external(sample))
    return (entry.path for place in places for entry in matching_entries(folders, "", place))


def place_of(source: TopicSource, sample: Sample) -> str:
    """A sample's path from the root of the repository; a URI and a table as they are."""
    if is_external(sample):
        return sample.path
    try:
        return resolve(posixpath.dirname(source.manifest.file), sample.path)
    except OutsideRepositoryError:  # which is a finding of the files
        return sample.path


def is_external(sample: Sample) -> bool:
    """Whether it is no file of the repository."""
    return "://" in sample.path or not SAMPLE_FORMATS[sample.format].source


def _search_words(path: str) -> Collection[str]:
    """One of them stands in every manifest that names the file, or in most by a pattern."""
    if path.startswith((f"{_FOLDER}/", "namespaces/")):
        return {_FOLDER}
    folder, name = posixpath.split(path)
    return {name, posixpath.splitext(name)[1], *folder.split("/")} - {""}


def sample_files(tree: FileTree, repository: Repository) -> Iterator[str]:
    """The files of a tree that manifests may mean as samples."""
    wanted: set[str] = set()
    for source in repository.topics.values():
        for sample in source.samples:
            if not is_external(sample):
                wanted.add(_fixed_part(place_of(source, sample)))
    for path in tree.paths() if wanted else ():
        if any(path == folder or path.startswith(f"{folder}/") for folder in wanted):
            yield path


def write_samples(tree: FileTree, repository: Repository, folder: Path) -> None:
    """Write the files of a tree that manifests may mean as samples into a folder."""
    for path in sample_files(tree, repository):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            place.write_bytes(tree.read(path))
        except UnreadableFileError:
            continue  # a sample that is not there is found by whoever reads it


def _fixed_part(pattern: str) -> str:
    """The file of a pattern, or the last folder before its first wildcard."""
    parts = pattern.split("/")
    wild = next((i for i, part in enumerate(parts) if any(c in part for c in _WILD)), len(parts))
    return "/".join(parts[:wild])
