"""An adoption changes as little as it can, and nothing of others, on each registry."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gitops.repository.json_validation import schema_problems
from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.git_repos import GitRepository
from tests.support.protos import native
from tests.support.states import field, record

needs_protoc = pytest.mark.skipif(
    importlib.util.find_spec("grpc_tools") is None, reason="the extra protobuf is not installed"
)


class _Repository:
    """A repository of one namespace on a registry, whose files are committed and applied."""

    def __init__(self, live: Live, folder: Path, command: Command) -> None:
        self.namespace = f"{live.tenant}/shop"
        self.folder = f"namespaces/{self.namespace}"
        self._git = GitRepository(empty_for(folder / "repo", live.registries))
        self._by_hand = folder / "by-hand"
        self._command = command

    def __call__(self, *args: str) -> tuple[int, str]:
        return self._command(*args, "--repo", str(self._git.root))

    def apply(self, files: Mapping[str, str]) -> None:
        """Commit files of the namespace, or of the root where they start with a slash."""
        head = (
            f"apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: {self.namespace}\n"
            "schemaCompatibilityStrategy: ALWAYS_COMPATIBLE\n"
        )
        self.write({"namespace.yaml": head, **files})
        assert self("fmt")[0] == 0
        self._git.commit({})
        assert self("apply", "--auto-approve")[0] == 0

    def write(self, files: Mapping[str, str]) -> None:
        places = {
            path[1:] if path.startswith("/") else f"{self.folder}/{path}": text
            for path, text in files.items()
        }
        self._git.write(places)

    def register(self, topic: str, definition: str, kind: str = "AVRO") -> None:
        """As somebody does past git."""
        name = f"{self.namespace}/{topic}"
        self._by_hand.write_text(definition, "utf-8")
        of_kind = ("--type", kind) if kind else ()
        what = (str(self._by_hand), *of_kind) if definition else (kind,)
        assert self("schemas", "upload", name, *what)[0] == 0

    def adopt(self, *topics: str) -> dict[str, Any]:
        """Adopt what the registry has of topics, and hold what it promises."""
        names = [f"{self.namespace}/{topic}" for topic in topics]
        code, text = self("drift", "--adopt", *names, "--format", "json")
        assert code == 0, text
        document = json.loads(text)
        assert schema_problems("drift", document) == []
        adoption: dict[str, Any] = document["adoption"]
        assert adoption["refused"] == []
        assert self("validate")[0] == 0
        assert self("fmt", "--check")[0] == 0
        planned = json.loads(self("plan", "--format", "json")[1])
        assert (planned["actions"], planned["notices"]) == ([], [])
        return adoption

    def refusals(self, *topics: str) -> dict[str, str]:
        """Why topics are not adopted, by topic, with the hint."""
        names = [f"{self.namespace}/{topic}" for topic in topics]
        code, text = self("drift", "--adopt", *names, "--format", "json")
        assert code == 3, text
        return {
            refusal["subject"]: f"{refusal['message']}; {refusal['hint']}"
            for refusal in json.loads(text)["adoption"]["refused"]
        }

    def read(self, path: str) -> str:
        return (self._git.root / self.folder / path).read_text("utf-8")

    def root_file(self, path: str) -> str:
        return (self._git.root / path).read_text("utf-8")


@pytest.fixture
def repo(live: Live, tmp_path: Path, command: Command) -> _Repository:
    """On each registry."""
    return _Repository(live, tmp_path, command)


_TOPIC = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
_WITH_CURRENCY = {
    "type": "record", "name": "Money", "namespace": "n",
    "fields": [{"name": "cents", "type": "long"},
               {"name": "currency", "type": "string", "default": "EUR"}],
}  # fmt: skip
_AMOUNT = {**_WITH_CURRENCY, "fields": _WITH_CURRENCY["fields"][:1]}
_LINE = {
    "type": "record", "name": "Line", "namespace": "n",
    "fields": [{"name": "price", "type": "n.Money"}],
}  # fmt: skip
_OPTIONAL = field("coupon", ["null", "string"], default=None)


def _order(money: object, *more: dict[str, Any]) -> str:
    line = (
        {**_LINE, "fields": [{"name": "price", "type": money}]} if money != "n.Money" else "n.Line"
    )
    return json.dumps(record(field("line", line), field("total", "n.Money"), *more))


_SHARED = {
    "order.yaml": _TOPIC + "schema: {type: AVRO, definition: order.avsc}\n",
    "order.avsc": _order("n.Money"),
    "/types/line.avsc": json.dumps(_LINE),
    "/types/money.avsc": json.dumps(_AMOUNT),
}


def test_shared_types_that_are_the_same_stay_references(repo: _Repository) -> None:
    repo.apply(_SHARED)
    repo.register("order", _order(_AMOUNT, _OPTIONAL))

    assert repo.adopt("order")["files"] == [f"{repo.folder}/order.avsc"]

    assert json.loads(repo.read("order.avsc")) == json.loads(_order("n.Money", _OPTIONAL))


def test_a_shared_type_that_nothing_else_uses_is_updated_in_its_file(repo: _Repository) -> None:
    repo.apply(_SHARED)
    repo.register("order", _order(_WITH_CURRENCY))

    adoption = repo.adopt("order")

    assert adoption["files"] == ["types/money.avsc"]
    assert json.loads(repo.root_file("types/money.avsc")) == _WITH_CURRENCY
    assert json.loads(repo.read("order.avsc")) == json.loads(_order("n.Money"))


def test_other_topics_with_the_type_have_to_be_named_too(repo: _Repository) -> None:
    other = {"invoice.yaml": _TOPIC + "schema: {type: AVRO, definition: invoice.avsc}\n",
             "invoice.avsc": json.dumps(record(field("sum", "n.Money")))}  # fmt: skip
    repo.apply({**_SHARED, **other})
    repo.register("order", _order(_WITH_CURRENCY))
    before = repo.root_file("types/money.avsc")
    both = [f"{repo.namespace}/{name}" for name in ("order", "invoice")]

    (reason,) = repo.refusals("order").values()
    assert reason.startswith(f"an update of {both[0]} would change {both[1]}")
    assert "name them as well; else change what they share by hand" in reason
    assert repo.root_file("types/money.avsc") == before

    repo.register("invoice", json.dumps(record(field("sum", _WITH_CURRENCY))))
    assert repo.adopt("order", "invoice")["files"][-1] == "types/money.avsc"


def test_comments_stay_where_their_keys_stay(repo: _Repository) -> None:
    schema = """\
