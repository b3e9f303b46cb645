"""Every error raised on purpose.

CitewellError
├── InvalidArgument            an argument of the call is wrong
│   ├── NotAUrl
│   └── SuppliedTextRefused
├── SettingsError              a setting is wrong; the program does not start
├── FetchError                 the URL could not be fetched
│   ├── AddressRefused
│   ├── HostUnreachable
│   ├── FetchTimeout
│   ├── HttpStatusError
│   ├── PageNotFound
│   ├── TooManyRedirects
│   ├── RobotsDisallowed
│   ├── PageTooLarge
│   ├── UnsupportedContent
│   ├── EmptyPage
│   ├── PageNeedsLogin
│   ├── PageNeedsConsent
│   ├── RenderFailed
│   └── RenderingUnavailable
├── ExtractionError            the page was fetched but could not be read or chunked
├── InferenceError             a model could not be loaded or did not answer
├── StoreError                 the database could not be opened, read or written
│   └── StoreBusy
├── WebSearchFailed            no search engine answered
│   └── WebSearchQuotaUsed
├── NotConfigured              a tool lacks a setting that it needs
├── AccessRefused              the bearer token is not valid
│   ├── TokenMissing
│   └── GrantTooNarrow
├── IssuerDown                 the OAuth authorization server could not be asked
├── BillingRefused             the billing service does not pay for the call
│   └── BillingDown
├── ArchiveRefused             a file of a library cannot be read or written
├── CopyIncomplete             a copied library is not the same as its source
├── NotFound                   a page, passage or tool that does not exist
├── ScopeViolation             the caller may not see that
├── ToolTimeout                a tool ran out of its time
│   └── AnswerTimeout
├── QuestionClosed             a question to the user that can no longer be answered
├── ServerStopping             a call that waits for a person when the server stops
├── BudgetExceeded             a request or an answer is larger than allowed
├── RateLimited
└── Overloaded                 the server works on as many calls as it can
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from citewell.core.error_codes import ErrorCode

Detail = str | int | float | bool | None
MAX_MESSAGE_CHARACTERS, MAX_SUGGESTION_CHARACTERS = 1_000, 2_000


class CitewellError(Exception):
    """An error that is reported to the caller.

    `message` is safe to show: no paths, SQL, keys or long input. `suggestion` says what to try.
    """

    code: ClassVar[ErrorCode] = "INTERNAL_ERROR"
    type: ClassVar[str] = "CitewellError"
    suggestion: str = "Try again; if it happens again, report it with the server's log."

    def __init__(self, message: str, *, suggestion: str | None = None, **details: Detail) -> None:
        self.message = message[:MAX_MESSAGE_CHARACTERS]
        super().__init__(self.message)
        self.details = details
        if suggestion is not None:
            self.suggestion = suggestion[:MAX_SUGGESTION_CHARACTERS]

    def as_json(self) -> dict[str, Any]:
        """Return the error as every transport and the shell show it."""
        return {
            "code": self.code,
            "type": self.type,
            "message": self.message,
            "details": self.details,
            "suggestion": self.suggestion,
        }


class InvalidArgument(CitewellError):
    """An argument is missing, of the wrong type or out of range."""

    code = "INVALID_ARGUMENT"
    type = "DataValidationError"
    suggestion = "Correct the named argument and call again."


class NotAUrl(InvalidArgument):
    """The text is not an http or https URL."""

    suggestion = "Please provide a valid HTTP/HTTPS URL"


class SuppliedTextRefused(InvalidArgument):
    """Supplied text would replace a page that was fetched from its site or read from a file."""

    suggestion = "Store the text under another URL, or delete the page first."


class SettingsError(CitewellError):
    """A setting has a value that cannot be used."""

    code = "INVALID_ARGUMENT"
    type = "SettingsError"
    suggestion = "Correct the setting and start again."


class FetchError(CitewellError):
    """The page could not be fetched."""

    code: ClassVar[ErrorCode] = "BACKEND_UNAVAILABLE"
    type = "URLFetchError"
    suggestion = "Check that the URL opens in a browser, then try again."


class AddressRefused(FetchError):
    """The address is private, or its scheme or port is not allowed."""

    code = "INVALID_ARGUMENT"
    suggestion = (
        "Only public http and https addresses are fetched. "
        "To allow a private host, name it in CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS."
    )


class HostUnreachable(FetchError):
    """The host has no address, or refuses or breaks the connection."""

    suggestion = "Check the host name. Else the site may be down, or this machine offline."


class FetchTimeout(FetchError):
    """The site did not answer in time."""

    code = "TIMEOUT"
    suggestion = "Try again later, or raise CITEWELL_WEB_TIMEOUT_SECONDS."


class HttpStatusError(FetchError):
    """The site answered with an error status; see `details["status"]`."""

    suggestion = "The site refused the request or has a fault; try later or use another page."


class PageNotFound(FetchError):
    """The site says that there is no such page (404 or 410)."""

    code = "NOT_FOUND"
    suggestion = "Check the URL; the page may have moved."


class TooManyRedirects(FetchError):
    """The redirects do not end."""

    suggestion = "Open the URL in a browser and use the address it ends at."


class RobotsDisallowed(FetchError):
    """The site's robots.txt does not allow this page to be fetched."""

    code = "SCOPE_VIOLATION"
    suggestion = "Use another page; for your own site, set CITEWELL_WEB_RESPECT_ROBOTS=false."


