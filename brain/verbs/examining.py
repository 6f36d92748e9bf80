"""What `brain doctor` looks at more closely: memory notes, and what waits to be written."""

from __future__ import annotations

import os

from brain import tokens
from brain.formats.text import decode
from brain.index import query
from brain.index.query import Filters
from brain.model import Problem
from brain.vault import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from brain.api import Brain
    from brain.api.asking import Asking

Found = tuple[str, Problem]


def examined(brain: Brain) -> list[Found]:
    """Secrets in memory notes, by rule and line; writes that wait; a journal that cannot be
    written; folders in which files cannot change places in one step; a tokenizer that is not
    here."""
    filters = Filters(scopes=("memory", "archive"))
    paths = dict.fromkeys(row.path for row in query.listed(brain.index, filters, -1))
    return [
        *_secrets(brain, paths), *_waiting(brain), *_journal(brain), *_folders(brain, paths),
        *_tokenizer(brain),
    ]  # fmt: skip


def large(brain: Asking) -> list[Found]:
    """Memory notes of more characters than `maxMemorySize`. Only those of more bytes can be."""
    limit, found = brain.config.maxMemorySize, []
    for path in query.large_memories(brain.index, limit):
        size = len(_text(brain, path))
        if size > limit:
            said = f"holds {size:,} characters, over maxMemorySize ({limit:,}); move what is old"
            said += f" into a note in {brain.vault.brain}/archive, where `--scope archive` finds it"
            found.append((path, Problem(0, "large-memory", said)))
    return found


def _text(brain: Asking, path: str) -> str:
    """What a note holds; nothing if it cannot be read, which is told elsewhere."""
    try:
        data, _ = files.read(f"{brain.vault.root_path}/{path}", brain.config.maxFileSize)
    except OSError:
        return ""
    return decode(data)[0]


def _secrets(brain: Brain, paths: dict[str, None]) -> Iterator[Found]:
    from brain.redact import find

    for path in paths:
        text = _text(brain, path)
        for found in find(text, emails=brain.config.redactEmails):
            line = text.count("\n", 0, found.start) + 1
            said = f"looks like a secret ({found.rule}); Brain leaves what a person wrote as it is"
            yield path, Problem(line, "secret", said)


def _waiting(brain: Brain) -> Iterator[Found]:
    for entry in brain.store.pending():
        what = ", ".join(f"{deed.op} of {deed.ref}" for deed in entry.intent.deeds)
        if entry.state == "blocked":
            said = f"{what} is blocked: {entry.why}; see `brain pending`"
            yield entry.intent.path, Problem(0, "blocked", said)
        elif entry.state:
            said = f"{what} is written, and cannot be settled: {entry.why}"
            yield entry.intent.path, Problem(0, "blocked", said)
        else:
            yield entry.intent.path, Problem(0, "pending", f"{what} waits to be written")


def _journal(brain: Brain) -> Iterator[Found]:
    path = f"{brain.vault.folder_path}/journal"
    if os.path.lexists(path) and not os.path.isdir(path):
        said = "is no folder, so that nothing can be put on record; move it away"
        yield f"{brain.vault.brain}/journal", Problem(0, "no-journal", said)


def _folders(brain: Brain, paths: dict[str, None]) -> Iterator[Found]:
    from brain.vault import swap

    for path in paths:
        if not swap.atomic(os.path.dirname(f"{brain.vault.root_path}/{path}")):
            said = "lies on a disk where files cannot change places in one step"
            yield path, Problem(0, "no-swap", said)


def _tokenizer(brain: Brain) -> Iterator[Found]:
    _, said = tokens.counting(brain.config.tokenizer)
    if said:
        yield f"{brain.vault.brain}/brain.yaml", Problem(0, "tokenizer", said)
