"""A message as text for a person."""

from __future__ import annotations

from decimal import Decimal

from gitops.replay.failure_display import as_text


def test_a_value_is_told_in_a_bounded_text() -> None:
    assert as_text({"a": b"\x01\xff", "b": float("inf"), "c": "ä"}) == (
        '{"a": "01ff", "b": Infinity, "c": "ä"}'
    )
    assert len(as_text("x" * 10_000)) == 2001


def test_a_fraction_is_a_number_if_it_can_be_one() -> None:
    assert as_text([Decimal("1.5"), Decimal("0." + "1" * 30)]) == f'[1.5, "0.{"1" * 30}"]'


def test_half_a_character_can_be_shown() -> None:
    assert as_text("a\ud800b").encode() == b'"a\\ud800b"'
