"""Kernels of Avro definitions that a test writes down as JSON values."""

from __future__ import annotations

import json
from typing import Any

from gitops.replay.kernel.avro.kernel import AvroKernel, AvroRowReader
from gitops.replay.kernel.avro.schema_pair import make_plan
from gitops.replay.kernel.avro.steps import Plan
from gitops.schemas.avro.parser import AVRO_1_11

parse = AVRO_1_11.parse

Json = Any


def plan_of(writer: Json, reader: Json) -> Plan:
    """The plan of two definitions."""
    return make_plan(parse(json.dumps(writer)), parse(json.dumps(reader)))


def kernel_of(writer: Json, reader: Json) -> AvroKernel:
    """The kernel that reads columns."""
    return AvroKernel(plan_of(writer, reader))


def reader_of(writer: Json, reader: Json) -> AvroRowReader:
    """The reader of single rows."""
    return AvroRowReader(plan_of(writer, reader))
