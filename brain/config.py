"""brain.yaml: every setting, its default, and what it means. Pure: text in, settings out.

Keys are flat camelCase; a nested `memory:` block is read as if its keys stood at the top. An
unknown key is a warning with the nearest known name; a value of the wrong type stops with its line,
because a setting such as `exclude` must not be dropped in silence.
"""

from __future__ import annotations

from brain.errors import BadConfig
from brain.model import SCOPES, Problem
from brain.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Config(NamedTuple):
    """The settings of one vault, with their defaults."""

    include: tuple[str, ...] = ("**/*.md",)
    exclude: tuple[str, ...] = ()
    useGitignore: bool = True
    maxFileSize: int = 10_000_000
    maxMemorySize: int = 50_000
    memoryPath: str = "<agent>/MEMORY.md"
    sessionsPath: str = "<agent>/sessions/"
    dbPath: str = "auto"
    searchProvider: str = "fts5"
    ftsEngine: str = "auto"
    searchLimit: int = 10
    candidateLimit: int = 500
    headingWeight: float = 1.0
    bodyWeight: float = 2.0
    tagWeight: float = 1.5
    pathWeight: float = 1.2
    scoreFactor: float = 0.2
    recencyDecay: float = 0.01
    recencyScopes: tuple[str, ...] = ("memory",)
    authorFactor: float = 1.5
    neighbourFactor: float = 1.0
    parentFactor: float = 0.3
    aliasFactor: float = 0.5
    aliases: tuple[str, ...] = ()
    vectorModel: str = ""
    textWeight: float = 0.7
    vectorWeight: float = 0.3
    similarityThreshold: float = 0.4
    autoInject: bool = True
    injectionTopN: int = 5
    topK: int = 15
    maxPinned: int = 5
    maxPerSource: int = 2
    leastShare: float = 0.25
    leastNoteShare: float = 0.4
    dropShare: float = 0.3
    maxRetrievalMs: int = 200
    pinnedFactor: float = 1.5
    candidateFactor: float = 0.8
    sameFileFactor: float = 1.5
    sameFolderFactor: float = 1.2
    noteFactor: float = 0.4
    cascadeSeeds: int = 10
    cascadeDepth: int = 2
    cascadeDecay: float = 0.7
    tagEdge: float = 0.8
    clusterEdge: float = 0.6
    supersedesEdge: float = 0.9
    relatesEdge: float = 0.5
    otherEdge: float = 0.3
    topicChange: float = 0.3
    sloWindow: int = 100
    sloHealthyMs: int = 200
    sloDegradeMs: int = 300
    degradedTopK: int = 5
    degradedScan: int = 100
    tokenizer: str = "estimate"
    budgetShare: float = 0.08
    budgetCeiling: int = 5000
    alwaysShare: float = 0.08
    alwaysLeast: int = 200
    alwaysMost: int = 400
    bridgeShare: float = 0.5
    bridgeLeast: int = 500
    retrievalShare: float = 0.65
    retrievalLeast: int = 300
    retrievalMost: int = 1500
    summaryLeast: int = 200
    summaryMost: int = 600
    taskShare: float = 0.4
    projectShare: float = 0.4
    globalShare: float = 0.2
    headTailPreserve: int = 2
    watchStep: int = 20
    watchDebounce: int = 100
    rescanSeconds: int = 60
    memory: bool = True
    readOnly: bool = False
    datePrefix: bool = True
    sections: tuple[str, ...] = ()
    redactEmails: bool = True
    reinforceWeight: float = 3.0
    demoteWeight: float = 1.0
    holdSeconds: float = 2.0
    holdMost: float = 10.0
    settleSeconds: float = 5.0


class Setting(NamedTuple):
    """What a setting means, and what it may be: one of a few words, or words that fit, as `must`
    says."""

    doc: str
    choices: tuple[str, ...] = ()
    must: str = ""
    fits: Callable[[str], bool] | None = None


KEPT = ("agents", "projects", "archive", "journal")  # folders of the brain with a meaning


def _is_in_agent(path: str, ending: str) -> bool:
    """Is this a visible place below `<agent>/` that nothing else of Brain's is kept in?"""
    agent, *parts = path.removesuffix("/").split("/")
    hidden = any(part.startswith(".") or not part.strip() or "\\" in part for part in parts)
    return (
        agent == "<agent>" and path.endswith(ending) and bool(parts) and not hidden
        and parts[0] not in KEPT and parts[-1] != "AGENT.md"
    )  # fmt: skip


def _is_memory_path(path: str) -> bool:
    return _is_in_agent(path, ".md")


def _is_sessions_path(path: str) -> bool:
    return _is_in_agent(path, "/")


def _is_scope(word: str) -> bool:
    return word in SCOPES


