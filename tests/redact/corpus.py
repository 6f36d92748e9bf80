"""Secrets and things that only look like them, made at run time: the repository holds none.

A format is a template: `{set:count}` stands for that many characters of a set. The formats are
written down here independently of the rules that must catch them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import string
import uuid
from collections.abc import Callable, Iterator

SETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "a": string.ascii_lowercase + string.digits,
    "A": string.ascii_uppercase + string.digits,
    "an": string.ascii_letters + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b64": string.ascii_letters + string.digits + "+/",
    "b32": string.ascii_uppercase + "234567",
    "b32l": string.ascii_lowercase + "234567",
    "d": string.digits,
    "al": string.ascii_letters,
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "bechl": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
}

FORMATS: dict[str, tuple[str, ...]] = {
    "aws": ("AKIA{b32:16}", "ASIA{b32:16}", "aws_secret_access_key = {b64:40}"),
    "aws-session": ("IQoJb3JpZ2lu{b64:300}",),
    "aws-bedrock": ("ABSK{b64:128}", "bedrock-api-key-{b64:120}"),
    "google-api": ("AIza{w:35}",),
    "google-oauth": ("ya29.{w:60}", "GOCSPX-{w:28}", "1//0{w:60}"),
    "alibaba": ("LTAI{an:20}",),
    "tencent": ("AKID{an:32}",),
    "digitalocean": ("dop_v1_{hex:64}", "doo_v1_{hex:64}", "dor_v1_{hex:64}"),
    "heroku": ("HRKU-{uuid}", "HRKU-AA{w:58}", "HEROKU_API_KEY={uuid}"),
    "cloudflare-origin": ("v1.0-{hex:24}-{hex:146}",),
    "cloudflare": ("CLOUDFLARE_API_TOKEN={w:40}", "cloudflare_key: {hex:37}"),
    "flyio": ("fo1_{w:43}", "fm2_{b64:120}"),
    "vercel": ("vcp_{an:56}", "vercel_blob_rw_{an:30}", "VERCEL_TOKEN={an:24}"),
    "netlify": ("nfp_{an:36}", "NETLIFY_AUTH_TOKEN={w:43}"),
    "authress": ("authress_{a:8}.{a:5}.acc_{a:20}.{b64:60}",),
    "scalingo": ("tk-us-{w:48}",),
    "render": ("rnd_{an:32}",),
    "supabase": ("sbp_{hex:40}", "sb_secret_{w:31}"),
    "neon": ("napi_{a:64}",),
    "planetscale": ("pscale_tkn_{w:43}", "pscale_pw_{w:43}"),
    "databricks": ("dapi{hex:32}", "dapi{hex:32}-2"),
    "pulumi": ("pul-{hex:40}",),
    "vault": ("hvs.{w:95}", "hvb.{w:140}"),
    "doppler": ("dp.pt.{an:43}", "dp.st.dev.{an:43}"),
    "onepassword": ("ops_eyJ{b64:300}",),
    "onepassword-key": (
        "A3-{A:6}-{A:11}-{A:5}-{A:5}-{A:5}",
        "A3-{A:6}-{A:6}-{A:5}-{A:5}-{A:5}-{A:5}",
    ),
    "tailscale": ("tskey-auth-{an:12}CNTRL-{an:32}",),
    "openshift": ("sha256~{w:43}",),
    "dynatrace": ("dt0c01.{A:24}.{A:64}",),
    "github": ("ghp_{an:36}", "gho_{an:36}", "ghu_{an:36}", "ghs_{an:36}", "ghr_{an:76}"),
    "github-fine-grained": ("github_pat_{an:22}_{an:59}",),
    "gitlab": ("glpat-{w:20}", "gldt-{w:20}", "glrt-{w:20}", "glcbt-{a:5}_{w:20}"),
    "gitlab-runner": ("GR1348941{w:20}",),
    "bitbucket": ("ATBB{an:24}{HEX:8}", "bitbucket_client_id: {a:32}"),
    "atlassian": ("ATATT3{w:186}", "jira_atlassian_token: {a:20}{hex:4}"),
    "sourcegraph": ("sgp_{hex:40}", "sgp_{hex:16}_{hex:40}", "sgp_local_{hex:40}"),
    "buildkite": ("bkua_{hex:40}",),
    "circleci": ("CCIPAT_{an:22}_{hex:40}",),
    "sonar": ("squ_{hex:40}", "SONAR_TOKEN={hex:40}"),
    "snyk": ("snyk_uat.{hex:8}.{w:60}", "SNYK_TOKEN={uuid}"),
    "npm": ("npm_{an:36}",),
    "pypi": ("pypi-AgEIcHlwaS5vcmc{w:120}",),
    "rubygems": ("rubygems_{hex:48}",),
    "nuget": ("oy2{a:43}",),
    "cargo": ("cio{an:32}",),
    "clojars": ("CLOJARS_{a:60}",),
    "docker": ("dckr_pat_{w:27}", "dckr_oat_{w:32}"),
    "artifactory": ("AKCp{an:69}", "cmVmd{an:59}"),
    "anthropic": ("sk-ant-api03-{w:93}AA", "sk-ant-admin01-{w:93}AA", "sk-ant-oat01-{w:80}"),
    "openrouter": ("sk-or-v1-{hex:64}",),
    "openai": ("sk-proj-{w:74}T3BlbkFJ{w:74}", "sk-svcacct-{w:58}T3BlbkFJ{w:58}"),
    "openai-old": ("sk-{an:20}T3BlbkFJ{an:20}", "sk-{an:48}", "sk-{hex:32}"),
    "huggingface": ("hf_{al:34}", "api_org_{al:34}"),
    "fireworks": ("fw_{an:20}7{an:3}",),
    "groq": ("gsk_{an:52}",),
    "replicate": ("r8_{an:37}",),
    "perplexity": ("pplx-{an:48}",),
    "xai": ("xai-{an:80}",),
    "together": ("tgp_v1_{w:43}",),
    "nvidia": ("nvapi-{w:64}",),
    "pinecone": ("pcsk_{an:6}_{an:60}",),
    "langsmith": ("lsv2_pt_{hex:32}_{hex:10}",),
    "langfuse": ("sk-lf-{uuid}",),
    "elevenlabs": ("sk_{hex:48}",),
    "tavily": ("tvly-{an:32}", "tvly-dev-{an:32}"),
    "firecrawl": ("fc-{hex:32}",),
    "jina": ("jina_{hex:32}{w:28}",),
    "stripe": ("sk_live_{an:24}", "rk_test_{an:99}", "sk_test_{an:99}"),
    "webhook-signing": ("whsec_{an:32}", "whsec_{b64:32}"),
    "square": ("sq0atp-{w:22}", "sq0csp-{w:43}"),
    "square-production": ("EAAA{w:60}",),
    "paypal-braintree": ("access_token$production${a:16}${hex:32}",),
    "flutterwave": ("FLWSECK_TEST-{hex:32}-X", "FLWSECK-{hex:32}-X"),
    "razorpay": ("rzp_live_{an:14}",),
    "plaid": ("access-sandbox-{uuid}", "access-production-{uuid}"),
    "duffel": ("duffel_live_{w:43}",),
    "shippo": ("shippo_live_{hex:40}",),
    "easypost": ("EZAK{an:54}", "EZTK{an:54}"),
    "slack": (
        "xoxb-{d:12}-{d:12}-{an:24}",
        "xoxp-{d:12}-{d:12}-{d:12}-{hex:32}",
        "xoxe.xoxp-1-{A:163}",
        "xoxs-{d:10}-{d:10}-{d:10}-{hex:10}",
    ),
    "slack-app": ("xapp-1-{A:11}-{d:13}-{hex:64}",),
    "slack-webhook": ("https://hooks.slack.com/services/T{A:10}/B{A:10}/{an:24}",),
    "discord-webhook": ("https://discord.com/api/webhooks/81234{d:5}6789{d:4}/{w:68}",),
    "teams-webhook": (
        "https://a.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}",
        "https://outlook.office.com/webhook/{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}",
    ),
    "zapier-webhook": ("https://hooks.zapier.com/hooks/catch/{d:7}/{a:7}/",),
    "sendgrid": ("SG.{w:22}.{w:43}",),
    "twilio": ("SK{hex:32}", "SK{HEX:32}", "TWILIO_AUTH_TOKEN={hex:32}"),
    "mailgun": ("key-{hex:32}", "MAILGUN_KEY={hex:32}-{hex:8}-{hex:8}"),
    "brevo": ("xkeysib-{hex:64}-{an:16}",),
    "resend": ("re_{an:8}_{an:24}",),
    "shopify": ("shpat_{hex:32}", "shpss_{hex:32}"),
    "sentry": ("sntrys_{b64:120}_{b64:43}", "sntryu_{hex:64}", "SENTRY_AUTH_TOKEN={hex:64}"),
    "newrelic": ("NRAK-{A:27}", "NRII-{w:32}", "NRJS-{hex:19}"),
    "newrelic-license": ("{hex:36}NRAL", "{hex:32}FFFFNRAL"),
    "grafana": ("glc_{b64:100}", "glsa_{an:32}_{hex:8}"),
    "grafana-old": ("eyJrIjoi{b64:80}",),
    "linear": ("lin_api_{an:40}",),
    "notion": ("ntn_{d:11}{an:35}", "secret_{an:43}"),
    "airtable": ("pat{an:14}.{hex:64}",),
    "hubspot": ("pat-na1-{uuid}",),
    "figma": ("figd_{w:43}",),
    "postman": ("PMAK-{hex:24}-{hex:34}",),
    "launchdarkly": ("sdk-{uuid}", "api-{uuid}"),
    "dropbox": ("sl.{w:135}", "dropbox_key: {a:15}"),
    "typeform": ("tfp_{w:59}",),
    "contentful": ("CFPAT-{w:43}",),
    "frameio": ("fio-u-{w:64}",),
    "prefect": ("pnu_{an:36}",),
    "readme": ("rdme_{a:70}",),
    "octopus": ("API-{A:26}",),
    "posthog": ("phx_{an:43}",),
    "facebook": ("EAAC{an:150}", "facebook_secret = {hex:32}"),
    "twitter": ("AAAAAAAAAAAAAAAAAAAAA{an:90}",),
    "adobe": ("p8e-{a:32}",),
    "apify": ("apify_api_{an:36}",),
    "yandex": ("AQVN{w:36}",),
    "age": ("AGE-SECRET-KEY-1{bech:58}",),
    "jwt": ("{jwt}",),
    "jwt-base64": ("ZXlK{b64:120}",),
    "password-hash": (
        "$apr1${an:8}${an:22}",
        "$1${an:8}${an:22}",
        "$2b$12${an:53}",
        "$5$rounds=80000${an:16}${an:43}",
        "$6${an:16}${an:86}",
        "$y$j9T${an:22}${an:43}",
        "$argon2id$v=19$m=65536,t=3,p=4${b64:22}${b64:43}",
        "$pbkdf2-sha256$29000${an:22}${an:43}",
    ),
    "windows-hash": ("bob:1001:{hex:32}:{hex:32}:::",),
    "nostr": ("nsec1{bechl:58}",),
    "mapbox": ("sk.eyJ{w:80}.{w:22}",),
    "terraform": ("{an:14}.atlasv1.{w:67}",),
    "azure-secret": ("{an:3}8Q~{an:34}",),
    "azure-key": (
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={b64:86}==;EndpointSuffix=core",
        "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=all;SharedAccessKey={b64:43}=",
    ),
    "azure-sas": (
        "https://acme.blob.core.windows.net/c?sv=2024-11-04&ss=b&sig={b64:43}%3D",
        "https://prod-1.westeurope.logic.azure.com/workflows/a?sp=%2Fr&sig={w:43}",
    ),
    "azure-devops": ("{an:76}AZDO{an:4}",),
    "azure": ("AZURE_OPENAI_API_KEY={hex:32}",),
    "mailchimp": ("{hex:32}-us12",),
    "maxmind": ("{an:6}_{an:29}_mmk",),
    "telegram": ("{d:10}:AA{w:33}",),
    "discord": ("M{w:25}.{w:6}.{w:38}", "discord_client_secret: {an:32}"),
    "algolia": ("ALGOLIA_ADMIN_KEY={hex:32}",),
    "codecov": ("CODECOV_TOKEN={uuid}",),
    "cohere": ("cohere_api_key: {an:40}",),
    "datadog": ("DATADOG_APP_KEY={hex:40}", "datadog api key: {hex:32}"),
    "fastly": ("FASTLY_API_TOKEN={an:32}",),
    "mattermost": ("mattermost_token={a:26}",),
    "mistral": ("MISTRAL_API_KEY={an:32}",),
    "okta": ("okta_token = 00{an:40}",),
    "postmark": ("POSTMARK_SERVER_TOKEN={uuid}",),
    "railway": ("RAILWAY_TOKEN={uuid}",),
    "travis": ("TRAVIS_TOKEN={an:22}",),
    "twitch": ("twitch_secret: {a:30}",),
    "wandb": ("WANDB_API_KEY={hex:40}",),
    "zendesk": ("zendesk_token: {an:40}",),
    "aikido": ("AIK_CI_{an:20}", "AIK_SECRET_{an:64}"),
    "asaas": ("$aact_prod_{w:60}", "$aact_hmlg_{w:24}"),
    "brave": ("BSA{d:2}{w:25}",),
    "canva": ("cnvca{w:51}",),
    "cartesia": ("sk_car_{an:20}",),
    "cerebras": ("csk-{a:48}",),
    "checkout": ("sk_{uuid}", "sk_sbox_{uuid}"),
    "clickup": ("pk_{d:8}_{A:32}",),
    "cloudflare-token": ("cfut_{an:40}{hex:8}", "cfat_{an:40}{hex:8}"),
    "cloudsmith": ("csa_{hex:30}{an:6}",),
    "cockroach": ("CCDB1_{an:22}_{an:40}",),
    "configcat": ("configcat-sdk-1/{w:22}/{w:22}",),
    "cursor": ("key_{hex:64}", "key_{hex:28}"),
    "datastax": ("AstraCS:{an:24}:{hex:64}", "AstraCS:{an:24}"),
    "defined-networking": ("dnkey-{w:26}-{w:52}",),
    "deno": ("ddp_{an:36}", "ddo_{an:36}"),
    "devcycle": ("dvc_server_{hex:8}1_{a:30}", "dvc_client_1{an:20}"),
    "devin": ("cog_{a:52}", "apk_{b64:90}", "apk_user_{b64:140}"),
    "ebay": ("PRD-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:4}",),
    "elastic": ("essu_{w:90}",),
    "endorlabs": ("endr+{an:16}",),
    "exoscale": ("EXO{d:1}{an:25}",),
    "facebook-app": ("{d:16}|{w:27}", "{d:15}%7C{w:27}"),
    "gc-notify": ("gcntfy-notes-{uuid}-{uuid}",),
    "gitlab-session": ("_gitlab_session={a:32}",),
    "infracost": ("ico-{an:32}",),
    "intra42": ("s-s4t2ud-{hex:64}", "s-s4t2af-{hex:64}"),
    "ionic": ("ion_{an:42}",),
    "klaviyo": ("pk_{hex:34}",),
    "lichess": ("lip_{d:1}{an:20}",),
    "mailersend": ("mlsn.{hex:64}",),
    "mem0": ("m0-{d:1}{an:39}",),
    "mercury": ("mercury_production_rma_{an:43}_yrucrem",),
    "mergify": ("mergify_application_key_{w:60}",),
    "midtrans": ("Mid-server-{an:20}",),
    "minimax": ("sk-api-{w:119}",),
    "miro": ("eyJtaXJv{an:30}_{w:27}",),
    "mongodb-atlas": ("mdb_sa_sk_{w:40}",),
    "nylas": ("nyk_{an:67}",),
    "onesignal": ("os_v2_app_{b32l:103}",),
    "onfido": ("api_live.{w:43}", "api_live_us.{w:32}", "api_sandbox.{w:24}"),
    "packagist": ("packagist_ort_{hex:68}", "packagist_ack_{hex:28}"),
    "paddle": ("pdl_live_apikey_{a:26}_{an:22}_{an:3}",),
    "persona": ("persona_production_{a:36}",),
    "pinterest": ("pina_{d:1}{an:60}",),
    "polar": ("polar_pat_{an:43}", "polar_oat_{an:43}", "polar_at_{an:24}"),
    "postman-collection": ("PMAT-{A:26}",),
    "proof": ("prf_{d:1}{an:24}",),
    "ramp": ("ramp_sec_{an:48}",),
    "rootly": ("rootly_{hex:64}",),
    "runpod": ("rpa_{A:42}",),
    "salesforce": ("00D{an:12}!{w:96}",),
    "samsara": ("samsara_api_{an:30}",),
    "settlemint": ("sm_aat_{an:16}", "sm_pat_{an:16}", "sm_sat_{an:16}"),
    "tableau": ("{b64:22}==:{an:32}",),
    "thunderstore": ("tss_{d:1}{an:40}",),
    "unkey": ("unkey_{an:22}",),
    "upcloud": ("ucat_{an:26}",),
    "val-town": ("vtwn_{d:1}{an:30}",),
    "vault-old": ("s.{d:1}{an:23}",),
    "voyage": ("pa-{d:1}{w:42}",),
    "wakatime": ("waka_{uuid}",),
    "woocommerce": ("cs_{hex:40}", "ck_{hex:40}"),
    "workos": ("sk_live_a2V5Xz{b64:69}",),
    "yandex-session": ("t1.{w:40}.{w:86}",),
    "zai": ("{hex:32}.{an:16}",),
    "zuplo": ("zpka_{a:32}_{hex:8}",),
}  # fmt: skip

_PART = re.compile(r"\{(\w+)(?::(\d+))?\}")
PLACES: tuple[Callable[[str], str], ...] = (
    lambda secret: f"Anna said to use {secret} for the deploy on Tuesday.",
    lambda secret: f"- 2026-02-01: it is {secret}, see [[Deploys]] #ops ^m-7f3k2ab4",
    lambda secret: json.dumps({"kind": "fact", "value": secret, "n": 3}),
    lambda secret: f"see:\n```\n{secret}\n```\nand that was all",
)
ALONE: tuple[Callable[[str], str], ...] = (
    lambda secret: f'client = Client("{secret}", timeout=3)',
    lambda secret: f"export VALUE={secret}\nPORT=80\n",
    lambda secret: f"value: {secret}\nother: 1\n",
    lambda secret: f"Run `tool --with={secret} now`.",
    lambda secret: f"It is {secret}.",
    lambda secret: f"https://api.example.com/v1/items?value={secret}&page=2",
)


class Sample:
    """A text that holds a secret; `parts` are what must be gone from it."""

    def __init__(self, rule: str, text: str, parts: tuple[str, ...]) -> None:
        self.rule, self.text, self.parts = rule, text, parts

    def leaks(self, redacted: str) -> list[str]:
        return [part for part in self.parts if part in redacted]


def expand(template: str, dice: random.Random) -> tuple[str, tuple[str, ...]]:
    """A secret of that format, and the random parts of it that are long enough to be looked for."""
    parts: list[str] = []

    def part(match: re.Match[str]) -> str:
        parts.append(_random(match[1], int(match[2] or 0), dice))
        return parts[-1]

    text = _PART.sub(part, template)
    return text, tuple(piece for piece in parts if len(piece) >= 6)


def _random(name: str, count: int, dice: random.Random) -> str:
    if name == "uuid":
        return str(uuid.UUID(int=dice.getrandbits(128), version=4))
    if name == "jwt":
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": dice.getrandbits(40), "iat": 1})
        coded = [base64.urlsafe_b64encode(json.dumps(each).encode()) for each in parts]
        return ".".join([each.decode().rstrip("=") for each in coded] + [_random("w", 43, dice)])
    inner = "".join(dice.choices(SETS[name], k=count))
    # what a set may hold but no key ends or begins with
    return re.sub(r"^[-_.]|[-_.]$", "a", inner)


def samples(rule: str, seed: int = 1, rounds: int = 3) -> Iterator[Sample]:
    """Secrets of one rule in prose, lists, JSON, code, settings and addresses."""
    dice = random.Random(f"{rule}{seed}")
    for template in FORMATS[rule] * rounds:
        alone = not re.search(r"[\s=;]|://", template)
        for place in PLACES + (ALONE if alone else ()):
            secret, parts = expand(template, dice)
            yield Sample(rule, place(secret), parts)


def pem(label: str, dice: random.Random) -> str:
    lines = [_random("b64", 64, dice) for _ in range(6)] + [_random("b64", 11, dice) + "="]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])


def harmless(count: int, seed: int = 1) -> Iterator[str]:
    """Digests, ids, addresses, paths, names and links: nothing in these may be touched."""
    dice = random.Random(seed)
    makers = (_digest, _id, _address, _path, _name, _link)
    for at in range(count):
        thing = makers[at % len(makers)](dice)
        yield dice.choice(_NEUTRAL).format(thing)


_NEUTRAL = (
    "See {} for more.", "commit: {}", "id = {}", "- {} #done ^m-7f3k2ab4", "`{}`", "({})", '"{}",',
    "{}", "| {} | 3 |", "Moved from {}.",
)  # fmt: skip
_WORDS = (
    *("archive", "brain", "garden", "frost", "release", "notes", "meeting", "index", "journal"),
    *(
        "server",
        "module",
        "widget",
        "parser",
        "report",
        "session",
        "customer",
        "invoice",
        "kitchen",
    ),
)


def _digest(dice: random.Random) -> str:
    name = dice.choice(("md5", "sha1", "sha224", "sha256", "sha384", "sha512"))
    digest = hashlib.new(name, dice.randbytes(9), usedforsecurity=False)
    base = base64.b64encode(digest.digest()).decode()
    forms = (digest.hexdigest(), digest.hexdigest().upper(), f"{name}:{digest.hexdigest()}")
    strong = name in ("sha256", "sha384", "sha512")
    return dice.choice((*forms, f"{name}-{base}", f"SHA256:{base[:43]}") if strong else forms)


def _id(dice: random.Random) -> str:
    ulid = dice.choice("01234567") + "".join(dice.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=25))
    other = "".join(dice.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=25))
    one = _random("uuid", 0, dice)
    nano = _random("w", 21, dice)
    block = "^" + _random("a", 8, dice)
    return dice.choice((ulid, one, one.upper(), f"{ulid}_0{other}", f"urn:uuid:{one}", nano, block))


def _address(dice: random.Random) -> str:
    path = "/".join(_random("w", dice.randint(3, 44), dice) for _ in range(dice.randint(1, 4)))
    scheme = dice.choice(("https", "http", "obsidian", "file", "s3", "git+ssh"))
    long = _random("an", 44, dice)
    query = dice.choice(("", f"?v={_random('w', 11, dice)}&t=12s", f"?id={long}", f"#{long}"))
    return f"{scheme}://{dice.choice(_WORDS)}.example.org/{path}{query}"


def _path(dice: random.Random) -> str:
    parts = [dice.choice(_WORDS) for _ in range(dice.randint(2, 5))]
    parts.insert(
        dice.randint(1, len(parts)), dice.choice((_digest(dice)[:40], "Camel2Case", "v1.2.3"))
    )
    root = dice.choice(("/", "./", "~/", "", "../", "C:/Users/"))
    return root + "/".join(parts) + dice.choice((".md", ".py", "", ".test.tsx"))


def _name(dice: random.Random) -> str:
    words = [dice.choice(_WORDS) for _ in range(dice.randint(4, 8))]
    forms = ("".join(map(str.title, words)), "_".join(words), "-".join(words), ".".join(words))
    made = dice.choice((*forms, "_".join(words).upper())) + dice.choice(("", "2", "_v3", "2026"))
    return made


def _link(dice: random.Random) -> str:
    noise = _random("an", 40, dice)
    return dice.choice((
        f"[[{noise}]]", f"[[Notes/{noise}|the note]]", f"[here]({noise}.md)", f"![[{noise}.png]]",
        f"[it](attachments/{noise})", f"<https://example.org/{noise}>",
        f"![pixel](data:image/png;base64,{_random('b64', 200, dice)})",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_random('b64', 43, dice)}",
    ))  # fmt: skip
