"""A plan file: broken, foreign, stale, taken up again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.cli.app import run
from gitops.model.config import RegistryConfig
from gitops.model.errors import OutsideError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.planning.plan_document import digest
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.command_line import CommandLine

pytestmark = pytest.mark.slow


Document = dict[str, Any]


@pytest.fixture
def plan_file(repo: Path, tmp_path: Path, command: CommandLine) -> Path:
    """A good plan for the empty registry."""
    file = tmp_path / "plan.json"
    assert command("plan", "--repo", repo, "--out", file).code == 0
    return file


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plan",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b"null",
        b"[]",
        b"{}",
        b"NaN",
        b'{"kind": "Plan"}',
        b'{"kind": "Findings", "apiVersion": "pulsar-gitops/v1"}',
        b'{"kind": ["Plan"]}',
    ],
    ids=lambda content: repr(content[:20]),
)
def test_what_is_no_plan(content: bytes, repo: Path, tmp_path: Path, command: CommandLine) -> None:
    file = tmp_path / "not-a-plan.json"
    file.write_bytes(content)
    done = command("apply", "--repo", repo, file)
    assert (done.code, done.out) == (2, "")
    assert "plan" in done.err
    assert "bug of ours" not in done.err


def test_a_file_that_is_not_there(repo: Path, tmp_path: Path, command: CommandLine) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        done = command("apply", "--repo", repo, path)
        assert (done.code, "cannot read" in done.err) == (2, True)


def test_a_plan_that_was_edited(repo: Path, plan_file: Path, command: CommandLine) -> None:
    text = plan_file.read_text()
    for edited in (
        text.replace('"version": 0', '"version": 1'),
        text.replace('"prune": false', '"prune": true'),
    ):
        plan_file.write_text(edited)
        done = command("apply", "--repo", repo, plan_file)
        assert (done.code, "changed after it was written" in done.err) == (2, True)


def _without(key: str) -> Callable[[Document], None]:
    return lambda plan: plan.pop(key)


def _with(key: str, value: object) -> Callable[[Document], None]:
    return lambda plan: plan.update({key: value})


MEMBERS: Final = ("registry", "files", "prune", "actions", "observed", "expected")
SHAPES: Final[tuple[object, ...]] = (None, 1, "x", [], {}, [None], [[1]], {"name": {}}, {"a": 1})


@pytest.mark.parametrize(
    "harm",
    [
        *(_without(key) for key in MEMBERS),
        *(_with(key, value) for key in MEMBERS for value in SHAPES),
        lambda plan: plan["actions"].append(None),
        lambda plan: plan["observed"].update({"topic shop/orders/x": "0" * 64}),
        lambda plan: plan["expected"].update(dict.fromkeys(plan["expected"])),
        lambda plan: plan["expected"].update(dict.fromkeys(plan["expected"], 1)),
    ],
)
def test_a_hostile_plan_with_a_right_digest(
    harm: Callable[[Document], None], repo: Path, plan_file: Path, command: CommandLine
) -> None:
    plan = json.loads(plan_file.read_text())
    harm(plan)
    plan["digest"] = digest(plan)
    plan_file.write_text(json.dumps(plan))
    done = command("apply", "--repo", repo, plan_file)
    # What only leaves out what apply does not need is as good as the plan was.
    assert done.code in (0, 2, 5), done.err
    assert "bug of ours" not in done.err


def test_no_action_is_ever_taken_from_the_file(
    repo: Path, plan_file: Path, command: CommandLine
) -> None:
    plan = json.loads(plan_file.read_text())
    extra = {"action": "DeleteSchema", "topic": "shop/orders/order-status", "versions": [0]}
    plan["actions"].append(extra)
    plan["digest"] = digest(plan)
    plan_file.write_text(json.dumps(plan))
    assert command("apply", "--repo", repo, plan_file).code in (0, 5)
    plan["actions"] = []
    plan["digest"] = digest(plan)
    plan_file.write_text(json.dumps(plan))
    assert command("plan", "--repo", repo).code == 0


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_with("apiVersion", "pulsar-gitops/v0"), 'apiVersion must be "pulsar-gitops/v1"'),
        (_with("registry", {"name": "elsewhere", "address": "there"}), "no registry 'elsewhere'"),
    ],
)
def test_a_plan_of_another_world(
    harm: Callable[[Document], None],
    words: str,
    repo: Path,
    plan_file: Path,
    command: CommandLine,
) -> None:
    plan = json.loads(plan_file.read_text())
    harm(plan)
    plan["digest"] = digest(plan)
    plan_file.write_text(json.dumps(plan))
    done = command("apply", "--repo", repo, plan_file)
    assert (done.code, words in done.err) == (2, True)


def test_a_plan_for_another_registry(repo: Path, plan_file: Path, command: CommandLine) -> None:
    done = command("apply", "--repo", repo, plan_file, "--registry", "other")
    assert (done.code, "this plan is for local, not for other" in done.err) == (2, True)
    assert command("apply", "--repo", repo, plan_file, "--prune").code == 2


def test_files_that_changed_make_it_stale(
    repo: Path, plan_file: Path, command: CommandLine
) -> None:
    definition = repo / "namespaces/shop/orders/order-cancelled.avsc"
    before = definition.read_bytes()
    definition.write_bytes(before.replace(b"OTHER", b"ELSE"))
    done = command("apply", "--repo", repo, plan_file)
    assert (done.code, "the files have changed" in done.err) == (5, True)
    definition.write_bytes(before)
    assert command("apply", "--repo", repo, plan_file).code == 0


def test_a_registry_that_changed_makes_it_stale(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    manifest = applied / "namespaces/shop/orders/namespace.yaml"
    manifest.write_text(manifest.read_text().replace("BACKWARD", "FORWARD"))
    file = tmp_path / "plan.json"
    assert command("plan", "--repo", applied, "--out", file).code == 0

    def set_to(value: str) -> int:
        return command(
            "policies",
            "set",
            "shop/payments",
            f"schemaValidationEnforced={value}",
            "--repo",
            applied,
        ).code

    assert set_to("false") == 0
    done = command("apply", "--repo", applied, file)
    assert (done.code, "namespace shop/payments changed" in done.err) == (5, True)
    assert set_to("true") == 0
    assert command("apply", "--repo", applied, file).code == 0


class _Failing(EmbeddedRegistry):
    """Fails at the third schema."""

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        if topic.local_name == "order-created":
            raise OutsideError("the broker went away", where="there", hint="call somebody")
        return super().register_schema(topic, info)


class _Interrupted(EmbeddedRegistry):
    """Somebody presses Ctrl-C at the third schema."""

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        if topic.local_name == "order-created":
            raise KeyboardInterrupt
        return super().register_schema(topic, info)


@pytest.fixture
def opening_as(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[type], pytest.MonkeyPatch]]:
    """Makes commands open another class of embedded registry, until `undo`."""

    def become(kind: type[EmbeddedRegistry]) -> pytest.MonkeyPatch:
        def opened(name: str, config: RegistryConfig, root: Path) -> EmbeddedRegistry:
            del config
            path = ".gitops/registry.db"
            return kind(name, root / path, address=path)

        monkeypatch.setattr("gitops.registries.factory.open_registry", opened)
        return monkeypatch

    yield become
    monkeypatch.undo()


def test_a_plan_that_stopped_half_way_is_taken_up_again(
    repo: Path,
    plan_file: Path,
    command: CommandLine,
    opening_as: Callable[[type], pytest.MonkeyPatch],
) -> None:
    patch = opening_as(_Failing)
    first = command("apply", "--repo", repo, plan_file)
    assert first.code == 6
    assert "actions are done, then: the broker went away" in first.err
    assert (
        "call somebody; then run the same command again: it goes on where it stopped" in first.err
    )
    patch.undo()
    second = command("apply", "--repo", repo, plan_file)
    assert (second.code, "3 of 13 actions left" in second.out) == (0, True)
    third = command("apply", "--repo", repo, plan_file)
    said = "nothing left to do: the 13 actions of this plan were carried out before\n"
    assert (third.code, third.out, third.err) == (0, said, "")
    assert "5 unchanged" in command("plan", "--repo", repo).out


def test_ctrl_c_leaves_a_plan_that_can_be_taken_up_again(
    repo: Path,
    plan_file: Path,
    command: CommandLine,
    opening_as: Callable[[type], pytest.MonkeyPatch],
) -> None:
    patch = opening_as(_Interrupted)
    stopped = command("apply", "--repo", repo, plan_file)
    assert (stopped.code, "interrupted" in stopped.err) == (130, True)
    patch.undo()
    assert command("apply", "--repo", repo, plan_file).code == 0


def test_a_failure_before_anything_was_done_is_no_partial_apply(
    applied: Path, command: CommandLine, opening_as: Callable[[type], pytest.MonkeyPatch]
) -> None:
    definition = applied / "namespaces/shop/orders/order-created.avsc"
    more = '{"name": "remark", "type": "string", "default": ""}, {"name": "orderId"'
    definition.write_text(definition.read_text().replace('{"name": "orderId"', more))
    opening_as(_Failing)
    done = command("apply", "--repo", applied, "--auto-approve")
    assert (done.code, done.err.splitlines()[0]) == (4, "error: the broker went away")


def test_two_plans_are_the_same_bytes(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = set()
    for _ in range(2):
        assert run(["plan", "--repo", str(repo), "--format", "json"]) == 0
        texts.add(capsys.readouterr().out)
    assert len(texts) == 1


def test_the_order_in_which_files_were_written_does_not_matter(
    repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    files = [path for path in sorted(repo.rglob("*")) if path.is_file()]
    documents = []
    for order in (files, files[::-1]):
        other = tmp_path / "copy"
        for file in order:
            copy = other / file.relative_to(repo)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
        documents.append(command("plan", "--repo", other, "--format", "json").out)
        shutil.rmtree(other)
    assert documents[0] == documents[1]
