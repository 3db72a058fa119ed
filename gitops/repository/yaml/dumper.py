"""Plain values as YAML that reads back as exactly the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from gitops.repository.yaml.scalars import plain_value

_WIDE: Final = 1 << 30
_CALM: Final = re.compile(
    r"[\x21-\x7e\xa1-\ud7ff](?:[\x20-\x7e\xa1-\ud7ff]*[\x21-\x7e\xa1-\ud7ff])?"
)
_BASE: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]  # chosen while the program runs
    """Quotes what YAML 1.2 would not read as text, and everything unusual."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


def _represent_text(dumper: Any, text: str) -> yaml.ScalarNode:  # noqa: ANN401 - untyped base
    calm = _CALM.fullmatch(text) and isinstance(plain_value(text), str)
    node: yaml.ScalarNode = dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=None if calm else '"'
    )
    return node


_Dumper.add_representer(str, _represent_text)


def yaml_text(value: Mapping[str, object]) -> str:
    """A block mapping, its keys in the order given."""
    text: str = yaml.dump(
        dict(value),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=_WIDE,
    )
    return text
