"""The log: on stderr, without secrets."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from citewell.tools.redaction import redact

if TYPE_CHECKING:
    from citewell.core.settings import LogLevel


def configure_logging(level: LogLevel) -> None:
    """Send our log at `level` and above to stderr, and of libraries only warnings.

    What libraries say at INFO holds addresses, session ids and queries.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
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
