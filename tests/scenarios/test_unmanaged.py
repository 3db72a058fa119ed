"""What a registry holds that no file declares: found wherever a file ever named it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.git_repos import GitRepository

_TOPIC = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n"


def _namespace(name: str) -> str:
    return f"apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: {name}\n"


def _plan(command: Command, repo: Path, *more: str) -> dict[str, Any]:
    code, text = command("plan", "--repo", str(repo), "--format", "json", *more)
    assert code == 0
    document: dict[str, Any] = json.loads(text)
    return document


def test_topics_that_were_never_created_are_not_lost(
    live: Live, tmp_path: Path, command: Command
) -> None:
    root = empty_for(tmp_path / "repo", live.registries)
    config = root / "gitops.yaml"
    config.write_text(config.read_text("utf-8") + "safety: {allowDeletions: true}\n", "utf-8")
    repo = GitRepository(root)
    kept, folder = f"{live.tenant}/kept", f"namespaces/{live.tenant}/kept"
    repo.commit(
        {f"{folder}/namespace.yaml": _namespace(kept)}
        | {f"{folder}/{name}.yaml": _TOPIC for name in ("t1", "t2", "t3")}
    )
    assert command("apply", "--repo", str(root), "--auto-approve")[0] == 0

    repo.commit({f"{folder}/t2.yaml": None})
    repo.write({f"{folder}/t3.yaml": None})
    live.create_topic("kept/t1-reader-DLQ")

    made = _plan(command, root)
    assert made["unmanaged"] == [f"{kept}/t2", f"{kept}/t3"]
    # The embedded registry has no topics besides those with a schema.
    assert made["withoutSchema"] == (1 if live.admin else 0)
    pruning = _plan(command, root, "--prune")
    assert [action["topic"] for action in pruning["actions"]] == [f"{kept}/t2", f"{kept}/t3"]
    assert pruning["unmanaged"] == []

    assert command("import", "--repo", str(root), kept)[0] == 0
    assert _plan(command, root)["summary"]["unchanged"] == 3
    for name in ("t2", "t3"):
        repo.write({f"{folder}/{name}.yaml": None})
    assert command("apply", "--repo", str(root), "--auto-approve", "--prune")[0] == 0
    assert _plan(command, root, "--prune")["actions"] == _plan(command, root)["unmanaged"] == []


def test_a_reverted_namespace_is_named_with_its_topics(
    live: Live, tmp_path: Path, command: Command
) -> None:
    root = empty_for(tmp_path / "repo", live.registries)
    repo = GitRepository(root)
    repo.commit()
    new, folder = f"{live.tenant}/new", f"namespaces/{live.tenant}/new"
    repo.commit(
        {f"{folder}/namespace.yaml": _namespace(new)}
        | {f"{folder}/{name}.yaml": _TOPIC for name in ("first", "second")}
    )
    assert command("apply", "--repo", str(root), "--auto-approve")[0] == 0
    repo.git("revert", "--no-edit", "HEAD")

    for more in ((), ("--prune",)):
        made = _plan(command, root, *more)
        assert made["unmanaged"] == [f"{new}/first", f"{new}/second"]
        assert made["unmanagedNamespaces"] == [new]
        # Nobody deletes what is in a namespace that the files do not have.
        assert made["actions"] == []

    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--depth=1", root.as_uri(), str(clone))
    shallow = _plan(command, clone)
    assert (shallow["unmanaged"], shallow["unmanagedNamespaces"]) == ([], [])
    assert "the clone is shallow" in shallow["limits"][0]
