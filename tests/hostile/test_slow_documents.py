"""Small documents that take long to read: each ends at its limit, and nobody waits for them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from tests.ingest.extract.test_other_kinds import pdf
from tests.ingest.fetched import extracted, fetched

from citewell.core.errors import ExtractionError
from citewell.core.fair_turns import working_for
from citewell.ingest.reading import PageReader
from citewell.web.sandbox import Sandbox, fitting_cpu_seconds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio


def nested_forms(depth: int = 20, width: int = 10) -> bytes:
    """Return a PDF of a few kilobytes that draws a form `width ** depth` times."""
    stream = "/F Do " * width
    forms = [
        f"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length {len(stream)} "
        f"/Resources << /XObject << /F {number + 1} 0 R >> >> >>\nstream\n{stream}\nendstream"
        for number in range(4, 4 + depth)
    ]
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /XObject << /F 5 0 R >> >> >>",
        *forms,
        "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 9 >>\n"
        "stream\n0 0 1 1 re\nendstream",
    ]
    body = "".join(f"{i} 0 obj\n{content}\nendobj\n" for i, content in enumerate(objects, 1))
    return f"%PDF-1.4\n{body}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n%%EOF".encode()


def spin_for_ever(_text: str = "") -> None:
    while True:
        pass


def note_and_end(notes: str, number: int) -> None:
    with Path(notes).open("a", encoding="ascii") as file:
        file.write("tried\n")
    os.kill(os.getpid(), number)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(preload=("citewell.ingest.reading",), workers=2)
    yield sandbox
    await sandbox.aclose()


async def test_slow_documents_do_not_hold_up_small_ones(sandbox: Sandbox) -> None:
    reader = PageReader(sandbox)
    ended: list[ExtractionError] = []

    async def read_slow_document() -> None:
        try:
            await reader.read(fetched(nested_forms(), "pdf"))
        except ExtractionError as error:
            ended.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(read_slow_document)
        await anyio.wait_all_tasks_blocked()
        document, _, _ = await reader.read(fetched(pdf("Herons wade."), "pdf"))
        page, _, _ = await reader.read(fetched("<p>Egrets wade too.</p>"))
        ended_before = len(ended)
        tasks.cancel_scope.cancel()

    assert "Herons wade." in document.text
    assert page.text == "Egrets wade too.\n"
    # Behind four in two places, at least three would have ended.
    assert ended_before < 3


async def test_one_caller_cannot_hold_all_places_of_another(sandbox: Sandbox) -> None:
    async def spin() -> None:
        with working_for("one"):
            await sandbox.run(len, " " * 200_000)
            await sandbox.run(spin_for_ever, " " * 200_000)

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(spin)
        await anyio.wait_all_tasks_blocked()
        with working_for("another"):
            lengths = [await sandbox.run(len, " " * size) for size in (10, 200_000)]
        tasks.cancel_scope.cancel()

    assert lengths == [10, 200_000]


async def test_a_small_document_may_take_less_time_than_a_large_one(sandbox: Sandbox) -> None:
    assert (fitting_cpu_seconds(0), fitting_cpu_seconds(1_000_000)) == (5, 25)

    with pytest.raises(ExtractionError, match="took more than 5 seconds"):
        await sandbox.run(spin_for_ever)


async def test_a_document_that_is_nested_without_end_says_so(sandbox: Sandbox) -> None:
    opening = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3_000)
    )
    with pytest.raises(ExtractionError, match="nested too deeply"):
        await PageReader(sandbox).read(fetched(f"From a@b\nSubject: Herons\n{opening}", "text"))


@pytest.mark.parametrize(("number", "attempts"), [(signal.SIGABRT, 1), (signal.SIGKILL, 2)])
async def test_only_a_process_that_was_killed_from_outside_gets_a_second_try(
    sandbox: Sandbox, tmp_path: Path, number: signal.Signals, attempts: int
) -> None:
    notes = tmp_path / "notes"

    with pytest.raises(ExtractionError, match="ends the process that reads it"):
        await sandbox.run(note_and_end, str(notes), int(number))

    assert notes.read_text("ascii") == "tried\n" * attempts


def test_substitutions_that_multiply_are_left_as_they_are_written() -> None:
    ten = [" ".join([f"|a{level}|"] * 10) for level in range(4)]
    definitions = [f".. |a{level + 1}| replace:: {text}\n" for level, text in enumerate(ten)]
    references = "|a4|\n" * 200
    source = f"Birds\n=====\n\n.. |a0| replace:: x\n{''.join(definitions)}\n{references}"

    assert "|a4|\n|a4|" in extracted(source, "rst").text


def test_substitutions_that_stay_small_are_made() -> None:
    source = "The |b| and |B| wade.\n\n.. |a| replace:: heron\n.. |b| replace:: |a| or |a|\n"

    assert extracted(source, "rst").text == "The heron or heron and heron or heron wade.\n"


def test_a_substitution_within_itself_is_left_as_it_is_written() -> None:
    source = "The |a| wade.\n\n.. |a| replace:: |b|\n.. |b| replace:: |a|\n"

    assert "The |a| wade." in extracted(source, "rst").text
