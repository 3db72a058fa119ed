"""What clients that are not Java misread, beside the real client of Python."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from gitops.schemas.avro.client_reading import find_misreadings
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.client_profiles import Decoding

pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")

from tests.support.python_client import random_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings("ignore:The .warn. method is deprecated")

_PAIRS = 300
_MANY_PAIRS = 2_000


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The client warns of each message that it decodes with its own schema alone."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _disagreement(seed: int) -> tuple[str | None, bool]:
    """What is wrong about the profile's decision, and whether one could be compared."""
    pair = random_pair(seed)
    difference = pair.difference() if pair else None
    if pair is None or difference is None:
        return None, False
    writer, reader = (json.dumps(one).encode() for one in (pair.writer, pair.reader))
    found = find_misreadings(AVRO_1_11, Decoding.FASTAVRO, writer, reader)
    if bool(found) == bool(difference):
        return None, True
    said = [one.message for one in found]
    return f"seed {seed}: {writer!r} read with {reader!r}: {said}, {difference}", True


def _compare(pairs: int) -> None:
    compared = seed = 0
    while compared < pairs:
        assert seed < 20 * pairs, "chance makes too few pairs"
        problem, was_compared = _disagreement(seed)
        assert problem is None, problem
        compared += was_compared
        seed += 1


def test_the_profile_of_python_agrees_with_the_client() -> None:
    _compare(_PAIRS)


@pytest.mark.slow
def test_the_profile_of_python_agrees_with_the_client_on_many_pairs() -> None:
    _compare(_MANY_PAIRS)
