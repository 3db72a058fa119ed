"""One mistake is one finding: what one cause does to many topics is said once, with the number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.policy import BrokerSettings
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from tests.scenarios.registries import Command, Live, behind_rest
from tests.scenarios.repositories import empty_for
from tests.support.git_repos import GitRepository
from tests.support.states import field, record

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_EMBEDDED: Final = "{kind: embedded, path: ../live.db}"
_TOPICS: Final = 6
_DOLLAR: Final = record(field("id"), field("a$b", ["null", "int"], default=None))


class _Shop:
    """A repository with topics in two namespaces, each with a policy of its own."""

    def __init__(self, root: Path, command: Command, registries: str = _EMBEDDED) -> None:
        self.repo = GitRepository(empty_for(root, registries))
        self._command = command

    def __call__(self, *args: str, code: int = 0) -> str:
        found, text = self._command(*args, "--repo", str(self.repo.root))
        assert found == code, text
        return text

    def document(self, *args: str, code: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self(*args, "--format", "json", code=code))
        return found

    def fill(self) -> None:
        files: dict[str, str | None] = {}
        for space in ("a", "b"):
            folder = f"namespaces/acme/{space}"
            policy = "schemaCompatibilityStrategy: FULL\n"
            name = f"namespace: acme/{space}\n"
            files[f"{folder}/namespace.yaml"] = f"{_HEAD}Namespace\n{name}{policy}"
            for number in range(_TOPICS):
                files[f"{folder}/t{number}.yaml"] = (
                    f"{_HEAD}Topic\nschema: {{type: STRING}}\npolicies: {{{policy.strip()}}}\n"
                )
        uses = "".join(
            f"  - {{topic: acme/a/t{number}, subscription: billing, schema: {{version: 0}}}}\n"
            for number in range(_TOPICS)
        )
        files["clients/billing.yaml"] = (
            f"{_HEAD}Client\nname: billing\nowner: acme\nconsumes:\n{uses}"
        )
        self.repo.commit(files)
        self("fmt")
        self.repo.commit()

    def findings(self, code: int) -> list[dict[str, Any]]:
        """Those of a check of the last commit, without CHECK-R005, which counts topics."""
        report = self.document("check", "--base", "HEAD~1", code=code)
        found = [*report["findings"]]
        found += [one for registry in report["registries"] for one in registry["plan"]["findings"]]
        return [one for one in found if one["rule"] != "CHECK-R005"]


@pytest.fixture
def shop(tmp_path: Path, command: Command) -> _Shop:
    made = _Shop(tmp_path / "repo", command)
    made.fill()
    return made


def _by_rule(findings: list[dict[str, Any]]) -> dict[str, list[tuple[str, int]]]:
    """The messages of each rule, and how many findings each stands for."""
    found: dict[str, list[tuple[str, int]]] = {}
    for one in findings:
        found.setdefault(one["rule"], []).append((one["message"], len(one["members"])))
    return found


def test_a_root_folder_with_another_name(shop: _Shop) -> None:
    shop.repo.git("mv", "namespaces", "topics")
    shop.repo.commit()

    warnings = shop.document("validate")["findings"]
    found = _by_rule(shop.findings(code=1))
    text = shop("check", "--base", "HEAD~1", code=1)

    assert [one["message"] for one in warnings if one["rule"] == "REPO-R023"] == [
        "nothing reads the 14 files below topics/"
    ]
    ((removed, number),) = found["CHECK-R001"]
    assert removed.startswith("12 manifests move to topics/, where nothing reads them; ")
    assert removed.endswith(
        "; billing still uses 6 of the topics; the policies of acme/a and acme/b are no longer "
        "managed"
    )
    assert (number, set(found)) == (2 * _TOPICS, {"CHECK-R001"})
    assert "next  git mv topics namespaces; or set" in text


def test_a_namespace_folder_with_another_name(shop: _Shop) -> None:
    shop.repo.git("mv", "namespaces/acme/a", "namespaces/acme/c")
    shop.repo.commit()

    text = shop("check", "--base", "HEAD~1", code=1)
    found = _by_rule(shop.findings(code=1))

    ((moved, number),) = found["CHECK-R002"]
    assert moved.endswith(
        "; billing still uses 6 of the topics; the policies of acme/a are no longer managed"
    )
    assert (number, set(found)) == (_TOPICS, {"CHECK-R002"})
    assert "next  git mv namespaces/acme/c namespaces/acme/a: " in text
    assert len(text.splitlines()) < 60


def test_a_tenant_folder_with_another_name_that_is_not_staged(shop: _Shop) -> None:
    (shop.repo.root / "namespaces/acme").rename(shop.repo.root / "namespaces/apex")

    report = shop.document("check", "--base", "HEAD", code=1)
    (finding,) = [one for one in report["findings"] if one["rule"] != "CHECK-R005"]

    assert finding["message"].startswith("12 topics of acme move to apex and start without history")
    assert "; the policies of acme/a and acme/b are no longer managed" in finding["message"]
    assert finding["hint"].startswith("git mv namespaces/apex namespaces/acme: a topic is in the")


def test_a_move_that_is_allowed_hides_nothing(shop: _Shop) -> None:
    """Clients that still use the topics are an error, and the move is none."""
    config = (shop.repo.root / "gitops.yaml").read_text("utf-8")
    shop.repo.commit({"gitops.yaml": f"{config}safety: {{allowDeletions: true}}\n"})
    shop.repo.git("mv", "namespaces/acme/a", "namespaces/acme/c")
    shop.repo.commit()

    found = _by_rule(shop.findings(code=1))

    ((used, number),) = found["CLIENT-R005"]
    assert (number, used.startswith("billing still uses 6 topics")) == (_TOPICS, True)
    assert {"CHECK-R002", "CHECK-R003", "REPO-R016"} <= found.keys()


def test_what_does_not_follow_from_a_move_is_told_beside_it(shop: _Shop) -> None:
    shop.repo.commit({"namespaces/acme/a/t0.yaml": f"{_HEAD}Topic\nschema: {{type: INT32}}\n"})
    shop.repo.git("mv", "namespaces/acme/b", "namespaces/acme/c")
    shop.repo.git("rm", "-q", "namespaces/acme/a/t0.yaml")
    shop.repo.commit()

    found = _by_rule(shop.findings(code=1))

    ((moved, _),) = found["CHECK-R002"]
    assert "billing" not in moved
    assert [message for message, _ in found["CLIENT-R005"]] == ["billing still uses acme/a/t0"]
    assert len(found["CHECK-R001"]) == 1


def test_the_same_policy_of_several_topics_is_loosened(shop: _Shop) -> None:
    for number in range(_TOPICS):
        path = shop.repo.root / f"namespaces/acme/a/t{number}.yaml"
        path.write_text(path.read_text("utf-8").replace("FULL", "BACKWARD"), "utf-8")
    shop.repo.commit()

    found = _by_rule(shop.findings(code=0))
    text = shop("check", "--base", "HEAD~1")

    assert found["CHECK-R003"] == [
        ("schemaCompatibilityStrategy of 6 topics is loosened: FULL → BACKWARD", _TOPICS)
    ]
    assert text.count("CHECK-R003 warning") == 1
    assert "for acme/a/t0, acme/a/t1" in text


def test_topics_that_drifted_alike(shop: _Shop) -> None:
    shop("apply", "--auto-approve")
    shop("snapshot")
    shop.repo.commit()
    for number in range(_TOPICS):
        policy = "schemaCompatibilityStrategy=BACKWARD"
        shop("policies", "set", f"acme/b/t{number}", policy)

    text, markdown = (shop("drift", "--format", name, code=3) for name in ("text", "markdown"))
    drifts = shop.document("drift", code=3)["registries"][0]["drifts"]
    adopted = shop("drift", "--adopt")

    for report in (text, markdown):
        assert report.count("FULL in git, BACKWARD in the registry") == 1
        assert "6 topics" in report
    assert len(drifts) == _TOPICS
    written = [f"wrote namespaces/acme/b/t{number}.yaml" for number in range(_TOPICS)]
    assert adopted.splitlines() == [*written, "read the changes (git diff), and commit them"]
    assert shop("drift").startswith("✓ live: no drift")


def test_a_topic_that_lost_its_versions_is_listed_once(shop: _Shop) -> None:
    folder = "namespaces/acme/a"
    definition = record(field("id"))
    changed = record(field("id"), field("note", ["null", "string"], default=None))
    shop.repo.commit(
        {
            f"{folder}/lost.yaml": f"{_HEAD}Topic\nschema: {{type: AVRO, definition: lost.avsc}}\n",
            f"{folder}/lost.avsc": json.dumps(definition),
        }
    )
    shop("apply", "--auto-approve")
    shop("snapshot")
    shop.repo.commit()
    shop("schemas", "delete", "acme/a/lost", "--force", "--yes")
    shop.repo.commit({f"{folder}/lost.avsc": json.dumps(changed)})

    text = shop("check", "--base", "HEAD~1", code=1)

    assert "the registry lost v0" in text
    assert text.count("acme/a/lost   AVRO   new → v0") == 1


def test_an_empty_repository_manages_no_topic(shop: _Shop) -> None:
    """Where the namespaces are not the files' either, there is no drift, and nothing is green."""
    shop("apply", "--auto-approve")
    shop("snapshot")
    shop.repo.git("rm", "-rq", "namespaces", "clients")
    shop.repo.commit()

    lines = shop("drift", code=3).splitlines()

    assert not lines[0].startswith("✓")
    assert "12 topics" in lines[0]


