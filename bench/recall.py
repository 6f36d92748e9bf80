"""Measure how well and how fast Brain finds things, and print it as tables.

    python -m bench.recall [--questions FOLDER] [--locomo FILE] [--reference FILE]
        [--model MODEL] [--write]

`make bench-recall HELP=folder LOCOMO=file REFERENCE=file MODEL=name` runs this. What needs data
that is not given is left out. `--write` keeps the tables in docs/explanation/recall-quality.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from bench import contexts, conversations, latency, notes, vault_questions
from bench.__main__ import ROOT, WORK

REPORT = ROOT / "docs" / "explanation" / "recall-quality.md"
PARTS = ("conversations", "questions", "contexts", "notes", "latency")


def main() -> None:
    options = _options()
    for part in options.only or PARTS:
        if part == "conversations" and not options.locomo:
            print("Conversations are left out: give LoCoMo's data as LOCOMO=file.json.\n")
            continue
        if part == "questions" and not options.questions:
            print("Questions of people are left out: give a folder of notes as HELP=folder.\n")
            continue
        lines = []
        for line in measured(part, options):
            print(line, flush=True)
            lines.append(line)
        if options.write:
            keep(part, "\n".join(lines))


def measured(part: str, options: argparse.Namespace) -> Iterator[str]:
    """The tables of one part."""
    if part == "conversations":
        return conversations.report(
            options.locomo, WORK, options.reference, _absolute(options.model)
        )
    if part == "questions":
        return vault_questions.report(
            options.questions, WORK, options.reference, _absolute(options.model)
        )
    if part == "contexts":
        given = (options.questions, options.locomo, options.reference, _absolute(options.model))
        return contexts.report(WORK, *given)
    return notes.report(WORK) if part == "notes" else latency.report()


def _absolute(model: str) -> str:
    """Return a folder with its whole path, as the setting wants it; a name as it is."""
    return str(Path(model).resolve()) if model and Path(model).is_dir() else model


def keep(part: str, text: str) -> None:
    """Put the tables of one part between its marks."""
    start, end = f"<!-- {part}: start -->", f"<!-- {part}: end -->"
    head, _, rest = REPORT.read_text(encoding="utf-8").partition(start)
    tail = rest.partition(end)[2]
    REPORT.write_text(f"{head}{start}\n{text}\n{end}{tail}", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--locomo", type=Path, help="LoCoMo's conversations, as JSON")
    parser.add_argument("--questions", type=Path, help="a folder of notes, questions next to it")
    parser.add_argument("--reference", type=Path, help="another ranking to compare with: rank.py")
    parser.add_argument("--model", default="", help="a vectorModel, to measure hybrid search with")
    parser.add_argument("--only", action="append", choices=PARTS, help="one part; may be repeated")
    parser.add_argument("--write", action="store_true", help=f"keep the tables in {REPORT.name}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
