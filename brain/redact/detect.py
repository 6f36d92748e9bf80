"""Find secrets that do not have the format of a provider.

By name: a value after a word such as `token` is a secret if it has at least 12 characters and does
not consist of words. After `password`, in many languages, a value as people choose it is also a
secret: letters with a digit.

Random text: it needs at least 32 characters and 4.5 bits per character. Addresses, paths, digests,
ids, links and names are not secrets.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from math import log2

from brain.redact.rules import MIN_PREFIXED_KEY, MIN_RANDOM, compiled

# -- invisible characters, and text that is already redacted ---------------------------------------

_INVISIBLE = "[\0\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+"
_REDACTED = r"\[redacted:[a-z0-9-]{1,30}\]"


def strip_invisible(text: str) -> tuple[str, Callable[[int], int]]:
    """Return the text without invisible characters (such as a zero-width space inside a key), and a
    function that maps an offset in the result to the offset in the text."""
    if not compiled(_INVISIBLE).search(text):
        return text, lambda position: position
    offsets: list[int] = []
    position = 0
    for match in compiled(_INVISIBLE).finditer(text):
        offsets += range(position, match.start())
        position = match.end()
    offsets += range(position, len(text))
    return compiled(_INVISIBLE).sub("", text), offsets.__getitem__


def mask_redacted(text: str) -> str:
    """Replace text that is already redacted by NULs. No rule matches NULs, and they do not end a
    word, so a second redaction changes nothing."""
    return compiled(_REDACTED).sub(lambda match: "\0" * len(match[0]), text)


# -- random values and names -----------------------------------------------------------------------
# Entropy does not distinguish keys from names: a key of hexadecimal digits has no more bits per
# character than words have. But names consist of words, and words consist of pairs of letters that
# are common in some language.

# Each row is a letter and the letters that often follow it. A pair is common if it is at least 3 of
# 1,000 pairs in one of 17 languages with Latin letters. Most pairs in words are common, but only a
# third of random pairs.
_FOLLOWERS = (
    "aacdghijklmnprstuvwyz baeilosuy caehikostuz daeijnou eabcdegijklmnrstuvxyz feio gaegiosuy"
    " haeilot iacdefghijklmnorstvz jaeo kaeikotuy ladegilmostu mabeios nacdeginostuy"
    " oabdefgiklmnoprstuvwz paelor qu radeilostuz saceghiklopstuz taehiortuy uaegijklmnoprstu"
    " vaeiou waeinoy xt yaeot zaeintuy"
)
_PAIRS = frozenset(row[0] + letter for row in _FOLLOWERS.split() for letter in row[1:])

_WORD = r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])"
PRONOUNCEABLE = r"(?i)(?=.*[aeiouy])(?!.*[^aeiouy]{4})"
_PARTS = r"[-_./:+@~]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_PART = r"(?:[A-Za-z]?[a-z]*|[A-Z]+s?)\d{0,4}$|\d{1,4}[a-z]?$"
_WORDS = r"[a-z]+[_.,:;=/-][a-z_.,:;=/-]*$"
SIGN = r"[!$%^&*?+~#@=]"
_NO_PASSWORD = (
    r"[#^][\w/-]+$|\S+@[\w-]+\.[\w.]+$|v?\d+(?:\.\d+)+|\d+\W?[a-z]+$|\d+[A-Za-z]*(?:-[A-Za-z]+)+$"
    r"|-[A-Za-z]|.*[()\[\]{}<>|\\/,;:]"
)
TERM = (
    r"(?i).*(?:pass|pwd|secret|hash|crypt|argon|pbkdf|sha-?\d|md5|base64|oauth|value|text|string"
    r"|null|none|undefined|unknown|required|optional|enabled|disabled|hidden|redacted)"
)


def matches(shape: str, text: str) -> bool:
    return compiled(shape).match(text) is not None


def is_random(value: str, min_length: int = 16) -> bool:
    """Return True for letters with digits, or many letters, that do not consist of words."""
    if len(value) < min_length or len(set(value)) < 6 or matches(_WORDS, value):
        return False
    letters = sum(map(str.isalpha, value))
    if not letters or sum(map(str.isalnum, value)) < 0.6 * len(value):
        return False
    if letters == len(value) < 14 and (value.islower() or value.isupper()):
        return False
    if not any(map(str.isdigit, value)) and letters < max(min_length, 0.8 * len(value)):
        return len(compiled(SIGN).findall(value)) > 1 and not value.islower()
    return not is_name(value)


def is_name(value: str) -> bool:
    """Return True for words with a few digits: `user-account-v2`, `UserAccount2`, `USER_ID`."""
    parts = re.split(_PARTS, value.strip("-_./:+@~="))
    if not all(matches(_PART, part) for part in parts):
        return False
    if not value.isalnum() and matches(TERM, value):
        return True
    words = [part.rstrip("0123456789").lower() for part in parts]
    pairs = sum(len(word) - 1 for word in words if word)
    # Random text contains short words, too: if no sign separates them, most pairs must be common.
    if value.isalnum() and sum(map(len, words)) < 3.5 * len(words):
        return False
    if sum(map(_common_pairs, words)) < (0.6 if value.isalnum() else 0.4) * pairs:
        return False
    letters = sum(len(word) for word in words if _is_word(word))
    return letters >= 0.5 * sum(map(str.isalnum, value))


def _is_word(letters: str) -> bool:
    """Return True if most pairs of these letters are common. A short word also needs a vowel."""
    if len(letters) < 7 and not (len(letters) > 2 and matches(PRONOUNCEABLE, letters)):
        return False
    return len(letters) < 4 or (
        _common_pairs(letters) >= (0.5 if len(letters) < 7 else 0.75) * (len(letters) - 1)
    )


def _common_pairs(word: str) -> int:
    """Return the number of common pairs of letters in a lower-case word."""
    return sum(word[index : index + 2] in _PAIRS for index in range(len(word) - 1))


def _has_words(text: str) -> bool:
    """Return True if most of the text consists of pronounceable words, as in names and paths."""
    letters = sum(
        len(word) for word in compiled(_WORD).findall(text) if matches(PRONOUNCEABLE, word)
    )
    return letters >= 0.6 * sum(map(str.isalnum, text))


def is_chosen_password(value: str, *, after_space: bool = False) -> bool:
    """Return True for a password as people choose it: letters, a digit, perhaps a sign.

    With `after_space`, only a space is between the word `password` and the value. Then a word that
    ends with a number (`step2`, `RFC7617`) is not a password.
    """
    if len(value) < 6 or matches(_NO_PASSWORD, value) or matches(TERM, value):
        return False
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    if compiled(SIGN).search(value.rstrip("?!")):
        return True
    if not value.replace("!", "").replace("?", "").isalnum() and is_name(value):
        return False
    if after_space:
        return len(value) >= 8 and not matches(r"[A-Z]+s?\d+$|[A-Za-z]+\d{1,2}$", value)
    return True


# -- by name ---------------------------------------------------------------------------------------

# These patterns are searched for in the lower-case text. Each alternative of a name begins with a
# letter, because the search is then much faster.
_NAME = (
    r"(?a)(?P<word>pass(?:(?:word|wd|[ -]?phrase|code|wort|ord)|(?:(?<![a-z]pass)|(?<=sshpass)"
    r"|(?<=dbpass)|(?<=ftppass)|(?<=smtppass)|(?<=userpass)|(?<=rootpass)|(?<=adminpass)"
    r"|(?<=requirepass)|(?<=storepass)|(?<=keypass))(?![a-z]))"
    r"|pwd|p/w|pw(?<![a-z]pw)(?![a-z])|psk(?<![a-z]psk)(?![a-z])"
    r"|kennwort|contrase[ñn]a|senha|mot de passe|wachtwoord|adgangskode|lösenord|salasana|hasło"
    r"|heslo|jelszó|parola|şifre|mật khẩu|пароль|密[码碼]|パスワード|비밀번호"
    r"|secret|token|credential|key(?<=[ _.a-z-]key)|pat(?<=[_-]pat)(?![a-z])"
    r"|salt(?<=[_-]salt)(?![a-z])|токен|密[钥鑰]|令牌|トークン|토큰"
    r"|(?:schlüssel|chiave|clave|clé(?![a-z])|ключ)(?: api| (?:del? |du )?wi-?fi)?)"
    # `keystore_password` is the name of a password, not of a key
    r"(?P<tail>(?<![码碼ド호钥鑰牌ン큰])(?:(?!pass|pwd)[\w.-]){0,40}|)"
)
_KEYS = (
    *("secret", "token", "credential", "key", "pat", "salt", "schlüssel", "chiave", "clave", "clé"),
    *("токен", "ключ", "密钥", "密鑰", "令牌", "トークン", "토큰"),
)
_OF_WIFI = r"(?:wlan|wi-?fi|wpa\d?)[ _-]?$"
_CLOSED = r"""\\?["'`\])*]{0,3}"""
_QUOTED_NEXT = r"""(?:[bfru@]{1,2}(?=["'`]))?"""
_FOR = (
    r"""(?:[ ](?:for|of|to|on|in|at|für|vo[nm]|pour|para|del?|per|voor)(?:[ ][\w.@-]{1,30}){1,3}"""
    r"""|[ ]?[(\[][^()\[\]\n]{1,30}[)\]])?"""
)
_SEPARATOR = (
    _CLOSED + _FOR + r"""(?P<label>[ ][\w-]{1,20}(?=[ ]?:))?"""
    # password: str = …
    r"""(?:[ \t]{0,3}:[ \t]{0,2}[a-z][\w.\[\]| ]{0,30}(?=[ \t]{1,2}=|=["']))?"""
    r"""(?:[ \t]{0,9}(?:=>|:=|==?|::?|[>：→➜⇒]|->(?=[ ])|[是为為は][：:]?|\|(?=[ \t])"""
    r"""|,(?=[ \t]{0,3}\\?["'`])|(?P<call>\((?=["'])))"""
    # `- name: PASSWORD` and below it `value: …`; `variable "password" { default = … }`
    r"""|(?P<member>,?\s{1,20}\\?["']?value\\?["']?[ \t]{0,2}[=:]"""
    r"""|[ ]\{\s{1,20}(?:(?:type|description|sensitive)[^\n]{0,100}\s{1,20}){0,3}default[ ]*+=))"""
    r"""(?:\*\*?(?=[ \t]))?[ \t]{0,24}""" + _QUOTED_NEXT
)
# The text between a name and its value in a sentence: a verb, a dash or a space.
_SPOKEN = (
    _CLOSED + rf"""(?P<verb>[는은]|{_FOR}[ \t]{{1,3}}"""
    r"""(?:(?:(?:was|is|been)[ ])?(?:changed|set|reset)[ ]to|(?:wurde|geändert)[ ]auf"""
    r"""|is|was|to|ist|war|lautet|es|est|este|è|é|är|er|jest"""
    r"""|on|je|là|это|[-–—])(?=[ \t:])(?:[ ](?:now|jetzt|nun|ahora|maintenant))?:?)?"""
    r"""(?:[ \t]{1,3}|(?<=[码碼ド호])"""
    r"""|(?P<below>:?\*{0,2}[ \t]{0,3}\n{1,2}(?:```[a-z]{0,10}\n|[ \t]{1,8}|[-*][ ])?))"""
)
_TWO_NAMES = r"[ _-]?(?:token|key)$"  # SECRETTOKEN, secret_key
_KEY_OF = (
    r"(?:api|access|account|admin|app|application|auth|client|consumer|database|db|deploy"
    r"|encryption|integration|licen[cs]e|master|priv|private|secret|security|server|service|session"
    r"|shared|signing|storage|subscription|user|webhook|write)[ _.-]?$"
)
# Keys of tables and caches are not secrets. Other keys are, if the value looks like a key.
_PUBLIC_KEY = (
    r"(?:public|pub|primary|foreign|unique|sort|partition|cache|hash|index|object|s3"
    r"|redis|group|dict|idempotency|ssh|gpg|pgp|signature|lookup|routing|config|answer"
    r"|primär|fremd|öffentlich\w{0,2}|(?<![a-z])(?:host|row|map|the|a))[ _.-]?$"
)
_NOT_SECRET = (
    r"^(?:i[sz]|ary|less|ly|board)|(?:file|path|ur[il]|names?|ids?|types?|len|length|counts?|sizes?|ttl"
    r"|expir\w*|policy|fields?|headers?|env|var|version|limits?|budget|endpoint|hash(?:es)?|at|hints?"
    r"|manager|bucket|fingerprint)$"
)

_MAX_VALUE = 100  # only the beginning of a longer value is checked
_VALUE = (
    r"""(?P<bold>\*{1,3}|__)?(?:"""
    rf"""\\?(?P<quote>["'`])(?P<quoted>(?:(?!(?P=quote))[\0!-\[\]-~]){{6,{_MAX_VALUE}}})"""
    rf"""|[“”„‟«‘’‚「『](?P<curly>[\0!-\[\]-~]{{6,{_MAX_VALUE}}})"""
    rf"""|<(?P<angle>[\0!-;=?-\[\]-~]{{6,{_MAX_VALUE}}})>"""
    rf"""|(?P<plain>[\0!#-&(-;=?-\[\]-_a-~]{{6,{_MAX_VALUE}}}))"""
)
_INNER = r"(?i)(?:pass(?:word|wd)?|pwd?|secret|token|key)[=:]"
_REST_OF_VALUE = r"[!#-&(-;=?-\[\]-_a-~]*+"
_PLACEHOLDER = (
    r"\$\{|\$\(|\$[A-Za-z_]\w*(?![\w!#%^&*@+=~?$])|%\w+%$|\{\{"
    r"|\{\w+[:}]|[<\[*]|(?:your|my|some|the)[-_ ]"
    r"|.*(?:[xX]{4}|\.{3}|…|[Ee]xample|EXAMPLE|[Cc]hange-?me|placeholder)"
)
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]|$)|\d{8}T\d{6}"
_CODE = r"\(|.*[A-Za-z_.]{3}[(\[]|[\w.]+\(\)|\w+[,&;]\w+=|os\.environ"
_SIGNS = r"(?:[^!@#$%^*]*[!@#$%^*]){3}"
_PATH = r"~?/|\.{1,2}/|[A-Za-z]:[\\/]|\\\\|[\w+.-]{2,20}:"
_KEY = r"(?a)[\w+/=.~-]+(?::[\w-]+)?$"
_CONSTANT = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"


