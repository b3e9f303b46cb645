"""Jobs whose worker has ended without giving them back, as by the end of its terminal."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.jobs import Job


def worker_name(nonce: str) -> str:
    """Return the name of a worker of this process."""
    return f"{socket.gethostname()}:{os.getpid()}:{nonce}"


def is_abandoned(job: Job) -> bool:
    """Return whether a job is held by a process of this machine that no longer runs.

    Of other machines only the end of the lease shows it.
    """
    if job.state != "running" or job.worker is None:
        return False
    host, _, process = job.worker.rpartition(":")[0].rpartition(":")
    # On Windows, signal 0 is Ctrl-C.
    if host != socket.gethostname() or not process.isdecimal() or sys.platform == "win32":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
