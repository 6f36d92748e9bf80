"""`brain alias` and `brain budget` change one line of brain.yaml."""

from __future__ import annotations

import os

import pytest

from brain import access
from brain.access import PERSON
from brain.api import Brain
from brain.config import Config
from brain.errors import BadRequest, Denied, NotFound, Refused, StaleFile
from brain.recall.aliases import expand
from brain.verbs import aliasing
from tests import kit
from tests.journal.kit import records
from tests.verbs.conftest import Made, note

YAML = "40_Brain/brain.yaml"
TEXT = "# Ours.\ntopK: 9  # less\n\naliases:\n  - a=b  # why\n"


@pytest.fixture
def tuned(made: Made) -> Brain:
    return made({**kit.VAULT, YAML: TEXT})


def stands_for(brain: Brain, word: str) -> tuple[str, ...]:
    return expand(brain.vault.config).get(word, ())


def test_an_alias_is_a_line_more(tuned: Brain) -> None:
    shape = aliasing.add(tuned.vault, "Auth", ["SSO", "sign-in"], PERSON)
    assert note(tuned, YAML) == TEXT + '  - "auth=sso, sign-in"\n'
    assert shape["state"] == "written"
    assert stands_for(tuned, "sso") == ("auth", "sign-in")
    assert tuned.vault.config.topK == 9


def test_what_a_person_wrote_beside_it_stays_as_it_is(made: Made) -> None:
    text = 'aliases:\n  - "anna=anna@zoo.example"\n'
    brain = made({**kit.VAULT, YAML: text})
    aliasing.add(brain.vault, "walrus", ["tusker"], PERSON)
    assert note(brain, YAML) == text + '  - "walrus=tusker"\n'
    aliasing.remove(brain.vault, "anna", [], PERSON)
    assert "anna" not in note(brain, YAML)
    brain.undo()
    brain.undo()
    assert note(brain, YAML) == text


def test_more_words_join_those_there_are(tuned: Brain) -> None:
    shape = aliasing.add(tuned.vault, "a", ["c"], PERSON)
    assert note(tuned, YAML) == TEXT.replace("- a=b", '- "a=b, c"')
    assert shape["stands_for"] == ["b", "c"]


def test_what_is_known_changes_nothing(tuned: Brain) -> None:
    assert aliasing.add(tuned.vault, "db", ["database"], PERSON)["outcome"] == "unchanged"
    assert aliasing.add(tuned.vault, "b", ["a"], PERSON)["event"] is None
    assert note(tuned, YAML) == TEXT


def test_the_last_one_takes_the_setting_with_it(tuned: Brain) -> None:
    shape = aliasing.remove(tuned.vault, "a", [], PERSON)
    assert note(tuned, YAML) == "# Ours.\ntopK: 9  # less\n\n"
    assert (shape["value"], shape["stands_for"]) == ([], [])


def test_it_can_be_removed_from_either_side(tuned: Brain) -> None:
    aliasing.remove(tuned.vault, "b", ["a"], PERSON)
    assert tuned.vault.config.aliases == ()


def test_what_is_built_in_is_switched_off(tuned: Brain) -> None:
    aliasing.remove(tuned.vault, "db", [], PERSON)
    assert tuned.vault.config.aliases == ("a=b", "db=")
    assert stands_for(tuned, "database") == ()


def test_one_of_several_built_in_goes_and_the_others_stay(tuned: Brain) -> None:
    aliasing.add(tuned.vault, "auth", ["sso"], PERSON)
    aliasing.remove(tuned.vault, "auth", ["login"], PERSON)
    assert set(stands_for(tuned, "auth")) == {"sso", "authentication", "authorization"}


def test_what_is_no_alias_cannot_be_removed(tuned: Brain) -> None:
    for word, others in (("walrus", []), ("a", ["c"]), ("a", ["b", "c"])):
        with pytest.raises(NotFound, match="is no alias"):
            aliasing.remove(tuned.vault, word, others, PERSON)


def test_a_pair_in_the_entry_of_another_word_is_named(made: Made) -> None:
    brain = made({**kit.VAULT, YAML: "aliases: ['x=y, z']\n"})
    with pytest.raises(BadRequest, match="'y' and 'z' stand together in the alias of another"):
        aliasing.remove(brain.vault, "y", ["z"], PERSON)


@pytest.mark.parametrize("words", [("a=b", "c"), ("a", "b,c"), ("", "b"), ("a", " "), ("a", "A")])
def test_what_is_no_word_is_refused(tuned: Brain, words: tuple[str, str]) -> None:
    with pytest.raises(BadRequest):
        aliasing.add(tuned.vault, words[0], [words[1]], PERSON)
    assert note(tuned, YAML) == TEXT


