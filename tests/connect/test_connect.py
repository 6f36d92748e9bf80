"""`brain connect` for every client, on home folders with and without a configuration."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from brain.connect import edit, install
from brain.connect.clients import CLIENTS, NAMES, Client, Place, client
from brain.connect.edit import Syntax
from brain.errors import BrainError, NotFound, Refused
from brain.serve import hook
from tests.cli.conftest import Run, demo, run  # noqa: F401
from tests.cli.conftest import _demo_once as _demo_once

COMMAND = ["/opt/brain dir/brain", "mcp", "--agent", "claude", "--vault", "/home/ann/My Vault"]
JSON = {
    "empty": "",
    "only spaces": " \n\n",
    "an empty object": "{}",
    "an empty object in lines": "{\n}\n",
    "other settings": '{\n  "theme": "dark",\n  "list": [1, 2]\n}\n',
    "other servers": '{\n    "SERVERS": {\n        "x": {"a": "y"}\n    },\n    "z": null\n}\n',
    "no servers": '{"SERVERS": {}, "a": 1}',
    "one line": '{"a": {"b": [1, {"c": "}"}]}, "SERVERS": {"x": {"command": "{"}}}',
    "tabs": '{\n\t"a": "\\"},",\n\t"SERVERS": {\n\t\t"x": {}\n\t}\n}',
    "CRLF": '{\r\n  "a": 1,\r\n  "SERVERS": {\r\n    "x": {}\r\n  }\r\n}\r\n',
    "odd": '\n\n  {"a":1\n ,\n"SERVERS"  :{ "x" :{}\n}   }   \n\n',
    "BOM": '\ufeff{\n  "a": 1\n}\n',
    "not ASCII": '{\n  "größe": "日本語 \\u00e9",\n  "SERVERS": {"ü": {}}\n}\n',
}
COMMENTS = {
    "comments": '// top\n{\n  // one\n  "a": 1, // "two"\n  /* three\n  */ "b": "// no"\n}\n',
    "comment after the last": '{\n  "a": 1 // last\n}\n',
    "comment in servers": '{\n  "SERVERS": {\n    // none yet\n  }\n}\n',
    "commented server": '{\n "SERVERS": {\n  "x": {}, /* , */\n  // "y": {}\n  "z": {} // z\n }\n}',
}
TRAILING = {
    "trailing comma": '{\n  "a": 1,\n  "SERVERS": {\n    "x": {},\n  },\n}\n',
    "trailing comma and comment": '{\n  "SERVERS": {\n    "x": {}, // x\n  }, // end\n}\n',
    "trailing comma in a line": '{"SERVERS": {"x": {},},}',
}
TOML = {
    "empty": "",
    "comments": '# mine\nmodel = "x" # why\n\n[projects."/p"]\ntrust_level = "trusted"\n',
    "no newline at the end": '[a]\nb = """\n[mcp_servers.brain]\n"""',
    "other servers": '[mcp_servers.x]\ncommand = "y"\nargs = [\n  "[z]",\n]\n# next\n[t]\nq = 1\n',
    "CRLF": "a = 1\r\n\r\n[b]\r\nc = 2\r\n",
}
BROKEN = ("{", "[]", '{"a": 1,}x', "\x00", '{"SERVERS": []}', '{"a" 1}', '{"SERVERS": null}')


def texts(each: Client) -> dict[str, str]:
    """Configurations that a client could have."""
    if each.syntax is None:
        return TOML
    found = dict(JSON)
    found |= COMMENTS if each.syntax.comments else {}
    found |= TRAILING if each.syntax.trailing_commas else {}
    return {name: text.replace("SERVERS", each.path[0]) for name, text in found.items()}


def value(each: Client, text: str) -> Any:
    """What a configuration says."""
    if each.syntax is None:
        return tomllib.loads(text)
    return edit.parse_json(text, each.syntax)


ALL = [(each, name) for each in CLIENTS for name in texts(each)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home folder; no client is installed."""
    return Place(str(tmp_path / "home"), {"PATH": str(tmp_path / "bin")}, "linux")


