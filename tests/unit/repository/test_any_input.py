"""No input makes a traceback: arbitrary bytes and arbitrary values in every kind of file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.repository.loader import load
from tests.support.examples import examples
from tests.support.trees import SETTINGS, MemoryTree, repository

_ORDERS = "namespaces/shop/orders"
_HEADER = "apiVersion: pulsar-gitops/v1\n"
_TOPIC = f"{_HEADER}kind: Topic\n"
_RECORD = '{"type": "record", "name": "A", "namespace": "shop", "fields": []}'

_PATHS = (
    "gitops.yaml",
    f"{_ORDERS}/namespace.yaml",
    f"{_ORDERS}/a.yaml",
    "clients/a.yaml",
    "waivers/a.yaml",
    f"{_ORDERS}/a.avsc",
)
_WORDS = st.sampled_from(
    [
        *("apiVersion: pulsar-gitops/v1\n", "kind: Topic\n", "kind: Config\n", "kind: Client\n"),
        *("schema: ", "registries: ", "consumes: ", "type: AVRO\n", "definition: a.avsc\n"),
        *("{", "}", "[", "]", "- ", ": ", "\n", "  ", "&a ", "*a ", "!!str ", "<<: ", "? ", "| "),
        *("---\n", "...\n", '"', "'", "\t", "#", "\ud7ff", "\u2028", "1e5", "~", "true", "%YAML"),
        *("topic: ", "namespace: ", "version: -1\n", "key: ", "value: ", "name: ", "token: x\n"),
    ]
)
_CONTENTS = st.binary(max_size=80) | st.lists(_WORDS, max_size=30).map(
    lambda words: "".join(words).encode("utf-8", "surrogatepass")
)


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(st.dictionaries(st.sampled_from(_PATHS), _CONTENTS, max_size=3))
def test_no_content_makes_a_traceback(files: dict[str, bytes]) -> None:
    good = {
        "gitops.yaml": SETTINGS,
        f"{_ORDERS}/a.yaml": f"{_TOPIC}schema: {{type: AVRO, definition: a.avsc}}\n".encode(),
        f"{_ORDERS}/a.avsc": _RECORD.encode(),
    }

    loaded = load(MemoryTree({**good, **files}))

    for finding in loaded.findings:
        assert finding.message
        assert finding.location is not None


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["AVRO", "KEY_VALUE", "a.avsc", "${X}", "http://a@b", "shop/orders/a", "1"])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("type", "definition", "key", "value", "properties", "encoding", "message"),
                    *("kind", "url", "authentication", "token", "basic", "oauth2", "namespaces"),
                    *("topic", "schema", "version", "local", "format", "path", "columns", "name"),
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
_KEYS = {
    "gitops.yaml": ("Config", ("registries", "defaultRegistry", "safety", "rules")),
    f"{_ORDERS}/namespace.yaml": ("Namespace", ("namespace", "isAllowAutoUpdateSchema")),
    f"{_ORDERS}/a.yaml": ("Topic", ("topic", "schema", "policies", "samples")),
    "clients/a.yaml": ("Client", ("name", "owner", "consumes", "produces")),
    "waivers/a.yaml": ("Waiver", ("topic", "fingerprint", "reason", "approvedBy", "expires")),
}


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(st.sampled_from(sorted(_KEYS)), st.data())
def test_no_value_makes_a_traceback(path: str, data: st.DataObject) -> None:
    kind, keys = _KEYS[path]
    body = data.draw(st.dictionaries(st.sampled_from(keys), _JSON))
    text = json.dumps({"apiVersion": "pulsar-gitops/v1", "kind": kind, **body})

    loaded = load(repository({path: text}))

    assert all(finding.location for finding in loaded.findings)
