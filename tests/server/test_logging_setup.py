"""What the log may not hold."""

from __future__ import annotations

import io
import logging

from citewell.server.logging_setup import redact_record


def test_secrets_are_taken_out_of_messages_and_stack_traces() -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.addFilter(redact_record)
    logger = logging.getLogger("test_logging_setup")
    logger.addHandler(handler)

    logger.warning("called with %s", "Bearer wren-7")
    try:
        raise ValueError("cannot reach https://user:hunter2@example.org/")
    except ValueError:
        logger.exception("failed")

    assert "called with " in written.getvalue()
    assert "ValueError: cannot reach https://" in written.getvalue()
    assert "wren-7" not in written.getvalue()
    assert "hunter2" not in written.getvalue()
