"""Measure everything that Brain promises about speed and memory, and print it as one table.

    python -m bench [--quick] [--write]

Each line is a ratio to what cannot be avoided, measured in turns within this run. `--write` keeps
the table in docs/explanation/performance.md.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from bench import journal, vault, watching, writing
from bench.measure import BRAIN, Cost, machine, run, together

ROOT = Path(__file__).parent.parent
WORK = ROOT / ".bench"
REPORT = ROOT / "docs" / "explanation" / "performance.md"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"


class Line(NamedTuple):
    what: str
    measured: str
    promised: str


def main() -> None:
    quick = "--quick" in sys.argv
    lines = []
    for line in chain(
        measure(1_000 if quick else 10_000, 3 if quick else 7),
        in_process(1_500 if quick else 15_000),
        hybrid(1_500 if quick else 15_000),
        () if quick else growth(),
        watching.measure(WORK),
        writing.measure(WORK),
        journal.measure(WORK),
    ):
        lines.append(Line(*line))
        print(f"{lines[-1].what}: {lines[-1].measured}", file=sys.stderr, flush=True)
    table = render(lines)
    print(table)
    if "--write" in sys.argv:
        text = REPORT.read_text(encoding="utf-8")
        head, _, rest = text.partition(START)
        REPORT.write_text(
            f"{head}{START}\n{table}\n{END}{rest.partition(END)[2]}", encoding="utf-8"
        )


def lay(count: int) -> tuple[Path, Path]:
    """A generated vault and an empty state folder."""
    root, state = WORK / f"vault-{count}", WORK / f"state-{count}"
    shutil.rmtree(state, ignore_errors=True)
    forget(root / "40_Brain" / "brain.db")
    if not (root / "40_Brain").is_dir():
        vault.write(root, count)
    return root, state


def measure(count: int, rounds: int) -> Iterator[Line]:
    root, state = lay(count)
    sync = [*BRAIN, "sync", "--vault", str(root)]
    python = sys.executable

    cold = together(
        rounds,
        bare=lambda: bare_index(root, state),
        brain=lambda: cold_sync(root, state),
    )
    yield Line(
        f"first index of {count:,} notes, compared with the bare loop",
        ratio(cold["brain"].cpu, cold["bare"].cpu),
        "≤ 2 x",
    )
    yield Line("peak memory of this first index", f"{cold['brain'].peak_mb:.0f} MB", "≤ 120 MB")

    settle(state, sync)
    still = together(
        3 * rounds,
        bare=lambda: run([python, str(ROOT / "bench" / "walk.py"), str(root)], state),
        brain=lambda: run(sync, state),
        search=lambda: run([*BRAIN, "search", "uniq77x", "--vault", str(root)], state),
        hook=lambda: prompt_hook(root, state),
    )
    yield Line(
        "sync with nothing new, in a new process, compared with the bare walk",
        ratio(still["brain"].cpu, still["bare"].cpu),
        "≤ 2 x",
    )
    yield Line(
        "search in a new process, including the check of the vault",
        f"{still['search'].cpu:.3f} s CPU",
        "≤ 0.15 s",
    )
    yield Line(
        "prompt hook in a new process, including the check of the vault",
        f"{still['hook'].cpu:.3f} s CPU",
        "≤ 0.15 s",
    )


def prompt_hook(root: Path, state: Path) -> Cost:
    """The hook of a prompt in a new session."""
    with (root / "40_Brain/MEMORY.md").open() as file:
        prompt = " ".join(word for word in file.read().split()[:40:4] if word.isalpha())
    given = {"session_id": str(time.time()), "cwd": str(root), "prompt": prompt}
    command = [*BRAIN, "hook", "claude-code", "UserPromptSubmit", "--vault", str(root)]
    return run(command, state, json.dumps(given).encode())


def cold_sync(root: Path, state: Path) -> Cost:
    """The first sync of a vault."""
    forget(root / "40_Brain" / "brain.db")
    return run([*BRAIN, "sync", "--vault", str(root)], state)


def forget(database: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)


def bare_index(root: Path, state: Path) -> Cost:
    database = WORK / "bare.db"
    forget(database)
    return run([sys.executable, "-m", "bench.bare", str(root), str(database)], state)


def settle(state: Path, sync: list[str]) -> None:
    """Files that were just written are read once more; after that, nothing is."""
    time.sleep(0.2)
    run(sync, state)


def in_process(count: int) -> Iterator[Line]:
    """Search against the bare OR queries with bm25, on the same two tables; context against it."""
    import brain
    from bench.latency import asked, bare
    from bench.scoring import quantile

    root, state = lay(count)
    with brain.open(root, state=state) as opened:
        opened.sync()
        db = opened.vault.index.db
        jobs: dict[str, Callable[[str], object]] = {
            "bare": lambda question: bare(db, question),
            "search": lambda question: opened.search(question, check=False),
            "context": lambda question: opened.context(question, check=False),
        }
        seconds: dict[str, list[float]] = {name: [] for name in jobs}
        for question in asked(opened):
            for name, job in jobs.items():
                seconds[name].append(cpu(job, question))
    for what, base, most in (("search", "bare", "≤ 2 x"), ("context", "search", "≤ 1.5 x")):
        for share, promised in ((0.5, ""), (0.95, most)):
            ours, theirs = (quantile(seconds[name], share) for name in (what, base))
            rank = "median" if share == 0.5 else f"{share * 100:.0f}th percentile"
            to = "a search" if what == "context" else "the bare query"
            label = f"{what} in a running process, {count:,} notes, {rank}, compared with {to}"
            yield Line(label, f"{ratio(ours, theirs)} ({ours * 1e3:.1f} ms)", promised)


class Random:
    """A model without cost or sense: numbers drawn by the text."""

    name = "random"

    def embed(self, texts: Sequence[str]) -> object:
        import numpy as np

        seeds = (crc32(text.encode()) for text in texts)
        return [np.random.default_rng(seed).normal(size=384) for seed in seeds]


def hybrid(count: int) -> Iterator[Line]:
    """What meaning adds to a search in process, besides the model's own time."""
    import brain
    from bench.latency import asked
    from bench.scoring import quantile
    from brain.operations.search import embed

    root, state = lay(count)
    settings = root / "40_Brain" / "brain.yaml"
    seconds: dict[str, list[float]] = {}
    for provider in ("fts5", "hybrid"):
        settings.write_text(f"searchProvider: {provider}\n", encoding="utf-8")
        with brain.open(root, state=state) as opened:
            opened.vault.provider = Random()
            opened.sync()
            embed(opened.vault)
            found = asked(opened)
            opened.search(found[0], check=False)
            seconds[provider] = [cpu(lambda q: opened.search(q, check=False), q) for q in found]
    settings.unlink()
    added = [more - less for less, more in zip(*seconds.values(), strict=True)]
    middle, high = (quantile(added, share) * 1e3 for share in (0.5, 0.95))
    what = f"search by meaning, {count:,} notes, CPU besides search by words and the model"
    yield Line(what, f"{middle:.0f} ms, 95th percentile {high:.0f} ms", "≤ 30 ms")


