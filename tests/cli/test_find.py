"""search, show, list, open: what a person or a script gets to see."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from brain.cli.find import _age
from brain.search.factors import ADDED, MULTIPLIED
from tests.cli.conftest import Run

ENTRY = {
    "id", "scope", "kind", "status", "agent", "project", "path", "line", "end_line", "title",
    "heading", "text", "tags", "created",
}  # fmt: skip
WORTH = {
    "score", "hits", "last_hit", "updated", "importance", "confidence", "source", "by", "session",
}  # fmt: skip
ORIGIN = {"provenance", "confidence_factors", "importance_factors"}
FRESH = {"fresh", "as_of", "stale"}


def line_of(root: Path, path: str, words: str) -> int:
    lines = (root / path).read_text(encoding="utf-8").split("\n")
    return next(n for n, line in enumerate(lines, 1) if words in line)


# -- search --------------------------------------------------------------------------------------


def test_a_file_may_be_named_from_where_one_is(
    demo: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo / "40_Brain")
    for name in ("MEMORY.md:9", "./MEMORY.md:9", "40_Brain/MEMORY.md:9"):
        assert run("show", name, "--json").json["path"] == "40_Brain/MEMORY.md"
    assert run("open", "../Welcome.md", "--json").json["path"] == "Welcome.md"
    monkeypatch.chdir(demo.parent)
    assert run("show", "MEMORY.md:9", "--vault", demo).code != 0


def test_search_prints_place_snippet_and_facts(demo: Path, run: Run) -> None:
    said = run("search", "slug pellets", "-n", "1")
    line = line_of(demo, "40_Brain/MEMORY.md", "Never suggest slug pellets")
    place, snippet, facts = said.out.rstrip().split("\n")
    assert said.code == 0
    assert place == f"40_Brain/MEMORY.md:{line}"
    assert "«slug» «pellets»" in snippet
    assert " · memory · negative · " in facts


def test_search_json_has_the_documented_shape(demo: Path, run: Run) -> None:
    answer = run("search", "sqlite", "--json").json
    assert set(answer) == {"query", "results", "notes"} | FRESH
    assert (answer["query"], answer["fresh"], answer["stale"]) == ("sqlite", True, [])
    first = next(each for each in answer["results"] if each["scope"] == "memory")
    assert set(first) - {"anchored"} == ENTRY | {"score", "snippet", "conflicts", "also"}
    assert first["id"] == "m-7f3k2ab4"
    assert (first["scope"], first["kind"], first["agent"]) == ("memory", "decision", "admin")
    assert first["line"] == line_of(demo, first["path"], "^m-7f3k2ab4")
    assert isinstance(first["score"], float)
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_search_tells_of_filters_that_nothing_can_pass(demo: Path, run: Run) -> None:
    said = run("search", "frost", "--kind", "decisions")
    assert (said.code, said.out) == (2, "")
    assert said.err == "brain: There is no kind 'decisions'. Did you mean 'decision'?\n"
    said = run("search", "frost", "--tag", "nope", "--project", "nowhere")
    assert (said.code, said.out) == (0, "Nothing found.\n")
    assert "No entry has the tag #nope.\nNo entry belongs to the project 'nowhere'." in said.err
    assert run("list", "--kind", "nokind").code == 2


def test_as_of_is_a_moment_before_the_answer(demo: Path, run: Run) -> None:
    assert run("search", "frost", "--json").json["as_of"].endswith("Z")


def test_explain_names_every_factor(demo: Path, run: Run) -> None:
    result = run("search", "frost", "--json", "--explain", "-n", "1").json["results"][0]
    assert result["matched"] == "whole words"
    factors = result["factors"]
    expected = sum(factors.get(name, 0) for name in ADDED)
    expected *= math.prod(factors.get(name, 1) for name in MULTIPLIED)
    assert result["score"] == pytest.approx(expected)
    assert 0 < result["covered"] <= 1


def test_the_score_can_be_worked_out_from_what_is_printed(demo: Path, run: Run) -> None:
    """Factors of 1 and parts of 0 are not printed; nothing else is left out."""
    lines = run("search", "when did we decide on frost dates", "--explain", "--scope", "all").out
    sums = re.findall(r"^  ([0-9.]+) = (.*?)(?:, and .*)?$", lines, re.M)
    assert len(sums) > 5
    for score, formula in sums:
        plain = re.sub(r"[a-z0-9]*[a-z][a-z0-9]* ", "", formula).replace("×", "*")
        assert eval(plain) == pytest.approx(float(score), abs=1e-4)


def test_a_search_that_finds_nothing_worked(demo: Path, run: Run) -> None:
    assert run("search", "zeppelin")[:2] == (0, "Nothing found.\n")
    assert run("search", "zeppelin", "--json").json["results"] == []


def test_search_sees_what_was_saved_a_moment_ago(demo: Path, run: Run) -> None:
    assert "Nothing" in run("search", "zeppelin").out
    (demo / "New.md").write_text("A zeppelin.\n")
    assert "New.md:1" in run("search", "zeppelin").out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--scope", "sessions"], {"sessions"}),
        (["-s", "items", "-s", "tasks"], {"items", "tasks"}),
        (["--scope", "all"], {"memory", "items", "tasks", "sources", "sessions"}),
        (["--kind", "decision", "--scope", "memory"], {"memory"}),
    ],
)
def test_scopes_are_what_was_asked_for(
    demo: Path, run: Run, options: list[str], expected: set[str]
) -> None:
    results = run("search", "frost", "date", "garden", "-n", "100", "--json", *options).json
    assert {result["scope"] for result in results["results"]} == expected


def test_an_unknown_scope_is_refused_with_the_known_ones(demo: Path, run: Run) -> None:
    said = run("search", "frost", "--scope", "dreams")
    assert said.code == 2
    assert said.err == (
        "brain: There is no scope 'dreams'."
        " Scopes: memory, items, tasks, sources, sessions, archive, notes, all.\n"
    )


def test_an_unknown_agent_is_refused_with_the_known_ones(demo: Path, run: Run) -> None:
    said = run("search", "frost", "--agent", "nobody")
    assert (said.code, said.err) == (
        4,
        "brain: There is no agent 'nobody'. Agents: admin, garden-planner."
        " A folder with an AGENT.md is one.\n",
    )


@pytest.mark.parametrize(
    "name", ["garden-planner", "Garden-Planner", "agent_project_garden_planner"]
)
def test_an_agent_is_known_by_folder_id_or_name(demo: Path, run: Run, name: str) -> None:
    entries = run("list", "--agent", name, "--json").json["entries"]
    assert {entry["agent"] for entry in entries} == {"garden-planner"}


@pytest.mark.parametrize("question", ["", "   "])
def test_an_empty_question_is_refused(demo: Path, run: Run, question: str) -> None:
    said = run("search", question)
    assert said.code == 2
    assert "Give at least one word." in said.err


# -- dates ---------------------------------------------------------------------------------------


def dated(run: Run, *options: str) -> list[str]:
    entries = run("list", "--json", "-n", "1000", "--kind", "decision", *options).json["entries"]
    return sorted(entry["created"][:10] for entry in entries)


def test_since_and_until_include_their_day(demo: Path, run: Run) -> None:
    old = os.stat(demo / "40_Brain/MEMORY.md").st_mtime - 10 * 365 * 86400
    for note in demo.rglob("MEMORY.md"):
        os.utime(note, (old, old))
    assert dated(run, "--since", "2026-03-20", "--until", "2026-05-10") == [
        "2026-03-20", "2026-04-11", "2026-05-10",
    ]  # fmt: skip
    assert dated(run, "--since", "20260614") == ["2026-06-14", "2026-09-20"]
    assert dated(run, "--since", "2026-09-19T23:30:00-02:00") == []


def test_a_date_that_is_none_is_refused(demo: Path, run: Run) -> None:
    said = run("list", "--since", "yesterday")
    assert (said.code, said.err) == (
        2,
        "brain: 'yesterday' is not a date. Write it as 2026-02-01, as 2026-02-01T09:30,"
        " or as 7d for seven days ago.\n",
    )


# -- show ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "m-7f3k2ab4",
        "^m-7f3k2ab4",
        "[id:m-7f3k2ab4]",
        "[[40_Brain/MEMORY#^m-7f3k2ab4]]",
        "m-7f3k",
        " m-7f3k2ab4 ",
        "40_Brain/MEMORY.md:9",
        "40_Brain/MEMORY.md:11",  # a nested line belongs to the bullet above
    ],
)
def test_an_entry_has_many_names(demo: Path, run: Run, name: str) -> None:
    shape = run("show", name, "--json").json
    assert shape["id"] == "m-7f3k2ab4"
    assert set(shape) == ENTRY | WORTH | ORIGIN | {"anchored", "links"} | FRESH
    assert {"kind": "supersedes", "target": "", "fragment": "^m-4t8wq2nd", "line": 9} in (
        shape["links"]
    )


def test_a_place_printed_by_open_can_be_shown(demo: Path, run: Run) -> None:
    place = run("open", "m-7f3k2ab4").out.split("\n")[1]
    assert run("show", place, "--json").json["id"] == "m-7f3k2ab4"


def test_a_path_alone_shows_its_first_entry(demo: Path, run: Run) -> None:
    assert run("show", "40_Brain/tasks.json", "--json").json["id"] == "TASK-001"


def test_show_prints_the_whole_entry(demo: Path, run: Run) -> None:
    out = run("show", "m-7f3k2ab4").out
    assert out.startswith("40_Brain/MEMORY.md:9\nMy own tools")
    assert "JSON got slow" in out
    assert "supersedes #^m-4t8wq2nd" in out


@pytest.mark.parametrize("name", ["m-7f3k2ab4", "TASK-001", "Compost", "msg_010"])
def test_show_prints_every_field_that_json_has(demo: Path, run: Run, name: str) -> None:
    run("reinforce", name, "--why", "it helped")
    run("update", name, "--importance", "0.8", "--why", "it matters")
    said = run("show", name).out
    for key, value in run("show", name, "--json").json.items():
        if key in FRESH or value in (None, "", []):
            continue
        if key in ("text", "path"):
            assert value in said
        elif key == "links":
            assert all(re.search(rf"^{link['kind']} ", said, re.M) for link in value)
        elif key == "provenance":
            assert all(step["op"] in said for step in value["since"])
        elif key in ("confidence_factors", "importance_factors"):
            assert f"{key.partition('_')[0]} " in said
        elif key == "line":
            assert f":{value}\n" in said
        else:
            assert re.search(rf"^{key} .|\b{value} {key[:-1]}", said, re.M), key


def test_an_ambiguous_name_lists_the_places(demo: Path, run: Run) -> None:
    said = run("show", "TASK")
    assert said.code == 5
    assert "matches 5 entries: 40_Brain/tasks.json:3 (TASK-001)" in said.err
    assert said.err.endswith("Give its id or path:line.\n")


def test_two_entries_of_one_id_are_told_apart_by_line(demo: Path, run: Run) -> None:
    note = demo / "40_Brain/agents/ada/MEMORY.md"
    note.parent.mkdir(parents=True)
    note.write_text("- one ^m-aaaaaaaa\n")
    (demo / "40_Brain/agents/bob").mkdir()
    (demo / "40_Brain/agents/bob/MEMORY.md").write_text("- two ^m-aaaaaaaa\n")
    assert run("show", "m-aaaaaaaa").code == 5
    shape = run("show", "40_Brain/agents/bob/MEMORY.md:1", "--json").json
    assert (shape["id"], shape["text"]) == ("m-aaaaaaaa", "two")


@pytest.mark.parametrize(
    "name", ["m-nothere", "Welcome.md:99999", "Nowhere.md", "²:²", ":", "^", "on", "null"]
)
def test_a_name_of_nothing(demo: Path, run: Run, name: str) -> None:
    for command in ("show", "open"):
        said = run(command, name)
        assert said.code == 4
        assert said.err.startswith("brain: There is no entry")
        assert "`brain search`" in said.err


# -- list ----------------------------------------------------------------------------------------


def test_list_shows_memories_newest_first(demo: Path, run: Run) -> None:
    entries = run("list", "--json").json["entries"]
    created = [entry["created"] for entry in entries]
    assert created == sorted(created, reverse=True)
    assert {entry["scope"] for entry in entries} == {"memory"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--scope", "tasks"], ["TASK-001", "TASK-002", "TASK-003", "TASK-004", "TASK-005"]),
        (["--kind", "correction"], ["m-2gd8ya1s"]),
        (["--tag", "pinned"], ["m-9hx3c6vr"]),
        (["--tag", "#pinned"], ["m-9hx3c6vr"]),
        (["--project", "garden-planner", "--kind", "task"], []),
    ],
)
def test_list_filters(demo: Path, run: Run, options: list[str], expected: list[str]) -> None:
    entries = run("list", "--json", *options).json["entries"]
    assert sorted(entry["id"] for entry in entries) == expected


def test_a_tag_holds_for_those_nested_in_it(demo: Path, run: Run) -> None:
    (demo / "40_Brain/MEMORY.md").write_text("- one #a/b\n- two #ab\n- three #A\n")
    entries = run("list", "--tag", "a", "--agent", "admin", "--json").json["entries"]
    assert sorted(entry["text"].split()[0] for entry in entries) == ["one", "three"]


def test_limit_and_offset_walk_through_all(demo: Path, run: Run) -> None:
    whole = [e["id"] for e in run("list", "--json", "-n", "1000").json["entries"]]
    pages = [
        e["id"]
        for offset in range(0, len(whole), 10)
        for e in run("list", "--json", "-n", "10", "--offset", offset).json["entries"]
    ]
    assert pages == whole


def test_a_list_shows_a_date_once(demo: Path, run: Run) -> None:
    (demo / "40_Brain/MEMORY.md").write_text("- 2026-03-20: Releases go out on Tuesdays.\n")
    line = run("list", "--agent", "admin").out
    assert re.fullmatch(r"m-\w+  2026-03-20  fact  Releases go out on Tuesdays\.\n", line)
    assert run("search", "tuesdays", "--scope", "memory").out.count("2026-03-20") == 1


def test_a_listed_note_is_named_by_its_heading(demo: Path, run: Run) -> None:
    lines = run("list", "--scope", "sources", "-n", "100").out.split("\n")
    assert any(re.search("  note +Compost$", line) for line in lines)
    assert not any(line.endswith("---") for line in lines)


def test_an_empty_list_says_so(demo: Path, run: Run) -> None:
    assert run("list", "--scope", "archive").out == "Nothing to list.\n"


# -- open ----------------------------------------------------------------------------------------


def opened(run: Run, name: str) -> tuple[str, str]:
    url, place = run("open", name).out.rstrip("\n").split("\n")
    return unquote(url), place


def test_open_leads_to_the_block(demo: Path, run: Run) -> None:
    url, place = opened(run, "m-9hx3c6vr")
    line = line_of(demo, "40_Brain/MEMORY.md", "^m-9hx3c6vr")
    assert url == "obsidian://open?vault=demo&file=40_Brain/MEMORY#^m-9hx3c6vr"
    assert place == f"{demo}/40_Brain/MEMORY.md:{line}"


def test_open_leads_to_the_heading_of_an_entry_without_an_id(demo: Path, run: Run) -> None:
    line = line_of(demo, "40_Brain/MEMORY.md", "Bed B is sandy")
    url, place = opened(run, f"40_Brain/MEMORY.md:{line}")
    assert url == "obsidian://open?vault=demo&file=40_Brain/MEMORY#Project Context"
    assert place.endswith(f"MEMORY.md:{line}")


@pytest.mark.parametrize("line", [1, 7, 11, 13, 16, 18])
def test_open_leads_to_the_heading_above_the_line(demo: Path, run: Run, line: int) -> None:
    (demo / "Fences.md").write_text(
        "---\n# not a heading\ncreated: 2026-01-01\n---\n\nBefore.\n\n"  # 1-7
        "# One\n\nText.\n"  # 8-10
        "## Two: [[x]] #a | b ##\n\n"  # 11-12
        "```sh\n# install\n```\nText.\n\n"  # 13-17
        "After.\n"  # 18
    )
    url, place = opened(run, f"Fences.md:{line}")
    heading = "" if line < 8 else "#Two: x a b"
    assert url == f"obsidian://open?vault=demo&file=Fences{heading}"
    assert place == f"{demo}/Fences.md:{line}"


def test_open_knows_the_heading_of_a_long_section(demo: Path, run: Run) -> None:
    lines = "\n".join(f"Line {n} of a long story.\n" for n in range(600))
    (demo / "Long.md").write_text(f"# Story\n\n{lines}\nThe walrus is here.\n")
    line = line_of(demo, "Long.md", "walrus")
    result = run("search", "walrus", "--json").json["results"][0]
    assert result["line"] == line
    assert opened(run, f"Long.md:{line}") == (
        "obsidian://open?vault=demo&file=Long#Story",
        f"{demo}/Long.md:{line}",
    )


def test_an_id_that_ends_like_a_place_is_no_place(demo: Path, run: Run) -> None:
    tasks = {"tasks": [{"id": "t:2", "description": "first"}, {"id": "u:1", "description": "b"}]}
    (demo / "40_Brain/tasks.json").write_text(json.dumps(tasks, indent=1))
    line = line_of(demo, "40_Brain/tasks.json", "u:1") - 1
    assert run("open", "u:1", "--json").json["line"] == line


def test_a_vault_name_with_odd_characters_survives(tmp_path: Path, demo: Path, run: Run) -> None:
    odd = tmp_path / "Ün & co?"
    demo.rename(odd)
    said = run("open", "m-9hx3c6vr", "--vault", odd, "--json").json
    assert said["url"].startswith("obsidian://open?vault=%C3%9Cn%20%26%20co%3F&file=")


def test_a_filter_that_finds_nothing_names_the_kind_that_was_meant(demo: Path, run: Run) -> None:
    said = run("list", "--where", "kind=decison")
    assert (said.code, "Did you mean 'decision'?" in said.err) == (2, True)
    assert run("list", "--where", "kind=task").out == "Nothing to list.\n"
    assert run("list", "--where", "kind=fact and hits>99").code == 0


def test_what_is_shown_adds_up(demo: Path, run: Run) -> None:
    said = run("show", "m-7f3k2ab4", "--json").json
    for name in ("importance", "confidence"):
        factors = said[f"{name}_factors"]
        if name == "importance":
            value = factors["base"] + factors["merges"]
            rest = ("unvisited", "fading", "unused", "candidate")
        else:
            value, rest = 1.0, ("initial", "trust", "remaining", "use")
        for factor in rest:
            value *= factors[factor]
        assert said[name] == pytest.approx(value + factors.get("feedback", 0))
    assert " at first × " in run("show", "m-7f3k2ab4").out


def test_show_does_not_round_an_age_up(demo: Path, run: Run) -> None:
    made = run("remember", "Pumpkins need room", "--json").json
    said = run("show", made["id"]).out
    assert "1.00 after less than a minute, half in 30" in said
    assert [_age(days) for days in (0.01, 0.05, 0.9, 1.9)] == [
        "14 minutes", "1 hour", "21 hours", "1 day",
    ]  # fmt: skip
