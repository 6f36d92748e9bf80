"""One tree of errors. Each has a sentence, a remedy, and the exit code of the CLI."""

from __future__ import annotations

from collections.abc import Iterable


class BrainError(Exception):
    """An error that a person can fix. `remedy` explains how."""

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class BadRequest(BrainError):
    """An argument or query that is not valid."""

    exit_code = 2


class VaultNotFound(BrainError):
    """There is no vault at a path."""

    exit_code = 3


class NotFound(BrainError):
    """There is no entry, agent or setting with this name."""

    exit_code = 4


class Ambiguous(BrainError):
    """A name or text that matches several entries."""

    exit_code = 5


class BadConfig(BrainError):
    """A setting in brain.yaml is not valid. The message names the line."""

    exit_code = 6


class Busy(BrainError):
    """Another process holds the lock."""

    exit_code = 7


class VaultLooksEmpty(BrainError):
    """Nearly all files of the vault are missing at once. The index is kept."""

    exit_code = 8


class IndexDamaged(BrainError):
    """brain.db cannot be read. It is deleted and built again."""

    exit_code = 9


class Refused(BrainError):
    """A file cannot be edited safely. The message names the file and line."""

    exit_code = 10


class Denied(BrainError):
    """The actor has no permission."""

    exit_code = 11


class StaleFile(BrainError):
    """A file has changed since it was read. Read it again, then edit it."""

    exit_code = 12


class NoModel(BrainError):
    """The model for a search by meaning is missing or does not answer. Search by words still
    works."""

    exit_code = 13


class WrongThread(BrainError):
    """A Brain was used in a thread that did not open it."""

    exit_code = 14


def suggest(name: str, known: Iterable[str], form: str = "{!r}") -> str:
    """Return "Did you mean …?" with the known name that is most similar to `name`; "" if no name is
    similar.

    Case does not matter. `form` is the format of the name.
    """
    from difflib import get_close_matches  # slow to import, and needed only after a mistake

    names = {known_name.casefold(): known_name for known_name in known}
    close = get_close_matches(name.casefold(), names, n=1)
    return f"Did you mean {form.format(names[close[0]])}?" if close else ""
