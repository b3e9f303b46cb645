"""What a person sees on a real (pseudo-)terminal."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from rich.progress import Progress as ProgressBars
from tests.cli.shell import Shell
from tests.cli.terminal import run_in_terminal, text_of
from tests.site import Response

from citewell.cli.main import main
from citewell.cli.styled_terminal import rate_of

WIDE = """# Storage

When the memory is full, the *newest* burst takes the place of the oldest one, and the buoy goes on
recording without a pause, see [the mooring guide](https://buoy.example/mooring) for what it needs.
"""
LONG = (
    "# Storage\n\nWhat happens when the memory is full:\n\n```python\n"
    + "\n".join(f"memory_is_full({number})" for number in range(30))
    + "\n```\n"
)


def ask(shell: Shell, *options: str, path: str = "/storage", columns: int = 80) -> str:
    question = "What happens when the memory is full?"
    command = ["ask", shell.site.url(path), question, *options, *shell.options]
    return run_in_terminal(*command, columns=columns)


def test_on_a_terminal_the_best_quotes_stand_with_their_sources(shell: Shell) -> None:
    shown = ask(shell)

    assert "\x1b[1mmemory\x1b[0m" in shown
    assert "\x1b]8;id=" in shown
    assert f"{shell.site.url('/storage')}#ring" in shown
    lines = text_of(shown).splitlines()
    assert any(line.startswith(" 1  ") for line in lines)
    assert any(line.startswith("    Storage modes › ") for line in lines)
    assert re.search(r"1 page searched · 1 fetched · [\d.]+ s", text_of(shown))
    assert "[SOURCES]" not in shown
    assert "⟦" not in shown


def test_the_file_being_read_is_named_and_its_reading_counts_in_the_time(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "the long story.md").write_text(LONG, encoding="utf-8")
    command = ["ask", str(tmp_path), "What happens when the memory is full?", *shell.options]

    began = time.monotonic()
    first = run_in_terminal(*command, columns=120)
    took = time.monotonic() - began
    again = run_in_terminal(*command, "--json")

    assert "Reading the long story.md" in first
    shown = re.search(r"1 page searched · ([\d.]+) s", text_of(first))
    assert shown is not None
    in_search = json.loads(text_of(again))["stats"]["total_ms"] / 1000
    assert in_search < float(shown[1]) <= took


def test_tags_are_shown_as_they_are_written_in_text_and_code(shell: Shell) -> None:
    shell.site.pages["/tags"] = (
        "<title>Storage</title><main><h1>Storage</h1><p>When the memory is full, &lt;ring&gt; takes "
        "over and <code>&lt;oldest&gt;</code> goes:</p>"
        '<pre>memory.when_full("/&lt;newest&gt;")</pre></main>'
    )

    shown = text_of(ask(shell, path="/tags", columns=120))

    assert "full, <ring> takes over and <oldest> goes" in shown
    assert 'memory.when_full("/<newest>")' in shown


@pytest.mark.parametrize("columns", [45, 80, 140])
def test_quotes_are_wrapped_to_the_terminal(shell: Shell, columns: int) -> None:
    shell.site.pages["/wide"] = Response(
        body=WIDE.encode(), headers={"Content-Type": "text/markdown; charset=utf-8"}
    )

    lines = text_of(ask(shell, path="/wide", columns=columns)).splitlines()

    assert max(map(len, lines)) <= columns
    joined = " ".join(" ".join(lines).split())
    assert "the newest burst takes the place of the oldest one" in joined
    assert "see the mooring guide for what it needs" in joined


def test_status_is_wrapped_between_words_and_leaves_addresses_whole(shell: Shell) -> None:
    ask(shell)

    lines = text_of(run_in_terminal("status", *shell.options, columns=45)).splitlines()

    assert f"  {shell.site.url('/storage')}" in lines
    assert max(len(line) for line in lines if " " in line.strip()) <= 45


@pytest.mark.parametrize("columns", [45, 80])
def test_lines_for_people_are_broken_between_words(shell: Shell, columns: int) -> None:
    ask(shell)
    urls = [shell.site.url("/storage"), shell.site.url("/mooring"), shell.site.url("/nowhere")]

    read = text_of(run_in_terminal("ingest", *urls, *shell.options, columns=columns))
    cited = text_of(run_in_terminal("citations", *shell.options, columns=columns))

    assert "source_id" not in read
    assert f"failed: {urls[2]} does not exist" in " ".join(read.split())
    lines = [*read.splitlines(), *cited.splitlines()]
    assert max(len(line) for line in lines if " " in line.strip()) <= columns


def test_what_doctor_found_stays_in_its_column(shell: Shell) -> None:
    shown = text_of(run_in_terminal("doctor", "--offline", *shell.options, columns=45))

    lines = shown.splitlines()
    finding = next(number for number, line in enumerate(lines) if line.startswith("· clients"))
    begins = lines[finding].index("no file")
    assert lines[finding + 1].startswith(" " * begins)


def test_a_narrow_line_keeps_the_last_heading_of_a_source(shell: Shell) -> None:
    shell.site.pages["/names"] = (
        "<title>Everything about the memory of the buoy</title><main>"
        "<h1>Everything about the memory of the buoy</h1><h2>When it is full</h2>"
        "<p>When the memory is full, the buoy stops.</p></main>"
    )

    shown = text_of(ask(shell, path="/names", columns=45))

    assert "    … › When it is full\n" in shown
    assert "No expansion performed" not in shown


def test_status_keeps_its_counts_on_the_screen_and_names_the_command_for_more(
    shell: Shell, tmp_path: Path
) -> None:
    for number in range(9):
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\nWords.\n", encoding="utf-8")
    assert main(["ingest", str(tmp_path), *shell.options]) == 0

    shown = text_of(run_in_terminal("status", *shell.options))

    assert len(shown.splitlines()) <= 30
    assert "`citewell status --cursor 5` lists the next" in shown
    assert "source_url" not in shown


def test_a_site_that_cannot_be_fetched_is_named_once_with_what_to_try(shell: Shell) -> None:
    address = "http://127.0.0.2:9/"

    shown = text_of(run_in_terminal("ingest", "--site", address, *shell.options))

    assert shown.count(address) == 1
    assert "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_long_quote_is_cut_unless_all_of_it_is_wanted(shell: Shell) -> None:
    shell.site.pages["/long"] = Response(
        body=LONG.encode(), headers={"Content-Type": "text/markdown; charset=utf-8"}
    )

    short, full = text_of(ask(shell, path="/long")), text_of(ask(shell, "--full", path="/long"))

    assert "more lines" in short
    assert "more lines" not in full
    assert short.count("memory_is_full") < full.count("memory_is_full")
    assert re.search(r"c1-[0-9a-f]{8}-\d+-\d+ · confidence \d\.\d\d", full)


def test_the_brief_is_there_on_request(shell: Shell) -> None:
    shown = ask(shell, "--brief")

    assert "[SOURCES]" in shown
    assert "[EVIDENCE]" in shown


def test_an_abstention_is_a_sentence_with_what_to_try(shell: Shell) -> None:
    shown = run_in_terminal(
        *("ask", shell.site.url("/mooring"), "Who won the chess tournament of 1972?"),
        *shell.options,
    )

    said = text_of(shown)
    assert "Nothing in the page searched answers this (Mooring)." in said
    assert "Try other words" in said


def test_an_abstention_of_a_library_names_no_pages_by_chance(shell: Shell) -> None:
    for number in range(4):
        shell.site.pages[f"/{number}"] = f"<title>Buoy {number}</title><p>Buoy {number} floats.</p>"
        main(["ingest", shell.site.url(f"/{number}"), *shell.options])

    shown = run_in_terminal("search", "Who won the chess tournament of 1972?", *shell.options)

    assert "Nothing in the 4 pages searched answers this." in text_of(shown)


def test_progress_is_shown_and_leaves_nothing_behind(shell: Shell) -> None:
    shown = ask(shell)

    assert "\x1b[?25l" in shown, "the cursor is hidden while lines move"
    assert shown.rindex("\x1b[?25h") < shown.index(" 1  ")
    assert "\x1b[2K" in shown, "the lines are erased"


def test_bars_say_how_many_bytes_were_read(shell: Shell) -> None:
    shown = run_in_terminal("ingest", shell.site.url("/storage"), *shell.options)

    assert re.search(r"[\d.]+ (?:bytes|kB)\b", shown)


def test_a_narrow_terminal_shortens_what_is_read_and_not_the_numbers(shell: Shell) -> None:
    url = shell.site.url("/storage")

    shown = run_in_terminal("ingest", url, *shell.options, columns=45)

    assert re.search(r"0:00:\d\d", shown)
    assert not re.search(r"0:0…|0:00:…|[\d.]+ (?:bytes|kB)\b", shown)


def test_the_rate_is_that_since_the_line_began_whatever_the_batches() -> None:
    now = 0.0
    bars = ProgressBars(get_time=lambda: now, auto_refresh=False)
    task = bars.add_task("Embedding", total=1_000, done_before=100)
    for now, done, total in ((60.0, 228, 1_000), (120.0, 356, 1_200)):
        bars.update(task, completed=done, total=total)

        assert rate_of(bars.tasks[0]) == pytest.approx((done - 100) / now)


def test_an_address_without_tls_is_said_in_words(shell: Shell) -> None:
    url = shell.site.url("/storage").replace("http:", "https:")

    shown = text_of(run_in_terminal("ingest", url, *shell.options))

    assert "does not answer with TLS" in shown
    assert "SSL" not in shown
    assert "Check the host name" not in shown


def test_no_color_is_obeyed(shell: Shell) -> None:
    question = ["ask", shell.site.url("/storage"), "What happens when the memory is full?"]

    shown = run_in_terminal(*question, *shell.options, environment={"NO_COLOR": "1"})

    assert "Storage modes" in shown
    assert not re.search(r"\x1b\[(?:\d+;)*3\d", shown)


def test_a_page_cannot_send_control_characters_to_the_terminal(shell: Shell) -> None:
    shell.site.pages["/bad"] = Response(
        body=b"# Buoy colour\n\nThe buoy is \x1b]0;owned\x07yellow \x1b[2Jand round.\n",
        headers={"Content-Type": "text/markdown; charset=utf-8"},
    )

    for options in ([], ["--full"], ["--brief"]):
        question = ["ask", shell.site.url("/bad"), "What colour is the buoy?", *options]
        shown = run_in_terminal(*question, *shell.options)

        assert "yellow" in shown
        assert "\x1b]0;" not in shown
        assert "\x1b[2J" not in shown


def test_a_page_cannot_make_a_link_to_what_a_terminal_would_run(shell: Shell) -> None:
    shell.site.pages["/bad"] = Response(
        body=b"# Buoy colour\n\nThe colour of the buoy is [yellow](ssh://-oProxyCommand=x/) here.\n",
        headers={"Content-Type": "text/markdown; charset=utf-8"},
    )

    shown = run_in_terminal(
        "ask", shell.site.url("/bad"), "What colour is the buoy?", *shell.options
    )

    assert "yellow" in shown
    assert "ssh://" not in shown


def test_code_in_a_comparison_is_shown_as_it_is_written(shell: Shell) -> None:
    page = (
        "<title>Jobs</title><main><h1>Jobs</h1><pre>start()\n\n# every {} hours\nrun()</pre></main>"
    )
    url = shell.site.url("/jobs")
    for hours in (3, 6):
        shell.site.pages["/jobs"] = page.format(hours)
        assert main(["ingest", "--force", url, *shell.options]) == 0

    shown = text_of(run_in_terminal("compare", url, *shell.options))

    assert "# every [-3-]{+6+} hours\n" in shown
    assert "run()" in shown
    assert "⟦" not in shown


def test_a_quote_from_within_code_is_shown_as_code(shell: Shell) -> None:
    lines = [f"pad_{number} \\" for number in range(400)]
    lines[300:300] = ["# when the memory is full \\", "    --drop oldest \\"]
    shell.site.pages["/script"] = (
        f"<title>Script</title><main><h1>Script</h1><pre>{chr(10).join(lines)}</pre></main>"
    )

    shown = text_of(ask(shell, path="/script"))

    assert re.search(r"--drop oldest \\\n +pad_300 \\\n +pad_301 \\\n", shown)