def _is_alias(words: str) -> bool:
    """`word=others`; without others, the word means only itself."""
    word, equals, _ = words.partition("=")
    return bool(equals and word.strip())


def _is_tokenizer(name: str) -> bool:
    family, _, which = name.partition(":")
    return name == "estimate" or (family in ("tiktoken", "tokenizers") and bool(which))


def _is_section(words: str) -> bool:
    """`kind=heading`."""
    from brain.kinds import KINDS

    kind, _, heading = words.partition("=")
    return kind.strip().casefold() in KINDS and bool(heading.strip())


SETTINGS = {
    "include": Setting("Which files of the vault are indexed as sources, as globs."),
    "exclude": Setting("Which of those are not, as globs: `Private/**`, `*.excalidraw.md`."),
    "useGitignore": Setting(
        "Leave out what .gitignore and .secretsignore name. Brain's own files are always read."
    ),
    "maxFileSize": Setting("Bytes. A larger file is not read, and `brain doctor` says so."),
    "maxMemorySize": Setting(
        "Characters of a MEMORY.md above which `brain doctor` suggests to archive."
    ),
    "memoryPath": Setting(
        "Where the memory note of an agent lies, in its folder.",
        must="a path in the agent's folder that ends in `.md`, as `<agent>/MEMORY.md` is",
        fits=_is_memory_path,
    ),
    "sessionsPath": Setting(
        "Where its sessions lie, in its folder.",
        must="a path in the agent's folder that ends in `/`, as `<agent>/sessions/` is",
        fits=_is_sessions_path,
    ),
    "dbPath": Setting(
        "Where brain.db lies: a path, or `auto`: in the brain folder on a local disk, else in this"
        " machine's state folder."
    ),
    "searchProvider": Setting(
        "How search works: by words, or by words and meaning.", ("fts5", "hybrid")
    ),
    "ftsEngine": Setting(
        "The full-text engine of SQLite; `auto` takes the best there is.", ("auto", "fts5", "fts4")
    ),
    "searchLimit": Setting("How many results a search shows unless told otherwise."),
    "candidateLimit": Setting("How many matches are ranked for one search."),
    "headingWeight": Setting("Weight of words in headings and titles."),
    "bodyWeight": Setting("Weight of words in the text."),
    "tagWeight": Setting("Weight of words in tags."),
    "pathWeight": Setting("Weight of words in the file's path."),
    "scoreFactor": Setting("A memory's rank is multiplied by e^(scoreFactor x score)."),
    "recencyDecay": Setting("A memory's rank is divided by 1 + recencyDecay x days."),
    "recencyScopes": Setting(
        "The scopes in which age counts.", must=f"some of {', '.join(SCOPES)}", fits=_is_scope
    ),
    "authorFactor": Setting("For a turn whose speaker the question names."),
    "neighbourFactor": Setting(
        "How much of what its neighbours in the same session or section match a piece is given;"
        " 0 for nothing."
    ),
    "parentFactor": Setting("How much the whole session or section counts beside the piece."),
    "aliasFactor": Setting("What a match of an alias is worth beside one of the word itself."),
    "aliases": Setting(
        "Words that mean the same, as `auth=login, sign-in`; see `brain alias`. A few are built"
        " in.",
        must="words as `auth=login, sign-in`",
        fits=_is_alias,
    ),
    "vectorModel": Setting(
        "The embedding model for `searchProvider: hybrid`: `minilm`, `static`, `command: …` or an"
        " http address."
    ),
    "textWeight": Setting("The share of the words in a hybrid search."),
    "vectorWeight": Setting("The share of the meaning in a hybrid search."),
    "similarityThreshold": Setting("A hybrid search adds nothing less similar than this."),
    "autoInject": Setting("Whether `brain context` hands out memories; searching always works."),
    "injectionTopN": Setting("How many memories that fit the question a context holds."),
    "topK": Setting("How many of the best are looked at for them."),
    "maxPinned": Setting("How many pinned memories a context holds, the newest first."),
    "maxPerSource": Setting("How many memories of one session a context holds."),
    "leastShare": Setting(
        "The share of a question, each word by how much it says, that a memory or item must hold to"
        " be in a context; a turn of a session half of it."
    ),
    "leastNoteShare": Setting("The share that a passage of a note must hold."),
    "dropShare": Setting("The share of the weakest that is left out of a context."),
    "maxRetrievalMs": Setting("Milliseconds after which a context makes do with what it has."),
    "pinnedFactor": Setting("For a memory that is pinned."),
    "candidateFactor": Setting("For a memory that nobody has confirmed yet."),
    "sameFileFactor": Setting("For a memory about a file that is open."),
    "sameFolderFactor": Setting("For a memory about a file in the same folder as one."),
    "noteFactor": Setting("For a passage of a note, beside a memory."),
    "cascadeSeeds": Setting("How many of the best pull in what they are tied to."),
    "cascadeDepth": Setting("Over how many ties, at most 6."),
    "cascadeDecay": Setting("What is left of a score after each tie."),
    "tagEdge": Setting("How strong the tie of a common tag is."),
    "clusterEdge": Setting("How strong the tie within a cluster is, in `brain graph`."),
    "supersedesEdge": Setting("How strong the tie to what a memory supersedes is."),
    "relatesEdge": Setting("How strong the tie of a link is."),
    "otherEdge": Setting("How strong any other tie is."),
    "topicChange": Setting(
        "A question less similar than this to the one before begins a new topic: what was shown"
        " may be shown again."
    ),
    "sloWindow": Setting("How many of the last recalls tell whether recall is slow."),
    "sloHealthyMs": Setting(
        "Milliseconds under which 95 % of them must stay to be called healthy."
    ),
    "sloDegradeMs": Setting("Milliseconds over which recall looks at less, and says so."),
    "degradedTopK": Setting("topK while recall is slow."),
    "degradedScan": Setting("candidateLimit while recall is slow."),
    "tokenizer": Setting(
        "What counts tokens: `estimate`, or a tokenizer that is installed, as `tiktoken:o200k_base`"
        " or `tokenizers:/path/to/tokenizer.json`.",
        must="`estimate`, `tiktoken:` and a name, or `tokenizers:` and a path",
        fits=_is_tokenizer,
    ),
    "budgetShare": Setting("The share of the remaining context that memory may take."),
    "budgetCeiling": Setting("Tokens that memory takes at most, unless a call says how many."),
    "alwaysShare": Setting("The share of the budget for warnings and pinned memories."),
    "alwaysLeast": Setting("Tokens for them at least, while the total allows it."),
    "alwaysMost": Setting("Tokens for them at most."),
    "bridgeShare": Setting("The share of what is then left for the task at hand."),
    "bridgeLeast": Setting("Tokens for it at least."),
    "retrievalShare": Setting("The share of what is then left for memories that fit."),
    "retrievalLeast": Setting("Tokens for them at least."),
    "retrievalMost": Setting("Tokens for them at most."),
    "summaryLeast": Setting("Tokens for summaries of sessions at least."),
    "summaryMost": Setting("Tokens for them at most."),
    "taskShare": Setting("The share of what the session at hand knows among memories that fit."),
    "projectShare": Setting("The share of what the agent or project knows."),
    "globalShare": Setting("The share of what the admin knows."),
    "headTailPreserve": Setting("How many pieces at either end of the task at hand stay longest."),
    "watchStep": Setting("Milliseconds between looks while changes keep coming in."),
    "watchDebounce": Setting("Milliseconds for which changes are gathered before a sync."),
    "rescanSeconds": Setting("Seconds between full scans, which catch what a watcher missed."),
    "memory": Setting("Whether Brain writes and injects at all; searching always works."),
    "readOnly": Setting("Write nothing into this vault, on any machine."),
    "datePrefix": Setting("Begin what is remembered with the day, as `2026-02-01: …`."),
    "sections": Setting(
        "Where what is remembered goes, by kind: `decision=Choices made`. A kind that is not named"
        " goes to the section that the note has for it, or to its usual one.",
        must="a kind and a heading, as `decision=Choices made`",
        fits=_is_section,
    ),
    "redactEmails": Setting("Treat e-mail addresses like secrets: never store them."),
    "reinforceWeight": Setting("What `reinforce` adds to a memory's score."),
    "demoteWeight": Setting("What `demote` takes from a memory's score."),
    "holdSeconds": Setting("A note changed less than so many seconds ago is being typed in: wait."),
    "holdMost": Setting("Seconds after which a write no longer waits for a person to pause."),
    "settleSeconds": Setting("Seconds that a write must stand until it counts as settled."),
}
MAX_CHARS = 64_000
MUST_BE = {
    bool: "true or false",
    int: "a whole number above 0",
    float: "a number of 0 or more",
    tuple: "a list of words",
}


