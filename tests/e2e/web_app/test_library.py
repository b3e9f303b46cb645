"""The library in a real browser, on a site that is really read."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.e2e.web_app.conftest import Tab
from tests.e2e.web_app.scene import running_scene
from tests.site import Request, Response

pytestmark = pytest.mark.slow


def offer_site(tab: Tab) -> str:
    """Serve a small documentation with a sitemap, and return its address."""
    site = tab.scene.site
    for name in ("one", "two", "three"):
        site.pages[f"/docs/{name}"] = (
            f"<title>Page {name}</title><main><h1>Page {name}</h1><p>The page {name} is about the "
            f"marsh harrier, chapter {name}.</p></main>"
        )
    site.pages["/docs/"] = (
        "<title>Docs</title><main><h1>Docs</h1><p>Harriers of the marsh.</p></main>"
    )
    locations = "".join(
        f"<url><loc>{site.url(f'/docs/{name}')}</loc></url>" for name in ("", "one", "two", "three")
    )
    site.pages["/docs/sitemap.xml"] = Response(
        body=f"<urlset>{locations}</urlset>".encode(), headers={"Content-Type": "application/xml"}
    )
    return site.url("/docs/")


def test_a_site_is_previewed_added_read_scheduled_and_deleted_with_undo(tab: Tab) -> None:
    address = offer_site(tab)
    page = tab.open("/library")
    tab.check_looks()
    page.get_by_text("Add a page or a site").click()
    page.get_by_label("URL").first.fill(address)
    page.get_by_label("The whole site").check()
    page.get_by_text("Scope, tags and schedule").click()
    page.get_by_label("Refresh automatically").select_option("day")
    page.get_by_role("button", name="Preview the crawl").click()
    expect(page.locator(".preview-facts")).to_contain_text("listed in its sitemap")
    expect(page.get_by_label("Refresh automatically")).to_have_value("day")
    expect(page.locator(".preview-list li")).to_have_count(4)
    page.get_by_label("/docs/two").uncheck()
    tab.check_looks()

    page.get_by_role("button", name="Add", exact=True).click()
    expect(page).to_have_url(re.compile(r"/library/\d+$"))
    expect(page.locator("main")).to_contain_text(address)
    expect(page.locator("#work")).to_be_empty(timeout=60_000)
    expect(page.locator(".rows .site-row")).to_have_count(3)
    expect(page.locator("main")).not_to_contain_text("/docs/two")
    expect(page.locator(".state.completed")).to_be_visible()

    page.locator(".settings [name=schedule]").select_option(label="Every week")
    page.locator(".settings [name=tags]").fill("birds fen")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/library/\d+$"))
    expect(page.locator(".settings [name=tags]")).to_have_value("birds fen")
    expect(page.locator(".settings [name=schedule]")).to_have_value("week")
    tab.check_looks()

    page.set_viewport_size({"width": 320, "height": 800})
    page.get_by_text("Delete…").click()
    expect(page.get_by_role("button", name="Delete it")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Delete it").click()
    expect(page.locator("main.going")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_contain_text("(")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#message")).to_have_text("Nothing was deleted.")
    expect(page.locator("main.going")).to_have_count(0)

    tab.open("/library?filter=/docs/")
    page.get_by_label("Choose Docs").check()
    expect(page.get_by_label("Choose all shown")).to_be_checked()
    page.get_by_role("button", name="Refresh").click()
    expect(page).to_have_url(re.compile(r"/library$"))
    expect(page.locator("#work")).to_be_empty(timeout=60_000)
    tab.open("/library?filter=/docs/")
    page.get_by_label("Choose all shown").check()
    tab.check_looks()
    page.get_by_text("Delete…").click()
    page.get_by_role("button", name="Delete them").click()
    expect(page.locator("main")).to_contain_text("No site or page matches this filter.")


def test_the_count_of_a_preview_follows_the_ticks(tab: Tab) -> None:
    address = offer_site(tab)
    page = tab.open("/library")
    page.get_by_text("Add a page or a site").click()
    page.get_by_label("URL").first.fill(address)
    expect(page.get_by_label("This page only")).to_be_checked()
    page.get_by_role("button", name="Preview the crawl").click()
    # Only a site is crawled.
    expect(page.get_by_label("The whole site")).to_be_checked()
    expect(page.get_by_text("This is the crawl of the whole site")).to_be_visible()
    count = page.get_by_role("heading", name="Its pages").locator(".count")

    expect(count).to_have_text("4")
    page.locator(".preview-list input").first.uncheck()
    expect(count).to_have_text("3")
    page.get_by_label("All that are listed").check()
    expect(count).to_have_text("4")


def test_a_failure_says_why_and_what_to_do_and_is_tried_again(tab: Tab) -> None:
    site = tab.scene.site
    page = tab.open("/library")
    page.get_by_text("Add a page or a site").click()
    page.get_by_label("URL").first.fill(site.url("/missing"))
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".card.failed")).to_be_visible(timeout=60_000)
    expect(page.locator(".card.failed .error")).to_contain_text("The page")
    # The address stands beside it.
    expect(page.locator(".card.failed .error")).not_to_contain_text("/missing")
    tab.check_looks()

    site.pages["/missing"] = "<title>Found</title><main><h1>Found</h1><p>It is here now.</p></main>"
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#work")).to_be_empty(timeout=60_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("Found")


def test_what_cannot_be_reached_says_when_it_is_tried_again(tab: Tab) -> None:
    page = tab.open("/library")
    page.get_by_text("Add a page or a site").click()
    page.get_by_label("URL").first.fill("http://127.0.0.1:9/nothing")
    page.get_by_role("button", name="Add", exact=True).click()

    work = page.locator("#work")
    expect(work).to_contain_text("cannot connect to 127.0.0.1", timeout=60_000)
    expect(work).to_contain_text("next try")
    expect(page.get_by_role("button", name="Refresh now")).to_have_count(0)
    expect(page.locator("#website-facts .state").first).to_have_text("waiting")
    address = page.url
    page.goto(f"{tab.scene.url}/library")
    row = page.locator(".rows .site-row").filter(has_text="127.0.0.1:9/nothing")
    expect(row).to_contain_text("It could not be read; it is tried again soon.")
    expect(row.locator(".site-facts .state")).to_have_text("waiting")
    page.goto(address)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Continue reading")).to_be_visible()
    # What has ended is said at its entry; above the list it is folded, and stays as it was left.
    page.goto(f"{tab.scene.url}/library")
    ended = page.locator("#failed-work")
    expect(ended.get_by_role("button", name="Continue reading")).to_be_hidden()
    ended.locator("summary").click()
    expect(ended.get_by_role("button", name="Continue reading")).to_be_visible()
    tab.check_looks()


def test_counts_of_a_crawl_agree_and_go_on_where_they_were(tab: Tab, tmp_path: Path) -> None:
    is_open = threading.Event()

    def wait_to_answer(request: Request) -> Response:
        is_open.wait(100)
        return Response(body=b"<title>Last</title><main><h1>Last</h1><p>It is read.</p></main>")

    paths = [f"/many/{number:02}" for number in range(12)]
    with running_scene(tmp_path / "own", CITEWELL_WEB_TIMEOUT_SECONDS="100") as scene:
        for path in paths[:-1]:
            scene.site.pages[path] = (
                f"<title>{path}</title><main><h1>{path}</h1><p>About {path}.</p></main>"
            )
        scene.site.pages[paths[-1]] = wait_to_answer
        locations = "".join(f"<url><loc>{scene.site.url(path)}</loc></url>" for path in paths)
        scene.site.pages["/sitemap.xml"] = Response(
            body=f"<urlset>{locations}</urlset>".encode(),
            headers={"Content-Type": "application/xml"},
        )
        page = tab.page
        page.goto(f"{scene.url}/library")
        page.get_by_label("URL").first.fill(scene.site.url("/many/"))
        page.get_by_label("The whole site").check()
        page.get_by_role("button", name="Add", exact=True).click()

        facts, work = page.locator("#website-facts"), page.locator("#work")
        # All but the last: eleven in both places, though the job reports only every eight.
        expect(work).to_contain_text("11 URLs tried, 1 more known", timeout=60_000)
        expect(facts).to_contain_text(re.compile(r"reading\s+11 pages"))
        page.goto(f"{scene.url}/library")
        expect(work).to_contain_text("11 URLs tried, 1 more known")
        expect(page.locator(".site-facts")).to_contain_text(re.compile(r"reading\s+11 pages"))
        page.locator(".site-row").get_by_role("link").first.click()
        page.get_by_role("button", name="Cancel").click()
        expect(work).to_contain_text("What was read is kept")
        expect(page.get_by_role("button", name="Refresh now")).to_have_count(0)
        page.get_by_role("button", name="Continue reading").click()
        expect(work).to_contain_text("11 URLs tried, 1 more known")
        is_open.set()
        expect(work).to_be_empty(timeout=60_000)
        expect(facts).to_contain_text(re.compile(r"ready\s+12 pages"))


def test_a_single_page_is_not_shown_as_a_website(tab: Tab) -> None:
    page = tab.open("/library")
    page.get_by_role("link", name="Owls").click()

    expect(page.locator("#website-facts")).not_to_contain_text("page")
    expect(page.get_by_role("heading", name="Pages")).to_have_count(0)
    page.get_by_text("Delete…").click()
    expect(page.locator("main")).to_contain_text("The page is deleted from the library")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Delete it")).to_be_hidden()
    page.locator(".settings [name=tags]").fill("night")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_contain_text("the page")
    page.get_by_role("button", name="Refresh now").click()
    expect(page.locator("main")).to_contain_text("unchanged", timeout=60_000)
    expect(page.locator("main")).not_to_contain_text("0 added")
    page.get_by_role("link", name="Read the page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Owls")
    page.get_by_role("link", name="Its library entry").click()
    expect(page).to_have_url(re.compile(r"/library/\d+$"))


def test_pages_of_a_site_that_failed_are_listed_and_tried_again_alone(tab: Tab) -> None:
    site, broken = tab.scene.site, ("/part/two", "/part/three")
    words = "<title>{0}</title><main><h1>{0}</h1><p>About the reed warbler, {0}.</p></main>"
    for path in ("/part/", "/part/one", *broken):
        site.pages[path] = words.format(path)
    for path in broken:
        site.pages[path] = Response(status=403, body=b"no")
    locations = "".join(
        f"<url><loc>{site.url(path)}</loc></url>" for path in ("/part/", "/part/one", *broken)
    )
    site.pages["/part/sitemap.xml"] = Response(
        body=f"<urlset>{locations}</urlset>".encode(), headers={"Content-Type": "application/xml"}
    )
    page = tab.open("/library")
    page.get_by_text("Add a page or a site").click()
    page.get_by_label("URL").first.fill(site.url("/part/"))
    page.get_by_label("The whole site").check()
    page.get_by_role("button", name="Add", exact=True).click()
    failures = page.locator(".failures")
    expect(failures.get_by_role("listitem")).to_have_count(2, timeout=60_000)
    expect(failures.get_by_role("listitem").first).to_contain_text("/part/two")
    expect(failures.get_by_role("listitem").first).to_contain_text("403")
    expect(failures.get_by_role("heading", name="The site refused access")).to_be_visible()
    expect(failures).to_contain_text("closed to programs")
    tab.check_looks()

    site.pages["/part/two"] = words.format("two")
    site.requests.clear()
    page.get_by_role("button", name="Try these pages again").click()
    expect(failures.get_by_role("listitem")).to_have_count(1, timeout=60_000)
    expect(page.locator("#website-facts")).to_contain_text("3 pages")
    expect(page.get_by_role("heading", name="What changed")).to_have_count(0)
    assert set(site.paths()) == set(broken)


def test_an_address_without_a_scheme_shows_what_will_be_used(tab: Tab) -> None:
    page = tab.open("/library")
    page.get_by_text("Add a page or a site").click()
    page.get_by_label("URL").first.fill("docs.example/guide")
    page.keyboard.press("Tab")
    expect(page.get_by_label("URL").first).to_have_value("https://docs.example/guide")

    tab.open("/")
    page.get_by_text("Ask particular pages").click()
    page.get_by_label("URLs, one per line").fill("docs.example\nhttp://birds.example")
    page.keyboard.press("Tab")
    expect(page.get_by_label("URLs, one per line")).to_have_value(
        "https://docs.example\nhttp://birds.example"
    )


def test_a_library_is_exported_and_imported(tab: Tab) -> None:
    page = tab.open("/library")
    page.get_by_text("Import and export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    file = download.value.path()

    page.get_by_label("A file that an export wrote").set_input_files(
        {"name": "library.zip", "mimeType": "application/zip", "buffer": file.read_bytes()}
    )
    page.get_by_role("button", name="Import").click()
    # The list behind it is shown again, with the panel closed; the message stays.
    expect(page.locator("[data-import]")).to_be_hidden()
    expect(page.locator("#message")).to_contain_text("library.zip is imported. Pages: 0 new")
    page.get_by_text("Import and export").click()
    page.get_by_label("A file that an export wrote").set_input_files(
        {"name": "birds.zip", "mimeType": "application/zip", "buffer": b"nonsense"}
    )
    page.get_by_role("button", name="Import").click()
    expect(page.locator("#message.error")).to_contain_text("birds.zip is damaged")
    tab.problems.clear()


def test_a_deletion_that_is_refused_says_so_at_once(tab: Tab) -> None:
    page = tab.open("/library/1")
    page.route(
        "**/library/1/delete",
        lambda route: route.fulfill(
            status=403, content_type="text/html", body="<p class='error'>Only admins may.</p>"
        ),
    )
    page.get_by_text("Delete…").click()
    page.get_by_role("button", name="Delete it").click()

    expect(page.locator("#message.error")).to_have_text("Only admins may.")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    tab.problems.clear()


def test_pages_are_listed_and_lead_to_the_reader(tab: Tab) -> None:
    page = tab.open("/library/pages")
    expect(page.locator(".site-row")).not_to_have_count(0)
    tab.check_looks()
    page.get_by_role("link", name="Owls").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Owls")
