"""Edits of MEMORY.md: what was asked is there, and every other byte is as it was."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from brain import model
from brain.errors import BadRequest, Refused
from brain.formats import edit, markdown, memory_edit, memory_md
from brain.formats.text import BOM
from brain.journal.codec import change_from_json
from brain.model import (
    Add,
    Anchor,
    Applied,
    Change,
    Entry,
    Insert,
    Move,
    Relate,
    Remove,
    Replace,
    Retag,
    Update,
)  # fmt: skip
from tests.formats import strategies

OWNER, PATH = "admin", "MEMORY.md"


def run(text: str | bytes, *edits: Change) -> tuple[str, tuple[Applied, ...]]:
    data = text.encode() if isinstance(text, str) else text
    edited = edit("memory", PATH, data, edits, OWNER)
    return edited.data.decode(), edited.done


def after(text: str | bytes, *edits: Change) -> str:
    return run(text, *edits)[0]


def entries(text: str | bytes) -> tuple[Entry, ...]:
    data = text.encode() if isinstance(text, str) else text
    return memory_md.parse(data, OWNER).entries


def refs(text: str | bytes) -> list[str]:
    return [entry.ref for entry in entries(text) if entry.kind != "note"]


def add(text: str, section: str = "Facts", ref: str = "m-new00000", **rest: Any) -> Add:
    return Add(PATH, ref, text, section, **rest)


# Golden: changes, one a line, then the note; what comes out is shown as a diff. Bytes that an
# editor would hide are written as <CR>, <BOM>, and <EOF> for a note without a newline at its end.


def test_golden(case, check_case) -> None:
    asked, _, note = case.before.partition("\n~~~\n")
    text = note.replace("<CR>", "\r").replace("<BOM>", "\ufeff") + "\n"
    text = text.removesuffix("<EOF>\n")
    edits = [change_from_json({"path": PATH, **json.loads(line)}) for line in asked.split("\n")]
    new, done = run(text, *edits)
    check_case(case, "\n".join([*_diff(text, new), *map(_said, done)]))
    again, done = run(new, *edits)
    assert again == new
    assert {one.outcome for one in done} <= {"already", "missing", "changed"}


def _diff(old: str, new: str) -> list[str]:
    sides = [f"{text}<EOF>".split("\n") for text in (old, new)]
    if old.endswith("\n") and new.endswith("\n"):
        sides = [side[:-1] for side in sides]
    lines = list(difflib.unified_diff(*sides, lineterm="", n=1))[2:]
    return [line.replace("\r", "<CR>").replace("\ufeff", "<BOM>") for line in lines]


def _said(done: Applied) -> str:
    change = type(done.change).__name__.lower()
    said = f"{change} {done.change.ref}: {done.outcome}"
    said += f", under {done.section}" if done.section else ""
    return said + (f", behind {done.previous}" if done.previous else "")


# What always holds


def others(data: bytes, ref: str) -> list[tuple[bytes, str, bool]]:
    """All that stands in a note beside one entry: its bytes, its headings, whether it is none."""
    return [
        (data[c.start : c.end], c.heading, c.kind == "note") for c in entries(data) if c.ref != ref
    ]


def words(text: str) -> str:
    """The characters of a text: white space and the backslashes that keep `%%` visible are none."""
    for mark in ("%", "$"):
        text = text.replace(f"{mark}\\{mark}", mark * 2).replace(f"{mark}\\{mark}", mark * 2)
    return "".join(text.replace("\0", "\ufffd").split())


def check(data: bytes, change: Change) -> None:
    """One change of any note, and everything that it promises."""
    try:
        new, (done,) = edit("memory", PATH, data, [change], OWNER)
    except (Refused, BadRequest):
        return
    if done.outcome != "done":
        assert new == data
        return
    assert new.startswith(BOM) == data.startswith(BOM)
    if isinstance(change, Remove) and _has_twins(data, change.ref):
        return
    assert others(new, change.ref) == others(data, change.ref)
    _check_outside(data, new, done)
    again = edit("memory", PATH, new, [change], OWNER)
    gone = isinstance(change, Remove)
    assert (again.data, again.done[0].outcome) == (new, "missing" if gone else "already")
    if not gone:
        _check_there(new, change, done)
    if isinstance(change, Update | Retag | Relate | Anchor):
        back = Replace(PATH, change.ref, done.before, done.after)
        assert edit("memory", PATH, new, [back], OWNER).data == data


def _has_twins(data: bytes, ref: str) -> bool:
    """Is there another entry of the same words? It gets its id written when this one goes."""
    (text,) = [entry.text for entry in entries(data) if entry.ref == ref]
    line = re.escape(text.split("\n")[0].split(" ^")[0].split(" #")[0])
    return len(re.findall(line, data.decode())) > 1


def _check_there(new: bytes, change: Change, done: Applied) -> None:
    (entry,) = [entry for entry in entries(new) if entry.ref == change.ref]
    assert new[entry.start : entry.end].decode() == done.after
    assert entry.kind != "note"
    if not isinstance(change, Retag) or change.add:
        assert entry.extra
        assert entry.extra["anchored"]
    if not isinstance(change, Move):
        assert entry.heading == done.section
    if isinstance(change, Add) and not change.text.lstrip().startswith("["):  # a checkbox
        said = words(change.text)
        got = words(entry.text)
        for tag in change.tags:
            got = got if f"#{tag}" in said else got.replace(f"#{tag}", "", 1)
        assert got == said


def _check_outside(data: bytes, new: bytes, done: Applied) -> None:
    """The old and the new bytes share all but the entry, its heading and the lines' ends."""
    if isinstance(done.change, Move):
        return
    head = len(_common(data, new))
    tail = len(_common(data[head:][::-1], new[head:][::-1]))
    gone, come = data[head : len(data) - tail], new[head : len(new) - tail]
    assert Counter(words(gone.decode(errors="ignore"))) <= Counter(words(done.before))
    made = words(done.after)
    if isinstance(done.change, Add):
        made += f"#AgentMemory######{words(done.change.section)}"
    come = come.replace(b"\\", b"")
    assert Counter(words(come.decode(errors="ignore"))) <= Counter(made)


