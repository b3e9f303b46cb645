"""What a line of the log holds, and what it may not."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from datetime import datetime

from citewell.core.request_id import request_id
from citewell.server.logging_setup import JsonFormatter, TextFormatter


def logging_to_text(name: str, formatter: logging.Formatter) -> tuple[logging.Logger, io.StringIO]:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(formatter)
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    return logger, written


def test_secrets_are_taken_out_of_messages_and_stack_traces() -> None:
    logger, written = logging_to_text("test_logging_setup", TextFormatter())

    logger.warning("called with %s", "Bearer wren-7")
    try:
        raise ValueError("cannot reach https://user:hunter2@example.org/")
    except ValueError:
        logger.exception("failed")

    assert "called with " in written.getvalue()
    assert "ValueError: cannot reach https://" in written.getvalue()
    assert "wren-7" not in written.getvalue()
    assert "hunter2" not in written.getvalue()


def test_a_line_of_json_names_the_request_and_holds_no_secret() -> None:
    logger, written = logging_to_text("test_logging_json", JsonFormatter())

    token = request_id.set("order-66")
    logger.warning("called with %s", "Bearer wren-7")
    request_id.reset(token)
    logger.warning("a line\nand another")
    try:
        raise ValueError("cannot reach https://user:hunter2@example.org/")
    except ValueError:
        logger.exception("failed")

    first, second, third = (json.loads(line) for line in written.getvalue().splitlines())
    assert (first["level"], first["logger"]) == ("WARNING", "test_logging_json")
    assert (first["request_id"], "wren-7" in first["message"]) == ("order-66", False)
    assert (second["message"], "request_id" in second) == ("a line\nand another", False)
    assert third["exception"].endswith("ValueError: cannot reach https://[redacted]example.org/")


def test_access_lines_and_uncaught_exceptions_of_a_process_hold_no_secret() -> None:
    program = """
import logging
from citewell.server.logging_setup import configure_logging
configure_logging("INFO")
access = '%s - "%s %s HTTP/%s" %d'
logging.getLogger("uvicorn.access").warning(access, "::1", "GET", "/?token=wren-7", "1.1", 200)
raise ValueError("cannot reach https://a.example/?api_key=wren-7 with Bearer wren-7")
"""

    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )

    assert ended.returncode == 1
    assert "wren-7" not in ended.stderr
    assert "GET /?token=[redacted] HTTP/1.1" in ended.stderr
    assert "ValueError: cannot reach https://a.example/?api_key=[redacted]" in ended.stderr


def test_a_line_of_text_begins_with_the_time_and_the_request() -> None:
    record = logging.LogRecord("a", logging.INFO, __file__, 1, "called", None, None)

    token = request_id.set("order-66")
    line = TextFormatter().format(record)
    request_id.reset(token)

    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: [order-66] %(message)s")
    assert line == plain.format(record)


def test_no_text_passes_for_a_line_of_the_log_or_steers_a_terminal() -> None:
    forged = "heron\n2026-01-01 00:00:00,000 INFO citewell: wren\r\x1b[2J\x9b\u2028\u202eowl"

    record = logging.LogRecord("a", logging.INFO, __file__, 1, forged, None, None)
    lines = TextFormatter().format(record).splitlines()

    assert lines[0].endswith("heron")
    assert lines[1:] == [
        r"    2026-01-01 00:00:00,000 INFO citewell: wren\r\x1b[2J\x9b\u2028\u202eowl"
    ]


def test_a_line_of_json_tells_the_second_and_the_zone() -> None:
    record = logging.LogRecord("a", logging.INFO, __file__, 1, "called", None, None)

    line = json.loads(JsonFormatter().format(record))

    told = datetime.strptime(line["time"], "%Y-%m-%dT%H:%M:%S%z")
    assert told.timestamp() == int(record.created)