@pytest.mark.parametrize(("each", "name"), ALL, ids=[f"{c.name}: {name}" for c, name in ALL])
def test_a_configuration_is_edited_in_place(place: Place, each: Client, name: str) -> None:
    original = texts(each)[name].encode()
    path = Path(each.file(place))
    path.parent.mkdir(parents=True)
    path.write_bytes(original)
    path.chmod(0o640)
    before = value(each, original.decode())

    assert not install.is_connected(each, place)
    install.connect(each, COMMAND, place, dry_run=True)
    assert path.read_bytes() == original
    install.connect(each, COMMAND, place)
    connected = path.read_bytes()
    after = value(each, connected.decode())
    key = each.path[0]
    assert after[key].pop("brain") == each.shape(COMMAND)
    if each.hooks and each.hooks(place) == str(path):
        assert set(after.pop("hooks")) == set(hook.CLIENTS[each.name].events)
    assert after == before | {key: before.get(key, {})}
    assert install.is_connected(each, place)
    assert Path(f"{path}.brain-backup").read_bytes() == original
    assert path.stat().st_mode & 0o777 == 0o640
    _keeps_comments(original.decode(), connected.decode())

    assert {step.state for step in install.connect(each, COMMAND, place)} == {"unchanged"}
    assert path.read_bytes() == connected
    install.connect(each, [*COMMAND[:-1], "/other"], place)  # another vault
    assert value(each, path.read_text())[key]["brain"] == each.shape([*COMMAND[:-1], "/other"])
    install.connect(each, COMMAND, place)

    install.disconnect(each, place)
    assert not install.is_connected(each, place)
    assert value(each, path.read_bytes().decode()) in (before, before | {key: {}})
    install.connect(each, COMMAND, place)
    install.disconnect(each, place)


def _keeps_comments(before: str, after: str) -> None:
    for line in before.split("\n"):
        if "//" in line or "#" in line:
            kept = line.strip().rstrip(",").split(" //")[-1]
            assert kept in after


@pytest.mark.parametrize(("each", "name"), ALL, ids=[f"{c.name}: {name}" for c, name in ALL])
def test_removing_gives_the_original_bytes(place: Place, each: Client, name: str) -> None:
    original = texts(each)[name].encode()
    path = Path(each.file(place))
    path.parent.mkdir(parents=True)
    path.write_bytes(original)
    install.connect(each, COMMAND, place)
    install.disconnect(each, place, dry_run=True)
    assert install.is_connected(each, place)
    install.disconnect(each, place)
    assert path.read_bytes() == original
    assert not Path(f"{path}.brain-backup").exists()
    assert {step.state for step in install.disconnect(each, place)} == {"unchanged"}


@pytest.mark.parametrize("each", CLIENTS, ids=NAMES)
def test_a_new_home_is_as_before_after_removing(place: Place, each: Client) -> None:
    states = [step.state for step in install.connect(each, COMMAND, place)]
    assert set(states) == {"created"}
    assert (
        each.shape(COMMAND)
        == value(each, Path(each.file(place)).read_text())[each.path[0]]["brain"]
    )
    install.disconnect(each, place)
    assert [path for path in Path(place.home).rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("each", CLIENTS, ids=lambda each: each.name)
@pytest.mark.parametrize("exists", [False, True])
def test_a_client_that_changed_its_vault_is_as_before_after_removing(
    place: Place, each: Client, exists: bool
) -> None:
    """A file of nothing but Brain's part is no backup; an empty one of the user is."""
    path = Path(each.file(place))
    if exists:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    install.connect(each, COMMAND, place)
    install.connect(each, [*COMMAND[:-1], "/other"], place)
    assert install.is_connected(each, place)
    install.disconnect(each, place)
    files = [found for found in Path(place.home).rglob("*") if found.is_file()]
    assert files == ([path] if exists else [])
    assert not exists or path.read_text() == ""


@pytest.mark.parametrize(("each", "name"), ALL, ids=[f"{c.name}: {name}" for c, name in ALL])
def test_what_was_added_since_stays(place: Place, each: Client, name: str) -> None:
    path = Path(each.file(place))
    path.parent.mkdir(parents=True)
    path.write_bytes(texts(each)[name].encode())
    install.connect(each, COMMAND, place)
    text = path.read_bytes().decode()
    other = (each.path[0], "later")
    if each.syntax is None:
        text = edit.set_toml(text, other, {"command": "z"})
    else:
        text = edit.set_json(text, other, {"command": "z"}, each.syntax)
    path.write_bytes(text.encode())
    install.disconnect(each, place)
    left = value(each, path.read_bytes().decode())[each.path[0]]
    assert left["later"] == {"command": "z"}
    assert "brain" not in left


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("each", CLIENTS, ids=NAMES)
def test_a_file_that_does_not_parse_is_left_alone(place: Place, each: Client, text: str) -> None:
    path = Path(each.file(place))
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("SERVERS", each.path[0]))
    before = path.read_bytes()
    with pytest.raises(Refused, match="was left alone"):
        install.connect(each, COMMAND, place)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_client_that_reads_strict_json_refuses_comments() -> None:
    with pytest.raises(Refused, match="not valid JSON"):
        edit.set_json('{"a": 1 // b\n}', ("x",), {}, Syntax())
    with pytest.raises(Refused, match="not valid JSON"):
        edit.set_json('{"a": 1,}', ("x",), {}, Syntax(comments=True))


