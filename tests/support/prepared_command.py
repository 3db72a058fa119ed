"""`pulsar-gitops` without the second that each start takes: a server that has loaded it forks.

`prepared_program()` answers the path of a program that hands its arguments, its environment, its
folder and its streams to the server; a fork of the server runs the command line from where the
installed command does. For tests that start many commands and look at what these do; how a process
starts, is signalled and meets closed streams is tested with the installed command itself.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import gitops
from gitops.cli import start
from tests.support.command_line import PROGRAM

_ROOT: Final = Path(__file__).parents[2]
_CLIENT: Final = """#!{python} -IS
import json, os, signal, socket, sys
if "PYTHONPATH" in os.environ:  # it decides what is loaded
    os.execv({installed!r}, [{installed!r}, *sys.argv[1:]])
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
request = json.dumps([sys.argv, dict(os.environ)]).encode("ascii")
size, folder = len(request).to_bytes(4, "big"), os.open(".", os.O_RDONLY)
socket.send_fds(connection, [size], [0, 1, 2, folder])
connection.sendall(request)
code = int.from_bytes(connection.recv(4), "big", signed=True)
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    signal.raise_signal(-code)
sys.exit(code)
"""


@cache
def prepared_program() -> Path:
    """The program, with a server that ends with this process."""
    folder = tempfile.TemporaryDirectory(prefix="pulsar-gitops-")
    address = str(Path(folder.name) / "socket")
    main = f"from {__name__} import main; main({address!r})"
    server = subprocess.Popen(
        [sys.executable, "-c", main], cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    def stop() -> None:
        server.communicate(timeout=60)
        folder.cleanup()

    atexit.register(stop)
    assert server.stdout
    assert server.stdout.readline() == b"ready\n"
    program = Path(folder.name) / "bin" / "pulsar-gitops"
    program.parent.mkdir()
    program.write_text(
        _CLIENT.format(python=sys.executable, installed=str(PROGRAM), address=address), "utf-8"
    )
    program.chmod(0o755)
    return program


def _serve(address: str) -> list[str]:
    """Answer until standard input ends; in a fork, the command line that it has to run."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            sys.exit()
        connection, _ = listener.accept()
        if not os.fork():
            break
        connection.close()
    listener.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, descriptors, _, _ = socket.recv_fds(connection, 4, 4)
    with connection.makefile("rb") as stream:
        request = json.loads(stream.read(int.from_bytes(size, "big")))
    command = os.fork()
    if command:
        _, status = os.waitpid(command, 0)
        code = os.waitstatus_to_exitcode(status)
        connection.sendall(code.to_bytes(4, "big", signed=True))
        os._exit(0)
    connection.close()
    return _take_over(request, descriptors)


def _take_over(request: tuple[list[str], dict[str, str]], descriptors: list[int]) -> list[str]:
    """Become the client's process, as far as a command can tell."""
    arguments, variables = request
    os.environ.clear()
    os.environ.update(variables)
    os.fchdir(descriptors[3])
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    return arguments


def _load() -> None:
    """Everything that a command may load."""
    for module in pkgutil.walk_packages(gitops.__path__, "gitops."):
        importlib.import_module(module.name)
    importlib.import_module("git")
    gc.collect()
    gc.freeze()


def _run(arguments: list[str]) -> int:
    """What `sys.exit` would end the process with."""
    sys.argv = arguments
    try:
        start.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return 0


def main(address: str) -> None:
    """The server, and in its forks the commands."""
    _load()
    code = _run(_serve(address))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a usual end writes to all that was loaded, and so copies it
