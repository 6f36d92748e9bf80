"""Transcripts of real clients become sessions: each message once, in order, nothing injected."""

from __future__ import annotations

import functools
import io
import json
import operator
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.connect import clients as connect_clients
from brain.errors import BadRequest
from brain.sessions import clients, importing, transcript
from brain.vault import files
from tests import kit as base
from tests.conftest import MakeVault, OpenBrain
from tests.sessions.kit import (
    CODEX,
    FIXTURES,
    claude_line,
    copy,
    imported,
    opencode_db,
    opencode_storage,
    sessions,
    texts,
    write_lines,
)

MAIN = "11111111-1111-4111-8111-111111111111"
TURNS = [
    "user: List files please", "assistant: Mock answer", "user: USETOOL please",
    "tool_call: exec_command", "tool_result: Chunk ID: 7e03c2", "assistant: Mock answer",
]  # fmt: skip


def plain(lines: list[dict]) -> list[str]:
    """The same without the numbers of the mock model's answers."""
    return [
        text.rstrip(".0123456789").rstrip() if "Mock" in text else text for text in texts(lines)
    ]


# -- Claude Code ---------------------------------------------------------------------------------


def test_claude_code(vault: MakeVault, opened: OpenBrain) -> None:
    """Plain turns, a tool, three parallel calls, a subagent, a rewind, a compaction, and a fork."""
    root = vault()
    with opened(root) as brain:
        assert imported(brain, FIXTURES / "claude_code") == 29
        listed = {each.id: each for each in brain.session_list(agent="claude")}
    found = sessions(root)
    call, result = "tool_call: Bash", "tool_result: "
    assert plain(found[MAIN]) == [
        "user: Where do we keep the token?", "assistant: Mock answer",
        "user: USETOOL please", "assistant: Running.", call, f"{result}hi",
        "assistant: Mock answer",
        "user: USEPARALLEL please", "assistant: Running both.", call, call, call,
        f"{result}call 1", f"{result}call 2", f"{result}call 3", "assistant: Mock answer",
        "user: USEAGENT please", "tool_call: Agent", plain(found[MAIN])[18],
        "assistant: Mock answer", "assistant: Mock answer",
        "user: Rewound question", "assistant: Mock answer",
        "user: After the compaction", "assistant: Mock answer",
    ]  # fmt: skip
    fork = next(id for id in found if id not in (MAIN, "2026-01-01") and "agent" not in id)
    assert plain(found[fork]) == ["user: After the fork", "assistant: Mock answer"]
    assert listed[fork].parent == MAIN
    agent = next(each for each in listed.values() if each.id.startswith("agent-"))
    assert (agent.parent, agent.messages) == (MAIN, 2)
    lines = found[MAIN]
    assert lines[0]["timestamp"] == "2026-11-18T07:40:39.735Z"
    assert lines[21]["parent"] == lines[1]["id"], "the rewind goes on from the first answer"
    assert [line["name"] for line in lines[9:15]] == ["Bash"] * 6
    raw = (root / f"40_Brain/agents/claude/sessions/{MAIN}.jsonl").read_text()
    assert '"event":"compaction"' in raw
    for injected in ("This session is being continued", "task-notification", "command-name"):
        assert injected not in raw


def test_an_old_claude_code_copies_lines_on_resume(vault: MakeVault, opened: OpenBrain) -> None:
    """Version 1.0 wrote a new file with all lines, in which they have new times."""
    root = vault()
    with opened(root) as brain:
        imported(brain, FIXTURES / "claude_code_1.0")
    found = {id: lines for id, lines in sessions(root).items() if id != "2026-01-01"}
    assert sorted(plain(functools.reduce(operator.iadd, found.values(), []))) == sorted([
        "user: First question", "assistant: Mock answer",
        "user: USETOOL please", "assistant: Running.", "tool_call: Bash", "tool_result: hi",
        "assistant: Mock answer", "user: USEAGENT please", "tool_call: Task",
        "tool_result: Mock answer", "assistant: Mock answer",
    ])  # fmt: skip
    assert len(found) == 3


