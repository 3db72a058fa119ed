"""How the client libraries of each language decode a message that another schema wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from gitops.model.clients import ClientLanguage


class Decoding(Enum):
    """How a client decodes Avro."""

    JAVA = "resolves by Avro for Java, as the broker compares"
    FASTAVRO = "resolves by fastavro, and decodes with its own schema alone where that fails"
    FULL_NAMES = "resolves by Avro for C#, which compares full names, and fails on others"
    OWN_SCHEMA = "decodes with its own schema alone"
    APPLICATION = "leaves it to the application"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProfile:
    """A client library; `is_run`: seen with the real client, else read in its source."""

    library: str
    decoding: Decoding
    is_run: bool = False


CLIENT_PROFILES: Final[Mapping[ClientLanguage, ClientProfile]] = {
    "java": ClientProfile(library="pulsar-client", decoding=Decoding.JAVA, is_run=True),
    "python": ClientProfile(
        library="pulsar-client for Python", decoding=Decoding.FASTAVRO, is_run=True
    ),
    "go": ClientProfile(library="pulsar-client-go", decoding=Decoding.OWN_SCHEMA),
    "node": ClientProfile(library="pulsar-client for Node.js", decoding=Decoding.APPLICATION),
    "cpp": ClientProfile(library="pulsar-client-cpp", decoding=Decoding.APPLICATION),
    "dotnet": ClientProfile(library="Pulsar.Client for .NET", decoding=Decoding.FULL_NAMES),
    "dotpulsar": ClientProfile(library="DotPulsar", decoding=Decoding.OWN_SCHEMA),
}


class Cause(Enum):
    """Why a client differs from Java."""

    NAME = "name"
    UNION = "union"
    ALIAS = "alias"
    SYMBOL = "symbol"
    DEFAULT = "default"
    LOGICAL_TYPE = "logical type"
    TEXT = "text"
    LAYOUT = "layout"
    DEFINITION = "definition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misreading:
    """A place where a client differs from Avro for Java on some messages, or on all.

    `message` says why, as a clause about the library. `path` is dotted field names, and the
    pointers stand in the definitions. `is_silent`: wrong values may come out, instead of an error.
    """

    cause: Cause
    message: str
    path: str = ""
    writer_pointer: str = ""
    reader_pointer: str = ""
    is_silent: bool = False
