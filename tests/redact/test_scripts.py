"""A secret is found in any script: what stands glued to it stays, also where no space is set."""

from __future__ import annotations

import random
import re

import pytest

from brain.redact import find, redact, rules
from tests.redact import corpus

RULES = sorted({rule.name for rule in (*rules.PREFIXED, *rules.SHAPED)} | set(rules.NAMED))
DICE = random.Random(12)
GLUED = (
    ("密钥", "是生产环境的密钥，请勿外传"),
    ("本番の鍵は", "です。よろしく"),
    ("운영키는", "입니다"),
    ("ключ", "действует до пятницы"),
    ("คีย์คือ", "ใช้กับระบบจริง"),
    ("clé", "été, à Noël"),
    ("Menü", "ölpreis"),
    ("المفتاح", "للإنتاج"),
    ("κλειδί", "ισχύει"),
    ("「", "」と言った"),
)


@pytest.mark.parametrize("rule", RULES)
def test_a_key_goes_and_the_words_around_it_stay(rule: str) -> None:
    for template in corpus.FORMATS[rule]:
        for left, right in GLUED:
            secret, parts = corpus.expand(template, DICE)
            redacted, found = redact(f"{left}{secret}{right}")
            assert rule in {hit.rule for hit in found}, (secret, found)
            assert [part for part in parts if part in redacted] == []
            assert redacted.startswith(left), redacted
            assert redacted.endswith(right), redacted
            if not re.search(r"[\s=:/]", template):
                assert re.fullmatch(r"\[redacted:[a-z0-9-]+\]", redacted[len(left) : -len(right)])


def test_a_key_behind_its_providers_name_and_a_wide_colon() -> None:
    secret, _ = corpus.expand("{hex:32}", DICE)
    assert redact(f"datadog的密钥：{secret}。")[0] == "datadog的密钥：[redacted:datadog]。"


HELD = (
    ("用Authorization: Bearer {}调用接口", "authorization"),
    ("头部Bearer {}是测试用的", "bearer"),
    ("连接postgres://bob:{}@db.example.com，联系李四", "url"),
    ("连接postgres://bob:{}@db.example.com，邮箱是a@b", "url"),
    ("运行 curl -u admin:{}，然后重试", "curl-user"),
    ("写 machine x.org login bob password {}。谢谢", "netrc"),
    ("连接串Server=db;Password={}，不要外传", "connection-string"),
    ("Server=db;Password={}，备用Password={}。", "connection-string"),
    ("postgres://a:{}@x，postgres://b:{}@y。", "url"),
    ("我的SSN是{}，保密", "ssn"),
    ("卡号{}已过期", "card"),
    ("账号{}已过期", "iban"),
)


@pytest.mark.parametrize(("text", "rule"), HELD)
def test_a_secret_told_by_its_place_ends_where_the_prose_goes_on(text: str, rule: str) -> None:
    secret = {"ssn": "123-45-6789", "card": "4111111111111111", "iban": "DE89370400440532013000"}
    value = secret.get(rule, "aK7xQ2mZp9Lw3Rt5Vb8Ny4")
    assert redact(text.replace("{}", value))[0] == text.replace("{}", f"[redacted:{rule}]")


@pytest.mark.parametrize("password", ["Größe9zwölf", "Лето2024!", "我的密码9"])
def test_a_password_in_an_address_may_be_of_any_letters(password: str) -> None:
    for text in ("postgres://bob:{}@db/x", "连接postgres://bob:{}@db，邮箱a@b"):
        assert redact(text.format(password))[0] == text.format("[redacted:url]")
    port = "看mysql://db:3306，联系a@b"
    assert redact(port) == (port, [])


ADDRESSES = (
    "jörg.müller@firma.de", "user@münchen.de", "mu\u0308ller@firma.de", "Pelé@example.com",
    "ivan@xn--80a1acny.xn--p1ai", "bob@例子.com", "ivan@почта.com", "łukasz@żółw.pl",
    "o'brien@example.com",
)  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_with_accents_goes_whole(address: str) -> None:
    for text in ("{}", "an {}, bitte", "mailto:{}.", "<{}>", "联系：{}，谢谢", "«{}»", "x\n{}\ny"):
        assert redact(text.format(address))[0] == text.format("[redacted:email]")
        assert find(text.format(address), emails=False) == []


PROSE = (
    ("请写信给zhang@example.com或者联系李四", "请写信给[redacted:email]或者联系李四"),
    ("bob@example.com是我的邮箱.请回复", "[redacted:email]是我的邮箱.请回复"),
    ("bob@example.com.请回复", "[redacted:email].请回复"),
    ("bob@example.com.Привет", "[redacted:email].Привет"),
    ("hong@example.com으로.그리고", "[redacted:email]으로.그리고"),
    ("李四,zhang@a.cn;wang@b.cn。", "李四,[redacted:email];[redacted:email]。"),
    ("مرحبا،ali@example.com؟", "مرحبا،[redacted:email]؟"),
)


@pytest.mark.parametrize(("text", "redacted"), PROSE)
def test_prose_next_to_an_address_stays(text: str, redacted: str) -> None:
    assert redact(text)[0] == redacted
    assert redact(redacted) == (redacted, [])


NO_ADDRESS = (
    "使用@app.route装饰器", "用@pytest.fixture写测试", '用@app.on_event("x")注册',
    "感谢@zhangsan的帮助", "参见@types/node和@scope/pkg.js", "安装lodash@4.17.21就好",
    "克隆git@github.com:org/repo.git吧", "用ssh登录deploy@prod.example.com即可",
    "图片logo@2x.png很大", "a@b", "größe@b", "价格@5元.谢谢", "@иван спасибо",
    "спасибо @иван.петров за помощь", "мама@работе.Потом домой", "main@{upstream}", "HEAD@{1}",
    "@мама@mastodon.social", "@property\ndef größe(self): ...", "x = å @ b.T", "встреча @ офис",
    "https://x.org/用户-bob@y.com", "https://x.org/größe@y.com", "地点@公司.时间下午三点",
    "会议@三楼.请准时", "systemctl start größe@tty1.service", "张三\n@example.com",
    "请看@example.com", "用户@", "公司邮箱都以@example.com结尾", "所有的@example.com邮箱",
    "иван@почта.рф", "张三@example.com", "홍길동@example.com", "li.张三@example.com",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_an_at_sign_in_prose_or_code_is_no_address(text: str) -> None:
    assert redact(text) == (text, [])


HOSTILE = (
    "张@",
    "张三.",
    "é@é.",
    "a@1.",
    "密钥ghp_",
    "я.я@",
    "张@张.",
    "a@é.é.é.é.é.é.é.é.é.",
    "://a:张@",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_text_of_any_script_is_gone_through_in_one_go(piece: str) -> None:
    """Steps that grew with the square of the length would not end here."""
    text = piece * (300_000 // len(piece))
    redacted, _ = redact(text)
    assert redact(redacted)[0] == redacted
