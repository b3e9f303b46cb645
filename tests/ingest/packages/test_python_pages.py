"""Which definitions of a Python package are shown, and under which names."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.ingest.packages.project_folder import install

from citewell.ingest.extract.extract import extract_page
from citewell.ingest.packages.docstrings import docstring_markdown
from citewell.ingest.packages.find import find_project, front_page, package_pages

MODULE = '''"""Birds."""


class _Wader(_Walker):
    """Shared by all waders."""

    def wade(self, depth: float) -> None:
        """Walk into water."""

    def stand(self) -> None:
        """Stand on two legs."""


class _Walker(_Wader):
    def walk(self) -> None:
        """Walk on land."""


class Heron(_Wader[int]):
    """A grey bird."""

    def stand(self) -> None:
        """Stand on one leg."""


def count(*ponds: str) -> int:
    return 0


def weigh(bird: Heron) -> float:
    return 0
'''


def page_of(tmp_path: Path, address: str, files: dict[str, str]) -> str:
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    install(site, "herons", "1", files)
    (found,) = find_project(tmp_path).dependencies
    loaded = {page.address: page.load() for page in package_pages(found)}
    page = loaded[address]
    assert page is not None
    return page.text


def test_a_class_shows_what_it_inherits_from_private_classes(tmp_path: Path) -> None:
    page = page_of(tmp_path, "pypi:herons@1/birds", {"birds.py": MODULE})

    assert "### `birds.Heron.wade` {#Heron.wade}" in page
    assert "### `birds.Heron.walk` {#Heron.walk}" in page
    assert page.count("Heron.stand` {") == 1
    assert "Stand on one leg." in page
    assert "two legs" not in page
    assert "_Wader`" not in page


def test_a_function_that_a_package_exports_is_shown_without_a_docstring(tmp_path: Path) -> None:
    files = {"herons/__init__.py": "from .birds import count as count\n", "herons/birds.py": MODULE}

    page = page_of(tmp_path, "pypi:herons@1/herons.birds", files)

    assert "## `herons.count` {#count}\n\n```python\ndef count(*ponds: str) -> int\n```" in page


def test_what_has_no_docstring_is_listed_with_what_has_it(tmp_path: Path) -> None:
    module = MODULE.replace('        """Walk into water."""', "        pass")

    page = page_of(tmp_path, "pypi:herons@1/birds", {"birds.py": module})

    assert "class Heron(_Wader[int])\ndef wade(depth: float) -> None\n```" in page
    assert page.endswith(
        "## `birds.*` {#functions}\n\n```python\n"
        "def count(*ponds: str) -> int\ndef weigh(bird: Heron) -> float\n```\n"
    )


def test_what_is_deprecated_says_what_to_use_instead(tmp_path: Path) -> None:
    module = (
        "@typing_extensions.deprecated('Use `stride` instead.', category=None)\n"
        "def wade(depth): ...\n"
        "@deprecated(reason)\ndef nest(): ...\n"
    )

    page = page_of(tmp_path, "pypi:herons@1/birds", {"birds.py": module})

    assert "def wade(depth)\n```\n\n**Deprecated:** Use `stride` instead.\n\nDefined in" in page
    assert page.endswith("## `birds.*` {#functions}\n\n```python\ndef nest()\n```\n")


def test_fields_and_directives_of_docstrings_are_read() -> None:
    docstring = """A pond.

    :ivar depth: in metres,
        at most
    @type depth: C{int}

    .. versionadded:: 3.5

    .. code-block:: python
       :linenos:

       Pond(1)

    - as an item::

        Pond(2)

      and on
    """

    assert docstring_markdown(docstring) == snapshot("""\
A pond.

- ivar depth: in metres,
    at most
- type depth: C{int}


**Added in 3.5**


```python
Pond(1)
```

- as an item:

```
Pond(2)
```

  and on\
""")


RST = """Catches fish.

.. code-block:: python

   # a comment, not a heading
   heron.wade()

Depth
-----

At most ``0.5`` metres.
"""


def headings_of(tmp_path: Path, metadata: str, readme: str) -> list[str]:
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    install(site, "herons", "1", {"herons.py": ""})
    described = f"Metadata-Version: 2.1\nName: herons\nVersion: 1\n{metadata}\n{readme}"
    (site / "herons-1.dist-info" / "METADATA").write_text(described, encoding="utf-8")
    (found,) = find_project(tmp_path).dependencies
    front = front_page(found)
    assert front is not None
    page = front.load()
    assert page is not None
    return [section.heading for section in extract_page(page).sections]


@pytest.mark.parametrize(
    ("metadata", "readme", "headings"),
    [
        ("Description-Content-Type: text/x-rst; charset=UTF-8\n", RST, ["herons", "Depth"]),
        ("", RST, ["herons", "Depth"]),
        ("Description-Content-Type: text/markdown\n", "## Depth\n\n0.5", ["herons", "Depth"]),
        ("", "## Depth\n\nAt most 0.5 metres.\n", ["herons", "Depth"]),
    ],
    ids=["reStructuredText", "its marks", "Markdown", "no marks"],
)
def test_a_readme_is_read_as_what_it_is_written_in(
    tmp_path: Path, metadata: str, readme: str, headings: list[str]
) -> None:
    assert headings_of(tmp_path, metadata, readme) == headings


def test_bundled_documents_are_read_by_their_suffix(tmp_path: Path) -> None:
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    files = {f"docs/wading.{suffix}": "Wade." for suffix in ("md", "rst", "txt")}
    install(site, "herons", "1", files)
    (found,) = find_project(tmp_path).dependencies

    assert {page.address: page.kind for page in package_pages(found)} == {
        "pypi:herons@1/docs/wading.md": "markdown",
        "pypi:herons@1/docs/wading.rst": "rst",
        "pypi:herons@1/docs/wading.txt": "text",
    }


def test_a_definition_that_private_modules_pass_on_has_its_public_name(tmp_path: Path) -> None:
    files = {
        "herons/__init__.py": "from ._waders import Heron\n",
        "herons/_waders.py": "from ._birds import Heron\n",
        "herons/_birds.py": "from ._waders import Heron as Egret\nclass Heron:\n    'Wades.'\n",
    }

    page = page_of(tmp_path, "pypi:herons@1/herons._birds", files)

    assert "## `herons.Heron` {#Heron}" in page
