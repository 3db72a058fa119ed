"""What both runners do with the batches of samples: from rows to counts that add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gitops.model.errors import InvalidNameError
from gitops.model.names import TopicName, under_either_domain
from gitops.model.replay import Direction, TopicReplay
from gitops.model.samples import Sample
from gitops.replay.kernels import CHOSEN, Kernels
from gitops.replay.merging import Limits
from gitops.replay.runner import Running


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
    def of(cls, running: Running, kernels: Kernels = CHOSEN) -> Job:
        """The job that a runner is asked for."""
        return cls(
            replays={str(one.topic): one for one in running.replays},
            examples=running.examples,
            show_values=running.show_values,
            kernels=kernels,
        )

    @cached_property
    def limits(self) -> Limits:
        """How much of it is kept where it is merged."""
        most = {name: one.forward_rows for name, one in self.replays.items()}
        forward = {
            name: most[name] if has_forward(one) else 0 for name, one in self.replays.items()
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
            return under_either_domain(self._topics, TopicName.parse(text))
        except InvalidNameError:
            return None

    @cached_property
    def _topics(self) -> dict[TopicName, str]:
        return {one.topic: name for name, one in self.replays.items()}

    def sample(self, owner: Owner) -> Sample:
        """The sample that an owner stands for."""
        return self.replays[owner.topic].samples[owner.sample]


def has_forward(replay: TopicReplay) -> bool:
    """Whether somebody reads what is rewritten with the proposed schema."""
    return any(reader.direction is Direction.FORWARD for reader in replay.readers)
