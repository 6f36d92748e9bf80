"""Find secrets by their place: in an address, a header, a command, a connection string, or a PEM
block. Only the secret part is replaced, so the text still names the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from brain.redact.detect import has_all_kinds, is_chosen_password, is_random, matches
from brain.redact.rules import compiled

Span = tuple[str, int, int]

# The characters between the lines of a key, also of a key in a string or a quotation.
_BETWEEN = r"(?:\\[nrt]|[\s\"',+>#*|\\])"
_PEM = (
    r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    rf"(?:{_BETWEEN}|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]*+"
    r"|[A-Za-z0-9+/=]{16,}+)*+"  # an incomplete key ends with its last full line
    rf"(?:(?:[A-Za-z0-9+/=]{{1,15}}+{_BETWEEN}*+)++(?=-{{4,5}} ?END))?"
    r"(?:-{4,5} ?END [A-Z0-9 ]{1,60}-{4,5})?"
)
_PUTTY = rf"Private-Lines: \d+{_BETWEEN}++(?P<secret>(?:[A-Za-z0-9+/=]{{16,}}+{_BETWEEN}*+)++)"
_ADDRESS = (
    r"(?<![A-Za-z0-9\0])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>\0]{0,100}:"
    r"(?P<secret>[^\s/\"'<>]{1,256})@(?=[\w\[%$({-])"
)
_TOKEN_ADDRESS = (
    r"(?a)(?<![A-Za-z0-9\0])[A-Za-z][A-Za-z0-9+.-]{1,20}://"
    r"(?P<secret>[\w.~%-]{16,256}):?@(?=[\w\[])"
)
_HEADER = (
    r"(?a)(?i:authorization)\\?[\"'\])]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}\\?[\"'`]?"
    r"(?:(?i:bearer|basic|token|digest|apikey|oauth|negotiate|key)[ \t]{1,4})?"
    r"(?P<secret>[\w+/=.~%-]{8,4000})"
)
_BEARER = r"(?a)\b[Bb]earer[ \t]{1,4}(?P<secret>[\w+/.~-]{20,4000}={0,2})"
_COOKIES = r"(?i)cookies?\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}(?P<all>[^\n]{8,4000})"
_COOKIE = r"(?a)(?<![\w.-])(?P<name>[\w.-]{1,60})=\\?[\"']?(?P<secret>[^\s;,\"'\\\0]{8,1000})"
_SESSION = r"(?i).*(?:sess|sid$|auth|token|jwt|login|remember|csrf|xsrf|secret)"
# `_auth` in .npmrc and "auth" in docker's config.json contain base64 of `user:password`.
_LOGIN = (
    r"(?a)(?<![\w-])(?:_auth|auth(?=\\?[\"']))\\?[\"']?[ \t]{0,3}[=:][ \t]{0,3}\\?[\"']?"
    r"(?P<secret>[\w+/-]{8,2000}={0,2})"
)
_CURL = r"(?:^|[\s\"'])(?:-u|--user)[ =]{0,2}[\"']?[^\s:\"'\0]{1,100}:(?P<secret>[^\s\"']{1,200})"
_ARGUMENT = r"\\?[\"']?(?P<secret>[^\s\"'`|;&\0\\]{4,200})"
# Commands with a password after an option. No space may follow `-p` of mysql.
_COMMANDS = {
    "mysql": rf"\bmysql\w{{0,10}}\b[^\n|;&]{{0,200}}?[ ]-p(?![ ]){_ARGUMENT}",
    "mariadb": rf"\bmariadb[\w-]{{0,10}}\b[^\n|;&]{{0,200}}?[ ]-p(?![ ]){_ARGUMENT}",
    "sshpass": rf"\bsshpass[^\n|;&]{{0,60}}?[ ]-p[ ]?{_ARGUMENT}",
    "docker login": rf"\bdocker login[^\n|;&]{{0,200}}?[ ]-p[ ]{_ARGUMENT}",
    "mongo": rf"\bmongo\w{{0,10}}[^\n|;&]{{0,200}}?[ ]-p[ ]{_ARGUMENT}",
    "redis-cli": rf"\bredis-cli[^\n|;&]{{0,200}}?[ ]-a[ ]{_ARGUMENT}",
    "sqlcmd": rf"\bsqlcmd[^\n|;&]{{0,200}}?[ ]-P[ ]?{_ARGUMENT}",
    "ldap": rf"\bldap[a-z]{{3,8}}[^\n|;&]{{0,200}}?[ ]-w[ ]{_ARGUMENT}",
    "smbclient": rf"\bsmbclient[^\n|;&]{{0,200}}?[ ]-U[ ][\"']?[\w.\\-]{{1,60}}%{_ARGUMENT}",
    "sqlplus": rf"\bsqlplus[^\n|;&]{{0,80}}?[ ][\"']?\w{{1,60}}/{_ARGUMENT}",
    "zip -": rf"\bzip[ ]-[^\n|;&]{{0,60}}?P[ ]{_ARGUMENT}",
    "7z": rf"\b7za?[ ][^\n|;&]{{0,60}}?[ ]-p(?![ ]){_ARGUMENT}",
    "rar ": rf"\b(?:un)?rar[ ][^\n|;&]{{0,60}}?[ ]-p(?![ ]){_ARGUMENT}",
    "http -a": rf"\bhttp[ ]-a[ ][^\s:]{{1,60}}:{_ARGUMENT}",
    "https -a": rf"\bhttps[ ]-a[ ][^\s:]{{1,60}}:{_ARGUMENT}",
    "htpasswd": rf"\bhtpasswd[ ]-[a-zB]*b[a-zB]*[ ]\S{{1,100}}[ ]\S{{1,60}}[ ]{_ARGUMENT}",
    "openssl enc": rf"\bopenssl enc[^\n|;&]{{0,100}}?[ ]-k[ ]{_ARGUMENT}",
    "rclone obscure": rf"\brclone obscure[ ]{_ARGUMENT}",
    "wpa_passphrase": rf"\bwpa_passphrase[ ]\S{{1,64}}[ ]{_ARGUMENT}",
    "masterauth": rf"\bmasterauth[ ]{_ARGUMENT}",
    "net use": r"\bnet use[^\n|;&]{0,99}?(?:[ ]/user:\S{1,60}|r[ ]\w{1,60})[ ](?!/)" + _ARGUMENT,
    "securestring": rf"(?i)to-securestring[ ](?:-string[ ])?{_ARGUMENT}",
    "identified": r"(?i)\bidentified[ ](?:with[ ]\S{1,40}[ ])?by[ ](?:password[ ])?"
    r"[\"'](?P<secret>[^\"'\s\0]{4,200})",
    "wifi:": r"(?i)\bwifi:[^\n]{0,99}?;P:(?P<secret>[^;\s\0]{4,80});",
}
_ECHO = (
    r"echo[ ](?:-n[ ])?[\"']?(?:[\w.-]{1,40}:)?(?P<secret>[^\s\"'|\0]{4,200})[\"']?[ ]{0,2}\|"
    r"[^\n]{0,80}?(?:--password-stdin|\bchpasswd|sudo[ ]-S)"
)
# A user and a password, as options of any command.
_OPTIONS = (
    r"(?i)[ ](?:-u|-l|--user(?:name)?|/u(?:ser)?:)[ =]?[^\s-]\S{0,60}(?:[ ][^\n|;&]{0,80}?)?"
    rf"[ ](?:-p|-w|/p:)[ ]?(?![/.~-]){_ARGUMENT}"
)
_LOGIN_PAIR = (
    r"(?:log-?in|credentials?|creds|zugangsdaten|anmeldedaten|user(?:name)?|account|router"
    r"|wlan|wi-?fi|ssid|identifiants|credenciales)[ \t:=]{1,3}[^\s/|,:=]{1,60}"
    r"(?:[ ]?[/|:,]|[ ])[ ]?(?P<secret>[^\s/|,:=\0]{8,60})"
)
# Calls with a user and a password as arguments.
_CALL = (
    r"(?:auth=|[Aa]uth|[Cc]redential|[Cc]onnection|mysqli(?:_connect)?|PDO)"
    r"\((?P<all>[^()\n]{3,300})"
)
_CALLS = ("auth=(", "auth(", "credential(", "connection(", "mysqli", "pdo(")
_SECOND = r",[ ]{0,9}[\"'](?P<secret>[^\"'\s\0]{4,100})[\"']"
_QUERY = (
    r"(?a)[?&](?i:(?:x-\w{3,5}-)?(?:key|code|sig|signature|auth|session\w{0,3}))="
    r"(?P<secret>[\w%+/.~-]{20,500})"
)
_SEED = (
    r"(?:seed(?:[ _-]?(?:phrase|words))?|mnemonic|(?:recovery|wallet)[ _-](?:phrase|words))\b"
    r"(?:[\"'`* \t:=>-]|[ ]is[ ]|[ ]ist[ ]){0,9}\n{0,2}[ \t>\"'`]{0,4}"
    r"(?P<secret>(?:\d{1,2}[.)] )?[a-z]{3,8}(?:[\s,]{1,2}(?:\d{1,2}[.)] )?[a-z]{3,8}){11,23}+)"
    r"(?![ ]?[a-z])"
)
_NO_SEED = r"\b(?:the|and|for|are|was|with|from|this|that|you|not|has|have)\b"
_CODES = (
    r"(?:recovery|backup|emergency|rescue|2fa|wiederherstellungs|ersatz|notfall)[ -]?codes?\b"
    r"[^\n:]{0,40}[:\n]"
)
_CODE = r"(?=.*\d)(?=.*[a-z]|\d{6})[a-z0-9]{4,12}(?:-[a-z0-9]{4,12}){0,7}$"
# user/password@database, as in Oracle's tools
_ORACLE = (
    r"(?a)(?:(?<=thin:)|(?<![\w@/.:\0-]))[A-Za-z]\w{1,29}/(?P<secret>[^\s/@:\"'<>()\[\]{}|,;\0]{4,30})"
    r"@(?P<host>(?://)?[A-Za-z][\w.-]{0,60}(?::\d{4})?)"
)
_DATABASE = r"(?i)//|.*(?:db|orcl|xe$|:\d{4}$)"
_REVISION = r"v?\d|[0-9a-f]{7,}$|sha\d|(?:main|master|dev\w*|head|latest|next|stable|release\S*)$"
_PGPASS = (
    r"(?a)(?<![^\s`\"'(])(?:[\w.-]{1,100}|\*):(?:\d{4,5}|\*):(?:[\w-]{1,63}|\*):(?:[\w@-]{1,63}|\*):"
    r"(?P<secret>[^\s:`\"'\0]{1,200})(?![^\s`\"')])"
)
_DSN = r"(?<![A-Za-z0-9_\0])(?:password|pwd)=(?P<secret>[^;\s\"'`&,)]{1,200})"
_DSN_PEER = (
    r"(?a)\b(?:server|data source|host|hostname|dbname|database|initial catalog|user id|uid|user"
    r"|username)[ ]?="
)
_NETRC = r"(?a:\b)login\s{1,4}(?!(?:and|or)\s)\S{1,100}\s{1,4}password\s{1,4}(?P<secret>\S{1,200})"
# Letters of scripts without spaces between words (Thai to Burmese, Khmer, kana, Han), the signs
# between their sentences, and the letters of Korean, whose particles follow any word directly.
_DENSE = (
    r"\u0e00-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u312f\u3190-\ua4cf"
    r"\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_SIGNS = r"\u2014\u2018-\u201f\u2026\u3000-\u3004\u3008-\u303f\uff00-\uff65"
_HANGUL = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"
# The end of a secret that is not ASCII: prose may follow it without a space.
_TO_PROSE = rf"[^{_DENSE}{_HANGUL}{_SIGNS}]+"
_TO_HOST = rf"{_TO_PROSE}(?=@)|[^{_SIGNS}]+(?=@)"
_EMPTY_VALUE = (
    r"(?i)[<{\[*]|\$[A-Z_({]|%[A-Z_(]|(?:pass(?:word|wd)?|pwd?|secret|x{3,}|\.{3}|…|your\W?\w*|token|none"
    r"|null|true|false|required|optional)$"
)

MARKS = (
    *("begin ", "private-lines", "authorization", "bearer ", "curl", "password", "pwd"),
    *("cookie", "_auth", '"auth', "'auth", "://", "@", ":*:", "login", *_COMMANDS),
    *("| ", " -u", " -l", "--user", "/u", "user", "cred", "daten", "account", "router", "wlan"),
    *("wifi", "wi-fi", "ssid", "identifiants", *_CALLS),
    *("?", "&", "seed", "mnemonic", "phrase", "words", "code"),
)


def find(text: str, lower: str) -> Iterator[Span]:
    """Yield the secrets that each rule finds. `lower` is the text in lower case."""
    if "BEGIN " in text:
        for match in compiled(_PEM).finditer(text):
            yield "private-key", match.start(), match.start() + len(match[0].rstrip(" \r\n\t\"',+"))
    if "private-lines" in lower:
        yield from _secrets("private-key", _PUTTY, text)
    if "://" in text and "@" in text:
        yield from _secrets("url", _ADDRESS, text)
        yield from _secrets("url", _TOKEN_ADDRESS, text)
    if "authorization" in lower:
        yield from _secrets("authorization", _HEADER, text)
    if "earer " in text:
        yield from _secrets("bearer", _BEARER, text)
    if "cookie" in lower:
        yield from _cookies(text)
    if "auth" in lower:
        yield from _secrets("login", _LOGIN, text)
    if "curl" in lower:
        yield from _secrets("curl-user", _CURL, text)
    for command, pattern in _COMMANDS.items():
        if command in lower:
            yield from _secrets("command", pattern, text)
    if "/" in text and "@" in text:
        yield from _oracle_logins(text)
    if "password" in lower or "pwd" in lower:
        yield from _connection_strings(text, lower)
    if "login" in lower:
        yield from _secrets("netrc", _NETRC, text)
    if text.count(":") >= 4:
        yield from _secrets("pgpass", _PGPASS, text)
    if "echo " in lower:
        yield from _secrets("command", _ECHO, text)
    if any(option in lower for option in (" -u", " -l", "--user", " /u")):
        yield from _secrets("options", _OPTIONS, text)
    for start, end in _spans(_LOGIN_PAIR, lower):
        if has_all_kinds(text[start:end]) and is_chosen_password(text[start:end]):
            yield "login-pair", start, end
    if any(name in lower for name in _CALLS):
        for call in compiled(_CALL).finditer(text):
            yield from _secrets("call", _SECOND, call["all"], call.start("all"))
    if "=" in text and ("?" in text or "&" in text):
        yield from _secrets("query", _QUERY, text)
    if any(word in lower for word in ("seed", "mnemonic", "phrase", "words")):
        yield from _seeds(lower)
    if "code" in lower:
        yield from _codes(lower)


def _secrets(rule: str, pattern: str, text: str, offset: int = 0) -> Iterator[Span]:
    for start, end in _spans(pattern, text):
        secret = text[start:end]
        if "\0" in secret or matches(_EMPTY_VALUE, secret):
            continue
        if rule in ("authorization", "bearer") and not _looks_encoded(secret):
            continue
        if pattern == _TOKEN_ADDRESS and not is_random(secret):
            continue
        if rule == "curl-user" and "curl" not in text[max(0, start - 500) : start].lower():
            continue
        if rule == "login" and not (_is_login(secret) or is_random(secret)):
            continue
        if rule == "query" and not is_random(secret, 20):
            continue
        if rule == "options" and not is_chosen_password(secret, after_space=True):
            continue
        if rule == "call" and not is_chosen_password(secret):
            continue
        yield rule, offset + start, offset + end


def _spans(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each secret that a pattern finds. Prose in another script that follows the
    secret without a space is left out."""
    position = 0
    while match := compiled(pattern).search(text, position):
        (start, end), position = match.span("secret"), match.end()
        if not match["secret"].isascii():
            shape = _TO_HOST if pattern == _ADDRESS else _TO_PROSE
            secret = compiled(shape).match(text, start, position)
            end = secret.end() if secret else start
            position = max(end, start + 1)
        if end > start:
            yield start, end