def by_name(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of values that follow the name of a secret and look like one."""
    end = 0
    for name in compiled(_NAME).finditer(lower):
        if name.start() < end or compiled(_NOT_SECRET).search(name["tail"]):
            continue
        span = None
        if separator := compiled(_SEPARATOR).match(lower, name.end()):
            span = _secret(text, lower, name, separator)
        if not span and (separator := compiled(_SPOKEN).match(lower, name.end())):
            span = _spoken(text, lower, name, separator)
        if span:
            yield span
            end = span[1]


def _secret(
    text: str, lower: str, name: re.Match[str], separator: re.Match[str]
) -> tuple[int, int] | None:
    """Return the span of the value after a separator, if it looks like a secret with this name."""
    if not (value := _value(text, separator.end())):
        return None
    start, word, group = value
    separator_text = separator[0].strip(" \t*")
    if separator["label"] or separator["call"]:  # `password NAS: …`, `set_password("…")`
        if not compiled(SIGN).search(word.rstrip("?!")) or not _is_typed(lower, name):
            return None
        return _span(text, value) if is_chosen_password(word) else None
    if _is_pass(lower, name):
        # not a secret: "pass it on to …", "a second pass: Turbo5"
        has_sign = compiled(SIGN).search(word) or (separator_text == "=" and len(word) >= 8)
        is_certain = (is_chosen_password(word) and has_sign) or (
            is_random(word, 12) and matches(_MIXED, word)
        )
        return _span(text, value) if separator_text in (":", "=") and is_certain else None
    if _is_key(word, group, _min_length(lower, name)) or (
        _is_typed(lower, name) and is_chosen_password(word)
    ):
        return _span(text, value)
    # `password=` and a word is a password, except as the argument of a call
    is_assignment = not name["tail"] and (separator[0] == "=" or separator["member"])
    if (
        not is_assignment
        or not _is_typed(lower, name)
        or group == "angle"
        or len(word) < 8
        or not word.isalpha()
        or matches(TERM, word)
    ):
        return None
    in_call = "(" in text[max(0, start - 200) : start].rpartition("\n")[2]
    return None if in_call else _span(text, value)


def _spoken(
    text: str, lower: str, name: re.Match[str], separator: re.Match[str]
) -> tuple[int, int] | None:
    """Return the span of the value in `the password is …`, `password …` or `--password …`."""
    verb = separator["verb"] and separator["verb"].strip()
    is_option = not verb and _is_option(lower, name.start())
    is_name_whole = not name["tail"] or matches(_TWO_NAMES, name["tail"])
    if _is_pass(lower, name) or not (is_name_whole or verb or is_option):
        return None
    if not (value := _value(text, separator.end())):
        return None
    start, word, group = value
    if separator["below"]:  # a key is alone on its line
        is_alone = matches(r"`?[ \t]*(?:\n|$)", text[start + len(word) : start + len(word) + 9])
        is_title = (
            ":" in separator["below"] or "#" in lower[max(0, name.start() - 9) : name.start()]
        )
        is_certain = is_alone and (
            (matches(_KEY, word) and _is_key(word, group, max(20, _min_length(lower, name))))
            or (
                _is_typed(lower, name)
                and is_title
                and has_all_kinds(word)
                and is_chosen_password(word)
            )
        )
        return _span(text, value) if is_certain else None
    is_certain = is_option or bool(verb)
    if _is_typed(lower, name) and is_chosen_password(word, after_space=not is_certain):
        return _span(text, value)
    min_length = _min_length(lower, name)
    if not is_certain:
        min_length = max(min_length, 20) if matches(_KEY, word) else _MAX_VALUE + 1
    return _span(text, value) if _is_key(word, group, min_length) else None


def _is_typed(lower: str, name: re.Match[str]) -> bool:
    """Return True for the name of something that people choose and type, such as a password."""
    word = name["word"]
    if not word.startswith(_KEYS) or word.endswith(("wifi", "wi-fi")):
        return True
    before = lower[max(0, name.start() - 9) : name.start()]
    return "w" in before and compiled(_OF_WIFI).search(before) is not None


def _is_pass(lower: str, name: re.Match[str]) -> bool:
    """Return True for the word `pass`, which has other meanings, unless it ends a longer name such
    as `db_pass`."""
    before = lower[max(0, name.start() - 1) : name.start()]
    return name["word"] == "pass" and before != "_" and not before.isalpha()


def _min_length(lower: str, name: re.Match[str]) -> int:
    """Return the minimum length of a random value. It is less after `api_key` than after `key`."""
    if name[0].startswith(_KEYS[:3]) or name["word"] == "salt" or _is_typed(lower, name):
        return 12
    before = lower[max(0, name.start() - 12) : name.start()]
    if compiled(_KEY_OF).search(before):
        return 12
    return _MAX_VALUE + 1 if compiled(_PUBLIC_KEY).search(before) else 16


def by_column(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets in a table or in CSV, below a title such as `password`."""
    mark, titles, offset = "", [""], 0
    for line in lower.splitlines(keepends=True):
        cells = line.split(mark) if mark else []
        if len(cells) != len(titles):
            mark = next((each for each in "|\t;," if each in line), "")
            cells = line.split(mark) if mark else []
            is_plain = mark == "|" or all(matches(r"[ \"]?\w[\w \"-]{0,29}\s*$", c) for c in cells)
            titles = [_title(cell) for cell in cells] if is_plain and mark else [""]
            if not any(titles) or any(map(str.isdigit, line)):
                mark, titles = "", [""]
        start = offset
        for cell, title in zip(cells, titles, strict=False):
            if title and (value := _value(text[start : start + len(cell)].lstrip(), 0)):
                position, word, group = value
                position += start + len(cell) - len(cell.lstrip())
                is_typed = title == "typed" and is_chosen_password(word, after_space=True)
                if is_typed or _is_key(word, group, 16):
                    yield position, position + len(word)
            start += len(cell) + 1
        offset += len(line)


def _title(cell: str) -> str:
    """Return `typed` for the title of a column of passwords, `key` for one of keys, else ''."""
    cell = cell.strip(' *_`"\r\n')
    name = compiled(_NAME).search(cell) if len(cell) <= 30 else None
    if not name or name.end() < len(cell) or compiled(_NOT_SECRET).search(name["tail"]):
        return ""
    return "typed" if _is_typed(cell, name) else "key"


def _is_option(lower: str, start: int) -> bool:
    """Return True for an option whose value follows after a space: `--db-password value`."""
    return lower.startswith("-", lower.rfind(" ", max(0, start - 40), start) + 1)


def has_all_kinds(word: str) -> bool:
    """Return True for a word with a sign, or with small and capital letters and digits."""
    return bool(compiled(SIGN).search(word)) or _kinds(word) == 3


def _value(text: str, offset: int) -> tuple[int, str, str] | None:
    """Return the start of the value at an offset, its text and its kind of quotes; None for a
    placeholder or for no value."""
    match = compiled(_VALUE).match(text, offset)
    if not match or "\0" in match[0]:
        return None
    group = next(each for each in ("plain", "quoted", "curly", "angle") if match[each] is not None)
    start, value = match.start(group), match[group]
    # the rest after another name, as in `…;token=…`, is checked as the value of that name
    if inner := compiled(_INNER).search(value):
        value = value[: inner.start()]
        if len(value) < 6:
            return None
    if group == "plain" and len(value) < _MAX_VALUE:
        if "?" in text[max(0, start - 500) : start].rpartition(" ")[2]:
            value = value.partition("&")[0]
        value = value if "(" in value else value.rstrip(".,;:)]}")
        value = value.rstrip("*_") if match["bold"] or value.endswith("**") else value
    if any(matches(shape, value) for shape in (_PLACEHOLDER, _DATE, _CONSTANT)):
        return None
    return start, value, "plain" if match["quote"] == "`" else group


def _span(text: str, value: tuple[int, str, str]) -> tuple[int, int]:
    """Return the span of the whole value. `value` may have only its beginning."""
    start, word, _ = value
    end = start + len(word)
    if len(word) < _MAX_VALUE:
        return start, end
    rest = compiled(_REST_OF_VALUE).match(text, end)
    return start, rest.end() if rest else end


def _is_key(value: str, group: str, min_length: int) -> bool:
    """Return True if a value looks like a key, and not like code or a path."""
    if not is_random(value, min_length):
        return False
    if group == "plain" and matches(_CODE, value) and not matches(_SIGNS, value):
        return False
    if not matches(_PATH, value):
        return True
    parts = value.lower().split("/")
    return not (
        _has_words(value) or "://" in value or any(len(p) > 3 and _is_word(p) for p in parts)
    )


# -- a prefix and a random tail --------------------------------------------------------------------
# Keys of providers have a prefix, but so do ids. The prefix of an id is mostly the word for a thing
# (`run_`, `msg_`, `subnet-`). The prefix of a key is an abbreviation (`bpk-`, `ajkey_`) or a word
# such as `sk`. So a tail counts if it looks random, unless its prefix names a thing. A digest or a
# UUID must also follow an abbreviation or a word for keys.

_PREFIXED = (
    rf"(?a)(?<![\w./:@#%&?+~$^\\-])[A-Za-z][\w.-]{{{MIN_PREFIXED_KEY - 1},}}+={{0,2}}"
    r"(?![/+@(\[]|:\w)"
)
_UUID_END = r"(?a)[\w.-]*[_.-](?=.{36}$)[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$"
_HEX_ONLY = r"[0-9a-f]+$|[0-9A-F]+$|[0-9A-Fa-f]{40,}$"
_KEY_WORDS = frozenset(
    ("apikey", "key", "pat", "priv", "rk", "sec", "secret", "sk", "tok", "token")
)
_STAGES = frozenset(("access", "api", "auth", "live", "prod", "test"))
_ID_WORDS = frozenset(
    """
    account acct agent alpha ami arn asset assistant asst attach base batch beta blob block branch
    bucket build call card case cell ch channel charge chat chatcmpl checksum cid cluster cmpl
    code commit container conv conversation copy cs cus customer data db demo dep deploy device
    diff digest dir disk doc domain dpl dump edge env epoch etag event evt fc field file fleet
    flow fn form frame ft func function game git group guid hash host ic icon id idx image img in
    index input instance inv invoice item job lambda layer lib line link list lock log lt mail map
    media memory message meta mod model msg msgbatch name net network node note obj object order
    org out output page part patch payment photo pi pkg plan po pod policy pool port post pr price
    prj prod product proj project prr prrc prt pvt pvti queue quote rec record ref refund release
    rep repo report req request res resp response rev revision role room route row rs rule run
    sample scan schema scope script seed seq server service ses sess session seti sg sha shard
    shop si sid site size skill slot snap snapshot source span spec src srv srvtoolu stack state
    step sub subnet svc tab tag target task team temp text thread tile time tmp tool toolu tooluse
    topic trace tree tx txn type unit upload url urn user usr uuid v version video view vm vol
    volume vpc vs web week worker workspace wrkspc ws zone
    """.split()  # noqa: SIM905
)


def prefixed(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of keys that consist of a short prefix and a random tail: `bpk-3d990a73…`."""
    for match in compiled(_PREFIXED).finditer(text):
        run = match[0].rstrip(".-")
        if _is_prefixed(run[: 3 * _MAX_VALUE].rstrip("=")) and not matches(_PLACEHOLDER, run):
            yield match.start(), match.start() + len(run)


def _is_prefixed(run: str) -> bool:
    parts = re.split(r"[_.-]+", run)
    if matches(_UUID_END, run):
        prefix_parts, tail = parts[:-5], "".join(parts[-5:])
    else:
        index = next((index for index, part in enumerate(parts) if len(part) >= 12), 0)
        prefix_parts, tail = parts[:index], "".join(parts[index:])
    if len(run) < MIN_PREFIXED_KEY or not 1 <= len(prefix_parts) <= 4:
        return False
    if len(prefix_parts[0]) < 2 or max(map(len, prefix_parts)) > 10:
        return False
    if not all(part.islower() or part.isupper() or part.isdigit() for part in prefix_parts):
        return False
    if "." in run and parts[-1].isalpha():  # the name of a host or a file
        return False
    words = {part.lower().rstrip("0123456789") for part in prefix_parts}
    is_key = not words.isdisjoint(_KEY_WORDS)
    if not is_key and not words.isdisjoint(_ID_WORDS):
        return False
    if matches(_HEX_ONLY, tail):
        has_word = words <= _STAGES or any(len(word) > 4 and _is_word(word) for word in words)
        return len(tail) >= 32 and _kinds(tail) > 1 and (is_key or not has_word)
    has_three_kinds = _kinds(tail) == 3
    min_length, min_changes = (16, 0.4) if has_three_kinds else (20, 0.2)
    return (
        _kinds(tail) > 1
        and is_random(tail, min_length)
        and _changes(tail) >= min_changes * len(tail)
    )


def _kinds(text: str) -> int:
    """Return how many of the kinds of characters a text has: digits, lower case, upper case."""
    return sum(any(map(kind, text)) for kind in (str.isdigit, str.islower, str.isupper))


def _changes(text: str) -> int:
    """Return how often the next character is of another kind."""
    kinds = [2 if letter.isdigit() else letter.islower() for letter in text]
    return sum(map(int.__ne__, kinds, kinds[1:]))


# -- random text -----------------------------------------------------------------------------------

BARE_BITS = 4.5
_PIECE = rf"""[^\s"'`,;(){{}}<>\[\]|]{{{MIN_RANDOM},}}"""
_RUN = rf"(?a)[\w+/.~-]{{{MIN_RANDOM},}}={{0,2}}"
_MIXED = r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)"
_DIGEST = r"(?i:sha-?\d{1,3}|md5|h1|blake\w+)[-:=]$"
_PUBLIC = r"AAAA[A-Z][23]|Qm[1-9A-HJ-NP-Za-km-z]{44}$|sha\d{3}-"
_ID = r"[0-9A-Fa-f]+$|[0-7][0-9A-HJKMNP-TV-Z]{25}$|[a-z]{1,8}$|[A-Z][a-z]{2,}$|\d+$"
_DATA = r"data:(?:image|font|audio|video|application)/[\w.+;=-]{1,80},$"
_LINKED = (
    r"\[\[[^\[\]\n]{1,500}+\]\]|\]\([^()\s]{1,2000}+\)|<[a-z]{2,10}:[^<>\s]{1,2000}+>"
    r"|-----BEGIN (?![A-Z0-9 ]*PRIVATE)[A-Z0-9 ]{1,40}-----[^-]*+"
)


def _entropy(text: str) -> float:
    """Return the Shannon entropy in bits per character."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in map(text.count, set(text)))


def random_runs(text: str, taken: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of long runs that look random and do not overlap with `taken`."""
    linked: list[tuple[int, int]] | None = None
    for piece in compiled(_PIECE).finditer(text):
        if (
            not matches(_MIXED, piece[0])
            or _is_harmless(text, piece)
            or _overlaps(piece.span(), taken)
        ):
            continue
        linked = [m.span() for m in compiled(_LINKED).finditer(text)] if linked is None else linked
        if not _overlaps(piece.span(), linked):
            for run in compiled(_RUN).finditer(text, piece.start(), piece.end()):
                if _is_random_run(run[0].rstrip("."), text[max(0, run.start() - 8) : run.start()]):
                    yield run.start(), run.start() + len(run[0].rstrip("."))


def _is_harmless(text: str, piece: re.Match[str]) -> bool:
    """Return True for an address, a block id, the data of an image, or redacted text."""
    word = piece[0]
    if "://" in word or "\0" in word or word.startswith(("www.", "^", "#", "@")):
        return True
    before = text[max(0, piece.start() - 100) : piece.start()]
    return bool(before.endswith("base64,") and compiled(_DATA).search(before))


def _is_random_run(run: str, before: str) -> bool:
    if len(run) < MIN_RANDOM or not matches(_MIXED, run) or compiled(_DIGEST).search(before):
        return False
    if matches(_PUBLIC, run) or all(
        matches(_ID, part) for part in re.split(r"[-_./+~]", run.strip("="))
    ):
        return False
    return (
        not _has_words(run)
        and not is_name(run)
        and not _is_path(run)
        and _entropy(run) >= BARE_BITS
    )


def _is_path(run: str) -> bool:
    """Return True if slashes separate names. Base64 has only a few slashes, at random places."""
    parts = run.split("/")
    if len(parts) == 1:
        return False
    if (
        run[0] in "/.~"
        or "." in run
        or any(p.islower() and matches(PRONOUNCEABLE, p) for p in parts)
    ):
        return True
    return len(parts) > 1 + len(run) // 12


def _overlaps(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    """Return True if a span overlaps a span in `others`, which are sorted."""
    index = bisect_left(others, span[1], key=lambda other: other[0])
    return index > 0 and others[index - 1][1] > span[0]
