"""Which line a release belongs to, and what there is no profile of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.broker.lines.table import LINES, UnknownBrokerError, find_line, line_of
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.schemas.json.compatibility import JacksonForm


@pytest.mark.parametrize(
    ("release", "name"),
    [
        ("3.0", "3.0"),
        ("3.0.7", "3.0"),
        ("3.3.6", "3.3"),
        ("3.3.2", "3.3.2"),
        ("3.3.0", "3.3.0"),
        ("4.0", "4.0"),
        ("4.0.5", "4.0"),
        ("4.0.4", "4.0.4"),
        ("4.0.0", "4.0.0"),
        ("4.2.4", "4.2"),
        ("5.0.0-M1", "5.0.0-M1"),
        ("5.0.0-M2-SNAPSHOT", "5.0.0-M2-SNAPSHOT"),
        ("5.0.0", "5.0"),
        ("4.1.3", "4.1"),
        ("3.0.11", "3.0"),
        ("3.0.12", "3.0.12"),
        ("3.3.8", "3.3.8"),
        ("4.0.8", "4.0"),
        ("4.0.9", "4.0.9"),
        ("4.0.14", "4.0.14"),
        ("5.0.1-SNAPSHOT", "5.0"),
        ("4.0.7.3", "4.0"),
        ("4.0.4.1", "4.0.4"),
        ("3.0.7-luna", "3.0"),
        ("3.0_7.1", "3.0"),
        ("4.2.4+build5", "4.2"),
    ],
)
def test_a_release_is_of_a_line(release: str, name: str) -> None:
    line = find_line(release)

    assert line is not None
    assert line.name == name


@pytest.mark.parametrize(
    ("release", "nearest"),
    [
        ("4.3.0", "4.2"),
        ("4.9", "4.2"),
        ("6.0", "5.0"),
        ("2.11.4", "3.0"),
        ("4", "4.0"),
        ("5", "5.0"),
        ("4.2.4-legacy", "4.2"),
        ("4.2.4 legacy", "4.2"),
        ("9" * 5000 + ".0", "5.0"),
    ],
)
def test_a_release_without_a_profile_is_an_error_that_offers_the_nearest(
    release: str, nearest: str
) -> None:
    with pytest.raises(UnknownBrokerError) as raised:
        line_of(BrokerSettings(release=release))

    assert release in raised.value.what
    assert raised.value.hint.endswith(f"--as-if-broker {nearest}")


@pytest.mark.parametrize("release", ["", " ", "x", "v4.2"])
def test_what_is_no_number_of_a_release_is_near_to_none_and_all_lines_are_listed(
    release: str,
) -> None:
    with pytest.raises(UnknownBrokerError) as raised:
        line_of(BrokerSettings(release=release), "--broker")

    assert raised.value.what == f"'{release}' is not a release of Pulsar"
    assert raised.value.hint == f"name a line with --broker: {', '.join(LINES)}"


@pytest.mark.parametrize(
    "release", ["4.2", "4.2.4.1", "5.0.0-M1", "4.2.0-rc.1", "4.2.0-candidate-2", "5.0.1-SNAPSHOT"]
)
def test_a_person_names_releases_as_pulsar_does(release: str) -> None:
    assert line_of(BrokerSettings(release=release)) is find_line(release)


@pytest.mark.parametrize("release", ["3.0.7-luna", "4.2.4+build5"])
@pytest.mark.parametrize("source", [SettingSource.LEARNED, SettingSource.RECORDED])
def test_what_a_vendor_adds_counts_for_nothing_where_a_broker_has_told_it(
    release: str, source: SettingSource
) -> None:
    told = BrokerSettings(release=release, sources={"release": source})

    assert line_of(told) is find_line(release)
    with pytest.raises(UnknownBrokerError):
        line_of(BrokerSettings(release=release))


def test_a_late_patch_decides_by_what_came_with_it() -> None:
    old, new, newest = (find_line(f"4.0.{patch}") for patch in (8, 9, 13))

    assert old is not None
    assert new is not None
    assert newest is not None
    assert (old.rules.deepest_pair, new.rules.deepest_pair) == (None, 255)
    assert [line.has_message_in_status_line for line in (old, new, newest)] == [True, True, False]
    assert [
        line.rules.takes_top_union
        for release in ("3.0.7", "3.0.12", "3.3.6", "3.3.7")
        if (line := find_line(release))
    ] == [True, False, True, False]


def test_an_early_release_of_a_line_is_called_as_it_was_named() -> None:
    releases = ("3.3.1", "3.3.3", "4.0.0", "4.0.4", "4.0.5")
    names = [line_of(BrokerSettings(release=each)).name for each in releases]

    assert names == ["3.3.1", "3.3", "4.0.0", "4.0.4", "4.0"]


def test_the_flag_for_old_json_counts_from_4_2_on() -> None:
    flag = BrokerSettings(schema_json_allow_legacy_jackson_format=True)

    old, new = line_of(replace(flag, release="4.0.7")), line_of(replace(flag, release="4.2"))

    assert old is LINES["4.0"]
    assert new.rules.jackson is JacksonForm.AFTER_ANY_FAILURE
    assert LINES["4.2"].rules.jackson is JacksonForm.NEVER


def test_lines_stand_in_their_order_and_are_named_by_their_key() -> None:
    numbers = [tuple(map(int, name.split("."))) for name in LINES]

    assert numbers == sorted(numbers)
    assert [line.name for line in LINES.values()] == list(LINES)
