"""`brain graph`: what a person, a script and Obsidian get."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.graph.test_export import check
from tests.kit import snapshot

FRESH = {"fresh", "as_of", "stale"}
PROJECTS = "40_Brain/projects"


def test_without_an_id_it_lists_clusters(demo: Path, run: Run) -> None:
    said = run("graph")
    assert (said.code, said.err) == (0, "")
    blocks = re.split(r"\n(?! )", said.out.rstrip())
    assert blocks[0].startswith("db  (7)\n  m-7f3k2ab4   My own tools keep their data in SQLite")
    assert blocks[0].endswith("\n  and 2 more")
    assert re.fullmatch(r"\d+ more in no cluster\.", blocks[-1])


def test_with_an_id_it_groups_the_ties(demo: Path, run: Run) -> None:
    said = run("graph", "m-7f3k2ab4").out
    assert said.startswith("40_Brain/MEMORY.md:9\nMy own tools keep their data in SQLite")
    assert "\nsupersedes     m-4t8wq2nd   My own tools keep their data in JSON" in said
    assert "\nlinked from    [[Welcome]]\n" in said
    assert "\nlinks to       [[30_Resources/SQLite Notes]]\n" in said
    assert "\nin cluster     db\n" in said
    assert "\n#db\n  m-4t8wq2nd " in said
    assert "\nsuperseded by  m-7f3k2ab4 " in run("graph", "m-4t8wq2nd").out
    assert said.split("#db\n")[1].count("\n  m-") > 4
    near = run("graph", "m-7f3k2ab4", "--depth", "1").out
    assert near.split("#db\n")[1].count("  m-") == 1  # the one that is tied in another way


def test_what_was_learned_is_shown_with_its_strength(demo: Path, run: Run) -> None:
    from brain.api import open as open_brain
    from tests.journal.kit import put

    with open_brain(demo) as brain:
        put(brain.vault.journal, "used_together", "m-7f3k2ab4", other="m-9hx3c6vr", strength=2)
    assert re.search(r"\nlearned with   m-9hx3c6vr .*  0\.75\n", run("graph", "m-7f3k2ab4").out)


def test_around_a_note(demo: Path, run: Run) -> None:
    said = run("graph", "30_Resources/SQLite Notes.md:3", "-d", "1").out
    assert said.startswith(
        "[[30_Resources/SQLite Notes]]\nSQLite Notes\nlinked from    m-7f3k2ab4 "
    )
    lonely = run("graph", "30_Resources/Sauerkraut.md:1")
    assert lonely.code == 4
    assert "is not connected to any memory." in lonely.err


def test_json_has_the_documented_shape(demo: Path, run: Run) -> None:
    shape = run("graph", "--json").json
    assert set(shape) == {"root", "nodes", "edges", "clusters"} | FRESH
    assert shape == run("graph", "--format", "json").json | {"as_of": shape["as_of"]}
    ids = {node["id"] for node in shape["nodes"]}
    assert all({edge["source"], edge["target"]} <= ids for edge in shape["edges"])
    members = [id for cluster in shape["clusters"] for id in cluster["members"]]
    assert set(members) <= ids
    assert len(members) == len(set(members))
    around = run("graph", "m-7f3k2ab4", "--json").json
    assert around["root"] == "m-7f3k2ab4"
    assert {node["id"] for node in around["nodes"]} < ids


def test_a_canvas_for_obsidian(demo: Path, run: Run) -> None:
    drawn = run("graph", "--format", "canvas").json
    check(drawn)
    cards = [node for node in drawn["nodes"] if node["type"] == "file"]
    assert all((demo / card["file"]).is_file() for card in cards)
    for card in cards:
        if "subpath" in card:
            block = card["subpath"].removeprefix("#")
            assert re.search(rf"\s{re.escape(block)}$", (demo / card["file"]).read_text(), re.M)


def test_nothing_is_written(demo: Path, run: Run) -> None:
    def notes() -> dict[str, object]:
        every = snapshot(demo).items()
        return {path: seen for path, seen in every if "brain.db" not in path}

    run("sync")
    before = notes()
    for format in ("json", "canvas"):
        run("graph", "--format", format)
    assert notes() == before


@pytest.mark.parametrize("format", ["", "json", "canvas"])
def test_an_agent_sees_nothing_of_another_project(demo: Path, run: Run, format: str) -> None:
    """Neither node nor edge, label, count or path; not even through the admin's links to it."""
    for name in ("zoo", "park"):
        (demo / PROJECTS / name / "agent").mkdir(parents=True)
        (demo / PROJECTS / name / "agent/AGENT.md").write_text("---\ntype: project\n---\nx\n")
    theirs = "- Walruses hide #tusks #db [[Ice]] [[40_Brain/MEMORY#^m-7f3k2ab4]] ^m-parkpark\n"
    theirs += "- Walruses sing #tusks ^m-parksing\n"
    (demo / PROJECTS / "park/agent/MEMORY.md").write_text(theirs)
    mine = f"- Seals bark [[{PROJECTS}/park/agent/MEMORY]] #db ^m-zoozoozo\n"
    mine += (
        f"- Seals sleep [relates_to:: [[{PROJECTS}/park/agent/MEMORY#^m-parkpark]]] ^m-zoosleep\n"
    )
    (demo / PROJECTS / "zoo/agent/MEMORY.md").write_text(mine)
    asked = ["--format", format] if format else []
    for id in ([], ["m-zoozoozo"], ["m-zoosleep"]):
        said = run("graph", *id, *asked, "--by", "zoo")
        assert said.code == 0
        assert not re.search("park|tusks|Walrus|Ice", said.out)
    seen = run("graph", "m-parksing", *asked, "--by", "zoo")
    assert (seen.code, seen.out) == (4, "")
    assert "tusks" in run("graph", *asked).out
    alone = json.loads(run("graph", "--json", "--by", "zoo").out)
    (demo / PROJECTS / "park/agent/MEMORY.md").unlink()
    without = json.loads(run("graph", "--json", "--by", "zoo").out)
    assert alone | {"as_of": None} == without | {"as_of": None}


