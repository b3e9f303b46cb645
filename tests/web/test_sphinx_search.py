from citewell.web.sphinx_search import rank_pages

INDEX = b"""Search.setIndex({
 "docnames": ["api/heron", "birds", "index"],
 "titles": ["heron", "Birds of the pond", "Contents"],
 "terms": {"heron": [0, 1, 2], "wade": 0, "gener": [1], "pond": [0, 1]},
 "titleterms": {"heron": 0, "pond": [1], "bird": [1]},
 "alltitles": {"Birds of the pond": [[1, "birds"]], "heron": [[0, "module-heron"]]}
})"""


def test_pages_come_by_how_many_of_the_words_they_hold() -> None:
    pages = rank_pages(INDEX, {"heron": 1.0, "wade": 1.0}, 2)

    assert pages == [("api/heron", "heron"), ("birds", "Birds of the pond")]


def test_a_heading_counts_for_more_than_a_mention() -> None:
    assert rank_pages(INDEX, {"pond": 1.0}, 1) == [("birds", "Birds of the pond")]


def test_a_stem_that_sphinx_cuts_shorter_is_found() -> None:
    assert rank_pages(INDEX, {"generat": 1.0}, 3) == [("birds", "Birds of the pond")]


def test_what_is_no_search_index_names_nothing() -> None:
    assert rank_pages(b"<html>not found</html>", {"heron": 1.0}, 3) is None
    assert rank_pages(b"Search.setIndex({docnames:[1]})", {"heron": 1.0}, 3) is None
    assert rank_pages(b'Search.setIndex({"terms": {"heron": "x"}})', {"heron": 1.0}, 3) is None
    assert rank_pages(INDEX, {"egret": 1.0}, 3) == []
