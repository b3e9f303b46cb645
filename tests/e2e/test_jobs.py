"""Background work in real processes: killed, sharing a store, out of disk."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from tests.e2e.processes import environment
from tests.inference.model_server import Answer, Call, running_model_server
from tests.jobs.shelves import html
from tests.site import Request, Response, Site, running_site, wait_until

from citewell.core.jobs import Job, JobDraft, JobKind
from citewell.core.library import Website, WebsiteDraft, WebsiteKind, WebsiteQuery
from citewell.store.open import open_store

pytestmark = pytest.mark.slow

CITEWELL = [sys.executable, "-m", "citewell"]
ONE_MINUTE = {"CITEWELL_JOBS_LEASE_SECONDS": "60"}
LEASE = {
    "CITEWELL_JOBS_LEASE_SECONDS": "6",
    "CITEWELL_EMBEDDER": "none",
    "CITEWELL_MCP_LOG_LEVEL": "WARNING",
}


def queue(folder: Path, *urls: str, kind: WebsiteKind = "page") -> None:
    """Add websites and the jobs that process them, as a server does."""

    async def add() -> None:
        store = await open_store(f"sqlite:///{folder}/pages.db")
        now = datetime.now(UTC)
        for url in urls:
            website, _ = await store.library.add_website(WebsiteDraft(url=url, kind=kind), now=now)
            job: JobKind = "process_site" if kind == "site" else "process_website"
            await store.jobs.add_job(JobDraft(kind=job, key=str(website.source_id)), now=now)
        await store.aclose()

    anyio.run(add)


def look(folder: Path) -> tuple[list[Website], list[Job]]:
    """The websites and the jobs, oldest first."""

    async def read() -> tuple[list[Website], list[Job]]:
        store = await open_store(f"sqlite:///{folder}/pages.db")
        query = WebsiteQuery(order_by="url", descending=False, limit=100)
        websites = list((await store.library.list_websites(query)).websites)
        jobs = (await store.jobs.list_jobs(limit=100))[::-1]
        await store.aclose()
        return websites, jobs

    return anyio.run(read)


@contextmanager
def worker(
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    limit: Callable[[], None] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker until leaving, when it is asked to stop."""
    process = subprocess.Popen(
        [*CITEWELL, "worker"],
        env=environment(folder, **{**LEASE, **(settings or {})}),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=limit,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=120)


def all_done(folder: Path) -> bool:
    return {job.state for job in look(folder)[1]} == {"done"}


class Gate:
    """A page of a site that answers only once it is opened; it tells when it was asked for."""

    def __init__(self, body: str) -> None:
        self.asked = threading.Event()
        self.opened = threading.Event()
        self._body = body.encode()

    def __call__(self, request: Request) -> Response:
        self.asked.set()
        self.opened.wait(60)
        return Response(body=self._body, headers={"Content-Type": "text/html"})


def sitemap(site: Site, paths: list[str]) -> str:
    urls = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in paths)
    return f"<urlset>{urls}</urlset>"


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(60)


def test_a_worker_killed_while_it_fetches_loses_nothing(tmp_path: Path) -> None:
    gate = Gate(html("Herons", "Herons wade in shallow water."))
    with running_site({"/": gate}) as site:
        queue(tmp_path, site.url("/"))
        with worker(tmp_path) as first:
            assert gate.asked.wait(60)
            kill(first)
        gate.opened.set()
        with worker(tmp_path):
            wait_until(lambda: all_done(tmp_path), seconds=60)
        [website], [job] = look(tmp_path)

    assert (website.status, website.title, website.pages) == ("completed", "Herons", 1)
    assert job.attempts == 2


def test_a_job_whose_worker_was_killed_twice_is_set_aside_with_the_reason(tmp_path: Path) -> None:
    gate = Gate(html("Herons", "Herons wade in shallow water."))
    with running_site({"/": gate}) as site:
        queue(tmp_path, site.url("/"))
        for _ in range(2):
            with worker(tmp_path) as killed:
                assert gate.asked.wait(120)
                kill(killed)
            gate.asked.clear()
        with worker(tmp_path):
            wait_until(lambda: look(tmp_path)[1][0].state == "failed", seconds=120)
        [website], [job] = look(tmp_path)

    assert "ended the process that worked on it twice" in (job.error or "")
    assert website.status == "failed"
    assert not gate.asked.is_set()


def test_a_worker_that_is_asked_to_stop_twice_has_not_crashed(tmp_path: Path) -> None:
    gate = Gate(html("Herons", "Herons wade in shallow water."))
    with running_site({"/": gate}) as site:
        queue(tmp_path, site.url("/"))
        for _ in range(2):
            with worker(tmp_path):
                assert gate.asked.wait(120)
            gate.asked.clear()
        gate.opened.set()
        with worker(tmp_path):
            wait_until(lambda: all_done(tmp_path), seconds=120)
        [website], [job] = look(tmp_path)

    assert (website.status, job.attempts) == ("completed", 1)


