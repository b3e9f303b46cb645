"""The records that pass between layers, in the words of ARCHITECTURE.md ("Vocabulary").

All offsets count characters (code points), `start` inclusive, `end` exclusive.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen
from citewell.core.releases import NO_RELEASE, Release

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.graph import EntityMention
    from citewell.core.storage import PageResponse

PageKind = Literal["html", "markdown", "rst", "asciidoc", "text", "pdf", "json", "xml"]
"""What a page was before it became canonical Markdown."""

Language = Literal["en", "ja", "mixed", "zh", "ko", "other"]

Intent = Literal["factual", "comparison", "how_to", "exploratory"]

MatchedBy = Literal["words", "vectors", "both", "locality"]

PageOrigin = Literal["fetched", "supplied", "file"]
"""Where the text of a page came from: its site, a caller who passed it in, or the operator's files.

Supplied text is no evidence of what the site says, so it never replaces a page of another origin.
"""

LinkKind = Literal["content", "contents", "navigation"]
"""Whether a link is part of the prose, of a table of contents, or of the site's navigation."""


@frozen
class FetchedPage:
    """What a site sent for one URL, after redirects and decompression."""

    url: str
    final_url: str
    status: int
    kind: PageKind
    body: bytes  # empty when `not_modified`
    text: str = ""
    """`body` decoded as a browser would; empty for PDF."""
    encoding: str = "utf-8"
    fetched_at: datetime
    etag: str | None = None
    last_modified: str | None = None
    not_modified: bool = False
    redirects: tuple[str, ...] = ()
    rendered: bool = False
    """`text` is what a browser showed after the page's scripts had run."""
    incomplete: str = ""
    """Why some of the page's text may be missing, as when its scripts took too long."""
    robots_tag: str = ""
    """The X-Robots-Tag header: whether the page may be indexed and its links followed."""
    origin: PageOrigin = "fetched"
    supplied_by: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@frozen
class Section:
    """One heading and its own text, up to the next heading of any level.

    The sections of a page lie end to end and cover its text. The first may have level 0 and no
    heading: what stands before the first heading.
    """

    ordinal: int
    parent: int | None
    level: int
    heading: str
    anchor: str | None
    start: int
    end: int


@frozen
class Link:
    """A link of the page; `url` is absolute and has no fragment.

    One that stood in a list of links which is no main content lies at the end of the text.
    """

    url: str
    text: str
    context: str
    """The words around it, anchor text included."""
    section: int
    start: int
    kind: LinkKind = "content"


@frozen
class Image:
    """An image of the page's main content; `url` is absolute."""

    url: str
    alt: str
    caption: str
    section: int
    start: int


@frozen
class ExtractedPage:
    """The main content of a page as canonical Markdown, with its structure."""

    title: str
    text: str
    kind: PageKind
    language: Language
    sections: tuple[Section, ...]
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    canonical_url: str | None = None
    description: str = ""
    published_at: str | None = None
    modified_at: str | None = None
    author: str = ""
    structured_data: str = "[]"
    """The page's schema.org objects, of JSON-LD and microdata, as a JSON list."""
    screen: bytes = b""
    """The words of an HTML page as a browser shows them, packed by `core.screen`."""
    window_title: str = ""
    """What a browser shows over an HTML page, the site's name included."""

    def heading_path(self, section: int) -> tuple[str, ...]:
        """Return the headings from the outermost down to `section`."""
        path: list[str] = []
        current: int | None = section
        while current is not None:
            ancestor = self.sections[current]
            if ancestor.heading:
                path.append(ancestor.heading)
            current = ancestor.parent
        return tuple(reversed(path))


@frozen
class Chunk:
    """A searchable span of a page before it is stored: `page.text[start:end] == text`."""

    ordinal: int
    section: int
    start: int
    end: int
    text: str
    tokens: int
    heading_path: tuple[str, ...]
    anchor: str | None
    embedded_text: str
    """"title › heading path" and the chunk's words: what the embedder sees."""
    has_code: bool = False


@frozen
class PageDraft:
    """A page and all it implies, ready to be written in one transaction."""

    url: str
    fetched: FetchedPage
    extracted: ExtractedPage
    chunks: tuple[Chunk, ...]
    project: str = "default"
    tags: tuple[str, ...] = ()
    content_type: str = "general"
    entities: tuple[EntityMention, ...] = ()
    source_id: int | None = None
    """The id it had in another store; kept if it is new here and the id is free."""
    extractor: int = 0
    """Version of the extractor that made the text; 0 when it is unknown."""
    response: PageResponse | None = None
    """Stored with the page; None drops the response of the text that is replaced."""


@frozen
class PageInfo:
    """A stored page without its text."""

    source_id: int
    url: str
    final_url: str
    title: str
    kind: PageKind
    language: Language
    content_type: str
    project: str
    tags: tuple[str, ...]
    text_hash: str
    chunks: int
    tokens: int
    embedded_chunks: int  # how many have a vector of the current model
    fetched_at: datetime
    """When supplied text was stored, for a page of that origin."""
    etag: str | None
    last_modified: str | None
    published_at: str | None
    modified_at: str | None
    origin: PageOrigin = "fetched"
    supplied_by: str = ""
    """Who passed the text in; empty for a page of another origin, or where nobody noted it."""
    incomplete: str = ""  # as of the response it was made from
    extractor: int = 0
    text_bytes: int = 0  # of its canonical text in UTF-8
    release: Release = NO_RELEASE.release  # what it documents


