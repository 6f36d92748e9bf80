"""Vocabulary for comparing sentences: words with the same, the opposite or no meaning."""

from __future__ import annotations

import re

from brain.words import stem

OVER = "insteadof"  # replaces all phrases for "this, and not that"


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


def stem_set(text: str) -> frozenset[str]:
    """Return the stems of a list of words."""
    return frozenset(map(stem, text.split()))


def root_set(text: str) -> frozenset[str]:
    """Return the roots of a list of words."""
    return frozenset(map(root, text.split()))


def root(word: str) -> str:
    """Return the stem of a lower-case word, or the root that it shares with its synonyms."""
    found = stem(word) if word.isalpha() else word
    if found.endswith("or") and len(found) > 6:  # "contributor", "contribute"
        found = found[:-2]
    return _ALIKE.get(found, found)


def rewritten(part: str) -> str:
    """Return a sentence without its reason ("because …"), with the same words for equivalent
    phrases."""
    part = _PHRASE.sub(_replacement, _REASON.sub("", part))
    for trigger, pattern, replacement in _REWRITES:
        if trigger in part:
            part = re.sub(pattern, replacement, part, flags=re.IGNORECASE)
    return part


def _replacement(match: re.Match[str]) -> str:
    return _PHRASES[match[0].lower()]


