"""Runs a scenario of Pulsar's Java client that writes and reads payloads, without a broker."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.protocol import READ
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for, row_writer_for
from tests.support.java_program import JavaProgram
from tests.support.pulsar_class_path import BrokerUnavailableError


class Written(NamedTuple):
    """A schema of the Java client and its payloads."""

    info: SchemaInfo
    payloads: list[bytes]


class Scenario:
    """One Java source with a `main` that takes `write` or `read`; see those sources."""

    def __init__(self, program: JavaProgram) -> None:
        self._program = program

    @cached_property
    def written(self) -> dict[str, Written]:
        """By name."""
        lines = [json.loads(line) for line in self._program.run("write")]
        return {line["name"]: _written(line) for line in lines}

    def read(self, rows: Iterable[tuple[str, bytes]]) -> list[str]:
        """What the scenario says of each payload, read with its schema of that name."""
        lines = [f"{name} {base64.b64encode(one).decode()}\n" for name, one in rows]
        said = self._program.run("read", lines="".join(lines))
        assert len(said) == len(lines)
        return said


def written_again(client: Scenario) -> list[tuple[str, bytes]]:
    """All that the client writes, by the schema's name, as it is written here once it was read.

    Every message is read in a column and alone, and what is written again is the same value.
    """
    again: list[tuple[str, bytes]] = []
    for name, (info, payloads) in client.written.items():
        walk = kernel_for(info, info).walk(pyarrow.array(payloads, pyarrow.binary()))
        assert walk.verdicts.tolist() == [READ] * len(payloads), (name, walk.reasons)
        reader, writer = row_reader_for(info, info), row_writer_for(info)
        for one in payloads:
            value = reader.read(one)
            again.append((name, writer.write(value)))
            assert reader.read(again[-1][1]) == value
    return again


def scenario(source: Path, classes: Path) -> Scenario:
    """The compiled scenario; skips where there is no Java or no Maven."""
    try:
        return Scenario(JavaProgram(source, classes))
    except BrokerUnavailableError as error:
        pytest.skip(str(error))


def _written(line: dict[str, Any]) -> Written:
    definition = line["schema"]
    if line["type"] == "KEY_VALUE":  # the client shows more of the halves than the broker does
        halves = json.loads(definition)
        definition = json.dumps({half: halves[half]["schema"] for half in ("key", "value")})
    info = SchemaInfo(
        type=SchemaType(line["type"]), schema=definition, properties=line["properties"]
    )
    return Written(info, [base64.b64decode(one) for one in line["payloads"]])
