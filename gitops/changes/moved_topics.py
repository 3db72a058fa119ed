"""Topics whose manifests a change moves: to other topics, or to where nothing reads them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from gitops.changes.change import LoadedChange
from gitops.model.check import Impact
from gitops.model.names import TopicName

_ROOT: Final = "namespaces"


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedTopics:
    """Topics of one folder, which is `old` in the base and `new` in the head.

    Both are the same where a topic's file has another name in its folder. `topics` are those of
    the base, by the new topics that their manifests declare now; by themselves where no manifest
    is read from the new folder. `files` are all that moved with the folder. `way_back` is the
    command that takes the move back, empty where the folders hold other files too.
    """

    old: str
    new: str
    topics: Mapping[TopicName, TopicName]
    files: frozenset[str]
    way_back: str


def moved_topics(loaded: LoadedChange, touched: Impact) -> list[MovedTopics]:
    """The topics that become others, by the outermost folder that moved; a renamed one alone."""
    folders: dict[tuple[str, str, TopicName | None], dict[TopicName, TopicName]] = {}
    for new, old in touched.renamed.items():
        if new.namespace == old.namespace:
            folder = f"{_ROOT}/{old.namespace}"
            folders[folder, folder, new] = {new: old}
        else:
            paths = f"{_ROOT}/{old.namespace}", f"{_ROOT}/{new.namespace}"
            paths = _moved_folder(*paths, loaded)
            folders.setdefault((*paths, None), {})[new] = old
    return [_moved(old, new, topics, loaded) for (old, new, _), topics in folders.items()]


def unread_topics(loaded: LoadedChange, touched: Impact) -> list[MovedTopics]:
    """The topics whose manifests are below another folder than `namespaces/` now."""
    new_paths = {
        path.partition("/")[2]: path
        for path in loaded.head_paths - loaded.base_paths
        if not path.startswith(f"{_ROOT}/")
    }
    new_paths |= {old.partition("/")[2]: new for new, old in loaded.renamed.items()}
    folders: dict[str, dict[TopicName, TopicName]] = {}
    for topic in touched.removed:
        below_root = loaded.base.topics[topic].manifest.file.partition("/")[2]
        new_path = new_paths.get(below_root, "")
        if new_path.endswith(f"/{below_root}"):
            folders.setdefault(new_path.removesuffix(f"/{below_root}"), {})[topic] = topic
    return [_moved(_ROOT, new, topics, loaded) for new, topics in folders.items()]


def _moved_folder(old: str, new: str, loaded: LoadedChange) -> tuple[str, str]:
    """The folders of the tenants where a whole tenant has another name, else the namespaces'."""
    tenants = old.rpartition("/")[0], new.rpartition("/")[0]
    is_same_name = old.rpartition("/")[2] == new.rpartition("/")[2]
    return tenants if is_same_name and _is_whole(*tenants, loaded) else (old, new)


def _is_whole(old: str, new: str, loaded: LoadedChange) -> bool:
    """Whether nothing is left in the old folder, and nothing was in the new one."""
    return not _below(old, loaded.head_paths) and not _below(new, loaded.base_paths)


def _moved(
    old: str, new: str, topics: Mapping[TopicName, TopicName], loaded: LoadedChange
) -> MovedTopics:
    gone = loaded.base_paths - loaded.head_paths
    files = frozenset(
        path
        for path in _below(new, loaded.head_paths - loaded.base_paths)
        if old + path.removeprefix(new) in gone
    )
    way_back = f"git mv {new} {old}" if _is_whole(old, new, loaded) else ""
    return MovedTopics(old=old, new=new, topics=topics, files=files, way_back=way_back)


def _below(folder: str, paths: Collection[str]) -> list[str]:
    return [path for path in paths if path.startswith(f"{folder}/")]
