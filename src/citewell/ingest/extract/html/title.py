"""The title of a page: the window's, the heading that it repeats, or the page's own name before it.

What the author wrote into the window's title is never lost unless it holds the title chosen. Where
a page alone says too little, the pages beside it decide (`ingest.site_titles`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import plain_text, visible_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.ingest.extract.canonical import CanonicalText
    from citewell.ingest.extract.html.metadata import Metadata

_DASHES = "|–—·•»:-"
_TITLE_SEPARATOR = re.compile(rf"(?<!\s)\s++(?:[{_DASHES}]\s++|[|»]\s*+)|[|»]\s*+")
_END_OF_TITLE = re.compile(r": |\s[|–—·•»:<>-]\s")
_LEAST_TITLE_CHARACTERS = 3
_UNTITLED = ("<no title>", "Untitled")
_FIRST_LINE_CHARACTERS = 80
_NO_TITLE = re.compile(
    r"\W*(?:name|synopsis|(?:table of )?contents|index|summary|abstract|note)\W*", re.IGNORECASE
)
# Without such a word, what follows a dash may be the page and what precedes it the site.
_SITE = re.compile(
    r"\b(?:docs?|documentation|manual|reference|guide|handbook|wiki)\b", re.IGNORECASE
)
# "Heron Server 10.1.60": a whole manual, whatever its pages are about.
_NAMES_RELEASE = re.compile(r"(?:[^\W\d][\w+.-]* ){1,3}v?\d{1,4}(?:\.\d{1,4}){1,3}[\w-]{0,9}")
_REST_OF_NAME = re.compile(r"(?:[._/:-]|::|->)?\w")
_BOLD_LINE = re.compile(r"\*\*([^*\n]{3,80})\*\*(?:\n\n|$)")
# The number of a chapter, before what it is about.
_CHAPTER = re.compile(
    r"(?:(?:chapter|section|part|appendix|lesson|kapitel|chapitre|cap[ií]tulo|capitolo|annexe"
    r"|anhang|глава|приложение|hoofdstuk|rozdział) [\dIVXA-Z]{1,4}|\d{1,3})(?:\.\d{1,3}){0,4}"
    r"(?:[.:)—–-]| )\s*(?=[^\W\d_])",
    re.IGNORECASE,
)
_OPENING_SECTIONS = 4
_MAX_NAME_LINE = 300
# "tep_register_comm, tep_override_comm - Manage pid to process name mappings": up to three names.
_MANUAL_NAMES = re.compile(
    r"([\w.:+~-]{3,60}(?:, ?[\w.:+~-]{3,60}){0,2})(?:, ?[\w.:+~-]{3,60})*+\s+[-–—]\s"
)
# Doxygen's lists by kind and letter have no heading, and one title.
_DOXYGEN_LIST = re.compile(r"(?:globals|functions|namespacemembers)_([\w~]{1,40})")


def choose_title(
    metadata: Metadata,
    canonical: CanonicalText,
    url: str,
    *,
    named: str,
    is_article: bool,
    is_site_title: bool,
    has_own_headings: bool = True,
) -> str:
    """Return the page's own name, followed by the window's title where that does not hold it.

    `named` is the line that the page calls its title, or "".
    """
    title = metadata.title if re.search(r"[^\W\d_]", metadata.title) else ""
    part = _part_of_list(canonical, title, url)
    if part and title:
        return f"{part} – {title}"
    own = named or _manual_name(canonical, title)
    if own:
        is_held = bool(_plain(own)) and _plain(own) in _plain(title)
        return own if is_held or not title else f"{own} – {title}"
    sections = canonical.sections if has_own_headings else ()
    all_headings = [section.heading for section in sections if section.heading]
    headings = [section.heading for section in sections if section.level == 1]
    first = next(iter(all_headings), "")
    if not is_article:
        is_site_title |= _is_title_of_site(title, all_headings, url)
        is_named = is_site_title and not (len(headings) > 1 and _opens_with_text(canonical))
        own = _heading_in_address(all_headings, title, url)
        own = own or (first if is_named else _name_beside(title, headings, all_headings, url))
        own = own or ("" if all_headings else _bold_opening(canonical.text))
    beside = _before_title(own, title)
    if beside:
        return beside
    repeated = _repeated_heading(title, metadata, headings, all_headings, is_article=is_article)
    return repeated or first or _first_line(canonical.text)


def _before_title(own: str, title: str) -> str:
    """Return a page's name and the title that does not hold it; "" where the title says as much."""
    if not own or not title:
        return ""
    is_release = _NAMES_RELEASE.fullmatch(title)
    if is_release and _plain(title) in _plain(own):
        return own
    if is_release or _says_whose_end(own, title) or not _shares_words(own, title):
        return f"{own} – {title}"
    return ""


