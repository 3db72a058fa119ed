"""The Protocols between the core and the outside."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final, Protocol, runtime_checkable

from gitops.model.clients import ObservedClients, ShortLivedTopics
from gitops.model.decision import StoredSchema
from gitops.model.errors import GitopsError, OutsideError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Action
from gitops.model.policy import BrokerSettings, PolicyChange, SchemaCompatibilityStrategy
from gitops.model.posts import Post, Suggestion
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import RegistryState, Scope, TenantState

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and how many there are (0: not known)."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """A Progress that nobody watches."""


Waiting = Callable[[str], AbstractContextManager[None]]
"""Called with what is waited for, such as a request; the block is the time of waiting."""


def no_waiting(_what: str) -> AbstractContextManager[None]:
    """A Waiting that nobody watches."""
    return nullcontext()


WAITING: Final[ContextVar[Waiting]] = ContextVar("WAITING", default=no_waiting)
"""Whom adapters tell that they wait; they ask when they are opened, in the command's thread."""


class UnreadableTopicsError(OutsideError):
    """The registry fails on the schemas of these topics, and has answered for all others.

    `reasons` are the registry's own, by topic; `state` is the rest of what was asked for.
    """

    def __init__(self, state: RegistryState, reasons: Mapping[TopicName, str], where: str) -> None:
        first, number = min(reasons.items()), len(reasons) - 1
        others = (
            f" (and {number} more topic{'' if number == 1 else 's'} like this)" if number else ""
        )
        super().__init__(
            f"the schemas of {first[0]} cannot be read: {first[1]}{others}",
            where=where,
            hint="see the broker's log; `pulsar-gitops audit` lists all such topics",
        )
        self.state = state
        self.reasons = reasons


class Registry(Protocol):
    """A place that holds schemas and namespace policies.

    Every method may raise OutsideError (no answer, or one that makes no sense); those that write
    raise RegistryRefusedError where the registry does not accept the request.
    """

    @property
    def name(self) -> str:
        """The name that `gitops.yaml` gives it."""
        ...

    @property
    def address(self) -> str:
        """Where it is, for people: a URL or a path, never with a secret in it."""
        ...

    @property
    def broker(self) -> BrokerSettings:
        """What holds where neither topic nor namespace says anything."""
        ...

    def list_namespaces(self) -> tuple[NamespaceName, ...]:
        """All namespaces that these credentials may see, sorted; without Pulsar's own."""
        ...

    def list_topics(self, namespace: NamespaceName) -> tuple[TopicName, ...]:
        """The topics that the registry can name, sorted, partitions folded, system topics left out.

        A cluster does not list a topic whose schema was posted before the topic was created
        (Pulsar 4.0.7), so absence here proves nothing.
        """
        ...

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        """Read all versions and policies in `scope`; every name asked for is in the answer.

        Raises UnreadableTopicsError, with the rest, where the registry fails on single topics.
        """
        ...

    def create_tenant(self, tenant: TenantState) -> None:
        """Create a tenant; without clusters it may use all that there are."""
        ...

    def create_namespace(self, namespace: NamespaceName) -> None:
        """Create an empty namespace."""
        ...

    def create_topic(self, topic: TopicName, partitions: int) -> None:
        """Create a topic with so many partitions; 0: it has none."""
        ...

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        """Set each key to its `after`; None removes the setting."""
        ...

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        """Post a schema as an administrator does; answers its version, a known one if equal."""
        ...

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        """Append a tombstone (answers its version); with `force` forget all versions (-1)."""
        ...

    def close(self) -> None:
        """Give back connections and files."""
        ...


@runtime_checkable
class ClientSource(Protocol):
    """A registry whose topics have clients, as a cluster's have; any other has none."""

    def observe_clients(
        self, topics: Collection[TopicName], progress: Progress = no_progress
    ) -> ObservedClients:
        """Who is connected to these topics; those that the role may not read are `unread`."""
        ...

    def find_short_lived_topics(self, topics: Collection[TopicName]) -> ShortLivedTopics:
        """The topics that brokers may delete with their schemas once no client is connected."""
        ...


@runtime_checkable
class ConcurrentRegistry(Protocol):
    """A registry that takes several requests at once, from several threads; any other takes one."""

    @property
    def concurrency(self) -> int:
        """How many at a time, 1 or more."""
        ...


