"""Hints about one field, as text that can be pasted."""

from __future__ import annotations

import json

from gitops.schemas.avro.schema import Field, Primitive, Record


def null_hint(field: Field, owner: Record | None = None) -> str:
    """How to let a field be null, as a whole field where its type is one name.

    `owner`: the record around it, which the field may be of by its name.
    """
    kind, name = field.type, ""
    if isinstance(kind, Primitive) and not kind.props:
        name = kind.kind
    elif isinstance(kind, Record) and kind is owner:
        name = kind.name
    if name in ("", "null"):
        return 'let it be null: a union with "null" first, "default": null'
    whole = {"name": field.name, "type": ["null", name], "default": None}
    return f"let it be null: {json.dumps(whole, ensure_ascii=False)}"
