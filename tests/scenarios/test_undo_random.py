"""Whatever a random commit changes and a plan applies: undone, it is as before, or it says why not.

`UNDO_RUNS=500` in the environment makes so many, `UNDO_SEED` others than the usual ones.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyValue, is_same_value, managed_items
from gitops.model.state import NamespaceState, RegistryState, Scope, TopicState
from gitops.planning.revision import is_revision_of
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.scenarios.registries import Command
from tests.support.git_repos import GitRepository
from tests.support.states import field, record

_Governed = NamespaceState | TopicState

_RUNS: Final = int(os.environ.get("UNDO_RUNS", "6"))
_SEED: Final = int(os.environ.get("UNDO_SEED", "1"))
_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_SPACES: Final = ("a/b", "a/c")
_TOPICS: Final = 6
_SETTINGS: Final = (
    f"{_HEAD}Config\nregistries:\n  live: {{kind: embedded, path: live.db}}\n"
    "safety: {allowDeletions: true, maxChangedShare: 1.0}\n"
)
_STRATEGIES: Final = ("ALWAYS_COMPATIBLE",) * 8 + ("BACKWARD", "FULL", "FORWARD", "UNDEFINED")
_SHARED: Final = "types/money.avsc"


class _Files:
    """Random manifests and definitions of two namespaces."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def first(self) -> dict[str, str | None]:
        files: dict[str, str | None] = {
            "gitops.yaml": _SETTINGS,
            ".gitignore": "live.db*\n",
            _SHARED: self._money([]),
        }
        for space in _SPACES:
            files |= self._namespace(space)
            for number in range(_TOPICS):
                files |= self._topic(f"{space}/t{number}")
        return files

    def changed(self) -> dict[str, str | None]:
        files: dict[str, str | None] = {}
        if self._random.random() < 0.3:
            files[_SHARED] = self._money(["scale"])
        for space in _SPACES:
            files |= self._namespace(space) if self._random.random() < 0.5 else {}
            for number in range(_TOPICS + 2):
                name = f"{space}/t{number}"
                match self._random.randrange(6):
                    case 0 | 1:
                        files |= self._topic(name)
                    case 2 if number < _TOPICS:
                        ends = ("yaml", "avsc", "key.avsc")
                        files |= dict.fromkeys((f"namespaces/{name}.{end}" for end in ends), None)
        return files

    def _money(self, more: list[str]) -> str:
        fields = [field("amount", "long"), *(_optional(name) for name in more)]
        return json.dumps({**record(*fields), "name": "Money", "namespace": "n"})

    def _namespace(self, name: str) -> dict[str, str | None]:
        keys = {
            "schemaCompatibilityStrategy": self._random.choice(_STRATEGIES),
            "isAllowAutoUpdateSchema": self._random.choice(("true", "false")),
            "schemaValidationEnforced": self._random.choice(("true", "false")),
        }
        kept = {key: value for key, value in keys.items() if self._random.random() < 0.7}
        lines = "".join(f"{key}: {value} # why\n" for key, value in kept.items())
        path = f"namespaces/{name}/namespace.yaml"
        return {path: f"{_HEAD}Namespace\n# ours\nnamespace: {name}\n{lines}"}

    def _topic(self, name: str) -> dict[str, str | None]:
        stem = name.rpartition("/")[2]
        kind = self._random.choice(("AVRO", "JSON", "PROTOBUF", "pair", "STRING", "inline"))
        files: dict[str, str | None] = {}
        more = ""
        if self._random.random() < 0.3:
            strategy = self._random.choice(_STRATEGIES)
            more = f"policies: {{schemaCompatibilityStrategy: {strategy}}} # own\n"
        definition = self._definition()
        match kind:
            case "STRING":
                schema = "{type: STRING}"
            case "inline":
                schema = f"{{type: AVRO, definition: {definition}}}"
            case "pair":
                value = f"{{type: AVRO, definition: {stem}.avsc}}"
                schema = (
                    f"{{type: KEY_VALUE, encoding: INLINE, key: {{type: STRING}}, value: {value}}}"
                )
                files[f"namespaces/{name}.avsc"] = definition
            case _:
                schema = f"{{type: {kind}, definition: {stem}.avsc}}"
                files[f"namespaces/{name}.avsc"] = f"// why\n{definition}"
        files.setdefault(f"namespaces/{name}.avsc", None)
        text = f"{_HEAD}Topic\n# about it\nschema: {schema}\n{more}"
        return {**files, f"namespaces/{name}.yaml": text}

    def _definition(self) -> str:
        names = self._random.sample(["x", "y", "z"], self._random.randint(0, 3))
        fields = [field("id", "string"), *map(_optional, names)]
        if self._random.random() < 0.3:
            fields.append(field("money", "n.Money"))
        return json.dumps(record(*fields))