def test_a_worker_killed_while_it_embeds_loses_nothing(tmp_path: Path) -> None:
    asked, opened = threading.Event(), threading.Event()

    def answer(call: Call) -> Answer:
        asked.set()
        opened.wait(60)
        data = [{"index": i, "embedding": [1.0, 0.0]} for i, _ in enumerate(call.body["input"])]
        return Answer(body={"data": data})

    with (
        running_site({"/": html("Herons", "Herons wade in shallow water.")}) as site,
        running_model_server(answer) as model,
    ):
        remote = {"CITEWELL_EMBEDDER": "openai:tiny", "CITEWELL_EMBEDDER_ENDPOINT": model.url}
        queue(tmp_path, site.url("/"))
        with worker(tmp_path, remote) as first:
            assert asked.wait(60)
            kill(first)
        opened.set()
        with worker(tmp_path, remote):
            wait_until(lambda: all_done(tmp_path), seconds=60)
        _, [job, *_] = look(tmp_path)

    assert site.paths() == ["/"]
    assert (job.kind, job.attempts) == ("process_website", 2)


@pytest.mark.parametrize("stage", ["discovering", "half-way"])
def test_a_worker_killed_within_a_site_is_followed_by_one_that_goes_on(
    tmp_path: Path, stage: str
) -> None:
    paths = [f"/docs/{n:02}" for n in range(11)]
    pages = {path: html(f"Page {path}", f"This is said on page {path}.") for path in paths}
    with running_site(pages) as site:
        listing = sitemap(site, paths)
        gate = Gate(listing if stage == "discovering" else html("Last", "The last to be read."))
        if stage == "discovering":
            site.pages["/sitemap.xml"] = gate
        else:
            site.pages["/sitemap.xml"] = Response(body=listing.encode())
            site.pages[paths[-1]] = gate
        queue(tmp_path, site.url("/docs/"), kind="site")
        with worker(tmp_path) as first:
            assert gate.asked.wait(60)
            kill(first)
        before = [path for path in site.paths() if path in pages]
        gate.opened.set()
        with worker(tmp_path):
            wait_until(lambda: all_done(tmp_path), seconds=60)
        after = [path for path in site.paths() if path in pages][len(before) :]
        [website], _ = look(tmp_path)

    assert (website.status, website.pages) == ("completed", 11)
    # At most what was being read at the moment of the kill is asked for twice.
    assert len(set(before) & set(after)) <= 3


def test_two_workers_share_the_jobs_of_one_store(tmp_path: Path) -> None:
    pages = {f"/{n}": html(f"Bird {n}", f"Bird number {n} sings.") for n in range(24)}
    with running_site(pages) as site:
        urls = [site.url(path) for path in pages]
        queue(tmp_path, *urls)
        with worker(tmp_path, ONE_MINUTE), worker(tmp_path, ONE_MINUTE):
            wait_until(lambda: all_done(tmp_path), seconds=60)
        _, jobs = look(tmp_path)

    assert len(jobs) == 24
    assert {job.attempts for job in jobs} == {1}
    assert sorted(site.paths()) == sorted(pages)


def test_a_worker_that_is_stopped_hands_its_work_back(tmp_path: Path) -> None:
    gate = Gate(html("Herons", "Herons wade in shallow water."))
    with running_site({"/": gate}) as site:
        queue(tmp_path, site.url("/"))
        with worker(tmp_path, {"CITEWELL_WEB_TIMEOUT_SECONDS": "30"}) as first:
            assert gate.asked.wait(60)
            first.terminate()
            code = first.wait(60)
        gate.opened.set()
        _, [job] = look(tmp_path)

    assert code == 0
    assert (job.state, job.attempts) == ("waiting", 0)


def test_a_full_disk_stops_the_work_until_there_is_room_again(tmp_path: Path) -> None:
    long = " ".join(f"Herons of the kind number {n} wade in shallow water." for n in range(4_000))
    with running_site({"/": html("Herons", long)}) as site:
        queue(tmp_path, site.url("/"))
        room = (tmp_path / "pages.db").stat().st_size + 50_000

        def little_room() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

        with worker(tmp_path, limit=little_room) as cramped:
            assert cramped.stderr is not None
            told = b""
            while b"failed:" not in told:
                told += cramped.stderr.readline()
        [halted], _ = look(tmp_path)
        # Asked for again, a job does not wait for its next attempt.
        queue(tmp_path, site.url("/"))
        with worker(tmp_path):
            wait_until(lambda: all_done(tmp_path), seconds=60)
        [website], _ = look(tmp_path)

    assert halted.pages == 0
    assert (website.status, website.pages) == ("completed", 1)
