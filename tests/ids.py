"""Ids that are the same in every run, and look like any others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from unittest.mock import patch

# Imported before the patch below: a module that is first imported inside it would keep the fake.
import brain.new_vault
import brain.open_vault
import brain.operations.remember
import brain.sessions.ids
import brain.store.note
import brain.store.store  # noqa: F401
from brain.formats.text import ALPHABET, digest


class Ids:
    """In place of chance: what is drawn one after the other."""

    def __init__(self, first: int = 0) -> None:
        self._drawn = count(first)

    def letters(self, length: int) -> str:
        mark = digest(f"id {next(self._drawn)}".encode())
        return "".join(ALPHABET[byte & 31] for byte in mark[:length])

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Draw from here for a while; the next time goes on where this one ended."""
        with (
            patch("brain.journal.codec.random_letters", self.letters),
            patch("brain.journal.writer.random_letters", self.letters),
            patch("brain.operations.remember.random_letters", self.letters),
        ):
            yield
