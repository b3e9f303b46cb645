"""A library in PostgreSQL keeps to its own schema, and finds its way there from `public`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime

import anyio
import psycopg
import pytest
from tests.drafts import draft
from tests.postgres import empty_database

from citewell.core.errors import SettingsError, StoreError
from citewell.core.jobs import JobDraft
from citewell.core.records import SearchFilter
from citewell.store.migrate import load_migrations
from citewell.store.open import open_store
from citewell.store.sql import load_statements

pytestmark = pytest.mark.anyio

URL = "https://birds.example/herons"
NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
ALL = SearchFilter(project="default")
OWN_OBJECTS = """
SELECT nspname, relkind::text, count(*) FROM pg_class
JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
GROUP BY 1, 2 ORDER BY 1, 2
"""


@pytest.fixture
def address() -> Iterator[str]:
    with empty_database() as given:
        yield given


def execute(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def objects_of(address: str) -> dict[str, set[str]]:
    """The kinds of objects that each schema has, but for those of extensions."""
    with psycopg.connect(address) as connection:
        rows = connection.execute(OWN_OBJECTS).fetchall()
    return {schema: {kind for name, kind, _ in rows if name == schema} for schema, _, _ in rows}


def make_library_in_public(address: str, *, version: int = 8) -> None:
    """Make a library of an old version as it was made before there was a schema for it."""
    note = load_statements("postgres")["note_migration"].replace(":version", "%s")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SET search_path = public")
        connection.execute("CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT)")
        for step in load_migrations("postgres")[:version]:
            connection.execute(step.script)
            connection.execute(note.replace(":name", "%s"), (step.version, step.name))
        connection.execute(
            "INSERT INTO page (project, url, final_url, title, kind, language, content_type, tags,"
            " text_hash, chunks, tokens, fetched_at)"
            " VALUES ('default', %(url)s, %(url)s, 'Herons', 'html', 'en', 'general', '{}', 'h', 1,"
            " 2, now())",
            {"url": URL},
        )
        connection.execute("INSERT INTO page_body VALUES (1, '', '[]', 'Herons wade.')")
        connection.execute(
            "INSERT INTO chunk (source_id, ordinal, section, start_offset, end_offset, tokens,"
            " has_code, heading_path, text, embedded_text)"
            " VALUES (1, 0, 0, 0, 12, 2, FALSE, '{}', 'Herons wade.', 'Herons wade.')"
        )
        connection.execute("INSERT INTO chunk_words VALUES (1, 1, 2, '', 'heron wade')")


async def test_a_new_library_is_in_its_own_schema_only(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = await open_store(address, schema="herons")
    await store.put_page(draft(URL, "Herons wade."))
    await store.aclose()

    assert objects_of(address) == {"herons": {"r", "i", "S"}}
    notices = [record.message for record in caplog.records if record.name == "citewell.notices"]
    assert len(notices) == 1
    assert 'made the schema "herons"' in notices[0]


async def test_opening_it_again_announces_nothing(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    await (await open_store(address)).aclose()
    caplog.clear()

    await (await open_store(address)).aclose()

    assert caplog.records == []


async def test_a_database_with_tables_of_others_is_refused_and_left_as_it_was(
    address: str,
) -> None:
    execute(address, "CREATE TABLE public.users (id INTEGER)")

    with pytest.raises(SettingsError, match=r"\(public\.users\).* --database"):
        await open_store(address)

    assert objects_of(address) == {"public": {"r"}}


async def test_a_database_that_was_chosen_holds_the_library_beside_other_tables(
    address: str,
) -> None:
    execute(
        address, "CREATE TABLE public.page (id INTEGER)", "CREATE TABLE public.job (id INTEGER)"
    )

    store = await open_store(address, is_chosen=True)
    await store.put_page(draft(URL, "Herons wade."))
    await store.aclose()
    again = await open_store(address)

    assert await again.find_page(URL, project="default") is not None
    await again.aclose()
    assert objects_of(address)["public"] == {"r"}


async def test_a_library_in_public_is_moved_whole(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    make_library_in_public(address)

    store = await open_store(address)

    assert [page.url for page in await store.list_pages(ALL, limit=9)] == [URL]
    assert len(await store.search_words(["heron"], where=ALL, limit=9)) == 1
    put = await store.put_page(draft("https://birds.example/egrets", "Egrets wade."))
    assert put.source_id == 2
    await store.aclose()
    assert set(objects_of(address)) == {"citewell"}
    with psycopg.connect(address) as connection:
        left = connection.execute(
            "SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
            " AND proname IN ('words_of_chunk', 'hash_words')),"
            " (SELECT count(*) FROM pg_statistic_ext WHERE stxnamespace = 'public'::regnamespace)"
        ).fetchone()
    assert left == (0, 0)
    assert 'from the schema "public" to "citewell"' in caplog.text


async def test_pages_of_before_are_marked_by_where_their_text_must_have_come_from(
    address: str,
) -> None:
    make_library_in_public(address, version=7)
    etag = f'"{"0a" * 16}"'
    execute(
        address,
        "INSERT INTO public.page SELECT 2, project, 'https://birds.example/notes',"
        " 'https://birds.example/notes', title, 'markdown', language, content_type, tags,"
        " text_hash, chunks, tokens, fetched_at FROM public.page",
        "INSERT INTO public.website (source_id, project, url, kind, content_type, status, tags,"
        " options, created_at, updated_at) VALUES (2, 'default', 'https://birds.example/notes',"
        " 'page', 'general', 'completed', '{}', '{}', now(), now())",
        "INSERT INTO public.page SELECT 3, project, 'https://docs.example/a',"
        " 'https://docs.example/a', title, 'markdown', language, content_type, '{docs}',"
        f" text_hash, chunks, tokens, fetched_at, '{etag}' FROM public.page WHERE source_id = 1",
    )

    store = await open_store(address)

    assert [page.origin for page in await store.list_pages(ALL, limit=9)] == [
        "fetched",
        "supplied",
        "file",
    ]
    await store.aclose()


async def test_a_library_in_public_beside_other_tables_is_moved_only_when_chosen(
    address: str,
) -> None:
    make_library_in_public(address)
    execute(address, "CREATE TABLE public.users (id INTEGER)")

    with pytest.raises(SettingsError, match=r"another program \(public\.users\)"):
        await open_store(address)
    store = await open_store(address, is_chosen=True)

    assert await store.find_page(URL, project="default") is not None
    await store.aclose()
    assert objects_of(address)["public"] == {"r"}


async def test_an_opening_that_fails_leaves_nothing_behind(address: str) -> None:
    # The extension is there for nobody to use, and the role may not make another.
    execute(
        address,
        "DROP EXTENSION vector",
        "CREATE ROLE guest LOGIN",
        "GRANT CREATE ON DATABASE " + address.split("/")[3].split("?")[0] + " TO guest",
    )
    as_guest = address.replace("postgres:@", "guest@")

    with pytest.raises(StoreError, match="may not make"):
        await open_store(as_guest)

    assert objects_of(address) == {}
    with psycopg.connect(address) as connection:
        row = connection.execute("SELECT to_regnamespace('citewell')").fetchone()
    assert row == (None,)


async def test_a_migration_that_fails_moves_nothing(address: str) -> None:
    make_library_in_public(address)
    # The next migration wants to make a function of this name.
    execute(
        address,
        "CREATE SCHEMA citewell",
        "CREATE FUNCTION citewell.seconds_now() RETURNS INTEGER LANGUAGE sql AS 'SELECT 1'",
    )

    with pytest.raises(StoreError):
        await open_store(address)

    assert set(objects_of(address)) == {"public"}


async def test_two_libraries_of_one_database_neither_see_nor_wake_nor_lock_each_other(
    address: str,
) -> None:
    ours = await open_store(address, schema="ours")
    theirs = await open_store(address, schema="theirs", is_chosen=True)
    job = JobDraft(kind="process_website", key="7")
    try:
        async with aclosing(ours.jobs.changes()) as notices:
            await anext(notices)
            await theirs.put_page(draft(URL, "Herons wade."))
            await theirs.jobs.add_job(job, now=NOW)
            added, _ = await ours.jobs.add_job(job, now=NOW)
            await anext(notices)
            with anyio.move_on_after(0.2) as waiting:
                await anext(notices)

        assert waiting.cancelled_caught
        assert await ours.find_page(URL, project="default") is None
        taken = await ours.jobs.take_job("worker", now=NOW, lease_seconds=60)
        assert taken is not None
        assert taken.job_id == added.job_id
        assert ours.hosts is not None
        assert theirs.hosts is not None
        async with ours.hosts.hold_slot("birds.example", limit=1):
            with anyio.fail_after(60):
                async with theirs.hosts.hold_slot("birds.example", limit=1):
                    pass
    finally:
        await ours.aclose()
        await theirs.aclose()


async def test_a_schema_that_could_not_be_named_is_refused(address: str) -> None:
    for name in ("", "pg_citewell", "Citewell", 'a"b', "a" * 41, "1a", "a b"):
        with pytest.raises(SettingsError, match="CITEWELL_POSTGRES_SCHEMA cannot be"):
            await open_store(address, schema=name)

    assert objects_of(address) == {}