def test_a_setting_that_the_user_added_to_the_entry_stays(place: Place) -> None:
    each = client("cursor")
    install.connect(each, COMMAND, place)
    path = Path(each.file(place))
    said = json.loads(path.read_text())
    said["mcpServers"]["brain"]["env"] = {"A": "b"}
    path.write_text(json.dumps(said))
    assert [step.state for step in install.connect(each, COMMAND, place)] == ["unchanged"]


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_instructions_are_a_block_in_the_file_of_the_user(place: Place, name: str) -> None:
    each = client(name)
    path = Path(each.rules(place))
    path.parent.mkdir(parents=True, exist_ok=True)
    for mine in ("# Mine\n\nBe brief.", "# Mine\r\n", ""):
        path.write_bytes(mine.encode())
        install.connect(each, COMMAND, place)
        assert path.read_text(encoding="utf-8").startswith(mine.rstrip())
        assert "memory_query" in path.read_text()
        install.disconnect(each, place)
        assert path.read_bytes() == mine.encode()


def test_claude_code_gets_a_file_of_its_own_beside_other_instructions(place: Place) -> None:
    install.connect(client("claude-code"), COMMAND, place)
    folder = Path(place.home) / ".claude"
    assert [path.name for path in folder.rglob("*.md")] == ["brain.md"]


# -- hooks -----------------------------------------------------------------------------------------

HOOKED = [each for each in CLIENTS if each.hooks]
MINE = {"hooks": [{"type": "command", "command": "echo hook"}]}
HOOKS = {
    "empty": "",
    "no hooks": '{\n  "a": 1\n}\n',
    "other events": '{\n  "hooks": {\n    "Stop": [\n      MINE\n    ]\n  },\n  "z": 1\n}\n',
    "the same event": '{\n  "hooks": {\n    "EVENT": [\n      MINE,\n      MINE\n    ]\n  }\n}\n',
    "one line": '{"hooks": {"EVENT": [MINE], "Stop": []}}',
    "an empty list": '{\n\t"hooks": {\n\t\t"EVENT": []\n\t}\n}',
    "CRLF": '{\r\n  "hooks": {\r\n    "EVENT": [\r\n      MINE\r\n    ]\r\n  }\r\n}\r\n',
}
LISTS = [(each, name) for each in HOOKED for name in HOOKS]


def hooks_file(each: Client, place: Place, name: str) -> Path:
    """A file of hooks as a user could have it."""
    assert each.hooks
    path = Path(each.hooks(place))
    path.parent.mkdir(parents=True, exist_ok=True)
    event = next(iter(hook.CLIENTS[each.name].events))
    path.write_bytes(HOOKS[name].replace("EVENT", event).replace("MINE", json.dumps(MINE)).encode())
    return path


@pytest.mark.parametrize(("each", "name"), LISTS, ids=[f"{c.name}: {name}" for c, name in LISTS])
def test_hooks_are_added_to_those_of_the_user(place: Place, each: Client, name: str) -> None:
    path = hooks_file(each, place, name)
    original = path.read_bytes()
    before = json.loads(original or b"{}").get("hooks", {})
    install.connect(each, COMMAND, place, dry_run=True)
    assert path.read_bytes() == original
    install.connect(each, COMMAND, place)
    connected = path.read_bytes()
    after = json.loads(connected)["hooks"]
    for event in hook.CLIENTS[each.name].events:
        *others, own = after.pop(event)
        assert others == before.pop(event, [])
        words = shlex.split(own["hooks"][0]["command"])
        assert words == [COMMAND[0], "hook", each.name, event, *COMMAND[2:]]
    assert after == before  # other events

    assert {step.state for step in install.connect(each, COMMAND, place)} == {"unchanged"}
    install.connect(each, [*COMMAND[:-1], "/other"], place)
    assert path.read_text().count("/other") >= len(hook.CLIENTS[each.name].events)
    assert "My Vault" not in path.read_text()
    install.connect(each, COMMAND, place)
    install.disconnect(each, place)
    assert path.read_bytes() == original
    assert not Path(f"{path}.brain-backup").exists()


@pytest.mark.parametrize(("each", "name"), LISTS, ids=[f"{c.name}: {name}" for c, name in LISTS])
def test_hooks_that_were_added_since_stay(place: Place, each: Client, name: str) -> None:
    path = hooks_file(each, place, name)
    install.connect(each, COMMAND, place)
    said = json.loads(path.read_text())
    for event in hook.CLIENTS[each.name].events:
        said["hooks"][event].append({**MINE, "matcher": "later"})
    path.write_text(json.dumps(said, indent=3))
    install.disconnect(each, place)
    left = json.loads(path.read_text())["hooks"]
    for event in hook.CLIENTS[each.name].events:
        assert left[event][-1] == {**MINE, "matcher": "later"}
    assert "brain" not in json.dumps(left)


