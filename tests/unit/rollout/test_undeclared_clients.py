"""Live clients that no manifest declares, in the check of a change."""

from __future__ import annotations

from typing import Final

import pytest

from gitops.model.clients import (
    ObservedClients,
    ObservedProducer,
    ObservedSubscription,
    ObservedTopic,
)
from gitops.model.names import TopicName
from gitops.repository.observed_clients import clients_path, render_observed_clients
from tests.support.check_repository import FOLDER, report
from tests.support.git_repos import GitRepository
from tests.support.rollout_repository import TOPIC, avro

pytestmark = pytest.mark.slow

_ONE: Final = (
    "subscription 'audit' (Pulsar-CPP-v3.7.2) of {} is live and not declared in clients/: the "
    "schema of this client cannot be checked"
)


def _record(repo: GitRepository, *subscriptions: str, producer: str = "") -> None:
    observed = ObservedTopic(
        producers=(ObservedProducer(name=producer, client="Pulsar-Java-v4.0.7"),),
        subscriptions=tuple(
            ObservedSubscription(name=name, type="Shared", clients=("Pulsar-CPP-v3.7.2",))
            for name in subscriptions
        ),
    )
    content = render_observed_clients(ObservedClients(topics={TopicName.parse(TOPIC): observed}))
    repo.commit({clients_path("local"): content.decode()})


def _undeclared(repo: GitRepository) -> list[tuple[str, str]]:
    return [
        (str(finding.location), finding.message)
        for finding in report(repo).findings
        if finding.rule == "CLIENT-R011"
    ]


@pytest.mark.rule("CLIENT-R011")
def test_a_live_subscription_that_nobody_declares(repo: GitRepository) -> None:
    _record(repo, "billing", "audit")
    assert _undeclared(repo) == []  # nothing changes

    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    assert _undeclared(repo) == [
        (
            "snapshots/local/clients.json",
            _ONE.format(TOPIC),
        )
    ]


def test_producers_are_declared_once_anybody_declares_to_produce(repo: GitRepository) -> None:
    _record(repo, "billing", producer="other")
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})
    assert _undeclared(repo) == []

    repo.write({"clients/checkout.yaml": None})

    ((_, message),) = _undeclared(repo)
    assert "producer 'other' (Pulsar-Java-v4.0.7) of" in message


def test_all_undeclared_clients_of_a_topic_are_one_finding(repo: GitRepository) -> None:
    _record(repo, "audit", "export")
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    ((_, message),) = _undeclared(repo)

    assert "'audit' (Pulsar-CPP-v3.7.2) and subscription 'export'" in message
    assert "are live and not declared in clients/: the schemas of these clients" in message


def test_a_change_cannot_drop_clients_from_the_record(repo: GitRepository) -> None:
    _record(repo, "billing", "audit")
    repo.write(
        {
            f"{FOLDER}/created.avsc": avro(a="long", b="string"),
            clients_path("local"): render_observed_clients(ObservedClients()).decode(),
        }
    )

    ((_, message),) = _undeclared(repo)

    assert "'audit'" in message
    assert "CHECK-R007" not in [finding.rule for finding in report(repo).findings]


def test_a_lockout_names_observed_subscriptions(repo: GitRepository) -> None:
    _record(repo, "billing", "audit", "crm")
    repo.commit({"clients/billing.yaml": None})
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    (lockout,) = [
        finding.message
        for finding in report(repo).registries[0].plan.findings
        if finding.rule == "PLAN-R021"
    ]
    assert lockout.endswith(
        "; 3 observed subscriptions ('audit', 'billing' and 'crm') may be among them: which "
        "versions they use is not known"
    )
