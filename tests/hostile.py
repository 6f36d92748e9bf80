"""Hostile shapes of text in any size, and everything that parses, redacts, sanitises or edits."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

from brain import filter_expr, token_count
from brain.cli.output import safe
from brain.compare import contradictions, similar
from brain.context import sanitize, triggers
from brain.context.triggers import procedure
from brain.errors import BrainError
from brain.formats import (
    brain_yaml,
    inline,
    memory_edit,
    memory_md,
    note_md,
    records_json,
    session_jsonl,
)
from brain.model import Add, Change, Configure, Relate, Retag, Update
from brain.redact import redact
from brain.search import exact, question, snippet
from brain.search.retrieve import match
from brain.store import merge

# -- shapes: each makes about so many characters --------------------------------------------------


def repeat(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """Return a shape that is this unit again and again."""
    return lambda size: before + unit * max(1, size // len(unit)) + after


def rows(row: Callable[[int], str], before: str = "", width: int = 10) -> Callable[[int], str]:
    """Return a shape of rows that are all different."""
    return lambda size: before + "".join(row(number) for number in range(max(1, size // width)))


def nest(
    opening: str, closing: str = "", before: str = "", after: str = ""
) -> Callable[[int], str]:
    """Return a shape of brackets inside brackets."""

    def make(size: int) -> str:
        depth = max(1, size // len(opening + closing))
        return before + opening * depth + closing * depth + after

    return make


SHAPES: dict[str, Callable[[int], str]] = {
    "one bullet of equals signs": repeat("=", "- ", "\n"),
    "one bullet of dashes": repeat("-", "- a ", "\n"),
    "combining marks": repeat("\u0301", "- e", "\n"),
    "invisible characters": repeat("\u200b\u202e\x1b", "- a", "\n"),
    "blank lines": repeat("\n", "- a\n", "- b\n"),
    "carriage returns": repeat("\r", "- a\n", "- b\n"),
    "mixed line ends": repeat("- a\r\n- b\n- c\r"),
    "unclosed fence": repeat("- a b\n", "- first\n\n```\n"),
    "unclosed fences of all lengths": rows(lambda n: "`" * (3 + n % 50) + "\n", width=28),
    "fences in quotes": repeat("> ```\na\n"),
    "unclosed comment": repeat("a %% `b` \n", "%%"),
    "percent signs": repeat("%", "- ", "\n"),
    "HTML comments": repeat("<!-- a\n"),
    "opening wikilinks": repeat("[[", "- ", "\n"),
    "wikilinks": repeat("[[a|b]] ", "- ", "\n"),
    "nested square brackets": nest("[", "]", "- ", "\n"),
    "brackets and parentheses": repeat("](", "- [a", "\n"),
    "link definitions": rows(lambda n: f"[x{n}]: y\n"),
    "open fields": repeat("[a:: ", "- ", "\n"),
    "fields": repeat("[a:: b] ", "- ", "\n"),
    "tags": rows(lambda n: f"#t{n} ", "- "),
    "headings": rows(lambda n: f"{'#' * (1 + n % 6)} h{n}\n"),
    "table": repeat("|a|b|\n", "|a|b|\n|-|-|\n"),
    "nested list": lambda size: "".join(
        " " * (2 * (n % 40)) + "- a\n" for n in range(max(1, size // 44))
    ),
    "one bullet with nested lines": repeat("  - b c\n", "- a\n"),
    "nested quotes": rows(lambda n: "> " * (n % 25) + "a\n", width=26),
    "equal bullets": repeat("- same words here\n"),
    "different bullets with ids": rows(lambda n: f"- words {n} ^m-{n:08d}\n", width=26),
    "conflict markers": repeat("<<<<<<< a\n=======\n>>>>>>> b\n"),
    "frontmatter keys": lambda size: (
        "---\n" + "".join(f"k{n}: v\n" for n in range(size // 9)) + "---\n- a\n"
    ),
    "frontmatter list": repeat("- b\n", "---\na:\n", "---\n- a\n"),
    "unclosed frontmatter": repeat("a: b\n", "---\n"),
    "one YAML bracket in another": nest("[", "]", "---\na: ", "\n---\n- a\n"),
    "deep JSON": nest("[", "]"),
    "JSON records": lambda size: json.dumps(
        [{"id": f"i{n}", "title": "a", "content": "b"} for n in range(max(1, size // 45))]
    ),
    "equal JSON records": lambda size: json.dumps(
        [{"id": "i", "title": "a", "content": "b"}] * max(1, size // 45)
    ),
    "JSON keys": lambda size: json.dumps({f"k{n}": n for n in range(max(1, size // 14))}),
    "session lines": rows(
        lambda n: f'{{"id": "m{n}", "role": "user", "content": "a"}}\n', width=45
    ),
    "session with blank lines": repeat("\n", '{"id": "m", "content": "a"}\n'),
    "assignments": repeat("a=b "),
    "assigned passwords": repeat("password="),
    "one long password": repeat("x", "pw="),
    "password words": repeat("password ", "- "),
    "URLs": repeat("https://a.b/c?d=e&", "- "),
    "at signs": repeat("a@", "- "),
    "steps": repeat("1. a\n   b\n"),
    "sentences": rows(lambda n: f"The port is {n}. ", "- ", 16),
    "parentheses": nest("(", ")", "- "),
}

# -- work -----------------------------------------------------------------------------------------

NOTE = "40_Brain/MEMORY.md"
REF = "m-0a0a0a0a"


def edited(data: bytes, change: Change) -> None:
    """Edit a note; a refusal counts as well."""
    with suppress(BrainError):
        memory_edit.edit(NOTE, data, [change])


def with_entry(text: str) -> bytes:
    return f"{text}\n\n## Last\n\n- the entry ^{REF}\n".encode()


def with_entry_first(text: str) -> bytes:
    head, rest = (text[:4], text[4:]) if text.startswith("---\n") else ("", text)
    if head:
        block, _, rest = rest.partition("\n---\n")
        head += f"{block}\n---\n"
    return f"{head}- the entry ^{REF}\n\n{rest}".encode()


def changed(text: str) -> None:
    memory_md.changed_part(with_entry(text), with_entry(text).replace(b"the entry", b"this entry"))
    memory_md.changed_part(
        with_entry_first(text), with_entry_first(text).replace(b"the e", b"an e")
    )


def merged(text: str) -> None:
    base, head = merge.split(text), merge.split(f"{text}\n- head")
    theirs = merge.split(f"- theirs\n{text}")
    merge.merge(base, head, theirs)
    merge.difference(base, head)
    merge.one_per_id((*head, *theirs), theirs, set(base), set())
    merge.likeness(text, f"{text} more")


def rewritten(text: str) -> None:
    base = merge.split(text)
    other = tuple(unit.replace("a", "o") for unit in base)
    merge.merge(base, (*other, "- head"), ("- theirs", *base[::-1]))


def marked(text: str) -> None:
    words = snippet.Words(question.terms("entry a b same"))
    _, line = snippet.best_line(text, words)
    snippet.mark(line, words, "[", "]")


def compared(text: str) -> None:
    similar.is_same(text, f"{text} other")
    similar.similarity(text, f"{text} other")
    contradictions.contradicts(text, f"{text} not")


def session(text: str) -> None:
    line = json.dumps({"id": "m1", "role": "user", "content": text})
    session_jsonl.parse(f"{line}\n".encode(), "s")


def settings(text: str) -> None:
    with suppress(BrainError):
        brain_yaml.parse(text)
    with suppress(BrainError):
        brain_yaml.edit("brain.yaml", text.encode(), [Configure("b", "searchLimit", 9, None)])


def asked(text: str) -> None:
    found = question.terms(text)
    for term in found:
        match(term, "passages")
        if term.exact:
            exact.exact_pattern(term)
    question.expected(text, ["Ann", text])
    triggers.search_text(text)


def filtered(text: str) -> None:
    for given in (text, f"kind={text}", f"kind='{text}'", f"({text})"):
        with suppress(BrainError):
            filter_expr.parse(given)


WORK: dict[str, Callable[[str], object]] = {
    "parse memory": lambda text: memory_md.parse(text.encode()),
    "parse note": lambda text: note_md.parse(text.encode()),
    "parse items": lambda text: records_json.parse("items", text.encode()),
    "parse session": lambda text: session_jsonl.parse(text.encode(), "s"),
    "parse message": session,
    "parse session index": lambda text: session_jsonl.parse_index(text.encode()),
    "settings": settings,
    "part": changed,
    "add": lambda text: edited(text.encode(), Add(NOTE, REF, "new words", "Facts")),
    "add lines": lambda text: edited(text.encode(), Add(NOTE, REF, "new\n- a\n- b", "Facts")),
    "add text": lambda text: edited(b"- a\n", Add(NOTE, REF, text, "Facts")),
    "update": lambda text: edited(with_entry(text), Update(NOTE, REF, "other words")),
    "update text": lambda text: edited(with_entry(""), Update(NOTE, REF, text)),
    "update long": lambda text: edited(
        f"- {text} ^{REF}\n- b\n".encode(), Update(NOTE, REF, "other words")
    ),
    "retag": lambda text: edited(
        f"- {text} ^{REF}\n".encode(), Retag(NOTE, REF, ("pinned",), ("a",))
    ),
    "relate": lambda text: edited(
        f"- {text} ^{REF}\n".encode(), Relate(NOTE, REF, "a", "b", gone=True)
    ),
    "redact": redact,
    "tokens": token_count.estimate,
    "safe": lambda text: (safe(text), safe(text, lines=True)),
    "clean": lambda text: sanitize.clean(text, len(text)),
    "procedure": procedure,
    "snippet": marked,
    "question": asked,
    "prose": lambda text: inline.fingerprint(inline.without_links(text)),
    "compare": compared,
    "merge": merged,
    "merge rewritten": rewritten,
    "filter": filtered,
}


def _tried(act: Callable[[], object]) -> None:
    with suppress(BrainError):
        act()
