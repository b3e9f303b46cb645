"""Documentation sites on loopback, laid out as the common hosts lay theirs out."""

from __future__ import annotations

import zlib

from tests.site import Answer, Response


def inventory(version: str, pages: tuple[str, ...], symbols: dict[str, str] | None = None) -> bytes:
    """Return an `objects.inv` as Sphinx writes it."""
    lines = [f"{page.removesuffix('.html')} std:doc -1 {page} {page}" for page in pages]
    lines += [f"{name} py:function 1 {place} -" for name, place in (symbols or {}).items()]
    head = "# Sphinx inventory version 2\n# Project: Herons\n"
    head += f"# Version: {version}\n# The remainder of this file is compressed using zlib.\n"
    return head.encode() + zlib.compress("\n".join(lines).encode())


def page(title: str, text: str, *links: str) -> str:
    """Return a page of HTML that holds a sentence and links."""
    listed = "".join(f'<li><a href="{link}">Read about {link}</a></li>' for link in links)
    return (
        f"<html lang='en'><head><title>{title}</title></head><body><main><h1>{title}</h1>"
        f"<p>{text}</p><ul>{listed}</ul></main></body></html>"
    )


def redirect(target: str) -> Response:
    """Return an answer that sends its reader on."""
    return Response(status=302, headers={"Location": target})


def read_the_docs(*versions: str, text: str = "Herons of version {} wade.") -> dict[str, Answer]:
    """Return a site of version folders below /en/ that begins at the latest of them."""
    pages: dict[str, Answer] = {
        "/": redirect("/en/latest/"),
        # As such hosts do it, this names where versions begin, and none of their pages.
        "/sitemap.xml": "<urlset><url><loc>/en/latest/</loc></url></urlset>",
    }
    for version in versions:
        said = "9.0.dev1" if version == "latest" else version.removeprefix("v")
        root = f"/en/{version}/"
        pages[root] = page("Herons", f"All about herons, version {said}.", "wading.html")
        pages[f"{root}wading.html"] = page("Wading", text.format(said))
        body = inventory(said, ("index.html", "wading.html"))
        pages[f"{root}index.html"] = pages[root]
        pages[f"{root}objects.inv"] = Response(body=body)
    return pages
