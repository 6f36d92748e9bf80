"""Every kind of bad input, synced in a process that may use 512 MB and no more.

Run as a program it prints the problems that Brain found, as JSON. It is a program of its own, so
that a crash, a hang or too much memory ends this process and not the suite.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from brain.index import read
from brain.operations import doctor, lookup
from tests import kit

LIMIT = 512 * 1024 * 1024
BOMB = "---\na: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)
MERGE = "---\nx: &x\n  a: 1\n" + "".join(f"y{n}:\n  <<: [*x, *x, *x]\n" for n in range(9)) + "---\n"

FILES: dict[str, str | bytes] = {
    "bom.md": b"\xef\xbb\xbfwalrus\n",
    "crlf.md": b"walrus\r\nwalrus\r\n",
    "separator.md": "walrus\u2028walrus\n",
    "nul.md": b"walrus\0walrus\n",
    "latin.md": b"walrus caf\xe9\n",
    "bomb.md": BOMB + "---\nwalrus\n",
    "merge.md": MERGE + "walrus\n",
    "deep-yaml.md": "---\na: " + "[" * 100_000 + "\n---\nwalrus\n",
    "markers.md": "<<<<<<< HEAD\nwalrus\n=======\nwal\n>>>>>>> other\n",
    "40_Brain/agents/deep/items.json": "[" * 100_000,
    "40_Brain/agents/deep2/items.json": "[" * 100_000 + "]" * 100_000,
    "40_Brain/agents/keys/items.json": '[{"id": "a", "id": "b", "content": "walrus"}]',
    "40_Brain/agents/ids/items.json": '[{"id": "a", "content": "x"}, {"id": "a", "content": "y"}]',
    "40_Brain/agents/ids/MEMORY.md": "- one ^m-aaaaaaaa\n- two ^m-aaaaaaaa\n",
    "40_Brain/agents/half/items.json": '[{"id": "\\ud800", "content": "\\ud800\\u0000"}, ',
    "40_Brain/agents/marked/MEMORY.md": "<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n",
    "40_Brain/agents/marked/tasks.json": "<<<<<<< HEAD\n[]\n=======\n{}\n>>>>>>> other\n",
    "40_Brain/sessions/torn.jsonl": '{"role": "user", "content": "walrus"}\n{"role": "us',
    "40_Brain/sessions/deep.jsonl": '{"role": "user", "content": "ok"}\n'
    + "[" * 100_000
    + "\n{}\n",
    "40_Brain/agents/folder/MEMORY.md/": "",
    "long-line.md": "walrus " * 150_000,
    "40_Brain/agents/long/MEMORY.md": "- " + "walrus " * 150_000,
    "long-list.md": "- walrus\n" * 120_000,
    "40_Brain/agents/list/MEMORY.md": "- walrus\n" * 120_000,
    "brackets.md": "[[" * 200_000 + "]]" * 10,
    "stars.md": "*" * 200_000 + "`" * 100_000,
    "40_Brain/agents/quotes/MEMORY.md": ">" * 20_000 + " walrus\n",
    "40_Brain/agents/nested/MEMORY.md": "".join("  " * n + "- a\n" for n in range(150)),
}

EXPECTED = {
    "bom.md": {"bom"},
    "crlf.md": {"crlf"},
    "separator.md": {"line-separator"},
    "nul.md": {"nul"},
    "latin.md": {"invalid-utf8"},
    "bomb.md": {"frontmatter"},
    "merge.md": {"frontmatter"},
    "deep-yaml.md": {"frontmatter"},
    "markers.md": {"conflict-markers"},
    "40_Brain/agents/deep/items.json": {"json-depth"},
    "40_Brain/agents/deep2/items.json": {"json-depth"},
    "40_Brain/agents/keys/items.json": {"duplicate-key"},
    "40_Brain/agents/ids/items.json": {"duplicate-id"},
    "40_Brain/agents/ids/MEMORY.md": {"duplicate-id"},
    "40_Brain/agents/half/items.json": {"json"},
    "40_Brain/agents/marked/MEMORY.md": {"conflict-markers"},
    "40_Brain/agents/marked/tasks.json": {"conflict-markers"},
    "40_Brain/sessions/torn.jsonl": {"torn-line"},
    "40_Brain/sessions/deep.jsonl": {"json-depth"},
    "40_Brain/agents/folder/MEMORY.md": {"is-a-directory"},
    "40_Brain/agents/long/MEMORY.md": {"large-memory", "too-long"},
    "40_Brain/agents/list/MEMORY.md": {"large-memory", "too-long"},
    "huge.md": {"too-large"},
    "40_Brain/sessions/huge.jsonl": {"json", "nul", "torn-line"},
    "link-out.md": {"symlink-outside"},
    "folder-out": {"symlink-outside"},
    "40_Brain/agents/out": {"symlink-outside"},
    "40_Brain/agents/linked/MEMORY.md": {"symlink-outside"},
    "loop-a.md": {"broken-link"},
    "loop-b.md": {"broken-link"},
    "nowhere.md": {"broken-link"},
    "hard.md": {"hard-link"},
    "pipe.md": {"not-a-file"},
    "40_Brain/sessions/pipe.jsonl": {"not-a-file"},
    "socket.md": {"not-a-file"},
    "caf\\udce9.md": {"bad-name"},
    "fol\\udcffder/n.md": {"bad-name"},
}


def lay(root: Path) -> None:
    """Write all of it, and what no dict can hold."""
    import socket

    kit.lay(root, kit.VAULT | FILES)
    for name in ("huge.md", "40_Brain/sessions/huge.jsonl"):
        with open(root / name, "wb") as file:
            file.write(b"walrus\n")
            file.truncate(50_000_000)
    outside = root.parent / "outside"
    kit.lay(outside, {"secret.md": "walrus secret\n", "MEMORY.md": "- walrus secret\n"})
    os.symlink(outside / "secret.md", root / "link-out.md")
    os.symlink(outside, root / "folder-out")
    os.symlink(outside, root / "40_Brain/agents/out")
    (root / "40_Brain/agents/linked").mkdir()
    os.symlink(outside / "MEMORY.md", root / "40_Brain/agents/linked/MEMORY.md")
    os.symlink("loop-b.md", root / "loop-a.md")
    os.symlink("loop-a.md", root / "loop-b.md")
    os.symlink("nothing-here.md", root / "nowhere.md")
    os.symlink("..", root / "Notes/up")
    os.symlink("Architecture.md", root / "inside.md")
    (root / "hard.md").write_text("walrus\n")
    os.link(root / "hard.md", outside / "hard.md")
    for pipe in ("pipe.md", "40_Brain/sessions/pipe.jsonl", ".gitignore", "Notes/.secretsignore"):
        os.mkfifo(root / pipe)
    with socket.socket(socket.AF_UNIX) as end:
        here = os.getcwd()
        os.chdir(root)  # the address of a socket must be short
        end.bind("socket.md")
        os.chdir(here)
    (root / os.fsdecode(b"caf\xe9.md")).write_text("walrus\n")
    (root / os.fsdecode(b"fol\xffder")).mkdir()
    (root / os.fsdecode(b"fol\xffder/n.md")).write_text("walrus\n")


def main(root: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    with kit.open_brain(root, root.parent / "state") as brain:
        first = brain.sync()
        second = brain.sync()
        found: dict[str, list[str]] = {}
        for path, problem in doctor.problems(brain.vault):
            found.setdefault(path, []).append(problem.code)
        brain.search("walrus", scopes=["all"], limit=500)
        rows = read.listed(brain.vault.index, lookup.filters(brain.vault, ["all"]), 1_000_000)
        hits = sorted({row.path for row in rows if "walrus" in row.text})
        print(json.dumps({
            "problems": found, "hits": hits, "quiet": second.quiet, "files": first.files,
            "healthy": brain.vault.index.healthy(),
        }))  # fmt: skip


def as_nobody(root: Path) -> None:
    """A file and a folder lose their access rights between two looks of a user who is not root."""
    kit.lay(root, {"a.md": "walrus a\n", "f/b.md": "walrus b\n", "g/c.md": "walrus c\n"})
    kit.lay(root / "warm", kit.VAULT)
    with kit.open_brain(root / "warm", root / "state") as brain:
        brain.search("walrus")  # everything is imported: nobody may not read root's Python
    for folder, _, names in os.walk(root):
        for name in ["", *names]:
            os.chown(Path(folder, name), 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
    everything = ["a.md", "f/b.md", "g/c.md"]
    assert _seen(root) == (everything, [], [])
    (root / "a.md").chmod(0)
    (root / "f").chmod(0)
    (root / "g").chmod(0o644)  # its names may be read, what they stand for not
    denied = ["a.md", "f", "g/c.md"]
    assert _seen(root) == (everything, denied, denied)
    assert _seen(root, ["f/b.md", "a.md", "g/c.md"]) == (everything, denied, denied)
    for path in ("a.md", "f", "g"):
        (root / path).chmod(0o755)
    assert _seen(root) == (everything, [], [])


def _seen(root: Path, only: list[str] | None = None) -> tuple[list[str], list[str], list[str]]:
    """What is found, what is said to be stale, what is said to be unreadable."""
    with kit.open_brain(root, root / "state") as brain:
        brain.sync(only)
        answer = brain.search("walrus", scopes=["sources"])
        assert brain.sync().quiet
        hits = sorted({hit.row.path for hit in answer.results if "warm" not in hit.row.path})
        stale = [line.split(" ")[0] for line in answer.freshness.stale]
        problems = doctor.problems(brain.vault)
        return hits, stale, [p for p, problem in problems if problem.code == "unreadable"]


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]))
