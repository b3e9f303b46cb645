"""How the web layer does on public robustness data: URLs, private addresses, robots, charsets.

Usage: python bench/robustness.py [DATA_FOLDER] [--failures]
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ada_url
import anyio

from citewell.core.errors import AddressRefused, HostUnreachable, NotAUrl
from citewell.core.records import PageKind
from citewell.web.address_guard import AddressGuard
from citewell.web.charset import decode_body
from citewell.web.robots import parse_robots
from citewell.web.urls import canonical_url, resolve_url, split_url

DEFAULT_DATA = Path(__file__).parents[2] / "shared" / "data"
PORTS = ("80", "443", "8000", "8080", "8443")

Case = tuple[str, object, object]
"""What was asked, what is right, what we gave."""


def url_cases(folder: Path) -> Iterator[Case]:
    """Every case whose result is an http(s) URL without credentials, and every failure."""
    for case in _dicts(folder / "urltestdata.json"):
        text, base = case["input"], case.get("base")
        right = None if case.get("failure") else case["href"]
        if right is not None and (
            not right.startswith(("http://", "https://")) or case["username"] or case["password"]
        ):
            right = None
        if base is None:
            right = right.partition("#")[0] if right else None
            yield text, right, _canonical(text)
        else:
            yield f"{text} at {base}", right, resolve_url(base, text)


def domain_cases(folder: Path) -> Iterator[Case]:
    for case in _dicts(folder / "toascii.json"):
        url = _canonical(f"https://{case['input']}/x")
        yield case["input"], case["output"], split_url(url).host if url else None


def _canonical(text: str) -> str | None:
    try:
        return canonical_url(text)
    except NotAUrl:
        return None


async def ssrf_cases(folder: Path) -> list[Case]:
    """Payloads aimed at private places must be refused, links to public ones must not be.

    Names are answered as a hostile DNS would: every name that the payload lists use for
    loopback or metadata points there, all others to a public address.
    """
    guard = AddressGuard(allowed_ports=PORTS, resolve=_hostile_dns)
    cases: list[Case] = []
    for case in json.loads((folder / "urls.json").read_text("utf-8")):
        url = case["url"]
        cases.append((url, _ssrf_right(url), await _verdict(guard, url)))
    return cases


_INWARD_NAMES = re.compile(
    r"localhost|loopback|localtest\.me|lvh\.me|nip\.io|xip\.io|sslip\.io|vcap\.me|spoofed|"
    r"metadata|kubernetes|docker|internal|localdomain|1u\.ms|rbndr|127\.|169\.254|instance-data|"
    r"bugbounty\.dod\.network|ip6-|rancher|customer1\.app|mail\.ebc"
)


async def _hostile_dns(name: str, port: int) -> list[str]:
    return ["169.254.169.254"] if _INWARD_NAMES.search(name) else ["93.184.215.14"]


def _ssrf_right(url: str) -> str:
    """Tell from the reference URL parser, with rules of its own for what is private."""
    try:
        parts = ada_url.parse_url(url)
    except ValueError:
        return "refused"
    if parts["protocol"] not in ("http:", "https:") or parts["username"] or parts["password"]:
        return "refused"
    host = parts["hostname"].strip("[]")
    private = re.compile(
        r"127\.|10\.|192\.168\.|169\.254\.|0\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[789]\d|1[01]\d|12[0-7])\.|"
        r"192\.0\.0\.|198\.1[89]\.|2(2[4-9]|[345]\d)\.|::|f[cdef]|64:ff9b|2001:0?:|2002:|2001::"
    )
    if (parts["host_type"] != 0 and private.match(host)) or _INWARD_NAMES.search(host):
        return "refused"
    return "refused" if parts["port"] and parts["port"] not in PORTS else "fetched"


async def _verdict(guard: AddressGuard, url: str) -> str:
    try:
        parts = split_url(canonical_url(url))
        await guard.checked_addresses(parts.host, parts.port)
    except (NotAUrl, AddressRefused, HostUnreachable):
        return "refused"
    return "fetched"


def robots_cases(folder: Path) -> Iterator[Case]:
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        url = _canonical(case["url"]) or "http://foo.bar/"
        rules = parse_robots(case["robots"], user_agent=case["agent"])
        asked = f"{case['test']}: {case['agent']} {url}"
        yield asked, case["allowed"], rules.may_fetch(url)


def charset_character_cases(folder: Path) -> Iterator[Case]:
    """Every character of the Japanese encodings, labelled by header or by meta."""
    span = re.compile(r'<span data-cp="([0-9A-F]+)" data-bytes="([0-9A-F ]+)">(.*?)</span>', re.S)
    for page in sorted(folder.glob("encoding/legacy-mb-japanese/*/*_chars*.html")):
        text = decode_body(page.read_bytes(), content_type=_header_of(page)).text
        for code_point, octets, shown in span.findall(text):
            right = chr(int(code_point, 16))
            # Encoders fold these into other characters; decoders do not unfold them.
            right = {"5C": "\\", "7E": "~"}.get(octets, right).replace("\u2212", "\uff0d")
            yield f"{page.name} {octets}", right, shown


def charset_error_cases(folder: Path) -> Iterator[Case]:
    for page in sorted(folder.glob("encoding/legacy-mb-japanese/*/*_errors.html")):
        test = page.with_name(page.name.replace("_errors", "-decode-errors"))
        right = re.findall(r'textContent,\s*"(.*?)"', test.read_text("utf-8"))
        text = decode_body(page.read_bytes(), content_type=_header_of(page)).text
        shown = re.findall(r"<span>(.*?)</span>", text, re.S)
        for i, (expected, given) in enumerate(zip(right, shown, strict=False)):
            yield f"{page.name} span {i}", expected.replace("\\u", "u"), given


def charset_declaration_cases(folder: Path) -> Iterator[Case]:
    """Where a declaration counts: the page's own word ("match") against what we read."""
    for page in sorted(folder.glob("html/syntax/charset/*.html")):
        body = page.read_bytes()
        relation = re.search(rb'rel="(match|mismatch)"', body)
        if relation:
            found = "Test: \u0436" in decode_body(body).text
            yield page.name, relation.group(1) == b"match", found
        named = re.search(rb'assert_(not_)?equals\(document\.characterSet, "([^"]+)"', body)
        if named:
            same = decode_body(body).encoding == named.group(2).decode().lower()
            yield page.name, not named.group(1), same
    for page in sorted(folder.glob("encoding/resources/*")):
        kind: PageKind = "xml" if page.suffix == ".xml" else "html"
        read = decode_body(page.read_bytes(), kind=kind)
        if page.name.startswith("two-boms"):
            yield page.name, "\ufeff", read.text
        else:
            yield page.name, False, read.encoding.startswith("utf-32")


