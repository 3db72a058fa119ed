"""Annotations of a change stand on its own lines: the nine situations, and ugly ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.acme_repository import ADDRESS, API, add, change, folder_of, retype, show
from tests.support.acme_repository import replace as with_text
from tests.support.command_line import captured
from tests.support.git_repos import GitRepository
from tests.support.runner import Command, commands
from tests.support.situations import SITUATIONS, Situation, build

pytestmark = pytest.mark.slow

CAPTURED: Final = folder_of("payments/captured")
CREATED: Final = folder_of("orders/order-created")
LOST: Final = folder_of("orders/order-lost")
CANCELLED: Final = folder_of("orders/order-cancelled")
Work = Callable[[GitRepository], None]


def annotated(repo: GitRepository, base: str = "main", folder: str = "") -> list[Command]:
    done = captured(
        "check",
        "--base",
        base,
        "--repo",
        repo.root / folder,
        "--format",
        "github",
        "--fail-on=error",
    )
    assert done.code in (0, 1), done
    return commands(done.out)


def changed_lines(repo: GitRepository, file: str) -> set[int]:
    """The lines of a file of the head that the base has not, as `git blame` tells."""
    told = repo.git("blame", "--porcelain", "main..HEAD", "--", file).splitlines()
    heads = [line.split(" ") for line in told if line[:40].isalnum() and line[40:41] == " "]
    old = _boundaries(told)
    return {int(words[2]) for words in heads if words[0] not in old}


def _boundaries(told: list[str]) -> set[str]:
    """The commits of the base."""
    commit, found = "", set[str]()
    for line in told:
        if line[:40].isalnum() and line[40:41] == " ":
            commit = line[:40]
        if line == "boundary":
            found.add(commit)
    return found


def place(one: Command) -> str:
    line = one.properties.get("line", "")
    return f"{one.properties.get('file', '')}:{line}".rstrip(":")


def rule(one: Command) -> str:
    return one.properties["title"].partition(" ")[0]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.name)
def test_a_situation_is_annotated_on_its_own_lines(tmp_path: Path, situation: Situation) -> None:
    repo = build(tmp_path, situation)

    found = annotated(repo)

    assert bool(found) is (situation.name not in ("good", "shared-type-good"))
    for one in found:
        file, _, line = place(one).rpartition(":")
        assert int(line) in changed_lines(repo, file), one


# ---------------------------------------------------------------------------- ugly ones


def edit_files(*edits: Callable[[dict[str, str]], None]) -> Work:
    def work(repo: GitRepository) -> None:
        paths = repo.git("ls-files", "-z").split("\0")
        files = {path: (repo.root / path).read_text("utf-8") for path in paths if path}
        for edit in edits:
            edit(files)
        repo.write(files)

    return work


def remove(*paths: str) -> Work:
    return lambda repo: repo.write(dict.fromkeys(paths))


def move(old: str, new: str) -> Work:
    def work(repo: GitRepository) -> None:
        (repo.root / new).parent.mkdir(parents=True, exist_ok=True)
        repo.git("mv", old, new)

    return work


def register(repo: GitRepository) -> None:
    """What is there is what the registry has and the snapshot records."""
    for command in (["apply", "--auto-approve"], ["snapshot"]):
        done = captured(*command, "--repo", repo.root)
        assert done.code == 0, done
    repo.commit(message="Before")
    repo.git("branch", "--force", "main")


def long_enum(*symbols: str) -> str:
    """A definition over many lines, the enum's symbols one a line."""
    kind = {"type": "enum", "name": "Reason", "symbols": list(symbols)}
    fields: list[dict[str, Any]] = [
        {"name": "id", "type": "string"},
        {"name": "reason", "type": kind},
    ]
    record = {
        "type": "record",
        "name": "OrderCancelled",
        "namespace": "acme.orders",
        "fields": fields,
    }
    return json.dumps(record, indent=2) + "\n"


def put(path: str, text: str) -> Work:
    return lambda repo: repo.write({path: text})