def _looks_encoded(secret: str) -> bool:
    """Return True for letters with digits, mixed case, or padding, unlike a word or a variable."""
    plain = secret.strip("=")
    if secret != plain:
        return True
    mixed = not plain.isupper() and not plain.islower() and not plain.istitle()
    return any(map(str.isdigit, plain)) or (mixed and plain.isalpha())


def _is_login(secret: str) -> bool:
    """Return True for base64 of `user:password`."""
    from base64 import b64decode

    try:
        user, colon, _ = b64decode(secret + "=" * (-len(secret) % 4)).decode().partition(":")
    except ValueError:
        return False
    return bool(colon) and user.isprintable()


def _cookies(text: str) -> Iterator[Span]:
    """Yield the values in `Cookie:` headers that belong to a session or look random."""
    for header in compiled(_COOKIES).finditer(text):
        for cookie in compiled(_COOKIE).finditer(text, *header.span("all")):
            secret = cookie["secret"]
            is_session = matches(_SESSION, cookie["name"]) and any(map(str.isdigit, secret))
            if (is_session or is_random(secret)) and not matches(_EMPTY_VALUE, secret):
                yield "cookie", *cookie.span("secret")


def _oracle_logins(text: str) -> Iterator[Span]:
    """Yield the password in `scott/password@db`, but nothing in `owner/repository@revision`."""
    for match in compiled(_ORACLE).finditer(text):
        secret, host = match["secret"], match["host"]
        likely = (
            is_chosen_password(secret)
            and "-" not in secret
            and not matches(_REVISION, host.lower())
        )
        if (likely or matches(_DATABASE, host)) and not matches(_EMPTY_VALUE, secret):
            yield "oracle", *match.span("secret")


