"""Directions that no longer count in replays, because a strategy is another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.model.findings import Finding
from tests.support.check_repository import FILES, FOLDER, manifest, report
from tests.support.git_repos import GitRepository

SPACE = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
SAMPLES = "samples: [{format: json, path: 's3://acme/orders'}]\n"
POLICY = f"{FOLDER}/namespace.yaml"


def strategy(name: str) -> str:
    return f"{SPACE}schemaCompatibilityStrategy: {name}\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    text = manifest("type: STRING")
    replayed = {f"{FOLDER}/{name}.yaml": text + SAMPLES for name in ("a", "b", "c", "d")}
    made.commit({**FILES, **replayed})
    return made


def told(repo: GitRepository, before: str, after: str) -> list[Finding]:
    repo.commit({POLICY: strategy(before)})
    repo.write({POLICY: strategy(after)})
    return [each for each in report(repo).findings if each.rule == "CHECK-R008"]


@pytest.mark.slow
def test_stored_messages_that_no_longer_count(repo: GitRepository) -> None:
    (found,) = told(repo, "BACKWARD", "FORWARD")
    assert found.message == (
        "stored messages that the new schema cannot read no longer block the merge in replays of "
        "shop/orders/a, shop/orders/b, shop/orders/c and 1 more: the strategy changes from "
        "BACKWARD to FORWARD"
    )
    assert found.location is not None
    assert (found.location.file, found.location.line) == (POLICY, 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("FULL", "BACKWARD", ["new messages that readers with the latest version cannot read"]),
        (
            "FULL_TRANSITIVE",
            "FULL",
            ["new messages that readers with any version cannot read"],
        ),
        (
            "FULL",
            "ALWAYS_COMPATIBLE",
            [
                "new messages that readers with the latest version cannot read",
                "stored messages that the new schema cannot read",
            ],
        ),
    ],
)
def test_what_no_longer_counts(
    before: str, after: str, lost: list[str], repo: GitRepository
) -> None:
    found = [
        each.message.partition(" no longer block the merge")[0]
        for each in told(repo, before, after)
    ]
    assert sorted(found) == lost


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("BACKWARD", "FULL"),
        ("BACKWARD", "BACKWARD_TRANSITIVE"),
        ("BACKWARD_TRANSITIVE", "BACKWARD"),
        ("ALWAYS_INCOMPATIBLE", "FULL_TRANSITIVE"),
    ],
)
def test_what_counts_as_before(before: str, after: str, repo: GitRepository) -> None:
    assert told(repo, before, after) == []


@pytest.mark.slow
def test_topics_without_samples_are_not_replayed_anyway(repo: GitRepository) -> None:
    repo.commit({f"{FOLDER}/{name}.yaml": manifest("type: STRING") for name in "abcd"})
    assert told(repo, "BACKWARD", "FORWARD") == []
