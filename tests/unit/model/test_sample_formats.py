"""The table of sample formats: what a row names is there, and manifests accept its names alone."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from gitops.model.sample_formats import SAMPLE_FORMATS, SampleFormat
from gitops.replay.sources.source import UnreadableError, source_for
from gitops.repository.documents.manifests import SampleDocument
from tests.support.project_files import ROOT, project_files

_LAST = r"(?:avro|parquet|orc|capture|table|raw|capture-avro)"
_NAMED = re.compile(rf"format\w* (?:==|!=|in|not in) .*[\"']{_LAST}[\"']|case [\"']{_LAST}[\"']")


@pytest.mark.parametrize("name", SAMPLE_FORMATS)
def test_the_source_of_each_row(name: str) -> None:
    row = SAMPLE_FORMATS[name]
    if not row.source:
        assert row.spark is not None, "nothing reads it"
        with pytest.raises(UnreadableError):
            source_for(name)
        return
    source = source_for(name)
    assert callable(source.parts)
    assert callable(source.batches)


def test_manifests_accept_the_names_of_the_table() -> None:
    assert get_args(SampleFormat) == tuple(SAMPLE_FORMATS)
    properties = SampleDocument.model_json_schema()["properties"]
    assert properties["format"]["enum"] == list(SAMPLE_FORMATS)


@pytest.mark.parametrize("name", [name for name, row in SAMPLE_FORMATS.items() if row.like])
def test_a_format_whose_files_are_those_of_another(name: str) -> None:
    row, other = SAMPLE_FORMATS[name], SAMPLE_FORMATS[SAMPLE_FORMATS[name].like]
    assert (row.begins, row.is_binary) == (other.begins, other.is_binary)


@pytest.mark.slow
def test_nobody_else_chooses_by_the_name_of_a_format() -> None:
    assert [
        (path.relative_to(ROOT).as_posix(), line)
        for path in project_files("gitops/**.py")
        for line in path.read_text("utf-8").splitlines()
        if _NAMED.search(line)
    ] == []
