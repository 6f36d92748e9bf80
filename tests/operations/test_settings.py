"""`brain alias` and `brain budget` change one line of brain.yaml."""

from __future__ import annotations

import os

import pytest

from brain.api import Brain
from brain.config import Config
from brain.errors import BadRequest, Denied, NotFound, Refused, StaleFile
from brain.search.question import own_aliases
from tests import kit
from tests.journal.kit import records
from tests.operations.conftest import Made, note

YAML = "40_Brain/brain.yaml"
TEXT = "# Ours.\nvaultId: v-000000000000\ntopK: 9  # less\n\naliases:\n  - a=b  # why\n"


@pytest.fixture
def tuned(made: Made) -> Brain:
    return made({**kit.VAULT, YAML: TEXT})


def stands_for(brain: Brain, word: str) -> tuple[str, ...]:
    return own_aliases(brain.vault.config.aliases).get(word, ())


def test_an_alias_is_a_line_more(tuned: Brain) -> None:
    shape = tuned.alias_add("Auth", ["SSO", "sign-in"])
    assert note(tuned, YAML) == TEXT + '  - "auth=sso, sign-in"\n'
    assert shape.state == "written"
    assert stands_for(tuned, "sso") == ("auth", "sign-in")
    assert tuned.vault.config.topK == 9


def test_what_a_person_wrote_beside_it_stays_as_it_is(made: Made) -> None:
    text = 'vaultId: v-000000000000\naliases:\n  - "anna=anna@zoo.example"\n'
    brain = made({**kit.VAULT, YAML: text})
    brain.alias_add("walrus", ["tusker"])
    assert note(brain, YAML) == text + '  - "walrus=tusker"\n'
    brain.alias_remove("anna", [])
    assert "anna" not in note(brain, YAML)
    brain.undo()
    brain.undo()
    assert note(brain, YAML) == text


def test_more_words_join_those_there_are(tuned: Brain) -> None:
    shape = tuned.alias_add("a", ["c"])
    assert note(tuned, YAML) == TEXT.replace("- a=b", '- "a=b, c"')
    assert shape.stands_for == ["b", "c"]


def test_what_is_known_changes_nothing(tuned: Brain) -> None:
    assert tuned.alias_add("a", ["b"]).outcome == "unchanged"
    assert tuned.alias_add("b", ["a"]).event is None
    assert note(tuned, YAML) == TEXT


def test_the_last_one_takes_the_setting_with_it(tuned: Brain) -> None:
    shape = tuned.alias_remove("a", [])
    assert note(tuned, YAML) == "# Ours.\nvaultId: v-000000000000\ntopK: 9  # less\n\n"
    assert (shape.value, shape.stands_for) == ([], [])


def test_it_can_be_removed_from_either_side(tuned: Brain) -> None:
    tuned.alias_remove("b", ["a"])
    assert tuned.vault.config.aliases == ()


def test_one_of_several_goes_and_the_others_stay(tuned: Brain) -> None:
    tuned.alias_add("auth", ["sso", "login"])
    tuned.alias_remove("auth", ["login"])
    assert stands_for(tuned, "auth") == ("sso",)
    tuned.alias_remove("auth", [])
    assert stands_for(tuned, "auth") == ()


def test_what_is_no_alias_cannot_be_removed(tuned: Brain) -> None:
    for word, others in (("walrus", []), ("a", ["c"]), ("a", ["b", "c"])):
        with pytest.raises(NotFound, match="is not an alias"):
            tuned.alias_remove(word, others)


def test_a_pair_in_the_entry_of_another_word_is_named(made: Made) -> None:
    brain = made({**kit.VAULT, YAML: "aliases: ['x=y, z']\n"})
    with pytest.raises(BadRequest, match="'y' and 'z' are in one alias of another"):
        brain.alias_remove("y", ["z"])


@pytest.mark.parametrize("words", [("a=b", "c"), ("a", "b,c"), ("", "b"), ("a", " "), ("a", "A")])
def test_what_is_no_word_is_refused(tuned: Brain, words: tuple[str, str]) -> None:
    with pytest.raises(BadRequest):
        tuned.alias_add(words[0], [words[1]])
    assert note(tuned, YAML) == TEXT