ODD: Final = 'types/ä d"r.avsc'
UGLY: Final[dict[str, tuple[tuple[Work, ...], tuple[Work, ...], set[tuple[str, str]]]]] = {
    # name: (before, the change, what is annotated where)
    "a change only in a shared type that clients cannot read": (
        (),
        (edit_files(change(ADDRESS, lambda d: d["fields"].pop())),),
        {
            ("CLIENT-R003", f"{ADDRESS}:7"),
            ("AVRO-R002", f"{ADDRESS}:7"),
        },
    ),
    "a mistake in a client's own file stays there": (
        (),
        (
            edit_files(
                with_text(
                    "clients/billing.yaml",
                    "order-created, subscription: billing, schema: {version: 0}",
                    "order-created, subscription: billing, schema: {version: 7}",
                )
            ),
        ),
        {("CLIENT-R001", "clients/billing.yaml:9")},
    ),
    "a client's file is changed elsewhere, and its topic breaks it": (
        (),
        (
            edit_files(
                retype("orders/order-created", "quantity", "long"),
                with_text("clients/billing.yaml", 'owner: "@acme/billing"', 'owner: "@acme/money"'),
            ),
        ),
        {("CLIENT-R003", f"{CREATED}.avsc:9")},
    ),
    "a symbol is lost far below its field, beside another change": (
        (
            put(f"{LOST}.avsc", long_enum("A", "B", "C")),
            put(
                f"{LOST}.yaml",
                f"{API}kind: Topic\nschema: {{type: AVRO, definition: order-lost.avsc}}\n",
            ),
        ),
        (
            put(
                f"{LOST}.avsc",
                long_enum("A", "C").replace('"string"', '"string",\n      "doc": "x"'),
            ),
        ),
        # Nothing comes in its place: the line in front of the gap.
        {("AVRO-W001", f"{LOST}.avsc:17")},
    ),
    "a definition moves, and breaks": (
        (),
        (
            move(f"{CREATED}.avsc", "namespaces/acme/orders/renamed.avsc"),
            edit_files(
                with_text(f"{CREATED}.yaml", "order-created.avsc", "renamed.avsc"),
                add("namespaces/acme/orders/renamed.avsc", "coupon", "string"),
            ),
        ),
        {("AVRO-R002", "namespaces/acme/orders/renamed.avsc:10")},
    ),
    "a definition is gone, of which no line is left": (
        (),
        (remove(f"{CANCELLED}.avsc"),),
        # The manifest names it, and is as it was.
        {("REPO-R006", f"{CANCELLED}.yaml:3")},
    ),
    "a path that git quotes": (
        (move(ADDRESS, ODD),),
        (edit_files(add(ODD, "house", "string")),),
        {("AVRO-R002", f"{ODD}:9")},
    ),
    "a type that nothing uses any more": (
        (
            put(
                "types/extra.avsc",
                show({"type": "record", "name": "Extra", "namespace": "acme.types", "fields": []}),
            ),
            edit_files(
                add(f"{CANCELLED}.avsc", "extra", ["null", "acme.types.Extra"], default=None)
            ),
        ),
        (
            edit_files(
                lambda f: f.update(
                    {
                        f"{CANCELLED}.avsc": f[f"{CANCELLED}.avsc"].replace(
                            "acme.types.Extra", "string"
                        )
                    }
                )
            ),
        ),
        {("REPO-R023", f"{CANCELLED}.avsc:8"), ("AVRO-R003", f"{CANCELLED}.avsc:8")},
    ),
    "only a doc is added, below lines that are laid out anew": (
        (),
        (
            edit_files(
                lambda f: f.update(
                    {
                        f"{CANCELLED}.avsc": f[f"{CANCELLED}.avsc"]
                        .replace('  "type": "record"', '    "type": "record"')
                        .replace('"name": "reason"', '"doc": "Why", "name": "reason"')
                    }
                )
            ),
        ),
        {("PLAN-R007", f"{CANCELLED}.avsc:7")},
    ),
    "a topic goes that clients use": (
        (),
        (remove(f"{CANCELLED}.avsc", f"{CANCELLED}.yaml"),),
        # Nothing of it is left in the head: who uses it, and the file that was there.
        {
            ("CHECK-R001", f"{CANCELLED}.yaml"),
            ("CLIENT-R005", "clients/checkout.yaml:7"),
            ("CLIENT-R005", "clients/data-lake.yaml:11"),
        },
    ),
}


