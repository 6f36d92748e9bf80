"""What holds for every command: options, help, errors, exit codes, colours, pipes, signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from brain.cli import main as app
from brain.cli import output
from brain.cli.main import command
from brain.errors import BrainError
from brain.operations import OPERATIONS
from tests.cli.conftest import COMMAND, Run, terminal
from tests.kit import PATIENCE, snapshot, until

# Every command as one would run it.
CALLS: dict[str, tuple[str, ...]] = {
    "init": ("init",),
    "sync": ("sync",),
    "watch": ("watch",),
    "events": ("events",),
    "search": ("search", "frost"),
    "show": ("show", "m-7f3k2ab4"),
    "list": ("list",),
    "open": ("open", "m-7f3k2ab4"),
    "context": ("context", "frost"),
    "gaps": ("gaps",),
    "graph": ("graph", "m-7f3k2ab4"),
    "remember": ("remember", "Seals bark at dawn"),
    "update": ("update", "m-7f3k2ab4", "My tools keep their data in DuckDB"),
    "edit": ("edit", "m-7f3k2ab4"),
    "forget": ("forget", "m-7f3k2ab4"),
    "pin": ("pin", "m-7f3k2ab4"),
    "unpin": ("unpin", "m-9hx3c6vr"),
    "confirm": ("confirm", "m-7f3k2ab4"),
    "link": ("link", "m-7f3k2ab4", "m-9hx3c6vr"),
    "unlink": ("unlink", "m-7f3k2ab4", "m-4t8wq2nd", "--as", "supersedes"),
    "tag": ("tag", "m-7f3k2ab4", "sqlite"),
    "move": ("move", "m-7f3k2ab4", "Project Context"),
    "reinforce": ("reinforce", "m-7f3k2ab4"),
    "demote": ("demote", "m-7f3k2ab4"),
    "session": ("session", "append", "s1", "Hello", "--create"),
    "history": ("history", "m-7f3k2ab4"),
    "audit": ("audit",),
    "undo": ("undo",),
    "revert": ("revert", "--agent", "admin", "--since", "1h"),
    "conflicts": ("conflicts",),
    "resolve": ("resolve", "m-7f3k2ab4"),
    "alias": ("alias", "add", "auth", "sso"),
    "agent": ("agent", "list"),
    "budget": ("budget",),
    "journal": ("journal", "write"),
    "pending": ("pending",),
    "pause": ("pause",),
    "resume": ("resume",),
    "status": ("status",),
    "doctor": ("doctor",),
    "config": ("config",),
    "completion": ("completion", "bash"),
    "similar": ("similar", "m-7f3k2ab4"),
    "connect": ("connect", "--list"),
    "mcp": ("mcp",),
    "hook": ("hook", "claude-code", "SessionStart"),
}
ENDING = [name for name in CALLS if name not in ("watch", "mcp", "hook")]
NEEDS_VAULT = [name for name in CALLS if name not in ("init", "completion", "connect", "hook")]
FAILING = [name for name in app.COMMANDS if name != "hook"]  # a hook never fails a prompt


def test_every_command_is_tried_here() -> None:
    assert set(CALLS) == set(app.COMMANDS)


# -- help ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", app.COMMANDS)
def test_help_has_an_example(run: Run, name: str) -> None:
    said = run(name, "--help")
    assert said.code == 0
    examples = [line for line in said.out.split("\n") if re.match(rf"  .*\bbrain {name}\b", line)]
    assert len([line for line in examples if "Usage" not in line]) >= 1
    assert "--json" in said.out
    assert "--vault" in said.out
    assert "--read-only" in said.out


def test_help_lists_every_command(run: Run) -> None:
    for args in ((), ("--help",), ("-h",)):
        said = run(*args)
        assert said.code == 0
        assert all(re.search(rf"^  {name} +\w", said.out, re.MULTILINE) for name in app.COMMANDS)


def test_version(run: Run) -> None:
    from brain import __version__

    assert run("--version")[:2] == (0, f"brain, version {__version__}\n")


def test_an_option_has_one_short_form_and_one_kind_of_value(run: Run) -> None:
    """`-s` is a scope in every command, and `--since` takes a time in every command."""
    commands = [app.command(operation) for operation in OPERATIONS]
    others = [app.cli.get_command(click.Context(app.cli), name) for name, _, _ in app.OTHERS]
    short: dict[str, set[str]] = {}
    values: dict[str, set[str]] = {}
    for each in [*commands, *filter(None, others)]:
        for option in (p for p in each.params if isinstance(p, click.Option)):
            long = next(name for name in option.opts if name.startswith("--"))
            for name in option.opts:
                if name != long:
                    short.setdefault(name, set()).add(long)
            if not option.is_flag and long not in ("--id", "--format"):
                values.setdefault(long, set()).add(option.metavar or option.type.name)
    assert {name: longs for name, longs in short.items() if len(longs) > 1} == {}
    assert {name: kinds for name, kinds in values.items() if len(kinds) > 1} == {}
    assert "text" not in {kind for kinds in values.values() for kind in kinds}


@pytest.mark.parametrize(
    ("name", "use"),
    [("delete", "forget"), ("rm", "forget"), ("add", "remember"), ("import", "session import")],
)
def test_a_usual_name_for_a_command_leads_to_it(run: Run, name: str, use: str) -> None:
    said = run(name, "x")
    assert (said.code, said.err) == (
        2,
        f"brain: There is no command {name!r}. Use `brain {use}`.\n",
    )


def test_other_names_of_commands_lead_to_commands() -> None:
    names = {use.split()[0] for use in app.OTHER_NAMES.values()}
    assert names <= set(app.COMMANDS)
    assert not app.OTHER_NAMES.keys() & set(app.COMMANDS)


# -- JSON ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENDING)
def test_json_is_one_document(demo: Path, run: Run, name: str) -> None:
    run("sync")
    run("search", "frost")
    _before(run, name)
    behind = run(*CALLS[name], "--json")
    _before(run, name)
    before = run("--json", *CALLS[name])
    assert (behind.code, before.code) == (0, 0)
    for said in (behind, before):
        documents = said.out.rstrip("\n").split("\n")
        shapes = [json.loads(document) for document in documents]
        assert all(isinstance(shape, dict) for shape in shapes)
        assert name == "events" or len(shapes) == 1


WRITING = (
    *("init", "remember", "update", "forget", "pin", "unpin", "confirm", "link", "unlink", "tag"),
    *("move", "reinforce", "demote", "undo", "revert", "resolve", "alias", "journal", "pause"),
    *("resume", "session", "edit"),
)


@pytest.mark.parametrize("name", ENDING)
def test_read_only_changes_nothing_but_the_index(
    demo: Path, tmp_path: Path, run: Run, name: str
) -> None:
    run("pin", "m-7f3k2ab4")
    run("link", "m-7f3k2ab4", "m-9hx3c6vr", "--as", "contradicts")
    run("unpin", "m-7f3k2ab4")
    run("sync")

    def kept() -> dict[str, object]:
        found = {**snapshot(demo), **snapshot(tmp_path / "state")}
        return {
            path: value
            for path, value in found.items()
            if not re.search(r"brain\.db|state\.db-|\.lock", path)
        }

    before = kept()
    said = [run(*CALLS[name], "--read-only"), run("--read-only", *CALLS[name])]
    assert kept() == before
    codes = [each.code for each in said]
    assert codes == ([11, 11] if name in WRITING else [0, 0])


def _before(run: Run, name: str) -> None:
    """What must have happened for a command to make sense."""
    if name == "forget":
        run("undo")
    if name == "undo":
        run("pin", "m-7f3k2ab4")
    if name == "resolve":
        run("link", "m-7f3k2ab4", "m-9hx3c6vr", "--as", "contradicts")


@pytest.mark.parametrize("name", NEEDS_VAULT)
def test_every_command_fails_in_json(tmp_path: Path, run: Run, name: str) -> None:
    said = run(*CALLS[name], "--json", "--vault", tmp_path / "nowhere")
    assert said.code == 3
    assert said.err == ""
    assert said.json == {
        "error": "VaultNotFound",
        "message": f"There is no folder {tmp_path}/nowhere.",
        "remedy": "Check the path.",
    }


@pytest.mark.parametrize("name", FAILING)
def test_usage_errors_come_in_json_too(demo: Path, run: Run, name: str) -> None:
    path = " ".join(CALLS[name][:2]) if name in app.SUBGROUPS else name
    said = run(*CALLS[name], "--no-such-option", "--json")
    assert (said.code, said.err) == (2, "")
    assert set(said.json) == {"error", "message", "remedy"}
    assert said.json["error"] == "BadRequest"
    assert "--no-such-option" in said.json["message"]
    assert said.json["remedy"] == f"See `brain {path} --help`."


# -- errors --------------------------------------------------------------------------------------


def test_no_vault_here(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("search", "frost")
    assert (said.code, said.out) == (3, "")
    assert said.err == (
        f"brain: {tmp_path} is not in a vault with a 40_Brain folder."
        " Run `brain init` in your vault, or name it with --vault or BRAIN_VAULT.\n"
    )


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["serch"], 2, "There is no command 'serch'. Did you mean `brain search`?"),
        (["zzz"], 2, "There is no command 'zzz'. See `brain --help`."),
        ([""], 2, "There is no command ''. See `brain --help`."),
        (["search"], 2, "Missing argument 'WORDS...'. See `brain search --help`."),
        (["config", "a", "b"], 2, "Got unexpected extra argument (b). See `brain config --help`."),
        (["undo", ""], 2, "Invalid value for '[EVENT]': it is empty. See `brain undo --help`."),
        (["list", "--scope", "x"], 2, "There is no scope 'x'. Scopes: "),
        (["show", "zebra"], 4, "There is no entry 'zebra'. Search for it with"),
        (
            ["config", "serchLimit"],
            4,
            "There is no setting 'serchLimit'. Did you mean 'searchLimit'?",
        ),
        (["show", "TASK"], 5, "'TASK' matches 5 entries"),
    ],
)
def test_an_error_is_a_sentence_and_a_remedy(
    demo: Path, run: Run, args: list[str], code: int, sentence: str
) -> None:
    said = run(*args)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith(f"brain: {sentence}")
    assert said.err.count("\n") == 1


def _required() -> list[tuple[str, str]]:
    """(command, parameter) for each parameter that a command cannot do without."""
    found = []
    for operation in OPERATIONS:
        made = command(operation)
        found += [(operation.name, p.name) for p in made.params if p.required and p.name]
    return found


@pytest.mark.parametrize(("name", "parameter"), _required())
def test_a_required_parameter_that_is_missing(
    demo: Path, run: Run, name: str, parameter: str
) -> None:
    before = (demo / "40_Brain/MEMORY.md").read_bytes()
    made = command(next(each for each in OPERATIONS if each.name == name))
    given = []
    for p in made.params:
        if p.required and p.name != parameter:
            given += ["m-7f3k2ab4"] if p.param_type_name == "argument" else [p.opts[0], "person"]
        elif p.name == parameter and p.param_type_name == "argument":
            break  # what follows cannot be given without it
    said = run(*name.split(), *given)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(("brain: Missing argument", "brain: Missing option"))
    assert (demo / "40_Brain/MEMORY.md").read_bytes() == before


def test_what_begins_with_a_dash_is_quoted_as_it_was_given(demo: Path, run: Run) -> None:
    for args in (["show", "- a", "- b"], ["list", "--limit", "- 5"]):
        said = run(*args)
        assert said.code == 2
        assert "\0" not in said.err
        assert "x00" not in said.err


def test_longer_ago_than_anything(demo: Path, run: Run) -> None:
    run("remember", "Seals bark")
    assert "Seals bark" not in run("audit", "--since", "999999w").err
    assert run("audit", "--since", "999999w").code == 0


def test_exit_codes_are_all_different() -> None:
    codes = [kind.exit_code for kind in BrainError.__subclasses__()]
    assert len(codes) == len(set(codes))
    assert 1 not in codes


def test_a_broken_brain_yaml_stops_every_command(demo: Path, run: Run) -> None:
    (demo / "40_Brain/brain.yaml").write_text("exclude: [a\nsearchLimit: 3\n")
    for name in NEEDS_VAULT:
        said = run(*CALLS[name])
        assert said.code == 6
        assert said.err.startswith("brain: brain.yaml line 2 is not YAML: ")


def test_trouble_with_the_disk_is_a_sentence(
    demo: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/disk/x")

    monkeypatch.setattr("brain.open_vault.OpenVault.refresh", full)
    said = run("search", "frost")
    assert (said.code, said.out) == (1, "")
    assert said.err == ("brain: /disk/x: No space left on device. Check the disk and the rights.\n")
    assert run("search", "frost", "--json").json["error"] == "BrainError"


def test_a_vault_that_lost_its_files_keeps_its_index(demo: Path, run: Run) -> None:
    run("sync")
    for note in [*demo.rglob("*.md"), *demo.rglob("*.json"), *demo.rglob("*.jsonl")]:
        note.unlink()
    said = run("sync")
    assert said.code == 8
    assert "`brain sync --accept-loss`" in said.err
    answer = run("search", "frost", "--json").json
    assert (answer["fresh"], answer["as_of"]) == (False, None)
    assert answer["results"]
    assert "the index was kept" in answer["stale"][0]
    assert "Not fresh: " in run("search", "frost").err
    assert "Not fresh: " in run("list").err
    assert run("sync", "--accept-loss").code == 0
    assert run("search", "frost", "--json").json["results"] == []


# -- which vault ---------------------------------------------------------------------------------


def test_the_vault_can_be_named_in_every_way(
    demo: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run("status").code == 3
    ways = [
        ("--vault", demo, "status", "--json"),
        ("-V", demo, "status", "--json"),
        ("status", "--vault", demo, "--json"),
        ("status", "--vault", demo / "10_Projects" / "Garden Planner", "--json"),
        ("status", "-V", "../demo", "--json"),
    ]
    for way in ways:
        assert run(*way).json["vault"] == str(demo)
    monkeypatch.setenv("BRAIN_VAULT", str(demo))
    assert run("status", "--json").json["vault"] == str(demo)


@pytest.mark.parametrize(
    "folder", ["", "10_Projects/Garden Planner", "40_Brain", "40_Brain/projects/garden-planner"]
)
def test_the_vault_is_found_from_any_folder_in_it(
    demo: Path, run: Run, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(demo / folder)
    assert run("status", "--json").json["vault"] == str(demo)


def test_what_is_given_wins_over_the_environment(
    demo: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAIN_VAULT", str(tmp_path / "nowhere"))
    assert run("status").code == 3
    assert run("status", "--vault", demo).code == 0
    monkeypatch.setenv("BRAIN_VAULT", "")
    assert run("status").code == 0


def test_a_brain_folder_of_another_name(demo: Path, run: Run) -> None:
    (demo / "40_Brain").rename(demo / "Memory of mine")
    shape = run("status", "--json").json
    assert shape["brain"] == "Memory of mine"
    assert run("show", "m-7f3k2ab4", "--json").json["path"] == "Memory of mine/MEMORY.md"


# -- colours and terminals -----------------------------------------------------------------------


def test_json_is_indented_for_a_person(demo: Path, run: Run) -> None:
    assert terminal(["config", "--json"]).startswith('{\r\n  "vaultId"')
    assert run("config", "--json").out.count("\n") == 1


def test_a_note_gives_the_terminal_no_orders(demo: Path, run: Run) -> None:
    (demo / "Evil.md").write_text("zeppelin \033]0;owned\007 \x9b31m\n")
    shown = terminal(["search", "zeppelin"], NO_COLOR="1")
    assert "zeppelin" in shown
    assert "\033" not in shown
    assert "\x9b" not in shown
    assert run("search", "zeppelin", "--json").json["results"][0]["text"].count("\033") == 1


# an escape sequence, C0 and C1 controls, DEL, a direction override and an isolate
HOSTILE = "\033]0;owned\007\x08\x7f\x9b31m\u202e\u2066\u200f\u061c"


def is_safe(shown: str) -> bool:
    """Return True if a terminal obeys nothing of this text."""
    return not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", shown
    )


def test_one_function_makes_text_safe() -> None:
    assert output.safe("plain: é 東京 👩‍🌾") == "plain: é 東京 👩‍🌾"
    assert output.safe("a\033[2Jb") == "a\\u001b[2Jb"
    assert output.safe("a\nb\r\tc") == "a\\nb\\r\tc"
    assert output.safe("a\r\nb\rc", lines=True) == "a\nb\\rc"
    every = "".join(map(chr, range(0x3000)))
    for lines in (False, True):
        made = output.safe(every, lines)
        assert is_safe(made)
        assert output.safe(made, lines) == made
    assert "\n" not in output.safe(every)


def test_names_of_files_are_safe_on_both_streams(demo: Path, run: Run) -> None:
    name = f"Evil{HOSTILE}\nbrain: All is well..md"
    (demo / name).write_text("zeppelin\n")
    (demo / "Link.md").write_text(f"zeppelin {HOSTILE} [[x]] #tag\n")
    for args in (
        ["search", "zeppelin"],
        ["search", "zeppelin", "--explain"],
        ["list", "--scope", "sources"],
        ["show", f"{name}"],
        ["open", f"{name}"],
        ["doctor", "--all"],
        ["graph"],
        ["context", "zeppelin"],
        ["events"],
    ):
        said = run(*args)
        assert is_safe(said.out), args
        assert is_safe(said.err), args
        assert "\nbrain: All is well" not in said.out + said.err, args
    assert "Evil\\u001b]0;owned" in run("search", "zeppelin").out
    assert "All is well" in run("search", "zeppelin").out


@pytest.mark.parametrize(
    "args",
    [
        ["status", "--vault", f"/nowhere/{HOSTILE}\nbrain: All is well."],
        ["show", f"x{HOSTILE}\ny"],
        ["search", "frost", "--by", f"x{HOSTILE}\ny"],
        ["search", "frost", "--agent", f"x{HOSTILE}\ny"],
        ["search", "frost", f"--x{HOSTILE}"],
        [f"x{HOSTILE}"],
        ["config", f"x{HOSTILE}"],
        ["list", "--filter", f"x{HOSTILE}=1"],
        ["undo", f"x{HOSTILE}"],
    ],
)
def test_errors_are_safe(demo: Path, run: Run, args: list[str]) -> None:
    said = run(*args)
    assert said.code
    assert said.err.count("\n") == 1
    assert is_safe(said.err)


def test_an_agent_with_an_evil_name_is_shown_safely(demo: Path, run: Run) -> None:
    name = f"evil{HOSTILE}"
    (demo / "40_Brain/agents" / name).mkdir(parents=True)
    (demo / "40_Brain/agents" / name / "AGENT.md").write_text("---\ntype: project\n---\nEvil.\n")
    for args in (
        ["status"],
        ["remember", "Zebras graze", "--by", name, "--agent", name],
        ["audit"],
    ):
        said = run(*args)
        assert said.code == 0, said
        assert is_safe(said.out + said.err)
    assert is_safe(run("search", "zebras", "--agent", "nobody").err)
    assert is_safe(run("audit", "--by", name).err)


def test_json_is_safe_and_the_same_data(demo: Path, run: Run) -> None:
    text = f"zeppelin {HOSTILE} \u2028 end"
    (demo / "Evil.md").write_text(f"{text}\n")
    for args in (["search", "zeppelin", "--json"], ["context", "zeppelin", "--format", "json"]):
        assert is_safe(run(*args).out)
    assert run("search", "zeppelin", "--json").json["results"][0]["text"].strip() == text


def test_a_crash_is_shown_safely(demo: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from brain.cli import main\n"
        "def run(args): raise ValueError(chr(27) + '[2J' + chr(0x202e))\n"
        "main.run = run; main.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert "ValueError: \\u001b[2J\\u202e" in done.stderr
    assert is_safe(done.stderr)


def test_an_unknown_actor_is_not_told_who_else_is_there(demo: Path, run: Run) -> None:
    said = run("search", "frost", "--by", "nobody")
    assert said.code == 4
    assert said.err == (
        "brain: There is no agent 'nobody'. Check --by. A folder with an AGENT.md is an agent.\n"
    )
    assert "garden-planner" not in run("context", "frost", "--by", "garden", "--json").out


def test_everything_is_printed_by_the_functions_that_make_it_safe() -> None:
    folder = Path(output.__file__).parent
    for path in folder.glob("*.py"):
        if path.name not in ("output.py", "hook.py"):  # a hook prints JSON in ASCII
            assert not re.search(r"\bprint\(|click\.echo|std(out|err)\.write", path.read_text()), (
                path
            )


def test_what_a_terminal_cannot_show_is_spelled_out(demo: Path, shell: Run) -> None:
    said = shell("search", "間引き", PYTHONIOENCODING="latin-1")
    assert said.code == 0
    assert "\\u9593" in said.out


SLOW = """
import sys, time
from brain import sync
from brain.cli import main
real = sync.parse
def parse(*args):
    time.sleep(0.05)
    return real(*args)
