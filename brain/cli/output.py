"""Shared by all commands: their options, the open vault, lines of text, JSON, errors."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from brain.cli.terminal import NARROW, columns, fitted, rendered, safe, width
from brain.errors import BrainError, StaleFile
from brain.operations.parameters import PARAMETERS

if TYPE_CHECKING:
    from types import TracebackType

    from brain.open_vault import OpenVault

Values = dict[str, Any]

_READ_ONLY = "brain.read_only"


class View(NamedTuple):
    """How a command shows its result."""

    text: Callable[[Any, Values], None]
    json: Callable[[Any, Values], Any] | None = None  # if it is not `serialize.document`
    code: Callable[[Any], int] = lambda _: 0  # the exit code
    options: tuple[click.Option, ...] = ()  # in addition to the options of the operation
    prepare: Callable[[Values], None] | None = None  # changes values before the call
    after: Callable[[OpenVault], None] | None = None  # runs while the vault is still open
    run: Callable[[Callable[..., Any], Values], Any] | None = None  # calls the operation


def common() -> list[click.Parameter]:
    """Return `--vault`, `--json` and `--read-only`, which every command has."""
    vault = click.Option(
        ["--vault", "-V"], type=click.Path(),
        help="Path of the vault.  [default: BRAIN_VAULT, else the current folder]",
    )  # fmt: skip
    as_json = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON.")
    return [vault, as_json, read_only_option()]


def read_only_option() -> click.Option:
    """Return `--read-only`, as `brain` itself and every command have it."""

    def note_choice(context: click.Context, _: click.Parameter, given: bool) -> None:
        if given:
            context.meta[_READ_ONLY] = True  # all contexts of one call share it

    return click.Option(
        ["--read-only"], is_flag=True, expose_value=False, callback=note_choice,
        help="Write nothing but the index.",
    )  # fmt: skip


def who(*names: str) -> list[click.Parameter]:
    """Return `--by` and `--agent` for a command that is not an operation."""
    found = [(name, PARAMETERS[name]) for name in names]
    return [
        click.Option(
            [*(about.flags or (f"--{name}",)), name], default="", metavar=about.metavar,
            help=about.meaning,
        )
        for name, about in found
    ]  # fmt: skip


def is_read_only() -> bool:
    """Return True if `--read-only` was given."""
    return bool(click.get_current_context().meta.get(_READ_ONLY))


def choices(vault: str | None, as_json: bool) -> tuple[str | None, bool]:
    """Return the options as given to the command, else to `brain` itself."""
    given = click.get_current_context().obj or {}
    vault = vault or given.get("vault") or os.environ.get("BRAIN_VAULT")
    return vault, as_json or given.get("json", False)


@contextmanager
def opened(vault: str | None) -> Iterator[OpenVault]:
    """Open the vault, with a progress line on a terminal; print its news at the end."""
    from brain.open_vault import OpenVault
    from brain.vault import layout

    found = layout.find(vault or ".", layout.state_home(os.environ))
    progress = Progress() if sys.stderr.isatty() else None
    with OpenVault(found, progress=progress, read_only=is_read_only()) as open_vault:
        open_vault.here, open_vault.environ = os.getcwd(), os.environ
        yield open_vault
        for news in filter(None, (found.news, open_vault.index.news)):
            note(news)


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


def say(
    text: str = "", style: str = "", *, lines: bool = False, wrap: bool = True,
    hang: int | None = None,
) -> None:  # fmt: skip
    """Print a line, or several, on stdout. On a terminal, lines are wrapped at words, if `wrap`.
    `hang` is the indentation of the lines that wrapping adds."""
    print(rendered(safe(text, lines), sys.stdout, style, wrap, hang))


def say_entry(head: str, text: str) -> None:
    """Print a head and as much of a text as fits on its line. On a narrow terminal, the text goes
    on a line of its own."""
    before = columns(safe(head)) + 2
    if 0 < width() < before + NARROW:
        say(" ".join(head.split()))
        say(f"  {fitted(text, 2)}".rstrip())
    else:
        say(f"{head}  {fitted(text, before)}".rstrip())


def aligned(rows: list[list[str]]) -> list[str]:
    """Return a line for each row of texts, with aligned columns. Empty columns are left out."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text + " " * (width - columns(text))
            for text, width in zip(row, widths, strict=True)
            if width
        )
        for row in rows
    ]


def indented(text: str) -> str:
    """Return a text that is part of a list, each line of it two columns from the margin."""
    return "\n".join([f"  {line}" for line in text.split("\n")])


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def note(text: str, *, lines: bool = False) -> None:
    """Print a line, or several, on stderr: for the person, not for a pipe."""
    print(rendered(safe(text, lines), sys.stderr), file=sys.stderr)


def warn(reasons: Iterable[str]) -> None:
    """Print the reasons why an answer may be out of date."""
    for why in reasons:
        note(f"Not fresh: {why}")


def tell(value: Any) -> None:
    """Print one JSON document on stdout."""
    import json

    indent = 2 if sys.stdout.isatty() else None
    say(json.dumps(value, ensure_ascii=False, indent=indent), lines=True, wrap=False)


def crashed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of an unexpected error. The traceback may contain text of a note."""
    import traceback

    note("".join(traceback.format_exception(kind, error, trace)).rstrip("\n"), lines=True)


def guarded(act: Callable[[], object], args: list[str]) -> int:
    """Run a command and return its exit code. This is the only place that handles errors."""
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
        note(f"brain: {error}", lines=isinstance(error, StaleFile))  # it shows a difference
    return error.exit_code
