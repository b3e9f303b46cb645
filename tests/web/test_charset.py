from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.web.charset import decode_as, decode_body
from citewell.web.charset_labels import codec_of, encoding_for_label

JAPANESE = "アオサギはサギ科の鳥で、水辺に立って魚を待っています。"


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "iso-2022-jp"])
def test_japanese_is_read_by_header_by_meta_and_without_any_label(encoding: str) -> None:
    plain = JAPANESE.encode(encoding)
    declared = f'<html><head><meta charset="{encoding}"></head>'.encode() + plain

    by_header = decode_body(plain, content_type=f"text/html; charset={encoding}")
    by_meta = decode_body(declared)
    by_its_bytes = decode_body(b"<p>" + plain)

    assert by_header.text == JAPANESE
    assert by_meta.text.endswith(JAPANESE)
    assert by_its_bytes.text == "<p>" + JAPANESE
    assert {by_header.encoding, by_meta.encoding, by_its_bytes.encoding} == {encoding}


def test_a_byte_order_mark_outweighs_the_header() -> None:
    body = "\ufeffheron é".encode()

    decoded = decode_body(body, content_type="text/html; charset=shift_jis")

    assert (decoded.text, decoded.encoding) == ("heron é", "utf-8")


def test_utf_16_is_read_by_its_mark() -> None:
    assert decode_body("\ufeffサギ".encode("utf-16-be")).text == "サギ"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", ["<p>青鷺は浅い水の中を歩く。</p>", "Серая цапля ждёт рыбу.\n" * 40]
)
def test_utf_16_is_read_without_its_mark(encoding: str, text: str) -> None:
    decoded = decode_body(text.encode(encoding))

    assert (decoded.text, decoded.encoding) == (text, encoding.replace("16-", "16"))


def test_the_header_outweighs_the_meta() -> None:
    body = b'<meta charset="windows-1251">\xe9'

    assert decode_body(body, content_type="text/html; charset=iso-8859-1").text.endswith("é")


@pytest.mark.parametrize(
    "head",
    [
        b"<meta charset=windows-1251>",
        b"<META CHARSET = 'Windows-1251' />",
        b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        b'<meta content="text/html; charset=cp1251" http-equiv=content-type>',
        b"<!-- \xe6 --><title>\xe6</title><meta charset=windows-1251>",
        b'<script>if (a < b) "<meta charset=utf-8>"</script><meta charset=windows-1251>',
        b"<link rel=a>" + b" " * 2000 + b"<meta charset=windows-1251>",
        b"<?xml version='1.0' encoding='windows-1251'?>",
    ],
)
def test_a_declaration_in_the_head_counts(head: bytes) -> None:
    assert decode_body(head + b"<body>\xe6").text.endswith("ж")


@pytest.mark.parametrize(
    "head",
    [
        b"<!-- <meta charset=windows-1251> -->",
        b"<title><meta charset=windows-1251></title>",
        b"<body><p>" + b" " * 2000 + b"<meta charset=windows-1251>",
        b"<meta name=charset content=windows-1251>",
        b"<meta charset=no-such-charset>",
    ],
)
def test_what_only_looks_like_a_declaration_does_not_count(head: bytes) -> None:
    assert decode_body(head + b"<body>\xe6").text.endswith("æ")


def test_a_declaration_that_cannot_be_true_means_utf_8() -> None:
    assert decode_body('<meta charset="utf-16"><p>é'.encode()).text.endswith("é")


@pytest.mark.parametrize(
    ("label", "encoding"),
    [("ISO-8859-1", "windows-1252"), ("gb2312", "gbk"), (" sjis ", "shift_jis"),
     ("ks_c_5601-1987", "euc-kr"), ("latin2", "iso-8859-2"), ("heron", None)],
)  # fmt: skip
def test_a_label_means_what_browsers_take_it_to_mean(label: str, encoding: str | None) -> None:
    assert encoding_for_label(label) == encoding


