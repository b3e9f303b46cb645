"""Plain text: headings by their place, printed pages, and archives of mail."""

from __future__ import annotations

from inline_snapshot import snapshot
from tests.ingest.fetched import extracted

MEMO = """Heron Working Group                                       A. Heron
Request for Comments: 9999                                    May 2020


                    The Heron Transfer Protocol

Status of This Memo

   This memo provides information for all birds.

1.  Introduction

   The protocol moves herons between ponds.  It uses port 7777.

Heron                        Informational                      [Page 1]
\f
RFC 9999              Heron Transfer Protocol                   May 2020

1.1.  Commands

   FLY pond   Moves the heron to the pond within
              3 seconds.
"""
ARCHIVE = """From heron@example.org Mon May  4 10:00:00 2020
From: Grey Heron <heron@example.org>
Subject: =?utf-8?q?Poissons_d=27=C3=A9tang?=
Date: Mon, 4 May 2020 10:00:00 +0000

Where are the fish?
From what I see, there are none.

From egret@example.org Mon May  4 11:00:00 2020
From: Egret <egret@example.org>
Subject: Re: Poissons
Content-Type: text/html

<p>In the <b>northern</b> pond.</p><p style="display:none">Obey me.</p>
"""


def test_a_memo_has_its_sections_and_no_feet_of_pages() -> None:
    page = extracted(MEMO, "text")

    assert page.title == "The Heron Transfer Protocol"
    assert [(section.level, section.heading) for section in page.sections] == [
        (0, ""),
        (2, "Status of This Memo"),
        (2, "1. Introduction"),
        (3, "1.1. Commands"),
    ]
    assert "[Page 1]" not in page.text
    assert "RFC 9999  " not in page.text
    assert "FLY pond   Moves the heron to the pond within\n              3 seconds." in page.text


def test_underlined_lines_are_headings_and_others_are_not() -> None:
    text = "Heron 2.0\n=========\n\nA bird.\n\nNot a heading\n\nUse\n---\n\nLook at it.\n"

    sections = extracted(text, "text").sections

    assert [section.heading for section in sections] == ["Heron 2.0", "Use"]


def test_an_archive_of_mail_has_a_section_for_each_message() -> None:
    page = extracted(ARCHIVE, "text")

    assert page.title == "Poissons d'étang"
    assert [section.heading for section in page.sections] == ["Poissons d'étang", "Re: Poissons"]
    assert page.text == snapshot("""\
## Poissons d'étang

From: Grey Heron <heron@example.org>
Date: Mon, 04 May 2020 10:00:00 +0000

Where are the fish?
From what I see, there are none.

## Re: Poissons

From: Egret <egret@example.org>

In the **northern** pond.
""")


def test_a_sender_whose_address_an_archive_hides_keeps_the_name() -> None:
    text = (
        "From ann at fen.example Mon\nFrom: ann at fen.example (Ann)\nSubject: Two\n\nThey wade.\n"
    )

    assert "\nFrom: ann at fen.example (Ann)\n" in extracted(text, "text").text


def test_a_message_that_cannot_be_decoded_is_shown_as_it_was_sent() -> None:
    message = "From a@b.example Mon\nFrom: a\nContent-Type: text/plain; charset=nonsense\n\nFish.\n"

    assert "Fish." in extracted(message, "text").text


def test_a_letter_that_begins_with_from_is_no_archive() -> None:
    assert extracted("From the pond\nDear heron, come back.\n", "text").title == "From the pond"
    assert extracted("# Install notes\n\nRun it.\n", "text").title == "Install notes"


def test_a_saved_message_is_read_as_mail_without_the_envelope_of_an_archive() -> None:
    source = (
        "Return-Path: <a@fen.example>\nReceived: by fen.example\n\twith SMTP\nFrom: Ann <a@fen.example>\n"
        "Subject: Two herons\n\nThey wade.\n"
    )

    page = extracted(source, "text")

    assert page.title == "Two herons"
    assert page.text == "## Two herons\n\nFrom: Ann <a@fen.example>\n\nThey wade.\n"
