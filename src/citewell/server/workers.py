"""Several server processes on one port: started, restarted and stopped together."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NoReturn

import anyio

from citewell.core.error_kinds import error_of_kind
from citewell.core.errors import CitewellError, SettingsError
from citewell.server.http_server import serve_http
from citewell.server.listener import bind
from citewell.server.shared_sessions import Worker
from citewell.server.stop_signals import STOP_SIGNALS, on_stop_signal

if TYPE_CHECKING:
    import socket

    from citewell.core.settings import Settings

logger = logging.getLogger(__name__)

# A process that ends this soon would fail again: wait before starting the next one.
_SHORT_LIFE_SECONDS = 5.0
_PAUSE_SECONDS = 1.0


def serve_workers(settings: Settings) -> None:
    """Serve with `settings.mcp_workers` processes until a signal comes; all take from one port.

    A session stays with the process that opened it: the others hand its requests on. Limits are
    counted together.

    Raises:
        SettingsError: the port cannot be bound, or this system cannot fork.
        CitewellError: the first process could not start.
    """
    if not hasattr(os, "fork"):
        raise SettingsError("CITEWELL_MCP_WORKERS needs a system that can fork, such as Linux")
    with (
        bind(settings.mcp_host, settings.mcp_port) as listener,
        TemporaryDirectory(prefix="citewell-") as folder,
    ):
        settings = replace(settings, mcp_port=listener.getsockname()[1])
        if settings.rate_limit_storage == "memory://":
            settings = replace(settings, rate_limit_storage=f"file://{folder}/rates")
        if settings.inference_threads == 0:
            # Otherwise every process would use all cores.
            threads = max(1, (os.cpu_count() or 1) // settings.mcp_workers)
            settings = replace(settings, inference_threads=threads)
        _Team(settings, listener, Path(folder)).run()


@dataclass(frozen=True, slots=True)
class _Member:
    number: int
    started: float


class _Team:
    """The processes; `run` returns when all have ended after a stop signal."""

    def __init__(self, settings: Settings, listener: socket.socket, folder: Path) -> None:
        self._settings = settings
        self._listener = listener
        self._folder = folder
        self._members: dict[int, _Member] = {}
        self._is_stopping = False
        # Nothing is written to it: when it closes, the workers know that this process is gone.
        self._lifeline, self._own_end = os.pipe()

    def run(self) -> None:
        with on_stop_signal(self._stop):
            # One at a time: the first brings the database up to date, or says what is wrong.
            for number in range(self._settings.mcp_workers):
                if self._is_stopping:
                    break
                failure = self._start(number)
                if failure is not None:
                    self._stop()
                    self._watch()
                    raise failure
            self._watch()
        logger.info("all %d processes stopped", self._settings.mcp_workers)

    def _stop(self) -> None:
        self._is_stopping = True
        for process in self._members:
            os.kill(process, signal.SIGTERM)

    def _start(self, number: int) -> CitewellError | None:
        """Start a process and wait until it serves; return why it does not."""
        incoming, report = os.pipe()
        # A signal just after the fork would miss the child, or run the parent's handler in it.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        process = os.fork()
        if process == 0:
            for expected in STOP_SIGNALS:
                signal.signal(expected, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            os.close(incoming)
            os.close(self._own_end)
            self._work(number, report)
        os.close(report)
        self._members[process] = _Member(number, time.monotonic())
        if self._is_stopping:
            os.kill(process, signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        with os.fdopen(incoming, encoding="utf-8") as lines:
            failure = json.loads(lines.readline() or "null")
        if not failure:
            return None
        return error_of_kind(failure["kind"], failure["message"])

    def _watch(self) -> None:
        """Wait for processes to end; replace one that ends without a stop signal."""
        while self._members:
            process, status = os.waitpid(-1, 0)
            member = self._members.pop(process, None)
            if member is None or self._is_stopping:
                continue
            code = os.waitstatus_to_exitcode(status)
            logger.error("server process %d ended with %d; starting it again", member.number, code)
            if time.monotonic() - member.started < _SHORT_LIFE_SECONDS:
                time.sleep(_PAUSE_SECONDS)
            failure = self._start(member.number)
            if failure is not None:
                # The others go on, and this one ends and is started again.
                logger.error("server process %d cannot start: %s", member.number, failure.message)

    def _work(self, number: int, report: int) -> NoReturn:
        """Serve in the forked process, and exit without the parent's cleanup."""
        # A Ctrl-C is for the parent, which passes it on; two signals would kill.
        os.setpgid(0, 0)
        threading.Thread(target=_stop_without, args=(self._lifeline,), daemon=True).start()
        worker = Worker(number=number, workers=self._settings.mcp_workers, folder=self._folder)
        serve = partial(
            serve_http,
            self._settings,
            listener=self._listener,
            worker=worker,
            on_ready=partial(_say, report, {}),
        )
        code = 1
        try:
            anyio.run(serve)
            code = 0
        except CitewellError as error:
            _say(report, {"kind": type(error).__name__, "message": error.message})
        except Exception:
            logger.exception("server process %d failed", number)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _say(pipe: int, report: dict[str, str]) -> None:
    """Write to the parent that the process is ready, or why it is not."""
    try:
        os.write(pipe, json.dumps(report).encode() + b"\n")
        os.close(pipe)
    except OSError:
        # It failed after it was ready, when nobody reads any more; the log has it.
        logger.exception("a server process failed")


def _stop_without(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)
