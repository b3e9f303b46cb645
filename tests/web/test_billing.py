"""The billing service: what it says, and what it says nothing of."""

from __future__ import annotations

import pytest
from tests.access.billing_server import billing_server

from citewell.core.errors import BillingDown, BillingRefused, SettingsError
from citewell.web.billing import BillingService

pytestmark = pytest.mark.anyio


async def test_a_refusal_never_shows_the_token() -> None:
    with billing_server() as service:
        billing = BillingService(service.url + "/", timeout_seconds=5)
        with pytest.raises(BillingRefused) as caught:
            await billing.charge("sk-secret", units=1, reason="web_search")
        await billing.aclose()

    assert caught.value.message == "billing check failed: invalid token …"


@pytest.mark.parametrize(
    ("status", "body", "is_down"),
    [
        (200, b"not json", True),
        (200, b"[]", False),
        (200, b'{"success": "yes"}', False),
        (403, b"not json", False),
        (429, b"{}", True),
        (502, b"<html>", True),
    ],
)
async def test_an_answer_is_yes_no_or_none_at_all(status: int, body: bytes, is_down: bool) -> None:
    with billing_server() as service:
        service.status, service.body = status, body
        billing = BillingService(service.url, timeout_seconds=5)
        with pytest.raises(BillingRefused) as caught:
            await billing.charge("sk-x", units=1, reason="web_search")
        await billing.aclose()

    assert isinstance(caught.value, BillingDown) == is_down


async def test_a_service_that_is_not_there_is_down() -> None:
    with billing_server() as service:
        url = service.url
    billing = BillingService(url, timeout_seconds=5)

    with pytest.raises(BillingDown, match="cannot be reached"):
        await billing.accepts("sk-x")
    await billing.aclose()


def test_an_address_of_another_kind_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match="BILLING_URL"):
        BillingService("ftp://billing.example", timeout_seconds=5)
