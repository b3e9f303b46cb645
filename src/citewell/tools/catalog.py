"""All tools, and the registry of those that a server lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.tools.connector import fetch
from citewell.tools.data import (
    create_chunks,
    create_source,
    delete_source,
    list_sources,
    query_chunks,
    read_chunks,
    read_source,
    update_status,
)
from citewell.tools.docs import get_doc_page, list_doc_pages, search_docs
from citewell.tools.evidence import check_citations, check_draft, make_receipt
from citewell.tools.graph import describe, paths, related
from citewell.tools.kb import (
    expand_excerpt,
    extract_evidence,
    read_excerpt,
    retrieve_evidence,
    verify_quote,
)
from citewell.tools.kb import search as kb_search
from citewell.tools.legacy import (
    expand_neighbors,
    get_section_text,
    search_documentation,
    search_sections,
)
from citewell.tools.limits import limited_registry
from citewell.tools.people import ask_user, get_user_request
from citewell.tools.people.late_answers import LATE_ANSWERS
from citewell.tools.research import answer, ingest, search, status
from citewell.tools.toolsets import find_unavailable, list_tools
from citewell.tools.versions import compare_versions
from citewell.tools.web import extract_key_info
from citewell.tools.web import fetch as web_fetch
from citewell.tools.web import search as web_search
from citewell.tools.websites import delete as delete_website
from citewell.tools.websites import list_websites
from citewell.tools.websites import process as process_website
from citewell.tools.websites import query as query_websites
from citewell.tools.websites import refresh as refresh_website
from citewell.tools.websites import status as website_status

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.tools.registry import Registry
    from citewell.tools.tool import Tool

ALL_TOOLS: tuple[Tool[Any, Any], ...] = (
    answer.TOOL,
    search.TOOL,
    status.TOOL,
    ingest.TOOL,
    retrieve_evidence.TOOL,
    kb_search.TOOL,
    read_excerpt.TOOL,
    expand_excerpt.TOOL,
    extract_evidence.TOOL,
    verify_quote.TOOL,
    check_citations.TOOL,
    check_draft.TOOL,
    make_receipt.TOOL,
    describe.TOOL,
    related.EXPAND,
    paths.TOOL,
    related.PARENTS,
    related.CHILDREN,
    related.ENTITIES_FOR_SECTIONS,
    related.SECTIONS_FOR_ENTITIES,
    process_website.TOOL,
    query_websites.TOOL,
    list_websites.TOOL,
    refresh_website.TOOL,
    delete_website.TOOL,
    website_status.TOOL,
    web_search.TOOL,
    web_fetch.TOOL,
    extract_key_info.TOOL,
    ask_user.TOOL,
    get_user_request.TOOL,
    search_docs.TOOL,
    get_doc_page.TOOL,
    list_doc_pages.TOOL,
    fetch.TOOL,
    search_sections.TOOL,
    get_section_text.TOOL,
    expand_neighbors.TOOL,
    search_documentation.TOOL,
    create_source.TOOL,
    create_chunks.TOOL,
    update_status.TOOL,
    delete_source.TOOL,
    read_source.TOOL,
    read_chunks.TOOL,
    list_sources.TOOL,
    query_chunks.TOOL,
    compare_versions.TOOL,
)


def open_registry(settings: Settings) -> Registry:
    """Return the registry of the tools that `settings` select and that can work.

    If users can be asked, their late answers are added to later results.
    """
    listed = list_tools(ALL_TOOLS, settings)
    return limited_registry(
        listed,
        settings,
        unavailable=find_unavailable(ALL_TOOLS, settings),
        after_call=LATE_ANSWERS if ask_user.TOOL in listed else None,
    )
