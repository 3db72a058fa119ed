"""The template's workflows as GitHub runs them: by events, with the tokens of jobs."""

from __future__ import annotations

from tests.support.github_project import (
    BROKEN,
    REPOSITORY_PAYLOAD,
    RISK,
    SCHEMA,
    Project,
    printed,
)
from tests.support.workflow_runs import Event


def test_a_pull_request_gets_one_comment_that_follows_it(project: Project) -> None:
    check, comment = project.check(7, project.propose(7, BROKEN))
    first = project.body(7)
    mended, again = project.check(7, project.propose(7, RISK))

    assert (check.conclusion, comment.conclusion) == ("failure", "success"), printed(check)
    assert "✗ Do not merge: the schema change would be refused" in first
    assert (mended.conclusion, again.conclusion) == ("success", "success"), printed(mended)
    assert "✓ Can be merged" in project.body(7)


def test_a_ticked_box_stays_ticked_after_a_push(project: Project) -> None:
    event = project.propose(7, RISK)
    project.check(7, event)
    (posted,) = project.github.comments[7]
    assert "- [ ] 1. merge" in posted.body
    posted.body = posted.body.replace("- [ ] 1. merge", "- [x] 1. merge")
    project.clone.git("checkout", "--quiet", "proposal-7")
    project.clone.commit({"README.md": "more words\n"})

    project.check(7, project.pushed(7))

    assert "- [x] 1. merge" in project.body(7)


def test_a_run_can_be_repeated(project: Project) -> None:
    check, _ = project.check(7, project.propose(7, RISK))

    project.actions.repeat(check)
    again = project.comment(7, check)

    assert (check.attempt, check.conclusion, again.conclusion) == (2, "success", "success")
    assert [method for method, _ in project.github.writes] == ["POST"]
    assert project.body(7)


def test_a_check_of_a_fork_may_only_read_and_is_commented_on_all_the_same(
    project: Project,
) -> None:
    event = project.propose(8, BROKEN, is_foreign=True)
    project.actions.secrets = {"PULSAR_TOKEN": "s3cret"}
    check, comment = project.check(8, event)

    assert (check.conclusion, comment.conclusion) == ("failure", "success"), printed(comment)
    assert "Do not merge" in project.body(8)
    (token,) = (one for one in project.github.tokens if f"_{check.number}_1_check" in one)
    assert project.github.tokens[token] == {"contents": "read"}


def test_what_a_fork_leaves_cannot_reach_another_pull_request(project: Project) -> None:
    project.check(7, project.propose(7, RISK))
    good = project.body(7)
    check = project.actions.start("check", project.propose(8, BROKEN, is_foreign=True))
    left = check.artifacts["pulsar-gitops-report"]
    (left / "pull-request.txt").write_text("7\n")
    (left / "report.md").write_text("### ✓ Can be merged\n\n@everyone\n")

    comment = project.comment(8, check)

    assert comment.conclusion == "failure"
    assert "pull request #7 is at" in printed(comment)[0]
    assert project.body(7) == good
    assert 8 not in project.github.comments


def test_a_merge_queue_checks_each_group_against_what_it_is_merged_into(project: Project) -> None:
    event = project.propose(7, BROKEN)
    base = project.clone.git("rev-parse", "main")
    group = {"base_sha": base, "head_sha": event.sha, "base_ref": "refs/heads/main"}
    payload = {"action": "checks_requested", "merge_group": group, **REPOSITORY_PAYLOAD}
    queued = Event(name="merge_group", payload=payload, ref="refs/heads/queue", sha=event.sha)

    run = project.actions.start("check", queued)
    ended = project.actions.completed(run, "queue", event.sha)
    comment = project.actions.start("comment", ended)

    assert run.conclusion == "failure"
    assert "AVRO-R002" in run.jobs["check"].ran["Check"].printed
    assert not run.artifacts
    assert comment.jobs["comment"].result == "skipped"


