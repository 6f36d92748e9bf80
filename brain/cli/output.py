"""What every command shares and needs no option parser for: the open vault, words, JSON, errors."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from brain.errors import BrainError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brain.api import Brain
    from brain.open_vault import Freshness
    from brain.operations.find import Answer
    from brain.recall.rank import Factors
    from brain.sync import Stats

STYLES = {"bold": "\033[1m", "dim": "\033[2m"}
# A note may hold what a terminal would take for an order.
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


@contextmanager
def opened(vault: str | None) -> Iterator[Brain]:
    """The vault as an open Brain, with a progress line on a terminal; tells its news at the end."""
    from brain.api import Brain
    from brain.open_vault import OpenVault
    from brain.vault import layout

    found = layout.find(vault or ".", layout.state_home(os.environ))
    progress = Progress() if sys.stderr.isatty() else None
    with Brain(OpenVault(found, progress=progress)) as brain:
        brain.vault.here = os.getcwd()
        yield brain
        if brain.vault.index.news:
            note(brain.vault.index.news)


class Progress:
    """A line on stderr, once the work takes longer than a second."""

    what = "files"

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.shown = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done == 1:
            self.started, self.shown = now, 0.0
        if now - self.started > 1 and now - self.shown > 0.1:
            self.shown = now
            bar = "█" * (20 * done // total)
            sys.stderr.write(f"\r{bar:<20} {done:,} of {total:,} {self.what}")
        if done == total and self.shown:
            sys.stderr.write("\r\033[K")


def say(text: str = "", style: str = "") -> None:
    """A line on stdout, coloured only on a terminal and without NO_COLOR."""
    if sys.stdout.isatty():
        text = text.translate(_CONTROLS)
        if style and not os.environ.get("NO_COLOR"):
            text = f"{STYLES[style]}{text}\033[0m"
    print(text)


def counted(count: int, one: str, many: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def fitted(text: str, before: int, most: int = 100) -> str:
    """A line as far as it fits behind so many columns of the terminal, or `most` in a pipe; what
    is cut off ends in `…`."""
    import shutil

    if sys.stdout.isatty():
        most = max(20, shutil.get_terminal_size().columns - before)
    if sum(map(_columns, text)) <= most:
        return text
    used = 1
    for at, char in enumerate(text):
        used += _columns(char)
        if used > most:
            return f"{text[:at].rstrip()}…"
    return text


def _columns(char: str) -> int:
    """How many columns a terminal gives to a character."""
    if char.isascii():
        return 1
    from unicodedata import combining, east_asian_width

    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def note(text: str) -> None:
    """A line on stderr: for the person, not for a pipe."""
    print(text, file=sys.stderr)


def warn(freshness: Freshness) -> None:
    """Say why an answer may be out of date."""
    for why in freshness.stale:
        note(f"Not fresh: {why}")


def tell(value: Any) -> None:
    """One JSON document on stdout."""
    import json

    print(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def guarded(act: Callable[[], object], args: list[str]) -> int:
    """The exit code of what a command does, after all has been said: the one error handler."""
    try:
        code = act()
        sys.stdout.flush()
    except BrainError as error:
        return _failed(error, args)
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        failure = BrainError(f"{where}{error.strerror or error}.", "Check the disk and the rights.")
        return _failed(failure, args)
    return code if isinstance(code, int) else 0


def _failed(error: BrainError, args: list[str]) -> int:
    if "--json" in args:
        tell({"error": type(error).__name__, "message": error.message, "remedy": error.remedy})
    else:
        note(f"brain: {error}")
    return error.exit_code


def print_answer(question: str, answer: Answer, explain: bool, as_json: bool) -> None:
    """The results of a search."""
    if as_json:
        from brain import wire

        tell(wire.answer(question, answer, explain))
        return
    from brain.index.moment import shown

    for hit in answer.results:
        row = hit.row
        about = [row.scope, row.kind] if row.kind != "note" else [row.scope]
        say(f"{row.path}:{hit.line}", "bold")
        say(f"  {hit.snippet()}")
        say(
            f"  {row.ref} · {' · '.join(about)} · {shown(row.created)[:10]} · {hit.score:.2f}",
            "dim",
        )
        if hit.conflicts:
            say(f"  [⚠ CONFLICT] {', '.join(hit.conflicts)} says the opposite.")
        if explain:
            exact = f", and {hit.exact} exactly as asked" if hit.exact else ""
            say(f"  {hit.score:.6f} = {explained(hit.factors)}{exact}", "dim")
    if not answer.results:
        say("Nothing found.")
    warn(answer.freshness)
    for text in answer.notes:
        note(text)


def explained(factors: Factors, alone: bool = True) -> str:
    """The formula of a rank, with the numbers in it; factors of 1 and parts of 0 are left out.
    `alone`, it needs no brackets around a sum."""
    from brain.recall.rank import ADDENDS

    named = list(factors._asdict().items())
    parts = [f"bm25 {factors.bm25:.6f} × coverage {factors.coverage:.6f}"]
    parts += [f"{name} {value:.6f}" for name, value in named[2:ADDENDS] if value]
    sum = " + ".join(parts)
    others = [f"{name} {value:.6f}" for name, value in named[ADDENDS:] if value != 1]
    closed = len(parts) > 1 and (others or not alone)
    return " × ".join([f"({sum})" if closed else sum, *others])


def learn(brain: Brain) -> None:
    """Make what a hybrid search needs, if one is set, with a progress line of its own."""
    if isinstance(brain.vault.progress, Progress):
        brain.vault.progress.what = "entries"
    for wrong in brain.learn():
        note(wrong)


def print_stats(stats: Stats, as_json: bool) -> None:
    """What a sync did."""
    if as_json:
        from brain import wire

        tell(wire.stats(stats))
        return
    counts = {
        "new": len(stats.added),
        "changed": len(stats.changed),
        "moved": len(stats.moved),
        "removed": len(stats.removed),
    }
    parts = [f"{count:,} {word}" for word, count in counts.items() if count]
    files, news = counted(stats.files, "file"), ", ".join(parts) or "nothing new"
    say(f"{files}, {news} ({stats.seconds:.2f} s).")