def test_a_search_goes_by_it(tuned: Brain) -> None:
    tuned.alias_add("odobenus", ["walrus"])
    assert tuned.alias_list().aliases["odobenus"] == ["walrus"]
    assert tuned.alias_list().own == ["a=b", "odobenus=walrus"]


def test_a_ceiling_is_kept_to(tuned: Brain) -> None:
    assert tuned.budget().allocations[0]["total"] == 5000
    tuned.budget(700)
    assert note(tuned, YAML) == TEXT + "budgetCeiling: 700\n"
    assert tuned.budget().allocations[0]["total"] == 700
    with pytest.raises(BadRequest, match="at least 1"):
        tuned.budget(0)


def test_a_vault_without_settings_gets_them(brain: Brain) -> None:
    brain.budget(700)
    id = brain.vault.paths.id
    assert note(brain, YAML) == f'vaultId: "{id}"\nbudgetCeiling: 700\n'


def test_an_agent_that_is_not_the_admin_may_not(tuned: Brain) -> None:
    with pytest.raises(Denied, match=r"zoo may not write this\. Ask the admin agent"):
        tuned.budget(700, by="zoo")
    assert note(tuned, YAML) == TEXT
    assert tuned.budget(700, by="admin").change.state == "written"


def test_what_somebody_else_set_meanwhile_stays(tuned: Brain) -> None:
    text = TEXT.replace("a=b", "x=y")
    (tuned.vault.paths.root / YAML).write_text(text, encoding="utf-8")
    with pytest.raises(StaleFile, match="aliases has changed since"):
        tuned.alias_add("a", ["c"])
    assert note(tuned, YAML) == text


def test_a_file_that_cannot_be_edited_is_left_alone(made: Made) -> None:
    brain = made({**kit.VAULT, YAML: "{topK: 3}\n"})
    with pytest.raises(Refused, match="braces"):
        brain.budget(700)
    assert note(brain, YAML) == "{topK: 3}\n"


def test_it_is_on_record_and_can_be_undone(tuned: Brain) -> None:
    event = tuned.budget(700).change.event
    (record,) = [record for record in records(tuned.vault.journal) if record.id == event]
    assert (record.op, record.ref, record.path) == ("config", "budgetCeiling", YAML)
    shape = tuned.undo()
    assert (shape.id, shape.undid, shape.of) == ("budgetCeiling", "config", event)
    assert note(tuned, YAML) == TEXT
    assert tuned.vault.config == Config("v-000000000000", topK=9, aliases=("a=b",))
    with pytest.raises(NotFound, match="nothing to undo"):
        tuned.undo()


def test_an_alias_is_undone_to_the_letter(tuned: Brain) -> None:
    tuned.alias_add("a", ["c"])
    tuned.alias_add("x", ["y"])
    tuned.undo()
    assert tuned.vault.config.aliases == ("a=b, c",)
    tuned.undo()
    assert note(tuned, YAML) == TEXT
    tuned.alias_remove("a", [])
    tuned.undo()
    assert tuned.vault.config.aliases == ("a=b",)


def test_a_setting_that_somebody_went_on_with_stays(tuned: Brain) -> None:
    tuned.budget(700)
    text = note(tuned, YAML).replace("700", "900")
    (tuned.vault.paths.root / YAML).write_text(text, encoding="utf-8")
    with pytest.raises(StaleFile, match="-budgetCeiling: 900"):
        tuned.undo()
    assert note(tuned, YAML) == text
    os.utime(tuned.vault.paths.root / YAML, (0, 0))  # nobody is typing in it
    tuned.undo(force=True)
    assert note(tuned, YAML) == TEXT


def test_what_an_agent_set_is_reverted_with_the_rest(tuned: Brain) -> None:
    tuned.budget(700, by="admin")
    told = tuned.revert("admin", "1h")
    assert [shape.id for shape in told.undone] == ["budgetCeiling"]
    assert note(tuned, YAML) == TEXT
