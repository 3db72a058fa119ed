"""The quick look: everything in this process, without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from gitops.interrupts import interruptible
from gitops.ports import Progress, no_progress
from gitops.replay.batch_reader import read_parts
from gitops.replay.forward_direction import rewrite
from gitops.replay.job import Job, RunRequest, RunResult, UnreadSample
from gitops.replay.kernel.protocol import Kernels
from gitops.replay.kernel.schema_types import CHOSEN
from gitops.replay.sources.part import Part, UnreadableError
from gitops.replay.sources.parts import PartPlan, SampleData, plan_parts, unread
from gitops.replay.tallies import PartResult, merge, sorted_result

READING: Final = "reading messages"
REWRITING: Final = "rewriting messages"


class LocalRunner:
    """One part after the other, one batch at a time."""

    engine = "local"

    def __init__(self, kernels: Kernels = CHOSEN) -> None:
        self._kernels = kernels

    def run(self, running: RunRequest, progress: Progress = no_progress) -> RunResult:
        """As Runner says."""
        job = Job.of(running, self._kernels)
        planned = plan_parts(running)
        for wanted in planned.left:
            planned.unread.extend(unread(running, wanted, _needs_spark(wanted)))
        with interruptible() as stopped:
            gathered = _read(job, planned.parts, progress, stopped)
            rewrite_all(job, gathered, progress, stopped)
            return run_result(running, gathered, planned, complete=not stopped())


def _needs_spark(wanted: SampleData) -> UnreadableError:
    if wanted.why:
        return UnreadableError(f"it cannot be opened: {wanted.why}")
    other = ", or name it s3://" if wanted.sample.path.startswith("s3a://") else ""
    return UnreadableError("only Spark can read it", f"run it with --engine spark{other}")


def _read(
    job: Job, parts: Iterable[Part], progress: Progress, stopped: Callable[[], bool]
) -> PartResult:
    parts = list(parts)
    total = sum(part.rows for part in parts) if all(part.rows for part in parts) else 0
    done = 0

    def watch(rows: int) -> bool:
        nonlocal done
        done += rows
        progress(READING, done, total)
        return not stopped()

    return read_parts(job, parts, watch)


def rewrite_all(
    job: Job, gathered: PartResult, progress: Progress, stopped: Callable[[], bool]
) -> None:
    """The forward direction, on what was chosen for it."""
    total = sum(map(len, gathered.chosen.values()))
    done = 0
    for (topic, version), chosen in sorted(gathered.chosen.items()):
        if stopped():
            return
        progress(REWRITING, done, total)
        merge(gathered, rewrite(job, topic, version, chosen), job.limits)
        done += len(chosen)


def run_result(
    running: RunRequest, gathered: PartResult, planned: PartPlan, *, complete: bool
) -> RunResult:
    """The answer, in an order that does not depend on who came first."""
    gathered = sorted_result(gathered)
    replays = {str(one.topic): one for one in running.replays}
    found = [
        UnreadSample(
            topic=replays[topic].topic,
            sample=replays[topic].samples[sample],
            file=file,
            why=why,
            hint=hint,
        )
        for topic, sample, file, why, hint in gathered.unread
    ]
    return RunResult(
        tallies=gathered.tallies,
        unread=(*planned.unread, *found),
        twice=tuple(planned.twice),
        complete=complete,
    )
