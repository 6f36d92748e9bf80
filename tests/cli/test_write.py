"""The verbs at the command line: the same as from Python, in words and in JSON."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from brain.api import Brain
from brain.open_vault import OpenVault
from brain.vault import layout
from tests.cli.conftest import Run
from tests.ids import Ids

ID, PINNED, OLD = "m-7f3k2ab4", "m-9hx3c6vr", "m-4t8wq2nd"
NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)

Step = tuple[str, tuple[str, ...], dict[str, Any]]

# One contract for both doors: verb, arguments, options.
CONTRACT: list[list[Step]] = [
    [("remember", ("Seals bark at dawn",), {})],
    [("remember", ("Seals bark at dawn",), {"kind": "decision", "tags": ["sea"], "date": False})],
    [("remember", ("Seals bark",), {"source": "inferred", "confidence": 0.4, "why": "heard"})],
    [("remember", ("Seals bark",), {"agent": "garden-planner", "by": "garden-planner"})],
    [("remember", ("Seals bark",), {"agent": "", "by": "garden-planner"})],
    [("remember", ("Seals bark",), {"links": ["SQLite Notes", ID], "supersedes": [PINNED]})],
    [("remember", ("Seals bark",), {}), ("remember", ("seals  BARK",), {})],
    [("remember", ("Always use nets",), {}), ("remember", ("Never use nets",), {})],
    [("remember", (" ",), {})],
    [("update", (ID, "My tools use DuckDB"), {"tags": ["duck"], "importance": 0.9})],
    [("update", (ID,), {"tags": ["duck"], "confidence": 0.4})],
    [("update", (ID,), {"importance": 0.2}), ("undo", (), {})],
    [("forget", (ID,), {"why": "over"})],
    [("forget", (ID,), {"purge": True})],
    [("forget", ("zebra",), {})],
    [("pin", (ID,), {})],
    [("pin", (PINNED,), {})],
    [("unpin", (PINNED,), {})],
    [("confirm", (ID,), {})],
    [("link", (ID, PINNED), {"as_": "derived_from"})],
    [("link", (ID, "Kitchen Garden"), {})],
    [("unlink", (ID, OLD), {"as_": "supersedes"})],
    [("move", (ID, "Project Context"), {})],
    [("reinforce", (ID,), {"why": "it helped", "session": "s-1"})],
    [("demote", (ID,), {"by": "garden-planner"})],
    [("pin", (ID,), {}), ("undo", (), {})],
    [("pin", (ID,), {}), ("update", (ID, "x"), {}), ("undo", ("e-nothing",), {})],
    [("link", (ID, PINNED), {"as_": "contradicts"}), ("resolve", (ID,), {"keep": ID})],
    [("resolve", (ID,), {})],
]  # fmt: skip
FLAGS = {"as_": "as", "tags": "tag", "links": "link"}


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time stands still."""
    made = OpenVault.__init__

    def still(self: OpenVault, vault: Any, clock: Any = None, **more: Any) -> None:
        made(self, vault, lambda: NOW, **more)

    monkeypatch.setattr(OpenVault, "__init__", still)


def by_python(root: Path, state: Path, steps: list[Step]) -> list[Any]:
    from brain import serialize
    from brain.errors import BrainError

    out: list[Any] = []
    for verb, args, options in steps:
        with Brain(OpenVault(layout.find(root, state))) as brain:
            try:
                out.append(serialize.document(getattr(brain, verb)(*args, **options)))
            except BrainError as error:
                kind = type(error).__name__
                out.append({"error": kind, "message": error.message, "remedy": error.remedy})
    return out


def by_command(run: Run, steps: list[Step]) -> list[Any]:
    return [run(verb, *args, *flags(options), "--json").json for verb, args, options in steps]


