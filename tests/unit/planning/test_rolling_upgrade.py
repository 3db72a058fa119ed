"""A cluster with brokers of several releases: where they answer otherwise to a schema."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.findings import Finding
from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.planning.plan import make_plan
from gitops.planning.rolling_upgrade import release_doubts
from tests.support.states import CREATED, avro, field, info, question, state, topic_state

DASHED = avro(field("a", "int"), namespace="com.my-co")
DOLLAR = avro(field("a$b", "int"))
PLAIN = avro(field("a", "int"))
OLD_JSON = info({"type": "object"}, SchemaType.JSON)


def warnings(schema: SchemaInfo, broker: BrokerSettings, *stored: SchemaInfo) -> list[Finding]:
    """What a plan for the schema says of other releases."""
    asked = question(state(topic_state(CREATED, schema)), state(topic_state(CREATED, *stored)))
    found = make_plan(replace(asked, broker=broker)).findings
    return [one for one in found if one.rule == "PLAN-R012"]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (DASHED, "of 4.2.4, and such a broker refuses this schema, which one of 4.0.7 accepts: "),
        (DOLLAR, "of 4.2.4, and such a broker accepts this schema, which one of 4.0.7 refuses"),
        (OLD_JSON, "such a broker refuses this schema"),
    ],
)
def test_a_release_that_answers_otherwise_is_a_warning(schema: SchemaInfo, said: str) -> None:
    broker = BrokerSettings(release="4.0.7", other_releases=("4.0.8", "4.2.4"))

    [found] = warnings(schema, broker)

    assert said in found.message
    assert found.subject == str(CREATED)


def test_brokers_that_agree_need_no_warning() -> None:
    broker = BrokerSettings(release="4.0.7", other_releases=("4.2.4", "6.1.0"))

    assert not warnings(PLAIN, broker)
    assert not warnings(DASHED, broker, DASHED)  # which changes nothing
    assert not warnings(DASHED, BrokerSettings(release="4.0.7", other_releases=("6.1.0",)))


def test_the_switch_of_the_cluster_counts_for_each_release() -> None:
    broker = BrokerSettings(
        release="4.0.7",
        other_releases=("4.2.4",),
        schema_json_allow_legacy_jackson_format=True,
    )

    assert not warnings(OLD_JSON, broker)


@pytest.mark.parametrize(
    ("releases", "said"),
    [
        (["4.0.7"], []),
        (["4.0.7", "4.2.4"], ["different releases, 4.0.7, 4.2.4"]),
        (["4.0.7", "6.1.0"], ["different releases, 4.0.7, 6.1.0", "no profile of Pulsar 6.1.0"]),
    ],
)
def test_a_cluster_of_several_releases_is_in_doubt(releases: list[str], said: list[str]) -> None:
    found = [one.message for one in release_doubts(releases)]

    assert [part in message for part, message in zip(said, found, strict=True)] == [True] * len(
        said
    )