def test_of_two_pull_requests_on_one_topic_the_second_meets_what_the_first_left(
    project: Project,
) -> None:
    other = {"name": "channel", "type": ["null", "string"], "default": None}
    project.check(7, project.propose(7, RISK))
    project.check(8, project.propose(8, other))
    before = [project.body(7), project.body(8)]
    project.apply(project.merge(7))
    check, _ = project.check(8, project.propose(8, other))

    assert all("v0&nbsp;→&nbsp;v1" in text for text in before)
    assert check.conclusion == "success", printed(check)
    assert "v1&nbsp;→&nbsp;v2" in project.body(8)


def test_a_plan_that_another_one_overtook_is_not_applied(project: Project) -> None:
    project.propose(7, RISK)
    late = project.actions.start("apply", project.merge(7))
    project.propose(8, {"name": "channel", "type": ["null", "string"], "default": None})
    done = project.apply(project.merge(8))

    project.actions.approve(late, "pulsar-apply")

    assert done.jobs["apply"].result == "success", printed(done)
    assert late.jobs["apply"].result == "failure"
    assert "Stale plan" in late.jobs["apply"].ran["Apply"].printed
    assert late.jobs["record"].result == "skipped"


def test_a_night_finds_drift_and_the_next_one_that_it_is_gone(project: Project) -> None:
    night = project.night()
    quiet = project.actions.start("drift", night)
    project.plant(RISK)

    runs = [project.actions.start("drift", night) for _ in range(2)]
    (issue,) = project.github.issues
    project.program("drift", "--adopt")
    project.clone.commit()
    project.push_main()
    gone = project.actions.start("drift", project.night())
    audit = project.actions.start("audit", project.night())

    # gh writes pull requests: test_drift.py runs that job.
    results = {run.jobs["drift"].result for run in (quiet, *runs, gone)}
    assert results == {"success"}, [printed(run) for run in runs]
    assert audit.conclusion == "success"
    assert (issue.title, issue.state) == ("Drift of local", "closed")
    assert len([each for each in project.github.issues if each.title.startswith("Drift")]) == 1
    assert "risk" in (runs[1].artifacts["pulsar-gitops-adoption"] / "changes.patch").read_text()
    assert "pulsar-gitops-adoption" not in gone.artifacts


def test_a_job_that_lacks_a_permission_is_told_which(project: Project) -> None:
    workflow = project.clone.root / ".github/workflows/comment.yml"
    text = workflow.read_text("utf-8").replace("pull-requests: write", "pull-requests: read")
    project.clone.commit({str(workflow.relative_to(project.clone.root)): text})
    project.push_main()

    _, comment = project.check(7, project.propose(7, RISK))

    assert comment.conclusion == "failure"
    assert "the token lacks `issues: write` or `pull-requests: write`" in printed(comment)[0]


def test_a_report_that_a_push_overtook_is_not_written(project: Project) -> None:
    late = project.actions.start("check", project.propose(7, BROKEN))
    old = project.github.heads[7]
    project.check(7, project.propose(7, RISK))
    newest = project.body(7)

    done = project.actions.completed(late, "proposal-7", old)
    comment = project.actions.start("comment", done)

    assert comment.conclusion == "failure"
    assert f"the report is about commit {old}" in printed(comment)[0]
    assert project.body(7) == newest


def test_the_workflow_of_a_fork_cannot_write_and_is_not_relayed(project: Project) -> None:
    """A stranger's own check.yml asks for more, comments by itself, and leaves a report."""
    project.propose(8, BROKEN)
    workflow = ".github/workflows/check.yml"
    text = (project.clone.root / workflow).read_text("utf-8")
    own = "pulsar-gitops github comment --file README.md --pr 8"
    step = {"name": "Own", "if": "always()", "run": own}
    step["env"] = "{GITHUB_TOKEN: '${{ github.token }}'}"
    lines = "\n".join(f"        {key}: {value}" for key, value in step.items())
    text = text.replace("contents: read\n", "contents: read\n      pull-requests: write\n")
    project.clone.git("checkout", "--quiet", "proposal-8")
    project.clone.commit({workflow: f"{text}\n      -{lines[7:]}\n"})

    check, comment = project.check(8, project.pushed(8, is_foreign=True))

    assert "the token lacks `issues: write`" in check.jobs["check"].ran["Own"].printed
    assert check.artifacts
    assert "changes .github/" in printed(comment)[0]
    assert not project.github.writes


