"""Another broker line or other defaults in `gitops.yaml` lock clients out: `check` names them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.broker_settings import assumed_settings, former_settings
from gitops.model.findings import Severity
from gitops.model.policy import BrokerSettings, SettingSource
from tests.support.check_repository import FOLDER, record, report
from tests.support.git_repos import GitRepository
from tests.support.rollout_repository import FILES, TOPIC, avro, client

pytestmark = pytest.mark.slow

SETTINGS = FILES["gitops.yaml"]
OLD = avro(a="int").replace('"Created"', '"Created", "namespace": "com.my-co"')
NEW = avro(a="int").replace('"Created"', '"Created", "namespace": "com.my_co"')


def settings(broker: str) -> dict[str, str | bytes | None]:
    return {"gitops.yaml": SETTINGS.replace("x.db", f"x.db, {broker}")}


def lockouts(repo: GitRepository) -> list[tuple[Severity, str, str, str]]:
    """Severity, place, subject, and the message up to its reason."""
    return [
        (
            one.severity,
            str(one.location),
            one.subject,
            one.message.partition(": v0")[0].partition(": not a")[0],
        )
        for one in report(repo).registries[0].plan.findings
        if one.rule in ("PLAN-R020", "PLAN-R021")
    ]


@pytest.fixture
def repo_on_4_0(repo: GitRepository) -> GitRepository:
    """v0 has a namespace that Avro of 5.0 does not take for a name, v1 has another one."""
    record(repo, OLD, NEW)
    repo.commit({f"{FOLDER}/created.avsc": NEW, **settings('broker: "4.0"')})
    return repo


@pytest.mark.rule("PLAN-R020")
@pytest.mark.rule("PLAN-R021")
def test_a_line_on_which_an_old_version_is_invalid(repo_on_4_0: GitRepository) -> None:
    """Producers with v1 would fail, too: the broker reads all versions to find theirs."""
    repo_on_4_0.write(settings('broker: "5.0"'))

    place = "gitops.yaml:4:47"
    assert lockouts(repo_on_4_0) == [
        (
            Severity.ERROR,
            place,
            TOPIC,
            "producers with v1, the latest version, can no longer connect: broker 4.0 → 5.0",
        ),
        (
            Severity.ERROR,
            place,
            TOPIC,
            "consumers with v0 (billing) can no longer connect: broker 4.0 → 5.0",
        ),
        (
            Severity.ERROR,
            place,
            TOPIC,
            "producers with v0 (checkout) can no longer connect: broker 4.0 → 5.0",
        ),
    ]


def test_a_line_that_answers_the_same_locks_nobody_out(repo_on_4_0: GitRepository) -> None:
    repo_on_4_0.write(settings('broker: "4.0.7"'))

    assert lockouts(repo_on_4_0) == []


def test_a_line_that_was_assumed_before_is_no_upgrade() -> None:
    """Nobody knew the brokers: what they are now told to be, they may have been before."""
    now = replace(BrokerSettings(), release="5.0", sources={"release": SettingSource.GIVEN})

    assert former_settings(assumed_settings(), now).release == "5.0"
    assert former_settings(BrokerSettings(release="4.0"), now).release == "4.0"


def test_another_default_of_the_brokers(repo: GitRepository) -> None:
    """No namespace has a strategy, so that the brokers' one decides."""
    space = FILES[f"{FOLDER}/namespace.yaml"].partition("schemaComp")[0]
    defaults = "brokerDefaults: {{schemaCompatibilityStrategy: {}}}"
    repo.commit(
        {
            f"{FOLDER}/namespace.yaml": space,
            "clients/checkout.yaml": client("checkout", "produces", "NONE"),
            **settings(defaults.format("FULL")),
        }
    )
    repo.write(settings(defaults.format("ALWAYS_INCOMPATIBLE")))

    ((severity, place, _, message),) = lockouts(repo)

    assert (severity, place) == (Severity.ERROR, "gitops.yaml:4:85")
    assert message.startswith(
        "consumers with v0, the latest version, (billing) can no longer connect: "
        "schemaCompatibilityStrategy FULL → ALWAYS_INCOMPATIBLE"
    )
