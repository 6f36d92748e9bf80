"""Sessions in the vault: append, show, list, end, fork, archive; who may, and which ids."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.errors import BadRequest, BrainError, Denied, NotFound, Refused
from brain.sessions import transcript
from tests import kit as base
from tests.conftest import MakeVault, OpenBrain
from tests.sessions.kit import claude_line, sessions, texts, write_lines


def notes(root: Path) -> dict[str, object]:
    """Return all files and their content, but for the index and the state of this machine."""
    return {path: v for path, v in base.snapshot(root).items() if ".db" not in path}


def test_a_conversation(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    with opened(root) as brain:
        session = brain.session_start(title="Walruses", cwd="/w/app")
        brain.session_append(session.id, "What do they eat?")
        given = {"path": "README.md"}
        brain.session_append(session.id, role="tool_call", name="read", input=given, message="t1")
        brain.session_append(session.id, "# Clams", role="tool_result", message="t1")
        said = brain.session_append(session.id, "Clams.", role="assistant", fields={"mood": 1})
        shown = brain.session_show(session.id[:6])
        assert (shown.session.title, shown.session.state) == ("Walruses", "open")
        assert shown.session.messages == said.messages == 4
        assert texts(shown.messages) == [
            "user: What do they eat?", "tool_call: read", "tool_result: # Clams",
            "assistant: Clams.",
        ]  # fmt: skip
        assert (shown.messages[1]["input"], shown.messages[3]["mood"]) == (given, 1)
        assert said.path in base.found(brain, "clams", scopes=("sessions",))
        ended = brain.session_end(session.id, summary="They eat clams.")
        assert (ended.state, ended.summary) == ("ended", "They eat clams.")
        assert brain.session_end(session.id).state == "ended"
        brain.session_append(session.id, "And fish?")
        assert brain.session_show(session.id).session.state == "open"


def test_a_repeated_append_is_recognised(vault: MakeVault, opened: OpenBrain) -> None:
    with opened(vault()) as brain:
        outcomes = [
            brain.session_append("s1", "Hello", message="m1", create=True).outcome for _ in range(3)
        ]
        assert outcomes == ["appended", "already", "already"]
        assert (
            brain.session_append("s1", "Hi", role="assistant", message="m1", create=True).messages
            == 2
        )


def test_an_unknown_id_is_an_error(vault: MakeVault, opened: OpenBrain) -> None:
    """A mistyped id must not create a session."""
    root = vault()
    with opened(root) as brain:
        before = notes(root)
        with pytest.raises(NotFound, match="There is no session 'TYPO'") as error:
            brain.session_append("TYPO", "Hello")
        assert "brain session start TYPO" in error.value.remedy
        assert notes(root) == before
        brain.session_start("s1")
        assert brain.session_append("s1", "Hello").messages == 1
        assert brain.session_append("s2", "Hello", create=True).messages == 1


def test_secrets_are_removed(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    with opened(root) as brain:
        brain.session_append("s1", "Use ghp_1234567890abcdefghijklmnopqrstuvwxyz12", create=True)
        brain.session_end("s1", summary="It is ghp_1234567890abcdefghijklmnopqrstuvwxyz12")
    assert not any(b"ghp_" in path.read_bytes() for path in (root / "40_Brain").rglob("*.json*"))


@pytest.mark.parametrize(
    "torn", ['{"id":"m1","role":"user","content":"cut sh', '{"id":"m1"}', "\xff"]
)
def test_an_incomplete_last_line_stays(vault: MakeVault, opened: OpenBrain, torn: str) -> None:
    root = vault()
    path = root / "40_Brain/sessions/2026-01-01.jsonl"
    before = path.read_bytes() + torn.encode("latin-1")
    path.write_bytes(before)
    with opened(root) as brain:
        brain.session_append("2026-01-01", "Next")
        assert texts(brain.session_show("2026-01-01").messages)[-1] == "user: Next"
    assert path.read_bytes().startswith(before + b"\n")


def test_a_checkpoint_every_ten_messages(vault: MakeVault, opened: OpenBrain) -> None:
    """After a crash, the count goes on from it."""
    root = vault()
    for number in range(25):
        with opened(root) as brain:
            assert (
                brain.session_append("s1", f"Message {number}", create=True).messages == number + 1
            )
    lines = [line for line, _ in transcript.lines(str(root / "40_Brain/sessions/s1.jsonl"))]
    assert [line["messages"] for line in lines if line["role"] == "checkpoint"] == [10, 20]


def test_sessions_json_is_rebuilt(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    index = root / "40_Brain/sessions/sessions.json"
    with opened(root) as brain:
        for id in ("a1", "b2"):
            brain.session_append(id, f"Hello {id}", create=True)
            brain.session_end(id)
        whole = index.read_text()
        for damage in ("", "{", None):
            index.unlink() if damage is None else index.write_text(damage)
            assert {each.id for each in brain.session_list()} == {"2026-01-01", "a1", "b2"}
            brain.session_end("a1")
            assert index.read_text() == whole
        value = json.loads(whole)
        value["sessions"][1]["stars"] = 5
        index.write_text(json.dumps({"mine": 1, **value}))
        brain.session_append("a1", "More", create=True)
        brain.session_end("a1")
        kept = json.loads(index.read_text())
        assert (kept["mine"], kept["sessions"][1]["stars"]) == (1, 5)
        assert kept["sessions"][1]["messages"] == 2


def test_fork(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    with opened(root) as brain:
        for number in range(12):
            brain.session_append("s1", f"Message {number}", message=f"m{number}", create=True)
        brain.session_append("s1", role="tool_call", name="read", message="t1", create=True)
        brain.session_append("s1", "done", role="tool_result", message="t1", create=True)
        brain.session_append("s1", "Last", message="last", create=True)
        fork = brain.session_fork("s1")
        assert (fork.parent, fork.messages) == ("s1", 15)
        part = brain.session_fork("s1", message="m3", new="part")
        assert (part.id, part.messages) == ("part", 4)
        assert brain.session_fork("s1", message="t1").messages == 14, "the call with its result"
        brain.session_append("part", "Other way", create=True)
        assert brain.session_show("s1").session.messages == 15
        with pytest.raises(Refused, match="already"):
            brain.session_fork("s1", new="part")
        with pytest.raises(NotFound, match="no message"):
            brain.session_fork("s1", message="none")
        assert brain.session_append(fork.id, "Goes on").messages == 16


def test_old_sessions_move_to_the_archive(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    with opened(root) as brain:
        brain.session_append("old", "The narwhal left", agent="zoo", create=True)
        brain.vault.clock = lambda: base.NOW + timedelta(days=31)
        brain.session_append("new", "The narwhal is back", agent="zoo", create=True)
        archived = brain.session_archive(agent="zoo")
        path = "40_Brain/archive/projects/zoo/agent/sessions/old.jsonl"
        assert [each.path for each in archived] == [path]
        assert path in base.found(brain, "narwhal", scopes=("archive",))
        assert "old" not in [each.id for each in brain.session_list()]
        assert "old" in [each.id for each in brain.session_list(all=True)]
        for found in brain.search("narwhal", scopes=("archive",)).results:
            with pytest.raises(BadRequest, match="not a memory"):
                brain.forget(found.row.ref)
        brain.session_append("old", "It returned", create=True)
        assert brain.session_show("old").session.state == "open"
        assert not (root / path).exists()


# -- who may ---------------------------------------------------------------------------------------


def test_an_agent_sees_and_writes_its_own(vault: MakeVault, opened: OpenBrain) -> None:
    other = "---\ntype: project\n---\nOther.\n"
    root = vault(base.VAULT | {"40_Brain/agents/fox/AGENT.md": other})
    with opened(root) as brain:
        brain.session_append("hers", "Secret plans", agent="zoo", create=True)
        brain.session_append("his", "Mine", by="fox", create=True)
        assert sessions(root, "40_Brain/agents/fox/sessions/*.jsonl").keys() == {"his"}
        assert {each.id for each in brain.session_list(by="fox")} == {"2026-01-01", "his"}
        calls = (brain.session_show, brain.session_end, brain.session_fork, brain.session_archive)
        for call in calls:
            with pytest.raises(NotFound) as one:
                call("hers", by="fox")
            with pytest.raises(NotFound) as two:
                call("hera", by="fox")
            assert str(one.value).replace("hers", "hera") == str(two.value), "nothing is revealed"
        for call in calls[1:]:
            with pytest.raises(Denied):
                call("2026-01-01", by="fox")
        with pytest.raises(Denied):
            brain.session_append("2026-01-01", "No", by="fox")
        assert brain.session_append("hers", "My own", by="fox", create=True).path.startswith(
            "40_Brain/agents/fox"
        )
        assert texts(brain.session_show("hers", agent="zoo").messages) == ["user: Secret plans"]


def test_an_agent_imports_only_into_its_own(
    vault: MakeVault, opened: OpenBrain, tmp_path: Path
) -> None:
    """Not even if the session of the transcript is another agent's."""
    root = vault(base.VAULT | {"40_Brain/agents/codex/AGENT.md": "---\ntype: project\n---\n"})
    path = write_lines(tmp_path / "S1.jsonl", [claude_line(1, "Hello")])
    with opened(root) as brain:
        brain.session_append("S1", "Hers", agent="zoo", create=True)
        before = notes(root)
        found = brain.session_import([str(path)], by="codex")
        assert (found.messages, len(found.problems)) == (0, 1)
        assert "codex may not create agents" in found.problems[0], "not a word about zoo"
        assert notes(root) == before
        assert brain.session_import([str(path)]).messages == 1
    assert texts(sessions(root)["S1"]) == ["user: Hers", "user: Hello"]