def flags(options: dict[str, Any]) -> list[str]:
    out: list[str] = []
    for name, value in options.items():
        flag = f"--{FLAGS.get(name, name)}"
        if name == "date" and value is False:
            out.append("--no-date")
        elif value is True:
            out.append(flag)
        else:
            for one in value if isinstance(value, list) else [value]:
                out += [flag, str(one)]
    return out


@pytest.mark.parametrize("steps", CONTRACT, ids=lambda steps: " ".join(map(str, steps[-1][:2])))
def test_both_doors_answer_alike(
    demo: Path, tmp_path: Path, run: Run, steps: list[Step], copy: Callable[[], Path]
) -> None:
    other = copy()
    with Ids()():
        inside = by_python(other, tmp_path / "other-state", steps)
    with Ids()():
        outside = by_command(run, steps)
    assert _undated(json.loads(json.dumps(inside))) == _undated(outside)
    for path in (demo / "40_Brain").rglob("*.md"):
        assert path.read_bytes() == (other / path.relative_to(demo)).read_bytes()


def _undated(shapes: Any) -> Any:
    """Without when a note was saved, by which a memory without a date is dated."""
    if isinstance(shapes, dict):
        return {key: _undated(value) for key, value in shapes.items() if key != "created"}
    return [_undated(shape) for shape in shapes] if isinstance(shapes, list) else shapes


@pytest.fixture
def copy(demo: Path, tmp_path: Path) -> Callable[[], Path]:
    import shutil

    def make() -> Path:
        return Path(shutil.copytree(demo, tmp_path / "other" / "demo"))

    return make


# -- in words ------------------------------------------------------------------------------------


def test_what_is_remembered_is_found_by_the_next_command(demo: Path, run: Run) -> None:
    run("sync")
    said = run("remember", "Seals", "bark", "at", "dawn", "--kind", "discovery")
    assert said.code == 0
    first, second = said.out.rstrip("\n").split("\n")
    assert first.startswith("Remembered m-")
    assert second == "  2026-10-01: Seals bark at dawn"
    assert "Seals" in run("search", "seals").out
    events = run("events", "--json").out.rstrip("\n").split("\n")
    assert [json.loads(line)["event"] for line in events].count("memory:write") == 1


def test_it_reads_a_pipe(demo: Path, run: Run) -> None:
    with patch("sys.stdin", io.StringIO("Seals bark\n")):
        assert run("remember", "--json").json["text"] == "2026-10-01: Seals bark"
    with patch("sys.stdin", io.StringIO("My tools use DuckDB\n")):
        assert "DuckDB" in run("update", ID).out
    with patch("sys.stdin", io.StringIO("Whales sing\n")):
        assert run("remember", "-", "--json").json["text"] == "2026-10-01: Whales sing"


@pytest.mark.parametrize(
    "command", [("remember",), ("update", ID), ("session", "append", "s1", "--create")]
)
def test_an_empty_text_is_not_a_missing_one(demo: Path, run: Run, command: tuple[str, ...]) -> None:
    """A script whose variable is empty does not wait for a pipe, and stores nothing else."""
    with patch("sys.stdin", io.StringIO("Seals bark\n")):
        said = run(*command, "")
    assert said.code == 2
    assert "Seals bark" not in run("search", "seals", "--scope", "all").out


def test_known_already(demo: Path, run: Run) -> None:
    run("remember", "Seals bark")
    assert run("remember", "Seals bark").out.startswith("Known already: m-")


def test_a_conflict_in_words(demo: Path, run: Run) -> None:
    run("remember", "Always use nets on bed D")
    said = run("remember", "Never use nets on bed D")
    assert said.out.startswith("Remembered, though it contradicts others: m-")
    assert "Contradicts m-" in said.out
    listed = run("conflicts").out
    assert "contradictory" in listed
    assert "Always use nets" in listed
    event = run("conflicts", "--json").json["conflicts"][0]["event"]
    assert run("resolve", event).out.startswith("Resolved m-")
    assert run("conflicts").out == "No conflicts.\n"


