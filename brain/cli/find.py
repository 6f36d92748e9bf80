"""Find: search, context, show, list, similar, open, graph."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from brain.cli.output import Values, View, counted, note, say, say_entry, tell, warn
from brain.cli.terminal import MATCH, columns
from brain.timestamps import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brain.context.scoring import Inherited, ScoredEntry
    from brain.operations.results import Answer, Context, Entry, Graph, Listing, Memory, Place

TOP = 5  # members of a cluster that are listed
EDGES = {  # the words for an edge as seen from its source, and from its target
    "supersedes": ("supersedes", "superseded by"),
    "contradicts": ("contradicts", "contradicts"),
    "derived_from": ("derived from", "source of"),
    "relates_to": ("relates to", "relates to"),
    "link": ("links to", "linked from"),
    "learned": ("learned with", "learned with"),
}


# -- search --------------------------------------------------------------------------------------


def print_answer(answer: Answer, options: Values) -> None:
    for result in answer.results:
        row = result.row
        about = [row.scope, row.kind] if row.kind != "note" else [row.scope]
        say(f"{row.path}:{result.line}", "bold")
        day = shown(row.created)[:10]
        say(f"  {result.snippet(*MATCH).removeprefix(f'{day}: ')}")
        say(f"  {row.ref} · {' · '.join(about)} · {day} · {result.score:.2f}", "dim")
        if result.also:
            say(f"  also in {', '.join(result.also)}", "dim")
        if result.conflicts:
            say(f"  [⚠ CONFLICT] {', '.join(result.conflicts)} says the opposite.")
        if options["explain"]:
            exact = f", and {result.exact} exactly as asked" if result.exact else ""
            say(f"  {result.score:.6f} = {formula(result.factors)}{exact}", "dim")
            if ordered := _ordered(result.factors):
                say(f"  {ordered}", "dim")
    if not answer.results:
        say("Nothing found.")
    warn(answer.freshness.stale)
    for text in answer.notes:
        note(text)


def _answer_document(answer: Answer, options: Values) -> Any:
    from brain import serialize

    return serialize.answer(answer, options["explain"])


def formula(values: Mapping[str, float], alone: bool = True) -> str:
    """Return the formula of a score with its numbers, without factors of 1 and parts of 0. If it
    stands `alone`, a sum needs no brackets."""
    from brain.search.factors import ADDED, MULTIPLIED

    parts = [f"{name} {values[name]:.6f}" for name in ADDED if values.get(name)] or ["nothing 0"]
    others = [f"{name} {values[name]:.6f}" for name in MULTIPLIED if values.get(name, 1) != 1]
    needs_brackets = len(parts) > 1 and (others or not alone)
    sum = " + ".join(parts)
    return " × ".join([f"({sum})" if needs_brackets else sum, *others])


def _ordered(values: Mapping[str, float]) -> str:
    """Return the formula by which memories that cover the question equally are ordered; '' for
    other entries."""
    from brain.search.factors import order

    others = [f"{name} {values[name]:.6f}" for name in ("feedback", "recency") if name in values]
    if not others:
        return ""
    among = "among memories that cover the question equally"
    return f"{order(values):.6f} = score × {' × '.join(others)}, {among}"


# -- context -------------------------------------------------------------------------------------


def _read_text(values: Values) -> None:
    if values["text"] == "-":
        values["text"] = sys.stdin.read()


def print_context(found: Context, options: Values) -> None:
    """Print the text for a prompt, and with `--explain` the scores."""
    if prompt := found.text or ("{}" if found.asked.format == "json" else ""):
        say(prompt, lines=True, wrap=False)
    if options["explain"]:
        _explain(found)
    warn(found.freshness.stale)
    for remark in found.notes:
        note(remark)


def _explain(found: Context) -> None:
    fitted = found.fitted
    say()
    say(
        f"{fitted.tokens:,} of {fitted.allocation.total:,} tokens,"
        f" {fitted.compression:.0%} of the selected text,"
        f" from {found.recalled.considered:,} matches.",
        "dim",
    )
    for entry, trigger in found.recalled.warnings:
        say(f"  {entry.id}  {trigger!r} is mentioned", "dim")
    lines: dict[str, None] = {}
    for entry in found.recalled.memories:
        lines |= dict.fromkeys(_formulas(entry))
    shown = {*found.shown}
    for each in found.recalled.excerpts:
        if each.row.ref in shown:
            lines[f"{each.row.ref}  {each.score:.6f} = {formula(each.factors)}"] = None
    for line in lines:
        say(f"  {line}", "dim")


def _formulas(entry: ScoredEntry) -> list[str]:
    """Return the formula of a score, and of the score that it was inherited from."""
    inherited = _inherited(entry)
    own = f"{entry.id}  {entry.score:.6f} = {_formula(entry)}"
    return [own, *(_formulas(inherited.origin) if inherited else [])]


def _inherited(entry: ScoredEntry) -> Inherited | None:
    """Return the score that an entry inherited; None if the entry's own score is higher."""
    found = entry.inherited
    return found if found and (not entry.search_factors or found.score >= entry.score) else None


