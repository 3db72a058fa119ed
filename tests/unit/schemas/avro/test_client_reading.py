"""What clients that are not Java misread, beside the real client of Python."""

from __future__ import annotations

import json
import logging
import os
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
_MANY_PAIRS = int(os.environ.get("CLIENT_PAIRS", "600"))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The client warns of each message that it decodes with its own schema alone."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _compare(pairs: int) -> None:
    """Nothing is misread without a finding, and few findings are never seen in a message."""
    compared = unseen = seed = 0
    while compared < pairs:
        assert seed < 20 * pairs, "chance makes too few pairs"
        pair = random_pair(seed)
        difference = pair.difference() if pair else None
        if pair is not None and difference is not None:
            writer, reader = (json.dumps(one).encode() for one in (pair.writer, pair.reader))
            found = find_misreadings(AVRO_1_11, Decoding.FASTAVRO, writer, reader)
            assert found or not difference, f"seed {seed}: {writer!r} read with {reader!r}"
            compared += 1
            unseen += bool(found) and not difference
        seed += 1
    assert unseen <= pairs // 100


def test_the_profile_of_python_agrees_with_the_client() -> None:
    _compare(_PAIRS)


@pytest.mark.slow
def test_the_profile_of_python_agrees_with_the_client_on_many_pairs() -> None:
    _compare(_MANY_PAIRS)