def test_what_is_typed_while_the_agent_works(vault: MakeVault, opened: OpenBrain) -> None:
    """Claude Code stores it in an attachment, as it does with notifications of tasks."""
    root = vault()
    with opened(root) as brain:
        assert imported(brain, FIXTURES / "claude_code_queued") == 8
    found = sessions(root, "40_Brain/agents/claude/sessions/*.jsonl")
    assert [plain(lines) for lines in found.values()] == [[
        "user: SLOWTOOL please", "assistant: Running.", "tool_call: Bash", "tool_result: hi",
        "user: Queued while it works", "assistant: Mock answer",
        "user: After", "assistant: Mock answer",
    ]]  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [{"commandMode": "task-notification"}, {"origin": {"kind": "peer"}}, {"isMeta": True}],
    ids=lambda more: next(iter(more)),
)
def test_what_nobody_typed_is_no_message(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path, more: dict[str, object]
) -> None:
    root, attachment = vault(), {"type": "queued_command", "prompt": "Injected"} | more
    queued = claude_line(2, "") | {"type": "attachment", "attachment": attachment}
    del queued["message"]
    path = write_lines(tmp_path / "S1.jsonl", [claude_line(1, "Typed"), queued])
    with opened(root) as brain:
        assert imported(brain, path) == 1


def test_a_fork_that_is_imported_later_adds_only_its_own(
    vault: MakeVault, opened: OpenBrain
) -> None:
    root = vault()
    folder = FIXTURES / "claude_code/projects/-w-app"
    main = folder / f"{MAIN}.jsonl"
    fork = next(path for path in folder.glob("*.jsonl") if path != main)
    with opened(root) as brain:
        imported(brain, main)
    with opened(root) as brain:
        assert imported(brain, fork) == 2
        assert brain.session_show(fork.stem).session.parent == MAIN


# -- the other clients ---------------------------------------------------------------------------