@pytest.mark.parametrize(
    "words", ["- nets are torn", "-- nets are torn", "-5 degrees at night", "---\nnets"]
)
def test_words_may_begin_with_a_dash(demo: Path, run: Run, words: str) -> None:
    said = run("remember", words, "--kind", "fact", "--why", "- seen", "--no-date", "--json")
    assert said.code == 0
    expected = words.split("\n")[0].removeprefix("- ")  # the mark of a list is not doubled
    assert said.json["text"].replace("\n", " ").startswith(expected)
    assert run("history", said.json["id"], "--json").json["records"][0]["why"] == "- seen"
    assert run("update", said.json["id"], words + " again", "--json").json["outcome"] == "updated"


def test_a_wrong_option_hints_at_the_way_out(demo: Path, run: Run) -> None:
    said = run("remember", "-nets")
    assert said.code == 2
    assert "Put `--` before words that begin with a dash." in said.err
    assert run("remember", "--", "-nets").code == 0


def test_secrets_in_words(demo: Path, run: Run) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    said = run("remember", f"The token is {key}")
    assert key not in said.out
    assert "Left out, as secrets: " in said.out


def test_an_address_is_personal_data_and_no_secret(demo: Path, run: Run) -> None:
    said = run("remember", "Ask mara@example.com about the nets")
    assert "mara@example.com" not in said.out
    assert "Left out, as personal data: email." in said.out
    assert "secrets" not in said.out


def test_while_somebody_types_in_words(demo: Path, run: Run) -> None:
    path = demo / "40_Brain/MEMORY.md"
    path.write_text(path.read_text() + "- typ")
    soon = time.time() + 60
    os.utime(path, (soon, soon))
    said = run("update", ID, "Nets are for pigeons")
    assert "Nets are for pigeons" in said.out
    assert "Not in the note yet" in said.out
    assert "not in the note yet; see `brain pending`" in run("history", ID).out
    said = run("undo")
    assert said.code == 7
    assert "brain pending --drop e-" in said.err


def test_history_and_audit_in_words(demo: Path, run: Run) -> None:
    run("pin", ID, "--session", "s-1")
    run("reinforce", ID, "--why", "it helped")
    said = run("history", ID).out
    assert [line.split()[3] for line in said.split("\n") if line.startswith("2026")] == [
        "pin", "reinforce",
    ]  # fmt: skip
    assert "because it helped" in said
    assert "was: - My own tools keep" in said
    assert run("audit", "--op", "pin").out.count("\n2026") == 0
    assert run("audit", "--who", "garden-planner").out == "No changes are recorded.\n"
    assert (
        "There is no record of 'nobody'. Known names: admin," in run("audit", "--who", "nobody").err
    )


def test_undo_in_words(demo: Path, run: Run) -> None:
    run("pin", ID)
    assert run("undo").out.startswith(f"Undid pin of {ID}")
    said = run("undo")
    assert (said.code, said.err) == (4, "brain: There is nothing to undo. See `brain audit`.\n")
    event = run("update", ID, "one", "--json").json["event"]
    run("tag", ID, "two")
    said = run("undo", event)
    assert said.code == 12
    assert "+- My own tools" in said.err
    assert "Use --force" in said.err
    assert run("undo", event, "--force").code == 0


def test_revert_in_words(demo: Path, run: Run) -> None:
    agent = ("--by", "garden-planner", "--agent", "garden-planner")
    run("remember", "Nonsense one", *agent)
    run("remember", "Nonsense two", *agent)
    said = run("revert", "--agent", "garden-planner", "--since", "1h")
    assert said.out.endswith("2 undone, 0 kept.\n")
    assert "Nonsense" not in run("list", "--limit", "100").out


def test_pause_and_resume(demo: Path, run: Run) -> None:
    assert run("pause").out == "Nothing is written until `brain resume`.\n"
    said = run("remember", "Seals bark")
    assert (said.code, said.err) == (
        11, "brain: Brain is paused: nothing is written. Run `brain resume`.\n",
    )  # fmt: skip
    assert run("search", "frost").code == 0
    assert run("resume").out == "Brain writes again.\n"
    assert run("remember", "Seals bark").code == 0


