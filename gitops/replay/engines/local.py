"""The quick look: everything in this process, without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from gitops.interrupts import interruptible
from gitops.ports import Progress, no_progress
from gitops.replay.batch_reader import read_parts
from gitops.replay.counts import PartResult, merge, sorted_result
from gitops.replay.forward_direction import rewrite
from gitops.replay.job import Job, RunRequest, RunResult, UnreadSample
from gitops.replay.kernel.protocol import Kernels
from gitops.replay.kernel.schema_types import CHOSEN
from gitops.replay.sources.part_plan import PartPlan, SampleData, plan_parts, unread_samples
from gitops.replay.sources.source import Part, UnreadableError

READING: Final = "reading messages"
REWRITING: Final = "rewriting messages"


class LocalRunner:
    """One part after the other, one batch at a time."""

    engine = "local"

    def __init__(self, kernels: Kernels = CHOSEN) -> None:
        self._kernels = kernels

    def run(self, request: RunRequest, progress: Progress = no_progress) -> RunResult:
        """As Runner says."""
        job = Job.of(request, self._kernels)
        plan = plan_parts(request)
        for data in plan.left:
            plan.unread.extend(unread_samples(request, data, _needs_spark(data)))
        with interruptible() as stopped:
            result = _read(job, plan.parts, progress, stopped)
            rewrite_all(job, result, progress, stopped)
            return run_result(request, result, plan, complete=not stopped())


def _needs_spark(data: SampleData) -> UnreadableError:
    if data.why:
        return UnreadableError(f"it cannot be opened: {data.why}")
    other = ", or name it s3://" if data.sample.path.startswith("s3a://") else ""
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
    job: Job, result: PartResult, progress: Progress, stopped: Callable[[], bool]
) -> None:
    """The forward direction, on what was chosen for it."""
    total = sum(map(len, result.chosen.values()))
    done = 0
    for (topic, version), chosen in sorted(result.chosen.items()):
        if stopped():
            return
        progress(REWRITING, done, total)
        merge(result, rewrite(job, topic, version, chosen), job.limits)
        done += len(chosen)


def run_result(
    request: RunRequest, result: PartResult, plan: PartPlan, *, complete: bool
) -> RunResult:
    """The answer, in an order that does not depend on who came first."""
    result = sorted_result(result)
    replays = {str(replay.topic): replay for replay in request.replays}
    samples = [
        UnreadSample(
            topic=replays[topic].topic,
            sample=replays[topic].samples[sample],
            file=file,
            why=why,
            hint=hint,
        )
        for topic, sample, file, why, hint in result.unread
    ]
    return RunResult(
        tallies=result.tallies,
        unread=(*plan.unread, *samples),
        twice=tuple(plan.twice),
        complete=complete,
    )
