"""What holds a thing exactly as it was written, and what only holds something like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.search.exact import exact_pattern
from brain.search.question import terms
from brain.search.ranking import BEGINNINGS
from brain.words import fold
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.search.conftest import OTHERS, Searched


def stands(question: str, text: str, tags: str = "") -> bool:
    """Is the first thing that the question asks for there, exactly so?"""
    term = next(term for term in terms(question) if term.exact)
    return exact_pattern(term).occurs_in(fold(tags), fold(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("max_size", "set max_size."),
        ("max_size", "(max_size: 3)"),
        ("max_size", "config.max_size"),
        ("max_size", "min_size/max_size"),
        ("max_size", "配置max_size为"),
        ("MAX_SIZE", "max_size"),
        ("src/app.py", "see src/app.py."),
        ("src/app.py", "`src/app.py`:12"),
        ("src/app.py", "./src/app.py"),
        ("src/app.py", "\n10_Notes/src/app.py"),  # the path of the note itself
        ("Notes/Walrus", "\nDeep/Notes/Walrus.md"),
        ("getUsers", "getUsers()"),
        ("use getUsers", "getusers"),
        ("X-Request-ID", "the X-Request-ID header"),
        ("use --dry-run now", "with --dry-run"),
        ("192.168.0.17", "192.168.0.17:80"),
        ("1.2.3", "version 1.2.3, then"),
        ("C++", "I like C++."),
        ("C++", "Java/C++/Go"),
        ("C#", "(C#)"),
        ("see .env", "the .env file"),
        ("#123", "issue #123."),
        ('"C++"', "C++"),
        ('"the parser is"', "The parser\nis broken"),
        ('"the parser is"', "the **parser** is"),
        ('"one, two"', "one,\n  two"),
        ('"one two !"', "one two"),
        ('"周二部署"', "在周二部署完成"),
        ('"用SQLite数据库"', "我们用sqlite数据库"),
    ],
)
def test_it_is_there(question: str, text: str) -> None:
    assert stands(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("max_size", "my_max_size"),
        ("max_size", "max_size_limit"),
        ("max_size", "max size"),
        ("src/app.py", "src/app.py.bak"),
        ("src/app.py", "src/app.pyc"),
        ("src/app.py", "other/src/app.py\nnote.md"),
        ("src/app.py", "src/app.py-old"),
        ("getUsers", "getUser getUsersById"),
        ("X-Request-ID", "x request id"),
        ("X-Request-ID", "X-Request-ID-2"),
        ("use --dry-run now", "dry-run"),
        ("192.168.0.17", "192 168 0 17"),
        ("192.168.0.17", "192.168.0.170"),
        ("1.2.3", "1.2.3.4"),
        ("C++", "vitamin C"),
        ("C++", "Objective-C++"),
        ("see .env", "prod.env"),
        ('"C++"', "C"),
        ('"max_size"', "max_size_limit"),
        ('"one, two"', "one two"),
        ('"parser is"', "the parser isn"),
        ('"周二部署"', "周二 二部 部署"),
    ],
)
def test_something_like_it_is_there(question: str, text: str) -> None:
    assert not stands(question, text)


@pytest.mark.parametrize(
    ("question", "tags", "expected"),
    [
        ("#db", " a db ", True),
        ("#DB", " db ", True),
        ("#db/", " db ", True),
        ("(#db)", " db ", True),
        ("#db", " not-db ", False),
        ("#db", " db/sql ", False),
        ("#db", " my_db ", False),
        ("#animals/sea", " animals/sea ", True),
        ("#日本語", " 日本語 ", True),
        ("#日本語", " 日本 ", False),
        ("#日本語", "", False),
    ],
)
def test_a_tag_is_the_whole_tag(question: str, tags: str, expected: bool) -> None:
    assert stands(question, "db sql animals sea 日本語", tags) is expected


@given(st.text() | st.text('abZ9_-./#+ "日本', max_size=12))
def test_whatever_is_written_stands_in_itself(question: str) -> None:
    """Alone in a text, as it was asked for."""
    for term in terms(question):
        if term.exact and not term.column:
            said = fold(term.exact.strip('"'))
            assert exact_pattern(term).occurs_in("", said), term


def _many(number: int) -> dict[str, str]:
    return {f"loose/{n}.md": f"---\ntags: [db/sql]\n---\nmax size {n}\n" for n in range(number)}


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("#db", "tagged.md"),
        ("max_size", "named.md"),
        ("what is max_size", "named.md"),
        ('"Max_Size"', "named.md"),
    ],
)
def test_what_is_exactly_so_is_first_among_very_many(
    question: str, path: str, vault: MakeVault, opened: OpenBrain
) -> None:
    long = "Something else altogether is said here, and at length. " * 30
    exact = {
        "tagged.md": f"---\ntags: [db]\n---\n{long}\n",
        "named.md": f"{long} `max_size` {long}\n",
    }
    brain = opened(vault(_many(520) | exact))
    assert brain.search(question).results[0].row.path == path


@pytest.mark.parametrize("question", ["Garden Plan", "[[Garden Plan]]", "garden plan.md"])
@pytest.mark.parametrize("engine", ["fts5", "fts4"])
def test_the_note_that_is_named_is_first_among_many(
    question: str, engine: str, vault: MakeVault, opened: OpenBrain
) -> None:
    notes = {f"{n}.md": f"garden plan garden plan garden {n}\n" for n in range(80)}
    notes |= {"N/Garden Plan.md": "Something else altogether\n", "Garden Plan/x.md": "No\n"}
    brain = opened(vault(notes), engine=engine)
    assert brain.search(question).results[0].row.path == "N/Garden Plan.md"


@pytest.mark.parametrize("question", ["#🚀", "notes with #🚀, please"])
def test_a_tag_without_a_letter_is_found(
    question: str, vault: MakeVault, opened: OpenBrain
) -> None:
    brain = opened(vault({"a.md": "Launch #🚀\n", "b.md": "Notes 🚀 #🚀🚀\n"}))
    found = brain.search(question).results
    assert found[0].row.path == "a.md"
    assert found[0].exact == 1


# -- what is written so, whatever else weighs more ---------------------------------------------

LOUD = "garden beds walrus tusks size max app src py sea animals " * 8
EXACT: dict[str, str | bytes] = {
    "loud.md": f"# Garden beds walrus tusks\n\n{LOUD}\n",
    "louder.md": f"# Max size of src app py\n\n{LOUD}\n{LOUD}\n",
    "phrase.md": f"{'much that is beside the point ' * 30} tusks walrus beds of a garden\n",
    "tag.md": f"{'much that is beside the point ' * 30} #garden/beds\n",
    "name.md": f"{'much that is beside the point ' * 30} call max_size here\n",
    "path.md": f"{'much that is beside the point ' * 30} see src/app.py for more\n",
    **{f"{n}.md": f"filler {n}\n" for n in range(20)},
}


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ('"tusks walrus"', "phrase.md"),
        ('"tusks walrus" garden beds', "phrase.md"),
        ("#garden/beds", "tag.md"),
        ("#garden/beds walrus tusks", "tag.md"),
        ("max_size", "name.md"),
        ("what is the max_size of an app", "name.md"),
        ("src/app.py", "path.md"),
        ("max size of src/app.py", "path.md"),
    ],
)
def test_exact_comes_before_any_weight(question: str, path: str, searched: Searched) -> None:
    first, *others = searched(EXACT).search(question).results
    assert first.row.path == path
    assert first.exact > 0
    if question[0] != '"' or " garden" in question:
        assert any(hit.score > first.score for hit in others)


MUCH = "in the middle of a long and boring sentence about nothing at all"
FACTS = (
    f"- {MUCH} #db\n"
    "- foo #not-db\n"
    "- database db #db/sql\n"
    "- my_max_size max_size_limit my_max_size\n"
    f"- {MUCH} max_size is named\n"
    "- src/app.py.bak src/app.py.bak\n"
    f"- {MUCH} src/app.py is named\n"
    "- getUser getUser getUser\n"
    f"- {MUCH} getUsers is named\n"
    "- request id x, x request, id\n"
    f"- {MUCH} X-Request-ID is named\n"
    "- dry run dry run\n"
    f"- {MUCH} --dry-run is named\n"
    "- 192 168 0 17 17 168\n"
    f"- {MUCH} 192.168.0.17 is named\n"
    "- 日本語 日本語 日本語\n"
    f"- {MUCH} #日本語\n"
    "- 服务器 周二 二部 部署 周二 二部 部署\n"
    f"- {MUCH}周二部署完成\n"
    "- version 3.2.1, 1 of 2 or 3\n"
    f"- {MUCH} version 1.2.3 is named\n"
    "- vitamin C c c c\n"
    f"- {MUCH} I like C++\n"
    f"- {MUCH} I like C#\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("#db", "#db"), ("max_size", "max_size is"), ("src/app.py", "src/app.py is"),
        ("getUsers", "getUsers"), ("where is getUsers called", "getUsers"),
        ("X-Request-ID", "X-Request-ID"), ("--dry-run", "--dry-run"), ("192.168.0.17", "192.168."),
        ("#日本語", "#日本語"), ('"周二部署"', "周二部署完成"),
        ('"周二部署" 服务器', "周二部署完成"),
        ("1.2.3", "1.2.3"), ("version 1.2.3", "1.2.3"), ("C++", "C++"), ('"C++"', "C++"),
        ("C#", "C#"), ("vitamin C#", "C#"),
    ],
)  # fmt: skip
def test_exact_is_the_whole_of_it(question: str, said: str, searched: Searched) -> None:
    """Not a part of something longer, not its words scattered, not another form of it."""
    brain = searched({"40_Brain/MEMORY.md": FACTS, **OTHERS})
    first = brain.search(question).results[0]
    assert first.row.text.startswith(MUCH)
    assert said in first.row.text + first.row.tags
    assert first.exact == 1


def test_exact_comes_first_of_very_many(searched: Searched) -> None:
    lines = "".join(f"- getUser number {n}\n" for n in range(300))
    brain = searched({"40_Brain/MEMORY.md": f"{lines}- {MUCH * 3} getUsers\n"})
    assert "getUsers" in brain.search("getUsers", limit=1).results[0].row.text


def test_a_nested_tag_is_found_behind(searched: Searched) -> None:
    brain = searched({"40_Brain/MEMORY.md": FACTS, **OTHERS})
    tags = [hit.row.tags.strip() for hit in brain.search("#db").results]
    assert tags[0] == "db"
    assert "db/sql" in tags


@pytest.mark.parametrize(
    "question", ["m-00000002", "^m-00000002", "[id:m-00000002]", "[[MEMORY#^m-00000002]]",
                 "what is m-00000002 about?"],
)  # fmt: skip
def test_an_id_finds_its_entry_first(question: str, searched: Searched) -> None:
    lines = (
        "- the id of m-00000002 is m-00000002 [[#^m-00000002]] ^m-00000001\n"
        "- tusks ^m-00000002\n"
        "- whiskers [supersedes:: [[#^m-00000004]]] ^m-00000003\n"
        "- clams ^m-00000004\n"
    )
    brain = searched({"40_Brain/MEMORY.md": lines})
    refs = [hit.row.ref for hit in brain.search(question).results]
    assert refs[:2] == ["m-00000002", "m-00000001"]
    instead = brain.search(question.replace("2", "4")).results  # of what is superseded
    assert instead[0].row.ref == "m-00000003"
    assert brain.search(question, scopes=["tasks"]).results == []


def test_a_quoted_text_that_stands_nowhere_is_words(searched: Searched) -> None:
    """And the answer says so."""
    brain = searched()
    for question in ('"file one"', "\u201cxylophone tusks\u201d", '"京水族"'):
        answer = brain.search(question)
        assert answer.results
        assert answer.notes == (
            "No results for the text in quotes. Showing results for its words.",
        )
    for question in ('"one file"', "file one", '"xylophone qqq"'):
        assert brain.search(question).notes == ()
    assert brain.search('"one fil"').notes == (BEGINNINGS,)
    assert brain.search('"file one"', tags=["animals"]).notes == ()


def test_what_is_written_so_comes_first(searched: Searched) -> None:
    filler = {f"{n}.md": f"filler {n}\n" for n in range(9)}
    brain = searched(filler | {
        "a.md": "case by case the snake\n", "b.md": "call snake_case here\n",
        "c.md": "a note about sea animals\n", "d.md": "tagged #animals/sea\n",
        "Sea/Walrus.md": "see there\n", "e.md": "the walrus of the sea\n",
    })  # fmt: skip
    assert kit.found(brain, "snake_case") == ["b.md", "a.md"]
    assert kit.found(brain, "#animals/sea")[0] == "d.md"
    if brain.vault.index.fts == "fts5":  # FTS4 does not weigh columns
        assert kit.found(brain, "Sea/Walrus.md")[0] == "Sea/Walrus.md"
