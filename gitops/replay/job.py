"""What an engine is asked for and what it answers: the job of its workers, the run, the Runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

from gitops.model.errors import InvalidNameError
from gitops.model.names import TopicName, find_in_either_domain
from gitops.model.replay import Direction, Sample, TopicReplay
from gitops.ports import Progress, no_progress
from gitops.replay.counts import Key, Limits, Tally
from gitops.replay.kernel.protocol import Kernels
from gitops.replay.kernel.schema_types import CHOSEN


class Owner(NamedTuple):
    """Whose sample a file is: a topic, and the number of the sample there."""

    topic: str
    sample: int


@dataclass(frozen=True, kw_only=True)
class Job:
    """A replay as workers get it: it can be pickled, and holds no data.

    `replays` are by the topic's name.
    """

    replays: Mapping[str, TopicReplay]
    examples: int = 5
    show_values: bool = False
    kernels: Kernels = CHOSEN

    @classmethod
    def of(cls, request: RunRequest, kernels: Kernels = CHOSEN) -> Job:
        """The job that a runner is asked for."""
        return cls(
            replays={str(replay.topic): replay for replay in request.replays},
            examples=request.examples,
            show_values=request.show_values,
            kernels=kernels,
        )

    @cached_property
    def limits(self) -> Limits:
        """How much of it is kept where it is merged."""
        most = {name: replay.forward_rows for name, replay in self.replays.items()}
        forward = {
            name: most[name] if has_forward(replay) else 0 for name, replay in self.replays.items()
        }
        return Limits(examples=self.examples, forward_rows=forward)

    @cached_property
    def _names(self) -> dict[str, str | None]:
        return {}

    def topic_of(self, text: str) -> str | None:
        """The replayed topic that a row names, in whatever form; None if it is none of them."""
        if text not in self._names:
            if len(self._names) > len(self.replays) + 10_000:
                self._names.clear()
            self._names[text] = self._known(text)
        return self._names[text]

    def _known(self, text: str) -> str | None:
        try:
            return find_in_either_domain(self._topics, TopicName.parse(text))
        except InvalidNameError:
            return None

    @cached_property
    def _topics(self) -> dict[TopicName, str]:
        return {replay.topic: name for name, replay in self.replays.items()}

    def sample(self, owner: Owner) -> Sample:
        """The sample that an owner stands for."""
        return self.replays[owner.topic].samples[owner.sample]


def has_forward(replay: TopicReplay) -> bool:
    """Whether somebody reads what is rewritten with the proposed schema."""
    return any(reader.direction is Direction.FORWARD for reader in replay.readers)


# What runs a replay: samples in, tallies out; in this process or on Spark.


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
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
class DuplicateFiles:
    """Files that a sample names, sorted, and that the `first` one of the topic has counted."""

    topic: TopicName
    sample: Sample
    first: Sample
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What came of it. After an interruption `complete` is False, and the tallies hold the rest."""

    tallies: Mapping[Key, Tally]
    unread: tuple[UnreadSample, ...] = ()
    twice: tuple[DuplicateFiles, ...] = ()
    complete: bool = True


class Runner(Protocol):
    """Runs all topics of a replay at once; `engine` is what a person chose: `local`, `spark`."""

    @property
    def engine(self) -> str:
        """Its name on the command line."""
        ...

    def run(self, request: RunRequest, progress: Progress = no_progress) -> RunResult:
        """Read every sample; progress counts rows.

        Raises OutsideError where the engine fails as a whole, UsageError where it is not
        installed. KeyboardInterrupt ends the run, which answers with what was done until then.
        """
        ...
