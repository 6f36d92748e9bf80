"""A sentence of a memory as it is compared with another: its words and whether it is denied.

What can be written in several ways ("don't", "no longer", "avoid", "instead of") is rewritten into
one way first. A sentence that does not say something definite cannot be compared: a question, a
condition, a guess, or a partial statement ("some", "sometimes").
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

from brain.formats.prose import prose, without_links
from brain.formats.stems import stem
from brain.record import NamedTuple

LONGEST = 400  # characters of a sentence that is compared
OVER = "insteadof"  # the word for all ways to say that one thing is chosen and not another


class Sentence(NamedTuple):
    """A sentence as it is compared.

    `words` are its content words as stems. `denied` is True after an odd number of denials. `all`
    are all words but articles and denials, in lower case, and `raw` are the same as written.
    """

    words: tuple[str, ...]
    denied: bool
    optional: bool  # "need not", "does not have to"
    bound: bool  # "must", "always"
    all: tuple[str, ...]
    raw: tuple[str, ...]
    past: bool
    article: str  # "the" or "a", if it begins with such a word


@lru_cache(64)  # one text is compared with many
def sentences(text: str) -> tuple[Sentence | None, ...]:
    """Return the sentences of a text without nested lines; None for one that cannot be compared."""
    said = normalize("NFKC", prose(without_links(text))).replace(
        "\N{RIGHT SINGLE QUOTATION MARK}", "'"
    )
    said = " ".join(_NESTED.split(said, maxsplit=1)[0].split())
    return tuple([_sentence(part) for part in _END.split(said) if part])


def _sentence(part: str) -> Sentence | None:
    """Return None for a sentence that does not say something definite, or too much."""
    if len(part) > LONGEST:
        return None
    part = rewritten(part)
    raw = [word.strip("`").rstrip(".,:'/") or word for word in _WORD.findall(part)]
    lower = [word.casefold() for word in raw]
    if part.endswith(("?", ":")) or not _UNSURE.isdisjoint(lower) or _NO_SUBJECT.match(part):
        return None
    words: list[str] = []
    every: list[tuple[str, str]] = []
    denied = False
    for word, as_written in zip(lower, raw, strict=True):
        root = stem(word) if word.isalpha() else word
        # "Disable a plugin" is a step and not a rule
        step = not every and not words and _STEP.match(part)
        if word in _DENIALS or (root in _NEGATIVE and not step):
            denied = not denied
            root = word = _DENIALS.get(word, "") or _NEGATIVE.get(root, "")
        word = _NUMBERS.get(word, word.replace(",", ""))
        if word and word not in ARTICLES:
            every.append((word, as_written))
        if word and word not in EMPTY:
            words.append(_NUMBERS.get(root, root))
    joined = " ".join(lower)
    return Sentence(
        words=tuple(words),
        denied=denied,
        optional="not" in lower and bool(_OPTIONAL.search(joined)),
        bound=bool(_BOUND.search(joined)),
        all=tuple([word for word, _ in every]),
        raw=tuple([as_written for _, as_written in every]),
        past=_is_past(lower, raw),
        article=_FIRST.get(lower[0], "") if lower else "",
    )


def rewritten(part: str) -> str:
    """Return a sentence without its reason, and in the way in which it is compared."""
    part = _REASON.sub("", part)
    for trigger, pattern, replacement in _REWRITES:
        if trigger in part:
            part = pattern.sub(replacement, part)
    if _PREFERS.search(part):
        part = _OVER.sub(OVER, part) if " over " in part else _TO.sub(rf"\1 {OVER} ", part)
    return part


def _is_past(lower: list[str], raw: list[str]) -> bool:
    """Return True for an event: a verb in the past, or a day such as yesterday."""
    if not _EVENT.isdisjoint(lower):
        return True
    if not IS.isdisjoint(lower):
        return False
    for at, word in enumerate(lower):
        if not (word in _PAST or (word.endswith("ed") and len(word) > 4)):
            continue
        earlier = [other for other in lower[max(0, at - 3) : at] if other not in _SKIPPED]
        if earlier and earlier[-1] in _BE:
            continue
        after = raw[at + 1] if at + 1 < len(raw) else ""
        # "failed jobs" is not about the past, "failed the test" and "visited Rome" are
        if not at or word in _PAST or not after.islower() or after in _OBJECTS:
            return True
    return False


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


def stem_set(text: str) -> frozenset[str]:
    """Return the stems of a list of words."""
    return frozenset(map(stem, text.split()))


_REWRITES = tuple(
    (trigger, re.compile(pattern, re.IGNORECASE), replacement)
    for trigger, pattern, replacement in (
        ("-", r"\(?\b\d{4}-\d{2}-\d{2}\b\)?(?=\s*[:,]|\s*$)", " "),
        ("can", r"\bcan(?:not|'t)\b", "can not"),
        ("won't", r"\bwon't\b", "will not"),
        ("n't", r"(?<=\w)n't\b", " not"),
        ("ont", r"\bdont\b", "do not"),
        ("not", r"\bnot (?:only|just|merely)\b", " "),
        (" to", r"\b(?:decided|agreed|opted) (not )?to\b", r"\1"),
        ("decided against", r"\bdecided against\b", "avoid"),
        ("no longer", r"\bno longer\b", "not"),
        ("any", r"\bany ?(?:more|longer)\b", " "),
        ("yet", r"\byet\b", " "),
        (
            "ing",
            r"\b(?:avoid|stop(?:ped|s)?|ceased?|quit|refrain(?:s|ed)? from) (\w+ing)\b",
            r"not \1",
        ),
        ("void", r"\bavoid(?:s|ed)?\b", "not use"),
        (" on", r"\b(?:turn|switch)(?:s|es|ed)? on\b", "enable"),
        (" off", r"\b(?:turn|switch)(?:s|es|ed)? off\b", "disable"),
        (" of", r"\binstead of\b", OVER),
        ("rather", r"\brather than\b", OVER),
        (" not ", r",(?: and| but)? not\b(?! to\b)", f" {OVER}"),
        ("allowed", r"\b(?:is|are) (not )?allowed to\b", r"may \1"),
        ("s the ", r"\b(is|as) the\b", r"\1_the"),
        ("s our ", r"\b(is|as) our\b", r"\1_the"),
        ("s on", r"\bis on(?=[.!]?$)", "is enabled"),
        ("e on", r"\bare on(?=[.!]?$)", "are enabled"),
        ("is in ", r"\bis in\b(?= (?-i:[A-Z]))", "is_in"),
        ("May", r"\b(?-i:May) (?=\d)|(?<=\d )(?-i:May)\b", "mai "),
        ("March", r"\b(?-i:March) (?=\d)|(?<=\d )(?-i:March)\b", "märz "),
        ("'", r"\b([nldjsc])'(?=\w)", r"\1 "),
        ("ne of", r"\bone of\b", "some of"),
        ("last ", r"\blast (?=week|month|year|night|time|sprint|\w+day\b)", "yesterday "),
        ("next ", r"\bnext (?=week|month|year|night|time|sprint|\w+day\b)", "tomorrow "),
        ("-", r"(?<=\d)-(?=[a-z]{3})", " "),
        ("with no", r"\bwith no\b", "without"),
        ("", r"(?<=\d)(?=(?:ms|s|min|h|d|[kmgt]b|px|am|pm|k)\b)", " "),
    )
)
_PREFERS = re.compile(r"\b(?:prefer|favou?r|cho+se)", re.IGNORECASE)
_OVER = re.compile(r"\bover\b")
_TO = re.compile(r"\b((?:prefer|favou?r|cho+se)\w* (?!to\b).*?)\bto\b", re.IGNORECASE)
_NESTED = re.compile(r"\n(?=\s*(?:\n|(?:[-*+]|\d{1,9}[.)])\s))")
_STEP = re.compile(r"\w+ an? ", re.IGNORECASE)
# The subject is in another sentence, or there is none.
_NO_SUBJECT = re.compile(r"to |(?:it|they|he|she|(?:this|that|there)(?= is\b)) ", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+|;")
_REASON = re.compile(
    r"[,;]?\s\(?(?:because|since|so that|as it|which|due to|otherwise|to avoid)\b.*", re.IGNORECASE
)
_WORD = re.compile(r"`[^`]+`|[~./@#$]*\w(?:[\w.+#/:@%'-]*[\w+#%])?")


# A word that denies, and what is left of it.
_DENIALS = {"without": "with"} | dict.fromkeys(
    word_set(
        "not never no nicht nie niemals kein keine keinen keinem keiner pas jamais aucun"
        " aucune nunca jamás ningún ninguna"
    ),
    "",
)
_NEGATIVE = {
    stem(negative): stem(positive)
    for negative, positive in (
        pair.split()
        for pair in (
            "disable enable", "off enable", "remove add", "exclude include",
            "forbid allow", "forbidden allow", "prohibit allow", "disallow allow", "ban allow",
            "reject accept", "hide show", "dislike like", "hate like", "false true",
            "optional required", "refuse accept", "skip run", "deny allow",
        )
    )
}  # fmt: skip
ARTICLES = word_set(
    "a an the my our your its this that these those der die das den dem des ein eine einen einem"
    " einer le la les l un une du el los las una ne n"
)
_FIRST = dict.fromkeys(("the", "our", "my"), "the")
_FIRST |= dict.fromkeys(("a", "an", "ein", "eine", "un", "une", "una"), "a")
PREPOSITIONS = word_set("in on at for of to from with by into as during under after before")
_BE = word_set("is are be being am gets get s re was were been is_the is_in")
IS = word_set("is are is_the ist sind est sont es son equals")
_OBJECTS = ARTICLES | PREPOSITIONS | word_set("it them us me him her and then all every each")
_SKIPPED = word_set("always now still currently also automatically manually only not never no")
EMPTY = (
    ARTICLES
    | _BE
    | word_set("in on at for of to as by it we i you they he she us me do does and then there")
    | word_set("always must should shall may can will would need needs have has ever please")
    | word_set("now still just really strictly all any every each immer toujours siempre wir nous")
    | word_set("currently generally code files file got already actually both everywhere as_the")
)
_UNSURE = word_set(
    "some sometimes often mostly most many few several partly half maybe perhaps might could rarely"
    " seldom occasionally probably likely other another either neither nor if whether"
    " unless except"
)
_EVENT = word_set("was were did had been yesterday today tonight tomorrow ago earlier")
_PAST = word_set(
    "took went ran bought made sold gave saw met came found sent wrote spent won lost fell began"
    " broke became built felt heard left paid said told thought grew knew"
)
_OPTIONAL = re.compile(r"\bnot (?:have|need|required|necessar\w+|always|all|every)\b|\bneed not\b")
_BOUND = re.compile(r"\b(?:must|always|have to|has to|needs? to|required|mandatory|all|every)\b")
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
}
