"""Definitions of AVRO, JSON and PROTOBUF: made whole, and checked as the broker would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitops.compatibility.avro.depth import deep_enough
from gitops.compatibility.avro.errors import AvroParseError, AvroProblem
from gitops.compatibility.avro.json_text import JsonTextError
from gitops.compatibility.avro.parser import parse
from gitops.compatibility.avro.schema import Union
from gitops.model.findings import Finding, Location
from gitops.model.rules import finding
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.definitions.shared_types import Expansion, SharedTypes
from gitops.repository.definitions.text import DefinitionText
from gitops.repository.sources import Sources
from gitops.repository.wording import one_line

_TOO_DEEP: Final = AvroProblem(kind="too-deep", message="nested too deep to be read")


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroText:
    """A whole definition.

    `findings` are about its content; `obstacles` are why it could not be made whole.
    """

    text: str
    files: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    obstacles: tuple[Finding, ...] = ()


class AvroDefinitions:
    """Reads definitions of one repository."""

    def __init__(self, sources: Sources, shared: SharedTypes) -> None:
        self._sources = sources
        self._shared = shared

    def read(
        self, given: DefinitionText, subject: str, *, top_union: bool, defaults: bool = True
    ) -> AvroText:
        """Check a definition and put in the shared types that it names.

        `top_union`: whether a union may stand at the top (not for AVRO, Pulsar 4.0.7).
        `defaults`: whether the broker will ever look at them (not in a half of a KEY_VALUE).
        """
        problems = _problems(given.text, top_union=top_union, defaults=defaults)
        whole = Expansion(text=given.text)
        if any(each.kind == "undefined-name" for each in problems):
            whole = self._expanded(given) or whole
            if whole.origins:
                problems = _problems(whole.text, top_union=top_union, defaults=defaults)
            else:
                whole.text = given.text
        return AvroText(
            text=whole.text,
            files=(*([given.file] if given.file else []), *whole.files),
            findings=()
            if whole.problems
            else tuple(self._finding(each, given, whole, subject) for each in problems),
            obstacles=tuple(
                finding(
                    each.rule,
                    one_line(each.message),
                    location=self._place(each.pointer, given, whole),
                    subject=subject,
                    hint=each.hint,
                )
                for each in whole.problems
            ),
        )

    def _expanded(self, given: DefinitionText) -> Expansion | None:
        try:
            return self._shared.expand(given.text, given.file)
        except (JsonTextError, RecursionError):
            return None

    def _finding(
        self, problem: AvroProblem, given: DefinitionText, whole: Expansion, subject: str
    ) -> Finding:
        hint = ""
        if problem.kind == "undefined-name":
            hint = self._shared.suggestion(problem.name)
        if problem.kind == "invalid-default":
            hint = "Pulsar takes it as a first schema and then fails on every later one"
        place = (
            given.places.at_offset(problem.offset)
            if problem.offset is not None
            else self._place(problem.pointer, given, whole)
        )
        return finding(
            "AVRO-P002" if problem.kind == "invalid-default" else "AVRO-P001",
            one_line(problem.message),
            location=place,
            subject=subject,
            hint=one_line(hint),
        )

    def _place(self, pointer: str, given: DefinitionText, whole: Expansion) -> Location:
        file, there = whole.origin(pointer)
        if file is None:
            return given.places.at_pointer(there)
        text = self._sources.data(file).decode()
        return JsonPositions(file, text).at_pointer(there)


def _problems(text: str, *, top_union: bool, defaults: bool) -> tuple[AvroProblem, ...]:
    try:
        with deep_enough(text):
            schema = parse(text, validate_defaults=defaults)
    except AvroParseError as error:
        return error.problems
    except RecursionError:
        return (_TOO_DEEP,)
    if isinstance(schema, Union) and not top_union:
        return (AvroProblem(kind="top-union", message="an AVRO schema may not be a union"),)
    return ()
