"""Declared clients: to which versions they are pinned, and which policies let them in."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from gitops.model.check import HistorySource
from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.reports.merge_decision import merge_decision
from gitops.reports.rollout_wording import lines
from gitops.reports.topic_rows import rows_of
from tests.support.check_repository import FOLDER, SETTINGS, report
from tests.support.git_repos import GitRepository
from tests.support.rollout_repository import FILES, TOPIC, avro, client, findings, of_rule, steps

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit(FILES)
    return made


def _policies(**keys: str) -> str:
    head = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    return head + "".join(f"{key}: {value}\n" for key, value in keys.items())


def test_clients_declare_versions_of_the_default_registry_only(repo: GitRepository) -> None:
    """Of another one nothing is known but the strategies, although there are clients."""
    two = SETTINGS.format("").replace("x.db}", "x.db}\n  staging: {kind: embedded, path: y.db}")
    repo.commit({"gitops.yaml": f"{two}defaultRegistry: local\n"})
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    found = report(repo, registries=("local", "staging"))
    staging = report(repo, registries=("staging",))
    assert [one.rollout.client_registry for one in found.registries] == ["", "local"]
    assert merge_decision(staging, rows_of(staging.registries)).first == (
        "consumers (by BACKWARD): clients declare versions of local",
    )
    (one,) = staging.registries
    (line,) = lines(one.rollout, one.plan)
    assert line.advice[0].startswith("clients declare versions of local; by BACKWARD, consumers ")

    repo.commit(dict.fromkeys(("clients/billing.yaml", "clients/checkout.yaml")))
    repo.write({f"{FOLDER}/created.avsc": avro(a="double", b="string")})
    (one,) = report(repo, registries=("staging",)).registries
    assert one.rollout.client_registry == ""


def test_who_is_pinned_to_nothing_is_no_step_and_is_told(repo: GitRepository) -> None:
    repo.write({"clients/late.yaml": client("late", "consumes", "{version: 7}")})

    assert steps(repo) == []
    (one,) = report(repo).registries
    assert one.rollout.broken == (f"late is pinned to v7 of {TOPIC}, which has v0 as its latest",)


def test_a_version_that_was_deleted(repo: GitRepository) -> None:
    """The deletion takes a number, so that the next schema is v2 (Pulsar 4.0.7)."""
    topic = TopicName.parse(TOPIC)
    info = SchemaInfo(type=SchemaType.AVRO, schema=FILES[f"{FOLDER}/created.avsc"])
    registry = EmbeddedRegistry("local", repo.root / "x.db")
    registry.create_namespace(topic.namespace)
    registry.register_schema(topic, info)
    registry.delete_schema(topic)
    registry.register_schema(topic, info)
    registry.close()
    repo.write({"clients/late.yaml": client("late", "consumes", "{version: 0}")})

    assert of_rule(repo, "CLIENT-R001")[-1][0] == (
        f"late is pinned to v0 of {TOPIC}, which no longer has it; its latest is v2"
    )


def test_each_kind_of_event_has_its_own_latest_version(repo: GitRepository) -> None:
    """CLIENT-R006: who uses both kinds is not behind."""
    loose = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "ALWAYS_COMPATIBLE")
    repo.commit({f"{FOLDER}/namespace.yaml": loose})
    other = avro(c="int").replace("Created", "Other")
    repo.commit({f"{FOLDER}/created.avsc": other})
    several = client("billing", "consumes", "[{version: 0}, {version: 1}]")
    repo.write({"clients/billing.yaml": several})
    assert of_rule(repo, "CLIENT-R006") == []

    repo.commit({f"{FOLDER}/created.avsc": avro(a="long", b="string")})
    repo.write({"clients/billing.yaml": f"# again\n{several}"})
    assert [said for said, _ in of_rule(repo, "CLIENT-R006")] == [
        f"{name} works with v0 of {TOPIC}; the latest is v2" for name in ("billing", "checkout")
    ]


def test_of_a_topic_without_a_manifest_git_knows_nothing(repo: GitRepository) -> None:
    """A registry does, and so does its snapshot: there the pin leads to nothing."""
    repo.write({"clients/late.yaml": client("late", "produces", "{version: 0}", "shop/x/y")})
    (one,) = report(repo).registries
    assert one.history.source is HistorySource.GIT
    assert findings(repo) == []

    with closing(EmbeddedRegistry("local", repo.root / "x.db")) as live:
        live.create_namespace(NamespaceName("shop", "x"))
    assert findings(repo) == [("CLIENT-R001", "late")]


def _named_by_plan(repo: GitRepository) -> list[tuple[str, str, str]]:
    return [
        (one.rule, one.subject, one.message.partition(":")[0])
        for one in report(repo).registries[0].plan.findings
    ]


def test_a_policy_that_locks_a_consumer_out(repo: GitRepository) -> None:
    """ALWAYS_INCOMPATIBLE refuses every consumer with a schema (Pulsar 4.0.7)."""
    strict = _policies(schemaCompatibilityStrategy="ALWAYS_INCOMPATIBLE")
    repo.write({f"{FOLDER}/namespace.yaml": strict})

    assert of_rule(repo, "CLIENT-R002") == []
    assert _named_by_plan(repo) == [
        (
            "PLAN-R020",
            TOPIC,
            "consumers with v0, the latest version, (billing) can no longer connect",
        )
    ]
    assert report(repo).touched.clients == ("billing", "checkout")

    repo.commit()
    repo.write({f"{FOLDER}/namespace.yaml": f"# as it was\n{strict}"})
    assert of_rule(repo, "CLIENT-R002") == []


def test_a_policy_that_locks_a_producer_out(repo: GitRepository) -> None:
    """SchemaValidationEnforced is about producers without a schema (Pulsar 4.0.7)."""
    repo.commit({"clients/raw.yaml": client("raw", "produces", "NONE")})
    policies = ", namespaces: {shop/orders: {schemaValidationEnforced: true}}"
    repo.write({"gitops.yaml": SETTINGS.format(policies)})

    assert of_rule(repo, "CLIENT-R002") == []
    assert _named_by_plan(repo) == [
        ("PLAN-R021", TOPIC, "producers without a schema (raw) can no longer connect")
    ]
