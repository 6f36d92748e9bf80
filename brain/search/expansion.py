"""Expand the words of a question by their other forms and by the user's own aliases.

Irregular forms, which a stemmer does not find (*went* and *go*), are used only in conversations. In
a note, *left* mostly means a side.
"""

from __future__ import annotations

import re
from functools import lru_cache

from brain._tuples import NamedTuple
from brain.config import Config
from brain.formats.text import UNSPACED
from brain.search.question import Term
from brain.words import fold, is_small_talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ALIAS_WEIGHT = 0.5  # weight of an alias, relative to the word itself
SMALL_TALK_WEIGHT = 0.25  # of a word that says little about a topic, relative to another word
_PIECE = f"[{UNSPACED}]+|[^\\W_{UNSPACED}]+"  # compiled only when an alias needs it


class Concept(NamedTuple):
    """A term of a question and its alternatives, each with its weight."""

    term: Term
    others: tuple[tuple[str, float], ...] = ()
    weight: float = 1.0

    @property
    def every(self) -> tuple[tuple[Term, float], ...]:
        """The term and its alternatives, each with its weight."""
        return ((self.term, 1.0), *((_term(words), worth) for words, worth in self.others))


def concepts(
    wanted: Sequence[Term], config: Config, question: str, *, irregular: bool = False
) -> list[Concept]:
    """Return the concepts of a question. With `irregular`, irregular forms are alternatives."""
    aliases = own_aliases(config.aliases)
    terms_with_weights: list[tuple[Term, dict[str, float]]] = []
    for term in wanted:
        word = _word(term)
        others = dict.fromkeys(forms(word), 1.0) if irregular and word and not term.column else {}
        if aliases:
            names = (word, *bases(word)) if word else (fold(term.exact),)
            known = (aliases.get(name, ()) for name in names)
            others = {other: ALIAS_WEIGHT for synonyms in known for other in synonyms} | others
        terms_with_weights.append((term, others))
    for head in _aliased_phrases(question, aliases) if aliases else ():
        _add_phrase_aliases(terms_with_weights, head, aliases[head])
    return [
        Concept(term, tuple(others.items()), 1.0 if irregular else _weight(term))
        for term, others in terms_with_weights
    ]


def _weight(term: Term) -> float:
    """Return the weight of a term in notes, which is low for small talk. In conversations, the same
    words are often what a question is about."""
    is_plain = len(term.words) == 1 and not (term.exact or term.column)
    return SMALL_TALK_WEIGHT if is_plain and is_small_talk(term.words[0]) else 1.0


def _term(words: str) -> Term:
    if not words.isascii() and re.fullmatch(f"[{UNSPACED}]+", words):
        return Term(tuple(words), "spaced")
    return Term(tuple(words.split()))


def _word(term: Term) -> str:
    """Return the folded word, or run of characters, that may have aliases; '' for other terms."""
    if term.column == "spaced":
        return fold("".join(term.words))
    return fold(term.words[0]) if len(term.words) == 1 and not (term.column or term.exact) else ""


# -- aliases ---------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def own_aliases(entries: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the aliases of each folded word. All words in `word=other, words` are equivalent."""
    found: dict[str, dict[str, None]] = {}
    for word, others in map(split_alias, entries):
        group = [word, *others] if word and others else []
        for member in group:
            found.setdefault(member, {}).update(dict.fromkeys(o for o in group if o != member))
    return {word: tuple(others) for word, others in found.items() if others}


def split_alias(entry: str) -> tuple[str, tuple[str, ...]]:
    """Return (word, others) of `word=other, words`, folded, without duplicates."""
    word, _, rest = entry.partition("=")
    word, *others = [fold(" ".join(part.split())) for part in (word, *rest.split(","))]
    return word, tuple(dict.fromkeys(other for other in others if other and other != word))


