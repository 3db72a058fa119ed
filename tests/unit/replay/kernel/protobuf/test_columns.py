"""Definitions that the library can help with."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from itertools import permutations

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from gitops.replay.kernel.protobuf.columns import message_class
from gitops.replay.kernel.protobuf.definition import message_of
from gitops.replay.kernel.protobuf.schema_pair import pair
from tests.support.protos import native

_FILES = {
    "a.proto": 'syntax = "proto3"; import "b.proto"; message A { B b = 1; }',
    "b.proto": 'syntax = "proto3"; import "c.proto"; message B { C c = 1; }',
    "c.proto": 'syntax = "proto3"; message C { string s = 1; }',
}


def test_files_may_stand_in_any_order() -> None:
    info = native(_FILES, "a.proto", "A")
    message = message_of(info)
    envelope = json.loads(info.schema)
    files = FileDescriptorSet.FromString(base64.b64decode(envelope["fileDescriptorSet"])).file
    assert len(files) == len(_FILES)
    for order in permutations(files):
        data = FileDescriptorSet(file=order).SerializeToString()
        envelope["fileDescriptorSet"] = base64.b64encode(data).decode()
        found = message_class(replace(info, schema=json.dumps(envelope)), pair(message, message))
        assert found is not None
        assert found.DESCRIPTOR.full_name == "A"
