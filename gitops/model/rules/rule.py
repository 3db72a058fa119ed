"""What a rule is: an id that findings carry, a title for people, and how bad a breach is."""

from __future__ import annotations

from dataclasses import dataclass

from gitops.model.findings import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule; `gitops.yaml` may give it another severity if it is `configurable`.

    A rule is not configurable where a breach means that a file could not be understood: the
    desired state is then not known, and silence would turn a typing error into a deletion.
    """

    id: str
    title: str
    severity: Severity
    configurable: bool = True
