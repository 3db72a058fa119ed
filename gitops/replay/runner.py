"""What runs a replay: samples in, tallies out; in this process or on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gitops.model.names import TopicName
from gitops.model.replay import TopicReplay
from gitops.model.samples import Sample
from gitops.ports import Progress, no_progress
from gitops.replay.tally import Key, Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What is run, and what of it is shown.

    `root` is the folder of the repository, from which the files of manifests count. `examples`
    bounds the rows that are shown of each reason; they hold values only with `show_values`.
    """

    replays: tuple[TopicReplay, ...]
    root: Path
    examples: int = 5
    show_values: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadSample:
    """A sample that was not read, or not to its end, and why: a sentence without an end.

    `file` is the one of its files that it is about, empty where it is about all of it, and `why`
    names it. `missing`: nothing is there under its path. `hint` is what to do about it, if known.
    """

    topic: TopicName
    sample: Sample
    why: str
    file: str = ""
    missing: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTwice:
    """Files that a sample names, sorted, and that the `first` one of the topic has counted."""

    topic: TopicName
    sample: Sample
    first: Sample
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of it. After an interruption `complete` is False, and the tallies hold the rest."""

    tallies: Mapping[Key, Tally]
    unread: tuple[UnreadSample, ...] = ()
    twice: tuple[NamedTwice, ...] = ()
    complete: bool = True


class Runner(Protocol):
    """Runs all topics of a replay at once; `engine` is what a person chose: `local`, `spark`."""

    @property
    def engine(self) -> str:
        """Its name on the command line."""
        ...

    def run(self, running: Running, progress: Progress = no_progress) -> Ran:
        """Read every sample; progress counts rows.

        Raises OutsideError where the engine fails as a whole, UsageError where it is not
        installed. KeyboardInterrupt ends the run, which answers with what was done until then.
        """
        ...