@pytest.mark.parametrize("each", HOOKED, ids=[each.name for each in HOOKED])
@pytest.mark.parametrize("text", ["{", '{"hooks": []}', '{"hooks": {"EVENT": {}}}'])
def test_nothing_is_done_if_the_hooks_do_not_parse(place: Place, each: Client, text: str) -> None:
    path = hooks_file(each, place, "empty")
    path.write_text(text.replace("EVENT", next(iter(hook.CLIENTS[each.name].events))))
    before = path.read_bytes()
    with pytest.raises(Refused, match="was left alone"):
        install.connect(each, COMMAND, place)
    files = [each for each in Path(place.home).rglob("*") if each.is_file()]
    assert files == [path]
    assert path.read_bytes() == before


def test_a_user_is_told_to_approve_the_hooks_of_codex() -> None:
    assert "approve" in client("codex").todo


# -- the client's own command line -----------------------------------------------------------------

FAKE = """\
#!{python}
import json, sys, pathlib
path = pathlib.Path({file!r})
log = path.with_name("log")
log.write_text((log.read_text() if log.exists() else "") + " ".join(sys.argv[1:]) + "\\n")
said = json.loads(path.read_text()) if path.exists() else {{"mcpServers": {{}}, "live": 1}}
if sys.argv[2] == "add":
    command = sys.argv[sys.argv.index("--") + 1:]
    entry = {{"type": "stdio", "command": command[0], "args": command[1:], "env": {{}}}}
    said["mcpServers"]["brain"] = entry
elif sys.argv[2] == "remove":
    del said["mcpServers"]["brain"]
if {fails}:
    sys.exit("No such scope")
path.write_text(json.dumps(said))
"""


def fake_claude(place: Place, fails: bool = False) -> Path:
    """A stand-in for `claude`, which keeps its state as the real one does."""
    home, program = Path(place.home), Path(place.env["PATH"]) / "claude"
    home.mkdir(exist_ok=True)
    program.parent.mkdir(exist_ok=True)
    file = str(home / ".claude.json")
    program.write_text(FAKE.format(python=sys.executable, file=file, fails=fails))
    program.chmod(0o755)
    return home / "log"


def test_the_clients_own_command_line_is_used(place: Place) -> None:
    log = fake_claude(place)
    each = client("claude-code")
    assert install.connect(each, COMMAND, place)[0].state == "run"
    assert install.is_connected(each, place)
    assert install.connect(each, COMMAND, place)[0].state == "unchanged"
    install.connect(each, [*COMMAND[:-1], "/other"], place)
    install.disconnect(each, place)
    assert not install.is_connected(each, place)
    calls = [line.split()[1] for line in log.read_text().splitlines()]
    assert calls == ["add", "remove", "add", "remove"]
    assert log.read_text().startswith("mcp add brain -s user -- /opt/brain dir/brain mcp --agent")


def test_its_error_is_reported(place: Place) -> None:
    fake_claude(place, fails=True)
    with pytest.raises(BrainError, match=r"`claude mcp add .* failed: No such scope"):
        install.connect(client("claude-code"), COMMAND, place)


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA", "BRAIN_VAULT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("BRAIN_STATE", str(tmp_path / "state"))
    return tmp_path / "home"


@pytest.mark.skipif(sys.platform != "linux", reason="the paths of Linux")
@pytest.mark.parametrize("name", NAMES)
def test_the_command_connects_and_creates_the_agent(
    home: Path, demo: Path, run: Run, name: str  # noqa: F811
) -> None:  # fmt: skip
    each = client(name)
    dry = run("connect", name, "--dry-run", "--json").json
    assert not home.exists()
    assert not (demo / "40_Brain/agents").exists()
    assert "Would create" in run("connect", name, "--dry-run").out
    made = run("connect", name, "--json").json
    assert made["steps"] == dry["steps"]
    assert made["agent"] == each.agent
    assert (demo / f"40_Brain/agents/{each.agent}/AGENT.md").exists()
    listed = {
        row["client"]: row["connected"]
        for row in run("connect", "--list", "--json").json["clients"]
    }
    assert listed == {other: other == name for other in NAMES}
    text = Path(each.file(Place(str(home), os.environ, "linux"))).read_text()
    assert str(demo) in text
    assert "Nothing to change" in run("connect", name).out
    assert run("connect", name, "--remove").code == 0
    assert list(home.rglob("*")) == []


def test_a_client_that_nobody_knows(home: Path, demo: Path, run: Run) -> None:  # noqa: F811
    with pytest.raises(NotFound, match="Did you mean 'claude-code'"):
        client("claude_code")
    assert run("connect").code == 2
    assert run("connect", "emacs").code == 4
