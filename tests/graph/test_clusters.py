"""Communities of the graph, and what they are called."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from brain.graph import clusters
from brain.graph.clusters import Cluster, communities
from brain.graph.edges import Edge
from brain.graph.nodes import Graph, Node
from tests.conftest import MakeVault, OpenBrain
from tests.graph.test_cascade import A, B, C, D, E, lay
from tests.graph.test_nodes import whole


def planted(
    chance: random.Random, groups: int, size: int, inside: float, outside: float
) -> list[tuple[str, str, float]]:
    """A graph whose groups are known: n belongs to the group n // size."""
    edges = []
    for one in range(groups * size):
        for other in range(one):
            if chance.random() < (inside if one // size == other // size else outside):
                edges.append((f"m-{one:03}", f"m-{other:03}", 0.5))
    return edges


def agreement(found: list[list[str]], size: int) -> float:
    """The share of pairs that are rightly together or apart."""
    home = {name: at for at, group in enumerate(found) for name in group}
    names = sorted(home)
    pairs = [(one, other) for at, one in enumerate(names) for other in names[:at]]
    right = sum(
        (home[one] == home[other]) == (int(one[2:]) // size == int(other[2:]) // size)
        for one, other in pairs
    )
    return right / len(pairs)


def test_planted_communities_are_found() -> None:
    for seed in range(5):
        edges = planted(random.Random(seed), groups=6, size=12, inside=0.5, outside=0.03)
        found = communities(edges)
        assert agreement(found, 12) > 0.97


def test_cliques_that_hang_together_by_a_thread_are_apart() -> None:
    ring = []
    for n in range(8):
        names = [f"{n}{letter}" for letter in "abcde"]
        ring += [(one, other, 1.0) for one in names for other in names if one < other]
        ring.append((f"{n}a", f"{(n + 1) % 8}b", 1.0))
    assert communities(ring) == [[f"{n}{letter}" for letter in "abcde"] for n in range(8)]


def test_a_heavy_edge_counts_for_more() -> None:
    path = [("a", "b", 5.0), ("b", "c", 0.1), ("c", "d", 5.0)]
    assert communities(path) == [["a", "b"], ["c", "d"]]
    assert communities([]) == []
    assert communities([("a", "a", 1.0), ("a", "b", 0.0)]) == []


pairs = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"),
        st.sampled_from("abcdefgh"),
        st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]),
    ),
    max_size=25,
)


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_edges_does_not_matter(
    edges: list[tuple[str, str, float]], chance: random.Random
) -> None:
    found = communities(edges)
    shuffled = [edge if chance.random() < 0.5 else (edge[1], edge[0], edge[2]) for edge in edges]
    chance.shuffle(shuffled)
    assert communities(shuffled) == found
    names = [name for group in found for name in group]
    assert sorted(names) == sorted({n for edge in edges for n in edge[:2] if edge[0] != edge[1]})


def drawn(tags: dict[str, str], texts: dict[str, str]) -> Graph:
    nodes = [Node(ref, "memory", text, text=text) for ref, text in texts.items()]
    nodes += [
        Node(f"#{tag}", "tag", f"#{tag}") for tag in sorted(set(" ".join(tags.values()).split()))
    ]
    edges = [
        Edge(ref, f"#{tag}", "has_tag", 0.8) for ref, said in tags.items() for tag in said.split()
    ]
    return Graph(tuple(nodes), tuple(sorted(edges)))


TEXTS = {A: "clams for the walrus", B: "clams today", C: "the deploy runs", D: "no deploy", E: "so"}


def test_a_name_comes_from_tags_that_half_of_it_carries() -> None:
    graph = drawn({A: "Sea food", B: "Sea", C: "ci", D: "ci"}, TEXTS)
    sea, ci = sorted(clusters.find(graph), key=lambda cluster: cluster.members)
    assert (sea.name, sea.members) == ("Sea", (A, B))
    assert (ci.name, set(ci.members)) == ("ci", {C, D})


