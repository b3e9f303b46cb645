"""Redaction: what a log may not hold, what it must keep, and how long that takes."""

from __future__ import annotations

import time

import pytest

from citewell.core.redaction import redact, summarise_arguments

SECRETS = {
    "bearer token": ("called with Bearer wren-7", "wren-7"),
    "basic credentials": ("Authorization: Basic d3Jlbjo3", "d3Jlbjo3"),
    "header in a dict": ("{'authorization': 'Token wren-7', 'x': 1}", "wren-7"),
    "header in JSON": ('{"X-Api-Key": "wren-7"}', "wren-7"),
    "cookie": ("Cookie: session=wren-7; theme=dark", "wren-7"),
    "user of a URL": ("postgresql://app:wren-7@db.example/app", "wren-7"),
    "password with an at sign": ("https://app:wr@en-7@db.example/", "en-7"),
    "token in a query": ("GET /a?token=wren-7&x=1", "wren-7"),
    "access token in a query": ("GET /a?x=1&access_token=wren-7", "wren-7"),
    "API key in a query": ("https://a.example/?api_key=wren-7#x", "wren-7"),
    "key in a query": ("https://a.example/?key=wren-7&q=1", "wren-7"),
    "signature": ("https://s3.example/a?X-Amz-Signature=wren7&b=1", "wren7"),
    "Azure signature": ("https://blob.example/a?sv=1&sig=wren%2F7", "wren%2F7"),
    "encoded query": ("to=https%3A%2F%2Fa.example%3Ftoken%3Dwren-7", "wren-7"),
    "client secret in a form": ("grant_type=x&client_secret=wren-7", "wren-7"),
    "password in a DSN": ("host=db user=app password=wren-7 dbname=app", "wren-7"),
    "password in JSON": (r'{"password": "wr\"en-7"}', "en-7"),
    "password that somebody mentions": ("how does my password is wren help", "wren"),
    "password after a colon": ("log in with password: wren", "wren"),
    "password in quotes": ('set Password = "wren" first', "wren"),
    "API key after a colon": ("why is api key: wren7 refused?", "wren7"),
    "API key as a variable": ("API_KEY: wren7", "wren7"),
    "secret after a colon": ("client secret: Wren/Heron", "Wren/Heron"),
    "secret key": ("my secret key is wrenHeron", "wrenHeron"),
    "token after a colon": ("the token: wren7, as given", "wren7"),
    "token in a nested argument": (r'["token: \"wren7\""]', "wren7"),
    "long token without a digit": ("token is wrenheronegretowlfinchcrow", "wrenheron"),
    "part of an AWS key": ("find AKIAWREN7HERON in logs", "WREN7HERON"),
    "AWS key": ("with AKIAIOSFODNN7EXAMPLE.", "AKIAIOSFODNN7EXAMPLE"),
    "GitHub token": ("git clone with ghp_0123456789abcdefABCDEF", "0123456789abcdef"),
    "fine-grained GitHub token": ("github_pat_11ABCDEFG0_abcdefghijklmnop", "11ABCDEFG0"),
    "OpenAI key": ("key sk-proj-abcdef0123456789 refused", "abcdef0123456789"),
    "Slack token": ("xoxb-123456789012-abcdef", "123456789012"),
    "JWT": ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "c2lnbmF0dXJl"),
    "encrypted JWT": ("got eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn", "Y2lwaGVy"),
    "webhook secret": ("signed by whsec_MfKQ9r8GKYqrTwjU", "MfKQ9r8GKYqrTwjU"),
    "SendGrid key": ("SG.ngeVfQFYQlKU0ufo.s8nEHb0Bd4Mwren7", "s8nEHb0Bd4Mwren7"),
    "PyPI token": ("pypi-AgEIcHlwaS5vcmcCJGwren7", "cHlwaS5vcmcCJGwren7"),
    "token in a list of a query": ("GET /a?token[]=wren-7&token%5B%5D=heron-7", "-7"),
    "token encoded twice": ("next=https%253A%252F%252Fa.example%253Ftoken%253Dwren-7", "wren-7"),
    "encoded name": ("GET /a?t%6fken=wren-7&x=%2F", "wren-7"),
    "name encoded whole": ("GET /a?%74%6F%6b%65%6E=wren-7", "wren-7"),
    "name encoded twice": ("GET /a?api%255Fke%2579=wren-7", "wren-7"),
    "name and sign encoded": ("next=%2Fa%3Fp%61ss%3Dwren-7", "wren-7"),
    "key in an encoded query": ("next=https%3A%2F%2Fa.example%3Fkey%3Dwren-7", "wren-7"),
    "encoded prefix of a key": ("GET /a?x=gh%70_0123456789abcdefABCDEF", "0123456789abcdef"),
    "session in a query": ("GET /a?x=1&PHPSESSID=wren7;jsessionid=heron7", "n7"),
    "password in a query": ("GET /a?pass=wren&pw=wren", "wren"),
    "JWT of a client": ("client_assertion=wren-7&jwt=wren-7", "wren-7"),
    "key of a gateway": ("?subscription-key=wren-7 AccountKey=wren-7", "wren-7"),
    "digest": ('Authorization: Digest username="a", response="wren-7"', "wren-7"),
    "encoded bearer token": ("header=Bearer%20wren-7", "wren-7"),
    "JSON inside a string": (r'{"body": "{\"token\": \"wren-7\"}"}', "wren-7"),
    "our own key": ("key cw-0123456789abcdefghijklmnopqrstuvwxyz", "0123456789abcdef"),
    "private key": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA",
    ),
}


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_taken_out(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in redact(text)
    assert "[redacted]" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=900 token_budget=20 tokens: 12",
        '{"max_tokens": 900, "query": "what is a bearer token?"}',
        "write to wren@example.org, see https://example.org/@wren",
        "https://example.org/npm-check-updates/sk-learn/asia/task-1?page=2&design=config",
        "unexpected token: ')' at line 3",
        "the keyboard monkey passed the password check",
        "a basic example of authorization",
        "token: what is it?",
        "Token: Authentication and the secret: sharing keys",
        "an access token is needed, an API key is required, the secret is out",
        "max_tokens: 900 and a token isolates 12 rows",
        "password=[redacted] and password: [redacted]",
        "GET /a%2Fb?q=100%25%20t%6fkens&next=%61",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_what_surrounds_a_secret_stays() -> None:
    line = "GET https://wren:7@a.example/b?token=wren&page=2#c"

    assert redact(line) == "GET https://[redacted]a.example/b?token=[redacted]&page=2#c"


def test_half_of_a_character_is_written_as_its_escape() -> None:
    assert redact("é a\ud800b") == r"é a\ud800b"
    summary = summarise_arguments({"k\udfff": ["a\ud800b"]})
    assert summary == r'{"k\udfff": "[\"a\\ud800b\"]"}'


def test_arguments_are_redacted_by_their_names_but_limits_are_not() -> None:
    arguments = {
        "max_tokens": 900,
        "token_budget": 30,
        "query": "how do herons fish?",
        "api_key": "wren-1",
        "accessToken": "wren-2",
        "headers": {"Authorization": "Bearer wren-3", "Accept": "*/*"},
        "url": "https://a.example/?signature=wren-4",
        "author": "Ardea",
    }

    summary = summarise_arguments(arguments)

    assert "wren" not in summary
    assert '"max_tokens": 900, "token_budget": 30, "query": "how do herons fish?"' in summary
    assert '"author": "Ardea"' in summary


def test_a_long_argument_is_summarised_without_reading_all_of_it() -> None:
    started = time.process_time()
    summary = summarise_arguments({"query": "key=" * 500_000})

    assert time.process_time() - started < 0.1
    assert summary.endswith('… (2000000 characters)"}')


@pytest.mark.parametrize(
    "attack",
    [
        "bearer ", "authorization", "token=", '"token":"', "://", "eyJ", "eyJaaaaa.", "sk-", "a@",
        "-----BEGIN PRIVATE KEY-----", "authorization:   ", "://a@", 'token":"\\', "api_", "pass",
        "token:", "token:a", "secret is ", "password: ", "api key:aA",
    ],
)  # fmt: skip
@pytest.mark.slow
def test_the_time_grows_with_the_length_only(attack: str) -> None:
    tail = '@ = ": eyj private key- cw- bearer cookie'

    def cpu_seconds(length: int) -> float:
        text = attack * (length // len(attack)) + tail
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    # Quadratic time would be 64 times as much, and seconds long.
    assert cpu_seconds(400_000) < 24 * cpu_seconds(50_000) + 0.2