def _heading_in_address(all_headings: Sequence[str], title: str, url: str) -> str:
    """Return the heading that is the page's name in its address, where the title lacks it."""
    name = _plain(_name_in_address(url))
    if not name or name in _plain(title):
        return ""
    return next((each for each in all_headings[:_OPENING_SECTIONS] if _plain(each) == name), "")


def _name_beside(title: str, headings: Sequence[str], all_headings: Sequence[str], url: str) -> str:
    """Return the heading that names a page whose title may be that of the site; "" for none."""
    first = next(iter(all_headings), "")
    if first == title or (len(headings) > 1 and repeats_title(headings[0], title)):
        # Over further headings, the title may be that of the site on every page.
        return _heading_of_address(all_headings, url)
    if headings and (_says_whose_end(headings[0], title) or _is_named_apart(headings, title)):
        return headings[0]
    if headings == [first] and _NAMES_RELEASE.fullmatch(title):
        return first
    return first if _is_chapter_of(first, title) else ""


def _is_chapter_of(heading: str, title: str) -> bool:
    """Return whether a heading numbers a chapter that the title, of the manual, does not name."""
    number = _CHAPTER.match(heading)
    return number is not None and _plain(heading[number.end() :]) not in _plain(title)


def _is_named_apart(headings: Sequence[str], title: str) -> bool:
    """Return whether a page's only heading says what its window, named as the site, does not."""
    if len(headings) != 1 or len(_END_OF_TITLE.split(title)) > 1:
        return False
    heading = headings[0]
    is_short = len(heading) <= _FIRST_LINE_CHARACTERS and len(heading.split()) > 1
    own, of_title = (set(re.findall(r"\w{3,}", text.lower())) for text in (heading, title))
    return is_short and bool(own) and own.isdisjoint(of_title) and not _NO_TITLE.fullmatch(heading)


def _says_whose_end(heading: str, title: str) -> bool:
    """Return whether a heading says whose the end of a title is: "Nest Member List"."""
    end, own = _END_OF_TITLE.split(title)[-1], _plain(heading)
    is_longer = own.endswith(_plain(end)) and own not in _plain(title)
    # A name alone is what "Module Nest" is about.
    return is_longer and len(end.split()) > 1 and end != title


def _opens_with_text(canonical: CanonicalText) -> bool:
    """Return whether a page says something before its first heading, which then names a part."""
    first = next((section for section in canonical.sections if section.heading), None)
    before = canonical.text[: first.start] if first is not None else ""
    return len(visible_text(before).strip()) >= _FIRST_LINE_CHARACTERS


def _bold_opening(text: str) -> str:
    """Return the bold line that a page without headings begins with, or ""."""
    line = _BOLD_LINE.match(text[: 2 * _FIRST_LINE_CHARACTERS])
    words = plain_text(line.group(1)).strip() if line is not None else ""
    return words if len(words.split()) > 1 and not _NO_TITLE.fullmatch(words) else ""


