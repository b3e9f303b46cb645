"""The records of the library: websites that somebody keeps, their crawls and what changed in them.

website   an entry of the library: one page, or a whole site with its pages
member    a page that belongs to a website; a page may belong to several
crawl     one run through a site: its frontier (URLs to read) and what became of each
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.records import Language, PageInfo, PageOrigin

WebsiteKind = Literal["page", "site"]

TypedContent = Literal["job_posting", "blog_article", "company_page"]
"""The content types whose pages have fields."""

ContentType = Literal[TypedContent, "general"]

WebsiteStatus = Literal["pending", "processing", "completed", "failed", "stopped"]
"""`stopped`: a person cancelled the work; what was read is kept, and the work can go on."""

WebsiteOrder = Literal["fetch_timestamp", "url", "status"]

PageOrder = Literal["title", "url", "fetched", "size"]

Discovery = Literal["auto", "llms_txt", "inventory", "sitemap", "links"]
"""Where the URLs of a site come from; `auto` takes the first of the others that gives any."""

CrawlScope = Literal["path", "host", "domain"]
"""Which URLs belong to a site: below the folder of its URL, on its host, or on its domain."""

CrawlState = Literal["waiting", "read", "duplicate", "alias", "left_out", "gone", "failed"]
"""What became of a URL of a crawl.

waiting    not tried yet
read       stored, and a member of the site
duplicate  its text is that of another page of the site
alias      it names another URL as its canonical one, which is read instead
left_out   it asks not to be indexed, is of another language, or robots.txt forbids it
gone       the site says that there is no such page
failed     it could not be read
"""

FieldValue = str | int | float | bool | None | list["FieldValue"] | dict[str, "FieldValue"]
Fields = Mapping[str, FieldValue]
"""What a content type found in a page; a JSON object."""


@frozen
class CrawlOptions:
    """How to go through a site."""

    discovery: Discovery = "auto"
    scope: CrawlScope = "path"
    max_depth: int = 5
    """How many links away from the site's URL; counts only where links are followed."""
    max_pages: int = 500
    include: tuple[str, ...] = ()
    """Glob patterns (`*` within a segment, `**` across) over path and query; one must match."""
    exclude: tuple[str, ...] = ()
    """Glob patterns over path and query; none may match."""
    language: Language | None = None
    """Only pages in this language; pages of mixed languages pass."""


@frozen
class WebsiteDraft:
    """An entry to add; `url` is canonical."""

    url: str
    project: str = "default"
    kind: WebsiteKind = "page"
    content_type: ContentType = "general"
    tags: tuple[str, ...] = ()
    """Tags that its pages get."""
    options: CrawlOptions = field(default_factory=CrawlOptions)
    refresh_seconds: float | None = None
    """How often to refresh it by itself; None for never."""
    source_id: int | None = None
    """The id it had in another store; kept if it is new here and the id is free."""


@frozen
class Website:
    """An entry of the library, or a stored page seen as one."""

    source_id: int
    """Of the number space of pages: where the URL itself is a page, that page has this id."""
    url: str
    project: str
    kind: WebsiteKind
    content_type: str
    status: WebsiteStatus
    error_message: str | None
    """Why it failed, or what is missing of it although it is completed."""
    title: str
    language: Language | None
    """None until a page was read."""
    pages: int
    chunks: int
    text_bytes: int
    """Both of all its pages."""
    fetched_at: datetime | None
    """When its page was fetched last, or its site gone through."""
    fields: Fields
    """What its content type found in its own page; empty for a site without one."""
    tags: tuple[str, ...]
    options: CrawlOptions
    refresh_seconds: float | None
    refresh_due_at: datetime | None
    created_at: datetime
    updated_at: datetime
    last_change: ChangeReport | None
    """What the last refresh found."""
    is_entry: bool = True
    """False for a page that is stored but that nobody added to the library."""
    origin: PageOrigin = "fetched"
    """Of its own page; a site without one counts as fetched."""
    supplied_by: str = ""
    """Who supplied the text of its own page."""


@frozen
class WebsiteQuery:
    """Which entries to list, in which order; those without a time come last either way."""

    project: str = "default"
    kind: WebsiteKind | None = None
    content_type: str | None = None
    status: WebsiteStatus | None = None
    matching: str | None = None
    """A part of the URL or the title, in any case."""
    is_grouped: bool = False
    """Whether to leave out single pages that are also part of a site."""
    order_by: WebsiteOrder = "fetch_timestamp"
    descending: bool = True
    limit: int = 50
    offset: int = 0


@frozen
class WebsiteList:
    """One screen of entries, and how many there are in all."""

    websites: tuple[Website, ...]
    total: int


@frozen
class PageQuery:
    """Which pages to show a person, in which order."""

    matching: str | None = None
    """A part of the URL or the title, in any case."""
    order_by: PageOrder = "title"
    descending: bool = False
    limit: int = 50
    offset: int = 0


@frozen
class PageList:
    """One screen of pages, and how many there are in all."""

    pages: tuple[PageInfo, ...]
    total: int


@frozen
class LooseFolder:
    """Pages that belong to no entry and share a folder: files, packages, pages of answers."""

    folder: str
    """Their URLs up to the last slash."""
    pages: int
    text_bytes: int
    fetched_at: datetime
    """When the newest was fetched."""
    first_id: int
    first_title: str
    """Of the only page, where there is one; else of any."""


@frozen
class Member:
    """A page of a website."""

    source_id: int
    url: str
    title: str
    language: Language
    chunks: int
    fetched_at: datetime
    fields: Fields
    origin: PageOrigin = "fetched"


@frozen
class RemovedWebsite:
    """What deleting an entry took with it; pages that other entries hold stay."""

    source_id: int
    url: str
    pages: int
    chunks: int


@frozen
class SectionChange:
    """One section that a refresh found added, removed or edited."""

    kind: Literal["added", "removed", "edited"]
    heading_path: tuple[str, ...]
    before: str = ""
    """The start of what it said; empty where it was added."""
    after: str = ""
    """The start of what it says; empty where it was removed."""


@frozen
class PageChange:
    """What a refresh found of one page."""

    url: str
    source_id: int
    kind: Literal["added", "removed", "changed", "failed"]
    sections: tuple[SectionChange, ...] = ()
    error: str | None = None
    """Why it could not be read; the stored page was kept."""


@frozen
class ChangeReport:
    """What a refresh found: counts of all pages, and details of the first that changed."""

    checked_at: datetime
    unchanged: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0
    failed: int = 0
    chunks_removed: int = 0
    chunks_added: int = 0
    pages: tuple[PageChange, ...] = ()


@frozen
class CrawlUrl:
    """A URL of a crawl's frontier."""

    url: str
    depth: int = 0
    modified_at: str | None = None
    """When the sitemap says that it changed last, as it says it."""
    ignore_canonical: bool = False
    """Read it even if it names another URL: that one could not be read."""


@frozen
class Crawl:
    """One run through a site, known by the job that runs it."""

    job_id: int
    discovery: Discovery
    """Where its URLs came from; never `auto`."""
    started_at: datetime


@frozen
class CrawlOutcome:
    """What became of one URL of a crawl."""

    url: str
    state: CrawlState
    source_id: int | None = None
    canonical_url: str | None = None
    """For an alias: what is read instead."""
    error: str | None = None
    change: PageChange | None = None
    """For a page that was added, changed, removed or kept although it failed."""
    chunks_removed: int = 0
    chunks_added: int = 0
    links: tuple[CrawlUrl, ...] = ()
    """URLs to add to the frontier."""