def _common(a: bytes, b: bytes) -> bytes:
    size = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    return a[: min(len(a), len(b))] if size is None else a[:size]


LINES = [
    *["\n## Facts\n", "\n# Facts\n\n", "\n## Other\n", "\n- one\n- two\n", "\n* x ^a\n\n* y\n"],
    *["\n1. q\n2. w\n", "\n    - n\n", "\n\nA paragraph.\n", "\n- [ ] todo #tag [k:: v] ^b\n"],
    *[
        "\n> quote\n",
        "\n```\n- code\n```\n",
        "\n%% hidden\n- x %%\n",
        "\n| a |\n|---|\n",
        "\n***\n",
    ],
]
PIECES = [piece for piece in strategies.PIECES if not piece.startswith(("\0", "<<", ">>"))]
messy = st.lists(st.sampled_from(LINES) | st.sampled_from(PIECES), max_size=25).map("".join)
noted = messy.map(str.encode)
said = st.sampled_from(["plain words", "a `b` c", "two\nlines", "steps\n1. a\n2. b"]) | messy
tags = st.sampled_from([(), ("db",), ("pinned", "db")])
plain = st.sampled_from(["## Facts\n", "## Other\n", "- one\n", "- two ^a\n", "    - n\n", "\n"])
regular_notes = st.lists(plain, max_size=12).map(lambda lines: "".join(lines).encode())


@given(noted, said, st.sampled_from(["Facts", "other", "New", ""]), tags)
@example(b"- a\n", "x", "New", ())
@example(b"## Facts\n1. a\n\n b\n", "x", "Facts", ())  # a paragraph is no place for a `2.`
@example(b"## Facts\n- a\n- - -\n", "x", "Facts", ())
@example(b"", "x\n\ny", "New", ("db",))
@example(b"\t```", "x", "Facts", ())  # code that ends with its line, though nothing closes it
@example(b"\r# a", "x", "Facts", ())
def test_an_addition_is_there_and_nothing_else_changes(
    data: bytes, text: str, section: str, tags: tuple[str, ...]
) -> None:
    check(data, add(text, section, tags=tags))


