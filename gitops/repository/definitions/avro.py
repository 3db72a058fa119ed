"""Definitions of AVRO, JSON and PROTOBUF: made whole, and checked as the broker would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import LINES
from gitops.model.decision import StoredSchema
from gitops.model.findings import Finding, Location
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaType
from gitops.repository.definitions.avro_hints import misspelt_member, type_hint
from gitops.repository.definitions.avro_ignored_members import (
    IgnoredMember,
    ignored_logical_types,
    ignored_members,
    may_have_ignored_members,
    repeated_member_findings,
)
from gitops.repository.definitions.foreign_forms import recognize_text
from gitops.repository.definitions.json_mistakes import json_mistake
from gitops.repository.definitions.json_positions import positions_in
from gitops.repository.definitions.line_types import LINE_HINT
from gitops.repository.definitions.shared_types import (
    Expansion,
    SharedTypeProblem,
    SharedTypes,
)
from gitops.repository.definitions.text import DefinitionText
from gitops.repository.positions import pointer
from gitops.repository.suggestions import one_line
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.avro.errors import AvroParseError, AvroProblem
from gitops.schemas.avro.json_text import Json, JsonTextError, read_json
from gitops.schemas.avro.parser import AvroParser, not_json
from gitops.schemas.avro.review_definition import INVALID_DEFAULTS
from gitops.schemas.avro.schema import Union
from gitops.schemas.review import poison_of_half
from gitops.schemas.row import Remark
from gitops.schemas.types import SchemaTypes

_NO_JSON: Final = "not JSON: "
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


_LINES_HINT: Final = "write it so that the line of each registry accepts it"


class _Refusal(NamedTuple):
    """Why the broker line of a registry does not accept a definition."""

    registry: str
    line: str
    reason: AvroProblem | Remark
    assumed: bool


class AvroDefinitions:
    """Reads definitions of one repository, as the brokers of its registries do.

    `lines` are those of the registries by name, the default one first; the line of an `assumed`
    one may be another, so that its word is a warning where some line accepts the definition.
    """

    def __init__(
        self,
        sources: TrackedFiles,
        shared: SharedTypes,
        lines: Mapping[str, BrokerLine],
        assumed: frozenset[str] = frozenset(),
    ) -> None:
        self._sources = sources
        self._lines, self._assumed = lines, assumed
        self._line = next(iter(lines.values()))
        self._shared = shared

    def read(
        self, given: DefinitionText, subject: str, schema_type: SchemaType, *, half: bool = False
    ) -> AvroText:
        """Check a definition and put in the shared types that it names.

        `half`: of a KEY_VALUE, where the broker never looks at defaults (Pulsar 4.0.7).
        """
        rules = self._line.rules
        top_union = rules.takes_top_union or schema_type is not SchemaType.AVRO
        problems = _problems(rules.avro, given.text, top_union=top_union)
        whole = Expansion(text=given.text)
        if any(problem.kind == "undefined-name" for problem in problems):
            whole = self._expand(given) or whole
            if behind := _behind(given.text):
                problems = behind
                whole = Expansion(text=given.text, files=whole.files)
            elif whole.origins:
                problems = _problems(rules.avro, whole.text, top_union=top_union)
            else:
                whole.text = given.text
        lacking = any(problem.kind == "undefined-name" for problem in problems)
        broken = tuple(self._broken()) if lacking else ()
        if whole.problems or broken:
            # What a shared type would have defined is missing now, which is no second mistake.
            problems = tuple(problem for problem in problems if problem.kind != "undefined-name")
        poison = _poison(self._line.types, whole.text, schema_type)
        if any(remark.rule == "JSON-P001" for remark in poison):
            problems = ()  # it is no Avro because it is in the other form
        refusals: tuple[_Refusal, ...] = ()
        if not (whole.problems or broken):
            refusals = self._refusals(whole.text, schema_type, refused=bool(problems or poison))
        if refusals:
            problems, poison = (), ()  # some registry accepts it
        row = self._line.types.row_of(schema_type)
        review = row.review_half_defaults if half else row.review_accepted
        accepted: tuple[Remark, ...] = ()
        if not problems and not refusals:  # a refusal matters more
            accepted = _reviewed(review, whole.text, schema_type, "AVRO-W024", "AVRO-W011")
        foreign: tuple[Finding, ...] = ()
        if problems and (form := recognize_text(given.text)):
            problems = ()
            foreign = (
                make_finding(
                    "AVRO-P001",
                    f"this is {form.name}",
                    location=given.places.at_pointer(""),
                    subject=subject,
                    hint=form.hint,
                ),
            )
        return AvroText(
            text=whole.text,
            files=(
                *([given.file] if given.file else []),
                *whole.files,
                *(finding.subject for finding in broken),
            ),
            findings=(
                *foreign,
                *(self._finding(problem, given, whole, subject, half=half) for problem in problems),
                *(self._poisonous(remark, given, whole, subject) for remark in poison),
                *(self._refusal_finding(refusal, given, whole, subject) for refusal in refusals),
                *(self._poisonous(remark, given, whole, subject) for remark in accepted),
                *self._ignored_findings(given, whole, subject),
                *repeated_member_findings(given, subject),
            ),
            obstacles=(
                *(self._obstacle(problem, given, whole, subject) for problem in whole.problems),
                *broken,
            ),
        )

    def _refusals(
        self, text: str, schema_type: SchemaType, *, refused: bool
    ) -> tuple[_Refusal, ...]:
        """The registries whose line refuses what that of another one accepts, or may accept.

        `refused`: the default registry's line does not accept it.
        """
        if len(set(self._lines.values())) == 1 and not (refused and self._assumed):
            return ()
        refusals = tuple(
            _Refusal(registry, line.name, reason, registry in self._assumed)
            for registry, line in self._lines.items()
            if (reason := _refusal_reason(line, text, schema_type))
        )
        if len(refusals) < len(self._lines) or self._may_be_accepted(text, schema_type):
            return refusals
        return ()

    def _may_be_accepted(self, text: str, schema_type: SchemaType) -> bool:
        """Whether a registry whose line is only assumed may be of one that accepts it."""
        return bool(self._assumed) and any(
            _refusal_reason(line, text, schema_type) is None for line in LINES.values()
        )

    def _refusal_finding(
        self, refusal: _Refusal, given: DefinitionText, whole: Expansion, subject: str
    ) -> Finding:
        reason = refusal.reason
        return make_finding(
            "AVRO-W023",
            one_line(
                f"registry {refusal.registry} (Pulsar {refusal.line}"
                f"{', assumed' if refusal.assumed else ''}) does not accept it: {reason.message}"
            ),
            location=self._place(reason.pointer, given, whole),
            subject=subject,
            hint=LINE_HINT if refusal.assumed else _LINES_HINT,
        )

    def _obstacle(
        self, problem: SharedTypeProblem, given: DefinitionText, whole: Expansion, subject: str
    ) -> Finding:
        return make_finding(
            problem.rule,
            one_line(problem.message),
            location=self._place(problem.pointer, given, whole),
            subject=subject,
            hint=problem.hint,
        )

    def _broken(self) -> Iterator[Finding]:
        """The files of shared types that are not JSON: the same findings for all who lack one."""
        for file, (text, error) in self._shared.broken.items():
            items = json_mistake(text, str(error), error.offset)
            yield make_finding(
                "AVRO-P001",
                one_line(f"{_NO_JSON}{items.message}"),
                location=positions_in(file, text).at_offset(items.offset),
                subject=file,
                hint=one_line(items.hint),
            )

    def _expand(self, given: DefinitionText) -> Expansion | None:
        try:
            return self._shared.expand(given.text, given.file)
        except (JsonTextError, RecursionError):
            return None

    def _finding(
        self,
        problem: AvroProblem,
        given: DefinitionText,
        whole: Expansion,
        subject: str,
        *,
        half: bool,
    ) -> Finding:
        if problem.kind == "invalid-default":
            rule = "KV-W003" if half else "AVRO-P002"
            message, place = problem.message, self._place(problem.pointer, given, whole)
            hint = INVALID_DEFAULTS[rule]
        else:
            rule = "AVRO-P001"
            message, place, hint = self._mistake_finding(problem, given, whole)
        return make_finding(
            rule,
            one_line(message),
            location=place,
            subject=subject,
            hint=one_line(hint),
        )

    def _poisonous(
        self, remark: Remark, given: DefinitionText, whole: Expansion, subject: str
    ) -> Finding:
        return make_finding(
            remark.rule,
            one_line(remark.message),
            location=self._place(remark.pointer, given, whole),
            subject=subject,
            hint=one_line(remark.hint),
        )

    def _mistake_finding(
        self, problem: AvroProblem, given: DefinitionText, whole: Expansion
    ) -> tuple[str, Location, str]:
        """The message, the place and the hint."""
        if problem.offset is not None:
            items = json_mistake(given.text, problem.message.removeprefix(_NO_JSON), problem.offset)
            return f"{_NO_JSON}{items.message}", given.places.at_offset(items.offset), items.hint
        place = self._place(problem.pointer, given, whole)
        definition = _json(whole.text)
        misspelt = misspelt_member(problem, definition)
        if misspelt is None:
            return problem.message, place, type_hint(problem, definition, self._shared.names)
        written, meant = misspelt
        message = f"{problem.message}: '{written}' means nothing to Avro"
        at_key = self._place(f"{problem.pointer}{pointer((written,))}", given, whole, at_key=True)
        return message, at_key, f"did you mean {meant}?"

    def _ignored_findings(
        self, given: DefinitionText, whole: Expansion, subject: str
    ) -> Iterator[Finding]:
        for rule, ignored_member in _passed_over(whole.text):
            yield make_finding(
                rule,
                one_line(ignored_member.message),
                location=self._place(ignored_member.pointer, given, whole),
                subject=subject,
                hint=one_line(ignored_member.hint),
            )

    def _place(
        self, at: str, given: DefinitionText, whole: Expansion, *, at_key: bool = False
    ) -> Location:
        file, there = whole.origin(at)
        if file is None:
            return given.places.at_pointer(there, at_key=at_key)
        text = self._sources.data(file).decode()
        return positions_in(file, text).at_pointer(there, at_key=at_key)


def _passed_over(text: str) -> Iterator[tuple[str, IgnoredMember]]:
    """What Avro ignores, by rule; most definitions need not be read for that."""
    logical, members = '"logicalType"' in text, may_have_ignored_members(text)
    if not (logical or members):
        return
    definition = _json(text)
    if logical:
        yield from (
            ("AVRO-W020", ignored_logical_type)
            for ignored_logical_type in ignored_logical_types(definition)
        )
    if members:
        yield from (("AVRO-W021", ignored_member) for ignored_member in ignored_members(definition))


def _json(text: str) -> Json:
    try:
        return read_json(text)
    except (JsonTextError, RecursionError):
        return None


def _poison(types: SchemaTypes, text: str, schema_type: SchemaType) -> tuple[Remark, ...]:
    """Why no later schema would get past this one, defaults apart."""
    try:
        return poison_of_half(types, StoredSchema(type=schema_type, data=text.encode()))
    except (RecursionError, UnicodeEncodeError):
        return ()


def _reviewed(
    review: Callable[[StoredSchema], tuple[Remark, ...]],
    text: str,
    schema_type: SchemaType,
    *rules: str,
) -> tuple[Remark, ...]:
    """What a review says by some rules; the others are found with their places."""
    try:
        remarks = review(StoredSchema(type=schema_type, data=text.encode()))
    except (RecursionError, UnicodeEncodeError):
        return ()
    return tuple(remark for remark in remarks if remark.rule in rules)


def _refusal_reason(
    line: BrokerLine, text: str, schema_type: SchemaType
) -> AvroProblem | Remark | None:
    """What the line has against a whole definition, None where it accepts it."""
    poison = _poison(line.types, text, schema_type)
    top_union = line.rules.takes_top_union or schema_type is not SchemaType.AVRO
    problems = _problems(line.rules.avro, text, top_union=top_union)
    return poison[0] if poison else next(iter(problems), None)


def _behind(text: str) -> tuple[AvroProblem, ...]:
    """Text behind a definition, which Avro sees only where it knows all types."""
    try:
        read_json(text)
    except JsonTextError as error:
        return (not_json(error),)
    except RecursionError:
        return (_TOO_DEEP,)
    return ()


def _problems(parser: AvroParser, text: str, *, top_union: bool) -> tuple[AvroProblem, ...]:
    invalid: tuple[AvroProblem, ...] = ()
    try:
        try:
            schema = parser.parse(text, validate_defaults=True)
        except AvroParseError as error:
            invalid = error.problems
            schema = parser.parse(text)  # which is another one's business than its defaults
    except AvroParseError as error:
        return invalid or error.problems
    except RecursionError:
        return (_TOO_DEEP,)
    if isinstance(schema, Union) and not top_union:
        return (
            AvroProblem(kind="top-union", message="an AVRO schema may not be a union"),
            *invalid,
        )
    return invalid