class PageTooLarge(FetchError):
    """The page is larger than the limit, counted after decompression."""

    code = "BUDGET_EXCEEDED"
    suggestion = "Use a smaller page, or raise CITEWELL_WEB_MAX_PAGE_BYTES."


class UnsupportedContent(FetchError):
    """The content is of a type that holds no text we can read."""

    code = "INVALID_ARGUMENT"
    suggestion = "HTML, Markdown, reStructuredText, AsciiDoc, text, JSON, XML and PDF can be read."


class EmptyPage(FetchError):
    """The page was fetched but holds no readable text."""

    code = "NOT_FOUND"
    suggestion = "The page may need JavaScript or a login; try another page of the site."


class PageNeedsLogin(FetchError):
    """The page shows its content only to those who have signed in."""

    code = "SCOPE_VIOLATION"
    suggestion = "Citewell cannot sign in; use a public page, or paste the text you can see."


class PageNeedsConsent(FetchError):
    """The page shows its content only after a click on its consent dialog."""

    code = "SCOPE_VIOLATION"
    suggestion = "Citewell does not click; use another source, or paste the text you can see."


class RenderFailed(FetchError):
    """The browser does not start, or broke while it showed the page."""

    suggestion = "Try again, or call with render=never to read the page without a browser."


class RenderingUnavailable(FetchError):
    """The page needs a browser, and there is none."""

    suggestion = "Install Chromium and the extra render, as docs/install.md says."


class ExtractionError(CitewellError):
    """The page's content could not be read or cut into chunks."""

    code = "INVALID_ARGUMENT"
    type = "ChunkingError"
    suggestion = "The page may be damaged; try another form of it."


class InferenceError(CitewellError):
    """A model could not be loaded, or a model endpoint gave no valid answer."""

    code = "BACKEND_UNAVAILABLE"
    type = "EmbeddingError"
    suggestion = "Check the model settings; search by words still works."


class StoreError(CitewellError):
    """The database could not be opened, read or written."""

    code = "BACKEND_UNAVAILABLE"
    type = "DatabaseError"
    suggestion = "Check CITEWELL_DATABASE_URL, free disk space and permissions."


class StoreBusy(StoreError):
    """Another process held the database too long."""

    suggestion = "Try again in a moment."


class WebSearchFailed(CitewellError):
    """A web search engine could not be reached, refused, or answered in another form."""

    code: ClassVar[ErrorCode] = "BACKEND_UNAVAILABLE"
    type = "WebSearchError"
    suggestion = "Try again later, or add another engine to CITEWELL_WEB_SEARCH_ENGINES."


class WebSearchQuotaUsed(WebSearchFailed):
    """A web search engine answers no more for now."""

    code = "RATE_LIMITED"
    suggestion = "Wait until the engine's quota is renewed, or add another engine."


