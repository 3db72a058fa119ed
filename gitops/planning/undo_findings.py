"""What an undo leaves as it is, with the reason.

Pulsar has no way back: a version stays registered, a deleted one does not come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState
from gitops.planning.fingerprints import is_same
from gitops.planning.revision import is_revision_of

_RULE: Final = "PLAN-R017"


def left(subject: NamespaceName | TopicName | str, message: str, hint: str = "") -> Finding:
    """Something that an undo leaves as it is."""
    return make_finding(_RULE, message, subject=str(subject), hint=hint)


def namespace_left(name: NamespaceName) -> Finding:
    """A namespace that the change created stays: it may have topics of others by now."""
    return left(
        name,
        "the namespace stays: no plan deletes one",
        f"if nobody uses it: pulsar-admin namespaces delete {name}, then remove its file",
    )


def tenant_left(tenant: str) -> Finding:
    """A tenant that the change created stays."""
    hint = f"if nobody uses it: pulsar-admin tenants delete {tenant}"
    return left(tenant, "the tenant stays: no plan deletes one", hint)


def topic_left(topic: TopicName) -> Finding:
    """A topic that the change created stays, also where its schema is deleted."""
    hint = f"if nobody uses it: pulsar-admin topics delete {topic} (delete-partitioned-topic)"
    return left(topic, "the topic itself stays: no plan deletes one", hint)


def deletion_left(topic: TopicName, versions: Iterable[int]) -> Finding:
    """A deleted schema comes back under another number."""
    numbers = ", ".join(f"v{one}" for one in versions)
    what = f"the deleted versions {numbers}" if numbers else "the deleted versions"
    return left(
        topic,
        f"{what} do not come back: the schema gets a new number, and messages stored with the "
        "old ones do not decode with it",
    )


def versions_left(
    former: Mapping[TopicName, SchemaInfo], observed: RegistryState
) -> Iterator[Finding]:
    """The versions after the one that comes back: clients that have them go on."""
    for topic, schema in former.items():
        entries = observed.topics[topic].history.entries
        at = next((one.version for one in entries if is_same(one.info, schema)), None)
        later = [
            one.version
            for one in entries
            if at is not None and one.version > at and not is_revision_of(one.info, schema)
        ]
        if numbers := ", ".join(f"v{one}" for one in later):
            stay, it = ("stays", "it") if len(later) == 1 else ("stay", "them")
            yield left(
                topic,
                f"{numbers} {stay} registered: producers that have {it} can go on writing with "
                f"{it}",
                "roll these producers back first; consumers must read both",
            )
