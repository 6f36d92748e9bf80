"""The old place of `brain.formats.stems`, for operations that still import it from here."""

from brain.formats.stems import stem as stem
