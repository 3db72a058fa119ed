"""Brokers of which one setting alone differs from Pulsar's, asked with and without the right.

Each setting decides about something: what is said with Pulsar's default is wrong here, and what a
role says that may not read the configuration is right, or is marked as assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Final

import pytest

from gitops.model.broker_settings import assumed_settings
from gitops.model.policy import SettingSource, camel_case
from gitops.reports.broker_wording import broker_lines
from tests.support.asked_broker import (
    OWNER,
    Asked,
    accepted,
    admissions,
    asked_broker,
    let_in,
    opened,
    planned,
    taken,
)
from tests.support.pulsar_broker import BrokerUnavailableError

pytestmark = [pytest.mark.broker, pytest.mark.slow]

STRATEGY: Final = "schemaCompatibilityStrategy"
LEGACY: Final = "schemaJsonAllowLegacyJacksonFormat"
ALONE: Final = (
    ("4.0.7", STRATEGY, "ALWAYS_COMPATIBLE"),
    ("4.0.7", STRATEGY, "ALWAYS_INCOMPATIBLE"),
    ("4.0.7", "isSchemaValidationEnforced", "true"),
    ("4.0.7", "isAllowAutoUpdateSchemaEnabled", "false"),
    ("4.2.4", LEGACY, "true"),
)
"""A broker for each: 4.2.4 has what it shares with 4.0.7 in test_broker_settings.py, together."""


@pytest.fixture(scope="module", params=ALONE, ids=" ".join)
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asked]:
    release, key, value = request.param
    try:
        with asked_broker(tmp_path_factory.mktemp("alone"), release, {key: value}) as asked:
            yield asked
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {release}: {reason}")


def test_what_is_said_is_what_the_broker_does(asked: Asked) -> None:
    """Of a registration by REST and of a producer, for both roles; with the defaults it is not."""
    roles = (asked.superuser, asked.owner)
    said = [(accepted(planned(each)), admissions(each)) for each in roles]
    default = replace(assumed_settings(), release=asked.release)
    by_default = (accepted(planned(asked.superuser, default)), admissions(asked.superuser, default))

    done = (taken(asked.superuser), let_in(asked))

    assert said == [done, done]
    assert by_default != done or _is_shown_by_the_namespace(asked)


def _is_shown_by_the_namespace(asked: Asked) -> bool:
    """A namespace that leaves auto-update to the broker shows what that has (Pulsar 4.0.7)."""
    return "isAllowAutoUpdateSchemaEnabled" in asked.config


def test_nothing_is_said_before_it_is_asked_but_as_an_assumption(asked: Asked) -> None:
    with closing(opened(asked.secured, OWNER)) as owner:
        before = owner.broker
    key = next(iter(asked.config))
    (name,) = (each for each in before.sources if camel_case(each) == key)
    assert before.source(name) is SettingSource.ASSUMED
    assert "the role may not read it" in "".join(broker_lines(before))
