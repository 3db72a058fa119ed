"""What a change takes from replays is told by `check`, whether it replays or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gitops.model.findings import Finding, Severity
from tests.support.check_repository import FILES, FOLDER, avro, manifest, report, touched
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


FILE = f"{FOLDER}/created.yaml"
DATA = "samples/created.jsonl"
ROWS = '{"a": "1"}\n{"a": "2"}\n'
PATH = "../../../samples/created.jsonl"


def with_samples(*samples: str, schema: str = "type: AVRO, definition: created.avsc") -> str:
    lines = "".join(f"  - {{{each}}}\n" for each in samples)
    return manifest(schema) + (f"samples:\n{lines}" if samples else "")


BEFORE = with_samples(
    f"format: json, path: {PATH}, version: 0, maxFailures: 2, sensitive: [a, lines.card]",
    "format: parquet, path: 's3://acme/*.parquet', columns: {payload: value}",
)
FIRST, SECOND = (line[5:-1] for line in BEFORE.splitlines()[-2:])


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit({**FILES, FILE: BEFORE, DATA: ROWS})
    return made


def told(repo: GitRepository) -> list[Finding]:
    return [each for each in report(repo).findings if each.rule == "CHECK-R008"]


def messages(repo: GitRepository, files: Mapping[str, str | None]) -> list[str]:
    repo.write(files)
    return [each.message for each in told(repo)]


def test_samples_that_are_taken_out(repo: GitRepository) -> None:
    repo.write({FILE: with_samples()})
    (found,) = told(repo)
    assert found.severity is Severity.WARNING
    assert found.subject == "shop/orders/created"
    assert found.message == (
        "the samples of shop/orders/created are removed from its manifest: its messages "
        "are no longer replayed"
    )
    assert found.location is not None
    assert (found.location.file, found.location.line, found.location.in_base) == (FILE, 5, True)


@pytest.mark.parametrize(("left", "gone"), [(FIRST, "s3://acme/*.parquet"), (SECOND, PATH)])
def test_one_sample_that_is_taken_out(left: str, gone: str, repo: GitRepository) -> None:
    said = messages(repo, {FILE: with_samples(left)})
    assert f"the sample {gone} is removed, and no other sample contains its messages" in said


def test_a_sample_that_another_one_replaces(repo: GitRepository) -> None:
    changed = BEFORE.replace("samples/created.jsonl", "samples/easy.jsonl")
    (said,) = messages(repo, {FILE: changed, DATA: None, "samples/easy.jsonl": '{"a": "3"}\n'})
    assert said == f"the sample {PATH} is removed, and no other sample contains its messages"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("maxFailures: 2", "maxFailures: 3", f"maxFailures of the sample {PATH} is raised: 2 → 3"),
        ("maxFailures: 2", "maxFailures: 0.5", f"{PATH} is raised: 2 → 50 %"),
        ("version: 0", "version: 1", f"version of the sample {PATH} changes: 0 → 1; its"),
        (", version: 0", "", f"version of the sample {PATH} changes: 0 → none; its"),
        ("format: json", "format: raw", f"format of the sample {PATH} changes: json → raw; its"),
        ("payload: value", "payload: other", "changes: {payload: value} → {payload: other}; its"),
        (
            "version: 0",
            "version: 0, logicalTypes: none",
            f"logicalTypes of the sample {PATH} is none",
        ),
        ("a, lines.card", "lines.card", "the field 'a' is no longer sensitive: reports of replays"),
        (", sensitive: [a, lines.card]", "", "the fields 'a', 'lines.card' are no longer sens"),
    ],
)
def test_settings_that_are_weakened(old: str, new: str, said: str, repo: GitRepository) -> None:
    assert old in BEFORE
    (found,) = messages(repo, {FILE: BEFORE.replace(old, new)})
    assert said in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("maxFailures: 2", "maxFailures: 1"),
        ("maxFailures: 2", "maxFailures: 0.0"),
        ("version: 0", "version: 0, logicalTypes: java"),
        ("lines.card", "card"),
        ("[a, lines.card]", "[a, lines]"),
        ("path: ../../../samples/created.jsonl", "path: ../../../samples/*.jsonl"),
        ("path: ../../../samples/created.jsonl", "path: ../../../samples"),
        ("../../../samples/created.jsonl", "./../../../samples/created.jsonl"),
        ("samples:\n", "samples:\n  - {format: raw, path: 's3://acme/more'}\n"),
    ],
)
def test_settings_that_are_not(old: str, new: str, repo: GitRepository) -> None:
    assert old in BEFORE
    assert messages(repo, {FILE: BEFORE.replace(old, new)}) == []


def test_a_version_where_there_was_none(repo: GitRepository) -> None:
    repo.commit({FILE: BEFORE.replace(", version: 0", "")})
    assert messages(repo, {FILE: BEFORE}) == []


def test_a_file_by_another_name(repo: GitRepository) -> None:
    moved = {FILE: BEFORE.replace("created.jsonl", "all.jsonl"), DATA: None}
    assert messages(repo, {**moved, "samples/all.jsonl": ROWS}) == []


def test_a_file_by_another_name_with_other_settings(repo: GitRepository) -> None:
    settings = BEFORE.replace("created.jsonl", "all.jsonl").replace("maxFailures: 2", "version: 7")
    settings = settings.replace("version: 0, version: 7", "version: 0, maxFailures: 9")
    (said,) = messages(repo, {FILE: settings, DATA: None, "samples/all.jsonl": ROWS})
    assert said == "maxFailures of the sample ../../../samples/all.jsonl is raised: 2 → 9"


@pytest.mark.parametrize("kept", [ROWS, '{"a": "0"}\n' + ROWS, ROWS + "x\n"])
def test_lines_that_are_added_to_a_file(kept: str, repo: GitRepository) -> None:
    """The manifest is as it was, so that nothing else leads to it."""
    assert messages(repo, {DATA: kept}) == []


@pytest.mark.parametrize("left", [None, "", '{"a": "1"}\n', '{"a": "1"}\n{"a": "1"}\n'])
def test_messages_that_go_under_a_manifest_that_stays(
    left: str | None, repo: GitRepository
) -> None:
    (said,) = messages(repo, {DATA: left})
    assert said == f"a file of the sample {PATH} is missing, or contains other messages: {DATA}"


def test_messages_that_go_where_samples_usually_are_not(repo: GitRepository) -> None:
    repo.commit({FILE: with_samples("format: raw, path: a.bin"), f"{FOLDER}/a.bin": "x"})
    (said,) = messages(repo, {f"{FOLDER}/a.bin": "y"})
    assert (
        said == f"a file of the sample a.bin is missing, or contains other messages: {FOLDER}/a.bin"
    )


def test_many_files_under_one_pattern(repo: GitRepository) -> None:
    folder = "samples/many"
    files = {f"{folder}/{number}.avro": str(number) for number in range(9)}
    repo.commit({FILE: with_samples("format: avro, path: '../../../samples/many/*'"), **files})
    gone: dict[str, str | None] = {path: None for path in files if path > f"{folder}/3.avro"}
    (said,) = messages(repo, {**gone, f"{folder}/0.avro": "other"})
    assert said == (
        "6 files of the sample ../../../samples/many/* are missing, or contain other messages: "
        f"{folder}/0.avro, {folder}/4.avro, {folder}/5.avro and 3 more"
    )


@pytest.mark.parametrize("new", ["samples/many/new.avro", "samples/many/0.avro"])
def test_a_file_that_a_pattern_means_touches_the_topic(new: str, repo: GitRepository) -> None:
    sample = with_samples("format: avro, path: '../../../samples/many/*'")
    repo.commit({FILE: sample, "samples/many/0.avro": "0", "samples/other.avro": "0"})
    repo.write({new: "1", "samples/other.avro": "1"})
    assert touched(repo) == {"created": (new,)}


def test_a_narrower_pattern(repo: GitRepository) -> None:
    files = {"samples/a.avro": "1", "samples/b.avro": "2"}
    repo.commit({FILE: with_samples("format: avro, path: '../../../samples/*.avro'"), **files})
    changed = with_samples("format: avro, path: '../../../samples/a*.avro'")
    (said,) = messages(repo, {FILE: changed})
    assert said == (
        "a file of the sample ../../../samples/*.avro is missing, or contains other messages: "
        "samples/b.avro"
    )


def test_samples_that_git_does_not_have(repo: GitRepository) -> None:
    """A job fetches them before it replays; their place is all that can be compared."""
    repo.commit({FILE: with_samples("format: avro, path: fetched/*.avro, maxFailures: 0")})
    changed = with_samples("format: avro, path: fetched/*.avro, maxFailures: 0.1")
    (said,) = messages(repo, {FILE: changed})
    assert said == "maxFailures of the sample fetched/*.avro is raised: 0 → 10 %"


def test_a_topic_that_goes_takes_its_samples_along(repo: GitRepository) -> None:
    gone = {FILE: None, DATA: None, f"{FOLDER}/created.avsc": None}
    assert messages(repo, gone) == []


def test_a_topic_by_another_name_keeps_its_samples(repo: GitRepository) -> None:
    definition = FILES[f"{FOLDER}/created.avsc"]
    moved = {FILE: None, f"{FOLDER}/created.avsc": None, f"{FOLDER}/made.avsc": definition}
    changed = BEFORE.replace("created.avsc", "made.avsc")
    assert messages(repo, {**moved, f"{FOLDER}/made.yaml": changed}) == []
    lowered = changed.replace("maxFailures: 2", "maxFailures: 5")
    (said,) = messages(repo, {f"{FOLDER}/made.yaml": lowered})
    assert said.endswith("is raised: 2 → 5")


def test_a_manifest_that_cannot_be_read_is_told_as_such(repo: GitRepository) -> None:
    repo.write({FILE: with_samples() + "smaples: []\n"})
    found = {each.rule for each in report(repo).findings}
    assert "CHECK-R008" not in found
    assert any(rule.startswith("REPO-") for rule in found)


def test_a_change_does_not_switch_off_what_tells_of_it(repo: GitRepository) -> None:
    settings = FILES["gitops.yaml"] + "rules: {CHECK-R008: off}\n"
    repo.write({"gitops.yaml": settings, FILE: with_samples()})
    assert [each.severity for each in told(repo)] == [Severity.WARNING]


def test_a_team_may_take_it_for_an_error(repo: GitRepository) -> None:
    repo.commit({"gitops.yaml": FILES["gitops.yaml"] + "rules: {CHECK-R008: error}\n"})
    repo.write({FILE: with_samples()})
    assert [each.severity for each in told(repo)] == [Severity.ERROR]


def test_other_changes_of_a_topic_are_none(repo: GitRepository) -> None:
    assert messages(repo, {f"{FOLDER}/created.avsc": avro("Created", "b")}) == []


def test_an_unchanged_manifest_beside_a_file_that_is_no_sample(repo: GitRepository) -> None:
    repo.commit({"samples/notes.txt": "a"})
    assert messages(repo, {"samples/notes.txt": "b", "tools/run.sh": "x"}) == []
    assert touched(repo) == {}


LOOSE = "format: json, path: '../../../samples/c*.jsonl', version: 0, maxFailures: 1000"


def test_a_looser_sample_that_takes_the_file_over(repo: GitRepository) -> None:
    (said,) = messages(repo, {FILE: with_samples(LOOSE, FIRST, SECOND)})
    assert said == "maxFailures of the sample ../../../samples/c*.jsonl is raised: 2 → 1,000"


def test_a_looser_sample_behind_the_one_that_counts(repo: GitRepository) -> None:
    both = with_samples(FIRST, LOOSE, SECOND)
    assert not messages(repo, {FILE: both})
    repo.commit({})
    repo.write({FILE: with_samples(LOOSE, FIRST, SECOND)})
    assert [each.message for each in told(repo)] == [
        "maxFailures of the sample ../../../samples/c*.jsonl is raised: 2 → 1,000"
    ]


def test_two_samples_of_a_file_that_nobody_changes(repo: GitRepository) -> None:
    repo.commit({FILE: with_samples(LOOSE, FIRST)})
    assert not messages(repo, {FILE: with_samples(LOOSE, FIRST) + "# reviewed\n"})


@pytest.mark.parametrize("path", ["data/*.jsonl", "data", "{one,two}.jsonl"])
def test_files_of_a_pattern_that_go_anywhere(path: str, repo: GitRepository) -> None:
    folder = FOLDER if path.startswith("{") else f"{FOLDER}/data"
    files = {f"{folder}/{name}.jsonl": ROWS for name in ("one", "two")}
    repo.commit({FILE: with_samples(f"format: json, path: '{path}', version: 0"), **files})
    (said,) = messages(repo, {f"{folder}/two.jsonl": None})
    assert f"{folder}/two.jsonl" in said


def test_lines_that_are_packed_are_compared_as_a_whole(repo: GitRepository) -> None:
    repo.commit(
        {
            FILE: with_samples("format: json, path: ../../../samples/a.jsonl.gz, version: 0"),
            "samples/a.jsonl.gz": "packed\nlines\n",
        }
    )
    (said,) = messages(repo, {"samples/a.jsonl.gz": "packed\nlines\nmore\n"})
    assert "samples/a.jsonl.gz" in said
