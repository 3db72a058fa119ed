"""What a replay runs on; without its libraries, which are an extra, the user hears what to do."""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from gitops.model.errors import UsageError

if TYPE_CHECKING:
    from gitops.replay.runner import Runner


class Engine(StrEnum):
    """`spark` for data of any size, `local` for a quick look without Java."""

    SPARK = "spark"
    LOCAL = "local"


_NEEDED: Final = {
    Engine.SPARK: ("numpy", "pandas", "pyarrow", "pyspark"),
    Engine.LOCAL: ("numpy", "pyarrow"),
}


_EXTRAS: Final = {Engine.SPARK: "spark", Engine.LOCAL: "replay"}


def runner_of(engine: Engine, master: str | None) -> Runner:
    """The runner, not yet started; raises UsageError."""
    missing = [name for name in _NEEDED[engine] if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a replay on the engine '{engine}' needs {' and '.join(missing)}, not installed here",
            hint=f"pip install 'pulsar-schema-gitops[{_EXTRAS[engine]}]'",
        )
    if engine is Engine.LOCAL:
        if master is not None:
            raise UsageError(
                "--master names a Spark master, and --engine local runs without Spark",
                hint="leave one of them out",
            )
        from gitops.replay.runners.local import LocalRunner

        return LocalRunner()
    from gitops.replay.runners.spark import SparkRunner

    return SparkRunner(master)
