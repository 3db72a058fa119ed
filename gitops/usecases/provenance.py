"""Where the versions of a registry come from: looked up in git's history, if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gitops.git.checkout import open_checkout
from gitops.git.references import head_of
from gitops.model.errors import GitopsError
from gitops.model.names import TopicName
from gitops.model.repository import Repository
from gitops.model.schema import SchemaHistory
from gitops.planning.drift import LookUp, Provenance
from gitops.registry.git.provenance import find_provenance


def provenance_at_head(root: Path, repository: Repository) -> LookUp:
    """Looks into the clone around `root`, from the commit that is checked out."""

    def look_up(histories: Mapping[TopicName, SchemaHistory]) -> Provenance:
        try:
            with open_checkout(root) as checkout:
                commit = head_of(checkout)
                if commit is None:
                    return Provenance(limit="nothing is committed yet")
                return find_provenance(checkout, commit, repository.topics, histories)
        except GitopsError as error:
            return Provenance(limit=error.what)

    return look_up