def test_a_search_goes_by_it(tuned: Brain) -> None:
    aliasing.add(tuned.vault, "odobenus", ["walrus"], PERSON)
    assert aliasing.listed(tuned.vault)["aliases"]["odobenus"] == ["walrus"]
    assert aliasing.listed(tuned.vault)["own"] == ["a=b", "odobenus=walrus"]


def test_a_ceiling_is_kept_to(tuned: Brain) -> None:
    assert aliasing.allocations(tuned.vault)[0]["total"] == 5000
    aliasing.limit(tuned.vault, 700, PERSON)
    assert note(tuned, YAML) == TEXT + "budgetCeiling: 700\n"
    assert aliasing.allocations(tuned.vault)[0]["total"] == 700
    with pytest.raises(BadRequest, match="at least 1"):
        aliasing.limit(tuned.vault, 0, PERSON)


def test_a_vault_without_settings_gets_them(brain: Brain) -> None:
    aliasing.limit(brain.vault, 700, PERSON)
    assert note(brain, YAML) == "budgetCeiling: 700\n"


def test_an_agent_that_is_not_the_admin_may_not(tuned: Brain) -> None:
    with pytest.raises(Denied, match="zoo may not write"):
        aliasing.limit(tuned.vault, 700, access.resolve(tuned.vault, "zoo"))
    assert note(tuned, YAML) == TEXT
    assert (
        aliasing.limit(tuned.vault, 700, access.resolve(tuned.vault, "admin"))["state"] == "written"
    )


def test_what_somebody_else_set_meanwhile_stays(tuned: Brain) -> None:
    text = TEXT.replace("a=b", "x=y")
    (tuned.vault.paths.root / YAML).write_text(text, encoding="utf-8")
    with pytest.raises(StaleFile, match="aliases was changed since"):
        aliasing.add(tuned.vault, "a", ["c"], PERSON)
    assert note(tuned, YAML) == text


def test_a_file_that_cannot_be_edited_is_left_alone(made: Made) -> None:
    brain = made({**kit.VAULT, YAML: "{topK: 3}\n"})
    with pytest.raises(Refused, match="braces"):
        aliasing.limit(brain.vault, 700, PERSON)
    assert note(brain, YAML) == "{topK: 3}\n"


def test_it_is_on_record_and_can_be_undone(tuned: Brain) -> None:
    event = aliasing.limit(tuned.vault, 700, PERSON)["event"]
    (record,) = [record for record in records(tuned.vault.journal) if record.id == event]
    assert (record.op, record.ref, record.path) == ("configure", "budgetCeiling", YAML)
    shape = tuned.undo()
    assert (shape["id"], shape["undid"], shape["of"]) == ("budgetCeiling", "configure", event)
    assert note(tuned, YAML) == TEXT
    assert tuned.vault.config == Config(topK=9, aliases=("a=b",))
    with pytest.raises(NotFound, match="nothing to undo"):
        tuned.undo()


def test_an_alias_is_undone_to_the_letter(tuned: Brain) -> None:
    aliasing.add(tuned.vault, "a", ["c"], PERSON)
    aliasing.add(tuned.vault, "x", ["y"], PERSON)
    tuned.undo()
    assert tuned.vault.config.aliases == ("a=b, c",)
    tuned.undo()
    assert note(tuned, YAML) == TEXT
    aliasing.remove(tuned.vault, "a", [], PERSON)
    tuned.undo()
    assert tuned.vault.config.aliases == ("a=b",)


def test_a_setting_that_somebody_went_on_with_stays(tuned: Brain) -> None:
    aliasing.limit(tuned.vault, 700, PERSON)
    text = note(tuned, YAML).replace("700", "900")
    (tuned.vault.paths.root / YAML).write_text(text, encoding="utf-8")
    with pytest.raises(StaleFile, match="-budgetCeiling: 900"):
        tuned.undo()
    assert note(tuned, YAML) == text
    os.utime(tuned.vault.paths.root / YAML, (0, 0))  # nobody is typing in it
    tuned.undo(force=True)
    assert note(tuned, YAML) == TEXT


def test_what_an_agent_set_is_reverted_with_the_rest(tuned: Brain) -> None:
    aliasing.limit(tuned.vault, 700, access.resolve(tuned.vault, "admin"))
    told = tuned.revert("admin", "1h")
    assert [shape["id"] for shape in told["undone"]] == ["budgetCeiling"]
    assert note(tuned, YAML) == TEXT
