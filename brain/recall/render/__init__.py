"""What goes into a prompt, as the agent's program likes it best.

Each format keeps what is recalled apart from what it stands in: no memory can end its block, open
another, or speak as somebody else. The same package gives the same bytes.
"""

from __future__ import annotations

from brain.errors import BadRequest
from brain.recall.package import Package
from brain.recall.render import claude, data, gemini, plain

_FORMATS = {
    "claude": claude.package,
    "gemini": gemini.package,
    "codex": plain.package,
    "opencode": plain.package,
    "json": data.package,
}
FORMATS = tuple(_FORMATS)


def render(package: Package, format: str) -> str:
    """`package` in one of FORMATS; '' for a package with nothing in it, save as JSON."""
    if format not in _FORMATS:
        raise BadRequest(f"There is no format {format!r}.", f"Use one of {', '.join(FORMATS)}.")
    return _FORMATS[format](package)
