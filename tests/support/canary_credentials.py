"""Credentials that can be told from everything else, and where they are found again."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

CANARY: Final = "c4n4ry-9f86d081884c7d65"
"""The credential; what an issuer gives for it begins alike."""
ISSUED: Final = "c4n4ry-issued-1b4f0e9851971998"
_WORD: Final = "c4n4ry"
_NAME: Final = "me"

KINDS: Final = {
    "token": "{{token: '${{CANARY}}'}}",
    "tokenFile": "{{tokenFile: '{secrets}/plain'}}",
    "password": "{{basic: {{username: me, password: '${{CANARY}}'}}}}",
    "passwordFile": "{{basic: {{username: me, passwordFile: '{secrets}/plain'}}}}",
    "clientSecret": (
        "{{oauth2: {{issuerUrl: '{issuer}', clientId: me, clientSecret: '${{CANARY}}'}}}}"
    ),
    "credentialsFile": "{{oauth2: {{credentialsFile: '{secrets}/key.json'}}}}",
    "oidc": "{{githubOidc: {{audience: pulsar}}}}",
    "oidc, exchanged": "{{githubOidc: {{audience: pulsar, issuerUrl: '{issuer}'}}}}",
}
"""`authentication:` of each kind, with the places that `credential` fills."""


def credential(kind: str, secrets: Path, issuer: str) -> str:
    """`authentication:` of a registry; `secrets` gets the files that it names."""
    secrets.mkdir(exist_ok=True)
    (secrets / "plain").write_text(f"{CANARY}\n")
    key = {"type": "client_credentials", "client_id": "me", "client_secret": CANARY}
    (secrets / "key.json").write_text(json.dumps({**key, "issuer_url": issuer}))
    return KINDS[kind].format(secrets=secrets, issuer=issuer)


def environment(runner: str) -> dict[str, str]:
    """The variables that have it, for a command, for GitHub's runner and for the hosts."""
    return {
        "CANARY": CANARY,
        "ACTIONS_ID_TOKEN_REQUEST_URL": runner,
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": CANARY,
        "GITHUB_TOKEN": CANARY,
        "GITLAB_TOKEN": CANARY,
    }


def traces(text: str) -> list[str]:
    """Where a credential stands in a text, with what is around it."""
    pair = base64.b64encode(f"{_NAME}:{CANARY}".encode()).decode().rstrip("=")[:-1]
    found = re.finditer(f"{_WORD}|{re.escape(pair)}", text, re.IGNORECASE)
    return [text[max(0, at.start() - 80) : at.end() + 20] for at in found]


def traces_in(folder: Path) -> list[str]:
    """The same in all files of a folder, by their bytes, and in their names."""
    return [
        f"{path}: {trace}"
        for path in sorted(folder.rglob("*"))
        for trace in traces(
            f"{path} {path.read_bytes().decode('latin-1') if path.is_file() else ''}"
        )
    ]


def serve_issuer(server: HTTPServer, *, parrot: bool = False) -> str:
    """An issuer, and GitHub's runner at `/runner`; a parrot refuses, with all that it was sent."""
    issuer = server.url_for("/issuer")
    server.expect_request("/issuer/.well-known/openid-configuration").respond_with_json(
        {"issuer": issuer, "token_endpoint": server.url_for("/exchange")}
    )
    issued = {"access_token": ISSUED, "token_type": "Bearer", "expires_in": 600}
    if parrot:
        server.expect_request("/exchange").respond_with_handler(Parrot().answer)
    else:
        server.expect_request("/exchange").respond_with_json(issued)
    server.expect_request("/runner").respond_with_json({"value": ISSUED})
    return issuer


@dataclass(slots=True)
class Parrot:
    """A server that refuses everything, and says all that it was sent: header, body and status."""

    heard: list[str] = field(default_factory=list)

    def answer(self, request: Request) -> Response:
        """403 with the credentials of the request."""
        names = ("Authorization", "PRIVATE-TOKEN")
        sent = " ".join(request.headers.get(name, "") for name in names).strip()
        said = f"{sent} {request.get_data(as_text=True)}".strip()
        self.heard.append(said)
        line = re.sub(r"[^\x20-\x7e]", " ", said)[:300]
        body = json.dumps({"reason": f"no: {said}", "message": said, "error_description": said})
        return Response(body, status=f"403 {line}", headers={"X-Said": line})

    @property
    def heard_credentials(self) -> bool:
        """Whether any request had one: else nothing is tried."""
        return any(traces(said) for said in self.heard)


_PROCESSES: list[str] = []
"""The command lines of the processes that this one has started while `_watched` is true."""
_STARTS: Final = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system")


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event in _STARTS:
        _PROCESSES.append(f"{event} {arguments[:2]}")


@contextmanager
def started_processes() -> Iterator[list[str]]:
    """The command lines of processes that are started in the block, without their environment."""
    if _note not in _hooks:
        _hooks.append(_note)
        sys.addaudithook(_note)
    _PROCESSES.clear()
    yield _PROCESSES


_hooks: list[object] = []
