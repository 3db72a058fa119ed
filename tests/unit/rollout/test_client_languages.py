"""Checks of changes that Java's consumers read and the ones of another language do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.model.clients import (
    ClientLanguage,
    ObservedClients,
    ObservedSubscription,
    ObservedTopic,
)
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.plan import RefusedSchema, RegisterSchema
from gitops.model.rollout import Role
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.observed_clients import clients_path, render_observed_clients
from gitops.rollout.model import Use
from gitops.rollout.readers import unreadable_reason
from tests.support.check_repository import FOLDER, report
from tests.support.git_repos import GitRepository
from tests.support.rollout_repository import FILES, TOPIC, client

_TOPIC = TopicName.parse(TOPIC)


def _ship(nested: str, *fields: str) -> str:
    point = {"type": "record", "name": nested, "fields": [{"name": "x", "type": "int"}]}
    others = [{"name": name, "type": "int", "default": 0} for name in fields]
    return json.dumps(
        {"type": "record", "name": "Ship", "fields": [{"name": "at", "type": point}, *others]}
    )


OLD, NEW = _ship("Pos", "crew"), _ship("Point", "berths", "crew")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit({**FILES, f"{FOLDER}/created.avsc": OLD})
    return made


def _findings(repo: GitRepository) -> set[tuple[str, Severity]]:
    (one,) = report(repo).registries
    plan = one.plan
    changes: list[RegisterSchema | RefusedSchema] = [
        *(action for action in plan.actions if isinstance(action, RegisterSchema)),
        *(notice for notice in plan.notices if isinstance(notice, RefusedSchema)),
    ]
    return {
        (finding.rule, finding.severity)
        for change in changes
        for finding in change.findings
        if finding.rule in ("CLIENT-R012", "AVRO-W010")
    }


def _language(repo: GitRepository, language: str) -> None:
    manifest = client("billing", "consumes", "{version: 0}")
    repo.commit({"clients/billing.yaml": f"{manifest}language: {language}\n"})


@pytest.mark.slow
@pytest.mark.rule("CLIENT-R012")
@pytest.mark.rule("AVRO-W010")
def test_the_declared_language_decides(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/created.avsc": NEW})
    assert _findings(repo) == {("AVRO-W010", Severity.WARNING)}

    repo.write({f"{FOLDER}/created.avsc": OLD})
    _language(repo, "python")
    repo.write({f"{FOLDER}/created.avsc": NEW})
    assert _findings(repo) == {("CLIENT-R012", Severity.ERROR)}

    repo.write({f"{FOLDER}/created.avsc": OLD})
    _language(repo, "java")
    repo.write({f"{FOLDER}/created.avsc": NEW})
    assert _findings(repo) == set()


@pytest.mark.slow
def test_an_observed_python_consumer_counts_although_the_change_drops_the_record(
    repo: GitRepository,
) -> None:
    seen = ObservedTopic(
        subscriptions=(ObservedSubscription(name="audit", clients=("Pulsar-CPP-v3.7.2",)),)
    )
    record = render_observed_clients(ObservedClients(topics={_TOPIC: seen}))
    repo.commit({clients_path("local"): record.decode()})
    _language(repo, "java")

    repo.write({f"{FOLDER}/created.avsc": NEW})
    assert _findings(repo) == {("CLIENT-R012", Severity.ERROR)}

    repo.write({clients_path("local"): None})
    assert _findings(repo) == {("CLIENT-R012", Severity.ERROR)}


def _reason(language: ClientLanguage | None, writer: str, reader: str) -> str | None:
    written, read = (SchemaInfo(type=SchemaType.AVRO, schema=text) for text in (writer, reader))
    use = Use(topic=_TOPIC, role=Role.CONSUMER, schemas=(read,), language=language)
    return unreadable_reason(use, written)


def test_a_rollout_goes_by_what_a_client_reads_in_its_language() -> None:
    assert _reason(None, OLD, NEW) is None
    assert _reason("java", OLD, NEW) is None
    assert _reason("cpp", OLD, NEW) is None
    assert str(_reason("python", OLD, NEW)).startswith(
        "at 'at': pulsar-client for Python may read wrong values: fastavro compares names"
    )
    assert str(_reason("dotnet", OLD, NEW)).startswith("at 'at': Pulsar.Client for .NET fails: ")
    assert str(_reason("go", NEW, OLD)).startswith(
        "at 'berths': pulsar-client-go may read wrong values: the client decodes with its own"
    )