def default(name: str) -> Any:
    """The default of a setting."""
    return getattr(_DEFAULTS, name)


def parse(text: str) -> tuple[Config, list[Problem]]:
    """The settings that `text` (a brain.yaml) asks for, and warnings about keys nobody knows.

    Raises BadConfig, naming the line, for text that is not YAML or a value that does not fit.
    """
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return _DEFAULTS, []
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, node, line in _pairs(text):
        if key not in SETTINGS:
            problems.append(
                Problem(line, "unknown-setting", f"unknown setting {key!r}. {nearest(key)}")
            )
        elif key in values:
            problems.append(Problem(line, "duplicate-setting", f"sets {key} a second time"))
        if key in SETTINGS and not _is_null(node):
            values[key] = _fit(key, node, line)
    return Config(**values), problems


def _pairs(text: str) -> list[tuple[str, Any, int]]:
    """(key, node, line) of each setting."""
    import yaml

    if len(text) > MAX_CHARS:
        raise BadConfig(f"brain.yaml is over {MAX_CHARS:,} characters.", "Shorten it.")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        raise BadConfig("brain.yaml is nested too deeply.", "See `brain config`.") from None
    except yaml.YAMLError as error:
        raise _no_yaml(text, error) from None
    if root is None or _is_null(root):
        return []
    if not isinstance(root, yaml.MappingNode):
        raise BadConfig(
            f"brain.yaml line {root.start_mark.line + 1} must be a `key: value` line.",
            "See `brain config` for the keys.",
        )
    pairs = []
    for key, node in root.value:
        nested = key.value == "memory" and isinstance(node, yaml.MappingNode)
        for k, n in node.value if nested else [(key, node)]:
            pairs.append((str(k.value), n, k.start_mark.line + 1))
    return pairs


