"""Patches for what a plan refuses: edits of definitions that the broker and our rules accept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import TopicName
from gitops.model.plan import Notice, Plan, RefusedSchema
from gitops.model.state import Repository
from gitops.planning.lockout_findings import OLDER
from gitops.planning.plan import PlanInput
from gitops.ports import FileTree
from gitops.repository.definitions.file_extensions import is_proto
from gitops.repository.definitions.manifest_edits import (
    definition_around,
    definition_texts,
    manifest_definition,
)
from gitops.repository.definitions.patch_suggester import (
    Effort,
    PatchSuggester,
    Said,
    severities_of,
)
from gitops.repository.definitions.shared_types import named_types
from gitops.repository.definitions.text_edits import Definition
from gitops.repository.trial_plans import Edited, TrialPlans, trial_plans
from gitops.schemas.avro.json_text import JsonTextError, blank_comments, read_json

_RENAME: Final = "AVRO-W006"
_TRIED: Final = 8_000_000
"""About how many characters of definitions are compared again: some seconds at most."""
_ROUNDS: Final = 50
"""How many edits one file gets, one after the other."""
_REDEFINED: Final[Said] = {("REPO-R022", "another file defines the type", ""): Severity.ERROR}
_VERSION: Final = re.compile(r"v\d+")
_COMPACT: Final = re.compile(r'("(?:[^"\\]++|\\.)*+")|([,:])(?=\S)', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixRequest:
    """What a plan was made from: the files, what they want, and what the registry holds.

    `editable` are the files that may be edited; None is all. `release` is that of another broker
    than the registries' own.
    """

    tree: FileTree
    repository: Repository
    plan_input: PlanInput
    editable: frozenset[str] | None = None
    release: str | None = None


def add_patches(plan: Plan, request: FixRequest) -> Plan:
    """The plan with patches in its errors about definitions; without refusals it costs nothing."""
    if not _refusals(plan):
        return plan
    fixes, effort, patched = _Fixes(request), Effort(_TRIED, fewest=3), dict[_Key, Finding]()
    for target, findings in fixes.findings_by_target(plan).items():
        if suggester := fixes.suggester(target, effort):
            done = suggester.with_patches(findings)
            patched |= {_key(old): new for old, new in zip(findings, done, strict=True)}
    return _with_findings(plan, patched)


def fixed_files(plan: Plan, request: FixRequest, *, in_all: bool = False) -> dict[str, bytes]:
    """The new contents of files, with every edit that helps, one decided after the other.

    `in_all`: for all definitions together a quarter of what is else tried for each of them.
    """
    if not _refusals(plan):
        return {}
    fixes = _Fixes(request)
    effort = Effort(_TRIED // 4, fewest=3)
    for target in fixes.findings_by_target(plan):
        effort = effort if in_all else Effort(_TRIED, fewest=3)
        for _ in range(_ROUNDS):
            if not fixes.edit(target, effort):
                break
    return fixes.edited


_Target = tuple[str, str]
"""A file, and the pointer to the definition in it where it is a manifest."""

_Key = tuple[str, str, str, Location | None]


def _key(finding: Finding) -> _Key:
    return finding.rule, finding.subject, finding.message, finding.location


def _refusals(plan: Plan) -> list[RefusedSchema]:
    return [notice for notice in plan.notices if isinstance(notice, RefusedSchema)]


def _with_findings(plan: Plan, patched: Mapping[_Key, Finding]) -> Plan:
    def of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(_as(finding, patched.get(_key(finding))) for finding in findings)

    def notice(refusal: Notice) -> Notice:
        return (
            replace(refusal, findings=of(refusal.findings))
            if isinstance(refusal, RefusedSchema)
            else refusal
        )

    return replace(plan, notices=tuple(map(notice, plan.notices)), findings=of(plan.findings))


def _as(finding: Finding, patched: Finding | None) -> Finding:
    return replace(finding, patch=patched.patch, hint=patched.hint) if patched else finding


class _Fixes:
    """Edits of one repository's definitions; `edited` are the files as they are so far."""

    def __init__(self, request: FixRequest) -> None:
        self.edited: dict[str, bytes] = {}
        self._request = request
        self._trials: TrialPlans = trial_plans(
            request.tree, request.repository, request.plan_input, request.release
        )
        self._topics = {str(topic): topic for topic in request.plan_input.desired.topics}
        self._manifests = {topic.manifest.file for topic in request.repository.topics.values()}
        self._old: dict[tuple[TopicName, str], Definition | None] = {}

    def findings_by_target(self, plan: Plan) -> dict[_Target, list[Finding]]:
        """What edits may help against, by definition."""
        grouped: dict[_Target, list[Finding]] = {}
        for refused in _refusals(plan):
            for finding in refused.findings:
                if target := self._target(refused.topic, finding):
                    grouped.setdefault(target, []).append(finding)
        return dict(sorted(grouped.items()))

    def suggester(self, target: _Target, effort: Effort) -> PatchSuggester | None:
        """For one definition, whose edits are tried with all topics that use its file."""
        file, place = target
        try:
            text = (self.edited.get(file) or self._trials.tree.read(file)).decode()
        except (UnreadableFileError, UnicodeDecodeError):
            return None
        new = manifest_definition(file, text, place) if place else Definition(file, text)
        if new is None:
            return None
        return PatchSuggester(
            new=new,
            old=self._old_definition,
            judge=lambda after: self._judged(file, text, after),
            size=self._trials.size(file),
            effort=effort,
            by_subject=True,
        )

    def _said(self, file: str, text: str) -> Said:
        """What is found about the topics that use a file, with this text.

        Not which clients have to upgrade first: the rollout with the edit has that.
        """
        edited: Edited = {**self.edited, file: text.encode()}
        findings = self._trials.findings(file, edited)
        return severities_of(
            [finding for finding in findings if finding.rule != OLDER], by_subject=True
        )

    def edit(self, target: _Target, effort: Effort) -> bool:
        """Make the first edit of a definition that helps; answers whether there is one."""
        file, _ = target
        plan = self._trials.plan(file, self.edited)
        findings = [
            finding
            for finding in self.findings_by_target(plan).get(target, ())
            if finding.rule != _RENAME  # a guess: an alias gives readers other values
        ]
        suggester = self.suggester(target, effort)
        if not findings or suggester is None:
            return False
        edited = suggester.first_edit(findings)
        if edited is not None:
            self.edited[file] = edited.encode()
        return edited is not None

    def _target(self, topic: TopicName, finding: Finding) -> _Target | None:
        """The definition that a finding is in, None where no edit of it helps."""
        source, allowed = self._request.repository.topics.get(topic), self._request.editable
        is_edited = finding.severity is Severity.ERROR or finding.rule == _RENAME
        if source is None or finding.location is None or finding.location.in_base or not is_edited:
            return None
        file, place = finding.location.file, ""
        if file == source.manifest.file:
            place = definition_around(finding.location.pointer)
        is_ours = place or (file in source.definitions and not is_proto(file))
        return (file, place) if is_ours and (allowed is None or file in allowed) else None

    def _judged(self, file: str, before: str, after: str) -> Said:
        return _REDEFINED if self._takes_names(file, before, after) else self._said(file, after)

    def _takes_names(self, file: str, before: str, after: str) -> bool:
        """Whether an edit defines types that another file defines, for others to trip over."""
        try:
            names = self._names(file, after) - self._names(file, before)
        except (JsonTextError, RecursionError):
            return True
        return any(self._trials.shared.named(name) for name in names)

    def _names(self, file: str, text: str) -> set[str]:
        """Of the types that a definition's file, or a manifest, defines."""
        is_manifest = file in self._manifests
        texts = definition_texts(file, text) if is_manifest else [text]
        return {name for word in texts for name, _, _ in named_types(read_json(word))}

    def _old_definition(self, finding: Finding) -> Definition | None:
        """The stored version that a finding compares with."""
        topic, version = (
            self._topics.get(finding.subject),
            finding.compared.file if finding.compared else "",
        )
        if topic is None or not _VERSION.fullmatch(version):
            return None
        if (topic, version) not in self._old:
            self._old[topic, version] = self._stored_definition(topic, version)
        return self._old[topic, version]

    def _stored_definition(self, topic: TopicName, version: str) -> Definition | None:
        entries = self._request.plan_input.observed.topics[topic].history.entries
        texts = (entry.info.schema for entry in entries if f"v{entry.version}" == version)
        text = next(texts, None)
        return None if text is None else Definition(version, _spaced(text))


def _spaced(text: str) -> str:
    """A stored definition with a blank behind each comma and colon, as people write it."""
    if blank_comments(text) != text:
        return text
    return _COMPACT.sub(lambda match: match[1] or f"{match[2]} ", text)