def _repository_of(root: Path, registries: Mapping[str, Live], definition: object) -> GitRepository:
    """Topics of which the last commit changes the definition; no line is named in the files."""
    folder = f"namespaces/{next(iter(registries.values())).tenant}/orders"
    named = "".join(f"  {name}: {live.registries}\n" for name, live in registries.items())
    root.mkdir()
    repo = GitRepository(root)
    manifest = f"{_HEAD}Topic\nschema: {{type: AVRO, definition: order.avsc}}\n"
    repo.commit(
        {
            "gitops.yaml": f"{_HEAD}Config\ndefaultRegistry: new\nregistries:\n{named}",
            f"{folder}/order.yaml": manifest,
            f"{folder}/order.avsc": json.dumps(record(field("id"))),
        }
    )
    repo.commit({f"{folder}/order.avsc": json.dumps(definition)})
    return repo


@pytest.mark.parametrize("release", ["4.2", "4.0"])
def test_a_check_names_no_line_that_the_cluster_does_not_have(
    tmp_path: Path, command: Command, release: str
) -> None:
    """Once the release is learned, no finding says that 4.0 is assumed."""
    registry = EmbeddedRegistry("served", tmp_path / "x.db", BrokerSettings(release=release))
    with closing(registry), serve_in_thread(registry) as url:
        repo = _repository_of(tmp_path / "repo", {"new": behind_rest(url)}, _DOLLAR)
        at = ("--base", "HEAD~1", "--repo", str(repo.root))
        code, text = command("check", *at)

    assert "(learned)" in text
    assert "assumed" not in text
    assert code == (0 if release == "4.2" else 1)
    assert text.count("'a$b' is not a name") == (0 if release == "4.2" else 2), "why, and where"