def is_caused(one: Command) -> bool:
    """Clients are behind without the change, too: they stay where they are declared."""
    behind = rule(one) == "CLIENT-R006"
    assert not behind or place(one).startswith("clients/")
    return not behind and "held back" not in one.properties["title"]


@pytest.mark.parametrize("name", UGLY)
def test_an_ugly_change_is_annotated_where_it_is(tmp_path: Path, name: str) -> None:
    before, after, expected = UGLY[name]
    repo = build(tmp_path, Situation(name="ugly", title="Ugly", edits=()))
    for work in before:
        work(repo)
    register(repo)
    for work in after:
        work(repo)
    repo.commit()

    found = {(rule(one), place(one)) for one in annotated(repo) if is_caused(one)}
    assert found == expected


def test_a_waiver_for_another_change_is_told_on_the_line_of_the_new_one(tmp_path: Path) -> None:
    repo = build(tmp_path, next(one for one in SITUATIONS if one.waived))
    repo.git("branch", "--force", "main")
    edit_files(with_text(f"{CAPTURED}.avsc", '"iban", "type": "string"', '"iban", "type": "int"'))(
        repo
    )
    repo.commit()

    (waiver,) = (repo.root / "waivers").iterdir()
    found = {rule(one): one for one in annotated(repo)}

    assert place(found["WAIVER-R004"]) == f"{CAPTURED}.avsc:9"
    assert f"\nSee waivers/{waiver.name}:8.\n" in found["WAIVER-R004"].data


def test_files_of_a_folder_that_are_not_committed_have_their_lines(tmp_path: Path) -> None:
    """Also where the schemas repository is a folder of its clone."""
    source = build(tmp_path / "source", Situation(name="ugly", title="Ugly", edits=()))
    repo = GitRepository(tmp_path / "whole")
    source.root.rename(repo.root / "schemas")
    (repo.root / "schemas" / ".git").rename(tmp_path / "old.git")
    repo.commit()
    schemas = GitRepository.at(repo.root / "schemas")
    quantity = schemas.root / f"{CREATED}.avsc"
    quantity.write_text(
        quantity.read_text().replace('"quantity", "type": "int"', '"quantity", "type": "long"')
    )
    schemas.write({"types/new.avsc": show({"type": "record", "name": "New", "fields": []})})

    found = {rule(one): place(one) for one in annotated(repo, "HEAD", "schemas")}

    assert found["CLIENT-R003"] == f"schemas/{CREATED}.avsc:9"
    assert found["REPO-R023"].startswith("schemas/types/new.avsc")


def test_a_result_of_sarif_links_to_the_other_places(tmp_path: Path) -> None:
    repo = build(tmp_path, next(one for one in SITUATIONS if one.name == "policy"))

    done = captured("check", "--base", "main", "--repo", repo.root, "--format", "sarif")

    results = [one for run in json.loads(done.out)["runs"] for one in run["results"]]
    (clients,) = (one for one in results if one["ruleId"] == "CLIENT-R003")
    (shown,) = clients["locations"]
    assert _sarif_place(shown) == (f"{CAPTURED}.avsc", 7)
    assert [_sarif_place(one) for one in clients["relatedLocations"]] == [
        ("clients/checkout.yaml", 9),
        ("clients/data-lake.yaml", 13),
        ("clients/fraud.yaml", 6),
    ]


def _sarif_place(one: dict[str, Any]) -> tuple[str, int]:
    physical = one["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]
