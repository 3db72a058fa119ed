"""Names of files for topics, whatever the topics are called."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Final

from gitops.model.names import TopicName

_SAFE: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?:-\d+)?")
_MAX_SLUG: Final = 60


class FileNames:
    """Gives each topic a stem of its own, on file systems that fold case too."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {path.lower() for path in taken}

    def stem(self, topic: TopicName, files: Callable[[str], Iterable[str]]) -> str:
        """A stem for which all of `files(stem)` are free; they are taken from now on.

        The topic's own name if that will do, else one made of it and a part of its hash.
        """
        for stem in self._candidates(topic):
            wanted = {path.lower() for path in files(stem)}
            if not wanted & self._taken:
                self._taken |= wanted
                return stem
        raise AssertionError("there are endless candidates")

    def is_taken(self, path: str) -> bool:
        """Whether a file is there already, or will be, under whatever case."""
        return path.lower() in self._taken

    @classmethod
    def fits(cls, topic: TopicName, stem: str) -> bool:
        """Whether a stem is one that this topic may have got."""
        return cls.fitting(topic)(stem)

    @classmethod
    def fitting(cls, topic: TopicName) -> Callable[[str], bool]:
        """`fits` for many stems of one topic."""
        own = topic.local_name
        made = next(each for each in cls._candidates(topic) if each != own)

        def fits(stem: str) -> bool:
            if stem == own:
                return True
            return stem.startswith(made) and _NUMBER.fullmatch(stem, len(made)) is not None

        return fits

    @staticmethod
    def _candidates(topic: TopicName) -> Iterable[str]:
        name = topic.local_name
        if _SAFE.fullmatch(name) and not _DEVICE.fullmatch(name):
            yield name
        slug = _UNSAFE.sub("-", name).strip("-")[:_MAX_SLUG] or "topic"
        digest = hashlib.sha256(str(topic).encode("utf-8", "surrogatepass")).hexdigest()
        yield f"{slug}-{digest[:8]}"
        count = 2
        while True:
            yield f"{slug}-{digest[:8]}-{count}"
            count += 1
