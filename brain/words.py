"""Normalise words for comparison: folding, the stems of FTS5's porter tokenizer, stop words, and
the irregular forms that a stemmer does not find (*went* and *go*)."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has
    have having he her here hers him his how i if in into is it its itself just many me might more
    most much must my no nor not of off on once only or other our out over own same shall she should
    so some such than that the their them then there these they this those through to too under
    until up us very was we were what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905 - a list of them would fill the page
)
# Words without meaning in a question, although they may have one in a statement.
FILLERS = frozenset(
    """
    anything cannot done either else ever every get gets getting give goes going got however keep
    let like may need never nothing now one please put see show since someone something still tell
    thing things though thus try trying upon use used using want wants way without yes yet yours
    """.split()  # noqa: SIM905
)

# Words that say little about a topic, in any form: "yes, go on", "looks good", "the last thing".
_SMALL_TALK = """
    actually answer anybody anyone anything ask away bad best better big bit bring bye came check
    come continue cool correct done else ever every everybody everyone everything exactly example
    explain find fine first found gave get give go goes going gone good got great guess hello help
    hey hi idea keep kept kind knew know known last later least less let like little long look lot
    made make maybe mean mind need never new next nice nobody nothing now okay old one perfect
    perhaps please possible probably problem put question quick quite ready real really reason right
    said saw say see seem seen sense show simple somebody someone something sorry sound start still
    stuff sure take taken talk tell thank thanks thing think thought today told tomorrow took tried
    true try understand use useful want way welcome well went whether without wonder work worked
    worry wrong yeah yep yes yesterday yet ok nope agreed proceed
"""

_C = "(?:[^aeiou][^aeiouy]*)"  # a run of consonants; only the first may be a y
_V = "(?:[aeiouy][aeiou]*)"
_MEASURE_ABOVE_0 = re.compile(f"^{_C}?{_V}{_C}")  # measure > 0
_MEASURE_1 = re.compile(f"^{_C}?{_V}{_C}{_V}?$")  # measure = 1
_MEASURE_ABOVE_1 = re.compile(f"^{_C}?{_V}{_C}{_V}{_C}")  # measure > 1
_VOWEL = re.compile(f"^{_C}?[aeiouy]")
_SHORT = re.compile(f"^{_C}[aeiouy][^aeiouwxy]$")  # ends as `hop` does
_MAX_LENGTH = 64  # bytes: FTS5 does not stem longer words

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "logi": "log", "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous",
    "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive",
    "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip


def fold(text: str) -> str:
    """Return the text in lower case without accents. The number of characters does not change, so
    offsets are still valid."""
    if text.isascii():
        return text.lower()
    return "".join([char.lower() if char < "\x80" else _fold_char(char) for char in text])


def _fold_char(char: str) -> str:
    folded = normalize("NFD", char)[0].lower()
    return folded if len(folded) == 1 else char


def casefold(name: str) -> str:
    """Return a tag, link or heading for comparison: with composed accents, without case."""
    return normalize("NFC", name).casefold()


@lru_cache(maxsize=1)
def _small_talk() -> frozenset[str]:
    return frozenset(map(stem, _SMALL_TALK.split()))


def is_small_talk(word: str) -> bool:
    """Return True for a word that says little about a topic, such as *look* or *thanks*."""
    word = fold(word)
    return word in STOP_WORDS or word in FILLERS or stem(word) in _small_talk()


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return the stem of a folded word. As in FTS5, each byte counts as a letter, so ß counts as
    two."""
    data = word.encode("utf-8", "replace")
    if not 3 <= len(data) <= _MAX_LENGTH:
        return word
    if len(data) > len(word):
        return _stem(data.decode("latin-1")).encode("latin-1").decode("utf-8", "replace")
    return _stem(word)


def _stem(word: str) -> str:
    if word.startswith("y"):  # at the beginning of a word, y is a consonant
        return f"y{_stem('Y' + word[1:])[1:]}"
    word = _without_past(_without_plural(word))
    if word.endswith("y") and _VOWEL.match(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replace_suffix(word, _STEP_2)
    word = _replace_suffix(word, _STEP_3)
    return _without_final_e(_without_suffix(word))


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")) and word not in ("sses", "ies"):  # as in FTS5
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past(word: str) -> str:
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _MEASURE_ABOVE_0.match(word[:-3]) else word
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and _VOWEL.match(root):
            return _complete(root)
    return word


def _complete(root: str) -> str:
    """Return the verb for a root: `hope` for `hop` (of `hoping`), `hop` for `hopp` (`hopping`)."""
    if root.endswith(("at", "bl", "iz")):
        return f"{root}e"
    if len(root) > 1 and root[-1] == root[-2].lower() and root[-1] not in "aeioulsz":
        return root[:-1]
    return f"{root}e" if _MEASURE_1.match(root) and _SHORT.match(root) else root


def _replace_suffix(word: str, endings: dict[str, str]) -> str:
    if not word.endswith(tuple(endings)):  # true for most words, and faster than the loop
        return word
    for ending, replacement in endings.items():
        if word.endswith(ending):
            root = word.removesuffix(ending)
            return root + replacement if _MEASURE_ABOVE_0.match(root) else word
    return word


def _without_suffix(word: str) -> str:
    if not word.endswith(_STEP_4):
        return word
    for ending in _STEP_4:
        if word.endswith(ending):
            root = word.removesuffix(ending)
            fits = _MEASURE_ABOVE_1.match(root) and (ending != "ion" or root.endswith(("s", "t")))
            return root if fits else word
    return word


def _without_final_e(word: str) -> str:
    if word.endswith("e"):
        root = word[:-1]
        if _MEASURE_ABOVE_1.match(root) or (_MEASURE_1.match(root) and not _SHORT.match(root)):
            word = root
    if word.endswith("ll") and _MEASURE_ABOVE_1.match(word[:-1]):
        word = word[:-1]
    return word


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
