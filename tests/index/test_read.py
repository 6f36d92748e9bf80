"""Questions to the index, beyond what search asks."""

from __future__ import annotations

import os

import pytest

from brain.api import Brain
from brain.errors import Ambiguous, NotFound
from brain.index import fulltext, read
from brain.model import SCOPES
from brain.operations import lookup
from tests import kit
from tests.conftest import MakeVault, OpenBrain


def test_an_entry_by_its_id_or_its_place(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault())
    brain.sync()
    names = ["m-7f3k2ab4", "^m-7f3k2ab4", "[id:m-7f3k2ab4]", "m-7f3k", "40_Brain/MEMORY.md:4"]
    names += ["M-7F3K2AB4", "M-7f3", "m-7", "./40_Brain/MEMORY.md:4"]
    assert {lookup.find(brain.vault, name).line for name in names} == {4}
    assert lookup.find(brain.vault, "task-1").ref == "TASK-1"
    for path in ("Architecture.md", "./Architecture.md", "Notes/../Architecture.md"):
        assert lookup.find(brain.vault, path).path == "Architecture.md"
    with pytest.raises(Ambiguous, match="'m-' matches 5 entries"):
        lookup.find(brain.vault, "m-")
    for name in (
        "m-9",
        "nothing",
        "../Architecture.md",
        "Task",
        "Architecture.md:99",
        "\udcff",
        "\udcff:1",
        "%",
        "m_7f3k2ab4",
    ):
        with pytest.raises(NotFound):
            lookup.find(brain.vault, name)


def test_two_entries_with_one_id(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({"a.md": "same\n", "b.md": "same\n"}))
    brain.sync()
    with pytest.raises(Ambiguous, match=r"a\.md:1 .*b\.md:1"):
        lookup.find(brain.vault, read.by_place(brain.vault.index, "a.md", 0)[0].ref)


def test_the_list_is_newest_first_and_comes_in_pages(vault: MakeVault, opened: OpenBrain) -> None:
    lines = "".join(f"- 2026-01-{day:02}: entry\n" for day in range(1, 10))
    brain = opened(vault({"40_Brain/MEMORY.md": lines}))
    brain.sync()
    wanted = lookup.filters(brain.vault, ["memory"])
    pages = [
        row.created for at in (0, 4, 8) for row in read.listed(brain.vault.index, wanted, 4, at)
    ]
    assert pages == [f"2026-01-{day:02}" for day in range(9, 0, -1)]


def test_an_entry_without_a_date_is_as_old_as_its_file(vault: MakeVault, opened: OpenBrain) -> None:
    import os

    root = vault({"40_Brain/MEMORY.md": "- entry\n", "a.md": "---\ndate: 2025-05-05\n---\nx\n"})
    os.utime(root / "40_Brain/MEMORY.md", ns=(0, 1_700_000_000_123_000_000))
    brain = opened(root)
    brain.sync()
    rows = read.listed(brain.vault.index, lookup.filters(brain.vault), 9)
    found = {row.path: row.created for row in rows}
    assert found == {"40_Brain/MEMORY.md": "2023-11-14T22:13:20.123Z", "a.md": "2025-05-05"}


