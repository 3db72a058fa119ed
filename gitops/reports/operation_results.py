"""What commands that operate a cluster answer with: drift, journals, snapshots, restores."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitops.model.apply_result import Result
from gitops.model.audit import AuditReport
from gitops.model.check import CheckReport
from gitops.model.drift import DriftReport
from gitops.model.errors import GitopsError
from gitops.model.journal import JournalRun
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import SetPolicy
from gitops.model.policy import PolicyChange
from gitops.model.restore import Restore, RestoreCheck
from gitops.ports import Registry
from gitops.reports.audit_wording import decided_by, scope_text
from gitops.reports.plan_reports import files_report
from gitops.reports.results import ReviewResult

if TYPE_CHECKING:
    from gitops.repository.writing.adoption import Adoption


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryDrift:
    """The drift of one registry, or why it is not known."""

    registry: str
    report: DriftReport | None = None
    error: GitopsError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftResult:
    """The drift of each registry; `options` are those that say which files were read.

    `adoption` is what was written of it into the files, None where that was not asked for.
    """

    registries: Sequence[RegistryDrift]
    options: tuple[str, ...] = ()
    adoption: Adoption | None = None

    @property
    def command(self) -> str:
        """The command that finds it again."""
        named = [word for planned in self.registries for word in ("--registry", planned.registry)]
        reports = [registry.report for registry in self.registries if registry.report]
        has_clients = any(report.new_clients is not None for report in reports)
        clients = ["--clients"] if has_clients else []
        return shlex.join(["pulsar-gitops", "drift", *self.options, *clients, *named])


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalResult:
    """The applies that a journal tells of, in their order.

    `plan_file` is the one that the last applies were of, empty where it is not known.
    """

    path: str
    runs: Sequence[JournalRun]
    plan_file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotResult:
    """The files of a snapshot under `folder`, and how many of them are new, other or gone.

    `notes` say what could not be recorded.
    """

    registry: Registry
    folder: str
    files: Sequence[str]
    changed: int
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult(ReviewResult):
    """What an audit of a registry found, in so many seconds; `command` finds it again.

    `made` is in UTC, and `commit` describes that of the repository, if there is one.
    """

    audit: AuditReport
    command: str
    seconds: float
    made: datetime.datetime | None = None
    commit: Callable[[], str | None] = lambda: None

    @property
    def report(self) -> CheckReport:
        """Its findings."""
        return files_report(self.audit.findings, self.command)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was looked at, by what it was decided, what to do, and what was not read."""
        own = self.audit
        steps = (f"{number}. {text}" for number, text in enumerate(own.steps, 1))
        unread = (f"not read: {limit}" for limit in own.limits)
        return (scope_text(own), *decided_by(own), *steps, *unread)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """What a restore would do, did, or why it cannot be done; `check` is what is there after it.

    `results` are those of the actions that were tried, `error` is what stopped them.
    """

    restore: Restore
    dry_run: bool = False
    results: Sequence[Result] = ()
    error: GitopsError | None = None
    check: RestoreCheck | None = None

    @property
    def policies(self) -> Mapping[NamespaceName | TopicName, tuple[PolicyChange, ...]]:
        """What becomes of policies, or what became of them where the restore stopped.

        A strategy that is open for the time of the restore is no change.
        """
        actions = (
            [result.action for result in self.results if result.error is None]
            if self.error
            else self.restore.plan.actions
        )
        changes: dict[NamespaceName | TopicName, dict[str, PolicyChange]] = {}
        for action in actions:
            if isinstance(action, SetPolicy):
                keys, change = changes.setdefault(action.subject, {}), action.change
                first = keys.get(change.key, change)
                keys[change.key] = replace(change, before=first.before)
        return {
            subject: effective
            for subject, keys in changes.items()
            if (effective := tuple(key for key in keys.values() if key.before != key.after))
        }
