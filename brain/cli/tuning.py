"""Commands that change settings: alias, budget."""

from __future__ import annotations

import click

from brain.cli.app import acting, choices, common
from brain.cli.output import opened, say, tell
from brain.errors import BadRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brain.verbs.answer import Shape

PARTS = ("remaining", "total", "always", "bridge", "retrieval", "summary")


@click.command("alias")
@click.argument("action", type=click.Choice(["add", "list", "remove"]), default="list")
@click.argument("words", nargs=-1, metavar="[WORD [SYNONYM]...]")
@acting
@common
def alias_command(
    action: str, words: tuple[str, ...], by: str, session: str, vault: str | None, as_json: bool
) -> None:
    """Words that mean the same. A search for one finds the others.

    A few are built in. Yours stand in brain.yaml, as `auth=authentication, login`. To remove WORD
    without naming others removes it from all; what is built in is switched off by a line `word=`.

    \b
    brain alias list
    brain alias add auth login sign-in
    brain alias remove auth login
    brain alias remove db
    """
    from brain import access
    from brain.verbs import aliasing

    vault, as_json = choices(vault, as_json)
    if bool(words) == (action == "list"):
        remedy = "See `brain alias --help`."
        raise BadRequest("Which word?" if not words else "`list` takes no words.", remedy)
    with opened(vault) as brain:
        if action == "list":
            _listed(aliasing.listed(brain.vault), as_json)
            return
        change = aliasing.add if action == "add" else aliasing.remove
        shape = change(brain.vault, words[0], words[1:], access.resolve(brain.vault, by, session))
    _told(shape, as_json)


def _listed(found: Shape, as_json: bool) -> None:
    if as_json:
        tell(found)
        return
    for word, others in found["aliases"].items():
        say(f"{word} = {', '.join(others)}")


def _told(shape: Shape, as_json: bool) -> None:
    if as_json:
        tell(shape)
        return
    others = ", ".join(shape["stands_for"])
    say(f"{shape['word']} = {others}" if others else f"{shape['word']} stands for itself alone.")
    _say_state(shape)


def _say_state(shape: Shape) -> None:
    if shape["state"] != "written":
        waits = "It waits until brain.yaml is no longer being edited."
        say("Nothing changed." if shape["state"] == "unchanged" else waits, "dim")


@click.command("budget")
@click.argument("tokens", type=int, required=False)
@acting
@common
def budget_command(
    tokens: int | None, by: str, session: str, vault: str | None, as_json: bool
) -> None:
    """Show or set how many tokens memory takes of a context at most.

    Who asks with a budget of its own (`brain context --budget`) gets that.

    \b
    brain budget
    brain budget 3000
    """
    from brain import access
    from brain.verbs import aliasing

    vault, as_json = choices(vault, as_json)
    with opened(vault) as brain:
        told: Shape = {"state": "written"}
        if tokens is not None:
            told = aliasing.limit(brain.vault, tokens, access.resolve(brain.vault, by, session))
        ceiling, rows = brain.vault.config.budgetCeiling, aliasing.allocations(brain.vault)
    if as_json:
        change = {"change": told} if tokens is not None else {}
        tell({"ceiling": ceiling, "allocations": rows, **change})
        return
    say(" ".join(f"{part:>9}" for part in PARTS), "dim")
    for row in rows:
        say(" ".join(f"{row[part]:>9,}" for part in PARTS))
    _say_state(told)
