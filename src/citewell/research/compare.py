"""What two versions say about a symbol, a page or a question: paired exact quotes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

from citewell.core.boundary import label
from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.core.off_loop import in_thread
from citewell.core.symbols import end_of_listed, last_part, shared_parts
from citewell.core.version_ranges import LATEST, is_in_range, newest, version_key
from citewell.core.words import as_symbol
from citewell.research.paired_quotes import Comparison, Side, pair_quotes
from citewell.research.release_notes import find_release_notes
from citewell.retrieve.pipeline import Options, retrieve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citewell.core.records import Page, SearchFilter
    from citewell.core.releases import Release
    from citewell.core.text import Span
    from citewell.research.paired_quotes import ComparedQuote
    from citewell.retrieve.pipeline import Models
    from citewell.store.protocol import Store

MOST_PAIRS = 8
_MOST_SYMBOLS = 200
_QUESTION_SECTIONS = 2
_NAME = re.compile(r"`?(?:--?)?[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*(?:\(\))?`?")


@frozen
class Comparer:
    """Compares stored versions; nothing is fetched."""

    store: Store
    models: Models
    where: SearchFilter

    async def compare(
        self, subject: str, *, product: str | None, old: str | None, new: str | None
    ) -> Comparison:
        """Return what two versions say about `subject`: a symbol, the URL of a page, a question.

        Without versions the two newest that are stored are compared; a page that has no versions
        is compared with its text before it last changed.

        Raises:
            NotFound: the subject, its product or one of the versions is not stored.
        """
        assert self.where.project is not None, "a caller has a project"
        page = await self.store.find_page(subject, project=self.where.project)
        if page is not None and (not page.release.product or (old is None and new is None)):
            earlier = await self._compare_fetches(page.source_id)
            if earlier is not None or not page.release.product:
                return _require_earlier_text(earlier, subject)
        own = await self._releases_of(subject, page.release if page else None, product)
        releases = _choose_two(own, old=old, new=new)
        sides = await self._find_sides(subject, page.source_id if page else None, releases)
        if not sides:
            older, newer = (label(release.label) for release in releases)
            raise NotFound(
                f"Neither {older} nor {newer} says anything about this.",
                suggestion="Name a symbol, the URL of an indexed page, or ask a question.",
                old=older,
                new=newer,
            )
        pairs, omitted = await in_thread(partial(pair_quotes, sides, most=MOST_PAIRS))
        unchanged = () if pairs else ("Both versions say the same about this.",)
        return Comparison(
            product=releases[0].product,
            old_version=releases[0].version,
            new_version=releases[1].version,
            pairs=tuple(pairs),
            omitted_pairs=omitted,
            release_notes=tuple(await self._find_release_notes(subject, releases)),
            notes=unchanged,
        )

    async def _find_release_notes(
        self, subject: str, releases: tuple[Release, Release]
    ) -> list[ComparedQuote]:
        listed = await self.store.releases.list_releases(self.where.project or "")
        return await find_release_notes(
            subject,
            releases,
            known=[each.release for each in listed],
            store=self.store,
            where=self.where,
        )

    async def _compare_fetches(self, source_id: int) -> Comparison | None:
        texts = await self.store.releases.earlier_texts(source_id)
        page = await self.store.get_page(source_id)
        if not texts or page is None:
            return None
        earlier = texts[0]
        moments = (earlier.fetched_at, page.info.fetched_at)
        before, after = (moment.isoformat(timespec="seconds") for moment in moments)
        old = Side(page=page, text=earlier.text, version=before, span=(0, len(earlier.text)))
        new = Side(page=page, text=page.text, version=after, span=(0, len(page.text)))
        pairs, omitted = await in_thread(partial(pair_quotes, [(old, new)], most=MOST_PAIRS))
        return Comparison(
            product="",
            old_version=before,
            new_version=after,
            pairs=tuple(pairs),
            omitted_pairs=omitted,
        )

    async def _releases_of(
        self, subject: str, release: Release | None, product: str | None
    ) -> list[Release]:
        """Return the releases of one product: that of the page, or the one that is asked about."""
        assert self.where.project is not None, "a caller has a project"
        listed = [
            each.release for each in await self.store.releases.list_releases(self.where.project)
        ]
        if release is not None:
            return [each for each in listed if each.product == release.product]
        own = _of_product(listed, product) if product else await self._products_of(subject, listed)
        if not own:
            raise _nothing_indexed(subject, product, listed)
        if len({each.name for each in own}) == 1:
            return await self._package_or_site(subject, own)
        names = {each.product for each in own}
        if len(names) > 1:
            listed_names = ", ".join(label(name) for name in sorted(names)[:MOST_PAIRS])
            raise InvalidArgument(
                f"Several products fit: {listed_names}.",
                suggestion="Name one of them as product.",
                products=listed_names,
            )
        return own

    async def _package_or_site(self, subject: str, own: Sequence[Release]) -> list[Release]:
        """Return the releases of the package or of its site, whichever speaks of the subject."""
        products = Counter(each.product for each in own)
        several = [each for each in own if products[each.product] > 1] or list(own)
        if len({each.product for each in several}) == 1:
            return several
        if _NAME.fullmatch(subject.strip()):
            for release, _, _ in await self._symbols(subject, several):
                return [each for each in several if each.product == release.product]
        return await self._product_by_search(subject, several)

    async def _products_of(self, subject: str, listed: Sequence[Release]) -> list[Release]:
        """Return the releases of the product that the subject names, defines, or is found in."""
        words = {word.lower() for word in re.findall(r"[\w@/-]+", subject)}
        named = [release for release in listed if release.name.lower() in words]
        if named:
            return named
        if _NAME.fullmatch(subject.strip()):
            symbols = await self._symbols(subject, listed)
            if symbols:
                products = {release.product for release, _, _ in symbols}
                return [release for release in listed if release.product in products]
        several = {release.product for release in listed}
        return list(listed) if len(several) == 1 else await self._product_by_search(subject, listed)

    async def _product_by_search(self, subject: str, listed: Sequence[Release]) -> list[Release]:
        found = await retrieve(
            subject,
            store=self.store,
            models=self.models,
            where=replace(self.where, releases=tuple(each.key for each in listed)),
            options=Options(limit=1),
        )
        chunks = [each.chunk for each in found.chunks if _mentions(each.chunk.text, subject)]
        best = chunks[0].release.product if chunks else ""
        return [release for release in listed if release.product == best]

    async def _find_sides(
        self, subject: str, source_id: int | None, releases: tuple[Release, Release]
    ) -> list[tuple[Side | None, Side | None]]:
        if source_id is not None:
            return [await self._page_sides(source_id, releases)]
        if _NAME.fullmatch(subject.strip()):
            sides = await self._symbol_sides(subject, releases)
            if sides != (None, None):
                return [sides]
        return await self._question_sides(subject, releases)

    async def _page_sides(
        self, source_id: int, releases: tuple[Release, Release]
    ) -> tuple[Side | None, Side | None]:
        siblings = await self.store.releases.siblings_of_page(source_id)
        page = await self.store.get_page(source_id)
        assert page is not None, "it was found before"
        ids = {sibling.release: sibling.source_id for sibling in siblings}
        ids[page.info.release] = source_id
        old, new = [await self._whole_page(ids.get(release)) for release in releases]
        return old, new

    async def _whole_page(self, source_id: int | None) -> Side | None:
        page = await self.store.get_page(source_id) if source_id is not None else None
        return _side(page, (0, len(page.text))) if page is not None else None

    async def _symbols(
        self, name: str, releases: Sequence[Release]
    ) -> list[tuple[Release, int, int]]:
        """Return where the releases define a symbol: release, page and offset, nearest first."""
        asked = name.strip("` ").removesuffix("()")
        matches: list[tuple[int, bool, int, Release, int, int]] = []
        for release in releases:
            where = replace(self.where, releases=(release.key,), version=None)
            symbols = await self.store.symbols.symbols_named(
                [last_part(asked)], where=where, limit=_MOST_SYMBOLS
            )
            matches += [
                (
                    -shared_parts(symbol.full_name, asked),
                    # `Option` is a class, and `option` what decorates with it.
                    not symbol.full_name.endswith(asked),
                    len(symbol.full_name),
                    release,
                    symbol.source_id,
                    symbol.start,
                )
                for symbol in symbols
            ]
        matches.sort(key=lambda match: match[:3])
        return [match[3:] for match in matches]

    async def _symbol_sides(
        self, name: str, releases: tuple[Release, Release]
    ) -> tuple[Side | None, Side | None]:
        symbols = await self._symbols(name, releases)
        sides: list[Side | None] = []
        for release in releases:
            place = next((symbol[1:] for symbol in symbols if symbol[0] == release), None)
            sides.append(await self._section_at(*place) if place else None)
        return sides[0], sides[1]

    async def _section_at(self, source_id: int, start: int) -> Side | None:
        page = await self.store.get_page(source_id)
        if page is None:
            return None
        section = next((each for each in page.sections if each.start <= start < each.end), None)
        span = (section.start, section.end) if section is not None else (0, len(page.text))
        if start > span[0] and (end := end_of_listed(page.text, start)) is not None:
            span = (start, end)
        return _side(page, span)

    async def _question_sides(
        self, question: str, releases: tuple[Release, Release]
    ) -> list[tuple[Side | None, Side | None]]:
        """Return the sections that best answer in either version, each with its counterpart."""
        sides: dict[tuple[int, int], tuple[Side | None, Side | None]] = {}
        for release in reversed(releases):
            where = replace(self.where, releases=(release.key,), version=None)
            found = await retrieve(
                question,
                store=self.store,
                models=self.models,
                where=where,
                options=Options(limit=_QUESTION_SECTIONS),
            )
            for ranked in found.chunks:
                if not _mentions(ranked.chunk.text, question):
                    continue
                own = await self._section_at(ranked.chunk.source_id, ranked.chunk.start)
                if own is None:
                    continue
                other = await self._counterpart(own, releases[release == releases[0]])
                pair = (own, other) if release == releases[0] else (other, own)
                newer = pair[1] or own
                sides.setdefault((newer.page.info.source_id, newer.span[0]), pair)
        return list(sides.values())

    async def _counterpart(self, side: Side, release: Release) -> Side | None:
        """Return the same section of the same page in another version."""
        siblings = await self.store.releases.siblings_of_page(side.page.info.source_id)
        source_id = next((each.source_id for each in siblings if each.release == release), None)
        page = await self.store.get_page(source_id) if source_id is not None else None
        own = next((each for each in side.page.sections if each.start == side.span[0]), None)
        if page is None or own is None:
            return None
        for section in page.sections:
            if (section.heading, section.anchor) == (own.heading, own.anchor):
                return _side(page, (section.start, section.end))
        return None


def _side(page: Page, span: Span) -> Side:
    """Return a span of a page, in the version that the page itself documents."""
    return Side(page=page, text=page.text, version=page.info.release.version, span=span)


def _choose_two(
    releases: Sequence[Release], *, old: str | None, new: str | None
) -> tuple[Release, Release]:
    ordered = sorted(releases, key=lambda release: version_key(release.version))
    later = _pick(ordered, new or LATEST)
    others = [release for release in ordered if release != later]
    earlier = _pick(others, old or LATEST)
    if later is None or earlier is None:
        known = ", ".join(label(release.label) for release in ordered[:MOST_PAIRS])
        raise NotFound(
            f"Two versions are needed; indexed: {known or 'none'}.",
            suggestion="Index the other version with `citewell sync`, or name two of these.",
            indexed=known,
        )
    return earlier, later


def _require_earlier_text(comparison: Comparison | None, subject: str) -> Comparison:
    if comparison is None:
        raise NotFound(
            f"There is one text of {subject[:200]} only.",
            suggestion="It is compared with its earlier text once it has changed.",
        )
    return comparison


def _mentions(text: str, subject: str) -> bool:
    """Return whether a text has the name that a subject is; any text, where it is no name."""
    symbol = last_part(as_symbol(subject) or "")
    return not symbol or re.search(rf"(?<!\w){re.escape(symbol)}(?!\w)", text.lower()) is not None


def _nothing_indexed(subject: str, product: str | None, listed: Sequence[Release]) -> NotFound:
    names = sorted({release.name for release in listed})
    if product is None:
        return NotFound(
            f"No product with versions says anything about {label(subject)}.",
            suggestion="Name a symbol or a page of one, or pass its name as product.",
        )
    near = get_close_matches(product.lower(), names, n=1)
    known = ", ".join(label(name) for name in near or names[:MOST_PAIRS])
    return NotFound(
        f"No version of {label(product)} is indexed.",
        suggestion=f"Did you mean {known}?" if near else f"Indexed: {known or 'none'}.",
        products=known,
    )


def _of_product(listed: Iterable[Release], product: str) -> list[Release]:
    return [
        release for release in listed if product.lower() in (release.product, release.name.lower())
    ]


def _pick(ordered: Sequence[Release], wanted: str) -> Release | None:
    """Return the newest release that fits."""
    if wanted == LATEST:
        version = newest(release.version for release in ordered)
        return next((release for release in ordered if release.version == version), None)
    fitting = [release for release in ordered if is_in_range(release.version, wanted)]
    return fitting[-1] if fitting else None
