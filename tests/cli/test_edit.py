"""`brain edit`: an entry in the user's editor, which is a small script here."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run, terminal

ID = "m-7f3k2ab4"
Editor = Callable[[str], None]


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """`editor("text = text.upper()")` sets an editor that changes the text in this way."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "temporary").mkdir()

    def make(code: str, name: str = "editor") -> None:
        script = tmp_path / name
        script.write_text(
            f"#!{sys.executable}\nimport sys, pathlib\nfile = pathlib.Path(sys.argv[-1])\n"
            f"text = file.read_text()\n{code}\nfile.write_text(text)\n"
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("EDITOR", str(script))

    return make


def left(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "temporary").iterdir())


def test_an_edited_memory_is_written_with_its_id(
    demo: Path, run: Run, editor: Editor, tmp_path: Path
) -> None:
    editor(r"text = text.replace('SQLite, one', 'DuckDB, one').replace(' #db', '')")
    said = run("edit", ID)
    assert (said.code, said.out.split("\n")[0]) == (0, f"Updated {ID}  40_Brain/MEMORY.md:9")
    note = (demo / "40_Brain/MEMORY.md").read_text()
    assert re.search(rf"^- My own tools .* DuckDB, one file per tool.*\^{ID}$", note, re.M)
    assert "#db" not in note.split("\n")[8]
    assert "    - JSON got slow" in note
    assert left(tmp_path) == []
    record = run("history", ID, "--json").json["records"][-1]
    assert (record["op"], record["by"]) == ("update", "person")
    run("undo")
    assert "SQLite, one file per tool. [[SQLite Notes]] #db" in run("show", ID).out


def test_an_agent_edits_what_it_may(demo: Path, run: Run, editor: Editor) -> None:
    editor("text = text.replace('nothing', 'no row')")
    assert run("edit", "nothing is shared", "--agent", "admin").code == 4
    said = run("edit", "nothing is shared", "--agent", "garden-planner", "--by", "garden-planner")
    assert said.code == 0
    record = run("history", "m-zjnyn4kb", "--json").json["records"][-1]
    assert record["by"] == "garden-planner"
    editor("text = text.replace('SQLite', 'DuckDB')")
    assert run("edit", ID, "--by", "garden-planner").code == 11


def test_what_is_removed_in_the_editor_is_removed(demo: Path, run: Run, editor: Editor) -> None:
    editor("text = 'My tools keep their data in SQLite.\\n'")
    run("edit", ID)
    assert run("show", ID, "--json").json["text"] == "My tools keep their data in SQLite."
    assert "JSON got slow" not in (demo / "40_Brain/MEMORY.md").read_text()


def test_a_text_that_is_not_changed_is_not_written(demo: Path, run: Run, editor: Editor) -> None:
    before = (demo / "40_Brain/MEMORY.md").read_bytes()
    editor("pass")
    assert run("edit", ID).out.startswith(f"Nothing to change: {ID}")
    assert run("edit", ID, "--json").json["state"] == "unchanged"
    assert (demo / "40_Brain/MEMORY.md").read_bytes() == before


def test_an_empty_text_is_refused(demo: Path, run: Run, editor: Editor, tmp_path: Path) -> None:
    editor("text = ' \\n'")
    said = run("edit", ID)
    assert said.code == 2
    assert said.err == "brain: The text is empty. To delete a memory, use `brain forget`.\n"
    assert left(tmp_path) == []


def test_the_text_is_kept_if_it_cannot_be_written(
    demo: Path, run: Run, editor: Editor, tmp_path: Path
) -> None:
    note = demo / "40_Brain/MEMORY.md"
    editor(
        "text = text.replace('SQLite', 'DuckDB')\n"
        f"note = pathlib.Path({str(note)!r})\n"
        "note.write_text(note.read_text().replace('one file per tool', 'one file each'))"
    )
    said = run("edit", ID)
    assert said.code == 12
    assert f"{ID} has changed since it was read." in said.err
    assert [f"Your text is in {path}." in said.err for path in left(tmp_path)] == [True]
    assert "DuckDB" in left(tmp_path)[0].read_text()
    assert "one file each" in note.read_text()


def test_the_text_is_kept_if_the_editor_fails(
    demo: Path, run: Run, editor: Editor, tmp_path: Path
) -> None:
    editor("file.write_text('half of it')\nsys.exit(3)")
    said = run("edit", ID)
    assert said.code == 1
    assert "The editor ended with exit code 3; nothing was changed." in said.err
    assert [path.read_text() for path in left(tmp_path)] == ["half of it"]


def test_an_unknown_editor(demo: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "no-such-editor --wait")
    assert run("edit", ID)[::2] == (
        2,
        "brain: The editor 'no-such-editor --wait' cannot be started."
        " Set EDITOR to the editor that you use.\n",
    )


def test_a_note_is_opened_in_its_file_at_its_line(
    demo: Path, run: Run, editor: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(f"pathlib.Path({str(tmp_path / 'args')!r}).write_text(' '.join(sys.argv[1:]))", "nano")
    note = demo / "20_Areas/Kitchen Garden/Compost.md"
    run("edit", "Compost")
    assert (tmp_path / "args").read_text() == f"+1 {note}"
    run("edit", "20_Areas/Kitchen Garden/Compost.md:12")
    assert (tmp_path / "args").read_text() == f"+12 {note}"
    run("edit", "40_Brain/MEMORY.md")
    assert (tmp_path / "args").read_text() == f"+1 {demo}/40_Brain/MEMORY.md"
    assert run("edit", "TASK-002", "--json").json["path"] == "40_Brain/tasks.json"


def test_visual_comes_before_editor(
    demo: Path, run: Run, editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor("text = 'Edited.'")
    monkeypatch.setenv("VISUAL", "true")
    assert run("edit", ID).out.startswith("Nothing to change")


def test_nothing_is_opened_while_writing_is_off(
    demo: Path, run: Run, editor: Editor, tmp_path: Path
) -> None:
    editor(f"pathlib.Path({str(tmp_path / 'opened')!r}).touch()")
    run("pause")
    assert run("edit", ID).code == 11
    assert not (tmp_path / "opened").exists()


def test_the_editor_has_the_terminal(demo: Path, editor: Editor) -> None:
    editor("print('tty' if sys.stdin.isatty() and sys.stdout.isatty() else 'no tty')")
    assert terminal(["edit", ID]).startswith("tty")