def test_pending_in_words(demo: Path, run: Run) -> None:
    (demo / "40_Brain/brain.yaml").write_text("holdSeconds: 60\n")
    note = demo / "40_Brain/MEMORY.md"
    note.write_text(note.read_text() + "\n- typ")
    said = run("remember", "Seals bark")
    assert "Not in the note yet" in said.out
    assert ", by person\n  2026-10-01: Seals bark\n" in run("pending").out
    assert run("doctor").out.count("1 file with pending writes") == 1
    waiting = run("pending", "--json").json["pending"]
    assert [write["op"] for write in waiting] == ["remember"]
    said = run("pending", "--drop", waiting[0]["event"])
    assert said.out.startswith(f"Dropped: {waiting[0]['event']}")
    assert "Seals bark" in said.out
    assert said.out.endswith("Nothing is pending.\n")
    assert run("pending", "--drop", "e-nothing").code == 4
    assert "Seals bark" not in note.read_text()


def test_journal_write(demo: Path, run: Run) -> None:
    from brain.state import Use

    run("sync")
    run("journal", "write")  # of memories that were seen for the first time
    assert run("journal", "write").out == "No usage to write.\n"
    with Brain(OpenVault(layout.find(demo, demo.parent / "state"))) as brain:
        uses = [Use("hit", ref, last=brain.vault.now()) for ref in (ID, PINNED)]
        brain.vault.state.add_uses(uses)
    assert run("show", ID, "--json").json["hits"] == 1
    assert run("journal", "write").out == "2 records written.\n"
    assert run("show", ID, "--json").json["hits"] == 1


def test_where_and_order(demo: Path, run: Run) -> None:
    run("reinforce", ID)

    def ids(*args: str) -> list[str]:
        return [entry["id"] for entry in run("list", *args, "--json").json["entries"]]

    assert ids("--where", "score>=3") == [ID]
    assert set(ids("-w", "importance>=0.7 and kind=decision")) <= set(ids("-k", "decision"))
    assert ids("-w", "kind=decision", "-o", "score")[0] == ID
    assert ids("-w", "kind=decision", "-o", "-score")[-1] == ID
    assert len(ids("-w", "kind=decision", "-n", "2")) == 2
    said = run("list", "--where", "wieght>1")
    assert (said.code, "There is no field" in said.err) == (2, True)


def test_show_tells_what_it_is_worth_and_why(demo: Path, run: Run) -> None:
    shape = run("remember", "Seals bark", "--source", "inferred", "--why", "heard", "--json").json
    said = run("show", shape["id"]).out
    assert "1 at first × 0.6 as inferred" in said
    assert "after less than a minute, half in 7" in said
    assert "from       person, 2026-10-01" in said
    assert "because    heard" in said


def test_doctor_tells_that_nothing_can_be_put_on_record(demo: Path, run: Run) -> None:
    (demo / "40_Brain/journal").write_text("?")
    said = run("doctor")
    assert said.code == 1
    assert "40_Brain/journal  no-journal: is not a folder" in said.out


def test_doctor_names_secrets_in_notes(demo: Path, run: Run) -> None:
    note = demo / "40_Brain/MEMORY.md"
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    note.write_text(note.read_text() + f"- The token is {key}\n")
    said = run("doctor")
    assert said.code == 1
    assert "secret: looks like a secret (" in said.out
    assert key not in said.out
    assert key in note.read_text()


def test_doctor_calls_an_address_personal_data(demo: Path, run: Run) -> None:
    note = demo / "40_Brain/MEMORY.md"
    note.write_text(note.read_text() + "- Ask mara@example.com about the nets\n")
    said = run("doctor")
    assert "personal: looks like personal data (email)" in said.out
    assert "a secret" not in said.out