def _formula(entry: ScoredEntry) -> str:
    if entry.search_factors is None and entry.inherited is None:
        return "came unasked"
    if found := _inherited(entry):
        steps = [f" × weight {weight:.6f} × decay {decay:.6f}" for weight, decay in found.steps]
        return f"{found.origin.id} {found.origin.score:.6f}{''.join(steps)} ({found.via})"
    search = entry.search_factors or {}
    order = {name: search[name] for name in ("feedback", "recency") if name in search}
    every = order | entry.recall_factors
    recall = [f"{name} {value:.6f}" for name, value in every.items() if value != 1]
    return " × ".join([formula(search, alone=not recall), *recall])


# -- entries -------------------------------------------------------------------------------------


_SHOWN_ABOVE = ("path", "line", "text", "more", "fresh", "as_of", "stale")
_IN_FORMULAS = ("hits", "confidence_factors", "importance_factors")


def print_entry(entry: Entry, _: Values) -> None:
    """Print an entry with all its fields."""
    say(f"{entry.path}:{entry.line}", "bold")
    say(entry.text, lines=True)
    say()
    about = _fields(entry)
    width = max(columns(key) for key, value in about)
    for key, value in about:
        say(f"{key:<{width}} {value}", "dim", hang=width + 1)
    if entry.more:
        others = counted(entry.more, "more entry", "more entries")
        note(f"There are {others} in this file: `brain list --scope {entry.scope}`.")
    if entry.freshness:
        warn(entry.freshness.stale)


def _fields(entry: Entry) -> list[tuple[str, str]]:
    """Return the fields of an entry that have a value, with the values in words."""
    from brain import serialize

    worded = {"created": shown(entry.created), "tags": " ".join(f"#{tag}" for tag in entry.tags)}
    if getattr(entry, "provenance", None):
        worded |= _values(entry)  # type: ignore[arg-type]  # only a memory has one
    about: list[tuple[str, str]] = []
    for key, value in serialize.document(entry).items():
        if key == "provenance" and value:
            about += _origin(entry)  # type: ignore[arg-type]
        elif key == "links":
            about += [(link["kind"], _target(link)) for link in value or ()]
        elif key not in (*_SHOWN_ABOVE, *_IN_FORMULAS):
            about.append((key, worded.get(key) or _plain(value)))
    return [(key, value) for key, value in about if value]


def _target(link: dict[str, Any]) -> str:
    return f"{link['target']}#{link['fragment']}" if link["fragment"] else str(link["target"])


