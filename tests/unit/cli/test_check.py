"""`check` on the command line: what it says, where it looks, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine, Outcome
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


ORDERS = "namespaces/shop/orders"
CREATED = f"{ORDERS}/order-created.avsc"
PAYMENTS = "namespaces/shop/payments"


def replace(clone: GitRepository, path: str, old: str, new: str) -> None:
    place = clone.root / path
    text = place.read_text("utf-8")
    assert old in text
    place.write_text(text.replace(old, new), "utf-8")


def require_note(clone: GitRepository) -> None:
    """A field that old messages lack."""
    replace(clone, CREATED, '["null", "string"], "default": null', '"string"')
    replace(clone, CREATED, '"note"', '"remark"')


def document(said: Outcome) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(said.out)
    return content


def test_a_refusal_names_the_line_and_the_way_to_repeat_it(
    clone: GitRepository, command: CommandLine
) -> None:
    require_note(clone)
    said = command("check", "--base", "main", "--repo", clone.root)
    assert said.code == 1
    assert f"main {clone.head[:7]} with the files here" in said.out
    assert "history from git" in said.out
    assert "✗ shop/orders/order-created" in said.out
    assert f"{CREATED}:26:14  AVRO-R002 error" in said.out
    again = f"reproduce: pulsar-gitops check --base main --repo {clone.root}"
    assert again in " ".join(said.out.replace("\\\n", " ").split())
    assert "1 refused" in said.out


def test_base_and_head_are_the_same(clone: GitRepository, command: CommandLine) -> None:
    said = command("check", "--base", "HEAD", "--head", "HEAD", "--repo", clone.root)
    assert said.code == 0
    assert "affects no topics" in said.out


def test_the_first_commit_of_a_repository_is_all_new(
    repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    outer = GitRepository(tmp_path)
    repo.rename(tmp_path / "elsewhere")
    outer.commit({"README.md": "x"})
    (tmp_path / "elsewhere").rename(repo)
    said = command("check", "--base", "main", "--repo", repo, "--format", "json")
    assert said.code == 0
    found = document(said)
    assert len(found["touched"]["topics"]) == 5
    actions = [one["action"] for one in found["registries"][0]["plan"]["actions"]]
    assert actions.count("RegisterSchema") == 5
    assert actions.count("CreateNamespace") == 2
    assert not found["findings"]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--base", "mian"), 2, "this clone has no commit 'mian'"),
        (("--base", "main", "--head", "nothing"), 2, "this clone has no commit 'nothing'"),
        (("--base", "--all"), 2, "not the name of a commit"),
        (("--base", "main", "--registry", "locla"), 2, "did you mean local?"),
        (("--base", "main", "--history", "snapshot"), 4, "no snapshot of registry 'local'"),
        (("--base", "main", "--history", "registry"), 4, "has no file yet"),
        (("--base", "main", "--history", "guess"), 2, "guess"),
        ((), 2, "--base"),
    ],
)
def test_what_cannot_be_done(
    args: tuple[str, ...], code: int, words: str, clone: GitRepository, command: CommandLine
) -> None:
    said = command("check", "--repo", clone.root, *args)
    assert said.code == code
    assert words in said.err
    assert "Traceback" not in said.err


def test_a_folder_outside_of_git(repo: Path, command: CommandLine) -> None:
    said = command("check", "--base", "main", "--repo", repo)
    assert said.code == 2
    assert "not in a git repository" in said.err


def test_a_folder_that_is_not_there(tmp_path: Path, command: CommandLine) -> None:
    said = command("check", "--base", "main", "--repo", tmp_path / "none")
    assert (said.code, "there is no folder" in said.err) == (2, True)


def test_a_clone_without_schemas(tmp_path: Path, command: CommandLine) -> None:
    made = GitRepository(tmp_path / "other")
    made.commit({"README.md": "x"})
    said = command("check", "--base", "main", "--repo", made.root)
    assert (said.code, "not a schemas repository" in said.err) == (2, True)


def test_the_settings_are_removed(clone: GitRepository, command: CommandLine) -> None:
    clone.write({"gitops.yaml": None})
    said = command("check", "--base", "main", "--repo", clone.root)
    assert (said.code, "not a schemas repository" in said.err) == (2, True)


def test_broken_settings_leave_no_registry_and_tell_everything(
    clone: GitRepository, command: CommandLine
) -> None:
    replace(clone, "gitops.yaml", "kind: embedded", "kind: embeded")
    replace(clone, f"{ORDERS}/order-status.yaml", "kind: Topic", "knid: Topic")
    said = command("check", "--base", "main", "--repo", clone.root, "--format", "json")
    assert said.code == 1
    found = document(said)
    assert not found["registries"]
    files = {one["location"]["file"] for one in found["findings"]}
    assert files == {"gitops.yaml", f"{ORDERS}/order-status.yaml"}


def test_findings_of_files_that_nobody_touched_are_not_the_changes(
    clone: GitRepository, command: CommandLine
) -> None:
    replace(clone, f"{ORDERS}/order-status.yaml", "kind: Topic", "knid: Topic")
    replace(clone, f"{ORDERS}/order-created.yaml", "owner:", "owner: x, ownre:")
    replace(clone, f"{ORDERS}/order-created.yaml", "kind: Topic", "kind: Topic\nodd: 1")
    clone.commit()
    replace(clone, "types/money.avsc", "An amount", "Some amount")
    said = command("check", "--base", "main", "--repo", clone.root, "--format", "json")
    findings = document(said)["findings"]
    assert (said.code, [finding["rule"] for finding in findings]) == (0, ["CHECK-R009"])
    assert len(document(said)["touched"]["topics"]) == 3


def test_what_was_not_applied_is_told_apart(applied: Path, command: CommandLine) -> None:
    clone = GitRepository(applied)
    clone.commit()
    replace(clone, "namespaces/shop/orders/namespace.yaml", "BACKWARD", "FULL")
    clone.commit()
    replace(
        clone,
        CREATED,
        '"default": null}',
        '"default": null},{"name":"x","type":["null","int"],"default":null}',
    )
    said = command("check", "--base", "main", "--repo", applied)
    assert said.code == 0
    assert "history from registry" in said.out
    own, _, drift = said.out.partition("not from this change: local")
    assert "v0 → v1" in own
    assert "schemaCompatibilityStrategy" not in own
    assert "BACKWARD → FULL" in drift


def test_drift_of_the_whole_base_is_told_if_asked_for(applied: Path, command: CommandLine) -> None:
    clone = GitRepository(applied)
    replace(clone, f"{PAYMENTS}/namespace.yaml", "FULL", "BACKWARD")
    clone.commit()
    base = ("check", "--base", "main", "--repo", applied)
    assert "not from this change" not in command(*base).out
    assert "not from this change" in command(*base, "--drift").out


def test_drift_of_a_broken_base_is_told_as_far_as_it_is_known(
    applied: Path, command: CommandLine
) -> None:
    clone = GitRepository(applied)
    replace(clone, f"{PAYMENTS}/captured.yaml", "kind: Topic", "kind: Topic\nodd: 1")
    clone.commit()
    said = command("check", "--base", "main", "--repo", applied, "--drift")
    assert said.code == 0
    assert "The files of the base have errors" in said.out


def test_a_registry_whose_secret_is_missing_falls_back_and_says_so(
    clone: GitRepository, command: CommandLine
) -> None:
    live = "kind: pulsar\n    url: http://127.0.0.1:1\n    authentication: {token: '${NO_TOKEN}'}"
    replace(clone, "gitops.yaml", "kind: embedded\n    path: .gitops/registry.db", live)
    clone.commit()
    require_note(clone)
    said = command("check", "--base", "main", "--repo", clone.root, "--format", "json")
    assert said.code == 1
    (registry,) = document(said)["registries"]
    limits = " ".join(registry["history"]["limits"])
    assert "The environment variable NO_TOKEN is not set." in limits
    named = ("check", "--base", "main", "--repo", clone.root, "--history", "registry")
    said = command(*named)
    assert said.code == 4
    assert "no answer for local: the environment variable NO_TOKEN is not set" in said.err


def test_a_change_does_not_decide_whom_secrets_are_sent_to(
    clone: GitRepository, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "secret-of-mine")
    where = "kind: pulsar\n    url: http://127.0.0.1:1\n"
    live = f"other:\n    {where}    authentication: {{token: '${{TOKEN}}'}}\n  local:"
    replace(clone, "gitops.yaml", "local:", live)
    args = ("check", "--base", "main", "--repo", clone.root, "--registry", "other")
    said = command(*args, "--history", "registry")
    assert said.code == 4
    assert "the base has no registry 'other'" in said.err
    said = command(*args)
    assert said.code == 0
    assert "the base has no registry 'other'".capitalize()[1:] in said.out
    assert "secret-of-mine" not in said.out + said.err


def test_a_head_that_is_not_checked_out(clone: GitRepository, command: CommandLine) -> None:
    clone.git("switch", "--quiet", "--create", "pr")
    require_note(clone)
    clone.commit()
    clone.git("switch", "--quiet", "main")
    said = command("check", "--base", "main", "--head", "pr", "--repo", clone.root)
    assert said.code == 1
    assert f"{CREATED}:26:14" in said.out
    assert '"remark"' in said.out


def test_warnings_fail_if_asked_to(clone: GitRepository, command: CommandLine) -> None:
    replace(clone, f"{PAYMENTS}/namespace.yaml", "FULL", "BACKWARD")
    args = ("check", "--base", "main", "--repo", clone.root)
    assert command(*args).code == 0
    said = command(*args, "--fail-on", "warning")
    assert said.code == 1
    assert "--fail-on warning" in " ".join(said.out.split())


def test_rules_have_the_severity_of_the_settings(
    clone: GitRepository, command: CommandLine
) -> None:
    replace(clone, "gitops.yaml", "rules:\n", "rules:\n  CHECK-R003: error\n")
    clone.commit()
    replace(clone, f"{PAYMENTS}/namespace.yaml", "FULL", "BACKWARD")
    args = ("check", "--base", "main", "--repo", clone.root)
    assert command(*args).code == 1
    replace(clone, "gitops.yaml", "CHECK-R003: error", "CHECK-R003: off\n  CHECK-R006: off")
    said = command(*args)
    assert said.code == 1, "nobody switches off a rule in the change that it stops"
    assert "CHECK-R003 gets a lower severity: error → off" in said.out


def test_several_registries_each_get_an_answer(clone: GitRepository, command: CommandLine) -> None:
    more = "second: {kind: embedded, path: .gitops/second.db}\n  local:"
    replace(clone, "gitops.yaml", "local:", more)
    replace(clone, "gitops.yaml", "registries:", "groups: {both: [local, second]}\nregistries:")
    clone.commit()
    require_note(clone)
    for names in (("--registry", "local", "--registry", "second"), ("--registry", "both")):
        said = command("check", "--base", "main", "--repo", clone.root, *names, "--format", "json")
        assert said.code == 1
        assert _registries(said) == ["local", "second"]


def test_a_change_takes_no_registry_out_of_its_group(
    clone: GitRepository, command: CommandLine
) -> None:
    more = "second: {kind: embedded, path: .gitops/second.db}\n  local:"
    replace(clone, "gitops.yaml", "local:", more)
    replace(clone, "gitops.yaml", "registries:", "groups: {both: [local, second]}\nregistries:")
    clone.commit()
    replace(clone, "gitops.yaml", "both: [local, second]", "both: [local]")

    ask = ("check", "--base", "main", "--repo", clone.root, "--registry", "both")
    said = command(*ask, "--format", "json")

    assert _registries(said) == ["local", "second"]


def _registries(said: Outcome) -> list[str]:
    return [one["plan"]["registry"]["name"] for one in document(said)["registries"]]


def test_an_answer_goes_to_a_file(
    clone: GitRepository, command: CommandLine, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    args = ("--format", "json", "--output", out)
    said = command("check", "--base", "main", "--repo", clone.root, *args)
    assert (said.code, said.out) == (0, "")
    assert json.loads(out.read_text("utf-8"))["kind"] == "Check"


def test_hostile_names_do_not_reach_the_terminal(
    clone: GitRepository, command: CommandLine
) -> None:
    clone.write({f"{ORDERS}/\x1b[31mred.yaml": "apiVersion: x", f"{ORDERS}/::error::.yaml": "\x1b"})
    said = command("check", "--base", "main", "--repo", clone.root)
    assert said.code == 1
    assert "\x1b" not in said.out
    assert "\\x1b[31mred.yaml" in said.out


def test_json_says_of_a_place_in_the_base_that_it_is_one(
    clone: GitRepository, command: CommandLine
) -> None:
    clone.write({f"{ORDERS}/order-status.yaml": None, f"{ORDERS}/odd.yaml": "kind: Topic\n"})
    said = command("check", "--base", "main", "--repo", clone.root, "--format", "json")
    places = {
        each["location"]["file"]: each["location"]["inBase"]
        for each in json.loads(said.out)["findings"]
        if each["location"]
    }
    assert places[f"{ORDERS}/order-status.yaml"] is True
    assert places[f"{ORDERS}/odd.yaml"] is False


def test_what_is_removed_stands_at_the_line_of_the_base(
    clone: GitRepository, command: CommandLine
) -> None:
    clone.write({"namespaces/shop/orders/order-status.yaml": None})
    replace(clone, f"{PAYMENTS}/captured.avsc", '    {"name": "orderId", "type": "string"},\n', "")
    said = command("check", "--base", "main", "--repo", clone.root)
    assert said.code == 1
    assert f"{PAYMENTS}/captured.avsc:8:14 in the base  AVRO-R002" in said.out
    assert '8 |     {"name": "orderId", "type": "string"},' in said.out
    assert f"{ORDERS}/order-status.yaml:2:1 in the base  CHECK-R001" in said.out
    assert "2 | apiVersion: pulsar-gitops/v1" in said.out


def test_several_reports_of_one_run(clone: GitRepository, command: CommandLine) -> None:
    require_note(clone)
    files = {each: clone.root.parent / f"report.{each}" for each in ("markdown", "json", "sarif")}
    reports = [f"--report={each}={file}" for each, file in files.items()]
    said = command("check", "--repo", clone.root, "--base", "main", *reports)
    assert any(line.startswith("compares main ") for line in said.out.splitlines())
    for each, file in files.items():
        alone = command("check", "--repo", clone.root, "--base", "main", "--format", each)
        assert (file.read_text("utf-8"), alone.code) == (alone.out, said.code)


@pytest.mark.parametrize("given", ["markdown", "markdown=", "html=x", "=x"])
def test_a_report_that_is_not_format_and_file(given: str, command: CommandLine) -> None:
    said = command("check", "--base", "main", "--report", given)
    assert (said.code, "is not FORMAT=FILE" in said.err) == (2, True)


def test_a_report_is_not_written_over_what_is_read(
    clone: GitRepository, command: CommandLine
) -> None:
    given = f"markdown={clone.root / 'gitops.yaml'}"
    said = command("check", "--repo", clone.root, "--base", "main", "--report", given)
    assert (said.code, "one of the files that are read" in said.err) == (2, True)
