"""`apply --status` and `apply --resume`: what a journal tells, and how an apply goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gitops.model.errors import OutsideError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.command_line import captured

_TEMPLATE = Path(__file__).parents[3] / "schemas_repo_template"
_DONE = "in all: 2 namespaces created, 6 policies set, 5 versions registered"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """The template."""
    return shutil.copytree(_TEMPLATE, tmp_path / "repo")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The registry fails at the second schema."""
    calls = []
    register = EmbeddedRegistry.register_schema

    def once(self: EmbeddedRegistry, topic: TopicName, info: SchemaInfo) -> int:
        calls.append(topic)
        if len(calls) == 2:
            raise OutsideError("the wire is cut")
        return register(self, topic, info)

    monkeypatch.setattr(EmbeddedRegistry, "register_schema", once)
    return monkeypatch


def _run(repo: Path, *words: object) -> tuple[int, str, str]:
    done = captured(*words, "--repo", repo)
    return done.code, done.out, done.err


@pytest.mark.slow
def test_a_plan_file_has_its_journal_beside_it(repo: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert _run(repo, "plan", "--out", plan)[0] == 0
    assert _run(repo, "apply", plan)[0] == 0

    code, out, _ = _run(repo, "apply", "--status", plan)

    assert code == 0
    assert str(tmp_path / "plan.json.journal") in out.replace("\n", "")
    assert "13 of 13 actions done" in out
    assert _DONE in out


@pytest.mark.slow
def test_an_apply_that_was_cut_is_told_and_goes_on(repo: Path, broken: pytest.MonkeyPatch) -> None:
    assert _run(repo, "apply", "--auto-approve")[0] == 6
    broken.undo()

    code, out, _ = _run(repo, "apply", "--status")
    assert code == 6
    assert "9 of 13 actions done, 1 failed, 3 not tried" in out
    assert "the wire is cut" in out
    assert "next: pulsar-gitops apply --resume looks" in out

    assert _run(repo, "apply", "--resume")[0] == 0
    code, out, _ = _run(repo, "apply", "--status", "--format", "json")
    assert code == 0
    first, second = json.loads(out)["applies"]
    assert (first["outcome"], second["outcome"]) == ("stopped", "applied")
    assert first["plan"] == second["plan"]
    assert (second["doneBefore"], second["actions"]) == (9, 4)
    assert _run(repo, "plan", "--detailed-exitcode")[0] == 0


@pytest.mark.slow
def test_what_was_carried_out_whole_is_not_resumed(repo: Path) -> None:
    assert _run(repo, "apply", "--auto-approve")[0] == 0

    code, _, err = _run(repo, "apply", "--resume")

    assert code == 2
    assert "there is nothing to resume" in err


@pytest.mark.slow
def test_a_plan_that_nobody_applied_is_not_resumed(repo: Path, tmp_path: Path) -> None:
    plan, journal = tmp_path / "plan.json", tmp_path / "journal"
    assert _run(repo, "plan", "--out", plan)[0] == 0
    assert _run(repo, "apply", "--resume", plan)[0] == 2  # no journal
    assert _run(repo, "apply", plan, "--journal", journal)[0] == 0
    text = (repo / "namespaces/shop/orders/namespace.yaml").read_text()
    (repo / "namespaces/shop/orders/namespace.yaml").write_text(text.replace("BACKWARD", "FULL"))
    assert _run(repo, "plan", "--out", plan)[0] == 0

    code, _, err = _run(repo, "apply", "--resume", plan, "--journal", journal)

    assert code == 2
    assert "no apply of this plan is in the journal" in err


@pytest.mark.slow
def test_a_journal_of_a_plan_file_needs_the_file(
    repo: Path, tmp_path: Path, broken: pytest.MonkeyPatch
) -> None:
    plan, journal = tmp_path / "plan.json", tmp_path / "journal"
    assert _run(repo, "plan", "--out", plan)[0] == 0
    assert _run(repo, "apply", plan, "--journal", journal)[0] == 6
    broken.undo()

    code, _, err = _run(repo, "apply", "--resume", "--journal", journal)

    assert code == 2
    assert "apply --resume PLANFILE" in err
    assert _run(repo, "apply", "--resume", plan, "--journal", journal)[0] == 0


@pytest.mark.slow
def test_without_a_journal_nothing_is_done(repo: Path) -> None:
    code, _, err = _run(repo, "apply", "--auto-approve", "--journal", "/dev/full")

    assert code == 4
    assert "the journal cannot be written: No space left on device" in err
    assert _run(repo, "plan", "--detailed-exitcode")[0] == 3


@pytest.mark.parametrize(
    "words",
    [
        ("--status", "--resume"),
        ("--status", "--auto-approve"),
        ("--resume", "--auto-approve"),
        ("--resume", "--prune"),
    ],
)
def test_words_that_contradict_each_other_are_refused(repo: Path, words: tuple[str, ...]) -> None:
    code, _, err = _run(repo, "apply", *words)

    assert code == 2
    assert "is about an apply that there was" in err


@pytest.mark.slow
def test_an_apply_without_work_writes_no_journal(repo: Path) -> None:
    assert _run(repo, "apply", "--auto-approve")[0] == 0
    (repo / ".gitops" / "local.journal").unlink()

    assert _run(repo, "apply", "--auto-approve")[0] == 0

    assert not (repo / ".gitops" / "local.journal").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gitops.yaml", "namespaces/shop/orders/order-created.avsc"])
def test_no_file_of_the_repository_becomes_a_journal(repo: Path, name: str) -> None:
    before = (repo / name).read_bytes()

    code, _, err = _run(repo, "apply", "--auto-approve", "--journal", repo / name)

    assert code == 2
    assert name in err.replace("\n", "")
    assert (repo / name).read_bytes() == before
    assert _run(repo, "plan", "--detailed-exitcode")[0] == 3


@pytest.mark.slow
def test_an_empty_journal_has_no_apply_to_resume(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "journal").touch()

    code, _, err = _run(repo, "apply", "--resume", "--journal", tmp_path / "journal")

    assert code == 2
    assert "there is nothing to resume: the journal has no apply" in err
