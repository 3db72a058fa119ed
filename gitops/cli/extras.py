"""What needs an extra of the installation: without its libraries a command names the next step."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from gitops.model.errors import UsageError, extra_hint
from gitops.ports import Progress, no_progress

if TYPE_CHECKING:
    from gitops.replay.job import Runner, RunRequest, RunResult

# The extras of an installation: a command whose libraries are missing says what to install.


def require_modules(what: str, modules: Iterable[str], extra: str, instead: str = "") -> None:
    """Raises UsageError where a module that `what` imports is not installed.

    `instead` is what does without.
    """
    if missing := [name for name in modules if find_spec(name) is None]:
        raise UsageError(
            f"{what} needs {' and '.join(missing)}, not installed here",
            hint=f"{extra_hint(extra)}{instead}",
        )


# What a replay runs on; without its libraries, which are an extra, the user hears what to do.


class Engine(StrEnum):
    """`spark` for data of any size, `local` for a quick look without Java."""

    SPARK = "spark"
    LOCAL = "local"


_NEEDED: Final = {
    Engine.SPARK: ("numpy", "pandas", "pyarrow", "pyspark"),
    Engine.LOCAL: ("numpy", "pyarrow"),
}


_EXTRAS: Final = {Engine.SPARK: "spark", Engine.LOCAL: "replay"}


class _NoPandas(MetaPathFinder):
    """As if it were not installed."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """None where another finder may know."""
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


@contextmanager
def without_pandas() -> Iterator[None]:
    """For a command that has no use for pandas.

    pyarrow imports it wherever it is installed, which took 0.6 s of a command of 1.5 s
    (pyarrow 26, pandas 2.3), and a third of the memory of a capture.
    """
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Quick:
    """A runner for a command that has no use for pandas."""

    def __init__(self, runner: Runner) -> None:
        self.engine = runner.engine
        self._runner = runner

    def run(self, running: RunRequest, progress: Progress = no_progress) -> RunResult:
        """As Runner says."""
        with without_pandas():
            return self._runner.run(running, progress)


def runner_of(engine: Engine, master: str | None) -> Runner:
    """The runner, not yet started; raises UsageError."""
    instead = "; or have a quick look with --engine local" if engine is Engine.SPARK else ""
    require_modules(f"a replay on the engine '{engine}'", _NEEDED[engine], _EXTRAS[engine], instead)
    if engine is Engine.LOCAL:
        if master is not None:
            raise UsageError(
                "--master names a Spark master, and --engine local runs without Spark",
                hint="leave one of them out",
            )
        from gitops.replay.engines.local import LocalRunner

        return _Quick(LocalRunner())
    from gitops.replay.engines.spark import SparkRunner

    return SparkRunner(master)
