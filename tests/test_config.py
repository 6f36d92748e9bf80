"""brain.yaml: every setting, every kind of mistake."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain import config
from brain.config import Config
from brain.errors import BadConfig
from brain.formats.brain_yaml import parse


def uncommented() -> str:
    """The template as if every setting in it were set."""
    lines = config.template().split("\n")
    return "\n".join(
        line[2:] if line[2:].partition(":")[0] in config.SETTINGS else line for line in lines
    )


def test_the_template_is_all_comments() -> None:
    lines = config.template().split("\n")
    assert all(not line or line.startswith("#") for line in lines)
    assert parse(config.template()) == (Config(), [])


def test_the_template_sets_every_setting_to_its_default() -> None:
    assert parse(uncommented()) == (Config(), [])
    for name in config.SETTINGS:
        assert f"\n{name}: " in uncommented()


def test_every_setting_says_what_it_is_for() -> None:
    assert all(spec.meaning.endswith(".") for spec in config.SETTINGS.values())


OTHER = {
    "vaultId": "v-000000000000",
    "include": ("Notes/**/*.md", 'a "quoted" one', "back\\slash", "#hash", "ünï", "a: b"),
    "exclude": ("*.excalidraw.md",),
    "sections": ("decision=Choices made",),
    "memoryPath": "<agent>/Notes/what I know.md",
    "sessionsPath": "<agent>/talks/",
    "sessionSync": "end",
    "projects": ("garden=~/code/garden",),
    "dbPath": "~/some where/brain.db",
    "searchProvider": "hybrid",
    "aliases": ("auth=login, sign-in",),
    "vectorModel": "command: embed --json",
    "tokenizer": "tiktoken:o200k_base",
}


@pytest.mark.parametrize("name", config.SETTINGS)
def test_another_value_survives_being_written_and_read(name: str) -> None:
    default = config.default(name)
    value = OTHER.get(name) or (not default if isinstance(default, bool) else default + 1)
    got, problems = parse(f"{name}: {config.to_yaml(value)}\n")
    assert (getattr(got, name), problems) == (value, [])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), max_size=3))
def test_any_glob_survives_being_written_and_read(globs: list[str]) -> None:
    got, _ = parse(f"exclude: {config.to_yaml(tuple(globs))}\n")
    assert got.exclude == tuple(globs)


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# only this\n", "---\n", "---\n# x\n", "~\n", "searchLimit:\n", "include: null\n"],
)
def test_what_is_not_said_is_the_default(text: str) -> None:
    assert parse(text) == (Config(), [])


def test_projects_are_a_block_of_names_and_paths() -> None:
    for text in ("projects:\n  a: ~/x\n  b: /y z\n", "projects: {a: ~/x, b: /y z}\n"):
        assert parse(text)[0].projects == ("a=~/x", "b=/y z")
    for wrong in ("projects: {a: [x]}\n", "projects: {a: }\n", "projects: [a]\n", "projects: x\n"):
        with pytest.raises(BadConfig, match="projects must be"):
            parse(wrong)


def test_a_nested_memory_block_counts_as_flat() -> None:
    got, problems = parse("memory:\n  searchLimit: 3\n  wat: 1\nexclude: Private\n")
    assert (got.searchLimit, got.exclude) == (3, ("Private",))
    assert [(p.line, p.code) for p in problems] == [(3, "unknown-setting")]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("serchLimit: 3\n", 1, "unknown setting 'serchLimit'. Did you mean 'searchLimit'?"),
        ("\nexcludes: [a]\n", 2, "unknown setting 'excludes'. Did you mean 'exclude'?"),
        ("zzz: 1\n", 1, "unknown setting 'zzz'. See `brain config` for all settings."),
        ("searchLimit: 3\nsearchLimit: 4\n", 2, "sets searchLimit a second time"),
        ("? [a]\n: b\n", 1, "unknown setting "),
    ],
)
def test_a_warning_names_the_line(text: str, line: int, words: str) -> None:
    _, (problem,) = parse(text)
    assert problem.line == line
    assert problem.message.startswith(words)


def test_the_last_of_two_holds() -> None:
    assert parse("searchLimit: 3\nsearchLimit: 4\n")[0].searchLimit == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "a: 1\nsearchLimit: many\n",
            "line 2: searchLimit must be a whole number above 0, not 'many'",
        ),
        ("searchLimit: 0\n", "line 1: searchLimit must be a whole number above 0, not '0'"),
        ("topK: -1\n", "line 1: topK must be a whole number above 0, not '-1'"),
        ("topK: 1.5\n", "line 1: topK must be a whole number"),
        ("textWeight: nan\n", "line 1: textWeight must be a number of 0 or more, not 'nan'"),
        ("textWeight: inf\n", "line 1: textWeight must be a number"),
        ("textWeight: -2\n", "line 1: textWeight must be a number of 0 or more, not '-2'"),
        ("useGitignore: maybe\n", "line 1: useGitignore must be true or false, not 'maybe'"),
        ("useGitignore: [true]\n", "line 1: useGitignore must be true or false"),
        ("dbPath: {a: b}\n", "line 1: dbPath must be a word"),
        ("exclude: [a, [b]]\n", "line 1: exclude must be a list of words"),
        ("exclude: {a: b}\n", "line 1: exclude must be a list of words"),
        ("searchProvider: x\n", "line 1: searchProvider must be one of fts5, hybrid, not 'x'"),
        ("\n\nexclude: *.md\n", "line 3 is not YAML: "),
        ("\n\nexclude: *md\n", "line 3 is not YAML: "),
        ("exclude: [a\nb: c\n", "line 2 is not YAML: "),
        ("a: b: c\n", "line 1 is not YAML: "),
        ("just words\n", "line 1 must be a `key: value` line"),
        ("- a\n- b\n", "line 1 must be a `key: value` line"),
        ("a: 1\n# \x00\n", "line 2 is not YAML: special characters are not allowed"),
        ("exclude: " + "[" * 2_000, "is nested too deeply"),
        ("exclude: " + "[" * 100_000, "is over 64,000 characters"),
        ("exclude: &x [*x]\n", "line 1: exclude must be a list of words"),
        ("# c\n\nsearchLimit 3\n", "line 3 must be a `key: value` line"),
        ("# c\n\n- a\n", "line 3 must be a `key: value` line"),
        ("searchLimit: 3\nfoo\n", "line 2 is not YAML: "),
        ("searchLimit: 3\nfoo", "line 2 is not YAML: "),
        ("searchLimit: 3\nexclude: [a,\n", "line 2 is not YAML: "),
        ("tokenizer: foo\n", "line 1: tokenizer must be `estimate`, `tiktoken:"),
        ("tokenizer: 'tiktoken:'\n", "line 1: tokenizer must be `estimate`, `tiktoken:"),
        (
            "\naliases: [auth]\n",
            "line 2: aliases must be words as `auth=login, sign-in`, not 'auth'",
        ),
        ("aliases:\n  - a=b\n  - auth\n", "line 3: aliases must be words as"),
        ("aliases: ['=login']\n", "line 1: aliases must be words as"),
        ("sections: [decision]\n", "line 1: sections must be a kind and a heading, as `decision="),
        ("sections: [foo=Bar]\n", "line 1: sections must be a kind and a heading, as `decision="),
        ("sections: ['decision= ']\n", "line 1: sections must be a kind and a heading, as"),
    ],
)
def test_a_mistake_stops_with_its_line(text: str, words: str) -> None:
    with pytest.raises(BadConfig) as caught:
        parse(text)
    assert str(caught.value).startswith(f"brain.yaml {words}")
    assert caught.value.remedy
    assert caught.value.exit_code == 6


def test_a_word_without_others_and_a_kind_in_capitals_fit() -> None:
    got, problems = parse("aliases: ['auth=']\nsections: ['Decision = Choices made']\n")
    assert (got.aliases, got.sections) == (("auth=",), ("Decision = Choices made",))
    assert problems == []


@pytest.mark.parametrize("word", ["true", "True", "yes", "on", "ON"])
def test_yes_in_many_words(word: str) -> None:
    assert parse(f"useGitignore: {word}")[0].useGitignore is True
    no = {"true": "false", "yes": "no", "on": "off"}[word.lower()]
    assert parse(f"useGitignore: {no}")[0].useGitignore is False


def test_comments_may_say_what_they_like() -> None:
    got, problems = parse("# *all* of [ these { &x *y\nsearchLimit: 3  # three\n")
    assert (got.searchLimit, problems) == (3, [])


@given(st.text())
def test_no_text_does_more_than_stop(text: str) -> None:
    with suppress(BadConfig):
        assert isinstance(parse(text)[0], Config)


@pytest.mark.parametrize("id", ["v-4jk2q8xw1z00", "v-1", "v-0x10", "v-1e5"])
def test_an_id_alone_reads_as_with_other_settings(id: str) -> None:
    alone, _ = parse(f"# a comment\n\nvaultId: {id}\n# searchLimit: 5\n")
    others, _ = parse(f"vaultId: {id}\nsearchLimit: 10\n")
    assert alone == others == Config(vaultId=id)
