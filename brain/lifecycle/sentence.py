"""A sentence, read for comparison with another.

The content words of a sentence count, as stems. Words that say the same here ("maximum", "cap")
have one root. A clause with an odd number of denials ("not", "stopped", "disabled") is denied, and
so is B in "A instead of B". Numbers with their units, dates, times, and words that exclude each
other ("public", "private") are values of a type. A sentence that does not say something definite
cannot be compared: a question, a condition, a plan, a guess, or a partial statement ("some").
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


class Word(NamedTuple):
    """A content word, and the words around it, in lower case and without articles."""

    root: str
    type: str  # of a value; "" of any other word
    denied: bool
    clause: int
    name: bool  # written as a name or as code
    before: str  # "" at the beginning of a clause
    after: str  # "" at the end of a clause


class Sentence(NamedTuple):
    """The content words of a sentence, and all its words in lower case."""

    words: tuple[Word, ...]
    every: frozenset[str]
    past: bool
    indefinite: bool  # it begins with "a"
    optional: bool  # "need not", "does not have to"

    def roots(self, denied: bool | None = None) -> set[str]:
        """Return the roots of its words, or of those that are denied, or that are not."""
        return {word.root for word in self.words if denied in (None, word.denied)}


@lru_cache(64)  # one text is compared with many
def sentences(text: str) -> tuple[Sentence | None, ...]:
    """Return a text without nested lines as one, and its sentences if there are several.

    None stands for one that cannot be compared.
    """
    said = normalize("NFKC", prose(without_links(text)))
    said = said.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("\N{MINUS SIGN}", "-")
    said = _TITLE.sub(r"\1", said)
    said = " ".join(_NESTED.split(said, maxsplit=1)[0].split())
    parts = [part for part in _END.split(said) if part]
    return tuple([_sentence(part) for part in (parts if len(parts) == 1 else [said, *parts])])


def _sentence(part: str) -> Sentence | None:
    if len(part) > LONGEST or part.endswith(("?", ":")):
        return None
    lower_part = part.casefold()
    for trigger, pattern, replacement in _REWRITES:
        if trigger in lower_part:
            part = pattern.sub(replacement, part)
    clauses = [_WORD.findall(clause) for clause in _CLAUSE.split(part)]
    lower = [word.casefold() for clause in clauses for word in clause]
    if _CONDITION.search(part) or not _UNSURE.isdisjoint(lower) or _NO_SUBJECT.match(part) or _STEP.match(part):
        return None
    words: list[Word] = []
    for at, clause in enumerate(clauses):
        words += _clause(clause, at, first=not words)
    return Sentence(
        words=tuple(words),
        every=frozenset(lower),
        past=_CHANGES.isdisjoint(map(stem, lower))
        and (not EVENTS.isdisjoint(lower) or any(map(_is_past, clauses))),
        indefinite=lower[1:2] != ["single"] and lower[0] in ("a", "an", "ein", "eine", "un", "une", "una"),
        optional=bool(_OPTIONAL.search(" ".join(lower))),
    )


def _clause(raw: list[str], clause: int, first: bool) -> list[Word]:
    """Return the content words of a clause. A denial denies all of them, "instead of" those up to
    the next preposition."""
    raw = [word for word in raw if word.casefold() not in _ARTICLES | _ADVERBS]
    lower = [_NUMBERS.get(word.casefold(), word.casefold()) for word in raw]
    denials = 0
    over = False
    found: list[Word] = []
    for at, word in enumerate(lower):
        code = raw[at].startswith("`")
        root = word.strip("`") if code else root_of(word)
        if word == OVER or (over and word in PREPOSITIONS):
            over = word == OVER
        if word in _DENIALS or root in _NEGATIVE:
            denials += 1
        elif code or not (word in _EMPTY or root in _VAGUE or _is_unit(lower, at)):
            after = lower[at + 1] if at + 1 < len(lower) else ""
            before = lower[at - 1] if at else ""
            type, root = _value(root, raw[at], before, after)
            name = code or not word.isalpha() or raw[at] != word
            found.append(Word(root, type, over, clause, name, before, after))
    return [word._replace(denied=word.denied != (denials % 2 == 1)) for word in found]


def root_of(word: str) -> str:
    root = stem(word) if word.isalpha() else word
    if root.endswith("or") and len(root) > 6:  # "contributor", "contribute"
        root = root[:-2]
    return _ALIKE.get(root, root)


def _is_unit(lower: list[str], at: int) -> bool:
    return at > 0 and lower[at - 1][:1].isdigit() and stem(lower[at]) in UNITS


def _value(root: str, word: str, before: str, after: str) -> tuple[str, str]:
    """Return the type of a value, and the value: seconds for "2 min"; ("", root) for a word."""
    if root in _TYPES:
        return _TYPES[root], root
    if not _NUMBER.match(_NUMBERS.get(word.casefold(), word)):
        return "", root
    number = root.lstrip("v").replace(",", "")
    unit = stem(after)
    if ":" in number or UNITS.get(unit, ("", 0))[0] == "clock" or (before in _AT and len(number) < 3 and not unit):
        hour, _, minute = number.partition(":")
        return "clock", f"{int(hour) + 12 * (unit == 'pm')}:{minute or '00'}"
    if stem(before) in _MONTHS or stem(after) in _MONTHS or _DAY.match(word):
        return "date", number
    type, factor = UNITS.get(unit, ("number", 1.0))
    type = "interval" if before in ("every", "each") else type
    try:
        return type, f"{float(number) * factor:.9g}" if factor != 1.0 else number
    except ValueError:
        return "number", number


def _is_past(raw: list[str]) -> bool:
    """Return True for an event: a verb in the past. What was changed has a state now."""
    if not _BE.isdisjoint(raw[1:]):
        return False
    for at, word in enumerate(map(str.casefold, raw)):
        if word in _PAST or (word.endswith("ed") and len(word) > 4):
            after = raw[at + 1] if at + 1 < len(raw) else ""
            if stem(word) in _NEGATIVE or stem(word) in _TYPES:
                continue
            # "failed jobs" is not about the past, "failed the test" and "visited Rome" are
            if not at or word in _PAST or after[:1].isdigit() or after in _ARTICLES | PREPOSITIONS:
                return True
    return False


# -- words -----------------------------------------------------------------------------------------


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


def stem_set(text: str) -> frozenset[str]:
    """Return the stems of a list of words."""
    return frozenset(map(stem, text.split()))


_END = re.compile(r"(?<=[.!?])\s+|;\s+(?!(?:it|they|she|he)\b)")
_TITLE = re.compile(r"\b(Dr|Mrs?|Ms|St|Prof|No|vs|approx|e\.g|i\.e)\.(?= )")
_NESTED = re.compile(r"\n(?=\s*(?:\n|(?:[-*+]|\d{1,9}[.)])\s))")
_CLAUSE = re.compile(r"[,:;()!\u2013\u2014]+(?:\s|$)|\.\s|\s[-(]+\s?|\s(?:but|while)\s")
_WORD = re.compile(r"`[^`]+`|\d+(?:,\d{3})+\b|[~./@#$]*\w(?:[\w.+#/:@'-]*[\w+#])?|[%°€$]+C?")
_STEP = re.compile(r"(?:enable|disable|add|remove|turn o\w+) an? ", re.IGNORECASE)
# The subject is in another sentence, or there is none.
_NO_SUBJECT = re.compile(
    r"to [^,]*$|(?:they|he|she|it(?! is (?:\w+ )?(?:to|that))|(?:this|that)(?= is\b)) ",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(r"\bnot (?:have|need|required|necessar\w+|always|all|every)\b|\bneed not\b")
_NUMBER = re.compile(r"[v-]?\d|[A-HJ-Z]$")  # "room B" has a number too
_CONDITION = re.compile(r"\b(?:no|not|never|nobody)\b.*\bwithout\b|^\W*$", re.I)
_DAY = re.compile(r"\d{4}-\d\d-\d\d$|\d{1,2}\.\d{1,2}\.|\d{1,2}(?:st|nd|rd|th)$")
_REWRITES = tuple(
    (trigger, re.compile(rf"\b(?:{pattern})" if pattern[0].isalpha() else pattern, re.I), new)
    for trigger, pattern, new in (
        ("", r"[,;]?\s\(?(?:because|since|so that|as it|which|due to|otherwise|to avoid)\b.*", ""),
        ("-", r"\(?\b\d{4}-\d{2}-\d{2}\b\)?(?=\s*[:,]|\s*$)", " "),
        ("can", r"can(?:not|'t)\b", "can not"),
        ("won't", r"won't\b", "will not"),
        ("n't", r"(?<=\w)n't\b", " not"),
        ("ont", r"dont\b", "do not"),
        ("'", r"(?<=\w)'(?:s|re|ll|ve|d|m)\b", " is"),
        ("'", r"\b[nldjsc]'(?=\w)", " "),
        ("not", r"not (?:only|just|merely)\b", " "),
        ("no l", r"no longer\b", "not"),
        ("no ", r"(?:no|not) (later|earlier|more|less|fewer) than\b", r"\1"),
        ("any", r"any ?(?:more|longer)\b|yet\b", " "),
        (" few", r"\ba (?:few|lot|bit)\b", " "),
        ("ne of", r"one of\b", "some of"),
        ("lan", r"plan(?:s|ned|ning)? (?:to|on|for)\b", "maybe"),
        (" to", r"(?:decided|agreed|opted) (not )?to\b", r"\1"),
        (" of", r"instead of\b|in favou?r of\b", OVER),
        ("than", r"(?:rather|better|more) than\b", OVER),
        (" not ", r",(?: and| but)? not\b(?! to\b)", f" {OVER} "),
        (" over ", r"((?:prefer|favou?r|cho+se|pick)\w* [^,;]*?)\bover\b", rf"\1 {OVER}"),
        (" to ", r"((?:prefer|favou?r)\w* (?!to\b)[^,;]*?)\bto\b", rf"\1 {OVER}"),
        ("from", r"((?:switch|mov|migrat|chang)\w*) (?:\w+ )?from (.+?) to\b", rf"{OVER} \2 , to"),
        ("eplac", r"replaced by\b", "removed , with"),
        ("over from", r"took over from\b", OVER),
        ("went", r"went (?:up|down)\b", "raised"),
        ("new", r"\b(an?|the|our|my) new\b", r"\1"),
        ("stand", r"can not stand\b", "dislike"),
        ("off", r"off[ -]limits\b", "forbidden"),
        (" of", r"(?<=\d)(st|nd|rd|th) of\b", r"\1"),
        ("eplac", r"replac\w+ (\S+) (?:with|by)\b", rf"{OVER} \1 , with"),
        (" on", r"(?:turn|switch)\w* on\b|\b(?:is|are) on(?=[.,!]?$| for\b| in\b| by\b)", "enable"),
        (" off", r"(?:turn|switch)\w* (?:\w+ )?off\b", "disable"),
        ("last ", r"last (?=week|month|year|night|time|sprint|\w+day\b)", "yesterday "),
        ("next ", r"next (?=week|month|year|night|time|sprint|\w+day\b)", "tomorrow "),
        ("may", r"\b(?-i:May) (?=\d)|(?<=\d )(?-i:May)\b", "mai "),
        ("march", r"\b(?-i:March)\b", "märz "),
        ("wice", r"twice\b", "2 times"),
        ("nce a", r"once (?=an? )", "1 time "),
        ("at ", r"at (?:least|minimum)\b", "min"),
        ("or ", r"or (?:newer|later|higher|above|more)\b", "min"),
        ("t", r"at (?:most|maximum)\b|up to\b", "max"),
        ("d to", r"used to\b", "was"),
        (" case", r"(lower|upper|camel|snake|kebab|pascal) case\b", r"\1case"),
        ("", r"(?:every|each|(?:1 time )?an?|per) (hour|day|week|month|year)\b", r"\1ly"),
        (" in ", r"(?:is|are|sits?) in (?=(?-i:[A-Z`~/]|\w+-\w*\d))", "lives in "),
        ("", r"(?<=\d)[ -]?(?=(?:ms|s|min|h|d|[kmgt]b|px|am|pm|k|°C)\b|%)", " "),
        ("-", r"(?<=\d)-(?=[a-z]{3})", " "),
        ("-", r"(?<![\w-])([a-z]+)-([a-z]+)(?![\w-])", r"\1 \2"),
    )
)  # fmt: skip
_DENIALS = word_set(
    "not never no without nobody none nothing nicht nie niemals kein keine keinen keinem keiner"
    " pas jamais aucun aucune nunca jamás ningún ninguna"
)
_NEGATIVE = stem_set(
    "disable off forbid forbidden ban prohibit disallow deny reject refuse remove drop stop cease"
    " avoid skip exclude hide dislike hate inactive false quit abandon cancel retire discontinue"
    " against deprecated obsolete refrain unsafe dangerous optional lack missing absent deactivate broken ignore ditch scrap withdraw revoke suspend"
    " block prevent decline veto illegal taboo unable impossible unavailable unsupported incompatible discourage unwanted"
)
_POSITIVE = stem_set(
    "enable on active activate allow permit accept include show like love enjoy want use run true safe ok"
    " okay fine add required mandatory necessary good welcome available exist find found with"
    " prefer favor favour choose chose decide agree adopt introduce continue resume legal possible"
    " able compulsory obligatory recommend encourage wanted desired fan happy adore appreciate rely mag mögen gern"
)
PREPOSITIONS = word_set("in on at for of to from with by into as per")
_ARTICLES = word_set(
    "a an the my our your his her its their this that these those der die das den dem des ein eine"
    " einen einem einer le la les l un une du el los las una ne de del"
)
_ADVERBS = word_set("now still currently already just also actually jetzt ahora maintenant really")
_BE = word_set("is are be being am gets get was were been have has stays remains")
_EMPTY = _ARTICLES | PREPOSITIONS | _BE | {OVER} | word_set(
    "it we i you they he she us me him them do does and or then there so up always must should shall"
    " may can will would need needs had ever please about now still just really strictly all any"
    " every each currently generally got already actually both everywhere directly straight via"
    " only too also instead through wherever within enough what who once one immer toujours siempre"
    " wir nous está est es ist sind wird werden en jetzt ahora maintenant été lieu au aux läuft auf"
    " im han ha hat haben"
)
# Words that tell neither what a sentence is about nor what it says of it.
_VAGUE = _POSITIVE | stem_set(
    "decision say make let go come take set stay happen place pick code file value version"
    " time return get put give provide handle perform execute apply serve last leave remain raise"
    " lower increase reduce extend change update upgrade switch reschedule become region term need"
)
_UNSURE = word_set(
    "some sometimes often mostly most many few several partly half maybe perhaps might could rarely"
    " seldom occasionally probably likely other another either neither nor if whether unless except"
    " discussed consider considered considering proposed propose suggested thinking idea eventually"
    " someday"
)
EVENTS = word_set(
    "was were did had yesterday today tonight tomorrow ago earlier formerly previously"
    " originally initially"
)
_PAST = word_set(
    "took went ran bought sold gave saw met came found sent wrote spent won lost fell began"
    " became built felt heard left paid said told thought grew knew"
)
_CHANGES = stem_set(
    "moved switched turned repainted renamed changed replaced picked chose agreed raised lowered"
    " increased reduced extended shortened migrated updated rewritten made converted postponed rescheduled"
    " upgraded downgraded bumped"
)
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {"single": "1", "double": "2", "fifteen": "15", "twenty": "20", "thirty": "30"}
# Words that say the same in a rule or a fact; the first is the root of all.
_ALIKE = {
    stem(word): line.split()[0]
    for line in (
        "max maximum cap limit limited highest longest ceiling", "min minimum lowest earliest oldest",
        "live reside based located sit situated move relocate home", "long length", "pay payment paid",
        "keep kept retain retention store save", "access touch reach", "paint repaint",
        "own owner lead led leader maintain maintainer manage manager responsible charge head chair boss",
        "begin start starting commence", "finish end", "answer reply", "licens licence license",
        "due deadline submitted submit", "listen exposed reachable bound",
        "deploy deployment ship release rollout", "repo repository", "db database", "prod production",
        "config configuration", "app application", "dev development", "docs doc documentation",
        "env environment", "lib library package dependency", "auth authentication login signin",
        "admin administrator", "kid child children", "flat apartment", "car vehicle", "bike bicycle",
        "price cost fee", "salary wage", "fix repair", "buy purchase bought", "big large", "size big",
        "fast quick", "edit modify alter", "meet meeting met", "photo picture image", "trip journey",
        "test spec", "approv reviewer review signoff", "retri attempt retry", "holiday vacation",
        "doctor physician", "mother mum mom", "father dad", "colour color", "sum total", "job task",
        "feed fed", "write written wrote", "send sent", "build built", "hold held", "eat eaten ate",
        "drink drunk", "drive driven", "wear worn", "teach taught", "sleep slept", "give given gave",
        "choose chosen", "speak spoken talk",
    )
    for word in line.split()
}  # fmt: skip
_AT = word_set("at um until till las")
_MONTHS = stem_set(
    "january february märz april mai june july august september october november december januar"
    " februar juni juli oktober dezember janvier février mars avril juin juillet août septembre"
    " octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre"
    " octubre noviembre diciembre"
)
_DAYS = stem_set(
    "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag"
    " freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes"
    " miércoles jueves viernes sábado domingo"
)
# The values of each line exclude each other.
_TYPES = {
    stem(word) if word.isalpha() else word: line.split()[0]
    for line in (
        "colour red orange yellow green blue purple black white grey gray brown pink",
        "daytime morning afternoon evening night noon midnight",
        "season spring summer autumn winter fall",
        "frequency hourly dayly daily weekly biweekly monthly quarterly yearly annually",
        "language english german french spanish italian portuguese dutch polish russian chinese",
        "case snake_case camelcase kebab-case pascalcase snakecase uppercase lowercase",
        "floor second third fourth fifth sixth seventh eighth ninth",
        "indent tabs spaces", "automation manually automatically manual automatic",
        "state open closed ouvert fermé abierto cerrado geöffnet geschlossen",
        "access public private", "scope internal external", "side left right", "speed slow fast",
        "result passes fails succeeds", "order ascending descending", "charge free paid",
        "level high low", "heat hot cold", "theme light dark", "line online offline",
        "timing synchronous asynchronous", "reach local global", "fill full empty",
        "hour early late", "where inside outside indoors outdoors upstairs downstairs",
        "diet vegetarian vegan", "means cash card", "number_of singular plural", "strictness strict"
        " lenient",
    )
    for word in line.split()[1:]
} | dict.fromkeys(_MONTHS, "date") | dict.fromkeys(_DAYS, "day")  # fmt: skip
UNITS = {
    stem(unit): (type, factor)
    for type, units in {
        "duration": "ms .001 millisecond .001 second 1 sec 1 s 1 minute 60 min 60 hour 3600 h 3600"
        " day 86400 d 86400 week 604800 month 2629800 year 31557600 tage 86400 stunden 3600"
        " minuten 60 wochen 604800 jours 86400 heures 3600 días 86400 horas 3600 minutos 60",
        "size": "kb 1 mb 1e3 gb 1e6 tb 1e9 byte .001",
        "clock": "am 1 pm 12 uhr 1 utc 1 cet 1",
        "share": "percent 1 % 1",
        "degrees": "° 1 °c 1 degree 1",
        "money": "€ 1 $ 1 euro 1 eur 1 dollar 1 usd 1 k 1e3",
        "number": "time 1 space 1 character 1 column 1 px 1 km 1 kg 1 mg 1 cm 1 retry 1 attempt 1",
    }.items()
    for unit, factor in zip(units.split()[::2], map(float, units.split()[1::2]), strict=True)
}