def cpu(job: Callable[[str], object], question: str) -> float:
    """The best of three, in CPU seconds."""
    best = 9.0
    for _ in range(3):
        started = time.process_time()
        job(question)
        best = min(best, time.process_time() - started)
    return best


def growth() -> Iterator[Line]:
    """CPU a note at 100,000 notes to that at fewer, without what ten notes cost.

    A sync with nothing new is compared with 10,000 notes: a thousand cost next to nothing. What
    the bare loop and the bare walk need changes as well: full text is merged, caches are cold.
    """
    least = costs(10, 7)
    a_note: dict[int, dict[str, float]] = {}
    for count, rounds in ((1_000, 7), (10_000, 3), (100_000, 1)):
        found = costs(count, rounds)
        a_note[count] = {name: (found[name] - least[name]) / count for name in found}
    grown = {
        name: a_note[100_000][name] / a_note[base][name]
        for name, base in (("cold index", 1_000), ("the bare loop", 1_000),
                           ("sync with nothing new", 10_000), ("the bare walk", 10_000))
    }  # fmt: skip
    cold, still = grown["cold index"], grown["sync with nothing new"]
    walk = f"{still:.2f} x ({still / grown['the bare walk']:.2f} x relative to the bare walk)"
    what = "CPU per note with 100,000 notes, compared with"
    yield Line(f"first index: {what} 1,000 notes", f"{cold:.2f} x", "≤ 1.20 x")
    yield Line(f"the bare loop: {what} 1,000 notes", f"{grown['the bare loop']:.2f} x", "")
    yield Line(f"sync with nothing new: {what} 10,000 notes", walk, "≤ 1.20 x relative to it")


def costs(count: int, rounds: int) -> dict[str, float]:
    """CPU seconds of a cold sync and of one with nothing new, and of their bare counterparts."""
    root, state = lay(count)
    sync = [*BRAIN, "sync", "--vault", str(root)]
    cold = together(
        rounds,
        bare=lambda: bare_index(root, state),
        brain=lambda: cold_sync(root, state),
    )
    settle(state, sync)
    walk = [sys.executable, str(ROOT / "bench" / "walk.py"), str(root)]
    still = together(3 * rounds, bare=lambda: run(walk, state), brain=lambda: run(sync, state))
    return {
        "cold index": cold["brain"].cpu,
        "the bare loop": cold["bare"].cpu,
        "sync with nothing new": still["brain"].cpu,
        "the bare walk": still["bare"].cpu,
    }


def ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.2f} x"


def render(lines: list[Line]) -> str:
    rows = ["| what | measured | limit |", "|---|---|---|"]
    rows += [f"| {line.what} | {line.measured} | {line.promised} |" for line in lines]
    return f"On {machine()}:\n\n" + "\n".join(rows)


if __name__ == "__main__":
    main()
