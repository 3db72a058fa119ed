"""Files that nothing uses, or that lie where nobody looks."""

from __future__ import annotations

from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding, Location
from gitops.model.rules import finding
from gitops.repository.loading.layout import Layout
from gitops.repository.loading.reading import unreadable
from gitops.repository.sources import Sources
from gitops.repository.wording import one_line


def find_strays(found: Layout, used: set[str] | None, sources: Sources) -> list[Finding]:
    """Findings about files; `used` are the definitions that some manifest needs.

    None where a manifest could not be understood: it may need any of them.
    """
    findings = [
        finding("REPO-R016", "no manifest is looked for here", location=_at(path), hint=hint)
        for path, hint in found.misplaced
    ]
    findings += [
        finding(
            "REPO-R023",
            "no topic and no client uses this definition",
            location=_at(path),
            hint="name it in a manifest, or remove it",
        )
        for path in found.avsc
        if used is not None and path not in used
    ]
    findings += [
        finding(
            "REPO-R023",
            "nothing reads this file",
            location=_at(path),
            hint="manifests lie below namespaces/, clients/ and waivers/",
        )
        for path in found.foreign
    ]
    findings += [
        finding(
            "REPO-R013",
            "the file's name holds characters that do not print",
            location=_at(one_line(path)),
            hint="rename it; a manifest gives an odd topic's name by topic:",
        )
        for path in found.unnameable
    ]
    return findings + _broken_links(found, sources)


def _broken_links(found: Layout, sources: Sources) -> list[Finding]:
    findings: list[Finding] = []
    for path in found.links:
        try:
            sources.check(path)
        except UnreadableFileError as error:
            findings.append(unreadable(path, error))
    return findings


def _at(path: str) -> Location:
    return Location(file=path)
