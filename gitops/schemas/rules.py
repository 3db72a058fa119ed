"""What the code and the settings of a broker make of schemas: all in which broker lines differ."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from gitops.model.schema import SchemaType
from gitops.schemas.avro.parser import ANY_AVRO, AVRO_1_11, AvroParser
from gitops.schemas.jackson import JACKSON_2_17, Jackson
from gitops.schemas.json.compatibility import JacksonForm
from gitops.schemas.protobuf_native.descriptors import DescriptorRules


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRules:
    """The rules of one broker line; the defaults are those of Pulsar 4.0.7.

    `takes_top_union`: an AVRO definition may be a union. `deepest_pair`: how deep the text of a
    KEY_VALUE may nest, the pair included. `jackson` is when a JSON definition is read in the old
    form, and `jackson_version` by whom. `has_external`: the type EXTERNAL is known. `unchecked` are
    types whose checker the broker's configuration leaves out.
    """

    avro: AvroParser = AVRO_1_11
    takes_top_union: bool = False
    jackson: JacksonForm = JacksonForm.AFTER_PARSE_FAILURE
    jackson_version: Jackson = JACKSON_2_17
    deepest_pair: int | None = None
    has_external: bool = False
    descriptors: DescriptorRules = field(default_factory=DescriptorRules)
    unchecked: frozenset[SchemaType] = frozenset()


PULSAR_4_0: Final = SchemaRules()
"""Pulsar 4.0.7."""

ANY_LINE: Final = replace(PULSAR_4_0, avro=ANY_AVRO, takes_top_union=True, has_external=True)
"""For what no broker is asked about."""
