"""Which files have a canonical form, and what it is for each."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Finding, Location
from gitops.model.rules import make_finding
from gitops.repository.definitions.json_mistakes import json_mistake
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.documents.base import Document
from gitops.repository.documents.config import ConfigDocument
from gitops.repository.documents.manifests import (
    ClientDocument,
    NamespaceDocument,
    TenantDocument,
    TopicDocument,
    WaiverDocument,
)
from gitops.repository.documents.parser import Manifest
from gitops.repository.formatting.avro import format_avro
from gitops.repository.formatting.yaml_text import format_yaml, is_same_yaml
from gitops.repository.loading.layout import CONFIG, Layout
from gitops.repository.suggestions import one_line
from gitops.repository.yaml.parser import parse_yaml
from gitops.schemas.avro.json_text import JsonTextError

_BOM: Final = "\ufeff"


class LeftAloneError(ValueError):
    """The file cannot be laid out; `findings` say why."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(*(str(finding.message) for finding in findings))
        self.findings = findings


def manifests(layout: Layout) -> dict[str, type[Document]]:
    """The manifests of a repository, and the document that each is."""
    models: tuple[tuple[list[str], type[Document]], ...] = (
        ([CONFIG], ConfigDocument),
        (layout.tenants, TenantDocument),
        (layout.namespaces, NamespaceDocument),
        (layout.topics, TopicDocument),
        (layout.clients, ClientDocument),
        (layout.waivers, WaiverDocument),
    )
    return {path: model for paths, model in models for path in paths}


def format_manifest(file: str, data: bytes, model: type[Document]) -> bytes:
    """A manifest laid out; raises LeftAloneError for what is no YAML as manifests use it."""
    parsed = parse_yaml(data)
    if parsed.problems:
        manifest = Manifest(file, data, model)
        raise LeftAloneError(*manifest.findings[: len(parsed.problems)])
    if parsed.empty:
        return data
    text = format_yaml(parsed.text, model)
    if text != parsed.text and not is_same_yaml(parsed.text, text):
        raise AssertionError(f"{file} would change its meaning")
    return text.encode()


def format_definition(file: str, data: bytes, *, ordered: bool = True) -> bytes:
    """An Avro definition laid out; raises LeftAloneError for what is no JSON as Avro reads it."""
    try:
        text = data.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte 0x{data[error.start]:02X} at {error.start}"
        raise LeftAloneError(
            make_finding(
                "REPO-R018", message, location=Location(file=file), hint="save the file as UTF-8"
            )
        ) from error
    try:
        return format_avro(text, ordered=ordered).encode()
    except JsonTextError as error:
        mistake = json_mistake(text, str(error), error.offset)
        place = JsonPositions(file, text).at_offset(mistake.offset)
        raise LeftAloneError(
            make_finding(
                "AVRO-P001",
                one_line(f"not JSON: {mistake.message}"),
                location=place,
                hint=one_line(mistake.hint),
            )
        ) from error
    except RecursionError as error:
        place = Location(file=file)
        message = "nested too deep to be read"
        raise LeftAloneError(make_finding("AVRO-P001", message, location=place)) from error