def _no_yaml(text: str, error: Any) -> BadConfig:
    """What is wrong, and where: a line that stops in the middle is noticed at the next one."""
    mark = getattr(error, "problem_mark", None)
    if "simple key" in (getattr(error, "context", None) or ""):
        mark = error.context_mark
    last = text.rstrip().count("\n") + 1
    where = f" line {min(mark.line + 1, last)}" if mark else ""
    what = getattr(error, "problem", None) or "it cannot be read"
    return BadConfig(
        f"brain.yaml{where} is not YAML: {what}.", "Mend or delete it; globs need quotes."
    )


def _is_null(node: Any) -> bool:
    """Is this `key:` without a value? Then the default holds."""
    return bool(node.tag == "tag:yaml.org,2002:null")


def _fit(key: str, node: Any, line: int) -> Any:
    """A value as the type its setting has: what a word means is for the setting to say."""
    wanted = default(key)
    try:
        fitted = _convert(node, wanted)
    except (ValueError, KeyError):
        raise _unfit(key, node, line, MUST_BE.get(type(wanted), "a word")) from None
    spec = SETTINGS[key]
    for item in [node] if isinstance(node.value, str) else node.value:
        line = line if item is node else item.start_mark.line + 1
        if spec.choices and item.value not in spec.choices:
            raise _unfit(key, item, line, f"one of {', '.join(spec.choices)}")
        if spec.fits and not spec.fits(item.value):
            raise _unfit(key, item, line, spec.must)
    return fitted


def _unfit(key: str, node: Any, line: int, must: str) -> BadConfig:
    found = f", not {node.value!r}" if isinstance(node.value, str) else ""
    return BadConfig(
        f"brain.yaml line {line}: {key} must be {must}{found}.",
        "Mend the line or delete it to use the default.",
    )


def _convert(node: Any, wanted: Any) -> Any:
    """Raises ValueError or KeyError for a node that cannot be such a value."""
    if isinstance(wanted, tuple):
        return tuple(
            _word(item) for item in ([node] if isinstance(node.value, str) else node.value)
        )
    word = _word(node)
    if isinstance(wanted, bool):
        return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}[
            word.casefold()
        ]
    if isinstance(wanted, int):
        number = int(word)
        if number < 1:
            raise ValueError
        return number
    if isinstance(wanted, float):
        if not 0 <= (weight := float(word)) < float("inf"):
            raise ValueError
        return weight
    return word


def _word(node: Any) -> str:
    """The text of a plain value; a list or a block is none. `(key, value)` is a pair of a block."""
    value = getattr(node, "value", None)
    if not isinstance(value, str):
        raise ValueError
    return value


def nearest(key: str) -> str:
    """A hint at the setting that was meant."""
    from difflib import get_close_matches

    near = get_close_matches(key, SETTINGS, n=1, cutoff=0.5)
    return f"Did you mean {near[0]!r}?" if near else "See `brain config` for all of them."


def template() -> str:
    """A brain.yaml that names every setting, commented out, with its default."""
    parts = ["# Settings of this vault's brain. What is commented out is the default.\n"]
    for name, spec in SETTINGS.items():
        choices = spec.choices
        doc = spec.doc + (f" One of: {', '.join(choices)}." if len(choices) > 1 else "")
        parts.append(f"\n# {doc}\n# {name}: {written(default(name))}\n")
    return "".join(parts)


def written(value: Any) -> str:
    """A value as YAML would have it."""
    if isinstance(value, tuple):
        return f"[{', '.join(_quoted(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and not value.isalnum():
        return _quoted(value)
    return str(value)


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)  # which YAML reads, too


_DEFAULTS = Config()
