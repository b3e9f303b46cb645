"""A store of the first version keeps its pages, and grows a graph."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.drafts import draft

from citewell.core.graph import EntityMention, NodeRef
from citewell.core.records import Link, SearchFilter
from citewell.store.migrate import load_migrations
from citewell.store.open import open_store
from citewell.store.sql import load_statements

pytestmark = pytest.mark.anyio

ALL = SearchFilter(project="default")
HERONS, EGRETS = "https://birds.example/herons", "https://birds.example/egrets"
TO_EGRETS = Link(url=EGRETS, text="egrets", context="see egrets", section=0, start=0)


# Of the schema before sections had an id of their own.
_ADD_SECTION = "INSERT INTO section VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def make_first_version(path: Path) -> None:
    """Write a store as the first version did: its schema, and two pages that link."""
    first = load_migrations("sqlite")[0]
    statements = load_statements("sqlite")
    with closing(sqlite3.connect(path)) as database:
        database.executescript(first.script)
        database.execute(
            statements["note_migration"], {"version": first.version, "name": first.name}
        )
        for number, url in enumerate((HERONS, EGRETS), start=1):
            database.execute(
                "INSERT INTO page VALUES (?, 'default', ?, ?, 'Birds', 'html', 'en', 'general',"
                " 'hash', 0, 0, '2026-03-14T15:09:26.000000+00:00',"
                " NULL, NULL, NULL, NULL, NULL)",
                (number, url, url),
            )
            database.execute(_ADD_SECTION, (number, 0, None, 1, "Birds", None, 0, 4))
        database.execute(
            "INSERT INTO link VALUES (1, 0, ?, 'egrets', 'see egrets', 0, 0)", [EGRETS]
        )
        database.commit()


async def test_pages_of_the_first_version_have_their_tree_and_links_at_once(tmp_path: Path) -> None:
    make_first_version(tmp_path / "old.db")
    store = await open_store(f"sqlite://{tmp_path}/old.db")

    edges = await store.edges_of(
        [NodeRef("page", 1)], kinds=("child", "links_to", "mentions"), where=ALL, limit=9
    )

    assert [(edge.kind, edge.target.node_id) for edge in edges] == [
        ("child", "section:1:0"),
        ("links_to", "page:2"),
    ]
    await store.aclose()


async def test_their_entities_appear_when_they_are_ingested_next(tmp_path: Path) -> None:
    make_first_version(tmp_path / "old.db")
    store = await open_store(f"sqlite://{tmp_path}/old.db")
    heron = EntityMention(name="heron", kind="term", section=0, count=1)

    again = await store.put_page(
        replace(draft(HERONS, "Herons wade.", links=(TO_EGRETS,)), entities=(heron,))
    )

    assert (again.source_id, again.created) == (1, False)
    assert [node.name for node in await store.find_entities(["heron"], where=ALL)] == ["heron"]
    await store.aclose()


SUPPLIED, DOCS, FILE = "https://birds.example/notes", "https://docs.example/a", "file:///a.md"


def make_version_7(path: Path) -> None:
    """Write a store of the version before pages knew their origin, with a page of each."""
    statements = load_statements("sqlite")
    pages = (
        (HERONS, "html", None, "herons"),
        (SUPPLIED, "markdown", None, None),
        (DOCS, "markdown", f'"{"0a" * 16}"', "a"),
        (FILE, "markdown", f'"{"0b" * 16}"', "a"),
    )
    with closing(sqlite3.connect(path)) as database:
        for step in load_migrations("sqlite")[:7]:
            database.executescript(step.script)
            database.execute(
                statements["note_migration"], {"version": step.version, "name": step.name}
            )
        for number, (url, kind, etag, anchor) in enumerate(pages, start=1):
            database.execute(
                "INSERT INTO page VALUES (?, 'default', ?, ?, 'Birds', ?, 'en', 'general',"
                " 'hash', 0, 0, '2026-03-14T15:09:26.000000+00:00', ?, NULL, NULL, NULL, NULL)",
                (number, url, url, kind, etag),
            )
            database.execute(_ADD_SECTION, (number, 0, None, 1, "A", anchor, 0, 4))
        database.execute("INSERT INTO page_tag VALUES (3, 'docs')")
        for number, url in ((1, HERONS), (2, SUPPLIED)):
            database.execute(
                "INSERT INTO website (source_id, project, url, kind, content_type, status,"
                " created_at, updated_at)"
                " VALUES (?, 'default', ?, 'page', 'general', 'completed', '2026', '2026')",
                (number, url),
            )
        database.commit()


async def test_pages_of_before_are_marked_by_where_their_text_must_have_come_from(
    tmp_path: Path,
) -> None:
    make_version_7(tmp_path / "old.db")
    store = await open_store(f"sqlite://{tmp_path}/old.db")

    listed = await store.list_pages(ALL, limit=9)

    assert [(page.url, page.origin) for page in listed] == [
        (HERONS, "fetched"),
        (SUPPLIED, "supplied"),
        (DOCS, "file"),
        (FILE, "file"),
    ]
    await store.aclose()


async def test_pages_of_packages_get_their_release(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_first_version(path)
    urls = ("pypi:herons@1.2.0/herons", "npm:@birds/egret@2.0.1/index.d.ts")
    with closing(sqlite3.connect(path)) as database:
        for number, url in enumerate(urls, start=1):
            database.execute("UPDATE page SET url = ? WHERE source_id = ?", (url, number))
        database.commit()

    store = await open_store(f"sqlite://{path}")

    listed = await store.releases.list_releases("default")
    assert [each.release.key for each in listed] == ["npm:@birds/egret@2.0.1", "pypi:herons@1.2.0"]
    await store.put_page(draft("npm:@birds/egret@3.0.0/index.d.ts", "Egrets."))
    newer = await store.find_page("npm:@birds/egret@3.0.0/index.d.ts", project="default")
    assert newer is not None
    [sibling] = await store.releases.siblings_of_page(newer.source_id)
    assert sibling.url == "npm:@birds/egret@2.0.1/index.d.ts"
    await store.aclose()


async def test_kept_responses_without_a_type_get_that_of_their_page(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    statements = load_statements("sqlite")
    with closing(sqlite3.connect(path)) as database:
        for step in load_migrations("sqlite")[:25]:
            database.executescript(step.script)
            database.execute(
                statements["note_migration"], {"version": step.version, "name": step.name}
            )
        for number, (kind, sent) in enumerate((("markdown", ""), ("html", "text/html; a=b")), 1):
            database.execute(
                "INSERT INTO page (source_id, project, url, final_url, title, kind, language,"
                " content_type, text_hash, chunks, tokens, fetched_at, origin) VALUES (?, 'default',"
                " ?, ?, 'Birds', ?, 'en', 'general', 'hash', 0, 0, '2026-03-14', 'file')",
                (number, f"pypi:herons@1.0/{number}", f"pypi:herons@1.0/{number}", kind),
            )
            database.execute(
                "INSERT INTO page_response (source_id, status, fetched_at, final_url, content_type,"
                " headers, body, bytes) VALUES (?, 200, '2026-03-14', '', ?, '[]', x'', 0)",
                (number, sent),
            )
        database.commit()

    await (await open_store(f"sqlite://{path}")).aclose()

    with closing(sqlite3.connect(path)) as database:
        types = database.execute("SELECT content_type FROM page_response ORDER BY source_id")
        assert [row[0] for row in types] == ["text/markdown", "text/html; a=b"]