class NotConfigured(CitewellError):
    """The tool exists, but a setting that it needs is missing; the message names it."""

    code = "BACKEND_UNAVAILABLE"
    type = "NotConfigured"
    suggestion = "Ask whoever runs the server to fill in the named setting."


class AccessRefused(CitewellError):
    """The caller sent no bearer token, or one that is not valid."""

    code = "SCOPE_VIOLATION"
    type = "AccessRefused"
    suggestion = (
        "Send `Authorization: Bearer KEY`. Whoever runs the server makes a key with "
        "`citewell keys create NAME`."
    )


class TokenMissing(AccessRefused):
    """The caller sent no bearer token at all."""


class GrantTooNarrow(AccessRefused):
    """The caller's OAuth token is valid but lacks a scope that the server requires."""

    suggestion = "Sign in again and grant the scopes that the server asks for."


class IssuerDown(CitewellError):
    """The OAuth authorization server could not be asked."""

    code = "BACKEND_UNAVAILABLE"
    type = "IssuerDown"
    suggestion = "Try again later; the server's operator can check CITEWELL_OAUTH_ISSUER."


class BillingRefused(CitewellError):
    """The billing service refused the cost of a call."""

    code: ClassVar[ErrorCode] = "BUDGET_EXCEEDED"
    type = "BillingRefused"
    suggestion = "Check the quota of the key at the billing service."


class BillingDown(BillingRefused):
    """The billing service could not be asked."""

    code = "BACKEND_UNAVAILABLE"
    suggestion = "Try again later; CITEWELL_BILLING_WHEN_DOWN says what the server does meanwhile."


class ArchiveRefused(CitewellError):
    """A file of a library is damaged, of a newer version, or cannot be written."""

    code = "INVALID_ARGUMENT"
    type = "ArchiveError"
    suggestion = "Export the library again."


class CopyIncomplete(CitewellError):
    """A library was copied to another database, and is not the same there."""

    code = "BACKEND_UNAVAILABLE"
    type = "CopyError"
    suggestion = "Run the copy again; nothing else may write to either database meanwhile."


class NotFound(CitewellError):
    """There is no such page, passage, job or tool."""

    code = "NOT_FOUND"
    type = "NotFoundError"
    suggestion = "Call status to see what is indexed."


class ScopeViolation(CitewellError):
    """The caller may not see or do this."""

    code = "SCOPE_VIOLATION"
    type = "ScopeViolation"
    suggestion = "Leave the scope out to use the server's own."


class ToolTimeout(CitewellError):
    """A tool did not finish within its time."""

    code = "TIMEOUT"
    type = "TimeoutError"
    suggestion = "Retry with expansion_budget=0 to skip expansion, or try a more specific URL."


class AnswerTimeout(ToolTimeout):
    """The user did not answer a question in time."""

    suggestion = "Go on without it: an answer that comes later is delivered with your next call."


class QuestionClosed(CitewellError):
    """The question has an answer already, or the user does not want to give one."""

    code = "INVALID_ARGUMENT"
    type = "QuestionClosed"
    suggestion = "Go on without the answer, or ask another question."


class ServerStopping(CitewellError):
    """The server stops while a call waits for a person; the question stays open."""

    code = "BACKEND_UNAVAILABLE"
    type = "ServerStopping"
    suggestion = "Call again with the same question: it is still open and keeps its answer."


class BudgetExceeded(CitewellError):
    """A request or an answer is larger than the limit."""

    code = "BUDGET_EXCEEDED"
    type = "BudgetExceeded"
    suggestion = "Ask for less: fewer results or shorter text."


class RateLimited(CitewellError):
    """Too many calls in the window; `details["retry_after"]` says how many seconds to wait."""

    code = "RATE_LIMITED"
    type = "RateLimited"
    suggestion = "Wait the stated seconds, then call again."


class Overloaded(CitewellError):
    """The server works on as many calls as it can; `details["retry_after"]` are seconds."""

    code = "OVERLOADED"
    type = "Overloaded"
    suggestion = "Wait the stated seconds, then call again."
