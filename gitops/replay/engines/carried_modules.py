"""Runs on workers that lack this project, and imports it from what the function carries.

It is pickled by value, so that it needs no module that is not Python's own.
"""

from __future__ import annotations

import json
import pickle
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from typing import Any

_PACKAGE = "gitops"


def carrier(digest: str, modules: bytes, work: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that was pickled as `work`, with the modules that it needs.

    `modules` is compressed JSON: texts by file; `digest` is another one where a text is.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        install(digest, modules)
        return pickle.loads(work)(batches)  # type: ignore[no-any-return]  # noqa: S301 - as Spark does

    return run


def install(digest: str, modules: bytes) -> None:
    """Import the project from there from now on; a worker lives longer than one function."""
    finders: list[Any] = sys.meta_path
    if any(getattr(finder, "digest", None) == digest for finder in finders):
        return
    finders[:] = [finder for finder in finders if not hasattr(finder, "digest")]
    for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGE]:
        del sys.modules[name]
    finders.insert(0, CarriedModules(digest, json.loads(zlib.decompress(modules))))


class CarriedModules(ExecutionLoader, MetaPathFinder):
    """Finds and loads modules whose texts are in memory, by their files."""

    def __init__(self, digest: str, texts: Mapping[str, str]) -> None:
        self.digest = digest
        self._texts = texts
        self._files = {_module(file): file for file in texts}

    def find_spec(self, fullname: str, *_other: object) -> ModuleSpec | None:
        """Of a module of the project, by its full name."""
        return spec_from_loader(fullname, self) if fullname in self._files else None

    def is_package(self, fullname: str) -> bool:
        """Whether modules are below it."""
        return self._files[fullname].endswith("/__init__.py")

    def get_filename(self, fullname: str) -> str:
        """As in tracebacks."""
        return self._files[fullname]

    def get_source(self, fullname: str) -> str:
        """The text."""
        return self._texts[self._files[fullname]]


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
