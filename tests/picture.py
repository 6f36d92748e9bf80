"""Draw the terminal session of the README as an SVG: `python -m tests.generate docs/demo.svg`.

The commands run in a fresh demo vault. Words that match are drawn in bold, as a terminal shows
them. Long lines wrap at words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap

from tests.replay import Terminal

SETUP = ("brain init --demo garden", "cd garden")
COMMANDS = (
    'brain search "slug pellets" --limit 2',
    'brain remember "Copper tape keeps slugs away from the lettuce" --tag garden',
    'brain context "may I use slug pellets?" --format codex --budget 200',
)
COLUMNS = 96
CHARACTER, LINE, MARGIN, TITLE = 8.0, 19, 18, 34  # pixels
STYLE = (
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "fill:#d8dee9;white-space:pre}.p{fill:#8fbc6b;font-weight:bold}.m{fill:#ebcb8b;font-weight:bold}"
)


def picture() -> str:
    """Return the SVG."""
    lines = list(_lines())
    width = round(COLUMNS * CHARACTER) + 2 * MARGIN
    height = TITLE + len(lines) * LINE + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' xml:space="preserve" role="img"'
        ' aria-label="A search, a new memory and a context in a terminal">',
        f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#242933"/>',
    ]
    for at, colour in enumerate(("#bf616a", "#ebcb8b", "#8fbc6b")):
        parts.append(f'<circle cx="{20 + 20 * at}" cy="18" r="6" fill="{colour}"/>')
    for number, line in enumerate(lines):
        y = TITLE + (number + 1) * LINE - 5
        parts.append(f'<text x="{MARGIN}" y="{y}">{line}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _lines() -> Iterator[str]:
    with TemporaryDirectory() as folder, Terminal(Path(folder).resolve()) as terminal:
        for command in SETUP:
            terminal.type(command)
        for command in COMMANDS:
            yield f'<tspan class="p">$</tspan> {escape(command)}'
            for line in terminal.type(command).splitlines():
                yield from _wrapped(line)
            yield ""


def _wrapped(line: str) -> Iterator[str]:
    """Return the line in parts that fit, with its marks as bold text."""
    indent = " " * (len(line) - len(line.lstrip()))
    parts = wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False)
    for part in parts or [""]:
        yield re.sub("«(.*?)»", r'<tspan class="m">\1</tspan>', escape(part, quote=False))
