"""`import`: an existing cluster into repository files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, TextOrJson
from gitops.model.names import TopicName

_NEVER_CREATED: Final = (
    "a cluster does not list a topic that was never created: import finds it only where a "
    "manifest, git's history or a snapshot names it"
)


def import_registry(
    namespaces: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TENANT/NAMESPACE]...", help="Only these; all without any."),
    ] = None,
    update: Annotated[
        list[str] | None,
        typer.Option(
            "--update",
            metavar="TOPIC",
            help="Take over what the registry has for this topic, and those that follow.",
        ),
    ] = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: options.TextOrJsonFormat = TextOrJson.TEXT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Write what a registry holds as files of this repository."""
    from gitops.changes.known_names import known_names
    from gitops.cli.console import print_lines, print_text, require_writable
    from gitops.cli.progress import progress_bar
    from gitops.cli.session import open_registry, open_repository
    from gitops.model.names import NamespaceName
    from gitops.reports.json.documents import imported_document, to_text
    from gitops.reports.summary import count
    from gitops.repository.folder import write_files
    from gitops.usecases.import_registry import as_files, new_to, observe_all

    require_writable(output)
    if update:
        return _update([*update, *(namespaces or [])], repo, registry, output_format, output)
    wanted = tuple(NamespaceName.parse(text) for text in namespaces or [])
    opened = open_repository(repo, output)
    bar = progress_bar(no_color=no_color)
    with open_registry(opened, registry) as (live, _), bar as progress:
        known = known_names(opened.root, opened.tree, opened.repository, live.name)
        state = observe_all(live, namespaces=wanted, recorded=known.topics, progress=progress)
    new, kept = new_to(opened.repository, state)
    made = as_files(opened.tree, opened.repository, new)
    write_files(opened.root, made.files)
    if output_format is TextOrJson.JSON:
        print_text(to_text(imported_document(live, made, new.topics, kept)), output)
        return Exit.GOOD
    files, topics = count(len(made.files), "file"), count(len(new.topics), "topic")
    lines = [
        f"wrote {files} for {topics} of {live.name}",
        _NEVER_CREATED,
        *(known.limits if known.has_history else ()),
        *(f"kept the manifest of {topic}, which is there already" for topic in kept),
        *_kept_as_base64(made.kept_as_base64),
        *_unshared(made.unshared),
    ]
    print_lines(lines, output)
    return Exit.GOOD


def _unshared(topics: Mapping[TopicName, Iterable[str]]) -> Iterator[str]:
    for topic, types in sorted(topics.items()):
        yield (
            f"wrote the definition of {topic} as .json: it defines {', '.join(types)} otherwise "
            "than files that others use"
        )


def _kept_as_base64(topics: Mapping[TopicName, str]) -> Iterator[str]:
    """A line for each reason, with the topics that it is for."""
    for reason in sorted(set(topics.values())):
        names = ", ".join(str(topic) for topic in sorted(topics) if topics[topic] == reason)
        yield f"wrote PROTOBUF_NATIVE as base64 for {names}: {reason}"


def _update(
    topics: list[str],
    repo: Path,
    registry: list[str] | None,
    output_format: TextOrJson,
    output: Path | None,
) -> int:
    """Bring the files of these topics to what the registry has; nothing is written if one fails."""
    from gitops.cli.console import print_lines, print_text
    from gitops.cli.session import open_registry, open_repository
    from gitops.model.errors import UsageError
    from gitops.model.state import Scope
    from gitops.reports.json.documents import imported_document, to_text
    from gitops.repository.folder import write_files
    from gitops.usecases.import_registry import require_committed, update_topics

    opened = open_repository(repo, output)
    if spaces := [text for text in topics if text.count("/") == 1]:
        raise UsageError(
            f"--update takes topics, and {spaces[0]} is a namespace",
            hint=f"pulsar-gitops import {spaces[0]} writes what the files do not have yet",
        )
    names = [TopicName.parse(text) for text in dict.fromkeys(topics)]
    for name in names:
        if name not in opened.repository.topics:
            hint = f"pulsar-gitops import {name.namespace} writes one"
            raise UsageError(f"{name} has no manifest", hint=hint)
    with open_registry(opened, registry) as (live, _):
        scope = Scope(
            namespaces=frozenset(name.namespace for name in names), topics=frozenset(names)
        )
        state = live.observe(scope)
    made = update_topics(opened.tree, opened.repository, [state.topics[name] for name in names])
    known = set(opened.tree.paths())
    require_committed(opened.tree, opened.root, sorted(known & {*made.files, *made.removed}))
    write_files(opened.root, made.files, made.removed)
    if output_format is TextOrJson.JSON:
        print_text(to_text(imported_document(live, made, names, ())), output)
        return Exit.GOOD
    lines = [
        *(f"wrote {path}" for path in sorted(made.files)),
        *(f"removed {path}, which nothing uses any more" for path in made.removed),
        *(f"kept {path}, which nothing uses any more" for path in made.unused),
        *_kept_as_base64(made.kept_as_base64),
    ]
    print_lines(lines or ["the files have what the registry has"], output)
    return Exit.GOOD
