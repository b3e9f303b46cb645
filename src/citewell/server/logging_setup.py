"""The log: on stderr, without secrets, as text or as one JSON object a line."""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.server.request_ids import request_id
from citewell.tools.redaction import redact

if TYPE_CHECKING:
    from typing import Literal

    from citewell.core.settings import LogLevel


def configure_logging(level: LogLevel, *, form: Literal["text", "json"] = "text") -> None:
    """Send our log at `level` and above to stderr, and of libraries only warnings.

    What libraries say at INFO holds addresses, session ids and queries.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    handler.addFilter(redact_record)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    logging.getLogger("citewell").setLevel(level)


def redact_record(record: logging.LogRecord) -> bool:
    """Take secrets out of a record's message and stack trace; every record passes."""
    record.msg, record.args = redact(record.getMessage()), None
    if record.exc_info:
        record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
    return True


class TextFormatter(logging.Formatter):
    """A line for people; the name of the request stands before the message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        name = request_id.get()
        if name is not None:
            record.message = f"[{name}] {record.message}"
        return super().formatMessage(record)


class JsonFormatter(logging.Formatter):
    """One JSON object a line, for programs that collect logs."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, str] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        name = request_id.get()
        if name is not None:
            line["request_id"] = name
        if record.exc_text:
            line["exception"] = record.exc_text
        return json.dumps(line, ensure_ascii=False)
