"""What a rule is: an id that findings carry, a title for people, and how bad a breach is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gitops.model.findings import Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `gitops.yaml` may give it another severity if it is `configurable`.

    A rule is not configurable where a breach means that a file could not be understood: the
    desired state is then not known, and silence would turn a typing error into a deletion.
    `found_by` is the function below `gitops` that decides that there is a breach; of several the
    first to read. `if_promised` is the severity of a finding about readers that fail for certain
    where the strategy promises that they can read; None where the strategy does not matter.
    `least` is the lowest severity that `gitops.yaml` can give it: a report is never silent about
    clients that can no longer connect, or about messages that can no longer be read.
    """

    id: str
    severity: Severity
    title: str
    found_by: str
    configurable: bool = True
    if_promised: Severity | None = None
    least: Severity = Severity.OFF

    @property
    def highest_severity(self) -> Severity:
        """The worst that a finding of it can be by default."""
        return max(self.severity, self.if_promised or Severity.OFF)


def fixed_error(rule: str, title: str, found_by: str) -> Rule:
    """An error that `gitops.yaml` cannot rate otherwise."""
    return Rule(rule, Severity.ERROR, title, found_by, configurable=False)


def error(rule: str, title: str, found_by: str) -> Rule:
    """An error, unless `gitops.yaml` rates it otherwise."""
    return Rule(rule, Severity.ERROR, title, found_by)


def warning(rule: str, title: str, found_by: str) -> Rule:
    """A warning, unless `gitops.yaml` rates it otherwise."""
    return Rule(rule, Severity.WARNING, title, found_by)


def reader_warning(rule: str, title: str, found_by: str) -> Rule:
    """A warning; an error where the strategy promises that the readers that fail can read."""
    made = Rule(rule, Severity.WARNING, title, found_by, if_promised=Severity.ERROR)
    return always_told(made)


def always_told(rule: Rule) -> Rule:
    """The rule as one that `off` makes a note, since without it a green report is a promise."""
    return replace(rule, least=Severity.INFO)


def info(rule: str, title: str, found_by: str) -> Rule:
    """A note, unless `gitops.yaml` rates it otherwise."""
    return Rule(rule, Severity.INFO, title, found_by)
