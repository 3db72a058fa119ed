"""Drift in every format: what it says, and that no text in it does anything."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gitops.model.drift import (
    Drift,
    DriftReport,
    PolicyDrift,
    Recording,
    UnmanagedTopic,
    VersionDrift,
)
from gitops.model.errors import OutsideError, UsageError
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaType
from gitops.reports.drift_wording import drift_entries, scope_text, verdict_text
from gitops.reports.formats import render
from gitops.reports.operation_results import DriftResult, RegistryDrift
from tests.support.consoles import shown
from tests.support.drifts import ADOPTION, EVERYTHING
from tests.support.hostile_texts import PIECES, assert_inert, assert_plain, poisoned

CLEAN = DriftReport(registry="local", address="local", namespaces=1, topics=1)
FAILED = RegistryDrift(registry="staging", error=OutsideError("no answer", hint="look"))


def _result(report: DriftReport) -> DriftResult:
    return DriftResult(registries=[RegistryDrift(registry=report.registry, report=report)])


def _rendered(name: str, result: DriftResult, width: int = 200) -> str:
    body = render(name, result).body
    assert not isinstance(body, Iterator)
    return body if isinstance(body, str) else shown(body, width)


def test_every_kind_of_drift_is_there() -> None:
    assert {type(one) for one in EVERYTHING.drifts} == {*Drift.__args__}


def test_the_verdict_counts_subjects() -> None:
    assert verdict_text(EVERYTHING) == (
        "✗ production: 10 topics and 3 namespaces have drifted; 1 topic cannot be read"
    )
    assert verdict_text(CLEAN) == "✓ local: no drift"
    assert verdict_text(replace(EVERYTHING, drifts=())).startswith("⚠ production: no drift; 1")
    one = replace(CLEAN, drifts=EVERYTHING.drifts[:1])
    assert verdict_text(one) == "✗ local: 1 namespace has drifted"


def test_files_that_manage_nothing_are_not_without_drift() -> None:
    empty = replace(CLEAN, topics=0, namespaces=0)
    assert verdict_text(replace(empty, other_topics=57)) == "⚠ local: 57 topics are not managed"
    assert verdict_text(replace(empty, other_topics=1)) == "⚠ local: 1 topic is not managed"
    assert verdict_text(empty) == "⚠ local: the files manage nothing"


def test_what_it_was_compared_with() -> None:
    assert scope_text(EVERYTHING) == (
        "production · http://pulsar.acme:8080 · 12 topics, 3 namespaces · snapshot of 2026-11-20 "
        "(4f1c9e2)"
    )
    assert scope_text(CLEAN) == "local · 1 topic, 1 namespace · no snapshot"
    assert scope_text(replace(CLEAN, recording=Recording())).endswith("snapshot of an unknown day")


def test_a_policy_was_changed_after_the_time_of_the_snapshot() -> None:
    taken = replace(EVERYTHING, recording=Recording(taken="2026-11-20T06:00:00Z"))
    said = [line.text for one in drift_entries(taken) for line in one.lines]
    assert said[0].endswith("FULL in the snapshot, so changed after 2026-11-20 06:00:00 UTC")


def test_each_kind_in_words() -> None:
    said = {
        (one.subject.rpartition("/")[2], one.title): [line.text for line in one.lines]
        for one in drift_entries(EVERYTHING)
    }
    assert said == {
        ("orders", "policy changed"): [
            (
                "schemaCompatibilityStrategy: FULL in git, BACKWARD in the registry (loosened); "
                "FULL in the snapshot, so changed after that"
            ),
            (
                "schemaValidationEnforced: true in git, false in the registry (loosened); in no "
                "snapshot, so since when is unknown"
            ),
        ],
        ("gone", "namespace deleted"): ["the snapshot has it, and the registry has it no more"],
        ("old", "unmanaged namespace"): ["in the registry, not in git; earlier files had it"],
        ("bulk", "partitions changed"): [
            "4 partitions in git, 8 in the registry; 4 in the snapshot, so changed after that",
        ],
        ("created", "2 versions outside git"): [
            "v3 was registered 2026-11-18 11:06:40 UTC, in the snapshot too",
            "v4 was registered 2026-11-20 22:05:45 UTC, not in the snapshot",
            "git's definition is v2: accepted, and v4 stays the latest",
            "consumers with git's definition are refused: v4 has no 'note'",
        ],
        ("changed", "1 version outside git"): [
            "v1 was registered at an unknown time",
            "git's definition is accepted after v1, as v2",
            "whether git contained it is unknown: the clone is shallow",
        ],
        ("refused", "1 version outside git"): [
            "v1 was registered at an unknown time",
            "git's definition is refused after v1: no default; another type",
        ],
        ("deleted", "schema deleted"): ["the snapshot has v0, v1"],
        ("tombstone", "schema deleted"): [
            "a deletion is v1 in the registry: the next version is v2"
        ],
        ("no-topic", "topic deleted"): [
            "the topic is gone with its schema; the snapshot has v0",
        ],
        ("lost", "versions lost"): [
            "v0, v1 of the snapshot are not in the registry any more, or another schema there",
        ],
        ("loose", "policy changed"): [
            (
                "schemaCompatibilityStrategy: ALWAYS_COMPATIBLE in the registry, not managed in "
                "git; – in the snapshot, so changed after that"
            ),
        ],
        ("by-hand", "unmanaged topic"): [
            (
                "in the registry, not in git; AVRO, v0, v1, first registered 2026-11-18 11:06:40 "
                "UTC; schemaCompatibilityStrategy: FULL"
            ),
        ],
    }


def test_topics_that_drifted_alike_are_one_entry() -> None:
    def policy_drift(name: str, live: SchemaCompatibilityStrategy) -> PolicyDrift:
        return PolicyDrift(
            subject=TopicName.parse(f"shop/orders/{name}"),
            key="schemaCompatibilityStrategy",
            files=SchemaCompatibilityStrategy.FULL,
            live=live,
            recorded=SchemaCompatibilityStrategy.FULL,
            was_recorded=True,
        )

    def unmanaged(name: str, since: int, *versions: int) -> UnmanagedTopic:
        return UnmanagedTopic(
            topic=TopicName.parse(f"shop/orders/{name}"),
            type=SchemaType.AVRO,
            versions=versions,
            since=since,
        )

    backward, forward = SchemaCompatibilityStrategy.BACKWARD, SchemaCompatibilityStrategy.FORWARD
    drifts: list[Drift] = [policy_drift(f"t{n:02}", backward) for n in range(12)]
    drifts.insert(1, policy_drift("other", forward))
    drifts += [unmanaged(f"new{n}", 1_763_464_000_000 + n * 1000, 0, 1) for n in range(3)]
    drifts += [unmanaged(f"pair{n}", 0, 0) for n in range(2)]
    report = replace(CLEAN, drifts=tuple(drifts))

    entries = drift_entries(report)
    said = [(entry.sign, entry.subject, len(entry.names)) for entry in entries]
    text, markdown = (_rendered(name, _result(report)) for name in ("text", "markdown"))
    document = json.loads(_rendered("json", _result(report)))

    assert said == [
        ("~", "12 topics", 12),
        ("~", "shop/orders/other", 0),
        ("+", "3 topics", 3),
        ("+", "shop/orders/pair0", 0),
        ("+", "shop/orders/pair1", 0),
    ]
    assert (
        entries[2]
        .lines[0]
        .text.endswith("first registered 2025-11-18 11:06:40 UTC to 2025-11-18 11:06:42 UTC")
    )
    assert "shop/orders/t04 and 7 more; `--format json` names all" in text
    assert "shop/orders/t05" not in text
    assert text.count("FULL in git, BACKWARD in the registry") == 1
    assert "12 topics: shop/orders/t00, " in markdown
    assert markdown.count("shop/orders/t11") == 1, "in the fold"
    assert len(document["registries"][0]["drifts"]) == len(drifts)


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_what_is_no_drift_and_what_to_do(name: str) -> None:
    said = _rendered(name, _result(EVERYTHING)).replace("&#45;", "-")

    assert "2 topics and namespaces have changes that are not applied" in said
    assert "1 topic without a manifest has no schema" in said
    assert "1 other namespace of the same tenants is not in git" in said
    assert "pulsar-gitops drift --registry production --adopt" in said
    assert "pulsar-gitops plan --registry production" in said
    assert "pulsar-gitops explain PLAN-R010" in said
    clean = _rendered(name, _result(CLEAN))
    assert "--adopt" not in clean
    assert "not applied" not in clean


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_an_adoption_is_said_in_place_of_what_to_do(name: str) -> None:
    said = _rendered(name, replace(_result(EVERYTHING), adoption=ADOPTION))

    assert "wrote namespaces/shop/orders/created.avsc" in said
    assert "removed namespaces/shop/orders/deleted.yaml" in said
    assert "kept types/money.avsc, which nothing uses any more" in said
    assert "wrote the PROTOBUF" in said
    assert "not adopted: shop/orders/refused: it has changes (refused.yaml); commit them" in said
    assert "read the changes (git diff), and commit them" in said
    assert "have drifted: pulsar-gitops drift" in said
    assert "not in git;" not in said, "drift lists it before"
    assert "if the registry is right" not in said


def test_a_registry_without_an_answer_does_not_hide_the_others() -> None:
    result = DriftResult(registries=[FAILED, *_result(EVERYTHING).registries])

    assert "staging · drift is unknown: no answer" in _rendered("text", result)
    assert "### staging: drift is unknown\n\nno answer\n" in _rendered("markdown", result)
    document = json.loads(_rendered("json", result))
    assert document["failures"] == [
        {
            "registry": "staging",
            "message": "no answer",
            "where": "",
            "hint": "look",
            "exitCode": 4,
        }
    ]
    for name in ("text", "markdown"):
        assert "production: 10 topics" in _rendered(name, result)
    assert result.command == "pulsar-gitops drift --registry staging --registry production"


def test_changes_are_a_diff() -> None:
    assert "      + coupon   [null, string] = null" in _rendered("text", _result(EVERYTHING))
    assert "```diff\n+ coupon   [null, string] = null\n```" in _rendered(
        "markdown", _result(EVERYTHING)
    )


@pytest.mark.slow
def test_thousands_of_topics_fit_into_an_issue() -> None:
    (versions,) = [one for one in EVERYTHING.drifts if str(one.subject).endswith("/created")]
    assert isinstance(versions, VersionDrift)
    drifts = tuple(replace(versions, limit=f"commit {n} is missing") for n in range(5000))
    report = replace(EVERYTHING, drifts=drifts)

    said = _rendered("markdown", _result(report))

    assert len(said.encode()) <= 65_000
    assert "--format json` shows all" in said
    assert "pulsar-gitops drift --registry production --adopt" in said


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_does_anything(piece: str) -> None:
    texts = itertools.repeat(piece)
    error = UsageError(piece, where=piece, hint=piece)
    adoption = poisoned(replace(ADOPTION, refused={}, files={piece: b""}), texts)
    adoption = replace(adoption, refused=dict.fromkeys(ADOPTION.refused, error))
    hostile = replace(_result(poisoned(EVERYTHING, texts)), adoption=adoption)
    failed = RegistryDrift(registry=piece, error=error)
    hostile = replace(hostile, registries=[*hostile.registries, failed], options=("--repo", piece))

    assert_inert(_rendered("markdown", hostile))
    assert_plain(_rendered("text", hostile))