class Journal(Protocol):
    """What an apply does, written down before and after each write, so that a crash hides nothing.

    Both raise OutsideError where nothing can be written down.
    """

    def intend(self, action: Action, *, closes: bool = False, follows: bool = False) -> int:
        """The action is about to be carried out; answers the number of this attempt.

        `closes`: the apply has stopped, and the action sets back what it had loosened. `follows`:
        it adds to the history that the action before has added to.
        """
        ...

    def conclude(self, number: int, version: int | None, error: GitopsError | None) -> None:
        """What became of an attempt.

        That is the version that the registry answered, or why it failed.
        """
        ...


class NoJournal:
    """A Journal of what nobody wants to know."""

    def intend(self, action: Action, *, closes: bool = False, follows: bool = False) -> int:
        """Nothing."""
        del action, closes, follows
        return 0

    def conclude(self, number: int, version: int | None, error: GitopsError | None) -> None:
        """Nothing."""


class IncompatibleSchemaError(Exception):
    """A checker refuses a schema; the text says why, in one line."""


class CompatibilityChecker(Protocol):
    """A broker's checker for one schema type, as one of its `schemaRegistryCompatibilityCheckers`.

    It is Pulsar's SchemaCompatibilityCheck and replaces the built-in checker of its type, also for
    the halves of a KEY_VALUE. The broker looks at a candidate before: one of another type is
    refused, one with the bytes of the latest version passes, and ALWAYS_COMPATIBLE asks nobody
    (Pulsar 4.0.7).
    """

    @property
    def schema_type(self) -> SchemaType:
        """The type whose schemas it compares; KEY_VALUE has no checker of its own."""
        ...

    def check_compatible(
        self,
        existing: Sequence[StoredSchema],
        candidate: StoredSchema,
        strategy: SchemaCompatibilityStrategy,
    ) -> None:
        """Raise IncompatibleSchemaError where `candidate` may not follow `existing`.

        These are the latest version alone or, under a transitive strategy, all live versions,
        oldest first (as halves newest first) and possibly none. Any other exception is a server
        error, as in a broker.
        """
        ...


class FileTree(Protocol):
    """The files of a repository: a folder, or the tree of a commit. Paths relative, with `/`."""

    def paths(self) -> tuple[str, ...]:
        """All files, sorted; without those of git itself and of virtual environments."""
        ...

    def read(self, path: str) -> bytes:
        """The content of a file.

        Raises UnreadableFileError for one that is missing, too large, not a regular file, or that
        lies outside the tree (also through a symbolic link).
        """
        ...


class CommentHost(Protocol):
    """The comments below pull requests, which GitLab calls notes of merge requests.

    Every method may raise OutsideError: no answer, a refusal, or an answer that makes no sense.
    """

    @property
    def name(self) -> str:
        """How people call it: `GitHub`."""
        ...

    @property
    def most_characters(self) -> int:
        """How long the text of a comment may be."""
        ...

    def login(self) -> str:
        """Whom the credentials belong to, as an author is called: `github-actions[bot]`."""
        ...

    def comments(self, pull_request: int) -> Iterator[Post]:
        """The comments below a pull request, oldest first; pages are read as they are needed."""
        ...

    def add_comment(self, pull_request: int, body: str) -> Post:
        """Write a new comment."""
        ...

    def edit_comment(self, pull_request: int, comment: Post, body: str) -> None:
        """Give a comment another text."""
        ...


class CodeHost(CommentHost, Protocol):
    """A repository on GitHub: its pull requests with their comments, and its issues."""

    def head_of(self, pull_request: int) -> str:
        """The commit that a pull request proposes, 40 hex digits."""
        ...

    def changed_paths(self, pull_request: int) -> Iterator[str]:
        """The files that a pull request changes, also those that it renames; 3,000 at most."""
        ...

    def diffs(self, pull_request: int) -> Iterator[tuple[str, str]]:
        """The files that a pull request changes, each with its hunks; empty for a large one."""
        ...

    def line_comments(self, pull_request: int) -> Iterator[Post]:
        """The comments on lines of a pull request, oldest first."""
        ...

    def add_line_comment(
        self, pull_request: int, head: str, suggestion: Suggestion, body: str
    ) -> bool:
        """Write one on the lines that a suggestion replaces; False where they are not accepted."""
        ...

    def delete_line_comment(self, pull_request: int, comment: Post) -> None:
        """Take one away."""
        ...

    def open_issues(self) -> Iterator[Post]:
        """The open issues, oldest first, without pull requests."""
        ...

    def add_issue(self, title: str, body: str) -> Post:
        """Open an issue."""
        ...

    def edit_issue(self, issue: Post, title: str, body: str) -> None:
        """Give an issue another title and text."""
        ...

    def close_issue(self, issue: Post) -> None:
        """Close an issue as completed."""
        ...