@pytest.mark.parametrize("name", ["basic", "messy"])
def test_any_vault_can_be_drawn(tmp_path: Path, run: Run, name: str) -> None:
    vaults = Path(__file__).parent.parent / "vaults"
    root = shutil.copytree(vaults / name, tmp_path / name, symlinks=True)
    check(run("graph", "--format", "canvas", "--vault", root).json)
    shape = run("graph", "--json", "--vault", root).json
    memories = [node["id"] for node in shape["nodes"] if node["type"] == "memory"]
    assert len(memories) > 2
    for id in memories:
        assert run("graph", id, "--json", "--vault", root).json["root"] == id


def test_one_agent_alone(demo: Path, run: Run) -> None:
    shape = run("graph", "--agent", "garden-planner", "--json").json
    owners = {node["agent"] for node in shape["nodes"] if node["type"] == "memory"}
    assert owners == {"garden-planner"}
    denied = run("graph", "--agent", "garden-planner", "--by", "nobody")
    assert denied.code == 4


def test_an_empty_brain(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "new/40_Brain").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "new")
    assert run("graph").out == "There are no memories yet.\n"
    assert run("graph", "--format", "canvas").json == {"nodes": [], "edges": []}
    assert run("graph", "nothing").code == 4
    assert run("graph", "--format", "dot").code == 2


def test_a_weight_that_was_set_is_shown(demo: Path, run: Run) -> None:
    assert run("link", "m-4t8wq2nd", "m-bkr3q06x", "--weight", "0.35").code == 0
    assert "  0.35\n" in run("graph", "m-4t8wq2nd").out
    assert run("link", "m-4t8wq2nd", "m-bkr3q06x", "--weight", "3").code == 2