_REASON = re.compile(
    r"[,;]?\s\(?(?:because|since|so that|as it|which|due to|otherwise|to avoid)\b.*", re.IGNORECASE
)
_PHRASES = {
    phrase: new
    for new, phrases in {
        "can not": "can't,cannot", "will not": "won't", "do not": "don't,dont", "not": "no longer",
        "also": "not only,not just,not merely",
        " ": "without problems,without any problems,without issues,any more,anymore,any longer,yet,"
        "a few,a lot,a bit,"
        "decided to,agreed to,opted to",
        "not ": "decided not to,agreed not to",
        "later than": "no later than,not later than",
        "maximum": "no more than,at most,up to,may be up to,can be up to,may have up to,"
        "can have up to",
        "minimum": "at least,or newer,or later,or higher,or above,or more", "some of": "one of",
        "avoid": "decided against,get rid of,gets rid of,got rid of,opt out of,opts out of,"
        "opted out of,stay away from,stays away from,do without,does without,give up,gives up,"
        "gave up,phase out,phased out,do away with",
        "maybe": "plan to,plans to,planned to,planning to,want to,wants to,would like to",
        OVER: "instead of,in favor of,in favour of,rather than,better than,more than,"
        "in place of,in lieu of,as opposed to,took over from",
        "removed , with": "replaced by", "raised": "went up,went down", "was": "used to",
        "stopped": "shut down,shuts down,taken down,taken offline", "is sent": "goes out,go out",
        "remotely": "from home", "onsite": "in the office,at the office,on site,on-site",
        "dislike": "can't stand,cannot stand", "forbidden": "off limits,off-limits",
        "the": "a new,the new", "our": "our new", "2 times": "twice", "1 time a": "once a",
        "30 minutes": "half an hour", "2 weeks": "a fortnight", "12": "a dozen",
        "daily": "every day,each day,a day,per day,once a day",
        "hourly": "every hour,each hour",
        "weekly": "every week,each week,a week,per week,once a week",
        "monthly": "every month,each month,a month,per month,once a month",
        "yearly": "every year,each year,a year,per year,once a year",
    }.items()
    for phrase in phrases.split(",")
}  # fmt: skip
_PHRASE = re.compile(rf"\b(?:{'|'.join(sorted(_PHRASES, reverse=True))})\b", re.IGNORECASE)
# A text, and the pattern and its replacement to apply if a sentence contains the text.
_REWRITES = (
    ("-", r"\(?\b\d{4}-\d{2}-\d{2}\b\)?(?=\s*[:,]|\s*$)", " "),
    ("n't", r"(?<=\w)n't\b", " not"),
    (" home", r"'s (?:home|flat|house) is in\b", " lives in"),
    ("'", r"(?<=\w)'(?:s|re|ll|ve|d|m)\b", " is"),
    ("'", r"\b[nldjsc]'(?=\w)", " "),
    (" not ", r",(?: and| but)? not\b(?! to\b)", f" {OVER} "),
    (" over ", r"\b((?:prefer|favou?r|cho+se|pick)\w* [^,;]*?)\bover\b", rf"\1 {OVER}"),
    (" to ", r"\b((?:prefer|favou?r)\w* (?!to\b)[^,;]*?)\bto\b", rf"\1 {OVER}"),
    (" from ", r"\b(?:switch|mov|migrat)\w* (?:\w+ )?from (.+?) to\b", rf"changed {OVER} \1 , to"),
    ("eplac", r"\breplac\w+ (\S+) (?:with|by)\b", rf"{OVER} \1 , with"),
    (" on", r"\b(?:turn|switch)\w* on\b|\b(?:is|are) on(?=[.,!]?$| (?:for|in|by)\b)", "enable"),
    (" an", r"\b(?:ist|sind) an(?=[.,!]?$)", "enable"),
    (" aus", r"\b(?:ist|sind) aus(?=[.,!]?$)", "disable"),
    (" up", r"\b(?:is|are) up(?=[.,!]?$)", "enable"),
    (" down", r"\b(?:is|are) down(?=[.,!]?$)", "disable"),
    (" rather ", r"\bwould rather ([^,;]+?) than\b", rf"prefers \1 {OVER}"),
    (" used", r"^((?:[\w-]+ ){1,3}?)(?:is|are) used\b", r"use \1"),
    (" under", r"\blicen[cs]ed under\b", "license is"),
    (" born ", r"\bwas born on\b", "birthday is on"),
    (" off", r"\b(?:turn|switch)\w* (?:\w+ )?off\b", "disable"),
    ("last ", r"\blast (?=week|month|year|night|time|sprint|\w+day\b)", "yesterday "),
    ("next ", r"\bnext (?=week|month|year|night|time|sprint|\w+day\b)", "tomorrow "),
    ("May", r"\b(?-i:May) (?=\d)|(?<=\d )(?-i:May)\b|(?<=\bin )(?-i:May)\b", "mai "),
    ("March", r"\b(?-i:March)\b", "märz "),
    (" of", r"(?<=\d)(st|nd|rd|th) of\b", r"\1"),
    (" case", r"\b(lower|upper|camel|snake|kebab|pascal) case\b", r"\1case"),
    (" in ", r"\b(?:is|are|sits?) in (?=(?-i:[A-Z`~/]|\w+-\w*\d))", "lives in "),
    ("", r"(?<=\d)[ -]?(?=(?:ms|s|min|h|d|[kmgt]b|px|am|pm|k|°C)\b|%)", " "),
    ("-", r"(?<=\d)-(?=[a-z]{3})", " "),
    ("-", r"(?<![\w-])([a-z]+)-([a-z]+)(?![\w-])", r"\1 \2"),
)
DENIALS = word_set(
    "not never no without nobody none nothing nicht nie niemals kein keine keinen keinem keiner"
    " pas jamais aucun aucune nunca jamás ningún ninguna"
)
NEGATIVE = stem_set(
    "disable off forbid forbidden ban prohibit disallow deny reject refuse remove drop stop cease"
    " avoid skip exclude hide dislike hate inactive false quit abandon cancel retire discontinue"
    " against deprecated obsolete refrain unsafe dangerous optional lack missing absent deactivate"
    " broken gone ignore ditch scrap withdraw revoke suspend block prevent decline veto illegal"
    " taboo unable impossible unavailable unsupported incompatible discourage unwanted allergic"
    " intolerant decommission"
)
_POSITIVE = stem_set(
    "enable on active activate allow permit accept include show like love enjoy want use run true"
    " safe ok okay fine add required mandatory necessary good welcome available exist find found"
    " prefer favor favour choose chose decide agree adopt introduce continue resume legal possible"
    " able compulsory obligatory recommend encourage wanted fan happy adore appreciate rely with"
    " mag mögen gern"
)
PREPOSITIONS = word_set("in on at for of to from with by into as per via")
# Articles, possessives and adverbs between two words that belong together.
SKIPPED = word_set(
    "a an the my our your his her its their this that these those der die das den dem des ein eine"
    " einen einem einer le la les l un une du el los las una ne de del now still currently already"
    " just also actually really jetzt ahora maintenant dr mr mrs ms prof herr frau"
)
BE = word_set("is are be being am gets get was were been have has stays remains")
EMPTY = PREPOSITIONS | BE | {OVER} | word_set(
    "it we i you they he she us me him them do does and or then there so up always must should"
    " shall may can will would need needs had ever please about strictly all any every each got"
    " generally both everywhere directly straight via only too instead through wherever within"
    " enough what who once one immer toujours siempre wir nous está est es ist sind wird werden en"
    " out again été lieu au aux läuft auf im han ha hat haben"
)  # fmt: skip
# Words that carry no meaning of their own in a comparison.
VERBS = stem_set(
    "decision say make made let go come take set stay happen place pick code file value version"
    " time return get put give provide handle perform execute apply serve last leave remain raise"
    " lower increase reduce extend change update upgrade switch reschedule become region term need"
)
VAGUE = _POSITIVE | VERBS
UNSURE = word_set(
    "some sometimes often mostly most many few several partly half maybe perhaps might could rarely"
    " seldom occasionally probably likely other another either neither nor if whether unless except"
    " discussed consider considered considering proposed suggested thinking idea eventually someday"
)
EVENTS = word_set(
    "was were did had yesterday today tonight tomorrow ago earlier formerly previously originally"
)
PAST = word_set(
    "took went ran bought sold gave saw met came found sent wrote spent won lost fell began became"
    " built felt heard left paid said told thought grew knew"
)
CHANGES = stem_set(
    "moved switched turned repainted renamed changed replaced picked chose agreed raised lowered"
    " increased reduced extended shortened migrated updated rewritten made converted postponed"
    " rescheduled upgraded downgraded"
)
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {
    "single": "1", "double": "2", "fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40",
    "fifty": "50", "sixty": "60", "ninety": "90",
}  # fmt: skip
# Words that say the same in a rule or a fact. The first is the root of all.
_ALIKE = {
    stem(word): line.split()[0]
    for line in (
        "max maximum cap limit highest longest", "min minimum lowest earliest oldest",
        "live reside based located sit situated move relocate", "pay payment paid",
        "keep kept retain retention store save", "access touch reach", "paint repaint",
        "own owner lead led leader maintain maintainer manage manager responsible charge head",
        "begin start starting", "finish end", "answer reply", "licens licence license",
        "due deadline submitted submit", "listen exposed reachable bound", "long length",
        "deploy deployment ship release rollout", "repo repository", "db database",
        "prod production", "config configuration", "app application", "dev development",
        "docs doc documentation", "lib library package dependency", "auth authentication login",
        "admin administrator", "kid child children", "flat apartment", "price cost fee",
        "big large size", "meet meeting met", "retri attempt retry",
        "feed fed", "write written", "send sent", "build built", "hold held", "eat eaten",
        "choose chosen", "speak spoken talk", "birthday birth",
        "trash bin rubbish garbage", "holiday vacation", "car vehicle", "phone telephone",
        "short brief concise terse succinct", "detail detailed verbose lengthy",
    )
    for word in line.split()
}  # fmt: skip
MONTHS = stem_set(
    "january february märz april mai june july august september october november december januar"
    " februar juni juli oktober dezember janvier février mars avril juin juillet août septembre"
    " octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre"
    " octubre noviembre diciembre"
)
# The types of values. Values of one type exclude each other.
TYPES = dict.fromkeys(MONTHS, "date") | {
    stem(word) if word.isalpha() else word: line.split()[0]
    for line in (
        "day monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch"
        " donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche"
        " lunes martes miércoles jueves viernes sábado domingo",
        "interval hourly daily weekly biweekly monthly quarterly yearly annually täglich"
        " wöchentlich monatlich jährlich",
        "daytime morning afternoon evening night noon midnight",
        "season spring summer autumn winter fall",
        "colour red orange yellow green blue purple black white grey gray brown pink",
        "language english german french spanish italian portuguese dutch polish russian chinese",
        "floor second third fourth fifth sixth seventh eighth ninth",
        "case snake_case camelcase kebab-case pascalcase snakecase uppercase lowercase",
        "state open closed ouvert fermé abierto cerrado geöffnet geschlossen",
        "automation manually automatically manual automatic", "indent tabs spaces",
        "access public private", "scope internal external", "side left right", "speed slow fast",
        "result passes fails succeeds", "order ascending descending", "charge free paid",
        "level high low", "heat hot cold", "theme light dark", "line online offline",
        "timing synchronous asynchronous", "reach local global", "fill full empty",
        "where inside outside indoors outdoors upstairs downstairs", "strictness strict lenient",
        "diet vegetarian vegan", "means cash card", "style short detail", "hour early late",
        "presence remotely onsite", "measure metric imperial",
        "direction horizontal vertical", "loading eager lazy", "typing static dynamic",
        "memory stateless stateful", "reference relative absolute", "noise loud quiet",
        "repository monorepo polyrepo", "spelling british american", "link wired wireless",
    )
    for word in line.split()[1:]
}  # fmt: skip
SECONDS = {  # from one time to the next
    stem(word): str(seconds)
    for word, seconds in (
        ("hourly", 3600), ("daily", 86400), ("weekly", 604800), ("biweekly", 1209600),
        ("monthly", 2629800), ("yearly", 31557600), ("annually", 31557600), ("täglich", 86400),
        ("wöchentlich", 604800), ("monatlich", 2629800), ("jährlich", 31557600),
    )
}  # fmt: skip
AT = word_set("at um until till las")
HOURS = word_set("am pm uhr utc cet")
UNITS = {
    stem(unit): (type, float(factor))
    for type, units in {
        "duration": "ms=.001 second=1 sec=1 s=1 minute=60 min=60 hour=3600 h=3600 day=86400 d=86400"
        " week=604800 month=2629800 year=31557600 tage=86400 stunden=3600 minuten=60 wochen=604800"
        " jours=86400 heures=3600 días=86400 horas=3600 minutos=60",
        "size": "kb=1 mb=1e3 gb=1e6 tb=1e9", "clock": "am=1 pm=1 uhr=1 utc=1 cet=1",
        "share": "percent=1 %=1", "degrees": "°=1 °c=1 degree=1",
        "money": "€=1 $=1 euro=1 eur=1 dollar=1 usd=1 k=1e3",
        "number": "time=1 space=1 character=1 column=1 px=1 km=1 kg=1 mg=1 cm=1 retry=1 attempt=1",
    }.items()
    for unit, factor in (each.split("=") for each in units.split())
}  # fmt: skip
