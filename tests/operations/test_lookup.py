"""A vault whose memory notes and sessions are called otherwise."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from brain import daemon
from brain.api import Brain
from brain.errors import BadConfig
from brain.new_vault import create
from tests import kit
from tests.journal import kit as journals
from tests.operations.conftest import LONG_AGO, Made

SETTINGS = 'memoryPath: "<agent>/Wissen/Gedächtnis.md"\nsessionsPath: "<agent>/Gespräche/"\n'
NOTE = "40_Brain/Wissen/Gedächtnis.md"
ZOO = "40_Brain/projects/zoo/agent/Wissen/Gedächtnis.md"
VAULT: dict[str, str | bytes] = {
    "40_Brain/brain.yaml": SETTINGS,
    "40_Brain/AGENT.md": kit.AGENT,
    NOTE: "## Facts\n- The keeper is called Ada ^m-00000001\n- Doors open at nine\n",
    ZOO: "- The walrus eats clams\n",
    "40_Brain/agents/vet/Wissen/Gedächtnis.md": "- Seals need salt water\n",
    "40_Brain/Gespräche/2026-01-01.jsonl": kit.TURN,
    "40_Brain/agents/vet/Gespräche/s.jsonl": kit.TURN,
    "40_Brain/MEMORY.md": "# A note like any other\n\nOstrich.\n",
    "40_Brain/sessions/old.jsonl": kit.TURN,
}


def roles(brain: Brain) -> dict[str, tuple[str, str]]:
    rows = brain.vault.index.db.execute("SELECT path, scope, agent FROM files")
    return {path.removeprefix("40_Brain/"): (scope, agent) for path, scope, agent in rows}


def test_whose_each_file_is(made: Made) -> None:
    brain = made(VAULT)
    brain.sync()
    assert roles(brain) == {
        "AGENT.md": ("sources", "admin"),
        "Wissen/Gedächtnis.md": ("memory", "admin"),
        "projects/zoo/agent/Wissen/Gedächtnis.md": ("memory", "zoo"),
        "agents/vet/Wissen/Gedächtnis.md": ("memory", "vet"),
        "Gespräche/2026-01-01.jsonl": ("sessions", "admin"),
        "agents/vet/Gespräche/s.jsonl": ("sessions", "vet"),
        "MEMORY.md": ("sources", ""),
    }


def test_remembered_found_and_undone(made: Made) -> None:
    brain = made(VAULT)
    shape = brain.remember("Otters juggle stones")
    assert (shape.path, shape.agent) == (NOTE, "admin")
    assert kit.found(brain, "otters juggle") == [NOTE]
    assert brain.remember("Clams come on Mondays", agent="zoo", by="zoo").path == ZOO
    vet = brain.remember("Salt comes on Fridays", agent="vet")
    assert vet.path == "40_Brain/agents/vet/Wissen/Gedächtnis.md"
    assert brain.pin("Doors open at nine").outcome == "pinned"
    assert len(brain.audit(agent="vet")) == 1
    for _ in range(4):
        brain.undo()
    brain.sync()
    assert kit.found(brain, "otters mondays fridays", scopes=["memory"]) == []
    assert "pinned" not in (brain.vault.paths.root / NOTE).read_text()


def test_a_new_agent_gets_its_note_there(made: Made) -> None:
    brain = made(VAULT | {"40_Brain/agents/new/AGENT.md": "---\nname: New\n---\n"})
    shape = brain.remember("Fresh start", agent="new")
    assert shape.path == "40_Brain/agents/new/Wissen/Gedächtnis.md"
    assert shape.agent == "new"


def test_other_names_mean_another_index(made: Made, tmp_path: Path) -> None:
    """The same files, read differently: what the index says is what a new one would."""
    files = {path: text for path, text in VAULT.items() if not path.endswith("yaml")}
    brain = made(files)
    brain.sync()
    assert roles(brain)["MEMORY.md"] == ("memory", "admin")
    (brain.vault.paths.folder / "brain.yaml").write_text(SETTINGS)
    brain.vault.reload()
    brain.sync()
    assert roles(brain)["MEMORY.md"] == ("sources", "")
    dump = kit.dump(brain.vault.index), journals.dump(brain.vault.index)
    brain.sync(rebuild=True)
    assert (kit.dump(brain.vault.index), journals.dump(brain.vault.index)) == dump
    assert brain.remember("Written after").path == NOTE
    with kit.open_brain(brain.vault.paths.root, brain.vault.paths.state.parent) as other:
        assert kit.found(other, "written after") == [NOTE]
        assert not other.vault.index.news
        (brain.vault.paths.folder / "brain.yaml").write_text("")
        other.vault.reload()
        other.sync()
        assert roles(other)["MEMORY.md"] == ("memory", "admin")


def test_a_daemon_follows_it(made: Made) -> None:
    files = {path: text for path, text in VAULT.items() if not path.endswith("yaml")}
    brain = made(files)
    note, heard = brain.vault.paths.root / NOTE, list[str]()
    brain.events.subscribe(lambda event: heard.append(f"{event.name} {event.payload.get('type')}"))

    def hints() -> Iterator[frozenset[str] | None]:
        yield None
        (brain.vault.paths.folder / "brain.yaml").write_text(SETTINGS)
        yield None
        note.write_text(note.read_text() + "- Pelicans dive\n")
        yield frozenset([NOTE])

    daemon.run(brain.vault, threading.Event(), pytest.fail, hints())
    assert heard == [
        "memory:sync None", "events:lost None", "memory:sync None", "memory:write memory",
    ]  # fmt: skip
    assert kit.found(brain, "pelicans", scopes=["memory"]) == [NOTE]


def test_a_new_vault_with_settings(tmp_path: Path) -> None:
    kit.lay(tmp_path, {"40_Brain/brain.yaml": SETTINGS})
    made = create(tmp_path)
    assert NOTE in made
    assert "40_Brain/MEMORY.md" not in made
    attributes = (tmp_path / "40_Brain/.gitattributes").read_text()
    assert "**/Gespräche/*.jsonl merge=union" in attributes
    os.utime(tmp_path / NOTE, (LONG_AGO, LONG_AGO))
    with kit.open_brain(tmp_path, tmp_path / "state") as brain:
        assert brain.remember("Here it is").path == NOTE


@pytest.mark.parametrize(
    "path",
    ["MEMORY.md", "<agent>", "<agent>/", "<agent>/../M.md", "<agent>//M.md", "<agent>/.m/M.md",
     "<agent>/M.txt", "<agent>/AGENT.md", "<agent>/archive/M.md", "x/<agent>/M.md", "/M.md",
     "<agent>/journal/M.md", "<agent>/a\\\\M.md"],
)  # fmt: skip
def test_a_path_elsewhere_is_refused_with_its_line(made: Made, path: str) -> None:
    brain = made(VAULT)
    (brain.vault.paths.folder / "brain.yaml").write_text(f'searchLimit: 5\nmemoryPath: "{path}"\n')
    with pytest.raises(BadConfig, match="line 2: memoryPath must be a path in the agent's folder"):
        brain.vault.reload()
    assert brain.remember("As it was").path == NOTE
