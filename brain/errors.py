"""One tree of errors. Each has a sentence, a remedy, and the exit code of the CLI."""

from __future__ import annotations

from collections.abc import Iterable


class BrainError(Exception):
    """An error that a person can fix; `remedy` says how."""

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
    """There is no entry, agent or setting of that name."""

    exit_code = 4


class Ambiguous(BrainError):
    """A name that fits more than one entry."""

    exit_code = 5


class BadConfig(BrainError):
    """A setting in brain.yaml is not valid; the sentence names the line."""

    exit_code = 6


class Busy(BrainError):
    """Another process holds the lock."""

    exit_code = 7


class VaultLooksEmpty(BrainError):
    """The vault lost nearly everything at once; the index was left as it was."""

    exit_code = 8


class IndexDamaged(BrainError):
    """brain.db cannot be read; it is deleted and built again."""

    exit_code = 9


class Refused(BrainError):
    """A file that cannot be edited safely; the sentence names file and line."""

    exit_code = 10


class Denied(BrainError):
    """The actor may not do this."""

    exit_code = 11


class StaleFile(BrainError):
    """A file was changed since it was read: read and edit it again."""

    exit_code = 12


class NoModel(BrainError):
    """The model of a search by meaning is missing, or does not answer; search goes on by words."""

    exit_code = 13


class WrongThread(BrainError):
    """A Brain was used in another thread than the one that opened it."""

    exit_code = 14


def suggest(name: str, known: Iterable[str], form: str = "{!r}") -> str:
    """Return "Did you mean …?" for the known name that is most like `name`, or "" if none is.

    Case does not matter. `form` says how the name is shown.
    """
    from difflib import get_close_matches  # slow to import, and needed only after a mistake

    names = {known_name.casefold(): known_name for known_name in known}
    close = get_close_matches(name.casefold(), names, n=1)
    return f"Did you mean {form.format(names[close[0]])}?" if close else ""
