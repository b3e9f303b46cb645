"""Receipts for tools and resources, limited to pages that the caller can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument
from citewell.tools.scope import check_scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.receipts import Receipt
    from citewell.tools.tool import Call

RECEIPT_SCHEME = "citewell://receipt/"
"""Followed by comma-separated citation ids."""

MAX_CITATIONS = 10


async def receipt_for(citation_ids: Sequence[str], call: Call) -> Receipt:
    """Return the receipt of citations that the caller can see.

    Raises:
        InvalidArgument: a citation id is not Citewell's, or its page cannot be proved.
        NotFound: its page is not there, has changed since, or its response is not kept.
    """
    if len(citation_ids) > MAX_CITATIONS:
        raise InvalidArgument(f"A receipt is for at most {MAX_CITATIONS} citations.")
    # Imported late: it loads libraries for web archives, and few callers want a receipt.
    from citewell.app.receipts import make_receipt

    parts = call.parts
    return await make_receipt(
        citation_ids,
        store=parts.store,
        secret=parts.secret,
        may_see=check_scope(None, call).holds_page,
    )