@given(noted, said, st.data())
def test_a_change_changes_its_entry_and_nothing_else(
    data: bytes, text: str, draw: st.DataObject
) -> None:
    here = refs(data)
    assume(here)
    ref = draw.draw(st.sampled_from(here))
    change = draw.draw(
        st.sampled_from(
            [
                Update(PATH, ref, text),
                Remove(PATH, ref),
                Anchor(PATH, ref),
                Retag(PATH, ref, ("pinned",)),
                Retag(PATH, ref, ("a/b",), ("tag",)),
                Retag(PATH, ref, remove=("tag",)),
                Move(PATH, ref, "Facts"),
                Move(PATH, ref, "New"),
                Relate(PATH, ref, "supersedes", "[[#^x]]"),
                Relate(PATH, ref, "k", "v", True),
            ]
        )
    )
    check(data, change)


@given(noted, st.data())
def test_many_changes_are_as_one_after_the_other(data: bytes, draw: st.DataObject) -> None:
    """Where no two entries have the same words or id, which would then change hands."""
    here = list(dict.fromkeys(refs(data)))
    texts = [entry.text for entry in entries(data)]
    assume(here and len(set(texts)) == len(texts))
    assume("duplicate-id" not in {p.code for p in memory_md.parse(data, OWNER).problems})
    picked = draw.draw(st.lists(st.sampled_from(here), min_size=1, max_size=4, unique=True))
    edits: list[Change] = [Retag(PATH, ref, ("pinned",)) for ref in picked]
    edits += [Update(PATH, ref, f"new {n}") for n, ref in enumerate(picked[1:])]
    edits += [add("added"), add("more", ref="m-2"), Move(PATH, picked[0], "Other")]
    edits += [Retag(PATH, "m-2", ("db",)), Remove(PATH, picked[-1])]
    try:
        together = edit("memory", PATH, data, edits, OWNER)
        alone: list[Applied] = []
        for change in edits:
            data, (done,) = edit("memory", PATH, data, [change], OWNER)
            alone.append(done)
    except Refused:
        return
    assert others(together.data, "") == others(data, "")
    strip = [(d.change, d.outcome, d.before, d.after, d.section) for d in alone]
    assert [(d.change, d.outcome, d.before, d.after, d.section) for d in together.done] == strip


