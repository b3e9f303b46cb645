"""Servers and workers that share one PostgreSQL: killed at random, without it, and twice as many.

    python -m bench.cluster [kills] [outage] [throughput] [--minutes 5] [--seed 1]

`kills`: 2 servers and 2 workers, one of them killed with -9 every few seconds under load.
`outage`: PostgreSQL is stopped for 20 seconds under load and started again.
`throughput`: searches a second with one server process, then with two.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import anyio
import psycopg
from bench.cluster_load import SITE_PAGES, Ledger, Load, page
from bench.cluster_processes import Caller, Cluster, Process, running_cluster
from bench.cluster_search import Searched, search_at_once
from tests.site import running_site

from citewell.core.records import SearchFilter
from citewell.store.open import open_store

OUTAGE_SECONDS = 20.0
WELL_WITHIN_SECONDS = 5.0
SETTLE_SECONDS = 120.0
ONE_THREAD = {
    "CITEWELL_INFERENCE_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


async def kill_at_random(cluster: Cluster, rng: random.Random, *, until: float) -> Counter[str]:
    """Kill one process every few seconds and start it again; return how often each was killed."""
    killed: Counter[str] = Counter()
    while time.monotonic() < until:
        await anyio.sleep(rng.uniform(1.0, 4.0))
        victim: Process = rng.choice(cluster.processes)
        victim.kill()
        killed[victim.name] += 1
        await anyio.sleep(rng.uniform(0.0, 1.0))
        victim.start()
        await victim.until_ready()
    return killed


async def jobs_left_over(address: str) -> int:
    """How many jobs are still unfinished after SETTLE_SECONDS."""
    end = time.monotonic() + SETTLE_SECONDS
    while True:
        with psycopg.connect(address) as connection:
            row = connection.execute(
                "SELECT count(*) FROM job WHERE state IN ('waiting', 'running')"
            ).fetchone()
        left = int(row[0]) if row else 0
        if not left or time.monotonic() > end:
            return left
        await anyio.sleep(0.5)


async def missing_pages(address: str, ledger: Ledger) -> list[str]:
    """Return what the database lacks, or has twice, of all that was asked for."""
    wanted = set(ledger.pages)
    for site in ledger.sites:
        wanted |= {site, *(f"{site}{n}" for n in range(1, SITE_PAGES))}
    faults: list[str] = []
    store = await open_store(address)
    try:
        stored = await store.list_pages(SearchFilter(), limit=100_000)
        urls = Counter(page.url for page in stored)
        faults += [f"{url} is stored {count} times" for url, count in urls.items() if count > 1]
        bare = {url.rstrip("/") for url in urls}
        faults += [f"{url} is missing" for url in wanted if url.rstrip("/") not in bare]
        for info in stored:
            whole = await store.get_page(info.source_id)
            chunks = await store.chunks_of_page(info.source_id)
            in_part = whole is None or any(
                whole.text[chunk.start : chunk.end] != chunk.text for chunk in chunks
            )
            if in_part or not chunks:
                faults.append(f"{info.url} is there in part")
    finally:
        await store.aclose()
    with psycopg.connect(address) as connection:
        failed = connection.execute("SELECT key, error FROM job WHERE state = 'failed'").fetchall()
    return faults + [f"the job of {key} failed: {error}" for key, error in failed]


def misdelivered(ledger: Ledger, address: str) -> tuple[list[str], int]:
    """Return what people sent that was lost or came twice, and what went down with a cut call."""
    faults = [f"{one} came twice" for one, n in Counter(ledger.taken).items() if n > 1]
    faults += [f"{one} came twice" for one, n in Counter(ledger.received).items() if n > 1]
    with psycopg.connect(address) as connection:
        directives: dict[str, str] = dict(
            connection.execute("SELECT content, state FROM directive").fetchall()
        )
        delivered: dict[str, bool] = dict(
            connection.execute(
                "SELECT text, delivered_at IS NOT NULL FROM question WHERE answer IS NOT NULL"
            ).fetchall()
        )
    untaken = (ledger.posted | (ledger.unsure & directives.keys())) - set(ledger.taken)
    unheard = (ledger.answered | (ledger.unsure_answers & delivered.keys())) - set(ledger.received)
    faults += [f"{one} is lost" for one in untaken if directives.get(one) != "consumed"]
    faults += [f"the answer to {one} is lost" for one in unheard if not delivered.get(one)]
    # Handed to a call whose server was killed before the answer was out: both consoles show them.
    went_down = len([one for one in untaken if directives.get(one) == "consumed"])
    if went_down > ledger.cut_takes:
        faults.append(f"{went_down} directives went to {ledger.cut_takes} calls that were cut")
    unheard_calls = len([one for one in unheard if delivered.get(one)])
    return faults, went_down + unheard_calls


async def measure_kills(folder: Path, *, minutes: float, seed: int) -> bool:
    """Kill under load; return whether nothing was lost."""
    rng = random.Random(seed)
    with running_site({}) as site:
        site.default = page
        async with (
            running_cluster(folder, servers=2, workers=2, CITEWELL_EMBEDDER="none") as cluster,
            Caller(cluster.servers) as caller,
        ):
            load = Load(caller, site, seed=seed)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(load.run)
                until = time.monotonic() + 60 * minutes
                killed = await kill_at_random(cluster, rng, until=until)
                load.stopping.set()
            left = await jobs_left_over(cluster.postgres.address)
            await load.drain()
            ledger = load.ledger
            faults = await missing_pages(cluster.postgres.address, ledger)
            more, went_down = misdelivered(ledger, cluster.postgres.address)
            faults += more
    faults += [f"{left} jobs are unfinished"] if left else []
    print(
        f"{sum(killed.values())} kills in {minutes:g} min: {dict(sorted(killed.items()))}\n"
        f"calls: {dict(caller.counts())}\n"
        f"{len(ledger.pages)} pages, {len(ledger.sites)} sites of {SITE_PAGES} pages, "
        f"{len(ledger.posted)} directives posted and {len(ledger.taken)} taken, "
        f"{len(ledger.answered)} answers given and {len(ledger.received)} received; "
        f"{went_down} went down with the call that was being given them\n"
        f"{len(faults)} faults"
    )
    for fault in faults[:20]:
        print(f"  {fault}")
    return not faults


async def measure_outage(folder: Path, *, seed: int) -> bool:
    """Stop PostgreSQL under load; return whether errors were clear and soon over."""
    with running_site({}) as site:
        site.default = page
        async with (
            running_cluster(folder, servers=2, workers=2, CITEWELL_EMBEDDER="none") as cluster,
            Caller(cluster.servers) as caller,
        ):
            load = Load(caller, site, seed=seed)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(load.run)
                await anyio.sleep(8)
                stopped = time.monotonic()
                await anyio.to_thread.run_sync(cluster.postgres.stop)
                await anyio.sleep(OUTAGE_SECONDS)
                await anyio.to_thread.run_sync(cluster.postgres.start)
                back = time.monotonic()
                await anyio.sleep(15)
                load.stopping.set()
            left = await jobs_left_over(cluster.postgres.address)
            settled = time.monotonic()
            faults = await missing_pages(cluster.postgres.address, load.ledger)
    errors = [each for each in caller.outcomes if each.code != "ok"]
    codes = Counter(f"{each.code} of {each.tool.rpartition('/tools/')[2]}" for each in errors)
    waits = [each.ended - each.began for each in errors if each.began > stopped] or [0.0]
    late = max((each.ended - back for each in errors), default=0.0)
    worked = min(o.ended - back for o in caller.outcomes if o.code == "ok" and o.began > back)
    print(
        f"PostgreSQL away for {back - stopped:.1f} s: errors {dict(codes)}; an error took "
        f"{statistics.median(waits):.1f} s (median), {max(waits):.1f} s at most\n"
        f"first call to succeed {worked:.1f} s after its return, last error {late:.1f} s after; "
        f"all but {left} jobs done {settled - back:.1f} s after; {len(faults)} faults"
    )
    for fault in faults[:20]:
        print(f"  {fault}")
    is_clear = {each.code for each in errors} <= {"BACKEND_UNAVAILABLE"}
    return is_clear and late <= WELL_WITHIN_SECONDS and not faults


async def measure_throughput(folder: Path, *, pages: int, seconds: float, callers: int) -> bool:
    """Search with one process and with two, in turns; return whether two do 1.5 times as much."""
    with running_site({}) as site:
        site.default = page
        # One thread a server: else one alone may use both cores.
        async with running_cluster(folder, servers=2, workers=0, **ONE_THREAD) as cluster:
            async with Caller(cluster.servers) as both:
                for first in range(0, pages, 20):
                    urls = [site.url(f"/page-{n}") for n in range(first, first + 20)]
                    assert (await both.call("ingest", url=urls)).code == "ok"
            turns: dict[int, list[Searched]] = {1: [], 2: []}
            for turn in range(7):
                count = 1 + turn % 2
                searched = await search_at_once(
                    cluster, servers=count, at_once=callers, seconds=seconds
                )
                # The first turn only warms up.
                if turn:
                    turns[count].append(searched)
    one, two = (statistics.median(each.rate for each in turns[count]) for count in (1, 2))
    print(
        f"search, {pages} pages, {callers} callers: {one:.0f}/s with one server process, "
        f"{two:.0f}/s with two: {two / one:.2f} times"
    )
    for count, measured in turns.items():
        for each in measured:
            print(f"  {count} servers: {each.rate:.1f}/s, ms of a core: {each.per_search()}")
    return two >= 1.5 * one


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parts = ("kills", "outage", "throughput")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to kill")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", type=int, default=200, help="pages to search")
    parser.add_argument("--callers", type=int, default=8, help="who search at the same time")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each turn of searching")
    given = parser.parse_args()
    measure = {
        "kills": partial(measure_kills, minutes=given.minutes, seed=given.seed),
        "outage": partial(measure_outage, seed=given.seed),
        "throughput": partial(
            measure_throughput, pages=given.pages, seconds=given.seconds, callers=given.callers
        ),
    }
    passed = True
    for part in given.parts or parts:
        print(f"── {part}", flush=True)
        with tempfile.TemporaryDirectory(prefix="citewell-cluster-") as folder:
            passed &= anyio.run(measure[part], Path(folder))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