def test_a_name_comes_from_telling_words_where_no_tag_is_shared() -> None:
    similar = [(A, B, 0.9), (C, D, 0.9), (C, "m-gone", 1.0)]
    found = clusters.find(drawn({}, TEXTS), similar)
    assert {cluster.members: cluster.name for cluster in found} == {
        (A, B): "clams, today, walrus",
        (C, D): "deploy, runs",
    }


def test_what_is_alike_joins_what_the_graph_leaves_apart() -> None:
    graph = drawn({A: "x", B: "x", C: "y", D: "y"}, TEXTS)
    assert [set(cluster.members) for cluster in clusters.find(graph, [(A, E, 0.9)])] == [
        {A, B, E},
        {C, D},
    ]


def test_clusters_are_called_differently() -> None:
    """Even if they share their tag."""
    refs = [f"m-{n:08}" for n in range(8)]
    texts = {ref: "walrus clams" if n < 4 else "deploy runs" for n, ref in enumerate(refs)}
    graph = drawn(dict.fromkeys(refs, "x"), texts)
    similar = [(a, b, 5.0) for g in (refs[:4], refs[4:]) for a in g for b in g if a < b]
    assert sorted(cluster.name for cluster in clusters.find(graph, similar)) == [
        "x: clams, walrus",
        "x: deploy, runs",
    ]


def test_clusters_of_the_same_words_are_numbered() -> None:
    refs = [f"m-{n:08}" for n in range(6)]
    graph = drawn({}, dict.fromkeys(refs[:4], "walrus clams") | dict.fromkeys(refs[4:], "so"))
    found = clusters.find(graph, [(*refs[:2], 0.9), (*refs[2:4], 0.9), (*refs[4:], 0.9)])
    names = {cluster.name for cluster in found}
    assert names == {refs[4], "clams, walrus", "clams, walrus 2"}


def test_an_id_stays_while_a_cluster_grows() -> None:
    before = clusters.find(drawn({A: "sea", B: "sea"}, TEXTS))
    after = clusters.find(drawn({A: "sea", B: "sea", C: "sea", D: "x", E: "x"}, TEXTS))
    assert before[0].id == after[0].id
    assert len({cluster.id for cluster in after}) == 2


def test_what_everything_shares_makes_no_cluster(vault: MakeVault, opened: OpenBrain) -> None:
    brain = lay(vault, opened, *(f"memory {n} #all" for n in range(30)), "a #x", "b #x")
    found = clusters.find(whole(brain))
    assert [(cluster.name, len(cluster.members)) for cluster in found] == [("x", 2)]


def test_the_graph_with_its_clusters() -> None:
    graph = drawn({A: "sea", B: "sea"}, TEXTS)
    found = [*clusters.find(graph), Cluster("c-other", "other", ("m-gone",))]
    joined = clusters.add(graph, found)
    new = set(joined.edges) - set(graph.edges)
    assert new == {Edge(ref, found[0].id, "in_cluster", 0.6) for ref in (A, B)}
    assert [node.label for node in joined.nodes if node.type == "cluster"] == ["sea"]


@given(pairs, st.permutations(range(8)))
def test_the_order_of_nodes_does_not_matter(
    edges: list[tuple[str, str, float]], order: list[int]
) -> None:
    nodes = [Node(name, "memory", name, text=f"text {name * 3}") for name in "abcdefgh"]
    ties = [Edge(one, other, "relates_to", weight) for one, other, weight in edges]
    found = clusters.find(Graph(tuple(nodes), tuple(ties)))
    shuffled = Graph(tuple(nodes[at] for at in order), tuple(ties[::-1]))
    assert clusters.find(shuffled) == found
    members = [member for cluster in found for member in cluster.members]
    assert len(members) == len(set(members))
    assert all(cluster.name and len(cluster.members) > 1 for cluster in found)