def _first_line(text: str) -> str:
    """Return the line that a page without title and heading begins with, if it is a short one."""
    line = plain_text(text[: 2 * _FIRST_LINE_CHARACTERS].partition("\n")[0])
    # Sphinx shows Markdown as it is written where nothing tells it what it is.
    line = line.removeprefix("# ")
    is_line = line[:1].isalnum() and len(line) <= _FIRST_LINE_CHARACTERS
    return line if is_line and line[-1] not in ".!?…:,;" else ""


def repeats_title(words: str, title: str) -> bool:
    """Return whether a line of a page is what its title begins with or consists of."""
    parts = [_plain(part) for part in _TITLE_SEPARATOR.split(title)]
    return _names(_plain(words), parts, _plain(title))


def _manual_name(canonical: CanonicalText, title: str) -> str:
    """Return what a manual page says it is about, where its title is that of a whole library."""
    opening = canonical.sections[:_OPENING_SECTIONS]
    name = next((section for section in opening if section.heading == "NAME"), None)
    if name is None:
        return ""
    body = visible_text(canonical.text[name.start : name.end]).partition("NAME")[2].lstrip()
    names = _MANUAL_NAMES.match(body[:_MAX_NAME_LINE])
    first = names.group(1).partition(",")[0].lower() if names is not None else ""
    return names.group(1) if names is not None and first not in title.lower() else ""


def _part_of_list(canonical: CanonicalText, title: str, url: str) -> str:
    """Return which part of a list a page of Doxygen is, by its address: "func d", "enum".

    So is the class whose listing a page of Javadoc is.
    """
    if title == "Source code" and not any(section.heading for section in canonical.sections):
        return _name_in_address(url)
    part = _DOXYGEN_LIST.fullmatch(_name_in_address(url))
    if part is None or any(section.level in (1, 2) for section in canonical.sections):
        return ""
    return part.group(1).replace("_", " ")


def _repeated_heading(
    title: str,
    metadata: Metadata,
    headings: list[str],
    all_headings: list[str],
    *,
    is_article: bool,
) -> str:
    """Return the heading that the window's title repeats, or that title.

    A heading that only repeats the end or the middle of the title names the site; so does one that
    only repeats its start where a later heading is the end.
    """
    if title.startswith(_UNTITLED):
        return next(iter(headings), "")
    if not title:
        return next(iter(headings or metadata.headings), "")
    parts = [_plain(part) for part in _TITLE_SEPARATOR.split(title)]
    whole = _plain(title)
    elsewhere = [h for h in metadata.headings if h in headings or not _begins_name(h, title)]
    candidates = [h for h in (*headings, *elsewhere) if len(h) >= _LEAST_TITLE_CHARACTERS]
    ranked = [
        (_plain(heading) != whole and _plain(heading) in parts[1:], place)
        for place, heading in enumerate(candidates)
        if _names(_plain(heading), parts, whole)
    ]
    if ranked:
        names_site, place = min(ranked)
        if not names_site:
            if _plain(candidates[place]) == whole and _signs(title) > _signs(candidates[place]):
                # A style sheet sets the signs between the parts of a name.
                return title
            own = candidates[ranked[0][1]]
            if own in headings and candidates[place] not in headings:
                # The title begins with the site's name, which stands over every page's content.
                return own
            # Outside the main content the end of a title is the site's name.
            own = candidates[place]
            further = all_headings[all_headings.index(own) + 1 :] if own in all_headings else []
            return _own_heading(own, further, parts) or _named_after(own, further, title) or own
    is_vague = len(title.split()) == 1 and "." not in title
    if len(headings) == 1 and not ranked and not is_article:
        own = headings[0]
        # "Index – C" under "Index — Fens".
        is_longer = bool(parts[0]) and _plain(own).startswith(parts[0])
        if is_vague or (is_longer and len(own) <= _FIRST_LINE_CHARACTERS):
            return own
    return _without_site_name(title, metadata.site_name, is_article=is_article)


