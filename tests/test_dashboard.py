"""The page of benchmarks: what got worse is seen."""

from bench.dashboard import draw, is_worse


def test_what_is_worse_hangs_on_the_kind_of_number() -> None:
    assert is_worse("search", 40, 50)
    assert not is_worse("search", 40, 43)
    assert not is_worse("search", 40, 20)
    assert is_worse("64 callers: calls/s", 30, 20)
    assert not is_worse("64 callers: calls/s", 30, 40)
    assert is_worse("nDCG@10, scifact, ours", 0.74, 0.73)
    assert not is_worse("nDCG@10, scifact, ours", 0.74, 0.738)
    assert not is_worse("load average at the end of a program", 2, 20)


def test_the_page_marks_what_got_worse_and_shows_what_is_new() -> None:
    page = draw(
        {"calls": {"search": 50.0, "<answer>": 70.0}}, {"calls": {"search": 40.0}}, {"calls": "CPU"}
    )

    assert page.count("class=worse") == 1
    assert "<h2>CPU</h2>" in page
    assert "+25 %" in page
    assert "&lt;answer&gt;" in page


def test_curves_go_on_dotted_to_sizes_that_were_not_measured() -> None:
    results = {"growth": {"1000: words": 2.0, "10000: words": 4.0, "1000: memory taken, MB": 9.0}}

    page = draw(results, {}, {})

    assert "words: 4 ms at 10k" in page
    assert "memory taken, MB: " not in page
    assert 'stroke-dasharray="2 5"' in page
    assert ">100M</text>" in page


def test_a_group_without_sizes_has_no_curves() -> None:
    assert "<svg viewBox" not in draw({"growth": {"peak memory, MB": 9.0}}, {}, {})
