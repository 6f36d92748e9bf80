"""The Python interface: one method per operation, typed, for one thread."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import brain
from brain import serialize
from brain.api import Brain
from brain.cli.main import cli
from brain.errors import BadRequest, WrongThread
from brain.operations import GROUPS, OPERATIONS, Operation
from brain.operations.parameters import HIDDEN, parameter
from brain.operations.results import Mention
from tests import kit
from tests.conftest import MakeVault, OpenBrain

ROOT = Path(__file__).parent.parent
SNIPPET = """\
from brain.api import Brain

def use(vault: Brain) -> None:
    reveal_type(vault.remember("text", kind="fact"))
    reveal_type(vault.search("text")[0].score)
    vault.remember("text", knd="fact")
    vault.pin(7)
"""


def named(operation: Operation) -> str:
    return operation.name


@pytest.mark.parametrize("operation", OPERATIONS, ids=named)
def test_an_operation_has_one_name_and_one_signature(operation: Operation) -> None:
    function, method = operation.load(), getattr(Brain, operation.method)
    assert method.__wrapped__ is function
    assert method.__doc__ == function.__doc__
    assert next(iter(inspect.signature(function).parameters)) == "vault"
    assert operation.group in GROUPS


def test_every_method_is_an_operation() -> None:
    methods = {name for name, value in vars(Brain).items() if hasattr(value, "__wrapped__")}
    assert methods - {"refresh", "remember_all"} == {operation.method for operation in OPERATIONS}


@pytest.mark.parametrize("operation", OPERATIONS, ids=named)
def test_every_operation_says_who_acts(operation: Operation) -> None:
    """And all but those of the vault as a whole, whose memory it is."""
    given = inspect.signature(operation.load()).parameters
    assert "by" in given
    whole = (
        "config",
        "budget",
        "sync",
        "journal write",
        "pause",
        "resume",
        "undo",
        "session import",
    )
    assert (
        "agent" in given
        or operation.name in whole
        or operation.name.startswith(("alias ", "agent "))
    )
    assert all(parameter(operation.name, name).meaning for name in given if name not in HIDDEN)


def test_a_command_takes_what_its_operation_takes() -> None:
    import click

    context = click.Context(cli)
    for operation in OPERATIONS:
        command: click.Command | None = cli
        for word in operation.name.split():
            assert isinstance(command, click.Group)
            command = command.get_command(context, word)
        assert command is not None
        given = [n for n in inspect.signature(operation.load()).parameters if n not in HIDDEN]
        assert [p.name for p in command.params][: len(given)] == given


def test_a_type_checker_knows_the_methods(tmp_path: Path) -> None:
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    said = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert 'Revealed type is "brain.operations.results.Remembered"' in said
    assert re.search(r'snippet.py:5: note: Revealed type is "(builtins\.)?float"', said)
    assert re.search(r'snippet.py:6: error: Unexpected keyword argument "knd"', said)
    assert re.search(r'snippet.py:7: error: .*incompatible type "int"; expected "str"', said)


def test_another_thread_is_told_what_to_do(vault: MakeVault, opened: OpenBrain) -> None:
    here = opened(vault())
    caught: list[BaseException] = []

    def use() -> None:
        for call in (here.search, here.remember, here.close):
            try:
                call(*([] if call == here.close else ["walrus"]))
            except BaseException as error:
                caught.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert [type(error) for error in caught] == [WrongThread] * 3
    assert "`brain.open()`" in str(caught[0])
    assert here.search("walrus").results


def test_the_reference_names_only_public_names() -> None:
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    used = set(re.findall(r"\bbrain\.([A-Za-z]\w*)", page)) - {"yaml", "serialize"}
    used |= set(re.findall(r"^.*\bby: ([A-Z]\w+) \|", page, re.MULTILINE))
    results = set(re.findall(r"-> (?:list\[)?([A-Z]\w+)", page)) | set(
        re.findall(r"^\| `([A-Z]\w+)` \|", page, re.MULTILINE)
    )
    assert {"open", "WrongThread", "Actor"} <= used
    assert (used | results) - set(brain.__all__) == set()
    assert {"BrainError", *(each.__name__ for each in brain.BrainError.__subclasses__())} <= set(
        brain.__all__
    )


def test_a_result_is_readable(vault: MakeVault, opened: OpenBrain) -> None:
    here = opened(vault())
    found = here.search("SQLite")[0]
    place = "40_Brain/MEMORY.md:4"
    words = "'2026-02-01: Chose SQLite over PostgreSQL'"
    assert repr(found) == f"SearchResult(m-7f3k2ab4, {place}, {found.score:.2f}, {words})"
    assert (found.id, found.path, found.line) == ("m-7f3k2ab4", "40_Brain/MEMORY.md", 4)
    assert found.text.startswith("2026-02-01: Chose SQLite")
    shown = repr(here.pin("m-7f3k2ab4"))
    words = "'2026-02-01: Chose SQLite over PostgreSQ…'"
    assert shown == f"Changed(m-7f3k2ab4, {place}, pinned, {words})"
    assert repr(here) == f"Brain({here.vault.paths.root_path!r})"
    assert repr(here.sync()) == f"Stats({here.sync().files} files)"


def test_the_properties_of_a_note_are_not_shown_as_its_text(
    vault: MakeVault, opened: OpenBrain
) -> None:
    here = opened(vault({"Tide.md": "---\ntags: [sea]\n---\n\nThe tide turns at noon.\n"}))
    found = here.search("tide")[0]
    assert repr(found).endswith("'The tide turns at noon.')")
    assert repr(here.show(found.id)).endswith("'The tide turns at noon.')")


def test_results_are_values() -> None:
    one, same = Mention(id="m-1", text="x"), Mention(id="m-1", text="x")
    assert one == same != one.replace(text="y")
    assert serialize.document([one]) == [{"id": "m-1", "text": "x"}]
    with pytest.raises(TypeError, match="text"):
        Mention(id="m-1")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Mention"):
        Mention(id="m-1", text="x", more=1)  # type: ignore[call-arg]


def test_an_agent_limits_which_entries_are_meant(vault: MakeVault, opened: OpenBrain) -> None:
    here = opened(vault())
    assert here.show("walrus", agent="zoo").text == "The walrus eats clams"
    with pytest.raises(brain.NotFound):
        here.show("SQLite", agent="zoo")
    with pytest.raises(brain.NotFound):
        here.pin("m-7f3k2ab4", agent="zoo")
    assert here.pin("walrus", agent="zoo").path.startswith("40_Brain/projects/zoo")


def test_only_a_person_or_an_admin_stops_writing(vault: MakeVault, opened: OpenBrain) -> None:
    here = opened(vault())
    for call in (here.pause, here.resume, here.journal_write):
        with pytest.raises(brain.Denied, match="zoo may not"):
            call(by="zoo")
    assert here.pause(by="admin") is True
    assert here.resume() is False


def test_a_provider_can_be_given(vault: MakeVault, tmp_path: Path) -> None:
    class Model:
        name = "mine"

        def embed(self, texts: list[str]) -> list[list[float]]:
            return [[1.0] for _ in texts]

    with brain.open(vault(kit.VAULT), state=tmp_path / "s", provider=Model()) as here:
        assert here.vault.provider.name == "mine"


def test_a_closed_brain_says_so(opened: OpenBrain, vault: MakeVault) -> None:
    brain = opened(vault({"40_Brain/MEMORY.md": "- Seals bark\n"}))
    brain.search("seals")
    brain.close()
    brain.close()
    with pytest.raises(BadRequest, match=r"This Brain is closed\. Call `brain\.open\(\)` again\."):
        brain.search("seals")


UNCLOSED = """
import sys
import brain
vault = brain.open(sys.argv[1])
vault.remember("Walruses nap")
vault.search("walruses")
"""


def test_a_process_that_does_not_close_leaves_a_sound_index(
    vault: MakeVault, tmp_path: Path
) -> None:
    root = vault({"40_Brain/MEMORY.md": "- Seals bark\n"})
    env = os.environ | {"BRAIN_STATE": str(tmp_path / "state")}
    subprocess.run([sys.executable, "-c", UNCLOSED, root], env=env, check=True, timeout=60)
    with brain.open(root, state=tmp_path / "state") as opened:
        assert opened.search("walruses")[0].text.endswith("Walruses nap")
        assert opened.vault.index.news == ""


def test_one_word_where_several_are_taken(opened: OpenBrain, vault: MakeVault) -> None:
    found = opened(vault({"40_Brain/MEMORY.md": "## Decisions\n- Seals bark #sea\n"}))
    for options in ({"tags": "sea"}, {"kinds": "decision"}, {"scopes": "memory"}):
        assert len(found.search("seals", **options)) == 1
        assert len(found.list(**options)) == 1


def test_the_public_names_are_listed() -> None:
    assert {"open", "Brain", "BrainError"} <= set(dir(brain))