def test_what_one_registry_of_a_check_refuses_is_one_finding(
    tmp_path: Path, command: Command
) -> None:
    new, old = (
        EmbeddedRegistry(line, tmp_path / f"{line}.db", BrokerSettings(release=line))
        for line in ("4.2", "4.0")
    )
    with (
        closing(new),
        closing(old),
        serve_in_thread(new) as new_url,
        serve_in_thread(old) as old_url,
    ):
        registries = {"new": behind_rest(new_url), "old": behind_rest(old_url)}
        repo = _repository_of(tmp_path / "repo", registries, _DOLLAR)
        both = ("--registry", "new", "--registry", "old")
        at = ("--base", "HEAD~1", "--repo", str(repo.root), "--format", "json")
        code, text = command("check", *at, *both)

    report = json.loads(text)
    found = [
        (registry["plan"]["registry"]["name"], one["rule"])
        for registry in report["registries"]
        for one in registry["plan"]["findings"]
        if one["rule"] != "PLAN-R024"  # neither registry has the version of the base
    ]
    assert code == 1
    assert found == [("old", "PLAN-R001")]


def test_a_client_of_deleted_topics_is_named_once(shop: _Shop) -> None:
    shop("apply", "--auto-approve")
    shop.repo.git("rm", "-rq", "namespaces/acme/a")
    shop.repo.commit({"namespaces/acme/a/kept.yaml": f"{_HEAD}Topic\n"})

    findings = shop.document("plan", "--prune", code=1)["findings"]

    about_clients = [one for one in findings if one["rule"].startswith("CLIENT-")]
    assert [one["rule"] for one in about_clients] == ["CLIENT-R005"]
    assert len(about_clients[0]["members"]) == _TOPICS


def test_topics_that_nobody_declares_are_one_finding_for_their_client(shop: _Shop) -> None:
    shop.repo.git("rm", "-rq", "namespaces/acme")
    shop.repo.commit({"namespaces/acme/a/kept.yaml": f"{_HEAD}Topic\n"})

    for command in ("plan", "validate"):
        findings = shop.document(command)["findings"]
        (unknown,) = [one for one in findings if one["rule"] == "CLIENT-R010"]
        assert len(unknown["members"]) == _TOPICS