# about the topic
schema:
  # why AVRO
  type: AVRO # as agreed
  # where it is
  definition: order.avsc
  # whose it is
  properties:
    # by name
    owner: team # of us
    # going away
    old: "1"
samples: [] # none yet
# the end
"""
    repo.apply({"order.yaml": _TOPIC + schema, "order.avsc": json.dumps(record(field("id")))})
    repo.register("order", json.dumps(record(field("id"), _OPTIONAL)), "JSON")

    repo.adopt("order")

    kept = schema.replace("AVRO # as", "JSON # as")
    kept = kept[: kept.index("  # whose")] + kept[kept.index("samples") :]
    assert repo.read("order.yaml") == _TOPIC + kept


_PROTO = 'syntax = "proto3"; package shop; import "line.proto"; message Order { Line line = 1; }'
_PROTO_LINE = 'syntax = "proto3"; package shop; message Line { string sku = 1; }'
_NATIVE = {
    "order.yaml": _TOPIC
    + "schema:\n  type: PROTOBUF_NATIVE\n  definition: order.proto # ours\n  message: shop.Order\n",
    "order.proto": _PROTO,
    "line.proto": _PROTO_LINE,
}


@needs_protoc
def test_protobuf_native_is_taken_over_as_proto_files(repo: _Repository) -> None:
    repo.apply(_NATIVE)
    with_size = _PROTO_LINE.replace("}", "int32 size = 2; }")
    files = {"order.proto": _PROTO, "line.proto": with_size}
    repo.register("order", native(files, "order.proto", "shop.Order").schema, "PROTOBUF_NATIVE")

    adoption = repo.adopt("order")

    assert (adoption["removed"], adoption["keptAsBase64"]) == ([], [])
    assert "  int32 size = 2;\n" in repo.read("line.proto")
    assert "definition: order.proto # ours\n" in repo.read("order.yaml")


def test_without_protoc_its_files_are_left_alone(
    repo: _Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.apply({"order.yaml": _TOPIC + "schema: {type: STRING}\n"})
    repo.write({name: text for name, text in _NATIVE.items() if name != "line.proto"})
    monkeypatch.setitem(sys.modules, "grpc_tools", None)

    code, text = repo("drift", "--adopt", f"{repo.namespace}/order")

    assert (code, "REPO-R020" in text) == (1, True)
    assert repo.read("order.yaml") == _NATIVE["order.yaml"]


def test_halves_of_a_key_value_keep_their_references(repo: _Repository) -> None:
    manifest = _TOPIC + (
        "schema:\n  type: KEY_VALUE\n  encoding: INLINE\n  key:\n    type: STRING # the id\n"
        "  value:\n    type: AVRO\n    definition: order.value.avsc\n"
    )
    total = field("total", "n.Money")
    repo.apply(
        {
            "order.yaml": manifest,
            "order.value.avsc": json.dumps(record(total)),
            "/types/money.avsc": json.dumps(_AMOUNT),
        }
    )
    name = f"{repo.namespace}/order"
    held = json.loads(repo("schemas", "get", name, "--format", "json")[1])
    longer = json.loads(held["schema"])
    longer["value"]["fields"].append(_OPTIONAL)
    payload = {
        "type": "KEY_VALUE",
        "schema": json.dumps(longer, separators=(",", ":")),
        "properties": held["properties"],
    }
    repo.register("order", json.dumps(payload), "")

    assert repo.adopt("order")["files"] == [f"{repo.folder}/order.value.avsc"]

    assert json.loads(repo.read("order.value.avsc")) == record(total, _OPTIONAL)
    assert repo.read("order.yaml") == manifest


@needs_protoc
def test_definitions_of_another_type_are_removed(repo: _Repository) -> None:
    repo.apply(
        {
            **_NATIVE,
            "line.yaml": _NATIVE["order.yaml"].replace("order", "line").replace("Order", "Line"),
        }
    )
    repo.register("order", "", "STRING")

    adoption = repo.adopt("order")

    assert adoption["removed"] == [f"{repo.folder}/order.proto"]
    assert repo.read("line.proto") == _PROTO_LINE
    with pytest.raises(FileNotFoundError):
        repo.read("order.proto")


def test_a_client_of_the_file_keeps_its_schema(repo: _Repository) -> None:
    client = (
        "apiVersion: pulsar-gitops/v1\nkind: Client\nname: billing\nowner: a\nconsumes:\n"
        f"  - topic: {repo.namespace}/order\n    subscription: s\n"
        f"    schema: {{definition: ../{repo.folder}/order.avsc}}\n"
    )
    text = json.dumps(record(field("id")), indent=2)
    manifest = _TOPIC + "schema: {type: AVRO, definition: order.avsc}\n"
    repo.apply({"order.yaml": manifest, "order.avsc": text, "/clients/billing.yaml": client})
    before = repo.read("order.avsc")
    repo.register("order", json.dumps(record(field("id"), _OPTIONAL)))

    files = repo.adopt("order")["files"]

    assert (len(files), f"{repo.folder}/order.yaml" in files) == (2, True)
    assert repo.read("order.avsc") == before


def test_a_type_that_nothing_uses_any_more_is_kept_and_named(
    repo: _Repository, tmp_path: Path
) -> None:
    repo.apply(_SHARED)
    repo.register("order", "", "STRING")
    said = tmp_path / "said"

    assert repo("drift", "--adopt", f"{repo.namespace}/order", "--output", str(said))[0] == 0

    assert said.read_text("utf-8").splitlines()[-5:] == [
        f"wrote {repo.folder}/order.yaml",
        f"removed {repo.folder}/order.avsc",
        "kept types/line.avsc, which nothing uses any more",
        "kept types/money.avsc, which nothing uses any more",
        "read the changes (git diff), and commit them",
    ]


def test_what_says_the_same_stays_as_it_is(repo: _Repository) -> None:
    own = "// of the team\n" + json.dumps(record(field("m", "n.Money")))
    manifest = _TOPIC + "schema:\n  type: AVRO\n  definition: mine.avsc\n"
    money = {"/types/money.avsc": json.dumps(_AMOUNT)}
    repo.apply({"order.yaml": manifest, "mine.avsc": own, **money})
    before = repo.read("mine.avsc")
    repo.register("order", json.dumps(record(field("m", _WITH_CURRENCY))))
    assert repo.adopt("order")["files"] == ["types/money.avsc"]
    assert repo.read("mine.avsc") == before

    repo.register("order", json.dumps(record(field("m", _WITH_CURRENCY))), "JSON")
    assert repo.adopt("order")["files"] == [f"{repo.folder}/order.yaml"]
    assert repo.read("order.yaml") == manifest.replace("AVRO", "JSON")
    assert repo.read("mine.avsc") == before


def test_a_repository_with_errors_is_left_alone(repo: _Repository) -> None:
    manifest = _TOPIC + "schema: {type: AVRO, definition: order.avsc}\n"
    repo.apply({"order.yaml": manifest, "order.avsc": json.dumps(record(field("id")))})
    repo.register("order", json.dumps(record(field("id"), _OPTIONAL)))
    before = repo.read("order.avsc")
    repo.write({"other.yaml": _TOPIC + "scheme: {}\n"})

    code, text = repo("drift", "--adopt", f"{repo.namespace}/order")

    assert (code, "unknown key 'scheme'" in text) == (1, True)
    assert repo.read("order.avsc") == before


def test_what_is_not_committed_is_not_overwritten(repo: _Repository) -> None:
    manifest = _TOPIC + "schema: {type: AVRO, definition: order.avsc}\n"
    repo.apply({"order.yaml": manifest, "order.avsc": json.dumps(record(field("id")))})
    repo.register("order", json.dumps(record(field("id"), _OPTIONAL)))
    mine = json.dumps(record(field("id", doc="mine")))
    repo.write({"order.avsc": mine})

    (reason,) = repo.refusals("order").values()

    assert "changes that are not committed" in reason
    assert repo.read("order.avsc") == mine