@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        ("windows-1252", b"\x80\x81\x9d", "€\x81\x9d"),
        ("shift_jis", b"\x87\x40\x81\x60", "①～"),
        ("shift_jis", b"\xfa<p>", "\ufffd<p>"),
        ("euc-jp", b"\xad\xa1\xa1\xc1", "①～"),
        ("euc-jp", b"\xb0<p>", "\ufffd<p>"),
        ("iso-2022-jp", b"\x1b$B-!\x1b(B \x1b(I1\x1b(B", "① ｱ"),
        ("euc-kr", "똠방각하".encode("cp949"), "똠방각하"),
        ("gbk", "鹭€".encode("gb18030"), "鹭€"),
        ("x-user-defined", b"a\xff", "a\uf7ff"),
    ],
)
def test_encodings_follow_the_web_standard(encoding: str, body: bytes, text: str) -> None:
    assert decode_as(body, encoding) == text


def test_one_bad_byte_does_not_make_utf_8_another_encoding() -> None:
    decoded = decode_body(JAPANESE.encode() * 3 + b"\xff")

    assert decoded.encoding == "utf-8"
    assert decoded.text == JAPANESE * 3 + "\ufffd"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "windows-1251",
            "Цапли живут у рек и озёр, едят рыбу и лягушек. Зимой они улетают к морю.",
        ),
        ("koi8-u", "Чаплі живуть біля річок та озер. Взимку вони відлітають до моря."),
        ("windows-1253", "Οι ερωδιοί ζουν σε ποτάμια και λίμνες. Το χειμώνα πετούν στη θάλασσα."),
        ("iso-8859-7", "Άλλοι ερωδιοί ζουν σε ποτάμια και λίμνες. Άλλοι πετούν στη θάλασσα."),
        ("windows-1255", "אנפות חיות ליד נהרות ואגמים ואוכלות דגים. בחורף הן עפות אל הים."),
        ("windows-1256", "تعيش طيور البلشون قرب الأنهار والبحيرات وتأكل السمك في الشتاء."),
        ("windows-874", "นกกระสาอาศัยอยู่ใกล้แม่น้ำและทะเลสาบ กินปลาและกบเป็นอาหาร"),
        ("euc-kr", "왜가리는 강과 호수 가까이에 살고 물고기를 먹는다. 겨울에는 바다로 간다."),
        ("gbk", "鹭生活在河流和湖泊附近，吃鱼和青蛙。冬天它们要飞到海边去，在那里可以看到它们。"),
        ("big5", "鷺生活在河流和湖泊附近，吃魚和青蛙。冬天牠們要飛到海邊去，在那裡可以看到牠們。"),
    ],
)
def test_the_language_of_text_without_a_label_names_its_encoding(encoding: str, text: str) -> None:
    decoded = decode_body(text.encode(codec_of(encoding)), kind="text")

    assert (decoded.encoding, decoded.text) == (encoding, text)


def test_accents_of_western_text_are_not_taken_for_another_script() -> None:
    text = "Les hérons pêchent à l'été, déjà là-bas, où ça? Créée à Orléans, près du café."

    assert decode_body(text.encode("cp1252"), kind="text").text == text


def test_western_text_without_a_label_is_windows_1252() -> None:
    assert decode_body("<p>Le héron cendré “pêche”".encode("cp1252")).text.endswith("“pêche”")


def test_xml_without_a_declaration_is_utf_8() -> None:
    decoded = decode_body(b"<a>\xe9</a>", kind="xml")

    assert (decoded.text, decoded.encoding) == ("<a>\ufffd</a>", "utf-8")


@pytest.mark.parametrize(
    "piece", [b"<a", b"<!--", b"<script", b'<a "', b'<a "<a ', b"<meta ", b"</script "]
)
def test_hostile_markup_is_searched_quickly(piece: bytes) -> None:
    started = time.perf_counter()

    decode_body(piece * 200_000 + b"\xe9")

    assert time.perf_counter() - started < 2.0


@given(st.binary(max_size=200), st.sampled_from(["", "euc-jp", "shift_jis", "iso-2022-jp", "gbk"]))
def test_any_bytes_become_text(body: bytes, charset: str) -> None:
    decoded = decode_body(body, content_type=f"text/html; charset={charset}")

    assert isinstance(decoded.text, str)
