"""What is known of a broker is one line, and what decides and is only assumed is in it."""

from __future__ import annotations

import pytest

from gitops.model.broker_settings import assumed_settings
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.reports.broker_wording import broker_lines

_SWITCH = "legacy JSON format off (assumed)"


@pytest.mark.parametrize(
    ("release", "is_named"), [("3.0.7", False), ("4.0.7", False), ("4.2.4", True), ("5.0.0", True)]
)
def test_the_old_form_of_json_is_named_where_it_decides_and_is_assumed(
    release: str, *, is_named: bool
) -> None:
    """A definition that 4.2 refuses is accepted with the switch, which nobody could read."""
    assumed = assumed_settings({"release": SettingSource.LEARNED})
    known = BrokerSettings(release=release, sources=assumed.sources)

    assert (_SWITCH in broker_lines(known)[0]) is is_named


def test_a_switch_that_was_read_and_is_pulsars_default_is_not_named() -> None:
    names = ("release", "schema_json_allow_legacy_jackson_format")
    known = BrokerSettings(release="4.2.4", sources=dict.fromkeys(names, SettingSource.LEARNED))

    assert "JSON" not in broker_lines(known)[0]
