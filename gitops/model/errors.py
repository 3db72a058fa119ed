"""Errors that mean "cannot go on"; everything expected is a Finding instead."""

from __future__ import annotations

_NOT_LET_IN = (409, 422)


class GitopsError(Exception):
    """Something that ends the run: what happened, where, and what to do next.

    Raised at the edge, `from` its cause, and mapped once to an exit code by the command line.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint


def extra_hint(extra: str) -> str:
    """How to install the libraries of an extra; there is no release in a package index."""
    return (
        f"install pulsar-schema-gitops with its extra '{extra}': in a checkout, "
        f"pip install '.[{extra}]'"
    )


class UsageError(GitopsError):
    """The command line or `gitops.yaml` asks for something that cannot be done."""


class InvalidNameError(UsageError):
    """A text is not a name of the kind that stands there."""


class OutsideError(GitopsError):
    """The outside failed: a registry, git, Spark."""

    exit_code = 4


class UnknownOutcomeError(OutsideError):
    """A request that writes was sent, and whether it was carried out is not known."""

    def __init__(self, what: str, *, where: str = "") -> None:
        super().__init__(
            f"{what}; whether the request was carried out is not known",
            where=where,
            hint="check what the registry contains before you repeat it",
        )


class UnverifiedOutcomeError(UnknownOutcomeError):
    """A request that writes was carried out, and what the registry has since is not known."""

    def __init__(self, what: str, *, where: str = "") -> None:
        OutsideError.__init__(
            self,
            f"it was carried out, and cannot be read back: {what}",
            where=where,
            hint="check what the registry contains",
        )


class RegistryRefusedError(OutsideError):
    """The registry answered that it does not accept the request.

    `status` is the HTTP status that admin REST gives for it (409 incompatible, 422 invalid
    schema data, 404 no such namespace, …), also from the embedded registry.
    """

    def __init__(self, what: str, *, status: int, where: str = "", hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.status = status
        # A schema that is not let in is an answer; all else means that something went wrong.
        self.exit_code = 1 if status in _NOT_LET_IN else OutsideError.exit_code


class NotThereError(GitopsError):
    """A name that was given is not in the registry: a namespace, topic, schema or version.

    Not 1, which means that something was looked at and findings were made: a scheduled job must be
    able to tell a name that is misspelt from those.
    """


class StalePlanError(GitopsError):
    """The registry or the files have changed since the plan was made."""

    exit_code = 5


class PartialApplyError(GitopsError):
    """Some actions of a plan were carried out and one failed."""

    exit_code = 6


class InterruptedApplyError(GitopsError):
    """Somebody pressed Ctrl-C: some actions of a plan are carried out, and the rest is left."""

    exit_code = 130


class UnreadableFileError(GitopsError):
    """A file of the repository cannot be read; the loader makes a finding of it."""


class OutsideRepositoryError(UnreadableFileError):
    """A path, or the symbolic link that stands there, leads out of the repository."""