sync.parse = parse
main.main()
"""


def test_a_long_sync_shows_a_line_on_a_terminal_only(demo: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tests.cli.conftest.COMMAND", [sys.executable, "-c", SLOW])
    shown = terminal(["sync"])
    assert re.search(r"\r█+ +\d+ of 27 files", shown)
    assert "\r\033[K27 files, 27 new" in shown.replace("\r\n", "\n")
    command = [sys.executable, "-c", SLOW, "sync", "--rebuild"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert done.stderr == ""


def test_progress_starts_anew_with_each_sync(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    progress = output.Progress()
    for now[0], done in ((100.0, 1), (100.5, 2), (101.5, 3), (101.55, 4), (102.0, 5)):
        progress(done, 5)
    assert capsys.readouterr().err == (
        "\r████████████         3 of 5 files\r████████████████████ 5 of 5 files\r\033[K"
    )
    now[0] = 200.0
    progress(1, 1)
    assert capsys.readouterr().err == ""


# -- pipes and signals ---------------------------------------------------------------------------


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_no_error(demo: Path, unbuffered: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "list", "--scope", "all", "--limit", "1000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.wait(30) == 141
        assert process.stderr.read() == b""


def test_ctrl_c_is_quiet(demo: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW.replace("0.05", "5"), "sync"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            until((demo / "40_Brain/brain.db").exists)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert (process.returncode, out, err.strip()) == (130, "", "")


# -- completion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(run: Run, name: str) -> None:
    said = run("completion", name)
    assert said.code == 0
    assert "_BRAIN_COMPLETE" in said.out
    assert run("completion", name, "--json").json == {"shell": name, "script": said.out[:-1]}


def test_an_unknown_shell_is_refused(run: Run) -> None:
    said = run("completion", "tcsh")
    assert said.code == 2
    assert "'fish'" in said.err


@pytest.mark.parametrize(
    ("words", "position", "expected"),
    [
        ("brain sea", "1", ["search"]),
        ("brain search --exp", "2", ["--explain"]),
        ("brain completion ", "2", ["bash", "zsh", "fish"]),
        ("brain nonsense ", "2", list(app.COMMANDS)),
    ],
)
def test_completion_completes(shell: Run, words: str, position: str, expected: list[str]) -> None:
    command = "from brain.cli.main import main; import sys; sys.argv = ['brain']; main()"
    done = subprocess.run(
        [sys.executable, "-c", command],
        env=os.environ
        | {"_BRAIN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": position},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert [line.partition(",")[2] for line in done.stdout.split()] == expected
    assert done.stderr == ""


# -- surfaces are thin ---------------------------------------------------------------------------


def test_the_same_answers_from_a_shell(demo: Path, shell: Run, run: Run) -> None:
    inside = run("search", "frost", "--json").json
    outside = shell("search", "frost", "--json").json
    assert [r["id"] for r in inside["results"]] == [r["id"] for r in outside["results"]]
    assert shell("show", "zebra").code == 4


def test_commands_take_vault_and_json(run: Run) -> None:
    context = click.Context(app.cli)
    for name in app.COMMANDS:
        command = app.cli.get_command(context, name)
        assert command
        assert {"vault", "as_json"} <= {param.name for param in command.params}


def test_the_help_cuts_no_summary(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    cut = [line for line in run("--help").out.split("\n")[1:] if line.endswith("...")]
    assert cut == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["search", "frost", "--limit", "0"], "0 is not from 1 to 1000."),
        (["search", "frost", "--limit", "few"], "'few' is not a whole number."),
        (["list", "--offset", "-1"], "-1 is less than 0."),
        (["remember", "a", "--importance", "much"], "'much' is not a number."),
        (["budget", "much"], "'much' is not a whole number."),
    ],
)
def test_a_number_that_does_not_fit_is_refused_in_words(
    run: Run, args: list[str], message: str
) -> None:
    said = run(*args)
    assert said.code == 2
    assert message in said.err
