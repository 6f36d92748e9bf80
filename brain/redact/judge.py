"""How a value behind a name or in a place of secrets is judged: by its length and its alphabet.

Entropy does not tell a key from a name: a key of hexadecimal digits reaches no more bits a
character than words do. What tells them apart is that names are made of words, and words of pairs
of letters that are common in some language.
"""

from __future__ import annotations

import re

from brain.redact.rules import compiled

# Behind each letter, those that follow it in at least 3 of 1,000 pairs of letters, in one of 17
# languages with Latin letters. Of random pairs a third is among them, of pairs in words most.
_FOLLOWERS = (
    "aacdghijklmnprstuvwyz baeilosuy caehikostuz daeijnou eabcdegijklmnrstuvxyz feio gaegiosuy"
    " haeilot iacdefghijklmnorstvz jaeo kaeikotuy ladegilmostu mabeios nacdeginostuy"
    " oabdefgiklmnoprstuvwz paelor qu radeilostuz saceghiklopstuz taehiortuy uaegijklmnoprstu"
    " vaeiou waeinoy xt yaeot zaeintuy"
)
_PAIRS = frozenset(row[0] + letter for row in _FOLLOWERS.split() for letter in row[1:])

_WORD = r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])"
SAYABLE = r"(?i)(?=.*[aeiouy])(?!.*[^aeiouy]{4})"
_PARTS = r"[-_./:+@~]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_PART = r"(?:[A-Za-z]?[a-z]*|[A-Z]+s?)\d{0,4}$|\d{1,4}[a-z]?$"
_WORDS = r"[a-z]+[_.,:;=/-][a-z_.,:;=/-]*$"
SIGN = r"[!$%^&*?+~#@=]"
_NO_PASSWORD = (
    r"[#^][\w/-]+$|\S+@[\w-]+\.[\w.]+$|v?\d+(?:\.\d+)+|\d+\W?[a-z]+$|\d+[A-Za-z]*(?:-[A-Za-z]+)+$"
    r"|.*[()\[\]{}<>|\\/,;:]"
)
TERM = (
    r"(?i).*(?:pass|pwd|secret|hash|crypt|argon|pbkdf|sha-?\d|md5|base64|oauth|value|text|string"
    r"|null|none|undefined|unknown|required|optional|enabled|disabled|hidden|redacted)"
)


def matches(shape: str, text: str) -> bool:
    return compiled(shape).match(text) is not None


def is_random(value: str, least: int = 16) -> bool:
    """Return True for letters with digits, or many letters, that are not made of words."""
    if len(value) < least or len(set(value)) < 6 or matches(_WORDS, value):
        return False
    letters = sum(map(str.isalpha, value))
    if not letters or sum(map(str.isalnum, value)) < 0.6 * len(value):
        return False
    if letters == len(value) < 14 and (value.islower() or value.isupper()):
        return False
    if not any(map(str.isdigit, value)) and letters < max(least, 0.8 * len(value)):
        return len(compiled(SIGN).findall(value)) > 1 and not value.islower()
    return not is_name(value)


def is_name(value: str) -> bool:
    """Return True for `user-account-v2`, `UserAccount2`, `USER_ID`: words, with a few digits."""
    parts = re.split(_PARTS, value.strip("-_./:+@~="))
    if not all(matches(_PART, part) for part in parts):
        return False
    if not value.isalnum() and matches(TERM, value):
        return True
    words = [part.rstrip("0123456789").lower() for part in parts]
    pairs = sum(len(word) - 1 for word in words if word)
    # Chance makes short words, too: where no sign parts them, most letters must fit together.
    if value.isalnum() and sum(map(len, words)) < 3.5 * len(words):
        return False
    if sum(map(_common, words)) < (0.6 if value.isalnum() else 0.4) * pairs:
        return False
    said = sum(len(word) for word in words if is_word(word))
    return said >= 0.5 * sum(map(str.isalnum, value))


def is_word(letters: str) -> bool:
    """Return True if most pairs of these letters are common ones. A short word needs a vowel."""
    if len(letters) < 7 and not (len(letters) > 2 and matches(SAYABLE, letters)):
        return False
    return len(letters) < 4 or (
        _common(letters) >= (0.5 if len(letters) < 7 else 0.75) * (len(letters) - 1)
    )


def _common(word: str) -> int:
    """Return how many pairs of small letters in a word are common ones."""
    return sum(word[at : at + 2] in _PAIRS for at in range(len(word) - 1))


def worded(text: str) -> bool:
    """Is it made of words that can be said, as names and paths are?"""
    said = sum(len(word) for word in compiled(_WORD).findall(text) if matches(SAYABLE, word))
    return said >= 0.6 * sum(map(str.isalnum, text))


def made_up(value: str, *, alone: bool = False) -> bool:
    """Return True for a password as people make them: letters, a digit, perhaps a sign.

    With `alone`, nothing but a space is between the value and the word `password`: then a word
    with a number behind it (`step2`, `RFC7617`) does not count.
    """
    if len(value) < 6 or matches(_NO_PASSWORD, value) or matches(TERM, value):
        return False
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    if compiled(SIGN).search(value.rstrip("?!")):
        return True
    if not value.replace("!", "").replace("?", "").isalnum() and is_name(value):
        return False
    if alone:
        return len(value) >= 8 and not matches(r"[A-Z]+s?\d+$|[A-Za-z]+\d{1,2}$", value)
    return True
