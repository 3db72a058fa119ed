"""What commands answer with: one class for each kind of result, with all that a report needs.

`formats` is the table of who makes text of them.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitops.model.check import CheckReport
from gitops.model.errors import GitopsError
from gitops.model.findings import Finding, Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan
from gitops.model.policy import Policies, SchemaCompatibilityStrategy
from gitops.model.replay import ReplayReport
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.planning.skipped_subjects import SkippedSubject
from gitops.ports import Registry
from gitops.reports.plan_reports import files_report, plans_report

if TYPE_CHECKING:
    from gitops.changes.client_connections import ClientConnections
    from gitops.messaging.publish_capture import CaptureSource
    from gitops.messaging.publish_topic import Publication
    from gitops.model.apply_result import Result
    from gitops.repository.file_comparison import Comparison
    from gitops.repository.formatting.repository import FormatResult
    from gitops.repository.writing.imported_files import ImportedFiles
    from gitops.usecases.capture import CapturedTopic
    from gitops.usecases.connect import Connection
    from gitops.usecases.publish import Forecast
    from gitops.usecases.schemas import ClassMatch

Excerpt = Callable[[Location], str | None]
"""The line that a location is on, without its end; None where nobody has the file."""


def no_excerpt(_: Location) -> None:
    """For findings about files that nobody can read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewResult(ABC):
    """What a pull request shows: it is also a `CheckReport`, for formats that know only that.

    `folder` is that of the schemas repository in its git repository, empty or with a `/` at its
    end.
    """

    excerpt: Excerpt = no_excerpt
    folder: str = ""

    @property
    @abstractmethod
    def report(self) -> CheckReport:
        """The result as a report on a change."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What all findings rest on, in lines, where the report itself has no place for it."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsResult(ReviewResult):
    """Findings about files; `command` finds them again."""

    findings: Sequence[Finding]
    command: str

    @property
    def report(self) -> CheckReport:
        """A report of no change and no registry."""
        return files_report(self.findings, self.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult(ReviewResult):
    """A change that was checked, in so many seconds."""

    check: CheckReport
    seconds: float

    @property
    def report(self) -> CheckReport:
        """The check itself."""
        return self.check


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult(ReviewResult):
    """A plan, made in so many seconds; `commit` describes the commit of the files.

    `options` are those of the command that say what was read.
    """

    plan: Plan
    commit: Callable[[], str | None]
    seconds: float
    options: tuple[str, ...] = ()

    @property
    def report(self) -> CheckReport:
        """All that the plan contains is to be done."""
        return plans_report([self.plan], options=self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryPlan:
    """The plan for one registry, or why there is none; `seconds` is how long it took."""

    registry: str
    plan: Plan | None = None
    error: GitopsError | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlansResult(ReviewResult):
    """Plans for several registries; `options` as above."""

    plans: Sequence[RegistryPlan]
    commit: Callable[[], str | None]
    options: tuple[str, ...] = ()

    @property
    def report(self) -> CheckReport:
        """All that the plans contain is to be done."""
        failures = {plan.registry: plan.error.what for plan in self.plans if plan.error}
        made = [planned.plan for planned in self.plans if planned.plan]
        return plans_report(made, failures, options=self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionResult(ReviewResult):
    """Whether a broker would accept a definition."""

    comparison: Comparison

    @property
    def report(self) -> CheckReport:
        """Its findings."""
        return files_report(self.comparison.findings, "pulsar-gitops compat")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult(ReviewResult):
    """Samples that were replayed, in so many seconds; `command` does it again."""

    replay: ReplayReport
    command: str
    seconds: float

    @property
    def report(self) -> CheckReport:
        """Its findings."""
        return files_report(self.replay.findings, self.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRun:
    """Which run of `replay` a page is of; `commit` describes the commit of the files, if any.

    `command` runs it again, `program` is the version of this program, `made` is in UTC.
    """

    command: str
    made: datetime.datetime
    commit: str | None
    program: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPage:
    """The same as a page with plots, which `--html` writes beside the answer."""

    replay: ReplayReport
    run: ReplayRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutResult:
    """The order of the upgrades; `migrated` where the manifests of migrations are written."""

    report: CheckReport
    migrated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedResult:
    """What became of each action of a plan.

    `digest` is that of the plan that was reviewed, `done_before` how many of its actions an
    earlier run had carried out, `skipped` what was left as it is because of findings.
    """

    plan: Plan
    results: Sequence[Result]
    digest: str
    done_before: int
    skipped: Sequence[SkippedSubject] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedPlansResult:
    """What became of the plans of several registries, and why some are not carried out whole."""

    applied: Sequence[AppliedResult]
    failures: Sequence[tuple[str, GitopsError]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The files that an import wrote, for which topics, and those that had a manifest before.

    `limits` are sentences about topics that are not known, or may not last.
    """

    registry: Registry
    files: ImportedFiles
    topics: Sequence[TopicName]
    kept: Sequence[TopicName]
    limits: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureResult:
    """The topics whose messages were captured."""

    topics: Sequence[CapturedTopic]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationResult:
    """How far a capture is published, and the command that goes on."""

    topic: TopicName
    publication: Publication
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastResult:
    """What the broker of a registry would decide about a capture."""

    topic: TopicName
    source: CaptureSource
    forecast: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class FmtResult:
    """What `fmt` changed, or would change where nothing was `written`."""

    formatting: FormatResult
    written: bool
    diff: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionResult:
    """One stored version of a topic."""

    topic: TopicName
    entry: SchemaEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsResult:
    """All stored versions of a topic."""

    topic: TopicName
    history: SchemaHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliciesResult:
    """What is set on a subject, and the strategy that applies to it."""

    subject: NamespaceName | TopicName
    own: Policies
    effective: SchemaCompatibilityStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionResult:
    """Whether a client may connect."""

    connection: Connection
    registry: Registry
    excerpt: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConnectionsResult:
    """Whether a declared client may connect to its topics."""

    connections: ClientConnections
    registry: Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionResult:
    """The schema of a class."""

    info: SchemaInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """What a topic has of the schema of a class; `excerpt` reads the repository's files."""

    matched: ClassMatch
    registry: Registry
    excerpt: Excerpt
