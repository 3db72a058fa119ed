"""Every command does its work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.cli.app import COMMANDS
from gitops.cli.exits import Exit
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import RULES
from gitops.model.schema import SchemaType
from tests.support.command_line import CommandLine, stdin_of

RECORD = '{"type": "record", "name": "R", "fields": []}'


def test_version_and_help(command: CommandLine) -> None:
    assert command("--version").out.startswith("pulsar-gitops ")
    listed = command("--help").out
    for row in COMMANDS:
        assert f"\n  {row.name} " in listed


@pytest.mark.slow
def test_a_plan_is_reviewed_applied_and_then_empty(
    repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    plan_file = tmp_path / "plan.json"
    planned = command("plan", "--repo", repo, "--out", plan_file, "--detailed-exitcode")
    assert planned.code == 3
    assert "5 to add" in planned.out
    assert json.loads(plan_file.read_text())["digest"] in planned.err

    applied = command("apply", "--repo", repo, plan_file)
    assert (applied.code, "applied 13 actions to local" in applied.out) == (0, True)

    again = command("plan", "--repo", repo, "--detailed-exitcode")
    assert (again.code, "5 unchanged" in again.out) == (0, True)


@pytest.mark.slow
def test_the_plan_tells_what_is_not_in_git_and_deletes_it_only_if_it_prunes(
    applied: Path, command: CommandLine
) -> None:
    for name in ("order-status.yaml", "order-cancelled.yaml", "order-cancelled.avsc"):
        (applied / "namespaces/shop/orders" / name).unlink()
    (applied / "clients/checkout.yaml").unlink()
    (applied / "clients/billing.yaml").unlink()
    kept = command("plan", "--repo", applied, "--detailed-exitcode")
    assert (kept.code, "3 unchanged" in kept.out) == (0, True)
    assert (
        "2 unmanaged topics (in the registry, not in git): pulsar-gitops import adopts them, plan "
        "--prune deletes their schemas\n    shop/orders   order-cancelled, order-status\n"
    ) in kept.out
    pruning = command("plan", "--repo", applied, "--prune")
    assert (pruning.code, "2 to delete" in pruning.out) == (1, True)
    assert "PLAN-R005 error" in pruning.out

    settings = applied / "gitops.yaml"
    settings.write_text(settings.read_text().replace("Deletions: false", "Deletions: true"))
    assert command("apply", "--repo", applied, "--auto-approve", "--prune").code == 0
    assert (
        "no schema" in command("schemas", "get", "shop/orders/order-status", "--repo", applied).err
    )


@pytest.mark.slow
def test_validate_looks_only_where_it_is_asked_to(repo: Path, command: CommandLine) -> None:
    (repo / "namespaces/shop/orders/namespace.yaml").write_text("kind: x\n")
    assert command("validate", "--repo", repo).code == 1
    assert command("validate", "--repo", repo, "clients").out == "no findings\n"
    assert command("validate", "--repo", repo, "namespaces/shop").code == 1


@pytest.mark.slow
def test_warnings_fail_a_run_only_if_asked(repo: Path, command: CommandLine) -> None:
    (repo / "types/unused.avsc").write_text('{"type": "fixed", "name": "Unused", "size": 2}')
    assert command("validate", "--repo", repo).code == 0
    assert command("validate", "--repo", repo, "--fail-on", "warning").code == 1


@pytest.mark.slow
def test_what_is_imported_plans_empty(applied: Path, tmp_path: Path, command: CommandLine) -> None:
    other = tmp_path / "other"
    other.mkdir()
    database = applied / ".gitops/registry.db"
    (other / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        f"registries: {{live: {{kind: embedded, path: '{database}'}}}}\n"
    )
    imported = command("import", "--repo", other)
    assert (imported.code, imported.out) == (0, "")
    assert "for 5 topics of live" in imported.err
    assert "5 unchanged" in command("plan", "--repo", other).out

    again = command("import", "--repo", other, "shop/orders")
    assert "wrote 0 files" in again.err
    assert "kept the manifest of shop/orders/order-created" in again.err


@pytest.mark.slow
def test_a_snapshot_is_written_once(applied: Path, command: CommandLine) -> None:
    first = command("snapshot", "--repo", applied)
    files = {path.relative_to(applied).as_posix() for path in applied.rglob("snapshots/**/*.json")}
    assert "snapshots/local/shop/orders/order-created.json" in files
    told = f"{len(files)} files under snapshots/local, {len(files)} of them changed\n"
    assert (first.code, first.err) == (0, told)
    again = command("snapshot", "--repo", applied)
    assert (again.code, again.err) == (0, told.replace(f"{len(files)} of", "0 of"))
    assert command("validate", "--repo", applied).code == 0


@pytest.mark.slow
def test_a_broken_snapshot_is_recorded_again(applied: Path, command: CommandLine) -> None:
    command("snapshot", "--repo", applied)
    place = applied / "snapshots/local/shop/orders/order-created.json"
    good = place.read_bytes()
    place.write_bytes(good[: len(good) // 2])

    told = command("validate", "--repo", applied)
    again = command("snapshot", "--repo", applied)

    assert "REPO-R024" in told.out
    assert again.code == 0
    assert place.read_bytes() == good


@pytest.mark.slow
def test_a_file_of_somebody_else_stays_where_it_is(applied: Path, command: CommandLine) -> None:
    place = applied / "snapshots/local/shop/orders/mine.json"
    place.parent.mkdir(parents=True)
    place.write_text("[1, 2]\n")

    done = command("snapshot", "--repo", applied)

    assert done.code == 2
    assert "mine.json" in done.err
    assert place.read_text() == "[1, 2]\n"


@pytest.mark.slow
def test_an_upload_warns_of_a_member_that_is_given_twice(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    file, posted = tmp_path / "twice.avsc", tmp_path / "posted.json"
    file.write_text('{"type": "fixed", "name": "F",\n "size": 2, "size": 3}')
    posted.write_text(json.dumps({"type": "JSON", "schema": file.read_text(), "properties": {}}))
    topic = "shop/orders/twice"
    told = "warning: 'size' is given twice: only the last one is used (AVRO-W022)\n"

    done = command("schemas", "upload", topic, file, "--type", "AVRO", "--repo", applied)
    assert (done.code, done.out, done.err) == (
        0,
        "0\n",
        f"{file}:2:13: {told}{topic} is registered as v0\n",
    )
    done = command("schemas", "upload", f"{topic}-too", posted, "--repo", applied)
    assert (done.code, done.out, done.err) == (
        0,
        "0\n",
        f"{posted}: {told}{topic}-too is registered as v0\n",
    )


@pytest.mark.slow
def test_an_upload_warns_of_clients_that_it_locks_out(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    topic, wider, narrower = "shop/orders/by-hand", tmp_path / "wide.avsc", tmp_path / "less.avsc"
    fields = [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}]
    for file, kept in ((wider, fields), (narrower, fields[:1])):
        file.write_text(json.dumps({"type": "record", "name": "R", "fields": kept}))

    def upload(file: Path) -> str:
        done = command("schemas", "upload", topic, file, "--type", "AVRO", "--repo", applied)
        assert done.code == 0, done.err
        return done.err

    first, second, again = upload(wider), upload(narrower), upload(wider)

    assert second.startswith(
        "warning: consumers with v0 can no longer connect: BACKWARD once v1 is registered: "
    )
    assert "warning" not in first + again


@pytest.mark.slow
def test_an_upload_is_refused_if_its_number_belonged_to_a_lost_version(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    topic, file = "shop/orders/order-created", tmp_path / "r.avsc"
    file.write_text(RECORD)
    lost = json.loads(command("schemas", "get", topic, "--repo", applied).out)
    (tmp_path / "lost.avsc").write_text(json.dumps(lost))
    command("schemas", "delete", topic, "--yes", "--force", "--repo", applied)

    def upload(file: Path, *, is_refused: bool = False) -> str:
        done = command("schemas", "upload", topic, file, "--type", "AVRO", "--repo", applied)
        assert (done.code, done.out) == ((1, "") if is_refused else (0, "0\n")), done.err
        return done.err

    assert upload(file, is_refused=True) == (
        f"error: {topic}: v0 is a number that the journal .gitops/local.journal has for another "
        "schema: stored messages may carry it, and would decode wrongly or not at all (PLAN-R023)\n"
        "  bring the lost versions back: pulsar-gitops restore shop/orders --registry local; to "
        "begin anew instead: pulsar-gitops snapshot --accept-loss --registry local\n"
        "nothing was registered\n"
    )
    same = upload(tmp_path / "lost.avsc")
    assert "error" not in same
    command("schemas", "delete", topic, "--yes", "--force", "--repo", applied)
    assert command("snapshot", "--accept-loss", "--repo", applied).code == 0
    assert "error" not in upload(file)


@pytest.mark.slow
def test_an_upload_is_refused_if_records_cannot_be_read(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    topic, file = "shop/orders/order-created", tmp_path / "r.avsc"
    file.write_text(RECORD)
    assert command("snapshot", "--repo", applied).code == 0
    command("schemas", "delete", topic, "--yes", "--force", "--repo", applied)
    snapshot = applied / "snapshots/local" / f"{topic}.json"
    journal = applied / ".gitops/local.journal"

    for broken in (snapshot, journal):
        intact = {path: path.read_bytes() for path in (snapshot, journal)}
        other = journal if broken is snapshot else snapshot
        other.unlink()
        broken.write_bytes(intact[broken].splitlines(keepends=True)[0] + b"]\n{}\n")
        done = command("schemas", "upload", topic, file, "--type", "AVRO", "--repo", applied)
        assert (done.code, done.out) == (1, ""), done.err
        assert f"{topic}: whether v0 was another schema is unknown: " in done.err, broken
        for path, content in intact.items():
            path.write_bytes(content)
        command("schemas", "delete", topic, "--yes", "--force", "--repo", applied)


@pytest.mark.slow
def test_schemas_by_hand(applied: Path, tmp_path: Path, command: CommandLine) -> None:
    def schemas(*args: object) -> str:
        done = command("schemas", *args, "--repo", applied)
        assert done.code == 0, done.err
        return done.out

    file, topic = tmp_path / "r.avsc", "shop/orders/by-hand"
    file.write_text(RECORD)
    assert schemas("upload", topic, file, "--type", "AVRO", "--property", "a=b") == "0\n"
    assert schemas("upload", topic, file, "--type", "AVRO") == "0\n"
    posted = tmp_path / "posted.json"
    posted.write_text(json.dumps({"type": "INT64", "schema": "", "properties": {"c": "d"}}))
    assert schemas("upload", "shop/orders/count", posted) == "0\n"
    assert json.loads(schemas("get", topic)) == json.loads(RECORD)
    entry = json.loads(schemas("get", topic, "--version", "0", "--format", "json"))
    assert (entry["version"], entry["properties"]) == (0, {"a": "b"})
    assert "v0  AVRO" in schemas("versions", topic)
    deleted = command("schemas", "delete", topic, "--yes", "--repo", applied)
    assert deleted.code == 0
    assert "warning: consumers with v0, the latest version, can no longer connect" in deleted.err
    assert schemas("upload", topic, file, "--type", "AVRO") == "2\n"
    schemas("delete", topic, "--yes", "--force")
    assert command("snapshot", "--accept-loss", "--repo", applied).code == 0
    assert schemas("upload", topic, file, "--type", "AVRO") == "0\n"


@pytest.mark.slow
def test_policies_by_hand(applied: Path, command: CommandLine) -> None:
    name = "shop/orders"
    done = command("policies", "set", name, "schemaCompatibilityStrategy=", "--repo", applied)
    assert (done.code, done.err) == (0, "schemaCompatibilityStrategy  BACKWARD → –\n")
    got = command("policies", "get", name, "--repo", applied, "--format", "json")
    document = json.loads(got.out)
    assert "schemaCompatibilityStrategy" not in document["policies"]
    assert document["effectiveSchemaCompatibilityStrategy"] == "FULL"


def test_compat_explains_a_decision(tmp_path: Path, command: CommandLine) -> None:
    old, new = tmp_path / "old.avsc", tmp_path / "new.avsc"
    old.write_text(RECORD)
    new.write_text(RECORD.replace("[]", '[{"name": "a", "type": "int"}]'))
    refused = command("compat", "--strategy", "BACKWARD", old, new)
    assert refused.code == 1
    assert refused.out.startswith("✗ refused under BACKWARD")
    assert "AVRO-R002 error" in refused.out
    accepted = command("compat", "-s", "FORWARD", old, new)
    assert (accepted.code, accepted.out.split("\n")[0]) == (0, "✓ accepted under FORWARD as v1")


def test_compat_is_not_green_where_a_rule_holds_the_schema_back(
    tmp_path: Path, command: CommandLine
) -> None:
    old, new = tmp_path / "old.avsc", tmp_path / "new.avsc"
    text = '{"type": "enum", "name": "State", "symbols": ["NEW"%s]}'
    field = '{"type": "record", "name": "Order", "fields": [{"name": "state", "type": %s}]}'
    old.write_text(field % (text % ', "OLD"'))
    new.write_text(field % (text % ""))

    said = command("compat", "--strategy", "BACKWARD", old, new)

    first = said.out.split("\n")[0]
    assert (said.code, first) == (1, "✗ held back: Pulsar would accept it under BACKWARD as v1")


def test_compat_decides_a_stream(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"existing": [{"type": "STRING"}], "candidate": {"type": "INT64"}, "strategy": "FULL"}
    lines = [
        json.dumps({"id": number, **case, "candidate": {"type": kind}})
        for number, kind in enumerate(("INT64", "STRING"))
    ]
    with stdin_of("\n".join(lines), monkeypatch):
        done = command("compat", "--jsonl")
    verdicts = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert [(v["id"], v["accepted"], v["version"]) for v in verdicts] == [
        (0, False, None),
        (1, True, 0),
    ]


@pytest.mark.slow
def test_all_rules_are_listed(command: CommandLine) -> None:
    done = command("explain")

    assert done.code == 0
    lines = done.out.partition("\n\n")[0].splitlines()
    rows = {line.split()[0]: line for line in lines}
    assert set(rows) == set(RULES)
    for rule in RULES.values():
        assert rule.severity.name.lower() in rows[rule.id]
        assert rows[rule.id].endswith(rule.title)


@pytest.mark.parametrize(
    "term", [each.value for kind in (SchemaCompatibilityStrategy, SchemaType) for each in kind]
)
def test_every_strategy_and_schema_type_is_explained(term: str, command: CommandLine) -> None:
    done = command("explain", term.lower().replace("_", "-"))
    heading, *text = filter(None, map(str.strip, done.out.splitlines()))
    assert (done.code, heading) == (0, term)
    assert text


@pytest.mark.parametrize("code", [code for code in Exit if code is not Exit.GOOD])
def test_every_exit_code_is_explained(code: Exit, command: CommandLine) -> None:
    done = command("explain", str(int(code)))
    assert done.code == 0
    assert f"Exit code {int(code)}" in done.out
    assert "For example:" in done.out


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_is_explained(rule: str, command: CommandLine) -> None:
    done = command("explain", rule.lower())
    assert done.code == 0
    assert rule in done.out
    assert "How to fix" in done.out


def test_a_kind_of_rules_lists_its_rules(command: CommandLine) -> None:
    done = command("explain", "waiver")
    assert done.code == 0
    listed = [line.split()[0] for line in done.out.partition("\n\n")[0].splitlines()]
    assert listed == [rule for rule in RULES if rule.startswith("WAIVER-")]


@pytest.mark.parametrize("page", ["strategies", "schema-types", "exit-codes"])
def test_pages_of_terms_are_explained(page: str, command: CommandLine) -> None:
    done = command("explain", page)
    assert done.code == 0
    assert len(done.out.splitlines()) > 10
