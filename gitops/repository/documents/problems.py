"""How a validator of ours says what is wrong."""

from __future__ import annotations

from typing import Final

from pydantic_core import PydanticCustomError

OWN_ERROR: Final = "gitops"


def problem(rule: str, message: str, hint: str = "") -> PydanticCustomError:
    """An error that becomes a finding of `rule`; `{name}` in the message is the value's key."""
    context = {"rule": rule, "text": message, "hint": hint}
    return PydanticCustomError(OWN_ERROR, "{text}", context)
