"""From memories to those that are tied to them: the numbers, and what nobody may see."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.api import Brain
from brain.config import Config
from brain.context.recall import recall
from brain.context.scoring import Request
from brain.graph import edges
from brain.graph.cascade import MAX_DIRECT, MAX_STEPS, Reached, cascade
from brain.index import relations
from brain.journal.reader import update_index
from brain.operations import lookup
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.journal.kit import put

MEMORY = "40_Brain/MEMORY.md"
A, B, C, D, E = (f"m-{letter * 8}" for letter in "abcde")


def lay(vault: MakeVault, opened: OpenBrain, *lines: str, **files: str) -> Brain:
    """A brain whose admin remembers these lines; `files` by path, with `__` for `/`."""
    others = {f"{path.replace('__', '/')}.md": text for path, text in files.items()}
    brain = opened(vault({MEMORY: "".join(f"- {line}\n" for line in lines), **others}))
    brain.sync()
    return brain


def reached(brain: Brain, *seeds: str, **wanted: object) -> dict[str, Reached]:
    owners = wanted.pop("owners", None)
    config = Config(**wanted)  # type: ignore[arg-type]
    found = cascade(brain.vault.index, dict.fromkeys(seeds, 1.0), owners, config)  # type: ignore[arg-type]
    for one in found.values():
        assert one.seed in seeds
        assert one.score == pytest.approx(math.prod(w * decay for w, decay in one.steps))
    return plain(found)


def plain(found: dict[str, Reached]) -> dict[str, Reached]:
    return {ref: one._replace(seed="", steps=()) for ref, one in found.items()}


# -- the numbers ---------------------------------------------------------------------------------


def test_a_direct_tie_is_one_step(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(
        vault, opened,
        f"one [relates_to:: [[#^{B}]]] ^{A}",
        f"two ^{B}",
        f"three [derived_from:: [[#^{A}]]] ^{C}",
        f"four [[#^{A}]] ^{D}",
        f"five [contradicts:: [[#^{A}]]] ^{E}",
    )  # fmt: skip
    assert reached(brain, A) == {
        A: Reached(1.0, ""),
        B: Reached(pytest.approx(0.5 * 0.7), f"related to {A}"),
        C: Reached(pytest.approx(0.3 * 0.7), f"derived from {A}"),
        D: Reached(pytest.approx(0.5 * 0.7), f"links to {A}"),
        E: Reached(pytest.approx(0.3 * 0.7), f"contradicts {A}"),
    }
    assert reached(brain, C)[A] == Reached(pytest.approx(0.3 * 0.7), f"source of {C}")
    assert reached(brain, D)[A].via == f"linked from {D}"


def test_a_second_step_is_the_first_times_the_second(vault: MakeVault, opened: OpenBrain) -> None:
    lines = [f"step [[#^{to}]] ^{of}" for of, to in ((A, B), (B, C), (C, D))]
    brain = lay(vault, opened, *lines, f"end ^{D}")
    found = reached(brain, A)
    assert found[C] == Reached(pytest.approx(0.5 * 0.7 * 0.5 * 0.7**2), f"linked from {B}")
    assert D not in found
    third = 0.5 * 0.7 * 0.5 * 0.7**2 * 0.5 * 0.7**3
    assert reached(brain, A, cascadeDepth=3)[D] == Reached(pytest.approx(third), f"linked from {C}")


def test_a_common_tag_is_two_steps(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(
        vault, opened, f"one #DB #Ärger ^{A}", f"two #db ^{B}", f"three #ärger ^{C}", "four #x"
    )
    found = reached(brain, A)
    assert set(found) == {A, B, C}
    assert found[B] == Reached(pytest.approx(0.8 * 0.7 * 0.8 * 0.7**2), f"tag #db of {A}")
    assert found[C].via == f"tag #ärger of {A}"
    assert set(reached(brain, B)) == {A, B}
    assert set(reached(brain, C)) == {A, C}
    assert set(reached(brain, A, cascadeDepth=1)) == {A}


def test_kind_and_status_are_no_topics(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(
        vault,
        opened,
        f"one #pinned #decision ^{A}",
        "two #pinned #decision",
        "three #task-progress",
    )
    assert set(reached(brain, A)) == {A}


def test_a_note_that_both_name_is_two_steps(vault: MakeVault, opened: OpenBrain) -> None:
    """However it is spelled, whether it is there or not."""
    brain = lay(
        vault, opened,
        f"one [[Notes/Walrus]] [[Nowhere]] ^{A}", f"two ![[walrus#Tusks]] ^{B}",
        f"three [[nowhere]] ^{C}",
        f"four [see](Notes/Walrus.md) ^{D}", f"five [[Walrus cubs]] ^{E}",
        Notes__Walrus="Tusks\n",
    )  # fmt: skip
    found = reached(brain, A)
    assert set(found) == {A, B, C, D}
    assert found[B] == Reached(pytest.approx(0.5 * 0.7 * 0.5 * 0.7**2), f"note walrus of {A}")
    assert set(reached(brain, B)) == {A, B, D}


def test_a_short_name_that_may_mean_two_notes_means_neither(
    vault: MakeVault, opened: OpenBrain
) -> None:
    brain = lay(vault, opened, f"one [[a/Log]] ^{A}", f"two [[b/Log]] ^{B}", f"three [[Log]] ^{C}")
    assert [set(reached(brain, ref)) for ref in (A, B, C)] == [{A}, {B}, {C}]


def test_a_short_name_means_the_note_that_is_there(vault: MakeVault, opened: OpenBrain) -> None:
    """The least deep of several, as in the picture."""
    brain = lay(
        vault, opened, f"one [[a/Log]] ^{A}", f"two [[b/c/Log]] ^{B}", f"three [[log]] ^{C}",
        a__Log="x\n", b__c__Log="x\n",
    )  # fmt: skip
    assert [set(reached(brain, ref)) for ref in (A, B, C)] == [{A, C}, {B}, {A, C}]


def test_a_note_that_names_both_is_two_steps(vault: MakeVault, opened: OpenBrain) -> None:
    day = f"Read [[40_Brain/MEMORY#^{A}]] again.\n\nAnd [[40_Brain/MEMORY#^{B}|that]].\n"
    brain = lay(
        vault, opened, f"one ^{A}", f"two ^{B}", f"three [[Day]] ^{C}", f"four ^{D}", Days__Day=day
    )
    assert set(reached(brain, A)) == {A, B, C}


def test_items_are_reached_and_seed(vault: MakeVault, opened: OpenBrain) -> None:
    items = '[{"id": "item_1", "content": "x", "sourceFile": "Notes/Walrus.md", "tags": ["sea"]},'
    items += '{"id": "#sea", "content": "an odd name", "tags": ["sea"]}]'
    brain = opened(
        vault({MEMORY: f"- one [[Walrus]] ^{A}\n", "40_Brain/projects/zoo/items.json": items})
    )
    brain.sync()
    assert reached(brain, A)["item_1"].score == pytest.approx(0.5 * 0.7 * 0.3 * 0.7**2)
    assert reached(brain, "item_1")[A].score == pytest.approx(0.3 * 0.7 * 0.5 * 0.7**2)


def test_the_highest_score_is_kept(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(vault, opened, f"one #x ^{A}", f"two #x [[#^{C}]] ^{B}", f"three #x ^{C}")
    seeds = {A: 9.0, B: 1.0, "m-gone": 5.0}
    found = plain(cascade(brain.vault.index, seeds, None, Config()))
    by_tag = 9 * 0.8 * 0.7 * 0.8 * 0.7**2
    assert found == {
        A: Reached(9.0, ""),
        B: Reached(pytest.approx(by_tag), f"tag #x of {A}"),  # more than it had by itself
        C: Reached(pytest.approx(by_tag), f"tag #x of {A}"),  # more than by the link
    }


def test_a_cascade_has_an_end(vault: MakeVault, opened: OpenBrain) -> None:
    refs = [f"m-{n:08d}" for n in range(9)]
    lines = [f"step [[#^{to}]] ^{of}" for of, to in pairwise(refs)]
    brain = lay(vault, opened, *lines, f"end ^{refs[-1]}")
    assert len(reached(brain, refs[0], cascadeDepth=100_000)) == 1 + MAX_STEPS


# -- what was learned ----------------------------------------------------------------------------


def learn(brain: Brain, *pairs: tuple[str, str, float]) -> None:
    for one, other, strength in pairs:
        put(brain.vault.journal, "used_together", one, other=other, strength=strength)
    update_index(brain.vault.journal, brain.vault.index)


def test_what_was_used_together_is_tied(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(vault, opened, f"one [[#^{C}]] ^{A}", f"two ^{B}", f"three ^{C}")
    learn(brain, (B, A, 1), (A, C, 2))
    found = reached(brain, A)
    assert found[B] == Reached(pytest.approx(0.5 * 0.7), f"learned with {A}")
    # what was written counts as one time more
    assert found[C] == Reached(pytest.approx((1 - 0.5**3) * 0.7), f"linked from {A}")


@given(st.floats(0.01, 20), st.floats(0.01, 20), st.floats(0.05, 0.95))
def test_more_times_together_are_a_stronger_tie(few: float, more: float, edge: float) -> None:
    low, high = (edges.strengthened("learned", edge, times) for times in sorted((few, more)))
    assert 0 < low <= high <= 1
    assert edges.strengthened("learned", edge, 1.0) == pytest.approx(edge)
    assert edges.strengthened("relates_to", edge, 0) == pytest.approx(edge)
    assert edge < edges.strengthened("relates_to", edge, few)


def test_a_memory_that_had_another_id_is_one(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(vault, opened, f"one #x ^{B}", f"two ^{C}", f"three #x ^{D}")
    put(brain.vault.journal, "alias", B, old=A)
    learn(brain, (A, C, 1), (B, C, 1))
    found = reached(brain, A)
    assert set(found) == {B, C, D}
    assert found[B] == Reached(1.0, "")
    assert found[C] == Reached(pytest.approx(0.75 * 0.7), f"learned with {B}")
    assert reached(brain, C)[B].via == f"learned with {C}"
    assert reached(brain, D)[B].via == f"tag #x of {D}"


def test_a_memory_that_stands_there_twice_goes_by_the_smaller_id(
    vault: MakeVault, opened: OpenBrain
) -> None:
    brain = lay(vault, opened, f"one #x ^{C}", f"again #y ^{B}", f"tied #x ^{D}", f"too #y ^{E}")
    put(brain.vault.journal, "alias", C, old=A)
    put(brain.vault.journal, "alias", B, old=A)
    update_index(brain.vault.journal, brain.vault.index)
    assert reached(brain, D).keys() == {B, D}
    assert reached(brain, C).keys() == {B, D, E}


# -- bounds --------------------------------------------------------------------------------------


def test_what_too_many_share_is_no_way(vault: MakeVault, opened: OpenBrain) -> None:
    def carriers(few: int, many: int) -> int:
        lines = [f"memory {n} {'#x [[X]]' if n < few else ''}" for n in range(many)]
        brain = lay(vault, opened, *lines)
        ref = lookup.find(brain.vault, f"{MEMORY}:1").ref
        return len(reached(brain, ref))

    assert (
        carriers(edges.MIN_SHARED, edges.MIN_SHARED) == edges.MIN_SHARED
    )  # all of them, but they are few
    assert carriers(12, 24) == 12
    assert carriers(13, 24) == 1  # more than half
    assert carriers(edges.MAX_SHARED, 250) == edges.MAX_SHARED
    assert carriers(edges.MAX_SHARED + 1, 250) == 1


def test_of_very_many_links_the_strongest_count(vault: MakeVault, opened: OpenBrain) -> None:
    lines = [f"memory {n} [[#^{A}]] ^m-{n:08}" for n in range(MAX_DIRECT + 20)]
    brain = lay(vault, opened, f"hub ^{A}", *lines)
    learn(brain, ("m-00000119", A, 1))
    found = reached(brain, A, cascadeDepth=1)
    assert len(found) <= MAX_DIRECT + 1
    assert {"m-00000000", "m-00000119"} <= found.keys()


def test_it_asks_a_few_questions_however_much_is_tied(vault: MakeVault, opened: OpenBrain) -> None:
    def questions(many: int) -> int:
        lines = [
            f"memory {n} #t{n % 7} [[N{n % 5}]] [[#^m-{n // 2:08}]] ^m-{n:08}" for n in range(many)
        ]
        brain = lay(vault, opened, *lines)
        asked: list[str] = []
        brain.vault.index.db.set_trace_callback(asked.append)
        found = reached(brain, *(f"m-{n:08}" for n in range(10)))
        brain.vault.index.db.set_trace_callback(None)
        assert len(found) > many // 2
        return len(asked)

    assert questions(150) == questions(20)


def test_without_time_relations_are_not_followed(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(vault, opened, f"walrus [[#^{B}]] ^{A}", f"clam ^{B}")
    for limit, ids in ((60_000, [A, B]), (0, [A])):
        config = Config(maxRetrievalMs=limit)
        found = recall(brain.vault.index, Request(query="walrus"), kit.NOW, config)
        assert [entry.id for entry in found.memories] == ids
        assert found.is_late == (limit == 0)


# -- superseded, contradicted --------------------------------------------------------------------


def test_the_superseded_give_way(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(
        vault, opened,
        f"seed #x ^{A}", f"old #x ^{B}",
        f"newer [supersedes:: [[#^{B}]]] ^{C}", f"newest [supersedes:: [[#^{C}]]] ^{D}",
    )  # fmt: skip
    found = reached(brain, A)
    assert found.keys() == {A, D}
    assert found[D] == Reached(
        pytest.approx(0.8 * 0.7 * 0.8 * 0.7**2), f"supersedes {B}, tag #x of {A}"
    )
    assert reached(brain, B)[D] == Reached(1.0, f"supersedes {B}")
    assert reached(brain, D).keys() == {D}


def test_of_several_that_supersede_the_newest_counts(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(
        vault, opened, f"old ^{A}",
        f"2026-01-01: one [supersedes:: [[#^{A}]]] ^{B}",
        f"2026-01-03: two [supersedes:: [[#^{A}]]] ^{D}",
        f"2026-01-03: three [supersedes:: [[#^{A}]]] ^{C}",
        f"four [supersedes:: [[#^{E}]]] ^{E}",
    )  # fmt: skip
    assert relations.successors(brain.vault.index, [A, B, E, "m-gone"]) == {A: C}


def test_those_that_supersede_each_other_stay(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(
        vault, opened,
        f"one [supersedes:: [[#^{B}]]] ^{A}",
        f"two [supersedes:: [[#^{A}]]] [supersedes:: [[#^{C}]]] ^{B}",
        f"three ^{C}",
    )  # fmt: skip
    assert relations.successors(brain.vault.index, [A, B, C]) == {C: B}
    assert reached(brain, C).keys() == {A, B}


def test_search_hides_what_a_context_replaces(vault: MakeVault, opened: OpenBrain) -> None:
    """Also by a former id, and never a memory of a circle."""
    brain = lay(
        vault, opened,
        f"walrus one [supersedes:: [[#^{C}]]] ^{A}", f"walrus two [supersedes:: [[#^{A}]]] ^{B}",
        f"walrus three [supersedes:: [[#^{B}]]] ^{C}",
        f"walrus four ^{D}", f"walrus five [supersedes:: [[#^m-former00]]] ^{E}",
    )  # fmt: skip
    put(brain.vault.journal, "alias", D, old="m-former00")
    update_index(brain.vault.journal, brain.vault.index)
    assert relations.successors(brain.vault.index, [A, B, C, D, E]) == {D: E}
    assert {hit.row.ref for hit in brain.search("walrus").results} == {A, B, C, E}
    every = brain.search("walrus", superseded=True).results
    assert {hit.row.ref for hit in every} == {A, B, C, D, E}


@given(st.dictionaries(st.integers(0, 7), st.integers(0, 7)))
def test_following_always_ends(newer: dict[int, int]) -> None:
    """At something that is not superseded, or in a circle."""
    chain = {f"m-{old}": f"m-{new}" for old, new in newer.items() if old != new}
    for ref in chain:
        end = relations._last_successor(ref, chain, {})
        around = [ref]
        while around[-1] in chain and around[-1] not in around[:-1]:
            around.append(chain[around[-1]])
        loop = around[around.index(around[-1]) : -1] if around[-1] in chain else []
        assert end == ("" if ref in loop else loop[0] if loop else around[-1])


def test_contradictions_go_in_pairs(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(
        vault, opened,
        f"yes ^{A}", f"no [contradicts:: [[#^{A}]]] ^{B}", f"maybe [contradicts:: [[#^{A}]]] ^{C}",
        f"well [contradicts:: [[#^{D}]]] [contradicts:: [[#^m-gone]]] ^{D}",
    )  # fmt: skip
    assert relations.contradictions(brain.vault.index, [A, B, D]) == {A: [B, C], B: [A]}
    put(brain.vault.journal, "alias", E, old=A)
    update_index(brain.vault.journal, brain.vault.index)
    assert relations.contradictions(brain.vault.index, [E, A]) == {E: [B, C], A: [B, C]}
    assert relations.contradictions(brain.vault.index, []) == {}


def test_a_contradiction_is_over_when_one_side_is_superseded(
    vault: MakeVault, opened: OpenBrain
) -> None:
    """What took its place contradicts only what it says itself, or what says so of it."""
    brain = lay(
        vault, opened,
        f"blue [contradicts:: [[#^{B}]]] [contradicts:: [[#^{D}]]] ^{A}",
        f"red ^{B}", f"green [supersedes:: [[#^{B}]]] ^{C}", f"yellow ^{D}",
    )  # fmt: skip
    assert relations.contradictions(brain.vault.index, [A, B, C, D]) == {A: [D], D: [A]}


# -- scopes --------------------------------------------------------------------------------------

PROJECT = "40_Brain/projects/{}/agent/MEMORY.md"


@pytest.fixture
def two_projects(vault: MakeVault, opened: OpenBrain) -> Brain:
    """The admin's A, zoo's B and park's C and D, tied in every way; zoo must not see park's."""
    admin = (
        f"- all #x [[Shared]] [relates_to:: [[40_Brain/projects/park/agent/MEMORY#^{C}]]] ^{A}\n"
    )
    zoo = f"- mine #x [contradicts:: [[40_Brain/projects/park/agent/MEMORY#^{C}]]] ^{B}\n"
    park = f"- theirs #x #secret [[Shared]] [supersedes:: [[40_Brain/MEMORY#^{A}]]] ^{C}\n"
    park += f"- also [relates_to:: [[40_Brain/projects/zoo/agent/MEMORY#^{B}]]] #secret ^{D}\n"
    brain = opened(vault({MEMORY: admin, PROJECT.format("zoo"): zoo, PROJECT.format("park"): park}))
    brain.sync()
    learn(brain, (A, C, 5), (B, D, 5))
    return brain


def test_what_may_not_be_seen_is_neither_reached_nor_a_way(two_projects: Brain) -> None:
    owners = ("", "zoo", "admin")
    found = reached(two_projects, A, B, C, D, owners=owners, cascadeDepth=4)
    assert found.keys() == {A, B}
    assert C not in repr(found)
    assert D not in repr(found)
    # what is not seen does not take somebody's place either
    assert relations.successors(two_projects.vault.index, [A], owners) == {}
    # nor does what another agent says, for those who see everything
    assert relations.successors(two_projects.vault.index, [A]) == {}
    assert relations.successors(two_projects.vault.index, [A], ("", "park", "admin")) == {A: C}
    assert relations.contradictions(two_projects.vault.index, [B], owners) == {}
    assert relations.contradictions(two_projects.vault.index, [B]) == {B: [C]}
    assert reached(two_projects, A, owners=()) == {}


def test_the_answer_does_not_depend_on_what_may_not_be_seen(
    two_projects: Brain, vault: MakeVault, opened: OpenBrain
) -> None:
    root = two_projects.vault.paths.root
    files = {path: (root / path).read_text() for path in (MEMORY, PROJECT.format("zoo"))}
    alone = opened(vault(files), state=root.parent / "alone")
    alone.sync()
    owners = ("", "zoo", "admin")
    for depth in range(1, 5):
        both = [
            reached(brain, A, B, C, owners=owners, cascadeDepth=depth)
            for brain in (two_projects, alone)
        ]
        assert both[0] == both[1]


# -- always --------------------------------------------------------------------------------------

entries = st.lists(
    st.tuples(
        st.sets(st.sampled_from(["x", "Y", "y", "z/a"]), max_size=2),
        st.sets(st.sampled_from(["One", "notes/One", "Two"]), max_size=2),
        st.sets(
            st.tuples(
                st.sampled_from(["relates_to", "supersedes", "contradicts"]), st.integers(0, 8)
            ),
            max_size=2,
        ),
    ),
    min_size=1,
    max_size=9,
)


def written(every: Iterable[tuple[int, tuple[set[str], set[str], set[tuple[str, int]]]]]) -> str:
    lines = []
    for n, (tags, notes, fields) in every:
        parts = [f"- memory {n}", *(f"[[{note}]]" for note in sorted(notes))]
        parts += [f"#{tag}" for tag in sorted(tags)]
        parts += [f"[{kind}:: [[40_Brain/MEMORY#^m-{to:08}]]]" for kind, to in sorted(fields)]
        lines.append(" ".join([*parts, f"^m-{n:08}"]))
    return "\n".join(lines) + "\n"


@given(entries, st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, drawn: list, depth: int, chance: random.Random
) -> None:
    """Nor whether the index grew line by line or was built at once."""
    folder = tmp_path_factory.mktemp("order")
    shuffled = list(enumerate(drawn))
    chance.shuffle(shuffled)
    note = "See [[40_Brain/MEMORY#^m-00000000]] and [[40_Brain/MEMORY#^m-00000001]].\n"
    root = kit.lay(folder / "vault", {MEMORY: written(shuffled[:1]), "notes/One.md": note})
    seeds = {f"m-{n:08}": 1.0 + n for n in range(0, len(drawn), 2)}
    config = Config(cascadeDepth=depth)
    with kit.open_brain(root, folder / "state") as brain:
        brain.sync()
        (root / MEMORY).write_text(written(shuffled))
        brain.sync()
        grown = cascade(brain.vault.index, seeds, None, config)
        (root / MEMORY).write_text(written(enumerate(drawn)))
        brain.sync(rebuild=True)
        built = cascade(brain.vault.index, seeds, None, config)
        ends = relations.successors(brain.vault.index, seeds)
    assert grown == built
    assert not set(ends) & set(built)
    assert all(0 < found.score <= 10 and len(found.steps) <= depth for found in built.values())
    assert set(seeds) - set(ends) <= set(built)


def test_what_is_asked_uses_the_index_of_relations(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(vault, opened, f"one ^{A}")
    asked: list[str] = []
    brain.vault.index.db.set_trace_callback(asked.append)
    relations.supersessions(brain.vault.index, None)
    brain.vault.index.db.set_trace_callback(None)
    plan = brain.vault.index.db.execute(f"EXPLAIN QUERY PLAN {asked[0]}").fetchall()
    assert any("links_superseded" in str(row) for row in plan)
