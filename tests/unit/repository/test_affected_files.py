"""The files that a change needs and reaches, and no others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pytest

from gitops.repository.affected_files import AffectedFiles, ChangedFile, affected_files
from tests.support.trees import MemoryTree

FOLDER = "namespaces/shop/orders"
MANIFEST = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"


def record(name: str, *types: object) -> str:
    fields = [{"name": f"f{number}", "type": each} for number, each in enumerate(types)]
    return json.dumps({"type": "record", "name": name, "namespace": "shop", "fields": fields})


def manifest(definition: str, more: str = "") -> str:
    return f"{MANIFEST}{more}schema: {{type: AVRO, definition: {definition}}}\n"


FILES: Mapping[str, str] = {
    "gitops.yaml": "",
    f"{FOLDER}/namespace.yaml": "namespace: shop/orders",
    f"{FOLDER}/created.yaml": manifest("created.avsc"),
    f"{FOLDER}/created.avsc": record("Created", "shop.Line"),
    f"{FOLDER}/sent.yaml": manifest("sent.avsc"),
    f"{FOLDER}/sent.avsc": record("Sent", "string"),
    f"{FOLDER}/named.yaml": manifest("sent.avsc", "topic: other\n"),
    f"{FOLDER}/inline.yaml": manifest("{type: array, items: shop.Money}"),
    "types/line.avsc": record("Line", "shop.Money"),
    "types/money.avsc": record("Money", "long"),
    "types/unused.avsc": record("Unused", "long"),
    "clients/billing.yaml": "name: billing\nconsumes: [{topic: shop/orders/created}]",
    "clients/audit.yaml": "name: audit\nconsumes: [{topic: shop/orders/sent}]",
    "waivers/old.yaml": "topic: shop/orders/sent",
    "snapshots/local/shop/orders/created.json": "{}",
    "README.md": "created.avsc",
}
ALWAYS = {"gitops.yaml", "waivers/old.yaml"}


def reached(
    new: Mapping[str, str | None], base: Mapping[str, str] = FILES, folders: Iterable[str] = ()
) -> AffectedFiles:
    """What a change of these files reaches; None removes one."""
    head = {path: data for path, data in {**base, **new}.items() if data is not None}
    changes = [
        ChangedFile(before=path if path in base else None, after=path if path in head else None)
        for path in new
    ]
    unchanged = {path: data for path, data in base.items() if path not in new}

    def search(words: Iterable[str], endings: Iterable[str]) -> set[str]:
        found, ends = list(words), tuple(endings)
        return {p for p, d in unchanged.items() if p.endswith(ends) and any(w in d for w in found)}

    return affected_files((MemoryTree(base), MemoryTree(head)), changes, search, folders)


def others(found: AffectedFiles) -> set[str]:
    return set(found.files) - ALWAYS


def test_no_change_reads_the_settings_and_the_waivers() -> None:
    assert reached({}).files == ALWAYS


def test_a_definition_with_its_manifest_and_all_that_it_needs() -> None:
    path = f"{FOLDER}/created.avsc"
    found = reached({path: record("Created", "shop.Line", "int")})
    assert others(found) == {
        path,
        f"{FOLDER}/created.yaml",
        f"{FOLDER}/namespace.yaml",
        "types/line.avsc",
        "types/money.avsc",
        "clients/billing.yaml",
    }
    assert found.leads[f"{FOLDER}/created.yaml"] == {path}
    assert "types/line.avsc" not in found.leads


def test_a_shared_type_leads_through_others_to_every_topic() -> None:
    found = reached({"types/money.avsc": record("Money", "int")})
    for path in ("types/line.avsc", f"{FOLDER}/created.yaml", f"{FOLDER}/inline.yaml"):
        assert found.leads[path] == {"types/money.avsc"}
    assert f"{FOLDER}/sent.yaml" not in found.files
    assert "types/unused.avsc" not in found.files


def test_a_type_that_did_not_change_leads_nowhere() -> None:
    base = {**FILES, "types/money.avsc": record("Money", json.loads(record("Inner", "int")))}
    base[f"{FOLDER}/sent.avsc"] = record("Sent", "shop.Inner")
    changed = record("Money", json.loads(record("Inner", "int")), "long")
    found = reached({"types/money.avsc": changed}, base)
    assert f"{FOLDER}/sent.avsc" not in found.files


def test_a_type_that_is_gone_or_new_leads_to_those_who_name_it() -> None:
    for base, new in (
        (FILES, None),
        ({**FILES, "types/money.avsc": "{}"}, FILES["types/money.avsc"]),
    ):
        found = reached({"types/money.avsc": new}, base)
        assert f"{FOLDER}/created.yaml" in found.leads


def test_a_second_definition_of_a_type_is_compared_with_the_first() -> None:
    found = reached({"types/again.avsc": record("Money", "string")})
    assert "types/money.avsc" in found.files
    assert f"{FOLDER}/created.yaml" in found.leads


def test_one_definition_of_two_topics_leads_to_both() -> None:
    found = reached({f"{FOLDER}/sent.avsc": record("Sent", "int")})
    assert {f"{FOLDER}/sent.yaml", f"{FOLDER}/named.yaml"} <= found.leads.keys()


def test_a_new_manifest_meets_those_that_may_declare_the_same_topic() -> None:
    found = reached({f"{FOLDER}/x.yaml": manifest("created.avsc", "topic: sent\n")})
    assert f"{FOLDER}/sent.yaml" in found.files
    found = reached({f"{FOLDER}/other.yaml": manifest("created.avsc")})
    assert f"{FOLDER}/named.yaml" in found.files


def test_a_removed_manifest_is_read_with_the_definition_that_it_leaves() -> None:
    found = reached({f"{FOLDER}/sent.yaml": None})
    assert f"{FOLDER}/sent.avsc" in found.files
    assert "clients/audit.yaml" in found.leads


def test_a_namespace_leads_to_all_its_manifests() -> None:
    manifests = {path for path in FILES if path.startswith(FOLDER) and path.endswith(".yaml")}
    found = reached({f"{FOLDER}/namespace.yaml": "namespace: shop/orders # !"})
    assert manifests <= found.files
    assert set(found.leads) == {f"{FOLDER}/namespace.yaml"}
    assert manifests <= reached({"gitops.yaml": "#"}, folders=[FOLDER]).files


def test_a_file_that_is_not_there_brings_those_that_may_be_meant() -> None:
    found = reached({f"{FOLDER}/sent.yaml": manifest("snet.avsc")})
    assert f"{FOLDER}/created.avsc" in found.files


def test_a_waiver_leads_to_its_topic() -> None:
    found = reached({"waivers/new.yaml": "topic: shop/orders/created"})
    assert found.leads[f"{FOLDER}/created.yaml"] == {"waivers/new.yaml"}
    found = reached({"waivers/new.yaml": "topic: shop/orders/other"})
    assert f"{FOLDER}/named.yaml" in found.leads


def test_a_client_is_read_with_its_topics_and_with_its_namesakes() -> None:
    base = {**FILES, "clients/second.yaml": "name: fresh"}
    found = reached({"clients/x.yaml": "name: fresh\nproduces: [{topic: shop/orders/sent}]"}, base)
    assert {f"{FOLDER}/sent.yaml", "clients/second.yaml"} <= found.files
    assert f"{FOLDER}/sent.yaml" not in found.leads


def test_a_definition_of_a_client_leads_to_it() -> None:
    base = {**FILES, "clients/c.yaml": "name: c\nconsumes: [{schema: {definition: own.avsc}}]"}
    base["clients/own.avsc"] = record("Own", "int")
    assert "clients/c.yaml" in reached({"clients/own.avsc": record("Own", "long")}, base).leads


def test_an_imported_proto_leads_to_its_importers() -> None:
    protos = {
        f"{FOLDER}/p.yaml": manifest("p.proto"),
        f"{FOLDER}/p.proto": 'import "types/q.proto";',
        "types/q.proto": 'import "r.proto";',
        "types/r.proto": "",
        "types/s.proto": "",
    }
    base = {**FILES, **protos}
    found = reached({"types/r.proto": "// r"}, base)
    assert found.leads[f"{FOLDER}/p.yaml"] == {"types/r.proto"}
    assert "types/s.proto" not in found.files
    found = reached({f"{FOLDER}/p.yaml": manifest("p.proto", "# x\n")}, base)
    assert {"types/q.proto", "types/r.proto"} <= found.files


def test_an_escape_hides_nobody() -> None:
    hidden = {**FILES, f"{FOLDER}/hidden.yaml": manifest('"cr\\x65ated.avsc"')}
    hidden["types/hidden.avsc"] = record("Hidden", "shop.Line").replace("Line", "L\\u0069ne")
    found = reached({f"{FOLDER}/created.avsc": record("Created", "int")}, hidden)
    assert f"{FOLDER}/hidden.yaml" in found.leads
    found = reached({"types/line.avsc": record("Line", "int")}, hidden)
    assert "types/hidden.avsc" in found.leads


@pytest.mark.parametrize(
    ("file", "written"),
    [
        ("it's.avsc", "'it''s.avsc'"),
        ("it's.avsc", '"it\'s.avsc"'),
        ("my order.avsc", "my\n    order.avsc"),
        ("my order.avsc", ">-\n    my\n    order.avsc"),
        ("my order.avsc", "'my\n    order.avsc'"),
        ("my own order's.avsc", "'my own\n    order''s.avsc'"),
        ("my\\order.avsc", "my\\order.avsc"),
        ("my order.avsc", '"my\\x20\\\n    order.avsc"'),
        ("created.json", "created.json"),
        ("created", "created"),
    ],
)
def test_a_file_is_found_however_yaml_writes_its_name(file: str, written: str) -> None:
    manifest = f"{MANIFEST}schema:\n  type: AVRO\n  definition: {written}\n"
    base = {**FILES, f"{FOLDER}/odd.yaml": manifest, f"{FOLDER}/{file}": record("Odd")}
    found = reached({f"{FOLDER}/{file}": record("Odd", "int")}, base)
    assert found.leads[f"{FOLDER}/odd.yaml"] == {f"{FOLDER}/{file}"}


@pytest.mark.parametrize("written", ["'it''s'", "a\n  name", '"a\\x20name"', ">-\n  a\n  name"])
def test_a_topic_is_found_however_yaml_writes_its_name(written: str) -> None:
    name = "it's" if "it" in written else "a name"
    odd = manifest("sent.avsc", f"topic: {written}\n")
    base = {**FILES, f"{FOLDER}/odd.yaml": odd}
    found = reached({f"{FOLDER}/{name}.yaml": manifest("sent.avsc")}, base)
    assert f"{FOLDER}/odd.yaml" in found.leads


def test_a_definition_by_another_ending_needs_its_types_and_is_reached_by_them() -> None:
    base = {
        **FILES,
        f"{FOLDER}/created.yaml": manifest("created.json"),
        f"{FOLDER}/created.json": record("Created", "shop.Line"),
    }
    needing = reached({f"{FOLDER}/created.json": record("Created", "shop.Line", "int")}, base)
    assert {"types/line.avsc", "types/money.avsc"} <= needing.files
    money = "types/money.avsc"
    assert reached({money: record("Money", "int")}, base).leads[f"{FOLDER}/created.yaml"] == {money}


def test_samples_and_snapshots_lead_nowhere() -> None:
    path = "snapshots/local/shop/orders/created.json"
    assert others(reached({path: "{}\n", "samples/created.avsc": "x"})) == {
        path,
        "samples/created.avsc",
        f"{FOLDER}/namespace.yaml",
    }
    recorded = {**FILES, path: '{"topic": "shop/orders/other"}'}
    found = reached({path: '{"topic": "shop/orders/sent"}'}, recorded)
    assert {f"{FOLDER}/named.yaml", f"{FOLDER}/sent.yaml"} <= found.files, "what it is judged by"
    assert set(found.leads) == {path}


def test_names_that_are_common_words_are_no_reason_to_read_a_file() -> None:
    base = {**FILES, **{f"{FOLDER}/order-{n}.yaml": manifest(f"order-{n}.avsc") for n in range(9)}}
    base |= {f"{FOLDER}/order.yaml": manifest("order.avsc"), f"{FOLDER}/order.avsc": '"int"'}
    found = reached({f"{FOLDER}/order.avsc": '"long"'}, base)
    assert not [path for path in found.files if "order-" in path]
