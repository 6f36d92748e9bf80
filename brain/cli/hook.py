"""The command `brain hook`. A client waits for it with each prompt, so it runs without click, whose
import would take a third of the time."""

from __future__ import annotations

import os
import sys

_OPTIONS = {"--agent": "agent", "--vault": "vault"}


def parsed(args: list[str]) -> dict[str, str] | None:
    """Return the arguments of a hook in the form that `brain connect` and the plugin write. Return
    None for any other form, which click parses."""
    if len(args) < 2 or len(args) % 2 or args[0].startswith("-") or args[1].startswith("-"):
        return None
    options = dict(zip(args[2::2], args[3::2], strict=True))
    if len(options) * 2 + 2 != len(args) or not options.keys() <= _OPTIONS.keys():
        return None
    given = {_OPTIONS[name]: value for name, value in options.items()}
    return {"client": args[0], "event": args[1], "agent": "", "vault": "", **given}


def run(client: str, event: str, agent: str, vault: str, read_only: bool = False) -> None:
    """Answer an event, whose JSON is on standard input. An error is only logged."""
    try:
        from brain.serve import hook

        given = "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode(errors="replace")
        found = hook.answer(
            client, event, given, vault=vault or os.environ.get("BRAIN_VAULT", ""),
            agent=agent or os.environ.get("BRAIN_AGENT", ""), environ=os.environ,
            read_only=read_only,
        )  # fmt: skip
        if found:
            print(found, flush=True)  # JSON in ASCII
    except Exception as error:  # the edge of the process
        hook.log(os.environ, f"{client} {event}: {type(error).__name__}: {error}")


def main(client: str, event: str, agent: str, vault: str) -> None:
    """Run the command, and leave without the interpreter's own exit, which takes a while."""
    run(client, event, agent, vault)
    os._exit(0)
