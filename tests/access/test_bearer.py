"""The forms of an Authorization header."""

from __future__ import annotations

import pytest

from citewell.access.bearer import hint_of, parse_bearer
from citewell.core.errors import AccessRefused
from citewell.core.identity import Credentials


@pytest.mark.parametrize(
    ("header", "user", "agent", "token"),
    [
        ("Bearer sk-example", None, None, "sk-example"),
        ("bearer   sk-example ", None, None, "sk-example"),
        ("Bearer user:assistant@sk-example", "user", "assistant", "sk-example"),
        ("Bearer workspace@sk-example", "workspace", "workspace", "sk-example"),
        (
            "Bearer user@example.com:assistant@example.com@sk-x",
            "user@example.com",
            "assistant@example.com",
            "sk-x",
        ),
        ("Bearer 鷺:サギ@sk-x", "鷺", "サギ", "sk-x"),
        ("Bearer a:b:c@sk-x", "a", "b:c", "sk-x"),
    ],
)
def test_identities_stand_before_the_last_at_sign(
    header: str, user: str | None, agent: str | None, token: str
) -> None:
    assert parse_bearer(header) == Credentials(token=token, user=user, agent=agent)


@pytest.mark.parametrize("header", [None, "", "  ", "Bearer", "Bearer  "])
def test_a_header_without_a_token_is_told_apart(header: str | None) -> None:
    with pytest.raises(AccessRefused) as caught:
        parse_bearer(header)

    assert caught.value.message == "missing authorization bearer token"


@pytest.mark.parametrize(
    "header",
    [
        "Basic dXNlcg==",
        "sk-x",
        "Bearer @sk-x",
        "Bearer user@",
        "Bearer :b@k",
        "Bearer a:@k",
        "Bearer a\x00b",
        "Bearer " + "x" * 17_000,
    ],
    ids=range(8),
)
def test_a_malformed_header_is_refused(header: str) -> None:
    with pytest.raises(AccessRefused) as caught:
        parse_bearer(header)

    assert caught.value.message == "invalid authorization header"


def test_credentials_do_not_show_their_token() -> None:
    assert "sk-secret" not in repr(parse_bearer("Bearer ann@sk-secret"))


def test_the_hint_of_a_short_token_tells_nothing() -> None:
    assert (hint_of("sk-0123456789"), hint_of("12345678")) == ("6789", "")