def _plain(value: Any) -> str:
    """Return a value of JSON in words; '' for null."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_plain(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items())
    return "" if value is None else str(value)


def _values(memory: Memory) -> dict[str, str]:
    """Return the current values of a memory, with their formulas."""
    importance = _importance(memory.importance_factors or {})
    return {
        "score": f"{memory.score:g}, {counted(memory.hits, 'hit')}",
        "last_hit": shown(memory.last_hit or ""),
        "updated": shown(memory.updated),
        "importance": f"{memory.importance:.2f} = {importance}",
        "confidence": f"{memory.confidence:.2f} = {_confidence(memory)}",
    }


def _origin(memory: Memory) -> list[tuple[str, str]]:
    """Return who stored a memory, when and why, and its later changes."""
    origin = memory.provenance
    assert origin
    session = f", in session {origin.session}" if origin.session else ""
    if origin.messages:
        first, last = origin.messages
        session += f", message {first}" if first == last else f", messages {first} to {last}"
    event = f" ({origin.event})" if origin.event else ""
    return [
        ("from", f"{origin.by}, {shown(origin.at)[:10]}{session}{event}"),
        ("because", origin.why or ""),
        ("about", origin.snippet or ""),
        *((step["op"], f"{step['by']}, {shown(step['at'])[:10]}") for step in origin.since),
    ]


def _importance(factors: dict[str, Any]) -> str:
    """Return the formula, with the numbers in it; factors of 1 are left out."""
    start = f"{factors['base']:g} at first"
    if factors["merges"]:
        start = f"({start} + {factors['merges']:.1f} for duplicates)"
    words = {
        "unvisited": "as it was never used",
        "fading": f"after {_age(factors['idle_days'])} unused",
        "unused": f"with {counted(factors['hits'], 'hit')}",
        "candidate": "as a candidate",
    }
    named = {name: f"{factors[name]:.2f}" for name in words}
    parts = [f"{value} {words[name]}" for name, value in named.items() if value != "1.00"]
    return " × ".join([start, *parts])


def _age(days: float) -> str:
    """Return an age in whole days, or in whole hours or minutes if it is less than a day."""
    minutes = int(days * 24 * 60)
    for unit, length in (("day", 24 * 60), ("hour", 60), ("minute", 1)):
        if minutes >= length:
            return counted(minutes // length, unit)
    return "less than a minute"


def _confidence(memory: Memory) -> str:
    factors = memory.confidence_factors or {}
    fading = f", half in {factors['half_life']} days" if factors["half_life"] else ""
    parts = [
        f"{factors['initial']:g} at first",
        f"{factors['trust']:g} as {memory.source}",
        f"{factors['remaining']:.2f} after {_age(factors['age_days'])}{fading}",
        f"{factors['use']:.2f} for use",
    ]
    moved = f" {factors['feedback']:+.2f} by feedback" if factors["feedback"] else ""
    return f"{' × '.join(parts)}{moved}"


def print_list(found: Listing, _: Values) -> None:
    """Print an entry per line."""
    ids = max((columns(entry.id) for entry in found), default=0)
    kinds = max((columns(entry.kind) for entry in found), default=0)
    for entry in found:
        named = (entry.heading or entry.title) if entry.kind in ("note", "agent") else ""
        day = shown(entry.created)[:10]
        first = (named or entry.text).split("\n", 1)[0].removeprefix(f"{day}: ")
        say_entry(f"{entry.id:<{ids}}  {day}  {entry.kind:<{kinds}}", first)
    if not found.entries:
        say("Nothing to list.")
    warn(found.freshness.stale)


def print_place(place: Place, _: Values) -> None:
    """Print the address for Obsidian, and file and line for an editor."""
    say(place.url)
    say(f"{place.file}:{place.line}")


# -- graph ---------------------------------------------------------------------------------------


def print_graph(graph: Graph | dict[str, Any], options: Values) -> None:
    """Print the clusters, or the neighbours of one entry. If a format was given, print JSON."""
    if options["format"]:
        from brain import serialize

        tell(serialize.document(graph))
    elif not isinstance(graph, dict):
        _print_neighbours(graph) if graph.root else _print_clusters(graph)
        warn(graph.freshness.stale)


def _print_clusters(graph: Graph) -> None:
    nodes = {node["id"]: node for node in graph.nodes}
    loose = {id for id, node in nodes.items() if node["type"] in ("memory", "item")}
    for cluster in graph.clusters:
        members = cluster["members"]
        loose.difference_update(members)
        say(f"{cluster['name']}  ({len(members)})", "bold")
        for id in members[:TOP]:
            say(f"  {_line(nodes[id])}")
        if len(members) > TOP:
            say(f"  and {len(members) - TOP} more", "dim")
    if loose:
        say(f"{len(loose)} more in no cluster.", "dim")
    if not nodes:
        say("There are no memories yet.")


def _print_neighbours(graph: Graph) -> None:
    """Print an entry, the entries and notes that it is linked to, and the entries with the same
    tags and notes. A weight is shown if it was learned or set."""
    from brain.graph.edges import WEIGHTS

    nodes = {node["id"]: node for node in graph.nodes}
    root = nodes[graph.root]
    say(f"{root['path']}:{root['line']}" if root.get("line") else root["id"], "bold")
    say(root["label"])
    neighbours = [id for edge in graph.edges if (id := _other_end(edge, root["id"])) in nodes]
    for edge in graph.edges:
        other = nodes.get(_other_end(edge, root["id"]))
        if other and edge["type"] in EDGES and other["type"] in ("memory", "item", "note"):
            words = EDGES[edge["type"]][edge["target"] == root["id"]]
            line = f"{words:<14} {_line(other)}"
            is_usual = edge["type"] != "learned" and edge["weight"] == WEIGHTS[edge["type"]]
            say(line if is_usual else f"{line}  {edge['weight']:.2f}")
    for id in sorted(set(neighbours), key=lambda id: (nodes[id]["type"] != "cluster", id)):
        _print_connector(graph, nodes, root["id"], id)


def _print_connector(graph: Graph, nodes: dict[str, dict[str, Any]], root: str, id: str) -> None:
    """Print a tag or note of the entry `root` with the other entries that have it, or the cluster
    of the entry."""
    node = nodes[id]
    if node["type"] == "cluster":
        say(f"{'in cluster':<14} {node['label']}")
    if node["type"] not in ("tag", "note"):
        return
    ends = dict.fromkeys(_other_end(edge, id) for edge in graph.edges)
    others = [end for end in ends if end and end != root]
    if others or node["type"] == "tag":  # a note without other entries was printed above
        say(node["label"], "bold")
    for other in others:
        say(f"  {_line(nodes[other])}")


def _other_end(edge: dict[str, Any], id: str) -> str:
    """Return the other end of an edge; '' if no end of the edge is this id."""
    ends = (edge["source"], edge["target"])
    return str(ends[ends[0] == id]) if id in ends else ""


def _line(node: dict[str, Any]) -> str:
    if node["type"] == "note":
        return str(node["id"])
    return f"{node['id']:<12} {node['label']}"


VIEWS = {
    "search": View(
        print_answer,
        json=_answer_document,
        options=(
            click.Option(["--explain"], is_flag=True, help="Show the factors of every score."),
        ),
    ),
    "context": View(
        print_context,
        prepare=_read_text,
        options=(
            click.Option(["--explain"], is_flag=True, help="Show the factors of every score."),
        ),
    ),
    "show": View(print_entry),
    "list": View(print_list),
    "similar": View(lambda answer, _: print_answer(answer, {"explain": False})),
    "open": View(print_place),
    "graph": View(print_graph),
}
