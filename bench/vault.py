"""A vault to measure with: N notes of about 3 KB, the same for the same N and seed.

Notes have what those of real vaults have: properties with lists and quotes, many links, inline
code, tables, callouts, and some sentences of other languages.
"""

from __future__ import annotations

import random
from pathlib import Path

FOLDERS = ("10_Projects", "20_Areas", "30_Resources/Articles", "30_Resources/Books", "70_Daily")
TAGS = ("python", "sqlite", "garden", "travel", "music", "health", "design", "family", "reading")
SYLLABLES = (
    "ba",
    "ker",
    "lo",
    "mi",
    "nu",
    "pra",
    "sel",
    "ti",
    "vor",
    "wen",
    "xa",
    "zo",
    "qui",
    "dan",
)
SENTENCES = (
    "Für die Übergabe müssen wir die Schlüssel am Freitag beim Nachbarn abholen.",
    "Il faudra vérifier l'été prochain si la clôture a été réparée.",
    "¿Quién llamó ayer para preguntar por la reunión del miércoles?",
    "来週の会議で予算の見直しを話し合う。",
    "Мы решили перенести поездку на конец октября.",
)
SMALL = ("the", "of", "and", "to", "in", "is", "that", "for", "it", "as", "was", "with", "be", "by")


def write(root: Path, count: int, seed: int = 11) -> list[str]:
    """Lay the vault; returns one word per note that stands in no other."""
    rng = random.Random(seed)
    words = sorted({_word(rng) for _ in range(8000)})
    titles = [f"{rng.choice(words).title()} {rng.choice(words)} {i}" for i in range(count)]
    for folder in (*FOLDERS, "40_Brain"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for number, title in enumerate(titles):
        path = root / FOLDERS[number % len(FOLDERS)] / f"{title}.md"
        path.write_text(_note(rng, words, titles, number, title), encoding="utf-8")
    (root / "40_Brain" / "MEMORY.md").write_text(_memory(rng, words), encoding="utf-8")
    return [f"uniq{number}x" for number in range(count)]


def _word(rng: random.Random) -> str:
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4)))


def sentence(rng: random.Random, words: list[str]) -> str:
    """Eight to fifteen words, nearly half of them small ones, the others by rank."""
    out = []
    for _ in range(rng.randint(8, 15)):
        rank = min(int(len(words) * rng.random() ** 3), len(words) - 1)
        out.append(rng.choice(SMALL) if rng.random() < 0.45 else words[rank])
    return " ".join(out).capitalize() + "."


def _note(rng: random.Random, words: list[str], titles: list[str], number: int, title: str) -> str:
    def prose(sentences: int) -> str:
        return " ".join(sentence(rng, words) for _ in range(sentences))

    def link() -> str:
        return f"[[{rng.choice(titles)}]]"

    def code() -> str:
        return f"`{rng.choice(words)}.{rng.choice(words)}({number})`"

    day = f"2025-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    lines = ["---", f'title: "{title}"', "tags:", *(f"  - {tag}" for tag in rng.sample(TAGS, 3))]
    lines += [f"aliases: [\"{rng.choice(words)}: {number}\", '{rng.choice(words)} {number}']"]
    lines += ["related:", *(f'  - "{link()}"' for _ in range(3)), f"created: {day}"]
    lines += [f"status: {rng.choice(words)}", f"rating: {rng.randint(1, 5)}", "---", ""]
    lines += [f"# {title}", "", f"uniq{number}x. {prose(1)}", ""]
    for _ in range(4):
        lines += [f"## {rng.choice(words).title()} {rng.choice(words)}", "", prose(2), ""]
        lines += [f"- {code()}: {sentence(rng, words)} #{rng.choice(TAGS)}" for _ in range(2)]
        lines += ["", f"See {link()}, {link()} and [[{rng.choice(titles)}|there]], {code()}.", ""]
    lines += [f"> [!{rng.choice(('note', 'tip', 'warning'))}] {rng.choice(words).title()}"]
    lines += [f"> {sentence(rng, words)}", "", "| name | value |", "|---|---|"]
    lines += [f"| {rng.choice(words)} | {code()} or {link()} |" for _ in range(3)]
    lines += ["", rng.choice(SENTENCES), "", "```python", f"value = {number}", "```", ""]
    return "\n".join([*lines, f"- [ ] {sentence(rng, words)}", ""])


def _memory(rng: random.Random, words: list[str]) -> str:
    bullets = [f"- {sentence(rng, words)} #{rng.choice(TAGS)}" for _ in range(200)]
    return "# Memory\n\n## Key Decisions\n" + "\n".join(bullets) + "\n"


def questions(rng: random.Random, words: list[str], count: int) -> list[str]:
    """Two to four words each, as people ask: some common, some rare, some small ones between."""
    out = []
    for _ in range(count):
        ranks = [int(len(words) * rng.random() ** 2) for _ in range(rng.randint(2, 4))]
        out.append(" ".join(words[min(rank, len(words) - 1)] for rank in ranks))
    return out


def vocabulary(seed: int = 11) -> list[str]:
    """The words that the notes are made of, commonest first."""
    rng = random.Random(seed)
    return sorted({_word(rng) for _ in range(8000)})
