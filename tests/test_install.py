"""What an installation brings: how many packages, and how large."""

from __future__ import annotations

import re
from importlib.metadata import distribution, requires

MOST_PACKAGES, MOST_MB = 45, 130


def packages(name: str, found: set[str]) -> set[str]:
    """A package with all that it needs on this machine, without extras."""
    if name in found:
        return found
    found.add(name)
    for line in requires(name) or ():
        wanted, _, marker = line.partition(";")
        if "extra" not in marker and "win32" not in marker and _holds(marker):
            packages(re.split(r"[^\w.-]", wanted.strip())[0].lower(), found)
    return found


def _holds(marker: str) -> bool:
    from packaging.markers import Marker

    return not marker.strip() or Marker(marker).evaluate()


def test_an_installation_is_small() -> None:
    found = packages("vault-brain", set()) - {"vault-brain"}
    assert len(found) <= MOST_PACKAGES
    files = [file for name in found for file in distribution(name).files or ()]
    paths = [file.locate() for file in files]
    size = sum(path.stat().st_size for path in paths if path.is_file())
    assert size <= MOST_MB * 1_000_000


def test_the_sdk_is_part_of_it() -> None:
    assert "mcp" in packages("vault-brain", set())
