"""Drift of every kind is found, told apart and adopted, on each registry; then a plan is empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.admin_rest import admin_request
from tests.support.git_repos import GitRepository
from tests.support.states import field, record

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_OPTIONAL: Final = ["null", "string"]


def _namespace(name: str, policies: str = "") -> str:
    return f"{_HEAD}Namespace\n# about {name}\nnamespace: {name}\n{policies}"


def _topic(schema: str, more: str = "") -> str:
    return f"{_HEAD}Topic\n# about the topic\nschema: {schema}\n{more}"


def _definition(*names: str) -> str:
    optional = (field(name, _OPTIONAL, default=None) for name in names)
    return json.dumps(record(field("id"), *optional))


class _Cluster:
    """A repository that is applied and recorded, and commands about it."""

    def __init__(self, root: Path, live: Live, command: Command) -> None:
        self.repo = GitRepository(empty_for(root, live.registries))
        self.live, self._command = live, command
        self.space = f"{live.tenant}/shop"
        self.folder = f"namespaces/{self.space}"

    def __call__(self, *args: str, code: int = 0) -> str:
        found, text = self._command(*args, "--repo", str(self.repo.root))
        assert found == code, text
        return text

    def document(self, *args: str, code: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self(*args, "--format", "json", code=code))
        return found

    def drifts(self, code: int) -> list[dict[str, Any]]:
        (one,) = self.document("drift", code=code)["registries"]
        drifts: list[dict[str, Any]] = one["drifts"]
        return drifts

    def upload(self, topic: str, text: str) -> None:
        file = self.repo.root.parent / "by-hand.avsc"
        file.write_text(text, "utf-8")
        self("schemas", "upload", f"{self.space}/{topic}", str(file), "--type", "AVRO")

    def delete_topic(self, topic: str) -> None:
        if self.live.admin:
            admin_request("DELETE", f"{self.live.admin}/persistent/{self.space}/{topic}")
        else:
            self("schemas", "delete", f"{self.space}/{topic}", "--force", "--yes")

    def settle(self, files: dict[str, str | None]) -> None:
        """Commit, apply, record and commit."""
        self.repo.commit(files)
        self("fmt")
        self.repo.commit()
        self("apply", "--auto-approve")
        self("snapshot")
        self.repo.commit()


def _settled(cluster: _Cluster) -> None:
    """Topics for each kind of drift, and a namespace that the files do not have any more."""
    folder, avro = cluster.folder, "{{type: AVRO, definition: {}.avsc}}"
    earlier = f"{cluster.live.tenant}/earlier"
    policies = "schemaCompatibilityStrategy: FULL # ours\n"
    cluster.settle({f"{folder}/namespace.yaml": _namespace(cluster.space, policies)})
    for name in ("loose", "status", "gone", "empty"):
        cluster.live.create_topic(f"shop/{name}")
    cluster.settle(
        {
            **{f"{folder}/{name}.yaml": _topic(avro.format(name)) for name in ("order", "both")},
            **{f"{folder}/{name}.avsc": _definition("note") for name in ("order", "both")},
            **{f"{folder}/{name}.yaml": _topic("{type: STRING}") for name in ("status", "gone")},
            f"{folder}/bulk.yaml": _topic("{type: STRING}", "partitions: 2 # enough\n"),
            f"{folder}/loose.yaml": _topic(
                "{type: INT64}", "policies: {schemaCompatibilityStrategy: FULL} # why\n"
            ),
            f"namespaces/{earlier}/namespace.yaml": _namespace(earlier),
            f"namespaces/{earlier}/old.yaml": _topic("{type: STRING}"),
        }
    )
    gone = [f"namespaces/{earlier}/{name}.yaml" for name in ("namespace", "old")]
    cluster.repo.commit(dict.fromkeys(gone))


def test_every_kind_is_found_and_adopted(live: Live, tmp_path: Path, command: Command) -> None:
    cluster = _Cluster(tmp_path / "repo", live, command)
    _settled(cluster)
    space, earlier = cluster.space, f"{live.tenant}/earlier"
    quiet = cluster.drifts(3)
    assert [(one["drift"], one.get("topic")) for one in quiet] == [
        ("UnmanagedNamespace", None),
        ("UnmanagedTopic", f"{earlier}/old"),
    ]

    cluster.upload("order", _definition("note", "coupon"))
    cluster.upload("both", _definition("note", "colour"))
    cluster.repo.commit({f"{cluster.folder}/both.avsc": _definition("note", "size")})
    cluster("fmt")
    cluster.repo.commit()
    cluster("schemas", "delete", f"{space}/status", "--yes")
    cluster.delete_topic("gone")
    cluster("policies", "set", space, "schemaCompatibilityStrategy=BACKWARD")
    cluster("policies", "set", f"{space}/loose", "schemaCompatibilityStrategy=ALWAYS_COMPATIBLE")
    cluster.upload("by-hand", _definition("x"))
    cluster.live.create_topic("shop/by-hand")
    has_more = cluster.live.add_partitions("shop/bulk", 4)

    found = {
        (one["drift"], one.get("topic") or one.get("subject")): one for one in cluster.drifts(3)
    }
    assert set(found) == {
        ("Versions", f"{space}/order"),
        ("Versions", f"{space}/both"),
        ("SchemaDeleted", f"{space}/status"),
        # The embedded registry has no topics besides their schemas.
        ("TopicDeleted" if live.admin else "SchemaDeleted", f"{space}/gone"),
        ("Policy", space),
        ("Policy", f"{space}/loose"),
        *([("Partitions", f"{space}/bulk")] if has_more else []),
        ("UnmanagedTopic", f"{space}/by-hand"),
        ("UnmanagedTopic", f"{earlier}/old"),
        ("UnmanagedNamespace", None),
    }
    order = found["Versions", f"{space}/order"]
    (version,) = order["versions"]
    assert (version["version"], version["inSnapshot"]) == (1, False)
    assert version["timestamp"] > 1_600_000_000_000
    assert [(one["kind"], one["path"]) for one in version["changes"]] == [("added", "coupon")]
    assert (order["definition"]["version"], order["definition"]["isNew"]) == (0, False)
    both = found["Versions", f"{space}/both"]["definition"]
    assert (both["version"], both["isNew"], both["accepted"]) == (2, True, True)
    policy = found["Policy", space]
    assert [policy[key] for key in ("files", "registry", "snapshot")] == [
        "FULL",
        "BACKWARD",
        "FULL",
    ]

    adopted = cluster.document("drift", "--adopt")["adoption"]

    assert adopted["refused"] == []
    assert adopted["removed"] == [f"{cluster.folder}/{one}.yaml" for one in ("gone", "status")]
    assert cluster("validate") == "no findings\n"
    planned = cluster.document("plan", "--detailed-exitcode")
    assert (planned["actions"], planned["notices"], planned["unmanaged"]) == ([], [], [])
    assert cluster.drifts(0) == []
    cluster("fmt", "--check")
    text = (cluster.repo.root / cluster.folder / "namespace.yaml").read_text("utf-8")
    assert "# about" in text
    assert "schemaCompatibilityStrategy: BACKWARD # ours" in text
    bulk = (cluster.repo.root / cluster.folder / "bulk.yaml").read_text("utf-8")
    assert f"partitions: {4 if has_more else 2} # enough\n" in bulk
    loose = (cluster.repo.root / cluster.folder / "loose.yaml").read_text("utf-8")
    assert "policies: # why\n  schemaCompatibilityStrategy: ALWAYS_COMPATIBLE\n" in loose


def test_what_is_lost_stays_until_it_is_recorded_anew(
    live: Live, tmp_path: Path, command: Command
) -> None:
    cluster = _Cluster(tmp_path / "repo", live, command)
    doomed = f"{live.tenant}/doomed"
    cluster.settle(
        {
            f"{cluster.folder}/order.yaml": _topic("{type: AVRO, definition: order.avsc}"),
            f"{cluster.folder}/order.avsc": _definition("note"),
            f"namespaces/{doomed}/namespace.yaml": _namespace(doomed),
        }
    )
    cluster("schemas", "delete", f"{cluster.space}/order", "--yes")
    cluster.upload("order", _definition("coupon"))
    if live.admin:
        admin_request("DELETE", f"{live.admin}/namespaces/{doomed}")

    found = {one["drift"] for one in cluster.drifts(3)}
    adoption = cluster.document("drift", "--adopt", code=3)["adoption"]
    cluster.repo.commit()
    left = cluster.drifts(3)
    cluster("snapshot", "--accept-loss")

    gone = {"NamespaceDeleted"} if live.admin else set()
    assert found == {"Versions", "VersionsLost", *gone}
    (refused,) = adoption["refused"]
    assert refused["subject"] == f"{cluster.space}/order"
    assert [one["drift"] for one in left] == ["VersionsLost"]
    planned = cluster.document("plan", "--detailed-exitcode")
    assert (planned["actions"], planned["notices"]) == ([], [])
    assert cluster.drifts(0) == []