def _aliased_phrases(question: str, aliases: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the aliased phrases, of several words or characters, that occur in a question."""
    long = [head for head in aliases if not (head.isascii() and head.isalnum())]
    if not long:
        return
    folded = fold(question)
    pieces = [{piece, *bases(piece)} for piece in re.findall(_PIECE, folded)]
    for head in long:
        parts = re.findall(_PIECE, head)
        if re.fullmatch(f"[{UNSPACED}]{{2,}}", head):
            if head in folded:
                yield head
        elif len(parts) > 1 and any(
            all(part in piece for part, piece in zip(parts, pieces[at:], strict=False))
            for at in range(len(pieces) - len(parts) + 1)
        ):
            yield head


def _add_phrase_aliases(
    every: Sequence[tuple[Term, dict[str, float]]], head: str, others: Sequence[str]
) -> None:
    """Divide the weight of the aliases of a phrase among the terms of the question that are part of
    it."""
    parts = set(re.findall(_PIECE, head))
    pairs = {head[at : at + 2] for at in range(len(head) - 1)}
    own_weights = []
    for term, weights in every:
        word = _word(term)
        is_part = word in pairs if term.column == "spaced" else parts & {word, *bases(word)}
        if word and (is_part or word == head):
            own_weights.append(weights)
    for weights in own_weights:
        for other in others:
            weights.setdefault(other, ALIAS_WEIGHT / len(own_weights))


# -- forms of English words ------------------------------------------------------------------------

_GROUPS = """
    arise arose arisen, awake awoke awoken, bear bore borne, beat beaten, become became,
    begin began begun, bend bent, bind bound, bite bit bitten, bleed bled, blow blew blown,
    break broke broken, breed bred, bring brought, build built, burn burnt, buy bought,
    catch caught, choose chose chosen, cling clung, come came, creep crept, deal dealt, dig dug,
    draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, eat ate eaten,
    fall fell fallen, feed fed, feel felt, fight fought, find found, flee fled, fly flew flown,
    forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven,
    freeze froze frozen, get got gotten, give gave given, go went gone, grind ground,
    grow grew grown, hang hung, hear heard, hide hid hidden, hold held, keep kept, kneel knelt,
    know knew known, lay laid, lead led, lean leant, leap leapt, learn learnt, leave left,
    lend lent, light lit, lose lost, make made, mean meant, meet met, overcome overcame, pay paid,
    prove proven, ride rode ridden, ring rang rung, rise rose risen, run ran, say said,
    see saw seen, seek sought, sell sold, send sent, shake shook shaken, shine shone, shoot shot,
    show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept,
    slide slid, speak spoke spoken, speed sped, spell spelt, spend spent, spin spun,
    spring sprang sprung, stand stood, steal stole stolen, stick stuck, sting stung, sow sown,
    sew sewn, mow mown, shear shorn, slay slew slain, sling slung, spit spat, stink stank stunk,
    strike struck, strive strove striven, swear swore sworn, sweep swept, swell swollen,
    swim swam swum, swing swung, take took taken, teach taught, tear tore torn, tell told,
    tread trod trodden, think thought, throw threw thrown, understand understood,
    undertake undertook undertaken, wake woke woken, wear wore worn, weave wove woven, weep wept,
    win won, wind wound, withdraw withdrew withdrawn, write wrote written, child children,
    man men, woman women, person people, foot feet, tooth teeth, goose geese, mouse mice, ox oxen,
    life lives, wife wives, knife knives, leaf leaves, half halves, loaf loaves, shelf shelves,
    thief thieves, wolf wolves, calf calves, self selves, analysis analyses, basis bases,
    crisis crises, hypothesis hypotheses, thesis theses, criterion criteria, phenomenon phenomena,
    datum data, medium media, index indices, matrix matrices, vertex vertices,
    appendix appendices, good better best, bad worse worst
"""

_FORMS = {
    word: tuple(other for other in group.split() if other != word)
    for group in _GROUPS.split(",")
    for word in group.split()
}
_ENDINGS = ("ing", "es", "s")  # `going` and `goes` are forms of `go`, and so of `went`


def forms(word: str) -> tuple[str, ...]:
    """Return the irregular forms of a folded word; () for a regular word."""
    if word in _FORMS:
        return _FORMS[word]
    if word.endswith(("us", "as")):  # a stemmer treats `bus` as a plural
        return (f"{word}es",)
    if word.endswith(("uses", "ases")):
        return (word[:-2],)
    for ending in _ENDINGS:
        root = word.removesuffix(ending)
        for base in (root, f"{root}e", root[:-1]) if root != word else ():
            if base in _FORMS:
                return tuple(other for other in _FORMS[base] if other != word)
    return ()


def bases(word: str) -> list[str]:
    """Return the possible base forms of a folded word, and its plural: `slug` for *slugs*, `deploy`
    for *deploying*, `docs` for *doc*. Some of them do not exist."""
    found = [f"{word}s", *forms(word)]
    if word.endswith("y"):
        found.append(f"{word[:-1]}ies")
    if word.endswith("ies"):
        found.append(f"{word[:-3]}y")
    for ending in ("s", "es", "ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 1:
            found.append(root)
            if ending in ("ed", "ing"):
                found.append(f"{root}e")
                found += [root[:-1]] if root[-1] == root[-2] else []
    return found
