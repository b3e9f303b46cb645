"""What a product is called, and when a question means it."""

from __future__ import annotations

import pytest

from citewell.core.product_names import find_mentions, names_of_product


@pytest.mark.parametrize(
    ("prefix", "title", "names"),
    [
        ("http://127.0.0.1:8001/", "kitty", ["kitty"]),
        ("http://127.0.0.1:8001/", "Welcome to Click", ["click"]),
        ("http://127.0.0.1:8001/", "Requests: HTTP for Humans", ["requests"]),
        ("http://127.0.0.1:8001/", "H2O - the optimized HTTP/2 server", ["h2o"]),
        ("http://127.0.0.1:8001/", "Open vSwitch 3.1.0 documentation", ["open vswitch"]),
        ("http://127.0.0.1:8001/", "MIT Kerberos Documentation (1.20.1)", ["mit kerberos"]),
        ("http://127.0.0.1:8001/", "User Guide", []),
        ("http://127.0.0.1:8001/", "How we built a fast web server", []),
        ("https://docs.djangoproject.com/", "", ["django"]),
        ("https://kitty.readthedocs.io/", "Overview", ["kitty"]),
        ("pypi:python-dateutil@", "", ["python dateutil"]),
        ("npm:@types/node@", "", ["node"]),
    ],
)
def test_a_product_is_called_by_its_package_its_host_or_its_start_page(
    prefix: str, title: str, names: list[str]
) -> None:
    found = names_of_product(prefix, title)

    assert [" ".join(name.words) for name in found if name.is_whole] == names


def test_a_word_of_a_longer_name_may_name_it_too() -> None:
    found = names_of_product("http://127.0.0.1/", "MIT Kerberos Documentation")

    assert [name.words for name in found if not name.is_whole] == [("mit",), ("kerberos",)]


@pytest.mark.parametrize(
    "question",
    [
        "How do I add a timeout in requests?",
        "Does requests verify certificates?",
        "How do I send a file with requests when it is large",
        "proxies with the requests library",
        "requests.get returns the wrong encoding",
        "what does `requests` send",
        "pip install requests fails",
        "What license does Requests have",
        "requestsのタイムアウト",
    ],
)
def test_an_ordinary_word_is_a_name_where_it_is_written_as_one(question: str) -> None:
    (mention,) = find_mentions(question, names_of_product("pypi:requests@"))

    assert mention.is_proper


@pytest.mark.parametrize(
    "question",
    [
        "How do I limit the requests a client sends?",
        "Requests are dropped, why?",
        "proxy requests to a backend",
        "timeout of all requests",
        "with requests per second above a limit",
    ],
)
def test_an_ordinary_word_used_as_such_is_no_name(question: str) -> None:
    (mention,) = find_mentions(question, names_of_product("pypi:requests@"))

    assert not mention.is_proper


def test_another_form_of_the_word_is_not_the_name() -> None:
    assert find_mentions("How long may a request take?", names_of_product("pypi:requests@")) == []


@pytest.mark.parametrize("spelling", ["Open vSwitch", "open-vswitch", "OpenvSwitch"])
def test_a_name_of_two_words_is_found_with_any_separator(spelling: str) -> None:
    names = names_of_product("http://127.0.0.1/", "Open vSwitch documentation")

    found = [mention.name.words for mention in find_mentions(f"How does {spelling} bond?", names)]

    assert ("open", "vswitch") in found