def _optional(name: str) -> dict[str, object]:
    return field(name, ["null", "string"], default=None)


def _held(root: Path) -> RegistryState:
    spaces = frozenset(map(NamespaceName.parse, _SPACES))
    topics = frozenset(TopicName(name, f"t{n}") for name in spaces for n in range(_TOPICS + 2))
    registry = EmbeddedRegistry("live", root / "live.db")
    try:
        return registry.observe(Scope(namespaces=spaces, topics=topics))
    finally:
        registry.close()


def _different(before: RegistryState, after: RegistryState) -> set[str]:
    """The subjects that are not as they were."""
    found = {
        str(name)
        for name in before.namespaces
        if _policies_differ(before.subject(name), after.subject(name))
    }
    for topic, old in before.topics.items():
        new = after.topics[topic]
        was, now = old.history.latest, new.history.latest
        is_back = was is now is None or (was and now and is_revision_of(now.info, was.info))
        if not is_back or (was and _policies_differ(old, new)):
            found.add(str(topic))
    return found


def _policies_differ(old: _Governed, new: _Governed) -> bool:
    """Whether other values are in force; a broker's own is the same whether it is set or not."""
    start: dict[str, PolicyValue] = {"isAllowAutoUpdateSchema": True}
    was, now = (start | dict(managed_items(one.policies)) for one in (old, new))
    return any(not is_same_value(k, was.get(k), now.get(k)) for k in was.keys() | now.keys())


def _is_not_undone(finding: dict[str, Any]) -> bool:
    reasons = ("not undone", "stays ", "not known")
    harmless = ("registered: producers", "do not come back")
    said = finding["message"]
    return (
        finding["rule"] == "PLAN-R017"
        and any(each in said for each in reasons)
        and not any(each in said for each in harmless)
    )


class _Run:
    """One repository, its commands, and the plan of the commit that is undone."""

    def __init__(self, seed: int, folder: Path, command: Command) -> None:
        self.random = Random(seed)  # noqa: S311 - a test that can be repeated
        folder.mkdir()
        self.repo = GitRepository(folder / "repo")
        self.plan_file = folder / "plan.json"
        self.undo_file = folder / "undo.json"
        self._command = command

    def __call__(self, *args: str) -> tuple[int, str]:
        return self._command(*args, "--repo", str(self.repo.root))

    def write(self, files: dict[str, str | None]) -> None:
        """Write files, laid out as `fmt` does, and commit them."""
        gone = (path for path, text in files.items() if text is None)
        there = [path for path in gone if (self.repo.root / path).exists()]
        self.repo.write({path: text for path, text in files.items() if text is not None})
        self.repo.write(dict.fromkeys(there))
        self("fmt")
        self.repo.commit()

    def applied(self) -> bool:
        """Whether the plan of the files could be carried out, which a refusal keeps it from."""
        if self("plan", "--prune", "--out", str(self.plan_file))[0]:
            return False
        assert self("apply", str(self.plan_file))[0] == 0
        return True

    def undone(self, change: str) -> dict[str, Any]:
        _, text = self("plan", "--undo", change, "--out", str(self.undo_file), "--format", "json")
        document: dict[str, Any] = json.loads(text)
        return document


@pytest.mark.slow
@pytest.mark.timeout(max(600, 60 * _RUNS))
def test_an_undone_change_is_gone_or_it_is_said_why_not(tmp_path: Path, command: Command) -> None:
    done, seed = 0, _SEED - 1
    while done < _RUNS:
        seed += 1
        run = _Run(seed, tmp_path / str(seed), command)
        files = _Files(run.random)
        run.write(files.first())
        assert run("apply", "--auto-approve")[0] == 0
        if run.random.random() < 0.5:
            run("snapshot")
        run.repo.commit()
        before = _held(run.repo.root)
        run.write(files.changed())
        if not run.applied():
            continue
        done += 1
        change = run.random.choice((str(run.plan_file), "HEAD"))

        plan = run.undone(change)

        said = {one["subject"] for one in plan["findings"] if _is_not_undone(one)}
        refused = {one["topic"] for one in plan["notices"] if one["notice"] == "Refused"}
        code, text = run("validate")
        assert code == 0, f"seed {seed}"
        # `fmt` lays out what is used.
        assert "REPO-R023" in text or run("fmt", "--check")[0] == 0, f"seed {seed}"
        if refused:
            assert run("apply", str(run.undo_file))[0] == 1
            continue
        code, text = run("apply", str(run.undo_file))
        assert code == 0, (seed, text)
        wrong = _different(before, _held(run.repo.root)) - said
        assert not wrong, f"seed {seed}, {change}: {wrong}"
        assert json.loads(run("plan", "--format", "json")[1])["actions"] == [], f"seed {seed}"
        again = run.undone(change)
        assert again["actions"] == [], f"seed {seed}"