def test_nothing_is_written_while_paused(vault: MakeVault, opened: OpenBrain) -> None:
    root = vault()
    with opened(root) as brain:
        brain.pause()
        before = notes(root)
        for call in (brain.session_append, brain.session_start, brain.session_end):
            with pytest.raises(Denied, match="paused"):
                call(*("2026-01-01", "Hello")[: 2 if call == brain.session_append else 1])
        assert notes(root) == before


# -- ids -------------------------------------------------------------------------------------------


def hostile() -> Iterator[str]:
    """Yield ids that are no plain file names."""
    steps = (
        "..",
        "../x",
        "../../etc/passwd",
        "a/../b",
        "a/b",
        "/etc/passwd",
        "..\\x",
        "a\\b",
        "C:\\x",
    )
    for step in steps:
        yield step
        yield step.replace("/", "%2f").replace("\\", "%5c")
        yield step.replace(".", "%2e")
        yield step.replace("/", "\u2215")
        yield step.replace("/", "\uff0f")
        yield step.replace(".", "\uff0e")
        yield f"{step}\0"
        yield f"x/{step}"
        yield f" {step}"
        yield f"file://{step}"
    for code in (
        *range(33),
        *range(127, 161),
        0x200B,
        0x200E,
        0x202E,
        0x2028,
        0xFEFF,
        0xD800,
        0xE000,
    ):
        yield f"a{chr(code)}b"
        yield chr(code)
        yield f"{chr(code)}ab"
    for mark in "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~":
        yield f"a{mark}b"
        yield mark
    yield from ("con", "PRN", "aux", "nul", "com1", "LPT9", "con.txt", "Aux.jsonl", "NUL.x")
    yield from ("", ".", "..", "...", ".hidden", "-x", "_x", "a.", "a..b", "~", "~root", "x" * 101)
    yield from (
        "é",
        "ｓ１",
        "ѕ1",
        "s\u0301",
        "😀",
        "s1\u0000.jsonl",
        "s1\n",
        "$HOME",
        "${x}",
        "`x`",
    )