def _seeds(lower: str) -> Iterator[Span]:
    """Yield the 12 to 24 words that restore a wallet."""
    for match in compiled(_SEED).finditer(lower):
        words = re.findall("[a-z]+", match["secret"])
        if len(words) % 3 == 0 and not compiled(_NO_SEED).search(match["secret"]):
            yield "seed-phrase", *match.span("secret")


def _codes(lower: str) -> Iterator[Span]:
    """Yield the codes in a list after a title such as `Recovery codes:`."""
    end = 0
    for title in compiled(_CODES).finditer(lower):
        if title.start() < end:
            continue
        for word in compiled(r"[^\s,|`*>]+").finditer(lower, title.end(), title.end() + 1000):
            if matches(_CODE, word[0]):
                yield "recovery-code", *word.span()
                end = word.end()
            elif not matches(r"[-+\]]$|\d{1,2}[.)]$|\[x?\]?$|```", word[0]):
                break


def _connection_strings(text: str, lower: str) -> Iterator[Span]:
    """Yield the passwords in `Server=…;Password=…` and `host=… password=…`, on one line."""
    for start, end in _spans(_DSN, lower):
        if "\0" in lower[start:end] or compiled(_EMPTY_VALUE).match(text, start, end):
            continue
        before = lower[max(0, start - 300) : start].rpartition("\n")[2]
        after = lower[end : end + 300].partition("\n")[0]
        if compiled(_DSN_PEER).search(before) or compiled(_DSN_PEER).search(after):
            yield "connection-string", start, end