def test_codex(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    with opened(root) as brain:
        assert imported(brain, FIXTURES / "codex") == 12
    found = sessions(root)["01a1ed9d-a875-7c41-a0e7-74df0c1ee8cb"]
    assert [text.split(":")[0] for text in texts(found)] == [
        *("user", "assistant", "user", "tool_call", "tool_result", "assistant", "user"),
        *("tool_call", "tool_call", "tool_result", "tool_result", "assistant"),
    ]
    assert found[3]["input"] == {"cmd": "echo hi"}
    assert "AGENTS.md" not in json.dumps(found)


def test_codex_continues_in_another_file(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    """After a revert, a thread has two files. It stays one session."""
    root = vault()
    meta = {"type": "session_meta", "payload": {"id": "T1", "cwd": "/w/app"}}
    for number, text in enumerate(("First", "Second")):
        said = {"type": "event_msg", "payload": {"type": "user_message", "message": text}}
        time = {"timestamp": f"2026-11-19T22:0{number}:00.000Z"}
        path = tmp_path / f"t/rollout-2026-11-19T22-0{number}-00-T1.jsonl"
        write_lines(path, [time | meta, time | said])
    with opened(root) as brain:
        found = brain.session_import([str(tmp_path / "t")])
    assert [each.sessions for each in found.found] == [1]
    assert [each.messages for each in found.sessions] == [found.messages] == [2]
    assert texts(sessions(root)["T1"]) == ["user: First", "user: Second"]


def test_codex_rewrites_an_old_transcript(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    """`codex migrate-rollouts` replaces the file and gives its messages ids."""
    root, home = vault(), copy(tmp_path, "codex_0.99")
    with opened(root) as brain:
        assert imported(brain, home) == 6
        before = sessions(root)
        shutil.copy(FIXTURES / "codex_migrated" / CODEX, home / f"{CODEX}.new")
        os.replace(home / f"{CODEX}.new", home / CODEX)
        assert imported(brain, home) == 0
    assert sessions(root) == before
    assert plain(before["01a1ed9d-f382-7361-be81-84d8dd0114e5"]) == TURNS


def test_gemini_repeats_its_messages(vault: MakeVault, opened: OpenBrain) -> None:
    """Two resumes list all messages again, with new times."""
    root = vault()
    with opened(root) as brain:
        assert imported(brain, FIXTURES / "gemini") == 14
        session = brain.session_show("f98879b2").session
    assert session.cwd == "/w/app"
    found = sessions(root)[session.id]
    call = "tool_call: list_directory"
    assert plain(found) == [
        "user: List files please", "assistant: Mock answer",
        "user: USETOOL please", "assistant: Running.", call, plain(found)[5],
        "assistant: Mock answer", "user: USEPARALLEL please", "assistant: Running both.",
        call, plain(found)[10], call, plain(found)[12], "assistant: Mock answer",
    ]  # fmt: skip
    assert all(found[at]["role"] == "tool_result" for at in (5, 10, 12))
    assert found[0]["timestamp"] == "2026-11-18T07:45:24.738Z"
    assert "session_context" not in json.dumps(found)


def test_gemini_before_jsonl(vault: MakeVault, opened: OpenBrain, tmp_path: Path) -> None:
    listed = [
        {"id": "m1", "timestamp": "2026-02-01T10:00:00Z", "type": "user", "content": "Hello"},
        {"id": "m2", "timestamp": "2026-02-01T10:00:01Z", "type": "gemini", "content": "Hi"},
    ]
    path = tmp_path / "chats/session-1.json"
    path.parent.mkdir()
    record = {"sessionId": "G1", "projectHash": "x", "startTime": "2026-02-01T10:00:00Z"}
    path.write_text(json.dumps({**record, "messages": listed}))
    root = vault()
    with opened(root) as brain:
        assert imported(brain, path) == 2
        listed.append(listed[0] | {"id": "m3", "content": "Again"})
        path.write_text(json.dumps({**record, "messages": listed}))
        assert imported(brain, path) == 1
    assert texts(sessions(root)["G1"]) == ["user: Hello", "assistant: Hi", "user: Again"]


def test_both_stores_of_opencode(vault: MakeVault, opened: OpenBrain, tmp_path: Path) -> None:
    root = vault()
    db = opencode_db(tmp_path / "opencode.db")
    storage = opencode_storage(tmp_path / "storage")
    with opened(root) as brain:
        assert imported(brain, storage) == 7
        before = sessions(root)
        assert imported(brain, db) == 0
    assert sessions(root) == before
    found = before["ses_e1261bd6affe36QzOqqnQfrl6G"]
    assert [line["role"] for line in found] == [
        *("user", "assistant", "user", "assistant", "tool_call", "tool_result", "assistant"),
    ]
    other = vault(name="other")
    with opened(other) as brain:
        assert imported(brain, db) == 7
    assert sessions(other) == before


def test_a_fork_of_opencode_adds_only_its_own(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    """OpenCode copies all messages into a fork, under new ids. Before it: a tool, parallel calls, a
    subagent."""
    root = vault()
    path = opencode_db(tmp_path / "opencode.db", "opencode_fork")
    with opened(root) as brain:
        assert imported(brain, path) == 23
        listed = brain.session_list(agent="opencode")
        assert imported(brain, path) == 0
    (main,) = [each.id for each in listed if each.messages == 19]
    assert sorted((each.messages, each.parent or "") for each in listed) == [
        (2, main), (2, main), (19, ""),
    ]  # fmt: skip
    call, result = "tool_call: bash", "tool_result: hi"
    found = sessions(root)
    said = plain(found.pop(main))
    assert said[:15] == [
        'user: "List files please"', "assistant: Mock answer",
        'user: "USETOOL please"', "assistant: Running.", call, result, "assistant: Mock answer",
        'user: "USETOOLPAR please"', "assistant: Running.", call, result, call, result,
        "assistant: Mock answer", 'user: "USEAGENT please"',
    ]  # fmt: skip
    others = [plain(lines) for id, lines in found.items() if id.startswith("ses_")]
    assert sorted(others) == [
        ['user: "After the fork"', "assistant: Mock answer"],
        ["user: say sub-hello", "assistant: Mock answer"],
    ]


def test_opencode_waits_for_an_answer_that_is_being_written(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    root, path = vault(), opencode_db(tmp_path / "opencode.db")
    db = sqlite3.connect(path)
    last, data = db.execute("SELECT id, data FROM message ORDER BY id DESC").fetchone()
    half = json.loads(data)
    del half["time"]["completed"]
    db.execute("UPDATE message SET data = ? WHERE id = ?", (json.dumps(half), last))
    db.commit()
    with opened(root) as brain:
        assert imported(brain, path) == 6
        db.execute(
            "UPDATE message SET data = ?, time_updated = 1794987999999 WHERE id = ?", (data, last)
        )
        db.commit()
        assert imported(brain, path) == 1
    db.close()


# -- importing again -------------------------------------------------------------------------------

FILES = [
    path
    for name in ("claude_code", "claude_code_queued", "codex", "codex_0.99", "gemini")
    for path in sorted((FIXTURES / name).rglob("*.jsonl"))
]


@pytest.mark.parametrize("source", FILES, ids=lambda path: f"{path.parts[-5:][0]}-{path.stem[:12]}")
@settings(max_examples=12)
@given(data=st.data())
def test_in_pieces(
    source: Path, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A transcript that is read while it is written gives the same bytes as one that is complete,
    wherever it was cut."""
    tmp = tmp_path_factory.mktemp("pieces")
    whole = source.read_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    path = tmp / source.name
    one, two = (base.lay(tmp / name, {}) for name in ("one", "two"))
    with base.open_brain(one, tmp / "state") as brain:
        path.write_bytes(whole)
        brain.session_import([str(path)])
    path.unlink()
    with base.open_brain(two, tmp / "state") as brain:
        for end in (*cuts, len(whole), len(whole)):
            with path.open("ab") as file:
                file.write(whole[file.tell() : end])
            try:
                brain.session_import([str(path)])
            except BadRequest:
                assert end < len(whole), "too little to recognise it"
    assert _transcripts(two) == _transcripts(one) != {}


def _transcripts(root: Path) -> dict[str, bytes]:
    return {
        path.stem: path.read_bytes() for path in root.glob("40_Brain/agents/*/sessions/*.jsonl")
    }


def test_nothing_changes_the_second_time(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    """Neither with the marks nor without, nor after the file was copied, nor under another name."""
    root = vault()
    home = copy(tmp_path, "claude_code")
    with opened(root) as brain:
        imported(brain, home)
        before = _transcripts(root)
        for path in (home, copy(tmp_path / "again", "claude_code")):
            assert imported(brain, path) == 0
        for path in home.rglob("*.jsonl"):
            shutil.copy(path, f"{path}.new")
            os.replace(f"{path}.new", path)
        assert imported(brain, home) == 0
        shutil.rmtree(brain.vault.paths.state)
    with opened(root) as brain:
        assert imported(brain, home) == 0
    assert _transcripts(root) == before


def test_an_archived_session_comes_back_only_if_it_goes_on(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    root = vault()
    path = write_lines(tmp_path / "S1.jsonl", [claude_line(1, "One"), claude_line(2, "Two")])
    with opened(root) as brain:
        imported(brain, path)
        brain.session_archive("S1")
        assert imported(brain, path) == 0
        assert [each.state for each in brain.session_list(all=True, agent="claude")] == ["archived"]
        write_lines(path, [claude_line(n, f"Text {n}") for n in (1, 2, 3)])
        assert imported(brain, path) == 1
        assert [each.state for each in brain.session_list(agent="claude")] == ["open"]


def test_a_deleted_session_stays_deleted(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    """Even if it goes on, or the client moves its file, until a person asks for it again."""
    root = vault()
    path = write_lines(tmp_path / "S1.jsonl", [claude_line(1, "One"), claude_line(2, "Two")])
    with opened(root) as brain:
        imported(brain, path)
        (root / "40_Brain/agents/claude/sessions/S1.jsonl").unlink()
        assert brain.session_import([str(path)]).deleted == 1
        write_lines(path, [claude_line(n, f"Text {n}") for n in (1, 2, 3)])
        (tmp_path / "moved").mkdir()
        moved = path.rename(tmp_path / "moved/S1.jsonl")
        found = brain.session_import([str(moved)])
        assert (found.deleted, found.messages, found.sessions) == (1, 0, [])
        assert "S1" not in sessions(root)
        assert brain.session_import([str(moved)], again=True).messages == 3
        assert brain.session_import([str(moved)]).deleted == 0
    assert texts(sessions(root)["S1"]) == ["user: Text 1", "user: Text 2", "user: Text 3"]


def test_a_deleted_session_does_not_count_for_the_question(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    root, home = vault(), copy(tmp_path, "codex")
    shutil.move(home, tmp_path / ".codex")
    with opened(root) as brain:
        brain.vault.environ = {"HOME": str(tmp_path)}
        assert brain.session_import().bytes
        for path in root.glob("40_Brain/agents/*/sessions/*.jsonl"):
            path.unlink()
        found = brain.session_import()
        assert (found.state, found.bytes, found.deleted) == ("imported", 0, 1)


def test_an_import_and_connect_name_the_same_agent() -> None:
    for each in clients.CLIENTS:
        source = clients.Source(each.name, "/x", "s")
        assert connect_clients.client(each.name).agent == importing.owner_of((), source, "/home")


# -- what is left out ------------------------------------------------------------------------------


def test_injected_text_and_secrets_stay_out(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    context = "<brain-context>\n- The walrus eats clams\n</brain-context>"
    calls = [
        {"type": "tool_use", "id": "t1", "name": "mcp__brain__memory_query", "input": {"q": "x"}}
    ]
    answers = [{"type": "tool_result", "tool_use_id": "t1", "content": "[id:m-1] clams"}]
    long = [{"type": "tool_result", "tool_use_id": "t2", "content": "x" * 9000}]
    path = write_lines(tmp_path / "S1.jsonl", [
        claude_line(1, f"{context}\nWhat do they eat?"),
        claude_line(2, context),
        claude_line(3, "<system-reminder>Be brief.</system-reminder>"),
        claude_line(4, "The key is ghp_1234567890abcdefghijklmnopqrstuvwxyz12", "assistant"),
        claude_line(5, calls, "assistant"),  # type: ignore[arg-type]
        claude_line(6, answers),  # type: ignore[arg-type]
        claude_line(7, long),  # type: ignore[arg-type]
        claude_line(8, "\ud800 lone", "assistant"),
    ])  # fmt: skip
    root = vault()
    with opened(root) as brain:
        imported(brain, path)
    found = sessions(root)["S1"]
    assert texts(found)[:3] == [
        "user: What do they eat?", "assistant: The key is [redacted:github]",
        "tool_call: mcp__brain__memory_query",
    ]  # fmt: skip
    assert "content" not in found[3]
    assert 2000 < len(found[4]["content"]) < 2100
    assert "clams" not in json.dumps(found)


def test_an_unknown_shape_imports_nothing(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    root = vault()
    before = base.snapshot(root)
    path = write_lines(tmp_path / "odd.jsonl", [{"speaker": "x", "words": "y"}])
    with opened(root) as brain, pytest.raises(BadRequest, match="nothing was imported"):
        brain.session_import([str(path)])
    with opened(root) as brain, pytest.raises(BadRequest, match="There is no file"):
        brain.session_import([str(tmp_path / "none")])
    assert {path: v for path, v in base.snapshot(root).items() if ".db" not in path} == before


class Growing(io.RawIOBase):
    """A file to which a client appends: one part arrives after each time its end was read."""

    def __init__(self, *parts: bytes) -> None:
        self.parts = [*parts]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return offset

    def readinto(self, buffer: bytearray) -> int:
        part = self.parts.pop(0) if self.parts else b""
        buffer[: len(part)] = part
        return len(part)


def test_a_line_that_arrives_in_two_parts_is_left_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux shows a write() that crosses a page in two steps."""
    path = write_lines(tmp_path / "S1.jsonl", [])
    growing = Growing(b'{"id":1}\n{"i', b"", b'd":2}\n{"id":3}\n')
    monkeypatch.setattr(transcript, "open", lambda *_: io.BufferedReader(growing), raising=False)
    assert list(transcript.lines(str(path))) == [({"id": 1}, 9)]


def test_a_file_that_cannot_be_read_stops_no_import(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that the client deletes at this moment is no problem either."""
    for number, name in enumerate(("gone", "good", "locked")):
        write_lines(tmp_path / f"t/{name}.jsonl", [claude_line(number, name)])
    real = files.open_quietly

    def opening(path: str, *flags: int) -> tuple[int, bool]:
        if path.endswith("gone.jsonl"):
            raise FileNotFoundError(2, "No such file or directory", path)
        if path.endswith("locked.jsonl"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *flags)

    monkeypatch.setattr(files, "open_quietly", opening)
    with opened(vault()) as brain:
        found = brain.session_import([str(tmp_path / "t")])
        assert [each.session for each in found.sessions] == ["good"]
        assert found.problems == [f"{tmp_path}/t/locked.jsonl: Permission denied."]
        found = brain.session_import([str(tmp_path / "t/locked.jsonl")])
        assert found.problems == [f"{tmp_path}/t/locked.jsonl: Permission denied."]


@pytest.mark.parametrize(
    "line",
    [
        "null", "[]", '"text"', "{}", '{"type":"user","uuid":1,"sessionId":"S1","message":null}',
        '{"type":"user","uuid":"u9","sessionId":"S1","message":{"content":[null,1,{"type":"text"}]}}',
        '{"type":"user","uuid":"u8","sessionId":"S1","message":{"content":{"a":1}}}',
        '{"type":"assistant","uuid":"u7","sessionId":"S1","message":{"content":[{"type":"tool_use"}]}}',
        '{"type":"system","subtype":"compact_boundary","compactMetadata":null}',
        '{"type":["user"]}', "\x00\xff", "[" * 5000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_no_line_stops_an_import(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path, line: str, client: str
) -> None:
    root = vault()
    first = {
        "claude": claude_line(1, "Hello"),
        "codex": {
            "type": "session_meta",
            "payload": {"id": "S1"},
            "timestamp": "2026-02-01T10:00Z",
        },
        "gemini": {"sessionId": "S1", "projectHash": "x", "startTime": "2026-02-01T10:00:00Z"},
    }[client]
    last = {
        "claude": claude_line(2, "Last"),
        "codex": {"type": "event_msg", "payload": {"type": "user_message", "message": "Last"}},
        "gemini": {"id": "m2", "type": "user", "content": "Last"},
    }[client]
    path = tmp_path / "S1.jsonl"
    path.write_text(f"{json.dumps(first)}\n{line}\n{json.dumps(last)}\n")
    with opened(root) as brain:
        imported(brain, path)
    assert texts(sessions(root)["S1"])[-1] == "user: Last"


# -- where sessions belong -------------------------------------------------------------------------


def test_the_longest_path_wins(vault: MakeVault, opened: OpenBrain, tmp_path: Path) -> None:
    files = base.VAULT | {
        "40_Brain/brain.yaml": "projects:\n  zoo: /w\n  other: /w/app/deep\n  near: /w/ap\n"
    }
    root = vault(files)
    places = {"A": "/w/app", "B": "/w/app/deep/er", "C": "/elsewhere", "D": "/w/app/deeper"}
    for name, cwd in places.items():
        line = claude_line(1, name, cwd=cwd) | {"uuid": name}
        write_lines(tmp_path / f"t/{name}.jsonl", [line])
    with opened(root) as brain:
        imported(brain, tmp_path / "t")
        owners = {each.id: each.agent for each in brain.session_list()}
        assert {id: owners[id] for id in "ABCD"} == {
            "A": "zoo", "B": "other", "C": "claude", "D": "zoo"
        }  # fmt: skip
        assert brain.session_import([str(tmp_path / "t")], project="zoo").found[0].sessions == 2


def test_since(vault: MakeVault, opened: OpenBrain, tmp_path: Path) -> None:
    root = vault()
    old = write_lines(tmp_path / "t/old.jsonl", [claude_line(1, "Old") | {"uuid": "a"}])
    write_lines(tmp_path / "t/new.jsonl", [claude_line(1, "New") | {"uuid": "b"}])
    os.utime(old, (1_600_000_000, 1_600_000_000))
    with opened(root) as brain:
        found = brain.session_import([str(tmp_path / "t")], since="2026-01-01")
    assert [each.session for each in found.sessions] == ["new"]


def test_it_asks_before_it_adds_much(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from brain.operations import session_import

    monkeypatch.setattr(session_import, "ASKS", 1000)
    root = vault()
    shutil.copytree(FIXTURES / "claude_code", tmp_path / ".claude")
    with opened(root) as brain:
        brain.vault.environ = {"HOME": str(tmp_path)}
        found = brain.session_import()
        assert (found.state, found.sessions) == ("asks", [])
        assert found.bytes > 1000
        assert len(sessions(root)) == 1
        assert brain.session_import(yes=True).bytes == pytest.approx(found.bytes, rel=0.1)


def test_a_session_id_is_never_a_path(vault: MakeVault, opened: OpenBrain, tmp_path: Path) -> None:
    meta = {"id": "../../../../evil", "timestamp": "2026-02-01T10:00:00Z"}
    said = {"type": "user_message", "message": "Hello"}
    path = write_lines(tmp_path / "rollout.jsonl", [
        {"type": "session_meta", "payload": meta},
        {"type": "event_msg", "timestamp": "2026-02-01T10:00:00Z", "payload": said},
    ])  # fmt: skip
    root = vault()
    with opened(root) as brain:
        found = brain.session_import([str(path)])
    assert found.sessions[0].session.startswith("codex-")
    assert not list(tmp_path.rglob("evil*"))
