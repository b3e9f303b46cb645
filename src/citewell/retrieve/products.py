"""Products that a question names: their pages are where to look, among all that is stored.

"What license is kitty released under" finds the licenses of every product by its words. Where the
candidates are of several products and the question names some of them, what stays is their pages,
and what others say that names them too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.frozen import frozen
from citewell.core.product_names import find_mentions, names_of_product
from citewell.core.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citewell.core.product_names import Mention
    from citewell.core.question import Query
    from citewell.core.records import SearchFilter, StoredChunk
    from citewell.retrieve.candidates import FoundChunk
    from citewell.store.protocol import Store

# Folders above a page that are looked up: a start page lies deeper only in odd places.
_FOLDERS = 3
_START_FILES = ("", "index.html", "index.htm")
# A word means the product if so much of what holds it best is the product's. Otherwise it is an
# ordinary word, or one that others speak of, and the question must write it as a name.
_OWN_SHARE = 0.8
_LOOKED_AT = 30
_MOST_PRODUCTS = 3


@frozen
class NamedProducts:
    """The products that a question names."""

    prefixes: tuple[str, ...]
    """What the addresses of their pages begin with."""
    names: tuple[tuple[str, ...], ...]
    """The names in search words."""

    def concerns(self, chunk: StoredChunk) -> bool:
        """Return whether a chunk is of one of the products, or names one."""
        if chunk.url.startswith(self.prefixes):
            return True
        held = set(words(" ".join((chunk.title, *chunk.heading_path))))
        held.update(words(chunk.text) if chunk.words is None else chunk.words.split())
        return any(held.issuperset(name) for name in self.names)

    def narrow(self, where: SearchFilter) -> list[SearchFilter]:
        """Return a filter for each product."""
        return [replace(where, url_prefix=prefix) for prefix in self.prefixes]


async def find_named_products(
    asked: Sequence[Query], found: Iterable[FoundChunk], *, store: Store, where: SearchFilter
) -> NamedProducts | None:
    """Return the products that the first of `asked` names, of those that the candidates are of.

    None where nothing needs to be chosen: the question names none, or all candidates are of those
    that it names. What a caller restricts to an address stays as it is.
    """
    is_restricted = where.url_prefix is not None or where.source_ids is not None
    if not asked or where.project is None or is_restricted:
        return None
    products = {each.chunk.url: each.chunk.release.name for each in found}
    titles = await store.page_titles(_start_urls(products), project=where.project)
    prefixes = {url: _prefix_of(url, titles) for url in products}
    named: dict[str, list[tuple[str, ...]]] = {}
    for prefix in sorted(set(prefixes.values())):
        said = {products[url] for url, own in prefixes.items() if own == prefix}
        names = names_of_product(prefix, _title(prefix, titles), products=sorted(said))
        for mention in find_mentions(asked[0].written, names):
            if await _means_product(mention, prefix, store=store, where=where):
                stems = tuple(words(" ".join(mention.name.words)))
                named.setdefault(prefix, []).append(stems)
    if not named or set(prefixes.values()) <= set(named) or len(named) > _MOST_PRODUCTS:
        return None
    return NamedProducts(
        prefixes=tuple(named),
        names=tuple(dict.fromkeys(name for names in named.values() for name in names)),
    )


async def _means_product(
    mention: Mention, prefix: str, *, store: Store, where: SearchFilter
) -> bool:
    """Return whether a question means the product by a word of its name."""
    if mention.name.is_whole and mention.is_proper:
        return True
    stems = words(" ".join(mention.name.words))
    hits = await store.search_words(stems, where=where, limit=_LOOKED_AT)
    chunks = await store.load_chunks([hit.chunk_id for hit in hits])
    own = sum(chunk.url.startswith(prefix) for chunk in chunks)
    return own >= _OWN_SHARE * max(len(chunks), 1)


def _start_urls(urls: Iterable[str]) -> list[str]:
    folders = dict.fromkeys(folder for url in urls for folder in _folders_above(url))
    return [folder + file for folder in folders for file in _START_FILES]


def _prefix_of(url: str, titles: dict[str, str]) -> str:
    """Return what the addresses of a page's product begin with: its package, site or host."""
    folders = _folders_above(url)
    if not folders:
        return url.partition("@")[0] + "@" if "@" in url else url
    return next((folder for folder in folders if _title(folder, titles)), folders[0])


def _title(folder: str, titles: dict[str, str]) -> str:
    return next((titles[folder + file] for file in _START_FILES if folder + file in titles), "")


def _folders_above(url: str) -> Sequence[str]:
    """Return the uppermost folders of an address, the root first; none for that of a package."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        return ()
    names = parts.path.split("/")[1:-1][: _FOLDERS - 1]
    root = f"{parts.scheme}://{parts.netloc}/"
    return [root, *(root + "/".join(names[:depth]) + "/" for depth in range(1, len(names) + 1))]
