"""Definitions in files, compared as the versions of one topic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops.model.errors import UsageError
from gitops.model.findings import Severity
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.usecases.compat import compare_files
from tests.support.states import field, record


def _files(folder: Path, *definitions: object) -> list[Path]:
    paths = [folder / f"{number}.avsc" for number in range(len(definitions))]
    for path, definition in zip(paths, definitions, strict=True):
        text = definition if isinstance(definition, str) else json.dumps(definition, indent=2)
        path.write_text(text, encoding="utf-8")
    return paths


def test_the_last_file_is_the_candidate(tmp_path: Path) -> None:
    files = _files(tmp_path, record(field("a")), record(field("a"), field("b", default="")))

    found = compare_files(files, "FULL", "AVRO")

    assert found.strategy is SchemaCompatibilityStrategy.FULL
    assert (found.decision.accepted, found.decision.version, found.findings) == (True, 1, ())
    assert [change.path for change in found.changes] == ["b"]


def test_one_file_alone_is_a_first_version(tmp_path: Path) -> None:
    found = compare_files(_files(tmp_path, record()), "FULL", "JSON")

    assert (found.decision.accepted, found.decision.version, found.changes) == (True, 0, ())


@pytest.mark.parametrize("strategy", ["BACKWARD", "FORWARD"])
def test_a_reason_says_where_on_both_sides(tmp_path: Path, strategy: str) -> None:
    files = _files(tmp_path, record(field("a", "string")), record(field("a", "int")))

    found = compare_files(files, strategy, "AVRO")

    (reason,) = found.findings
    assert reason.location is not None
    assert reason.location.file == str(files[1])
    assert reason.compared is not None
    assert (reason.compared.file, reason.compared.pointer) == (str(files[0]), "/fields/0/type")
    assert reason.compared.line > 1
    assert found.texts == {str(path): path.read_text(encoding="utf-8") for path in files}


def test_under_a_transitive_strategy_the_version_is_named(tmp_path: Path) -> None:
    files = _files(
        tmp_path, record(field("a", "string")), record(), record(field("a", "int", default=0))
    )

    found = compare_files(files, "BACKWARD_TRANSITIVE", "AVRO")

    assert not found.decision.accepted
    assert found.findings[0].compared is not None
    assert found.findings[0].compared.file == str(files[0])


def test_a_definition_that_is_none_is_refused_with_a_finding(tmp_path: Path) -> None:
    found = compare_files(_files(tmp_path, record(), "{"), "FULL", "AVRO")

    assert not found.decision.accepted
    assert [one.rule for one in found.findings] == ["AVRO-P001"]
    assert found.findings[0].location is not None
    assert found.findings[0].location.line == 1


@pytest.mark.parametrize(
    ("strategy", "kind", "what", "hint"),
    [
        ("BACKWARDS", "AVRO", "not a strategy", "BACKWARD"),
        ("FULL", "AVROO", "not a schema type", "AVRO"),
    ],
)
def test_words_that_are_not_known(
    tmp_path: Path, strategy: str, kind: str, what: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=what) as raised:
        compare_files(_files(tmp_path, record()), strategy, kind)

    assert hint in raised.value.hint


def test_files_that_are_no_pairs_cannot_be_a_history(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"0\.avsc: a KEY_VALUE definition needs"):
        compare_files(_files(tmp_path, "{}", "{}"), "FULL", "KEY_VALUE")


def _enum(*symbols: str) -> dict[str, object]:
    return {"type": "enum", "name": "E", "symbols": list(symbols)}


def _decimal(precision: int) -> dict[str, object]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": 2}


@pytest.mark.parametrize("strategy", ["BACKWARD", "FORWARD", "FULL_TRANSITIVE"])
def test_messages_of_older_versions_are_there_to_be_read(tmp_path: Path, strategy: str) -> None:
    """What v1 did away with comes back as something else."""
    first = record(
        field("e", _enum("A", "B"), default="A"), field("d", _decimal(9), default="\x00")
    )
    last = record(field("e", _enum("A", "C"), default="A"), field("d", _decimal(5), default="\x00"))
    files = _files(tmp_path, first, record(field("other", default="")), last)

    found = compare_files(files, strategy, "AVRO").findings

    remarks = [one for one in found if one.rule.startswith("AVRO-W")]
    is_transitive = strategy == "FULL_TRANSITIVE"
    expected = ["AVRO-W001", *(["AVRO-W002"] if is_transitive else []), "AVRO-W004"]
    assert [one.rule for one in remarks] == expected
    errors = [one.rule for one in remarks if one.severity is Severity.ERROR]
    assert errors == (["AVRO-W001", "AVRO-W002"] if is_transitive else [])
    assert all("since v0, " in one.message for one in remarks)
    assert {one.compared.file for one in remarks if one.compared} == {str(files[0])}


def test_each_place_is_told_once_for_the_newest_version(tmp_path: Path) -> None:
    enums = [_enum("A", "B"), _enum("A", "B", "C"), _enum("A", "B"), _enum("A")]
    definitions = [record(field("e", enum, default="A")) for enum in enums]

    found = compare_files(_files(tmp_path, *definitions), "BACKWARD", "AVRO").findings

    assert [(one.rule, "since" in one.message) for one in found] == [("AVRO-W001", False)]
    assert found[0].compared is not None
    assert found[0].compared.file == str(tmp_path / "2.avsc")


def test_a_field_that_went_away_before_is_not_renamed_now(tmp_path: Path) -> None:
    files = _files(
        tmp_path, record(field("name")), record(), record(field("names", "string", default=""))
    )

    assert compare_files(files, "BACKWARD", "AVRO").findings == ()


def test_a_revert_changes_nothing_and_says_so(tmp_path: Path) -> None:
    files = _files(tmp_path, record(field("a", "int")), record(field("a", "long")))

    found = compare_files([*files, files[0]], "BACKWARD", "AVRO")

    assert (found.decision.accepted, found.decision.version, found.changes) == (True, 0, ())
    assert [(one.rule, one.severity) for one in found.findings] == [("PLAN-R003", Severity.WARNING)]
    assert "keeps v1 as the latest" in found.findings[0].message


def test_the_latest_version_once_more_is_no_revert(tmp_path: Path) -> None:
    files = _files(tmp_path, record(field("a", "int")), record(field("a", "long")))

    found = compare_files([*files, files[1]], "BACKWARD", "AVRO")

    assert (found.decision.version, found.findings) == (1, ())


@pytest.mark.parametrize("broken", ["{", record(field("a", "int", default="x"))])
def test_a_broken_old_version_is_to_blame_itself(tmp_path: Path, broken: object) -> None:
    files = _files(tmp_path, record(), broken, record(field("a", "int", default=0)))

    found = compare_files(files, "BACKWARD", "AVRO")

    assert (found.decision.accepted, found.decision.status) == (False, 500)
    (error,) = (one for one in found.findings if one.severity is Severity.ERROR)
    assert error.rule == "PLAN-R002"
    assert error.location is not None
    assert error.location.file == str(files[1])
    for word in ("500", "v1", "until the topic's schema is deleted"):
        assert word in error.message
    assert {one.location.file for one in found.findings if one.location} == {str(files[1])}


_OF_INT = json.dumps(record(field("a", "int")))


@pytest.mark.parametrize(
    ("text", "message", "hint", "place"),
    [
        ("\ufeff" + _OF_INT, "a byte order mark", "UTF-8 without BOM", (1, 1)),
        ("", "there is nothing", "write a definition", (1, 1)),
        (_OF_INT[:-2], "ends too early", "close every {", (1, len(_OF_INT) - 1)),
        (_OF_INT.replace("]", ",\n]"), "a comma before ]", "remove the comma", None),
        (_OF_INT.replace('"int"', '"shop.Money"'), "not a defined type", "each file alone", None),
        ('[\n\n {"a": NaN}]', "NaN is not JSON", "no such number", (3, 8)),
        ('[\n"1", ' + "9" * 1001 + "]", "more than 1000 digits", "no longer one", (2, 6)),
    ],
    ids=["mark", "empty", "cut", "comma", "shared", "NaN", "digits"],
)
def test_a_mistake_is_told_as_validate_tells_it(
    tmp_path: Path, text: str, message: str, hint: str, place: tuple[int, int] | None
) -> None:
    found = compare_files(_files(tmp_path, record(), text), "FULL", "AVRO")

    (one,) = found.findings
    assert one.rule == "AVRO-P001"
    assert message in one.message
    assert hint in one.hint
    assert one.location is not None
    assert place in (None, (one.location.line, one.location.column))


def test_the_alias_of_a_rename_comes_first_where_it_helps(tmp_path: Path) -> None:
    files = _files(tmp_path, record(field("qty", "int")), record(field("quantity", "int")))

    (missing,) = compare_files(files, "BACKWARD", "AVRO").findings

    assert missing.rule == "AVRO-R002"
    assert missing.hint.startswith('if it is a rename, add "aliases": ["qty"]')
    assert missing.hint.endswith(
        "the values that older messages contain under the old name are then lost"
    )
    assert '"aliases": ["qty"]' in missing.patch


@pytest.mark.parametrize("strategy", ["FORWARD", "FULL"])
def test_no_alias_is_offered_to_readers_that_exist(tmp_path: Path, strategy: str) -> None:
    files = _files(tmp_path, record(field("qty", "int")), record(field("quantity", "int")))

    found = compare_files(files, strategy, "AVRO").findings

    assert "keep 'qty' beside 'quantity' for a while" in found[-1].hint
    assert not [one for one in found if "aliases" in one.hint + one.patch]


@pytest.mark.parametrize(("strategy", "helps"), [("BACKWARD", True), ("FULL", False)])
def test_an_alias_for_a_type_is_offered_where_it_helps(
    tmp_path: Path, strategy: str, *, helps: bool
) -> None:
    files = [
        record(field("e", {"type": "fixed", "name": name, "size": 4})) for name in ("Old", "New")
    ]

    found = compare_files(_files(tmp_path, *files), strategy, "AVRO").findings

    assert {("give the reader's type an alias" in one.hint) for one in found} == {helps}


def test_a_schema_that_is_no_record_gets_no_field(tmp_path: Path) -> None:
    found = compare_files(_files(tmp_path, '"string"', '"int"'), "FULL", "AVRO").findings

    assert {one.rule for one in found} == {"AVRO-R001", "AVRO-W011"}
    assert all("use another topic for" in one.hint for one in found if one.rule == "AVRO-R001")


def test_an_invalid_default_after_other_versions_is_no_first_schema(tmp_path: Path) -> None:
    files = _files(tmp_path, record(), record(field("a", "int", default="x")))

    after = [one for one in compare_files(files, "BACKWARD").findings if one.rule == "AVRO-P002"]
    alone = compare_files(files[1:], "BACKWARD").findings

    assert [one.hint for one in after] == [
        "Pulsar would accept it as a first schema, and answers 500 to it after others"
    ]
    assert [one.hint for one in alone] == [
        "Pulsar accepts it as a first schema and then fails on every later one"
    ]


def test_an_alias_that_is_the_cause_is_not_called_ignored(tmp_path: Path) -> None:
    files = _files(
        tmp_path,
        record(field("a", default=""), field("b", default="")),
        record(field("b", default="", aliases=["a"])),
    )

    found = compare_files(files, "BACKWARD", "AVRO")

    assert "AVRO-R008" in {one.rule for one in found.findings}
    assert not [one for one in found.changes if one.ignored or one.note]


def test_poison_that_a_topic_holds_already_is_reported_once_and_refuses_nothing(
    tmp_path: Path,
) -> None:
    loop = record(field("self", "Order"))

    found = compare_files(_files(tmp_path, loop, {**loop, "doc": "the same"}), "FULL", "AVRO")

    assert (found.decision.accepted, found.decision.known) == (True, True)
    (poison,) = found.findings
    assert (poison.rule, poison.severity) == ("AVRO-P003", Severity.WARNING)
    assert poison.location is not None
    assert poison.location.file == str(tmp_path / "0.avsc")
