"""Guards of what a change does to the registries in gitops.yaml, beside the policies they get."""

from __future__ import annotations

from collections.abc import Iterable

from gitops.model.findings import Finding, Location
from gitops.model.names import NamespaceName
from gitops.model.rules import finding


def of_taken_out(name: str, own: Iterable[NamespaceName], where: Location | None) -> Finding:
    """A registry that the base has and the change has not; `own` had policies of their own."""
    spaces = ", ".join(map(str, sorted(own)))
    policies = f", and with it its own policies for {spaces}" if spaces else ""
    return finding(
        "CHECK-R003",
        f"registry {name} is taken out{policies}: nothing here manages it any more",
        location=where,
        subject=name,
        hint="what it holds stays as it is; whoever owns the topics should agree",
    )


def of_other_default(old: str, new: str, where: Location | None) -> Finding:
    """Another registry is meant where nobody names one."""
    return finding(
        "CHECK-R006",
        f"defaultRegistry is another: {old} → {new}",
        location=where,
        subject=new,
        hint=f"this change is judged by {new}; `check --registry {old}` tells what {old} makes of "
        "it",
    )


def of_left_snapshots(old: str, new: str, where: Location | None) -> Finding:
    """A registry has another name, and its recorded history does not go with it."""
    return finding(
        "CHECK-R006",
        f"registry {old} is renamed to {new}, and its snapshots are not: after the merge there is "
        "no recorded history to compare a change with",
        location=where,
        subject=new,
        hint=f"git mv snapshots/{old} snapshots/{new}",
    )
