"""The billing service: what it says, and what it says nothing of."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import anyio
import pytest
from tests.access.billing_server import billing_server
from tests.dripping import dripping_server
from tests.site import Response, running_site

from citewell.core.errors import BillingDown, BillingRefused, SettingsError
from citewell.web.billing import BillingService

pytestmark = pytest.mark.anyio


async def test_a_refusal_never_shows_the_token() -> None:
    with billing_server() as service:
        billing = BillingService(service.url + "/", timeout_seconds=60)
        with pytest.raises(BillingRefused) as caught:
            await billing.reserve("sk-secret", units=1, reason="web_search", seconds=60)
        await billing.aclose()

    assert caught.value.message == "billing check failed: invalid token …"


@pytest.mark.parametrize(
    ("status", "body", "is_down"),
    [
        (200, b"not json", True),
        (200, b"[]", False),
        (200, b'{"success": "yes"}', False),
        (302, b"", True),
        (403, b"not json", False),
        (404, b"{}", True),
        (429, b"{}", True),
        (502, b"<html>", True),
    ],
)
async def test_an_answer_is_yes_no_or_none_at_all(status: int, body: bytes, is_down: bool) -> None:
    with billing_server() as service:
        service.status, service.body = status, body
        billing = BillingService(service.url, timeout_seconds=60)
        with pytest.raises(BillingRefused) as caught:
            await billing.reserve("sk-x", units=1, reason="web_search", seconds=60)
        await billing.aclose()

    assert isinstance(caught.value, BillingDown) == is_down


@pytest.mark.parametrize(
    "transaction",
    [
        [],
        "held-1",
        {"transaction_id": "held-1"},
        {"status": ["pending"]},
        {"status": "pending", "transaction_id": None},
        {"status": "pending", "transaction_id": True},
        {"status": "pending", "transaction_id": "9" * 999},
    ],
    ids=repr,
)
async def test_an_answer_that_leaves_open_what_is_reserved_is_none(transaction: object) -> None:
    with billing_server() as service:
        service.status = 200
        service.body = json.dumps({"success": True, "transaction": transaction}).encode()
        billing = BillingService(service.url, timeout_seconds=60)
        with pytest.raises(BillingDown, match="names no reservation"):
            await billing.reserve("sk-x", units=1, reason="web_search", seconds=60)
        await billing.aclose()


async def test_a_service_that_is_not_there_is_down() -> None:
    with billing_server() as service:
        url = service.url
    billing = BillingService(url, timeout_seconds=60)

    with pytest.raises(BillingDown, match="cannot be reached"):
        await billing.accepts("sk-x")
    await billing.aclose()


async def test_a_service_that_never_ends_its_answer_is_down() -> None:
    with dripping_server() as url:
        billing = BillingService(url, timeout_seconds=0.3)
        with anyio.fail_after(60), pytest.raises(BillingDown, match="did not answer in time"):
            await billing.accepts("sk-x")
        await billing.aclose()


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b'{"success": true, "message": "' + b"a" * 100_000 + b'"}', ""),
        (gzip.compress(bytes(200_000_000), 1), "gzip"),
        (b'{"success": true}', "zstd"),
        (b"[" * 50_000, ""),
    ],
    ids=["large", "bomb", "unasked", "deep"],
)
async def test_a_service_that_answers_without_measure_is_down(body: bytes, encoding: str) -> None:
    headers = {"Content-Encoding": encoding} if encoding else {}
    with running_site({"/api/token/balance": Response(body=body, headers=headers)}) as site:
        billing = BillingService(site.url(), timeout_seconds=60)
        tracemalloc.start()
        try:
            with pytest.raises(BillingDown, match="billing check failed"):
                await billing.accepts("sk-x")
            peak_bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            await billing.aclose()

    assert peak_bytes < 10_000_000


def test_an_address_of_another_kind_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match="CITEWELL_BILLING_URL"):
        BillingService("ftp://billing.example", timeout_seconds=60)
