"""The registry's latest version of topics that have a manifest, as changes of their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from gitops.git.checkout import open_checkout
from gitops.git.references import head_of
from gitops.git.tree import tree_of
from gitops.model.errors import NotThereError, UnreadableFileError, UsageError
from gitops.model.names import TopicName
from gitops.model.repository import Repository
from gitops.model.schema import AVRO_DEFINED
from gitops.model.state import RegistryState, TopicState
from gitops.planning.diff.schemas import schema_changes
from gitops.planning.policies import changes
from gitops.planning.sameness import is_same
from gitops.ports import FileTree
from gitops.repository.formatting.files import LeftAloneError, format_definition
from gitops.repository.loader import load
from gitops.repository.selection import OverlaidTree
from gitops.repository.writer import render
from gitops.usecases.format import format_repository

_PARTS: Final = ("schema", "policies")


def update_topic(tree: FileTree, repository: Repository, state: TopicState) -> Mapping[str, bytes]:
    """Path → content of what has to change so that a plan has nothing to say of the topic.

    Nothing else may change by it. Raises NotThereError where the registry has nothing to take, and
    UsageError where the files cannot say what the registry has.
    """
    topic = state.topic
    if state.is_empty:
        raise NotThereError(f"{topic} has no schema in the registry", hint="remove its manifest")
    if _says(repository, state):
        return {}
    for files in _attempts(tree, repository, state):
        overlaid = OverlaidTree(tree, files)
        formatted = {
            change.path: change.after
            for change in format_repository(overlaid, tuple(files)).changes
        }
        wanted = {**files, **formatted}
        after = load(OverlaidTree(tree, wanted))
        if _says(after, state) and _others(after, topic) == _others(repository, topic):
            return wanted
    raise UsageError(
        f"{topic} cannot be updated without a change of other topics, or of what the registry has",
        where=repository.topics[topic].manifest.file,
        hint=f"look at it with `pulsar-gitops schemas get {topic}`, and change the files by hand",
    )


def require_committed(tree: FileTree, root: Path, paths: Iterable[str]) -> None:
    """Raise UsageError where a file that would be overwritten differs from the last commit."""
    dirty: list[str] = []
    try:
        with open_checkout(root) as checkout:
            commit = head_of(checkout)
            committed = tree_of(checkout, commit) if commit else None
            dirty = [p for p in paths if committed is None or _read(committed, p) != _read(tree, p)]
    except UsageError:  # without git nothing is committed
        return
    if dirty:
        raise UsageError(
            f"{', '.join(dirty)} would be overwritten, and has changes that are not committed",
            hint="commit or stash them first",
        )


def _read(tree: FileTree, path: str) -> bytes | None:
    try:
        return tree.read(path).replace(b"\r\n", b"\n")
    except UnreadableFileError:
        return None


def _says(repository: Repository, state: TopicState) -> bool:
    """Whether a plan for the files would leave the topic alone."""
    desired = repository.desired.topics.get(state.topic)
    if desired is None or changes(desired.policies, state.policies):
        return False
    held, wanted = state.history.latest, desired.history.latest
    if held is None or wanted is None:
        return held is wanted
    return is_same(held.info, wanted.info) and not schema_changes(held.info, wanted.info)


def _others(repository: Repository, topic: TopicName) -> dict[TopicName, TopicState]:
    return {name: one for name, one in repository.desired.topics.items() if name != topic}


def _attempts(
    tree: FileTree, repository: Repository, state: TopicState
) -> Iterator[dict[str, bytes]]:
    """The definition alone, then the manifest with files of its own."""
    source = repository.topics[state.topic]
    latest = state.history.latest
    if latest and latest.info.type in AVRO_DEFINED and source.definitions:
        path = source.definitions[0]
        try:
            yield {path: format_definition(path, latest.info.schema.encode())}
        except LeftAloneError:
            yield {path: latest.info.schema.encode()}
    manifest = source.manifest.file
    own = {manifest, *source.definitions[:1]}
    for taken in ([path for path in tree.paths() if path not in own], tree.paths()):
        rendered = render(RegistryState(topics={state.topic: state}), taken=taken)
        path = next(each for each in rendered if each.endswith(".yaml"))
        new = rendered.pop(path)
        text = _spliced(tree.read(manifest).decode(), new.decode())
        yield {**rendered, manifest: text.encode()}


def _spliced(text: str, new: str) -> str:
    """A manifest with `schema` and `policies` of another one; all other lines stay."""
    parts = _parts(new)
    kept = [part for part in _blocks(text) if _key(part) not in _PARTS]
    return "".join([*(part.rstrip("\n") + "\n" for part in kept), *parts])


def _parts(text: str) -> list[str]:
    return [part for part in _blocks(text) if _key(part) in _PARTS]


def _blocks(text: str) -> list[str]:
    """The lines of a manifest, from one key of the outermost mapping to the next."""
    return re.split(r"^(?=[A-Za-z])", text, flags=re.MULTILINE)


def _key(block: str) -> str:
    return block.partition(":")[0]