HOSTILE = list(dict.fromkeys(hostile()))


def test_hostile_ids_are_refused(vault: MakeVault, opened: OpenBrain, tmp_path: Path) -> None:
    assert len(HOSTILE) >= 300
    root = vault()
    with opened(root) as brain:
        brain.session_append("s1", "Hello", message="m1", create=True)
        before = notes(tmp_path)
        for id in HOSTILE:
            for call in (
                lambda: brain.session_append(id, "x"),  # noqa: B023
                lambda: brain.session_show(id),  # noqa: B023
                lambda: brain.session_end(id),  # noqa: B023
                lambda: brain.session_fork(id),  # noqa: B023
                lambda: brain.session_fork("s1", new=id) if id else brain.session_show(""),  # noqa: B023
                lambda: brain.session_start(id) if id else brain.session_show(""),  # noqa: B023
                lambda: brain.session_archive(id) if id else brain.session_show(""),  # noqa: B023
            ):
                with pytest.raises(BadRequest, match="not the id of a session"):
                    call()
        assert notes(tmp_path) == before


def test_names_that_collide_are_refused(vault: MakeVault, opened: OpenBrain) -> None:
    with opened(vault()) as brain:
        brain.session_append("Abc", "Hello", create=True)
        with pytest.raises(Refused, match="There is a session Abc already"):
            brain.session_append("aBC", "Hello", create=True)


