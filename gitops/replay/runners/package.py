"""The code of this project for workers elsewhere: inside the function that they run.

A session keeps each file that it is sent (addPyFile, addArtifacts) until it ends, and it may have
been there before us. What the code imports beside the standard library has to be installed there:
numpy, pyarrow, msgspec, and protobuf for Protobuf topics.
"""

from __future__ import annotations

import zlib
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec

import gitops
from gitops.replay.runners import remote
from gitops.replay.runners.work import Work


def with_code(work: Work) -> Work:
    """The same function for a Python without this project, or with another version of it."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(remote)  # type: ignore[no-untyped-call]
    digest, modules = packed_modules()
    pickled: bytes = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
    return remote.carrier(digest, modules, pickled)


@cache
def packed_modules() -> tuple[str, bytes]:
    """All modules as `remote` unpacks them, and what tells them from those of another version."""
    root = Path(gitops.__file__).parent
    modules = {
        str(Path("gitops", module.relative_to(root))): module.read_text()
        for module in sorted(root.rglob("*.py"))
    }
    packed = msgspec.json.encode(modules)
    return sha256(packed).hexdigest(), zlib.compress(packed)