@st.composite
def regular(draw: st.DrawFn) -> str:
    """A note as people write it: sections of bullets, each in the style of its note."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    bullet = draw(st.sampled_from(["- ", "* ", "+ ", "1. ", "-   "]))
    between = draw(st.sampled_from([end, end * 2]))
    below = draw(st.sampled_from(["", end]))
    nest = draw(st.sampled_from(["    ", "\t"]))
    out = draw(
        st.sampled_from(["", "\ufeff", f"---{end}a: b # c{end}---{end}", f"# Memory{end}{end}"])
    )
    sections = []
    for number in range(draw(st.integers(1, 4))):
        entries = []
        for _ in range(draw(st.integers(3 if between != end else 1, 4))):
            entry = bullet + draw(strategies.prose) + draw(st.sampled_from(["", " #tag", " [[x]]"]))
            if draw(st.booleans()):
                entry += end + nest + "- " + draw(strategies.prose)
            entries.append(entry)
        sections.append(f"## S{number}{end}{below}" + between.join(entries) + end)
    out += end.join(sections)
    return out.removesuffix(end * draw(st.booleans()))


@given(regular(), st.data())
def test_what_was_added_can_be_taken_away_again(note: str, draw: st.DataObject) -> None:
    section = draw.draw(st.sampled_from(sorted(set(re.findall(r"S\d", note)))))
    change = add(draw.draw(strategies.prose), section)
    added = after(note, change)
    assert after(added, Remove(PATH, change.ref)) == note


def _prose(entry: Entry) -> str:
    return entry.text.split("\n")[0].replace(" #tag", "")


@given(regular(), st.data())
def test_what_was_removed_can_be_put_back(note: str, draw: st.DataObject) -> None:
    ref = draw.draw(st.sampled_from(refs(note)))
    assume(note.endswith("\n") or len(refs(note)) > 1)  # else nothing tells how the note was
    assume(len({_prose(entry) for entry in entries(note)}) == len(refs(note)))
    removed, (done,) = run(note, Remove(PATH, ref))
    back = Insert(PATH, ref, done.before, done.section, done.previous)
    assert after(removed, back) == note


@given(regular(), st.data(), strategies.prose)
def test_an_edit_of_an_ordinary_note_is_not_refused(
    note: str, draw: st.DataObject, text: str
) -> None:
    ref = draw.draw(st.sampled_from(refs(note)))
    for change in (
        add(text, "S0"), add(f"{text}\n- {text}", "S0"), add(text, "Brand new"),
        Update(PATH, ref, text), Retag(PATH, ref, ("pinned",)), Move(PATH, ref, "S0"),
        Relate(PATH, ref, "supersedes", "[[#^x]]"), Anchor(PATH, ref), Remove(PATH, ref),
    ):  # fmt: skip
        _, (done,) = run(note, change)
        assert done.outcome == "done" or isinstance(change, Move)
        check(note.encode(), change)


# Without a parse


def _no_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(memory_md, "parse", parse)
    monkeypatch.setattr(markdown, "_markdown", parse)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("section", ["Facts", "New"])
def test_an_ordinary_addition_takes_no_parse(
    monkeypatch: pytest.MonkeyPatch, end: str, section: str
) -> None:
    note = f"---{end}a: b{end}---{end}# M{end}{end}## Facts{end}- a `x`{end}    - b{end}{end}"
    note += f"%% hidden %%{end}{end}## More{end}1. c{end}"
    _no_parse(monkeypatch)
    new = after(note, add("one thing, `like this`", section), add("another", section, "m-2"))
    assert f"- one thing, `like this` ^m-new00000{end}- another ^m-2{end}" in new


def test_a_batch_takes_two_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    note = "## Facts\n" + "".join(f"- fact {n}\n" for n in range(50))
    count = []
    parse = memory_md.parse
    monkeypatch.setattr(memory_md, "parse", lambda *args: count.append(1) or parse(*args))
    edits = [Retag(PATH, ref, ("pinned",)) for ref in refs(note)] + [add("x"), add("y", ref="m-2")]
    count.clear()
    new = after(note, *edits)
    assert (len(count), new.count("#pinned")) == (2, 50)


# Where an addition goes


@pytest.mark.parametrize(
    ("section", "under"),
    [
        ("key decisions", "1. **Key Decisions** \N{BRAIN} (2026)"),
        ("Don't", "Don\N{RIGHT SINGLE QUOTATION MARK}t!"),
        ("2026-05-09", "2026-05-09"),
        ("Log > 2026-05-10", "2026-05-10"),
        ("Sprint 2", "Sprint 2"),
        ("Deep", "Deep"),
    ],
)
def test_a_section_is_found_by_its_words(section: str, under: str) -> None:
    note = (
        "# Memory\n## 1. **Key Decisions** \N{BRAIN} (2026)\n- a\n"
        "## Don\N{RIGHT SINGLE QUOTATION MARK}t!\n- b\n"
        "## Log\n### 2026-05-09\n- c\n### 2026-05-10\n- d\n## Sprint 1\n- e\n#### Deep\n- f\n"
    )
    new, (done,) = run(note, add("x", section))
    assert done.section.split(" > ")[-1] == under
    assert new.count("\n#") == note.count("\n#") + (section == "Sprint 2")


def test_an_entry_is_named_as_the_one_before_only_while_its_id_stands_once() -> None:
    first, told = run("# Facts\n\n# Rules\n", add("one", ref="m-aaaaaaaa"))
    assert told[0].previous == ""
    second, told = run(first, add("two", ref="m-bbbbbbbb"))
    assert told[0].previous == "m-aaaaaaaa"
    third, _ = run(second, add("see ^m-bbbbbbbb above", "Rules", ref="m-cccccccc"))
    assert run(third, add("four", ref="m-dddddddd"))[1][0].previous == ""
    own, _ = run(first, add("I am ^m-eeeeeeee", ref="m-eeeeeeee"))
    assert run(own, add("six", ref="m-ffffffff"))[1][0].previous == ""


def test_a_section_is_made_beside_the_others() -> None:
    note = "# Memory\n\n## A\n\n- a\n\n### Deep\n\n- b\n\n# Log\n\n- c\n"
    assert after(note, add("x")) == note.replace("- b\n", "- b\n\n## Facts\n\n- x ^m-new00000\n")
    assert after("# A\n- a\n# B\n- b", add("x")) == "# A\n- a\n# B\n- b\n\n# Facts\n- x ^m-new00000"


def test_a_new_note_has_a_title() -> None:
    assert after(b"", add("x")) == "# Agent Memory\n\n## Facts\n- x ^m-new00000\n"
    assert after(BOM, add("x")).startswith("\ufeff# Agent Memory\n")


@pytest.mark.parametrize(
    "tail",
    ["> quote", "| a |\n|---|", "```\ncode\n```", "<div>\n- x\n</div>", "%%\n- x\n%%", "$$\nx\n$$",
     "> [!note]\n> - x", "A paragraph", "[a]: b", "***", "<!-- x -->", "    - code"],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\n## More\n- m\n", "\n\n## More\n- m\n", ""])
def test_an_addition_stays_out_of_other_blocks(tail: str, end: str) -> None:
    for head in ("## Facts\n\n", "## Facts\n- a\n\n"):
        note = head + tail + end
        data = note.encode()
        check(data, add("x"))
        _, (done,) = run(note, add("x"))
        assert (done.outcome, done.section) == ("done", "Facts")
        check(data, add("x\ny", "Brand new"))


@pytest.mark.parametrize(
    ("note", "line"),
    [
        ("- a %% never closed\n- b\n", 1),
        ("- a\n```\nnever closed\n", 2),
        ("## F\n- a\n~~~\n## Facts\n", 3),
    ],
)
def test_a_note_whose_rest_is_hidden_is_refused_by_line(note: str, line: int) -> None:
    with pytest.raises(Refused, match=f"MEMORY.md, line {line}: opens a .* never closed"):
        after(note, add("x", "New"))


def test_an_entry_is_put_where_it_is_seen() -> None:
    note = "## Facts\n- a\n- b %% never closed\n- c\n"
    assert after(note, add("x")) == note.replace("- b", "- x ^m-new00000\n- b")
    note = "- a\n%% never closed\n- b\n"
    assert after(note, add("x")) == "- a\n\n## Facts\n- x ^m-new00000\n\n" + note[4:]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"- a\n- \xff\n", "line 2: is not valid UTF-8"),
        (b"- a\n\n- \0\n", "line 3: contains a NUL"),
        (b"- a\n<<<<<<< x\n=======\n>>>>>>> y\n", "line 2: contains unresolved merge markers"),
        (b"- a\n" * 20_001, "is over 1,000,000 characters or 20,000 lines"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(data: bytes, says: str) -> None:
    for change in (add("x"), Update(PATH, "a", "x"), Remove(PATH, "a")):
        with pytest.raises(Refused, match=f"MEMORY.md.*{says}") as caught:
            run(data, change)
        assert caught.value.remedy


def test_a_note_does_not_outgrow_what_is_read_by_entries() -> None:
    with pytest.raises(Refused, match="over 1,000,000"):
        run("## Facts\n" + "- a\n" * 19_998, add("x"), add("y", ref="m-2"), add("z", ref="m-3"))


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_entry_needs_words(text: str) -> None:
    with pytest.raises(BadRequest):
        after("", add(text))
    with pytest.raises(BadRequest):
        after("- a ^a\n", Update(PATH, "a", text))


@pytest.mark.parametrize("tag", ["two words", "", "1", "a,b"])
def test_a_tag_is_a_tag(tag: str) -> None:
    with pytest.raises(BadRequest):
        after("- a ^a\n", Retag(PATH, "a", (tag,)))


# Which entry is meant


def test_the_first_of_two_equal_ids_counts_and_the_other_has_its_own() -> None:
    note = "- one ^id\n- two ^id\n"
    second = refs(note)[1]
    assert after(note, Retag(PATH, "id", ("x",))) == "- one #x ^id\n- two ^id\n"
    assert after(note, Anchor(PATH, second)) == f"- one ^id\n- two ^{second}\n"


def test_an_id_that_somebody_nested_or_moved_is_not_added_again() -> None:
    note = "## Facts\n- a\n    - x ^m-new00000\n"
    new, (done,) = run(note, add("x"))
    assert (new, done.outcome) == (note, "already")
    assert "- x ^m-new00000" in after("## Facts\n```\n^m-new00000\n```\n", add("x"))


def test_what_is_gone_is_missing() -> None:
    for change in (
        Update(PATH, "no", "x"), Remove(PATH, "no"), Retag(PATH, "no", ("x",)), Anchor(PATH, "no"),
        Relate(PATH, "no", "a", "b"), Move(PATH, "no", "x"), Replace(PATH, "no", "- a", "- b"),
    ):  # fmt: skip
        assert run("- a\n", change) == ("- a\n", (Applied(change, "missing"),))


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ("[[C]]", "[[A,B]],   [[D, x]]"),
        ("[[A,B]]", "[[C]] ,   [[D, x]]"),
        ("[[D, x]]", "[[A,B]], [[C]] "),
        ("B", "[[A,B]], [[C]] ,   [[D, x]]"),
    ],
)
def test_one_of_several_links_goes_and_the_others_stay_as_they_are(gone: str, left: str) -> None:
    note = "- a [relates_to:: [[A,B]], [[C]] ,   [[D, x]]] ^a\n"
    change = Relate(PATH, "a", "relates_to", gone, True)
    assert after(note, change) == f"- a [relates_to:: {left}] ^a\n"


def test_what_is_no_longer_as_expected_is_left_alone() -> None:
    new, (done,) = run("- a ^a\n", Replace(PATH, "a", "- b ^a", "- c ^a"))
    assert (new, done.outcome, done.before) == ("- a ^a\n", "changed", "- a ^a")


def test_equal_entries_keep_their_ids_while_others_of_them_go() -> None:
    """Else the same removal, carried out again after a crash, would take the next one, too."""
    note = "- same\n- same\n- same\n- same\n"
    first, second, third, fourth = refs(note)
    gone = (Remove(PATH, first), Remove(PATH, third))
    new = after(note, *gone)
    assert new == f"- same ^{second}\n- same ^{fourth}\n"
    assert after(new, *gone) == new
    assert after("- same\n- same #x\n", Remove(PATH, second)) == "- same\n"


def test_edges_of_entries_stay_apart() -> None:
    """Removing what parts two blocks must not make one of them."""
    assert after("a\n\n- b ^b\n\nc\n", Remove(PATH, "b")) == "a\n\nc\n"
    assert after("a\n- b ^b\n# c\n", Remove(PATH, "b")) == "a\n# c\n"
    assert after("a\n1. b ^b\n2. c\n", Remove(PATH, "b")) == "a\n\n2. c\n"
    with pytest.raises(Refused, match="line 3"):
        after("- a\n\nword ^b\n\n    code\n", Remove(PATH, "b"))


def test_other_changes_are_none_of_a_note() -> None:
    with pytest.raises(BadRequest):
        memory_edit.edit(PATH, b"", [model.Configure(PATH, "x", 1, 0)])


def test_order_in_the_line() -> None:
    change = add(
        "Chose #db over files", tags=("db", "pinned"), links=("[[A]]", "[[B]]"),
        fields=(("trigger", "x, y"), ("supersedes", "[[#^m-1]]")),
    )  # fmt: skip
    assert after(b"", change).endswith(
        "- Chose #db over files [[A]] [[B]] #pinned [trigger:: x, y] [supersedes:: [[#^m-1]]]"
        " ^m-new00000\n"
    )


def test_entries_of_a_note_are_apart() -> None:
    new = after("- a\n", add("x"), add("y\nz", ref="m-2"))
    assert all(a.end < b.start for a, b in pairwise(entries(new)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- x   #pinned\n", "- x\n"),
        ("* y   #pinned  \n- z\n", "* y  \n- z\n"),
        ("- x  #pinned\r\n- z\r\n", "- x\r\n- z\r\n"),
        ("- x #pinned  #db\n", "- x  #db\n"),
    ],
)
def test_a_tag_goes_with_the_space_before_it(before: str, after: str) -> None:
    ref = memory_md.parse(before.encode(), "admin").entries[0].ref
    made = edit("memory", "p", before.encode(), [Retag("p", ref, (), ("pinned",))], "admin")
    assert made.data.decode() == after


# -- without parsing all of a note -----------------------------------------------------------------

WRITTEN = [f"- fact {number % 5} ^m-{number}" for number in range(9)]
note_lines = st.lists(
    st.sampled_from([*WRITTEN, *WRITTEN, "", "## Facts", "  - nested"])
    | st.sampled_from([*WRITTEN, *strategies.LINES]),
    min_size=3,
    max_size=14,
)
entry_changes = st.sampled_from(
    [
        *[Update("M.md", "m-1", text) for text in ["other", "two\nlines", "- odd", "```", "# h"]],
        *[Update("M.md", "m-1", text) for text in ["`a", "%% a", "a\n\nb", "$$", "a | b", "<div>"]],
        Remove("M.md", "m-1"),
        Retag("M.md", "m-1", ("pinned",), ("tag",)),
        Relate("M.md", "m-1", "supersedes", "[[#^m-2]]"),
    ]
)


@given(note_lines, entry_changes, st.sampled_from(["", "---\ntags: [x]\n---\n"]), st.booleans())
def test_an_edit_is_the_same_without_parsing_all(
    lines: list[str], change: Change, top: str, ended: bool
) -> None:
    note = (top + "\n".join(lines) + "\n" * ended).encode()
    if (edited := memory_edit._edit_part("M.md", note, change, "me")) is not None:
        assert edited == memory_edit._edit_whole("M.md", note, [change], "me")


@given(note_lines, st.sampled_from(["two\nlines", "a\n\n- b", "a\n```", "a\n# h", "`a\nb` c"]))
def test_an_entry_of_several_lines_is_added_without_parsing_all(
    lines: list[str], text: str
) -> None:
    note = "\n".join(["## Facts", *lines]).encode()
    change = Add("M.md", "m-new", text, "Facts")
    if (edited := memory_edit._edit_part("M.md", note, change, OWNER)) is not None:
        whole = memory_edit._edit_whole("M.md", note, [change], OWNER)
        before, after = seen(note), seen(edited.data)
        new = [entry for entry in after if entry[0] == "m-new"]
        assert new == [entry for entry in seen(whole.data) if entry[0] == "m-new"] != []
        assert [entry[1:] for entry in before] == [e[1:] for e in after if e not in new]


def seen(note: bytes) -> list[tuple[str, str, str, str]]:
    found = memory_md.parse(note, OWNER).entries
    return [(entry.ref, entry.text, entry.heading, entry.kind) for entry in found]


@pytest.mark.parametrize(
    "change",
    [
        Update("M.md", "m-7", "x\ny"),
        Remove("M.md", "m-7"),
        Retag("M.md", "m-7", ("pinned",)),
        Add("M.md", "m-new", "x\ny", "Facts"),
    ],
)
def test_an_entry_with_an_id_is_edited_alone(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "\n".join(["---", "tags: [x]", "---", "# Memory", "", "## Facts", *WRITTEN, ""]).encode()
    expected = memory_edit._edit_whole("M.md", note, [change], "me")
    monkeypatch.delattr(memory_md, "parse")
    assert edit("memory", "M.md", note, [change], "me") == expected
    assert len(expected.data) != len(note)


def test_an_entry_that_would_get_the_id_of_another_is_not_edited_alone() -> None:
    ref = memory_md.parse(b"- five\n", OWNER).entries[0].ref
    some = "".join(f"- fact {number} ^m-{number}\n" for number in range(9))
    note = f"- a ^m-a\n- b ^{ref}\n{some}- five\n"
    edited = edit("memory", PATH, note.encode(), [Remove(PATH, ref)], OWNER)
    assert refs(edited.data)[0] == "m-a"
    assert ref not in refs(edited.data)  # which would be removed if the same were done again
    assert edit("memory", PATH, edited.data, [Remove(PATH, ref)], OWNER).data == edited.data
