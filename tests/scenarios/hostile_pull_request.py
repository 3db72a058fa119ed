"""A pull request with everything in it that somebody could put there to harm or to mislead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.support.git_repos import GitRepository

FOLDER: Final = "schemas/namespaces/shop/orders"
BRANCH: Final = "pr;touch${IFS}pwned|<img>@octocat#1&`x`"
"""As much as git lets a branch's name hold."""

ACTS: Final = (
    "\x1b[31mred",
    "\x00\x07\u202e\u200b",
    "\n::error::taken\n",
    "\n::stop-commands::x\n",
    "##[set-output name=verdict;]good",
    "%0A::error::x",
    "| a | b |\n|---|---|",
    "```\n# taken\n",
    "</details><img src=x onerror=alert(1)>",
    "[link](http://evil.example) @octocat #123",
    "'\"; touch pwned; $(touch pwned) `touch pwned`",
    "../../../../etc/passwd",
)
LARGE: Final = 50 * 1024 * 1024
FINDINGS: Final = 10_000
REFUSED: Final = "order-created"

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: Topic\n"


def make(repo: GitRepository) -> None:
    """Commit it on a branch of its own, beside a schema that Pulsar would refuse."""
    repo.git("switch", "--quiet", "--create", BRANCH)
    created = repo.root / FOLDER / f"{REFUSED}.avsc"
    schema = json.loads(created.read_text("utf-8"))
    schema["fields"].append({"name": "channel", "type": "string", "doc": "\n".join(ACTS)})
    created.write_text(json.dumps(schema), "utf-8")
    repo.write(dict(_texts()))
    repo.write(_bombs())
    _links(repo.root / FOLDER)
    repo.commit(message="\n".join(ACTS).replace("\x00", ""))
    repo.git("switch", "--quiet", "main")


def _texts() -> Iterator[tuple[str, str]]:
    """Each text as a name of a file, of a topic, of a key, of a field, of a type, and as a doc."""
    for number, text in enumerate(ACTS):
        quoted, name = json.dumps(text), text.replace("\x00", "").replace("/", "|")
        yield f"{FOLDER}/{name}.yaml", f"{_HEAD}schema: {{type: STRING, {quoted}: 1}}\n"
        yield f"{FOLDER}/{name}.avsc", quoted
        yield f"{FOLDER}/t{number}.yaml", f"{_HEAD}topic: {quoted}\nschema: {{type: {quoted}}}\n"
        field = {"name": text, "type": text, "doc": text, "default": text}
        record = {"type": "record", "name": f"R{number}", "doc": text, "fields": [field]}
        yield f"{FOLDER}/z{number}.avsc", json.dumps(record)
        schema = f"type: AVRO, definition: z{number}.avsc, properties: {{{quoted}: {quoted}}}"
        yield f"{FOLDER}/z{number}.yaml", f"{_HEAD}schema: {{{schema}}}\n"
        yield f"schemas/clients/c{number}.yaml", f"kind: Client\nname: {quoted}\n"
        yield f"schemas/waivers/w{number}.yaml", f"kind: Waiver\nreason: {quoted}\n"


def _bombs() -> Mapping[str, str | bytes]:
    """What takes long to read, or gives much to say."""
    laughs = "\n".join(
        f"x{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]" for number in range(1, 30)
    )
    keys = "".join(f"no{number}: @octocat\n" for number in range(FINDINGS))
    return {
        f"{FOLDER}/bomb.yaml": f"x0: &a0 [lol]\n{laughs}\n{_HEAD}schema: *a29\n",
        f"{FOLDER}/deep.yaml": f"{_HEAD}schema: {'[' * 100_000}",
        f"{FOLDER}/deep.avsc": '{"type": "array", "items": ' * 50_000,
        # Sorted before what matters, and each as bad.
        f"{FOLDER}/0-keys.yaml": _HEAD + keys.replace("@octocat", '"@octocat"'),
        f"{FOLDER}/large.yaml": f"{_HEAD}schema: {{type: AVRO, definition: large.avsc}}\n",
        f"{FOLDER}/large.avsc": b'"' + b"x" * LARGE + b'"',
        f"{FOLDER}/larger.yaml": b"#" * LARGE,
    }


def _links(folder: Path) -> None:
    """Out of the repository, out of the schemas, to itself, and for a whole folder."""
    for name, target in (
        ("out", "/etc/passwd"),
        ("beside", "../../../../secret.avsc"),
        ("loop", "loop.avsc"),
    ):
        (folder / f"{name}.avsc").symlink_to(target)
        (folder / f"{name}.yaml").write_text(
            f"{_HEAD}schema: {{type: AVRO, definition: {name}.avsc}}\n"
        )
    (folder / "manifest.yaml").symlink_to("/etc/hostname")
    (folder.parent / "everything").symlink_to("/")
