"""One setting of brain.yaml changes, and no other line."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brain import config
from brain.errors import Refused
from brain.formats import brain_yaml, edit
from brain.formats.brain_yaml import lines_of, put, remove
from brain.model import Configure, Remove

PATH = "40_Brain/brain.yaml"
WORD = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=12)
VALUES = st.one_of(
    st.tuples(st.just("aliases"), st.lists(WORD, max_size=4).map(tuple)),
    st.tuples(st.just("exclude"), st.lists(WORD, min_size=1, max_size=3).map(tuple)),
    st.tuples(st.just("budgetCeiling"), st.integers(1, 10**6)),
    st.tuples(st.just("memory"), st.booleans()),
)
# Pieces that a person may write, each of whole lines.
PIECES = (
    "# Settings of this vault.\n",
    "\n",
    "# aliases: []\n",
    "#aliases: [x]\n",
    "topK: 20   # more than usual\n",
    "exclude:\n  - 'Private/**'\n  # not these either\n  - \"*.tmp.md\"  # nor these\n\n",
    'aliases: ["auth=login"]  # ours\n',
    "aliases:\n- auth=login\n- db=store # the same\n",
    "aliases:\n    - auth=login\n\n    # two\n    - 'db=store'\n    - a=b\n# end\n",
    "aliases:\n",
    "aliases: auth=login\n",
    "budgetCeiling: 4000 # less\n",
    "budgetCeiling:\n  4000\n",
    "exclude: [a,\n  b]\n",
    "mystery: >\n  # aliases: []\n  folded text\n\n",
    "memory:\n  topK: 9\n  # inside\n  aliases: [x=y]\n  searchLimit: 3\n",
    "'searchLimit': 7\n",
    "datePrefix: no",
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(st.sampled_from(PIECES), max_size=6))
    text = "".join(piece if piece.endswith("\n") else f"{piece}\n" for piece in pieces)
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


def settings_of(text: str) -> config.Config:
    return brain_yaml.parse(text.removeprefix("\ufeff"))[0]


def other_lines(text: str, key: str) -> list[str]:
    """The lines that do not belong to a setting; those of a comment within its list do not."""
    own = lines_of(text, key).split("\n")
    own = [line for line in own if not line.lstrip().startswith("#") and line.strip()]
    lines = text.removeprefix("\ufeff").split("\n")
    for line in own:
        lines.remove(next(found for found in lines if found.rstrip("\r") == line.rstrip("\r")))
    return [line for line in lines if line.strip()]


@given(texts(), VALUES)
def test_exactly_one_setting_changes(text: str, setting: tuple[str, object]) -> None:
    key, value = setting
    try:
        before = settings_of(text)
        old = other_lines(text, key)
        new = put(text, key, value)
    except Refused:
        assume(False)
        return
    assert settings_of(new) == before._replace(**{key: value})
    assert [line.rstrip("\r") for line in other_lines(new, key)] == [
        line.rstrip("\r") for line in old
    ]
    assert new.count("\r\n") == new.count("\n") or "\r" not in text
    assert new.startswith("\ufeff") == text.startswith("\ufeff")
    assert put(new, key, value) == new or isinstance(value, tuple)


@given(texts(), st.sampled_from(["aliases", "budgetCeiling", "exclude", "topK"]))
def test_exactly_one_setting_goes(text: str, key: str) -> None:
    try:
        before = settings_of(text)
        old = other_lines(text, key)
        new = remove(text, key)
    except Refused:
        assume(False)
        return
    assert settings_of(new) == before._replace(**{key: config.default(key)})
    assert other_lines(new, key) == old
    assert lines_of(new, key) == ""


@given(st.text(), VALUES)
def test_any_text_is_edited_or_refused(text: str, setting: tuple[str, object]) -> None:
    key, value = setting
    try:
        new = put(text, key, value)
    except Refused:
        return
    assert getattr(settings_of(new), key) == value


def test_what_is_new_goes_behind_the_line_that_tells_its_default() -> None:
    template = config.template()
    new = put(template, "aliases", ("auth=login",))
    assert '\n# aliases: []\naliases: ["auth=login"]\n\n' in new
    assert remove(new, "aliases") == template


def test_what_has_no_such_line_goes_to_the_end() -> None:
    assert put("topK: 3", "budgetCeiling", 100) == "topK: 3\nbudgetCeiling: 100\n"
    assert put("", "budgetCeiling", 100) == "budgetCeiling: 100\n"


def test_a_list_keeps_its_style_and_its_comments() -> None:
    text = "aliases:\n  - 'a=b'  # first\n  # between\n  - c=d\ntopK: 3\n"
    assert put(text, "aliases", ("a=b", "c=d", "e=f")) == (
        "aliases:\n  - 'a=b'  # first\n  # between\n  - c=d\n  - \"e=f\"\ntopK: 3\n"
    )
    assert put(text, "aliases", ("c=d",)) == "aliases:\n  # between\n  - c=d\ntopK: 3\n"
    assert put(text, "aliases", ("a=x", "c=d")) == text.replace("'a=b'", '"a=x"')
    assert remove(text, "aliases") == "  # between\ntopK: 3\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{aliases: [a=b], topK: 3}\n", "braces"),
        ("memory: {topK: 3}\n", "braces"),
        ("aliases: &x [a=b]\nexclude: *x\n", "line 1 contains an anchor or a tag"),
        ("topK: !!int 3\n", "line 1 contains an anchor or a tag"),
        ("aliases: [a=b]\ntopK: 3\naliases: [c=d]\n", "line 3 sets aliases a second time"),
        ("aliases: [a=b,\n  # why\n  c=d]\n", "line 1: there may be a comment inside"),
        ("- a\n- b\n", "must be a `key: value` line"),
        ("just words\n", "must be a `key: value` line"),
        ("aliases: [a\n", "is not YAML"),
        ("topK: many\n", "line 1: topK must be a whole number"),
        ("topK: 3\n...\n", "cannot edit"),
        ("# \x0c\n", "is not YAML: special characters"),
        ("topK: 3\n---\ntopK: 4\n", "is not YAML"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str, said: str) -> None:
    with pytest.raises(Refused, match=said) as caught:
        put(text, "aliases", ("x=y",))
    assert caught.value.remedy


def test_an_edit_is_made_once() -> None:
    change = Configure(PATH, "budgetCeiling", 3000, 5000)
    first = edit("settings", PATH, b"topK: 3\n", [change])
    assert first.data == b"topK: 3\nbudgetCeiling: 3000\n"
    assert first.done[0][1:4] == ("done", "", "budgetCeiling: 3000")
    again = edit("settings", PATH, first.data, [change])
    assert (again.data, again.done[0].outcome) == (first.data, "already")
    gone = edit("settings", PATH, first.data, [Configure(PATH, "budgetCeiling", None, 3000)])
    assert (gone.data, gone.done[0].before) == (b"topK: 3\n", "budgetCeiling: 3000")


def test_an_edit_of_what_somebody_changed_is_not_made() -> None:
    text = b"budgetCeiling: 4000\n"
    made = edit("settings", PATH, text, [Configure(PATH, "budgetCeiling", 3000, 5000)])
    assert (made.data, made.done[0].outcome) == (text, "changed")


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(Refused, match="not UTF-8"):
        edit("settings", PATH, b"topK: \xff\n", [])


def test_settings_hold_no_entries() -> None:
    with pytest.raises(Refused, match="does not write entries"):
        edit("settings", PATH, b"", [Remove(PATH, "m-a")])
