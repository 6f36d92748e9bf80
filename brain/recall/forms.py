"""Forms of English words that no stemmer brings together: *went* is a form of *go*."""

from __future__ import annotations

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
    """Other forms of a folded word; empty for one that is regular."""
    if word in _FORMS:
        return _FORMS[word]
    if word.endswith(("us", "as")):  # a stemmer takes `bus` for several of something
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
    """Words of which a folded word may be a form, and its own plural: `slug` for *slugs*, `deploy`
    for *deploying*, `docs` for *doc*. Some of them are no words."""
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
