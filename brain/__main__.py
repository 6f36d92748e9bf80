"""The program `brain`, also as `python -m brain`."""

from __future__ import annotations

import sys

from brain.cli import hook


def main() -> None:
    """Run the command that the arguments name."""
    is_hook = sys.argv[1:2] == ["hook"]
    if is_hook and (given := hook.parsed(sys.argv[2:])):
        hook.main(**given)
    else:
        from brain.cli import main as commands

        commands.main()


if __name__ == "__main__":
    main()
