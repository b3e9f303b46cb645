"""The log: on stderr, without secrets, as text or as one JSON object a line."""

from __future__ import annotations

import json
import logging
import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.app.redaction import redact
from citewell.server.request_ids import request_id

if TYPE_CHECKING:
    from typing import Literal

    from citewell.core.settings import LogLevel

_TEXT_TIME = "%Y-%m-%d %H:%M:%S"
_JSON_TIME = "%Y-%m-%dT%H:%M:%S%z"


def configure_logging(level: LogLevel, *, form: Literal["text", "json"] = "text") -> None:
    """Send our log at `level` and above to stderr, and of libraries only warnings.

    What libraries say at INFO holds addresses, session ids and queries.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    logging.getLogger("citewell").setLevel(level)
    _leave_out_what_no_line_holds()


def _leave_out_what_no_line_holds() -> None:
    # The place in the source, the thread and the process took three tenths of the time of a line.
    # How to leave them out is Python's own advice (Logging HOWTO, “Optimization”).
    logging._srcfile = None
    logging.logThreads = False
    logging.logProcesses = False
    logging.logMultiprocessing = False


class TextFormatter(logging.Formatter):
    """A line for people; the name of the request stands before the message."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        name = request_id.get()
        request = "" if name is None else f"[{name}] "
        moment = f"{_tell_second(int(record.created), _TEXT_TIME)},{int(record.msecs):03d}"
        message = redact(record.getMessage())
        line = f"{moment} {record.levelname} {record.name}: {request}{message}"
        trace = _trace_of(record)
        return line if trace is None else f"{line}\n{trace}"


class JsonFormatter(logging.Formatter):
    """One JSON object a line, for programs that collect logs."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, str] = {
            "time": _tell_second(int(record.created), _JSON_TIME),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        name = request_id.get()
        if name is not None:
            line["request_id"] = name
        trace = _trace_of(record)
        if trace is not None:
            line["exception"] = trace
        return json.dumps(line, ensure_ascii=False)


# Many lines fall into one second, and telling the local time took a sixth of the time of each.
@lru_cache(maxsize=2)
def _tell_second(second: int, form: str) -> str:
    return time.strftime(form, time.localtime(second))


def _trace_of(record: logging.LogRecord) -> str | None:
    if not record.exc_info:
        return None
    return redact(logging.Formatter().formatException(record.exc_info))
