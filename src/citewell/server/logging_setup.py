"""The log: on stderr, without secrets, as text or as one JSON object a line."""

from __future__ import annotations

import json
import logging
import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.core.redaction import redact
from citewell.core.request_id import request_id

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    from citewell.core.settings import LogLevel

logger = logging.getLogger(__name__)

_TEXT_TIME = "%Y-%m-%d %H:%M:%S"
_JSON_TIME = "%Y-%m-%dT%H:%M:%S%z"
# C0 but tab and newline, C1, and what ends a line or turns its direction.
_CONTROL_CODES = (*range(9), *range(11, 32), *range(127, 160), *range(0x2028, 0x202F))
_CONTROLS = {code: ascii(chr(code))[1:-1] for code in _CONTROL_CODES}


def configure_logging(level: LogLevel, *, form: Literal["text", "json"] = "text") -> None:
    """Send our log at `level` and above to stderr, and only warnings of libraries.

    At INFO, libraries log addresses, session ids and queries.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    logging.getLogger("citewell").setLevel(level)
    # Python would write the traceback to stderr itself, with whatever secrets it holds.
    sys.excepthook = _log_uncaught
    _omit_unused_fields()


def _omit_unused_fields() -> None:
    # Source location, thread and process took three tenths of a line's time; no line shows them.
    # Python's Logging HOWTO (“Optimization”) says how to leave them out.
    logging._srcfile = None
    logging.logThreads = False
    logging.logProcesses = False
    logging.logMultiprocessing = False


def _log_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    logger.critical("uncaught exception", exc_info=(kind, error, trace))


class TextFormatter(logging.Formatter):
    """A line for people, with the request id before the message."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        name = request_id.get()
        request = "" if name is None else f"[{name}] "
        moment = f"{_format_second(int(record.created), _TEXT_TIME)},{int(record.msecs):03d}"
        line = f"{moment} {record.levelname} {record.name}: {request}{record.getMessage()}"
        trace = _format_trace(record)
        return _indent(redact(line if trace is None else f"{line}\n{trace}"))


class JsonFormatter(logging.Formatter):
    """One JSON object a line, for programs that collect logs."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, str] = {
            "time": _format_second(int(record.created), _JSON_TIME),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        name = request_id.get()
        if name is not None:
            line["request_id"] = name
        trace = _format_trace(record)
        if trace is not None:
            line["exception"] = redact(trace)
        return json.dumps(line, ensure_ascii=False)


def _indent(text: str) -> str:
    """Return `text` with its later lines indented, and other control characters as escapes.

    What a page or a caller wrote can then neither pass for a line of the log nor steer a terminal.
    """
    if text.isprintable():
        return text
    return text.translate(_CONTROLS).replace("\n", "\n    ")


# Many lines fall into one second, and formatting the local time took a sixth of each line's time.
@lru_cache(maxsize=2)
def _format_second(second: int, form: str) -> str:
    return time.strftime(form, time.localtime(second))


def _format_trace(record: logging.LogRecord) -> str | None:
    return logging.Formatter().formatException(record.exc_info) if record.exc_info else None