def _header_of(page: Path) -> str:
    headers = page.with_name(page.name + ".headers")
    text = headers.read_text("utf-8") if headers.exists() else ""
    return text.partition("Content-Type:")[2].strip()


def _dicts(path: Path) -> list[dict[str, Any]]:
    entries = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    return [entry for entry in entries if isinstance(entry, dict)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--failures", action="store_true", help="print the cases that differ")
    options = parser.parse_args()
    folder = options.data / "robustness"
    if not folder.is_dir():
        print(f"no data at {folder}; give the folder that holds robustness/")
        return
    print(f"{'set':<32}{'cases':>8}{'right':>8}{'share':>9}")
    sets = {
        "url_wpt": url_cases(folder / "url_wpt"),
        "url_wpt domains": domain_cases(folder / "url_wpt"),
        "ssrf": anyio.run(ssrf_cases, folder / "ssrf"),
        "robots_google": robots_cases(folder / "robots_google"),
        "encoding_wpt characters": charset_character_cases(folder / "encoding_wpt"),
        "encoding_wpt errors": charset_error_cases(folder / "encoding_wpt"),
        "encoding_wpt declarations": charset_declaration_cases(folder / "encoding_wpt"),
    }
    for name, cases in sets.items():
        every = list(cases)
        wrong = [case for case in every if case[1] != case[2]]
        right = len(every) - len(wrong)
        print(f"{name:<32}{len(every):>8}{right:>8}{right / len(every):>9.1%}")
        for asked, expected, given in wrong if options.failures else ():
            print(f"    {asked!r}: {given!r}, expected {expected!r}")


if __name__ == "__main__":
    main()