def test_a_link_is_not_followed(vault: MakeVault, opened: OpenBrain, tmp_path: Path) -> None:
    root = vault()
    target = tmp_path / "outside.jsonl"
    target.write_text("")
    os.symlink(target, root / "40_Brain/sessions/link.jsonl")
    with opened(root) as brain, pytest.raises(BrainError, match="link"):
        brain.session_append("link", "Hello", create=True)
    assert target.read_text() == ""


# -- any order of events ---------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.integers(1, 12)),
            st.tuples(st.just("repeat"), st.just(0)),
            st.tuples(st.just("cut"), st.integers(1, 30)),
            st.tuples(st.sampled_from(["end", "fork", "archive", "list"]), st.just(0)),
        ),
        max_size=12,
    )
)
def test_no_line_is_lost_or_doubled(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """`cut` adds the beginning of a line, as a crash leaves it."""
    tmp = tmp_path_factory.mktemp("steps")
    root = base.lay(tmp / "vault", {})
    wanted: list[str] = []
    forks: dict[str, list[str]] = {}
    with base.open_brain(root, tmp / "state") as brain:
        for step, size in [("append", 1), *steps]:
            if step == "append":
                for _ in range(size):
                    wanted.append(f"m{len(wanted)}")
                    done = brain.session_append(
                        "s1", f"Text {wanted[-1]}", message=wanted[-1], create=True
                    )
                    assert done.messages == len(wanted)
            elif step == "repeat":
                assert (
                    brain.session_append("s1", "Again", message=wanted[-1], create=True).outcome
                    == "already"
                )
            elif step == "cut":
                path = next(root.glob("40_Brain/**/s1.jsonl"))
                with path.open("ab") as file:
                    file.write(b'{"id":"x","role":"user","content":"cut short'[:size])
            elif step == "end":
                brain.session_end("s1")
            elif step == "archive":
                brain.session_archive("s1")
            elif step == "fork":
                forks[brain.session_fork("s1").id] = list(wanted)
            else:
                assert len(brain.session_list(all=True)) == 1 + len(forks)
    found = sessions(root)
    assert [line["id"] for line in found["s1"]] == wanted
    assert {id: [line["id"] for line in found[id]] for id in forks} == forks
    assert len(found) == 1 + len(forks)


def test_the_time_of_a_message_is_a_time(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault({}))
    with pytest.raises(BadRequest, match="'never' is not a date"):
        brain.session_append("s-times", "Hello", at="never")
    assert brain.session_list() == []
    brain.session_append("s-times", "Hello", at="2026-02-01T09:30:00Z", create=True)
    assert brain.session_show("s-times").messages[0]["timestamp"] == "2026-02-01T09:30:00Z"