def test_nothing_runs_without_the_variable_and_nothing_is_applied_from_a_branch(
    project: Project,
) -> None:
    project.propose(7, RISK)
    head = project.clone.git("rev-parse", "proposal-7")
    project.clone.git("push", "--quiet", "origin", "proposal-7")
    payload = {"inputs": {}, "ref": "refs/heads/proposal-7", **REPOSITORY_PAYLOAD}
    asked = Event(name="workflow_dispatch", payload=payload, ref="refs/heads/proposal-7", sha=head)
    branch = project.actions.start("apply", asked)
    project.actions.variables = {}
    main = project.push_main()
    night = Event(name="schedule", payload=REPOSITORY_PAYLOAD, ref=main.ref, sha=main.sha)
    runs = [project.actions.start("apply", main)]
    runs += [project.actions.start(name, night) for name in ("drift", "audit")]

    results = {job.result for run in (branch, *runs) for job in run.jobs.values()}
    assert results == {"skipped"}


def test_the_issue_of_a_drift_follows_it(project: Project) -> None:
    said = []
    for field in (RISK, {**RISK, "name": "channel"}):
        project.plant(field)
        run = project.actions.start("drift", project.night())
        assert run.jobs["drift"].result == "success", printed(run)
        (issue,) = project.github.issues
        said.append(issue.body)

    assert "channel" not in said[0]
    assert "channel" in said[1]
    assert [method for method, _ in project.github.writes] == ["POST", "PATCH"]


def test_what_waits_for_an_apply_is_no_drift(project: Project) -> None:
    project.propose(7, RISK)
    project.merge(7)

    run = project.actions.start("drift", project.night())

    assert (run.jobs["drift"].result, project.github.issues) == ("success", [])
    assert "changes that are not applied, which is no drift" in printed(run)[0]


def test_a_fix_is_suggested_once_on_the_changed_line_and_goes_with_its_cause(
    project: Project,
) -> None:
    event = project.propose(8, BROKEN, is_foreign=True)
    _, comment = project.check(8, event)
    project.check(8, event)
    (suggested,) = project.github.on_lines[8]
    project.check(8, project.propose(8, RISK, is_foreign=True))

    assert comment.conclusion == "success", printed(comment)
    assert "suggested 1 edit" in "".join(printed(comment))
    assert (suggested["path"], suggested["side"]) == (SCHEMA, "RIGHT")
    assert suggested["commit_id"]
    line = '    {"name": "currency", "type": ["null", "string"], "default": null}'
    assert f"```suggestion\n{line}\n```" in suggested["body"]
    assert not project.github.on_lines[8]


def test_what_a_fork_leaves_suggests_nothing_on_lines_that_it_does_not_change(
    project: Project,
) -> None:
    check = project.actions.start("check", project.propose(8, BROKEN, is_foreign=True))
    left = check.artifacts["pulsar-gitops-report"] / "report.json"
    content = left.read_text("utf-8")
    left.write_text(content.replace(SCHEMA, "gitops.yaml"))
    elsewhere = project.comment(8, check)
    left.write_text(
        content.replace('-    {\\"name\\": \\"currency\\"', '-    {\\"name\\": \\"x\\"')
    )
    other = project.comment(8, check)

    assert (elsewhere.conclusion, other.conclusion) == ("success", "success"), printed(other)
    assert 8 not in project.github.on_lines