def _begins_name(heading: str, title: str) -> bool:
    """Return whether a title begins with a longer name than a heading, as "heron.nest"."""
    rest = title[len(heading) :] if title.startswith(heading) else ""
    return bool(_REST_OF_NAME.match(rest))


def _own_heading(heading: str, further: Sequence[str], parts: list[str]) -> str | None:
    """Return the later heading that ends a title which begins with the name of the site."""
    if len(parts) < 2 or not "".join(parts[:-1]).startswith(_plain(heading)):
        return None
    return next((each for each in further if _plain(each) == parts[-1]), None)


def _named_after(heading: str, further: Sequence[str], title: str) -> str:
    """Return what names the page in "Documentation of the site: Page", or ""."""
    page = title[len(heading) :].strip()
    if not title.startswith(heading) or not page.startswith(":") or not _SITE.search(heading):
        return ""
    return next((each for each in further if _plain(each) == _plain(page)), title)


def _shares_words(line: str, title: str) -> bool:
    """Return whether most words of a line are in a title."""
    words = re.findall(r"\w+", line.lower())
    known = set(re.findall(r"\w+", title.lower()))
    return 2 * sum(word in known for word in words) > len(words)


def _is_title_of_site(title: str, headings: Sequence[str], url: str) -> bool:
    """Return whether a title has no word of the page's address, nor of its headings.

    A first heading with a word of the address names the page even if it repeats the site's name.
    """
    heading = next(iter(headings), "")
    if title[:1].isdecimal():
        # The number of a chapter.
        return False
    name = _long_words(_name_in_address(url))
    words, of_title = _long_words(heading), _long_words(title)
    if not name or not words or _NO_TITLE.fullmatch(heading):
        return False
    shared = name & of_title
    if shared and (shared & words or len(words & name) <= len(shared)):
        return False
    if words & name:
        return not _shares_words(heading, title)
    return not any(of_title & _long_words(each) for each in headings)


def _heading_of_address(headings: Sequence[str], url: str) -> str:
    """Return the heading that has the last word of the page's address, or ""."""
    words = re.findall(r"[^\W\d_]{3,}", _name_in_address(url).lower())
    if not words:
        return ""
    return next((each for each in headings if words[-1] in re.findall(r"\w+", each.lower())), "")


def _name_in_address(url: str) -> str:
    """Return the last part of a path, without the ending of a file."""
    path = re.sub(r"(?:/(?:index|default))?\.\w{2,5}$", "", url.partition("?")[0].partition("#")[0])
    return path.rstrip("/").rpartition("/")[2]


def _long_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{4,}", text.lower()))


def _names(heading: str, parts: list[str], whole: str) -> bool:
    """Return whether a title repeats the heading, not only a word of it."""
    if not heading or heading not in whole:
        return False
    return heading in parts or whole.startswith(heading) or 2 * len(heading) >= len(whole)


def _plain(words: str) -> str:
    return "".join(re.findall(r"\w+", words.lower()))


def _signs(words: str) -> int:
    return len(re.sub(r"[\w\s]", "", words))


def _without_site_name(title: str, site_name: str, *, is_article: bool) -> str:
    if site_name:
        name = re.escape(site_name)
        pattern = rf"[{_DASHES}]\s*+{name}$|^{name}\s*+[{_DASHES}]\s*+"
        stripped = re.sub(pattern, "", title).rstrip()
        if stripped and stripped != title:
            return stripped
    parts = _TITLE_SEPARATOR.split(title)
    if len(parts) == 1 or " > " in parts[-1]:
        # What follows is the way to the page.
        return title
    # The site's name is the short part at the end; a short part at the start may be the subject.
    kept = title[: title.rfind(parts[-1])].rstrip(f" {_DASHES}")
    if _SITE.search(parts[0]) and not _SITE.search(parts[-1]):
        # The site's name comes first.
        return title
    is_site = is_article or title[len(kept) :].strip()[0] in "|»" or _SITE.search(parts[-1])
    return kept if is_site and len(parts[-1].split()) <= 5 and len(kept) >= 4 else title
