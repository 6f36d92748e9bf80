"""The graph that is shown: what is in it, around whom, and for whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.api import Brain
from brain.graph import nodes
from brain.graph.edges import Edge
from brain.graph.nodes import Graph, Node
from tests import kit
from tests.conftest import MakeVault, OpenBrain
from tests.graph.test_cascade import MEMORY, A, B, C, D, lay, learn, reached, two_projects
from tests.journal.kit import put

__all__ = ["two_projects"]


def ids(graph: Graph, type: str = "") -> set[str]:
    return {node.id for node in graph.nodes if not type or node.type == type}


def edges(graph: Graph) -> set[tuple[str, str, str]]:
    return {(edge.source, edge.type, edge.target) for edge in graph.edges}


def whole(brain: Brain, owners: tuple[str, ...] | None = None, agent: str = "") -> Graph:
    return nodes.full_graph(brain.vault.index, owners, agent)


def test_every_node_and_edge_has_its_type(vault: MakeVault, opened: OpenBrain) -> None:
    items = '[{"id": "item_1", "title": "Clams", "content": "x", "sourceFile": "Notes/Sea.md"}]'
    memory = (
        f"- 2026-01-02: One says [[Notes/Sea#Deep|the sea]]. [[Nowhere]] #Db #pinned ^{A}\n"
        f"- two ![[sea]] [relates_to:: [[#^{A}]]] [supersedes:: [[#^{C}]]] #db ^{B}\n"
        f"- three [contradicts:: [[#^{A}]]] [derived_from:: [[#^{B}]]] [[#^{A}]] ^{C}\n"
    )
    note = f"---\ntitle: The Sea\n---\nSee [[40_Brain/MEMORY#^{C}]].\n"
    files = {MEMORY: memory, "Notes/Sea.md": note, "40_Brain/projects/zoo/items.json": items}
    brain = opened(vault(files))
    brain.sync()
    learn(brain, (A, B, 1), (C, "m-gone", 3))
    graph = whole(brain)
    sea = "[[Notes/Sea]]"
    assert edges(graph) == {
        (A, "has_tag", "#db"), (B, "has_tag", "#db"),
        (A, "link", sea), (B, "link", sea), (sea, "link", C), ("item_1", "derived_from", sea),
        (A, "link", "[[nowhere]]"),
        (B, "relates_to", A), (B, "supersedes", C), (C, "contradicts", A), (C, "derived_from", B),
        (C, "link", A), (A, "learned", B),
    }  # fmt: skip
    by_id = {node.id: node for node in graph.nodes}
    assert ids(graph, "memory") == {A, B, C}
    assert ids(graph, "item") == {"item_1"}
    assert by_id[A][:8] == (A, "memory", "One says the sea.", MEMORY, 1, "fact", "pinned", "admin")
    assert by_id["item_1"].label == "Clams"
    assert by_id["#db"] == Node("#db", "tag", "#Db", entries=2)
    assert by_id[sea] == Node(sea, "note", "The Sea", "Notes/Sea.md", entries=4)
    assert by_id["[[nowhere]]"] == Node("[[nowhere]]", "note", "Nowhere", entries=1)
    weights = {edge[:3]: edge.weight for edge in graph.edges}
    assert weights[A, B, "learned"] == 0.5
    assert weights[B, A, "relates_to"] == 0.75  # written, and learned once
    assert weights[B, C, "supersedes"] == 0.9


def test_the_surroundings_grow_by_steps(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(vault, opened, f"one #x ^{A}", f"two #x #y ^{B}", f"three #y ^{C}", f"four ^{D}")
    near = [ids(nodes.neighbourhood(whole(brain), A, depth)) for depth in (1, 2, 3, 4, 9)]
    assert near[:4] == [{A, "#x"}, {A, "#x", B}, {A, "#x", B, "#y"}, {A, "#x", B, "#y", C}]
    assert near[4] == near[3]
    assert ids(nodes.neighbourhood(whole(brain), "#y", 1)) == {"#y", B, C}
    assert nodes.neighbourhood(whole(brain), "m-gone", 2) == Graph()


def test_what_too_many_share_is_shown_and_leads_no_further(
    vault: MakeVault, opened: OpenBrain
) -> None:
    brain = lay(vault, opened, f"one #all ^{A}", *(f"memory {n} #all" for n in range(30)))
    assert ids(nodes.neighbourhood(whole(brain), A, 5)) == {A, "#all"}
    assert len(ids(nodes.neighbourhood(whole(brain), "#all", 1), "memory")) == 31


def test_one_agent_alone(two_projects: Brain) -> None:
    assert ids(whole(two_projects, agent="zoo")) == {B, "#x"}
    assert edges(whole(two_projects, agent="zoo")) == {(B, "has_tag", "#x")}


def test_a_memory_with_several_ids_is_one_node(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(vault, opened, f"one #x ^{B}", f"two [[#^{A}]] ^{C}", f"the same again #y ^{D}")
    put(brain.vault.journal, "alias", B, old=A)
    put(brain.vault.journal, "alias", D, old=A)
    learn(brain, (A, C, 1))
    graph = whole(brain)
    assert ids(graph, "memory") == {B, C}
    assert edges(graph) == {
        (B, "has_tag", "#x"), (B, "has_tag", "#y"), (C, "link", B), (B, "learned", C)
    }  # fmt: skip


def test_an_agent_sees_nothing_of_another_project(two_projects: Brain) -> None:
    graph = whole(two_projects, owners=("", "zoo", "admin"))
    assert ids(graph) == {A, B, "#x"}  # nor a note that is not there: it might be theirs
    assert edges(graph) == {(A, "has_tag", "#x"), (B, "has_tag", "#x")}
    shown = repr(graph._replace(nodes=tuple(node._replace(text="") for node in graph.nodes)))
    assert not any(word in shown for word in (C, D, "secret", "park", "theirs"))
    assert whole(two_projects, owners=()) == Graph()
    everybody = whole(two_projects)
    assert {C, D, "#secret", "[[shared]]"} <= ids(everybody)
    assert (B, D, "learned") in {edge[:3] for edge in everybody.edges}


def test_an_agent_does_not_supersede_for_others(two_projects: Brain) -> None:
    """What it says is a plain link, unless the agent itself asks."""
    assert (C, "link", A) in edges(whole(two_projects))
    mine = edges(whole(two_projects, owners=("", "park", "admin")))
    assert (C, "supersedes", A) in mine
    assert (C, "link", A) not in mine


def test_the_graph_survives_the_index(vault: MakeVault, opened: OpenBrain) -> None:
    brain = opened(vault())
    brain.sync()
    refs = sorted(ids(whole(brain), "memory"))
    for _ in range(3):
        brain.remember("Walrus and clams [[Architecture]] #db", agent="zoo", tags=["sea"])
        brain.link(refs[0], refs[1])
        brain.reinforce(refs[0])
    learn(brain, (refs[0], refs[2], 2))
    brain.sync()
    before = whole(brain)
    brain.sync(rebuild=True)
    assert whole(brain) == before
    assert len(before.edges) > 5


def test_a_real_path_comes_before_a_short_one(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(
        vault, opened, f"one [[Log]] [[b/c/log]] ^{A}", Log="x\n", b__Log="x\n", b__c__Log="x\n"
    )
    assert ids(whole(brain), "note") == {"[[Log]]", "[[b/c/Log]]"}


def test_a_link_to_a_memory_that_is_gone_names_no_note(vault: MakeVault, opened: OpenBrain) -> None:
    gone = "[[40_Brain/MEMORY#^m-12345678]] [[40_Brain/MEMORY#^mine]] [[Sea#^m-12345678]]"
    brain = lay(vault, opened, f"one {gone} [[Sea#^deep]] ^{A}", f"two {gone} ^{B}", Sea="x\n")
    assert edges(whole(brain)) == {(A, "link", "[[Sea]]")}
    assert reached(brain, A).keys() == {A}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("2026-01-02: Plain. [[A]] [[b/C#d]] #x", "Plain."),
        ("Ends in [[b/C#d]] #x", "Ends in C"),
        ("See [[secret/path/Note|the note]] [supersedes:: [[#^m-1]]]\nmore", "See the note"),
        ("word " * 40, "word " * 19 + "word…"),
        ("#x", "#x"),
    ],
)
def test_a_label_is_the_words_of_the_first_line(text: str, label: str) -> None:
    assert nodes.label(text) == label


@given(st.text(max_size=300))
def test_a_label_is_one_short_line(text: str) -> None:
    assert len(nodes.label(text)) <= nodes.MAX_LABEL
    assert "\n" not in nodes.label(text)


names = st.sampled_from([A, B, C, "#x", "#y", "[[n]]"])


@given(st.sets(st.tuples(names, names), max_size=12), names, st.integers(1, 5))
def test_what_is_near_grows_with_depth(pairs: set[tuple[str, str]], root: str, depth: int) -> None:
    types = {"m": "memory", "#": "tag", "[": "note"}
    every = tuple(Node(id, types[id[0]], id) for id in (A, B, C, "#x", "#y", "[[n]]"))
    graph = Graph(every, tuple(Edge(*pair, "link", 0.5) for pair in sorted(pairs)))
    near, further = (nodes.neighbourhood(graph, root, depth + more) for more in (0, 1))
    assert root in ids(near) <= ids(further)
    assert all({edge.source, edge.target} <= ids(near) for edge in near.edges)


def test_the_basic_vault(vault: MakeVault, opened: OpenBrain) -> None:
    """What nobody tied stands alone."""
    brain = opened(vault(kit.VAULT))
    brain.sync()
    graph = whole(brain)
    assert edges(graph) == {
        ("m-7f3k2ab4", "has_tag", "#db"), ("m-7f3k2ab4", "link", "[[Architecture]]")
    }  # fmt: skip
    assert len(ids(graph, "memory")) == 4
