"""Typed fields of job postings, articles and company pages, in English and Japanese."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.fetched import extracted, fetched

from citewell.core.content_fields import TYPED_CONTENTS, ContentField, load_fields
from citewell.core.library import TypedContent
from citewell.ingest.content_types.read import MAX_VALUES, extract_content_fields, extract_fields

ENGLISH_JOB = """<main><h1>Backend Engineer at Acme</h1>
<p>We hire a full-time engineer who builds payments with us. You are paid $120,000 - $150,000 per
year, wherever you live.</p>
<p><strong>Location:</strong> Tokyo, Japan</p>
<h2>What you'll need</h2><ul><li>5 years of <b>Python</b></li><li>SQL</li></ul>
<h3>Technical</h3><ul><li>Linux</li></ul>
<h2>Preferred qualifications</h2><ul><li>Rust</li></ul>
<h2>Benefits</h2><p>Health insurance. Stock options.</p></main>"""

JAPANESE_JOB = """<main><h1>決済基盤の開発</h1>
<p>株式会社サンプルでは、決済基盤を作るエンジニアを募集しています。一緒に開発しませんか。</p>
<h2>募集要項</h2>
<table><tr><th>職種</th><td>バックエンドエンジニア</td></tr>
<tr><th>給与</th><td>年収600万円〜900万円（経験による）</td></tr>
<tr><th>勤務地</th><td>東京都渋谷区</td></tr><tr><th>雇用形態</th><td>正社員</td></tr></table>
<h2>応募資格</h2><p>【必須スキル】</p><ul><li>Goでの開発経験3年以上</li></ul>
<p>【歓迎要件】</p><ul><li>Kubernetesの経験</li></ul>
<h2>福利厚生</h2><ul><li>社会保険完備</li><li>書籍購入補助</li></ul></main>"""


def values(source: str, content_type: TypedContent = "job_posting") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for field in extract_content_fields(extracted(source), content_type):
        found.setdefault(field.name, []).append(field.value)
    return found


def with_json_ld(data: object, body: str) -> str:
    block = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return f"<html><head>{block}</head><body><main>{body}</main></body></html>"


def test_a_job_posting_is_read_from_its_headings_and_labels() -> None:
    assert values(ENGLISH_JOB) == {
        "company": ["Acme"],
        "role": ["Backend Engineer"],
        "location": ["Tokyo, Japan"],
        "employment_type": ["full-time"],
        "salary": ["$120,000 - $150,000 per year"],
        "requirements": ["5 years of Python", "SQL", "Linux"],
        "nice_to_have": ["Rust"],
        "benefits": ["Health insurance.", "Stock options."],
    }


def test_a_japanese_job_posting_is_read_from_its_table_and_brackets() -> None:
    assert values(JAPANESE_JOB) == {
        "company": ["株式会社サンプル"],
        "role": ["バックエンドエンジニア"],
        "location": ["東京都渋谷区"],
        "employment_type": ["正社員"],
        "salary": ["年収600万円〜900万円（経験による）"],
        "requirements": ["Goでの開発経験3年以上"],
        "nice_to_have": ["Kubernetesの経験"],
        "benefits": ["社会保険完備", "書籍購入補助"],
    }


def test_json_ld_comes_first_and_is_anchored_where_the_page_shows_it() -> None:
    data = {
        "@type": "JobPosting",
        "title": "Site Reliability Engineer",
        "hiringOrganization": {"@type": "Organization", "name": "Acme KK"},
        "jobLocation": {"address": {"addressLocality": "Tokyo", "addressCountry": "JP"}},
        "employmentType": "FULL_TIME",
        "baseSalary": {
            "currency": "JPY",
            "value": {"minValue": 6000000, "maxValue": 9000000, "unitText": "YEAR"},
        },
        "skills": "<ul><li>Go</li><li>Terraform</li></ul>",
    }
    page = extracted(
        with_json_ld(data, "<h1>SRE</h1><p>Acme KK keeps a platform running day and night.</p>")
    )

    found = {field.value: field for field in extract_content_fields(page, "job_posting")}

    assert list(found) == [
        "Acme KK",
        "Site Reliability Engineer",
        "Tokyo, JP",
        "full-time",
        "JPY 6000000–9000000 per year",
        "Go",
        "Terraform",
    ]
    company, salary = found["Acme KK"], found["JPY 6000000–9000000 per year"]
    assert company.start is not None
    assert page.text[company.start : company.end] == company.quote == "Acme KK"
    assert (salary.start, salary.path) == (None, "structured_data[0].baseSalary")
    assert "9000000" in salary.quote


def test_microdata_says_the_same_as_json_ld() -> None:
    page = """<div itemscope itemtype="https://schema.org/JobPosting">
    <h1 itemprop="title">Data Engineer</h1>
    <div itemprop="hiringOrganization" itemscope itemtype="https://schema.org/Organization">
    <span itemprop="name">Heron Ltd</span></div>
    <p>We look for someone who carries data from birds to people all over the world.</p>
    <span itemprop="jobLocation" itemscope itemtype="https://schema.org/Place">
    <span itemprop="address">Osaka</span></span>
    <ul itemprop="qualifications"><li>Spark</li><li>Kafka</li></ul>
    <meta itemprop="employmentType" content="PART_TIME"></div>"""

    assert values(page) == {
        "company": ["Heron Ltd"],
        "role": ["Data Engineer"],
        "location": ["Osaka"],
        "employment_type": ["part-time"],
        "requirements": ["Spark", "Kafka"],
    }


def test_an_article_has_author_date_and_tips() -> None:
    page = """<html><head><meta name="author" content="Jane Doe">
    <meta property="article:published_time" content="2024-05-01"></head><body><article>
    <h1>Interviewing in Japan</h1><p>Interviews differ from country to country, as I found out.</p>
    <h2>Tips</h2><h3>1. Be on time</h3><p>Ten minutes early is on time.</p>
    <h3>2. Bring paper</h3><p>Print it on good paper.</p></article></body></html>"""

    assert values(page, "blog_article") == {
        "author": ["Jane Doe"],
        "date": ["2024-05-01"],
        "tips": ["1. Be on time", "2. Bring paper"],
    }


def test_a_japanese_article_has_its_points_as_tips() -> None:
    page = """<article><h1>転職面接の準備</h1><p>投稿日：2024年5月1日</p><p>著者：山田太郎</p>
    <p>面接は準備がすべてです。ここでは長年の経験から学んだことを紹介します。</p>
    <h2>面接のコツ</h2><ul><li>時間を守る</li><li>企業研究をする</li></ul></article>"""

    assert values(page, "blog_article")["tips"] == ["時間を守る", "企業研究をする"]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param(
            "<h1>About</h1><p>Heron makes software for people who count birds in the wild.</p>"
            "<h2>Our values</h2><ul><li>Honesty</li></ul><h2>Life at Heron</h2>"
            "<p>We work in small teams.</p><p>Industry: Software</p>",
            {
                "values": ["Honesty"],
                "culture": ["We work in small teams."],
                "industry": ["Software"],
            },
            id="english",
        ),
        pytest.param(
            "<h1>会社概要</h1><table><tr><th>会社名</th><td>株式会社サギ</td></tr>"
            "<tr><th>業種</th><td>情報通信業</td></tr><tr><th>所在地</th><td>東京都</td></tr></table>"
            "<h2>行動指針</h2><ul><li>誠実であること</li></ul><h2>社風</h2>"
            "<p>少人数のチームで働きます。</p>",
            {
                "company": ["株式会社サギ"],
                "location": ["東京都"],
                "values": ["誠実であること"],
                "culture": ["少人数のチームで働きます。"],
                "industry": ["情報通信業"],
            },
            id="japanese",
        ),
    ],
)
def test_a_company_page_has_values_culture_and_industry(
    page: str, expected: dict[str, list[str]]
) -> None:
    assert values(f"<main>{page}</main>", "company_page") == expected


def test_a_page_that_says_nothing_of_the_kind_has_no_fields() -> None:
    page = (
        "<main><p>The grey heron eats fish, and it stands still for hours to get them.</p></main>"
    )

    assert all(values(page, content_type) == {} for content_type in TYPED_CONTENTS)


def test_labels_inside_code_announce_nothing() -> None:
    page = "<main><p>This is how a posting is written in our format.</p><pre>Salary: 5</pre></main>"

    assert values(page) == {}


def test_lists_are_bounded() -> None:
    items = "".join(f"<li>Skill number {n}</li>" for n in range(100))

    assert len(values(f"<main><h2>Requirements</h2><ul>{items}</ul></main>")["requirements"]) == (
        MAX_VALUES
    )


def test_fields_survive_the_way_through_the_library() -> None:
    source = fetched(JAPANESE_JOB)
    page = extracted(JAPANESE_JOB)

    plain = json.loads(json.dumps(extract_fields(source, page, "job_posting")))

    assert load_fields(plain) == tuple(
        sorted(extract_content_fields(page, "job_posting"), key=lambda field: _order(field, plain))
    )
    assert extract_fields(source, page, "general") == {}


def _order(field: ContentField, plain: dict[str, object]) -> int:
    return list(plain).index(field.name)


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            [
                "# Engineer at Acme",
                "## Requirements",
                "**必須スキル**",
                "- a *b* [c](https://d.example/)",
                "| 給与 | **年収** 600万円 |",
                "Location:  **Tokyo**  ",
                "【歓迎要件】Rust",
                "```",
                "### 1. Do it",
                "By Jane Doe",
                "Salary: $5 per hour. More.",
                "",
            ]
        ),
        max_size=25,
    ),
    st.sampled_from(TYPED_CONTENTS),
)
def test_every_field_of_the_text_is_a_slice_of_it(
    lines: list[str], content_type: TypedContent
) -> None:
    page = extracted("word\n\n" + "\n".join(lines), "markdown")

    for field in extract_content_fields(page, content_type):
        assert field.start is not None
        assert page.text[field.start : field.end] == field.quote
        assert field.value


def test_neither_a_sentence_nor_the_target_of_a_link_is_a_value() -> None:
    page = """<html><head><meta name="author" content="https://www.facebook.com/acme"></head>
    <body><main><h1>Backend Engineer</h1>
    <p>We hire an engineer who builds the payments platform with us, wherever you live.</p>
    <p><strong>Company:</strong> <a href="https://acme.example/about">Acme Inc.</a></p>
    <p><strong>Location:</strong> We work from Tokyo, but you can live wherever you like.</p>
    <p><strong>Salary:</strong> <a href="/pay">https://acme.example/pay</a></p>
    <p><strong>Industry:</strong> /industries/payments</p>
    <p><strong>Employment type:</strong> ご相談ください。詳しくはお問い合わせへ。</p>
    <h2>Requirements</h2><ul><li><a href="/python">Five years of Python</a></li>
    <li>https://acme.example/list</li><li>You know SQL well enough to teach it.</li></ul>
    </main></body></html>"""

    assert values(page) == {
        "company": ["Acme Inc."],
        "role": ["Backend Engineer"],
        "requirements": ["Five years of Python", "You know SQL well enough to teach it."],
    }
    assert "author" not in values(page, "blog_article")