def test_an_entry_without_a_date_is_as_old_as_its_record(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """Whatever becomes of its file; also when a person edits it, and in an index made anew."""
    note = "40_Brain/MEMORY.md"
    root = vault({note: "---\ncreated: 2021-01-01\n---\n- By hand, the walrus\n"})
    os.utime(root / note, (1, 1))
    brain = opened(root)
    brain.sync()
    brain.remember("No date here, walrus", date=False)
    for words in ("No date here", "None yet"):
        (root / note).write_text((root / note).read_text().replace("No date here", words))
        os.utime(root / note, (1, 1))
        brain.refresh()
        assert _days(brain) == {"2021-01-01", "2026-03-01"}
        (hit,) = brain.search("walrus", since="2026-02-01").results
        assert brain.show(hit.row.ref).confidence == 1
    brain.sync(rebuild=True)
    assert _days(brain) == {"2021-01-01", "2026-03-01"}


def _days(brain: Brain) -> set[str]:
    rows = read.listed(brain.vault.index, lookup.filters(brain.vault, ["memory"]), 9)
    return {row.created[:10] for row in rows}


@pytest.mark.parametrize("engine", ["fts5", "fts4"])
def test_nothing_is_left_of_characters_that_are_gone(
    engine: str, vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault({"a.md": "鯱と海象\n", "b.md": "海象\n", "c.md": "walrus\n"})
    brain = opened(root, engine=engine)
    brain.sync()
    assert fulltext.size(brain.vault.index, "characters") >= 2
    before = (
        fulltext.size(brain.vault.index, "passages"),
        fulltext.size(brain.vault.index, "characters"),
    )
    (root / "a.md").unlink()
    brain.sync()
    assert kit.found(brain, "海象") == ["b.md"]
    after = (
        fulltext.size(brain.vault.index, "passages"),
        fulltext.size(brain.vault.index, "characters"),
    )
    assert [a - b for a, b in zip(after, before, strict=True)] == [-1, -1]
    assert brain.vault.index.compact()
    assert "鯱".encode() not in (root / "40_Brain/brain.db").read_bytes()
    assert brain.vault.index.healthy()


def test_only_what_holds_characters_has_a_row_for_them(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault({"a.md": "walrus and clams\n"})
    brain = opened(root)
    brain.sync()
    assert fulltext.size(brain.vault.index, "characters") == 0
    (root / "a.md").write_text("walrus 海象\n", encoding="utf-8")
    brain.sync()
    (row,) = brain.vault.index.db.execute("SELECT spaced FROM characters_fts").fetchall()
    assert row == ("海 象 0 0 0",)  # and as long as the note: two words, and its name
    (root / "a.md").write_text("walrus\n", encoding="utf-8")
    brain.sync()
    assert fulltext.size(brain.vault.index, "characters") == 0


def test_links_to_an_entry_are_found_without_reading_all_links(
    vault: MakeVault, opened: OpenBrain
) -> None:
    index = opened(vault()).vault.index
    asked: list[str] = []
    index.db.set_trace_callback(asked.append)
    read.linking(index, "m-7f3k2ab4")
    index.db.set_trace_callback(None)
    plan = index.db.execute(f"EXPLAIN QUERY PLAN {asked[-1]}").fetchall()
    assert "links_fragment" in str(plan), plan


def test_counts_links_agents(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault())
    brain.sync()
    counts = read.counts(brain.vault.index)
    assert tuple(counts) == SCOPES
    assert counts["items"] == {"files": 1, "entries": 1}
    assert counts["memory"]["files"] == 2
    (link,) = read.links_of(brain.vault.index, lookup.find(brain.vault, "m-7f3k2ab4").id)
    assert (link.kind, link.target, link.line) == ("link", "Architecture", 4)
    assert read.owners(brain.vault.index) == {"admin", "zoo"}
    said = {agent["agent"]: agent.get("name") for agent in read.agents(brain.vault.index)}
    assert said == {"admin": "Ada", "zoo": "Keeper"}


def test_row_ids_are_never_used_twice(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault({"a.md": "one\n", "b.md": "two\n"})
    brain = opened(root)
    brain.sync()
    last = max(known.id for known in read.known(brain.vault.index).values())
    (root / "b.md").unlink()
    brain.sync()
    (root / "c.md").write_text("three\n")
    brain.sync()
    assert read.known(brain.vault.index)["c.md"].id == last + 1


def test_known_paths_and_what_lies_below(vault: MakeVault, opened: OpenBrain) -> None:
    names = ["a.md", "a/x.md", "a/b/y.md", "a0.md", "a-b/z.md", "ab.md", "ä/x.md"]
    brain = opened(vault({name: name for name in names}))
    brain.sync()

    def below(*paths: str) -> list[str]:
        return sorted(read.known(brain.vault.index, paths))

    assert below("a") == ["a/b/y.md", "a/x.md"]
    assert below("a.md", "a/b") == ["a.md", "a/b/y.md"]
    assert below("a", "a/b", "a/x.md") == ["a/b/y.md", "a/x.md"]
    assert below("ä", "\udcff") == ["ä/x.md"]
    assert below() == []
    assert below(*(f"no{n}" for n in range(5000)), "ab.md") == ["ab.md"]


def test_a_dump_says_everything(vault: MakeVault, opened: OpenBrain) -> None:
    one, two = opened(vault(name="a/v")), opened(vault(name="b/v"))
    one.sync()
    two.sync()
    assert kit.dump(one.vault.index) == kit.dump(two.vault.index)
    (two.vault.paths.root / "Architecture.md").write_text(str(kit.VAULT["Architecture.md"]) + "!\n")
    two.sync()
    assert kit.dump(one.vault.index) != kit.dump(two.vault.index)