@frozen
class Page:
    """A stored page with its canonical text and structure."""

    info: PageInfo
    text: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    images: tuple[Image, ...]
    canonical_url: str | None
    description: str
    structured_data: str
    screen: bytes = b""


@frozen
class PageText:
    """A stored page as it is quoted from: a page may have a thousand links, which take longest."""

    info: PageInfo
    text: str
    images: tuple[Image, ...]
    screen: bytes = b""
    """The page as a browser shows it, packed by `core.screen`; empty where that is not known."""


@frozen
class StoredChunk:
    """A chunk as it comes back from the store, with what is needed to show and cite it."""

    chunk_id: int
    source_id: int
    url: str
    title: str
    page_hash: str
    fetched_at: datetime
    language: Language
    kind: PageKind
    content_type: str
    ordinal: int
    section: int
    heading_path: tuple[str, ...]
    anchor: str | None
    start: int
    end: int
    text: str
    tokens: int
    has_code: bool
    tags: tuple[str, ...] = ()
    """Those of its page."""
    origin: PageOrigin = "fetched"
    release: Release = NO_RELEASE.release
    words: str | None = None
    """The search words of its text, joined by spaces, where the store keeps them."""


@frozen
class Hit:
    """A chunk id with a score; scores compare only within one call."""

    chunk_id: int
    score: float


@frozen
class SearchFilter:
    """Which pages a search may see; an empty field does not restrict."""

    project: str | None = None
    tags: tuple[str, ...] = ()
    """A page must carry every one of these."""
    source_ids: tuple[int, ...] | None = None
    """An empty tuple allows nothing; None allows all."""
    content_type: str | None = None
    url_prefix: str | None = None
    updated_after: datetime | None = None
    version: str | None = None
    """The versions asked for (`4.2`, `>=4,<5`, `latest`); the project's own when None."""
    releases: tuple[str, ...] | None = None
    """Keys of the releases that pages may document; None allows all."""
    superseding: tuple[str, ...] = ()
    """Keys of releases whose pages hide the same pages of other versions."""


@frozen
class RankedChunk:
    """A chunk after fusion and reranking."""

    chunk: StoredChunk
    relevance: float
    """0 to 1; orders the results."""
    confidence: float | None
    """Calibrated probability that the chunk answers the query; None without a reranker."""
    matched_by: MatchedBy
    sub_query: str
    word_score: float = 0.0
    """BM25; 0 where words did not find it."""
    vector_score: float | None = None
    """Cosine to the query; None where it is not known."""
    fused_score: float = 0.0
    defines_at: int | None = None  # where the symbol that the query is about is defined


@frozen
class Block:
    """What is shown to the model: neighbouring chunks of one section, as one slice of the page."""

    source_id: int
    url: str
    title: str
    page_hash: str
    fetched_at: datetime
    heading_path: tuple[str, ...]
    anchor: str | None
    section: int
    start: int
    end: int
    text: str
    tokens: int
    relevance: float
    confidence: float | None
    matched_by: MatchedBy
    sub_query: str
    images: tuple[Image, ...] = ()
    origin: PageOrigin = "fetched"
    is_cut: bool = False  # whether it was shortened to fit the response
    release: Release = NO_RELEASE.release


@frozen
class Quote:
    """A verbatim span of a page: the page's text at [start:end] is `text`."""

    citation_id: str
    text: str
    source_id: int
    url: str
    title: str
    heading_path: tuple[str, ...]
    anchor: str | None
    start: int
    end: int
    page_hash: str
    fetched_at: datetime
    confidence: float | None
    """The probability that it answers; the same in every tool."""
    relevance: float = 0.0
    """0 to 1; orders the quotes of a result."""
    sub_query: str = ""  # the part of the question that it is for
    is_cut: bool = False
    """Whether it stops inside a sentence or a program, for its length."""
    is_cut_before: bool = False  # begins inside a sentence or a row
    origin: PageOrigin = "fetched"
    link: str = ""  # opens the page at the quote
    columns: str = ""
    """The names of the columns, where it is rows of a table without the header."""
    release: Release = NO_RELEASE.release
    key: tuple[int, int] | None = None  # the span of its sentence that most probably answers …
    key_confidence: float = 0.0  # … and the probability that it does


@frozen
class Caller:
    """Who is calling; on stdio all fields but `session` are empty."""

    session: str
    user: str | None = None
    agent: str | None = None
    key_hash: str | None = None
    is_local: bool = True
    project: str = "default"
    scopes: frozenset[str] = field(default_factory=lambda: frozenset({"read", "write", "admin"}))
    key_hint: str | None = None  # the last four characters of the token
    toolsets: frozenset[str] | None = None  # None means all that the server lists
    monthly_units: int | None = None  # most units a month; None means without limit
    key_project: str | None = None  # the one project of the key; None means not limited to one
    key_expires_at: datetime | None = None  # when the key ends; None means never
    pays_by_service: bool = False  # the billing service knows the token and is charged
    share: str | None = None  # whose share of the server it takes; None means the session's
    token: str | None = field(default=None, repr=False, compare=False)
    """For services that are paid with the caller's own key; kept and logged nowhere."""

    @property
    def owner(self) -> str:
        """Whom questions, directives and materials belong to: the key, or this machine's user."""
        return self.key_hash or ("local" if self.is_local else "anonymous")
