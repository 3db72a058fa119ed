"""A schemas repository on GitHub with a cluster, for the template's workflows."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gitops.journal.reader import read_journal
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from tests.support.admin_rest import admin_request
from tests.support.git_repos import GitRepository
from tests.support.github_stand_in import REPOSITORY, GitHubStandIn
from tests.support.prepared_command import prepared_program
from tests.support.workflow_runs import Actions, Event, Run

SCHEMA: Final = "namespaces/shop/payments/captured.avsc"
RISK: Final[dict[str, Any]] = {"name": "risk", "type": ["null", "string"], "default": None}
BROKEN: Final[dict[str, Any]] = {"name": "currency", "type": "string"}


@dataclass(slots=True, kw_only=True)
class Project:
    """A schemas repository on GitHub, a cluster, and the clone of somebody who works on it."""

    clone: GitRepository
    actions: Actions
    github: GitHubStandIn

    def push_main(self) -> Event:
        """What is on the clone's main is on GitHub's, with the event of that."""
        self.clone.git("push", "--quiet", "origin", "main")
        sha = self.clone.git("rev-parse", "main")
        payload = {"after": sha, **REPOSITORY_PAYLOAD}
        return Event(name="push", payload=payload, ref="refs/heads/main", sha=sha)

    def propose(self, number: int, field: dict[str, Any], *, is_foreign: bool = False) -> Event:
        """A pull request that adds a field to a schema, or a further commit of it."""
        branch = f"proposal-{number}"
        self.clone.git("checkout", "--quiet", "-B", branch, "main")
        self.clone.write({SCHEMA: _with_field(self.clone.root / SCHEMA, field)})
        subprocess.run(
            [prepared_program(), "fmt"], cwd=self.clone.root, check=True, capture_output=True
        )
        self.clone.commit()
        return self.pushed(number, is_foreign=is_foreign)

    def pushed(self, number: int, *, is_foreign: bool = False) -> Event:
        """The event of a pull request whose branch was pushed: GitHub merges it for the check."""
        branch, head = f"proposal-{number}", self.clone.git("rev-parse", f"proposal-{number}")
        self.clone.git("checkout", "--quiet", "--detach", "main")
        self.clone.git("merge", "--quiet", "--no-ff", "--message=merge", branch)
        merged, ref = self.clone.head, f"refs/pull/{number}/merge"
        self.clone.git("push", "--quiet", "--force", "origin", f"{branch}:{branch}", f"HEAD:{ref}")
        self.clone.git("checkout", "--quiet", "main")
        self.github.heads[number] = head
        names = self.clone.git("diff", "--name-only", f"main...{branch}").split()
        self.github.files[number] = names
        self.github.patches[number] = {
            name: self.clone.git("diff", f"main...{branch}", "--", name).partition("\n@@")[2]
            for name in names
        }
        self.github.patches[number] = {
            name: f"@@{patch}" for name, patch in self.github.patches[number].items()
        }
        payload = {
            "action": "synchronize",
            "number": number,
            "pull_request": {"number": number, "head": {"sha": head}},
            **REPOSITORY_PAYLOAD,
        }
        return Event(
            name="pull_request", payload=payload, ref=ref, sha=merged, is_foreign=is_foreign
        )

    def check(self, number: int, event: Event) -> tuple[Run, Run]:
        """The run of the check, and the one that comments."""
        run = self.actions.start("check", event)
        return run, self.comment(number, run)

    def comment(self, number: int, run: Run) -> Run:
        done = self.actions.completed(run, f"proposal-{number}", self.github.heads[number])
        return self.actions.start("comment", done)

    def program(self, *words: str) -> str:
        """Run the program in the clone."""
        done = subprocess.run(
            [prepared_program(), *words],
            cwd=self.clone.root,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def plant(self, field: dict[str, Any]) -> None:
        """Register a version outside git, with one more field than the latest has."""
        topic = "shop/payments/captured"
        content = json.loads(
            json.loads(self.program("schemas", "get", topic, "--format", "json"))["schema"]
        )
        content["fields"].append(field)
        by_hand = self.clone.root.parent / "by-hand.avsc"
        by_hand.write_text(json.dumps(content), "utf-8")
        self.program("schemas", "upload", topic, str(by_hand), "--type", "AVRO")

    def night(self) -> Event:
        """The schedule of a morning, with what main is then."""
        main = self.push_main()
        return Event(name="schedule", payload=REPOSITORY_PAYLOAD, ref=main.ref, sha=main.sha)

    def merge(self, number: int) -> Event:
        self.clone.git("checkout", "--quiet", "main")
        self.clone.git("merge", "--quiet", "--no-ff", "--message=merge", f"proposal-{number}")
        return self.push_main()

    def apply(self, event: Event) -> Run:
        """Plan what main says, have it reviewed, and apply it."""
        run = self.actions.start("apply", event)
        assert run.jobs["plan"].result == "success", printed(run)
        assert run.jobs["apply"].result == "waiting"
        self.actions.approve(run, "pulsar-apply")
        return run

    def body(self, number: int) -> str:
        """The only comment of a pull request."""
        (comment,) = self.github.comments[number]
        return comment.body


REPOSITORY_PAYLOAD = {"repository": {"full_name": REPOSITORY, "default_branch": "main"}}


def _with_field(schema: Path, field: dict[str, Any]) -> str:
    content = json.loads(schema.read_text("utf-8"))
    content["fields"].append(field)
    return json.dumps(content, indent=2) + "\n"


def printed(run: Run) -> list[str]:
    """What each step of a run printed."""
    return [ran.printed for job in run.jobs.values() for ran in job.ran.values()]


@contextmanager
def github_project(tmp_path: Path, github: GitHubStandIn) -> Iterator[Project]:
    """The template with a cluster, applied; GitHub has no pull request yet."""
    origin, clone = tmp_path / "origin.git", GitRepository(tmp_path / "clone")
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", origin], check=True)
    subprocess.run([prepared_program(), "init", clone.root], check=True, capture_output=True)
    clone.git("remote", "add", "origin", str(origin))
    github.heads.clear()
    with serve_in_thread(EmbeddedRegistry("served", tmp_path / "cluster.db")) as url:
        clusters = json.loads(admin_request("GET", f"{url}/admin/v2/clusters"))
        about = {"adminRoles": [], "allowedClusters": clusters}
        admin_request("PUT", f"{url}/admin/v2/tenants/shop", about)
        settings = (clone.root / "gitops.yaml").read_text("utf-8")
        kind = f"kind: pulsar\n    url: {url}"
        settings = settings.replace("kind: embedded\n    path: .gitops/registry.db", kind)
        clone.commit({"gitops.yaml": settings})
        variables = {"PULSAR_REGISTRY": "local", "PULSAR_REPLAY": "", "PULSAR_NEXT_BROKER": ""}
        actions = Actions(
            root=tmp_path / "runners", origin=origin, github=github, variables=variables
        )
        found = Project(clone=clone, actions=actions, github=github)
        # gh writes pull requests: test_record.py and test_drift.py run those jobs.
        run = found.apply(found.push_main())
        assert run.jobs["apply"].result == "success", printed(run)
        (journal,) = run.artifacts["pulsar-gitops-journal-1"].iterdir()
        assert read_journal(journal)[-1].is_whole
        yield found
