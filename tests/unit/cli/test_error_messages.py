"""What goes wrong has an exit code and says what, where, and what to do; never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest

from gitops.repository.file_trees import FolderTree
from tests.support.command_line import CommandLine, Outcome, stdin_of

SETTINGS = "apiVersion: pulsar-gitops/v1\nkind: Config\nregistries: "


def assert_told(outcome: Outcome, code: int, *words: str) -> None:
    """The exit code, nothing on stdout, and these words on stderr."""
    assert outcome.code == code, outcome
    assert outcome.out == ""
    for word in words:
        assert word in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    "args",
    [("validate",), ("plan",), ("apply", "--auto-approve"), ("import",), ("snapshot",), ("serve",)],
)
def test_no_repository(args: tuple[str, ...], tmp_path: Path, command: CommandLine) -> None:
    assert_told(command(*args, "--repo", tmp_path), 2, "gitops.yaml", "pulsar-gitops init")
    missing = command(*args, "--repo", tmp_path / "missing")
    assert_told(missing, 2, "there is no folder", "--repo")
    (tmp_path / "file").touch()
    assert command(*args, "--repo", tmp_path / "file").code == 2


@pytest.mark.parametrize(
    "args",
    [
        *(("validate",), ("fmt", "--check"), ("plan",), ("apply", "--auto-approve"), ("import",)),
        *(("snapshot",), ("rollout",), ("replay", "--engine", "local")),
        ("policies", "get", "a/b"),
    ],
)
def test_a_folder_that_is_no_repository_is_not_listed(
    args: tuple[str, ...], tmp_path: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(FolderTree, "paths", _refuse)
    assert_told(command(*args), 2, "gitops.yaml", "pulsar-gitops init")


@pytest.mark.parametrize(
    "args", [("schemas", "get", "a/b/c"), ("connect", "consumer", "a/b/c", "INT8")]
)
def test_nor_is_it_by_commands_that_a_cluster_is_enough_for(
    args: tuple[str, ...], tmp_path: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(FolderTree, "paths", _refuse)
    assert_told(command(*args), 2, "not a schemas repository", "--url", "--repo")


@pytest.mark.slow
def test_of_protobuf_files_that_are_compared_only_imports_are_looked_for(
    tmp_path: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = 'syntax = "proto3"; package shop; '
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "money.proto").write_text(f"{head} message Money {{}}")
    text = f'{head} import "common/money.proto"; message Order {{ Money total = 1; }}'
    (tmp_path / "order.proto").write_text(text)
    monkeypatch.setattr(FolderTree, "paths", _refuse)
    file = tmp_path / "order.proto"
    assert command("compat", file, file).code == 0


def _refuse(folder: FolderTree) -> NoReturn:
    raise AssertionError(f"{folder} is listed")


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    ["", "[", "\0", "kind: Config\n", SETTINGS + "{}\n", SETTINGS + "{a: {kind: embeded}}\n"],
)
@pytest.mark.parametrize("name", ["validate", "plan"])
def test_a_broken_gitops_yaml_is_a_finding(
    name: str, settings: str, repo: Path, command: CommandLine
) -> None:
    (repo / "gitops.yaml").write_text(settings)
    done = command(name, "--repo", repo)
    assert done.code == 1
    assert "gitops.yaml" in done.out
    assert "REPO-R0" in done.out
    assert done.err == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ("plan",),
        ("apply", "--auto-approve"),
        ("import",),
        ("snapshot",),
        ("serve",),
        ("schemas", "get", "a/b/c"),
        ("policies", "get", "a/b"),
    ],
)
def test_an_unknown_registry(args: tuple[str, ...], repo: Path, command: CommandLine) -> None:
    done = command(*args, "--repo", repo, "--registry", "lokal")
    assert_told(done, 2, "there is no registry 'lokal'", "did you mean local?")


def test_a_registry_with_an_error_is_not_one_that_is_not_there(
    repo: Path, command: CommandLine
) -> None:
    (repo / "gitops.yaml").write_text(SETTINGS + "{local: {kind: pulsar, adress: x}}\n")
    done = command("snapshot", "--repo", repo)
    assert_told(done, 2, "missing key 'url'", "gitops.yaml:3:", "pulsar-gitops validate")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("schemas", "get", "shop"), "'shop' is not a topic"),
        (("schemas", "upload", "shop/orders/x", "STRNG"), "did you mean STRING?"),
        (("schemas", "upload", "shop/orders/x", "AVRO"), "AVRO needs a definition"),
        (("schemas", "upload", "shop/orders/x", "missing.avsc"), "missing.avsc"),
        (("schemas", "upload", "a/b/c", "INT8", "--property", "x"), "KEY=VALUE"),
        (("policies", "set", "shop/orders", "schemaValidationEnforced=yes"), "true or false"),
        (("policies", "set", "shop/orders", "schemaValidationEnforce=true"), "did you mean"),
        (("policies", "set", "shop/orders", "x"), "KEY=VALUE"),
        (("import", "shop"), "'shop' is not a namespace"),
        (("validate", "missing.yaml"), "'missing.yaml' does not exist"),
        (("validate", "/"), "outside the repository"),
        (("apply",), "either a plan file or --auto-approve"),
        (("apply", "plan.json", "--auto-approve"), "either a plan file or --auto-approve"),
        (("serve", "--port", "70000"), "70000 is no port"),
    ],
)
def test_wrong_words(
    args: tuple[str, ...], words: str, applied: Path, command: CommandLine
) -> None:
    assert_told(command(*args, "--repo", applied), 2, "error: ", words)


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ("import",),
        ("snapshot",),
        ("serve", "--port", "0"),
        ("schemas", "get", "shop/orders/order-status"),
        ("schemas", "versions", "shop/orders/order-status"),
        ("schemas", "delete", "shop/orders/order-status", "--yes"),
        ("schemas", "upload", "shop/orders/order-status", "STRING"),
        ("policies", "get", "shop/orders"),
        ("policies", "set", "shop/orders", "isAllowAutoUpdateSchema=true"),
    ],
)
def test_few_commands_take_several_registries(
    args: tuple[str, ...], applied: Path, command: CommandLine
) -> None:
    done = command(*args, "--repo", applied, "--registry", "local", "--registry", "other")
    several = "`plan`, `apply`, `check` and `drift` accept several"
    assert_told(done, 2, "works on one registry", several)
    kept = command("schemas", "versions", "shop/orders/order-status", "--repo", applied)
    assert "v0  STRING" in kept.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("schemas get shop/orders/nothing", ["shop/orders/nothing has no schema"]),
        ("schemas get shop/orders/order-statu", ["did you mean shop/orders/order-status?"]),
        ("schemas get shop/order/x", ["there is no namespace 'shop/order'"]),
        ("schemas get shop/orders/order-status --version 9", ["no version 9", "newest are 0"]),
        ("schemas versions shop/orders/nothing", ["has no schema", "nobody has registered one"]),
        ("schemas versions shop/order/x", ["there is no namespace 'shop/order'"]),
        ("policies get shop/nothing", ["there is no namespace 'shop/nothing'"]),
        ("policies get shop/nothing/x", ["there is no namespace 'shop/nothing'"]),
        ("policies get shop/orders/order-statu", ["no topic", "shop/orders/order-status?"]),
        ("policies set shop/nothing isAllowAutoUpdateSchema=true", ["no namespace 'shop/nothing'"]),
        ("import shop/nothing", ["there is no namespace 'shop/nothing'"]),
    ],
)
def test_what_the_registry_does_not_have(
    args: str, words: list[str], applied: Path, command: CommandLine
) -> None:
    done = command(*args.split(), "--repo", applied)
    assert_told(done, 2, "error: ", ".gitops/registry.db", *words)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("frob",), "No such command 'frob'"),
        (("plan", "--frob"), "--frob"),
        (("plan", "--format", "xml"), "'xml' is not one of"),
        (("explain", "nothing"), "lists all rules"),
        (("explain", "AVRO-R02"), "did you mean AVRO-R002?"),
        (("explain", "type"), "did you mean schema-types?"),
        (("explain", "strategy"), "did you mean strategies?"),
        (("explain", "exit-code"), "did you mean exit-codes?"),
        (("explain", "BACKWARDS"), "did you mean BACKWARD?"),
        (("explain", "99"), "there is no rule, strategy, schema type or exit code '99'"),
        (("init",), "DIR"),
        (("compat",), "compat --strategy STRATEGY OLD... NEW"),
        (("compat", "missing.avsc", "x"), "missing.avsc"),
        (("compat", "--first", "missing.avsc"), "missing.avsc"),
        (("compat", "--first", "x", "y"), "--first is for one definition, and there are 2"),
        (("compat", "--jsonl", "x.avsc"), "not files"),
        (("compat", "-s", "BACKWARDS", "x", "y"), "did you mean BACKWARD?"),
        (("compat", "--type", "AVRP", "x", "y"), "did you mean AVRO?"),
        (("compat", "--format", "yaml", "x", "y"), "'--format': 'yaml' is not one of"),
    ],
)
def test_wrong_words_without_a_repository(
    args: tuple[str, ...], words: str, command: CommandLine
) -> None:
    assert_told(command(*args), 2, words)


@pytest.mark.slow
def test_no_name_is_offered_in_place_of_itself(applied: Path, command: CommandLine) -> None:
    """A topic that a broker has, and that has no schema."""
    for args in (("upload", "INT64"), ("delete", "--yes")):
        name, *more = args
        topic = "shop/orders/order-status" if name == "delete" else "shop/orders/bare"
        assert command("schemas", name, topic, *more, "--repo", applied).code == 0
    done = command("schemas", "versions", "shop/orders/order-status", "--repo", applied)
    assert_told(done, 2, "shop/orders/order-status has no schema", "or it was deleted")


@pytest.mark.slow
def test_init_does_not_write_over_anything(repo: Path, command: CommandLine) -> None:
    assert_told(command("init", repo), 2, "is not empty")
    assert_told(command("init", repo / "README.md" / "x"), 2, "cannot write")


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ("plan", "--output"),
        ("plan", "--out"),
        ("apply", "--auto-approve", "--output"),
        ("import", "--output"),
        ("snapshot", "--output"),
    ],
)
@pytest.mark.parametrize("target", ["missing/folder/file", "."])
def test_an_output_that_cannot_be_written(
    args: tuple[str, ...], target: str, repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    done = command(*args, tmp_path / target, "--repo", repo)
    assert (done.code, "cannot write" in done.err) == (2, True)
    assert not (repo / "snapshots").exists()
    assert "5 to add" in command("plan", "--repo", repo).out
    assert "bug of ours" not in done.err
    assert not list(tmp_path.glob(".*.partial"))


@pytest.mark.slow
def test_a_deletion_is_confirmed(
    applied: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stdin_of("", monkeypatch):
        done = command("schemas", "delete", "shop/orders/order-status", "--repo", applied)
    assert_told(done, 2, "there is no terminal to confirm on", "--yes")
    kept = command("schemas", "versions", "shop/orders/order-status", "--repo", applied)
    assert "v0  STRING" in kept.out


@pytest.mark.slow
def test_errors_in_files_stop_a_plan_and_an_apply(repo: Path, command: CommandLine) -> None:
    manifest = repo / "namespaces/shop/orders/order-status.yaml"
    manifest.write_text(manifest.read_text().replace("STRING", "STRNG"))
    for args in (("plan",), ("apply", "--auto-approve")):
        done = command(*args, "--repo", repo)
        assert (done.code, "did you mean STRING?" in done.out) == (1, True)
    assert not (repo / ".gitops").exists()


@pytest.mark.slow
def test_a_refused_schema_stops_the_whole_apply(applied: Path, command: CommandLine) -> None:
    for name in ("orders/order-created", "payments/captured"):
        file = applied / f"namespaces/shop/{name}.avsc"
        definition = json.loads(file.read_text())
        nullable: object = ["null", "int"]
        kind, more = (nullable, {"default": None}) if name.startswith("o") else ("int", {})
        definition["fields"].append({"name": "added", "type": kind, **more})
        file.write_text(json.dumps(definition))
    done = command("apply", "--repo", applied, "--auto-approve")
    assert done.code == 1
    assert "nothing was applied" in done.err
    versions = command("schemas", "versions", "shop/orders/order-created", "--repo", applied)
    assert "v1" not in versions.out


def test_lines_that_are_no_cases(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = ["x", "[]", '{"candidate": 1}', '{"candidate": {"type": "X"}}', "[" * 100_000]
    good = '{"id": "good", "candidate": {"type": "INT64"}}'
    with stdin_of("\n".join([*bad, "", good]), monkeypatch):
        done = command("compat", "--jsonl")
    verdicts = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 2
    assert [verdict["accepted"] for verdict in verdicts] == [False] * len(bad) + [True]
    assert all(verdict["reason"].startswith("line ") for verdict in verdicts[:-1])


@pytest.mark.slow
def test_a_plan_that_cannot_be_made_tells_what_validate_tells(
    repo: Path, command: CommandLine
) -> None:
    namespace = repo / "namespaces/shop/orders/namespace.yaml"
    namespace.write_text(namespace.read_text("utf-8").replace("BACKWARD", "BACKWARDS"), "utf-8")
    for name in ("orders/order-created", "payments/captured"):
        place = repo / f"namespaces/shop/{name}.avsc"
        place.write_text(place.read_text("utf-8").replace('"string"', '"strong"'), "utf-8")
    planned, validated = (command(name, "--repo", repo) for name in ("plan", "validate"))
    assert planned.out == validated.out
    assert planned.out.count("AVRO-P001 error") > 1
    assert "REPO-R011 error" in planned.out


@pytest.mark.slow
def test_a_damaged_registry_is_made_anew_as_its_hint_says(
    applied: Path, command: CommandLine
) -> None:
    file = applied / ".gitops/registry.db"
    file.write_bytes(b"not a database " * 100)
    args = ("--auto-approve", "--repo", applied)

    told = command("apply", *args)
    assert_told(told, 4, "cannot be read", "move it away", "`pulsar-gitops apply`")
    file.rename(applied / "damaged.db")

    assert command("apply", *args).code == 0
    assert "5 unchanged" in command("plan", "--repo", applied).out
