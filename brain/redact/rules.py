"""The key formats of providers, one rule each.

Prefixes and lengths follow gitleaks' public rule set (see docs/decisions/0012-redaction.md). A rule
is applied only if one of its hints is in the text. Lengths are minimums: a match extends to the end
of its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from brain._tuples import NamedTuple

# the text between the name of a provider and a key, in any notation
_LEAD = r"[\w .-]{0,30}\\?[\"'`\])]{0,2}[ \t]{0,3}(?:=>|:=|[:=：])[ \t]{0,3}\\?[\"'`]?"
MIN_KEY = 15  # characters of a provider's key
MIN_PREFIXED_KEY = 22  # characters of a key with an unknown prefix; a nanoid has 21
MIN_RANDOM = 32  # characters of text that counts as random


class Rule(NamedTuple):
    """The format of a key. Group 1 of `pattern` is replaced, or the whole match if it has no group.

    One of the `hints` must be in the text, in the same case. A rule without hints is for a key that
    follows the name of the rule.
    """

    name: str
    hints: tuple[str, ...]
    pattern: str


_HEX = "[0-9a-f]"
_ANY_HEX = "[0-9A-Fa-f]"
_UUID = rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"
_BASE64 = "[A-Za-z0-9+/]"
_ALNUM = "[A-Za-z0-9]"
_DIGIT_NEAR = r"(?=[A-Za-z_-]{0,40}\d)"  # a name has no digit near its beginning


def _prefixed(name: str, prefixes: str, body: str) -> Rule:
    """Return a rule for keys with one of these prefixes. The prefixes are also the hints."""
    words = tuple(prefixes.split())
    return Rule(name, words, f"(?:{'|'.join(map(re.escape, words))}){body}")


PREFIXED = (
    # clouds and hosting
    _prefixed("aws", "AKIA ASIA ABIA ACCA A3T", "[A-Z0-9]?[A-Z2-7]{16}"),
    _prefixed("aws-session", "IQoJb3JpZ2lu FwoGZXIvYXdz", f"{_BASE64}{{60,}}={{0,2}}"),
    _prefixed("aws-bedrock", "ABSK bedrock-api-key-", f"{_BASE64}{{80,}}={{0,2}}"),
    _prefixed("google-api", "AIza", r"[\w-]{35}"),
    _prefixed("google-oauth", "ya29. GOCSPX- 1//0", r"[\w-]{20,}"),
    _prefixed("alibaba", "LTAI", f"{_ALNUM}{{16,}}"),
    _prefixed("tencent", "AKID", f"{_ALNUM}{{32,}}"),
    _prefixed("digitalocean", "dop_v1_ doo_v1_ dor_v1_", f"{_HEX}{{64}}"),
    _prefixed("heroku", "HRKU-", r"[\w-]{36,}"),
    _prefixed("cloudflare-origin", "v1.0-", f"{_HEX}{{24}}-{_HEX}{{100,}}"),
    _prefixed("flyio", "fo1_ fm1a_ fm1r_ fm2_", r"[\w+/-]{43,}={0,3}"),
    _prefixed("vercel", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", r"[\w-]{24,}"),
    _prefixed("netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", f"{_ALNUM}{{36,}}"),
    _prefixed(
        "authress",
        "authress_ sc_ ext_ scauth_",
        r"[\w-]{5,30}\.\w{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,120}",
    ),
    _prefixed("scalingo", "tk-us-", r"[\w-]{48}"),
    _prefixed("render", "rnd_", f"{_ALNUM}{{28,}}"),
    _prefixed("supabase", "sbp_ sb_secret_", r"[\w-]{22,}"),
    _prefixed("neon", "napi_", f"{_ALNUM}{{40,}}"),
    _prefixed("planetscale", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[\w=.-]{32,}"),
    _prefixed("databricks", "dapi", "[a-h0-9]{32}"),
    _prefixed("pulumi", "pul-", f"{_HEX}{{40}}"),
    _prefixed("vault", "hvs. hvb. hvr.", r"[\w-]{20,}"),
    _prefixed("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{40,}"),
    _prefixed("onepassword", "ops_eyJ", f"{_BASE64}{{100,}}={{0,3}}"),
    _prefixed("tailscale", "tskey-", r"[a-z]+-[\w-]{16,}"),
    _prefixed("openshift", "sha256~", r"[\w-]{43}"),
    _prefixed("dynatrace", "dt0c01. dt0s01. dt0s16.", rf"{_ALNUM}{{24}}\.{_ALNUM}{{64}}"),
    _prefixed("cloudflare-token", "cfut_ cfat_", f"{_ALNUM}{{40,}}"),
    _prefixed("cockroach", "CCDB1_", rf"{_ALNUM}{{22}}_{_ALNUM}{{40}}"),
    _prefixed("datastax", "AstraCS:", r"[\w:]{20,}"),
    _prefixed("defined-networking", "dnkey-", r"[\w=-]{70,}"),
    _prefixed("elastic", "essu_", r"[\w-]{60,}={0,2}"),
    _prefixed("mongodb-atlas", "mdb_sa_sk_", r"[\w-]{40,}"),
    _prefixed("upcloud", "ucat_", f"{_ALNUM}{{24,}}"),
    _prefixed("val-town", "vtwn_", rf"{_DIGIT_NEAR}[\w-]{{20,}}"),
    _prefixed("deno", "ddp_ ddo_", f"{_ALNUM}{{36}}"),
    _prefixed("exoscale", "EXO", f"{_DIGIT_NEAR}{_ALNUM}{{24,}}"),
    _prefixed("vault-old", "s.", f"{_DIGIT_NEAR}{_ALNUM}{{24}}"),
    # code hosting, builds, packages
    _prefixed("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"\w{36,}"),
    _prefixed("github-fine-grained", "github_pat_", r"\w{60,}"),
    _prefixed(
        "gitlab",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-",
        r"[\w-]{20,}(?:\.[\w-]+)*",
    ),
    _prefixed("gitlab-runner", "GR1348941", r"[\w-]{20,}"),
    _prefixed("bitbucket", "ATBB ATCTT3 BBDC-", r"[\w+/=-]{28,}"),
    _prefixed("atlassian", "ATAT", r"[\w=-]{100,}"),
    _prefixed("sourcegraph", "sgp_", rf"(?:{_ANY_HEX}{{16}}_|local_)?{_ANY_HEX}{{40}}"),
    _prefixed("buildkite", "bkua_ bkct_ bkaj_ bkaa_ bkar_ bkpt_ bkpat_ bkps_", r"[\w-]{40,}"),
    _prefixed("circleci", "CCIPAT_ CCIPRJ_", rf"{_ALNUM}{{16,}}_{_HEX}{{40}}"),
    _prefixed("sonar", "squ_ sqp_ sqa_", f"{_HEX}{{40}}"),
    _prefixed("snyk", "snyk_uat. snyk_sat.", r"[\w.-]{30,}"),
    _prefixed("npm", "npm_", f"{_ALNUM}{{36,}}"),
    _prefixed("pypi", "pypi-AgE", r"[\w-]{50,}"),
    _prefixed("rubygems", "rubygems_", f"{_HEX}{{48}}"),
    _prefixed("nuget", "oy2", "[a-z0-9]{43}"),
    _prefixed("cargo", "cio", f"{_ALNUM}{{32}}"),
    _prefixed("clojars", "CLOJARS_", "[A-Za-z0-9]{60}"),
    _prefixed("docker", "dckr_pat_ dckr_oat_", r"[\w-]{27,}"),
    _prefixed("artifactory", "AKCp cmVmd", f"{_ALNUM}{{59,}}"),
    _prefixed("aikido", "AIK_CI_ AIK_SECRET_", f"{_ALNUM}{{20,}}"),
    _prefixed("configcat", "configcat-sdk-1/", r"[\w-]{22}/[\w-]{22}"),
    _prefixed("intra42", "s-s4t2ud- s-s4t2af-", f"{_HEX}{{64}}"),
    _prefixed("ionic", "ion_", f"{_ALNUM}{{42}}"),
    _prefixed("mergify", "mergify_application_key_", r"[\w-]{40,}"),
    _prefixed("unkey", "unkey_", f"{_ALNUM}{{20,}}"),
    _prefixed("wakatime", "waka_", "[a-z0-9-]{36,}"),
    _prefixed("cloudsmith", "csa_", f"{_HEX}{{24}}{_ALNUM}{{8,}}"),
    _prefixed("devcycle", "dvc_server_ dvc_client_ dvc_mobile_", r"(?=[a-z_-]*+[A-Z0-9])[\w-]{8,}"),
    _prefixed("endorlabs", "endr+", r"[\w-]{16,}"),
    _prefixed("gitlab-session", "_gitlab_session=", "[a-z0-9]{32}"),
    _prefixed("infracost", "ico-", f"{_ALNUM}{{32}}"),
    _prefixed(
        "packagist", "packagist_ort_ packagist_out_ packagist_acs_ packagist_ack_", f"{_HEX}{{28,}}"
    ),
    _prefixed("rootly", "rootly_", f"{_HEX}{{64}}"),
    _prefixed("zuplo", "zpka_", r"\w{40,}"),
    # models
    _prefixed("anthropic", "sk-ant-", rf"(?:[\w-]{{32,}}|{_DIGIT_NEAR}[\w-]{{20,}})"),
    _prefixed("openrouter", "sk-or-", rf"(?:[\w-]{{40,}}|{_DIGIT_NEAR}[\w-]{{20,}})"),
    _prefixed(
        "openai",
        "sk-proj- sk-svcacct- sk-admin-",
        rf"(?:[\w-]{{40,}}|{_DIGIT_NEAR}[\w-]{{20,}})",
    ),
    _prefixed("openai-old", "sk-", f"(?:{_ALNUM}{{32,}}|{_DIGIT_NEAR}{_ALNUM}{{20,}})"),
    _prefixed("huggingface", "hf_ api_org_", f"{_ALNUM}{{34,}}"),
    _prefixed("fireworks", "fw_", f"{_DIGIT_NEAR}{_ALNUM}{{20,}}"),
    _prefixed("groq", "gsk_", f"{_ALNUM}{{40,}}"),
    _prefixed("replicate", "r8_", f"{_ALNUM}{{37,}}"),
    _prefixed("perplexity", "pplx-", f"{_ALNUM}{{40,}}"),
    _prefixed("xai", "xai-", r"[\w-]{60,}"),
    _prefixed("together", "tgp_v1_", r"[\w-]{40,}"),
    _prefixed("nvidia", "nvapi-", r"[\w-]{60,}"),
    _prefixed("pinecone", "pcsk_", r"\w{40,}"),
    _prefixed("langsmith", "lsv2_pt_ lsv2_sk_", rf"{_ANY_HEX}{{32}}_{_ANY_HEX}{{10}}"),
    _prefixed("langfuse", "sk-lf-", _UUID),
    _prefixed("elevenlabs", "sk_", f"{_HEX}{{48}}"),
    _prefixed("tavily", "tvly-", r"[\w-]{24,}"),
    _prefixed("firecrawl", "fc-", f"{_HEX}{{32}}"),
    _prefixed("jina", "jina_", r"[\w-]{40,}"),
    _prefixed("cartesia", "sk_car_", r"\w{20,}"),
    _prefixed("cursor", "key_", f"{_HEX}{{28,}}"),
    _prefixed("mem0", "m0-", f"{_DIGIT_NEAR}{_ALNUM}{{24,}}"),
    _prefixed("minimax", "sk-api-", r"[\w-]{100,}"),
    _prefixed("voyage", "pa-", rf"{_DIGIT_NEAR}[\w-]{{43}}"),
    _prefixed("brave", "BSA", rf"{_DIGIT_NEAR}[\w-]{{23,}}"),
    _prefixed("cerebras", "csk-", "[a-z0-9]{40,}"),
    _prefixed("devin", "cog_ apk_", r"[\w+/-]{50,}={0,2}"),
    # payment
    _prefixed("workos", "sk_live_a2V5 sk_test_a2V5", f"{_BASE64}{{40,}}={{0,2}}"),
    _prefixed("stripe", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"\w{10,}"),
    _prefixed("webhook-signing", "whsec_", f"{_BASE64}{{24,}}={{0,2}}"),
    _prefixed("square", "sq0atp- sq0csp-", r"[\w-]{22,}"),
    _prefixed("square-production", "EAAA", rf"{_DIGIT_NEAR}[\w-]{{22,}}"),
    _prefixed(
        "paypal-braintree",
        "access_token$production$ access_token$sandbox$",
        rf"[a-z0-9]{{16}}\${_HEX}{{32}}",
    ),
    _prefixed("flutterwave", "FLWSECK_TEST- FLWSECK-", "[a-h0-9]{12,}(?:-X)?"),
    _prefixed("razorpay", "rzp_live_ rzp_test_", f"{_ALNUM}{{14,}}"),
    _prefixed("plaid", "access-sandbox- access-development- access-production-", _UUID),
    _prefixed("duffel", "duffel_test_ duffel_live_", r"[\w=-]{43}"),
    _prefixed("shippo", "shippo_live_ shippo_test_", f"{_ANY_HEX}{{40}}"),
    _prefixed("easypost", "EZAK EZTK", f"{_ALNUM}{{54}}"),
    _prefixed("asaas", "$aact_prod_ $aact_hmlg_", r"[\w-]{20,}"),
    _prefixed("checkout", "sk_ sk_sbox_", _UUID),
    _prefixed("ebay", "PRD-", rf"{_HEX}{{8,12}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{4,12}}"),
    _prefixed("mercury", "mercury_production_ mercury_sandbox_", r"\w{40,}"),
    _prefixed("paddle", "pdl_live_apikey_ pdl_sdbx_apikey_", r"\w{40,}"),
    _prefixed("ramp", "ramp_sec_", f"{_ALNUM}{{40,}}"),
    _prefixed("woocommerce", "cs_ ck_", f"{_HEX}{{40}}"),
    _prefixed("midtrans", "Mid-server- Mid-client-", r"[\w-]{12,}"),
    _prefixed(
        "onfido",
        "api_live. api_live_us. api_live_ca. api_sandbox. api_sandbox_us. api_sandbox_ca.",
        r"[\w-]{20,}",
    ),
    _prefixed("persona", "persona_production_ persona_sandbox_", r"[\w-]{20,}"),
    _prefixed("polar", "polar_at_ polar_rt_ polar_pat_ polar_oat_", r"[\w-]{20,}"),
    _prefixed("proof", "prf_", rf"{_DIGIT_NEAR}[\w-]{{20,}}"),
    _prefixed("settlemint", "sm_aat_ sm_pat_ sm_sat_", f"{_ALNUM}{{16}}"),
    # chat, mail, other services
    _prefixed(
        "slack",
        "xoxa- xoxb- xoxc- xoxd- xoxe xoxo- xoxp- xoxr- xoxs-",
        r"[\w.+/%-]{10,}={0,2}",
    ),
    _prefixed("slack-app", "xapp-", rf"\d{{1,10}}-{_ALNUM}+-\d+-{_ALNUM}{{16,}}"),
    _prefixed("sendgrid", "SG.", r"(?:[\w-]{16,}\.[\w-]{16,}|[\w=.-]{60,})"),
    _prefixed("twilio", "SK", f"{_ANY_HEX}{{32}}"),
    _prefixed("mailgun", "key-", f"{_HEX}{{32}}"),
    _prefixed("brevo", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    _prefixed("resend", "re_", rf"{_ALNUM}{{8}}_{_ALNUM}{{20,}}"),
    _prefixed("shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", "[0-9A-Fa-f]{32}"),
    _prefixed("sentry", "sntrys_ sntryu_", r"[\w+/=-]{40,}"),
    _prefixed("newrelic", "NRAK- NRII- NRJS- NRRA- NRAA-", r"[\w-]{19,}"),
    _prefixed("grafana", "glc_ glsa_", r"[\w+/=]{32,}"),
    _prefixed("linear", "lin_api_ lin_oauth_", f"{_ALNUM}{{40,}}"),
    _prefixed("notion", "ntn_ secret_", f"{_ALNUM}{{40,}}"),
    _prefixed("airtable", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    _prefixed("hubspot", "pat-na1- pat-na2- pat-eu1-", _UUID),
    _prefixed("figma", "figd_ figu_ figo_", r"[\w-]{38,}"),
    _prefixed("postman", "PMAK-", rf"{_ANY_HEX}{{24}}-{_ANY_HEX}{{34}}"),
    _prefixed("postman-collection", "PMAT-", f"{_ALNUM}{{26}}"),
    _prefixed("launchdarkly", "sdk- api-", _UUID),
    _prefixed("dropbox", "sl.", r"[\w=-]{130,}"),
    _prefixed("typeform", "tfp_", r"[\w.=-]{40,}"),
    _prefixed("contentful", "CFPAT-", r"[\w-]{43}"),
    _prefixed("frameio", "fio-u-", r"[\w=-]{64}"),
    _prefixed("prefect", "pnu_ pnb_", f"{_ALNUM}{{36}}"),
    _prefixed("readme", "rdme_", "[a-z0-9]{70}"),
    _prefixed("octopus", "API-", "[A-Z0-9]{26,}"),
    _prefixed("posthog", "phx_ phs_", r"[\w-]{40,}"),
    _prefixed("facebook", "EAAC EAAM EAAG EAAB", f"{_ALNUM}{{90,}}"),
    _prefixed("twitter", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{60,}"),
    _prefixed("adobe", "p8e-", "[a-z0-9-]{32,}"),
    _prefixed("apify", "apify_api_", f"{_ALNUM}{{34,}}"),
    _prefixed("yandex", "AQVN", r"[\w-]{35,}"),
    _prefixed("yandex-session", "t1.", r"[\w-]+={0,2}\.[\w-]{86}={0,2}"),
    _prefixed("canva", "cnvca", r"[\w-]{51}"),
    _prefixed("clickup", "pk_", r"\d{7,10}_[A-Za-z0-9]{32}"),
    _prefixed("klaviyo", "pk_", f"{_HEX}{{34}}"),
    _prefixed("mailersend", "mlsn.", f"{_ALNUM}{{30,}}"),
    _prefixed("miro", "eyJtaXJv", r"[\w-]{30,}"),
    _prefixed("nylas", "nyk_", f"{_ALNUM}{{60,}}"),
    _prefixed("onesignal", "os_v2_app_ os_v2_org_", "[a-z2-7]{100,}"),
    _prefixed("pinterest", "pina_", rf"{_DIGIT_NEAR}[\w-]{{20,}}"),
    _prefixed("runpod", "rpa_", f"{_ALNUM}{{30,}}"),
    _prefixed("thunderstore", "tss_", rf"{_DIGIT_NEAR}[\w-]{{20,}}"),
    _prefixed("gc-notify", "gcntfy-", rf"[\w-]{{1,255}}{_UUID}-{_UUID}"),
    _prefixed("lichess", "lip_ lio_", rf"{_DIGIT_NEAR}\w{{16,}}"),
    _prefixed("samsara", "samsara_api_", f"{_ALNUM}{{20,}}"),
    _prefixed("nostr", "nsec1", "[ac-hj-np-z02-9]{58}"),
    _prefixed("age", "AGE-SECRET-KEY-1", "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
)  # fmt: skip

SHAPED = (
    Rule("jwt", ("eyJ",), r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*){0,3}"),
    Rule("jwt-base64", ("ZXlK",), f"ZXlK{_BASE64}{{60,}}={{0,2}}"),
    Rule("grafana-old", ("eyJrIjoi",), f"eyJrIjoi{_BASE64}{{40,}}={{0,2}}"),
    Rule("mapbox", ("sk.eyJ",), r"sk\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    Rule("terraform", (".atlasv1.",), rf"{_ALNUM}{{14}}\.atlasv1\.[\w=-]{{40,}}"),
    Rule("azure-secret", ("Q~",), r"[\w~.]{3}\dQ~[\w~.-]{31,}"),
    Rule(
        "azure-key",
        ("AccountKey=", "SharedAccessKey="),
        f"(?:Account|SharedAccess)Key=({_BASE64}{{40,}}={{0,2}})",
    ),
    Rule("azure-devops", ("AZDO",), rf"{_ALNUM}{{70,80}}AZDO{_ALNUM}{{4}}"),
    Rule("azure-sas", ("sig=",), r"sig=([\w%+/=-]{30,})"),
    Rule(
        "password-hash",
        (
            "$apr1$",
            "$1$",
            "$5$",
            "$6$",
            "$y$",
            "$2a$",
            "$2b$",
            "$2x$",
            "$2y$",
            "$argon2",
            "$pbkdf2",
        ),
        r"\$(?:apr1|1|5|6|y|2[abxy]|argon2\w{1,2}|pbkdf2[\w-]{0,10})\$"
        r"(?:[\w=,-]{1,60}\$){0,3}[\w./+$=]{20,200}",
    ),
    Rule("windows-hash", (":::",), rf"{_ANY_HEX}{{32}}:{_ANY_HEX}{{32}}:::"),
    Rule("mailchimp", ("-us",), rf"{_HEX}{{32}}-us\d{{1,2}}"),
    Rule("newrelic-license", ("NRAL",), rf"{_HEX}{{32,40}}(?:FFFF)?NRAL"),
    Rule("maxmind", ("_mmk",), rf"{_ALNUM}{{6}}_{_ALNUM}{{29}}_mmk"),
    Rule("telegram", (":A",), r"\d{5,16}:A[\w-]{34}"),
    Rule("facebook-app", ("|", "%"), r"\d{15,16}(?:\||%7C|%)[\w-]{27,40}"),
    Rule("salesforce", ("!",), r"00[A-Za-z0-9]{13,16}![\w.-]{60,}"),
    Rule("tableau", ("==:",), f"{_BASE64}{{22}}==:{_ALNUM}{{32}}"),
    Rule("zai", (".",), rf"{_ANY_HEX}{{32}}\.{_ALNUM}{{16}}"),
    Rule("discord", (".",), r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}"),
    Rule("onepassword-key", ("A3-",), r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,4}[A-Z0-9]{5}"),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/]{30,})",
    ),
    Rule("discord-webhook", ("/api/webhooks/",), r"com/api/webhooks/\d{10,}/([\w-]{40,})"),
    Rule("teams-webhook", ("office.com/webhook",), r"office\.com/webhook(?:b2)?/([\w@/-]{40,})"),
    Rule("zapier-webhook", ("hooks.zapier.com/",), r"hooks\.zapier\.com/hooks/catch/([\w/]{8,})"),
)

# Keys without a prefix, which follow the name of the provider, as in `DATADOG_API_KEY=…`.
NAMED = {
    "algolia": f"{_HEX}{{32}}",
    "atlassian": f"[a-z0-9]{{20}}{_HEX}{{4}}",
    "aws": f"{_BASE64}{{40}}",
    "azure": f"{_HEX}{{32}}|{_ALNUM}{{52}}|{_ALNUM}{{84}}",
    "bitbucket": f"{_ALNUM}{{32}}|[A-Za-z0-9=_-]{{64}}",
    "cloudflare": rf"[\w-]{{40}}|{_HEX}{{37}}",
    "codecov": f"{_UUID}|{_HEX}{{32}}",
    "cohere": f"{_ALNUM}{{40}}",
    "datadog": f"{_HEX}{{40}}|{_HEX}{{32}}",
    "discord": rf"{_HEX}{{64}}|[\w-]{{32}}",
    "dropbox": "[a-z0-9]{15}",
    "facebook": f"{_HEX}{{32}}",
    "fastly": r"[\w-]{32}",
    "heroku": _UUID,
    "mailgun": f"{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}",
    "mattermost": "[a-z0-9]{26}",
    "mistral": f"{_ALNUM}{{32}}",
    "netlify": r"[\w-]{40,46}",
    "okta": r"00[\w-]{40}",
    "postmark": _UUID,
    "railway": _UUID,
    "sentry": f"{_HEX}{{64}}",
    "snyk": _UUID,
    "sonar": f"{_HEX}{{40}}",
    "travis": r"[\w-]{22}",
    "twilio": f"{_HEX}{{32}}",
    "twitch": "[a-z0-9]{30}",
    "vercel": f"{_ALNUM}{{24}}",
    "wandb": f"{_HEX}{{40}}",
    "zendesk": f"{_ALNUM}{{40}}",
}


# -- matching --------------------------------------------------------------------------------------


def rules_with_hints(text: str, lower: str) -> list[Rule]:
    """Return the rules with a hint in the text, and the NAMED rules whose name is in the text.

    Most hints begin with a whole word (`ghp_`) and are looked up by the words of the text. The
    other hints are looked up by a character in them.
    """
    found: dict[str, Rule] = {}
    for head in sorted(_HINTS_BY_HEAD.keys() & compiled(_HEAD).findall(text)):
        found |= {rule.name: rule for hint, rule in _HINTS_BY_HEAD[head] if hint in text}
    for mark, hints in _HINTS_BY_MARK.items():
        if mark in text:
            found |= {rule.name: rule for hint, rule in hints if hint in text}
    return [*found.values(), *(rule for name, rule in _NAMED if name in lower)]


def spans(rule: Rule, text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the secrets that a rule finds."""
    if rule.hints:
        pattern = _compiled_rule(rule)
        yield from (match.span(pattern.groups) for match in pattern.finditer(text))
        return
    for lead in compiled(rule.name + _LEAD).finditer(lower):
        if found := _compiled_rule(rule).match(text, lead.end()):
            yield found.span(1)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed, and return it. Most texts need no pattern."""
    return re.compile(pattern)


def _compiled_rule(rule: Rule) -> re.Pattern[str]:
    """Return the compiled pattern of a rule. The pattern matches whole words; for a rule without
    hints, these have the exact length.

    Keys are ASCII, so a letter of another script ends a key even without a space.
    """
    if not rule.hints:
        return compiled(rf"(?a)({rule.pattern})(?![\w+/=\0-])")
    rest = "" if "(" in rule.pattern.replace("(?", "") else r"[\w-]*+"
    return compiled(rf"(?a)(?<![A-Za-z0-9\0])(?:{rule.pattern}){rest}")


# Hints by the word that they begin with. Other hints are by a rare character in them; '' for none.
_HEAD = r"(?a)(?<![A-Za-z0-9])[A-Za-z0-9]++(?=[-_./:+])"
_HINTS_BY_HEAD: dict[str, list[tuple[str, Rule]]] = {}
_HINTS_BY_MARK: dict[str, list[tuple[str, Rule]]] = {
    mark: [] for mark in ("_", "-", "/", "=", ".", "")
}
for _index, _rule in enumerate((*PREFIXED, *SHAPED)):
    for _hint in _rule.hints:
        if _index < len(PREFIXED) and (_head := re.match(_HEAD, _hint)):
            _HINTS_BY_HEAD.setdefault(_head[0], []).append((_hint, _rule))
        else:
            _HINTS_BY_MARK[next(mark for mark in _HINTS_BY_MARK if mark in _hint)].append(
                (_hint, _rule)
            )
_NAMED = tuple((name, Rule(name, (), pattern)) for name, pattern in NAMED.items())
