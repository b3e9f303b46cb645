"""Under which names the definitions of a Python package are found, and with which signatures."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from tests.ingest.packages.project_folder import install

from citewell.ingest.packages.docstrings import docstring_markdown
from citewell.ingest.packages.find import find_project, package_pages

if TYPE_CHECKING:
    from pathlib import Path


def pages_of(tmp_path: Path, files: dict[str, str]) -> dict[str, str]:
    """Return the text of each module's page by the name of the module."""
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    install(site, "herons", "1", files)
    (found,) = find_project(tmp_path).dependencies
    loaded = {page.address.partition("/")[2]: page.load() for page in package_pages(found)}
    return {name: page.text for name, page in loaded.items() if page is not None}


def test_the_stub_of_a_compiled_module_is_read(tmp_path: Path) -> None:
    pages = pages_of(
        tmp_path,
        {
            "herons/__init__.py": "from ._core import Heron, count\n",
            "herons/_core.so": "",
            "herons/__init__.pyi": (
                "from typing import overload\nclass Heron:\n    def wade(self, depth: float) -> None: ...\n"
                "@overload\ndef count(pond: str) -> int: ...\n"
                "@overload\ndef count(pond: bytes) -> int: ...\n"
            ),
        },
    )

    assert "```python\nclass Heron\ndef wade(depth: float) -> None\n```" in pages["herons"]
    assert "def count(pond: str) -> int" in pages["herons"]


def test_overloads_in_a_stub_of_what_is_imported_from_a_source_are_passed_over(
    tmp_path: Path,
) -> None:
    files = {
        "herons/__init__.py": "from ._birds import count\ndef own():\n    'Own.'\n",
        "herons/__init__.pyi": (
            "from typing import overload\n@overload\ndef count(pond: str) -> int: ...\n"
            "@overload\ndef count(pond: bytes) -> int: ...\ndef own() -> int: ...\n"
        ),
        "herons/_birds.py": "def count(pond):\n    'Count them.'\n",
    }

    pages = pages_of(tmp_path, files)

    assert "def own() -> int\n```\n\nOwn." in pages["herons"]
    assert "## `herons.count` {#count}" in pages["herons._birds"]


def test_a_stub_gives_the_types_and_the_source_the_words(tmp_path: Path) -> None:
    files = {
        "herons.py": 'def count(pond, minutes=5):\n    """Count them."""\n',
        "herons.pyi": "def count(pond: str, minutes: int = ...) -> int: ...\n",
    }

    page = pages_of(tmp_path, files)["herons"]

    assert "def count(pond: str, minutes: int = 5) -> int\n```\n\nCount them." in page
    assert "Defined in herons.py, line 1." in page


@pytest.mark.parametrize(("marker", "expected"), [({}, "-> int"), ({"herons/py.typed": ""}, "")])
def test_a_package_without_types_has_those_of_its_stubs_package(
    tmp_path: Path, marker: dict[str, str], expected: str
) -> None:
    stubs = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages" / "herons-stubs"
    stubs.mkdir(parents=True)
    (stubs / "__init__.pyi").write_text("def count() -> int: ...\n", encoding="utf-8")
    source = {"herons/__init__.py": 'def count():\n    """Count them."""\n'}

    page = pages_of(tmp_path, source | marker)["herons"]

    assert f"def count() {expected}".rstrip() + "\n```" in page


def test_what_the_package_chooses_for_this_machine_has_its_name(tmp_path: Path) -> None:
    files = {
        "herons/__init__.py": (
            "import os, sys\n"
            "if sys.platform == 'cli':\n    from herons.cli import Heron\n"
            f"elif os.name == {os.name!r}:\n    from herons.here import Heron\n"
            "elif os.name == 'java':\n    from herons.java import Heron\n"
            "else:\n    raise ImportError\n"
        ),
        "herons/here.py": "class Heron:\n    'Of this machine.'\n",
        "herons/java.py": "class Heron:\n    'Of another one.'\n",
        "herons/cli.py": "class Heron:\n    'Of another one.'\n",
    }

    pages = pages_of(tmp_path, files)

    assert "## `herons.Heron` {#Heron}" in pages["herons.here"]
    assert "## `herons.java.Heron` {#Heron}" in pages["herons.java"]
    assert "## `herons.cli.Heron` {#Heron}" in pages["herons.cli"]


def test_definitions_for_other_platforms_are_left_out(tmp_path: Path) -> None:
    module = (
        "import sys\n"
        "if sys.platform == 'nowhere' or (not TYPE_CHECKING and hasattr(sys, 'x')):\n"
        "    @decorated\n    def wade():\n        'Elsewhere.'\n"
        "elif sys.platform != 'nowhere':\n    def wade():\n        'Here.'\n"
        "else:\n    def wade():\n        'Elsewhere.'\n"
        f"if sys.platform in ({sys.platform!r}, 'x'): pass\n"
    )

    page = pages_of(tmp_path, {"herons.py": module})["herons"]

    assert "Here.\n\nDefined in herons.py, line 7." in page
    assert "Elsewhere" not in page


@pytest.mark.parametrize(
    "passes_on",
    [
        "from ._birds import Heron as Heron\ndef own(): ...\n",
        "from ._birds import Heron\n",
        "from ._birds import Heron\n__all__ = ['Heron']\ndef own(): ...\n",
        "from ._birds import *\n",
        "try:\n    from ._birds import Heron\nexcept ImportError:\n    from ._other import Heron\n",
        "from . import _birds\nfrom ._birds import Heron as Heron\n",
    ],
)
def test_a_public_module_names_what_it_passes_on(tmp_path: Path, passes_on: str) -> None:
    files = {
        "herons/__init__.py": "",
        "herons/watching.py": passes_on,
        "herons/_birds.py": "from ._deep import *\n",
        "herons/_deep.py": "class Heron:\n    def wade(self):\n        'Into water.'\n",
        "herons/_other.py": "class Heron:\n    'Another.'\n",
    }

    pages = pages_of(tmp_path, files)

    assert "### `herons.watching.Heron.wade` {#Heron.wade}" in pages["herons._deep"]
    assert "Defined in herons/_deep.py, line 2." in pages["herons._deep"]


def test_what_a_module_imports_for_itself_stays_private(tmp_path: Path) -> None:
    files = {
        "herons/__init__.py": "",
        "herons/watching.py": "from ._birds import Heron\ndef count() -> Heron: ...\n",
        "herons/_birds.py": "class Heron:\n    'Wades.'\n",
    }

    assert "herons._birds" not in pages_of(tmp_path, files)


def test_an_object_is_documented_by_its_class(tmp_path: Path) -> None:
    files = {
        "herons/__init__.py": (
            "from ._birds import Bird as _Bird\nfrom .ponds import Pond\n"
            "heron = _Bird('grey')\nhome: Pond = make()\n"
        ),
        "herons/_birds.py": "class Bird:\n    def wade(self):\n        'Into water.'\n",
        "herons/ponds.py": "class Pond:\n    'Water.'\n    def fill(self): ...\n",
    }

    pages = pages_of(tmp_path, files)

    assert "### `herons.heron.wade` {#Bird.wade}" in pages["herons._birds"]
    assert "## `herons.home` {#home}" in pages["herons"]
    assert "Object of `herons.Pond`." in pages["herons"]


def test_a_class_says_where_what_it_inherits_is_defined(tmp_path: Path) -> None:
    files = {
        "herons/__init__.py": "",
        "herons/base.py": (
            "class Bird:\n    def fly(self): ...\n    def rest(self): ...\n    def _hide(self): ...\n"
        ),
        "herons/_base.py": "class Wader:\n    def wade(self):\n        'Into water.'\n",
        "herons/grey.py": (
            "from herons import base\nfrom ._base import Wader\n"
            "class Heron(base.Bird, Wader):\n    'Grey.'\n    def rest(self): ...\n"
        ),
    }

    pages = pages_of(tmp_path, files)

    assert "Inherits from `herons.base.Bird`." in pages["herons.grey"]
    assert "### `herons.grey.Heron.wade` {#Heron.wade}" in pages["herons.grey"]
    assert "Defined in herons/_base.py, line 2." in pages["herons.grey"]


def test_another_name_for_a_class_says_so(tmp_path: Path) -> None:
    files = {
        "herons/__init__.py": "from ._birds import Heron\nEgret = Heron\n",
        "herons/_birds.py": "class Bird:\n    'Flies.'\nclass Heron(Bird):\n    'Wades.'\n",
        "herons/all.py": "from herons import _birds\nBird = _birds.Bird\n",
    }

    pages = pages_of(tmp_path, files)

    assert "## `herons.Egret` {#Egret}" in pages["herons"]
    assert "Same as `herons.Heron`, `herons.all.Bird`." in pages["herons"]
    assert "## `herons.all.Bird` {#Bird}" in pages["herons._birds"]


def test_members_of_a_class_without_a_docstring_are_listed(tmp_path: Path) -> None:
    module = (
        "class Heron:\n    depth: float = 0.5\n    hidden = 1\n    def wade(self, depth): ...\n"
        "    @property\n    def colour(self) -> str: ...\n    @property\n    def age(self): ...\n"
    )

    page = pages_of(tmp_path, {"herons.py": module})["herons"]

    assert (
        "```python\nclass Heron\ndef wade(depth)\ndepth: float\ncolour: str\nage: property\n```"
    ) in page


def test_a_long_signature_is_short_enough_for_a_quote_and_given_whole_below(
    tmp_path: Path,
) -> None:
    many = ", ".join(f"option_{number}: dict[str, int] | None = None" for number in range(40))
    module = f'def count(pond: str, *, {many}) -> int:\n    """Count them. Slowly."""\n'

    page = pages_of(tmp_path, {"herons.py": module})["herons"]

    signature, _, rest = page.partition("```python\n")[2].partition("\n```\n\n")
    assert signature.startswith("def count(\n    pond: str,\n    *,\n    option_0=None,\n")
    assert signature.endswith("    …,\n)")
    assert len(signature) < 600
    assert rest.startswith("Count them. Slowly.")
    assert "**Parameters**\n\n- `pond: str`\n- `option_0: dict[str, int] | None = None`\n" in rest
    assert "- `option_39: dict[str, int] | None = None`\n\nDefined in" in rest


def test_what_doc_says_of_a_parameter_is_its_description(tmp_path: Path) -> None:
    module = (
        "def count(\n    pond: Annotated[str, Doc('''\n        Where to look.\n\n        Any.''')],\n"
        "    *rest: Annotated[int, Range(1)],\n):\n    'Count them.'\n"
    )

    page = pages_of(tmp_path, {"herons.py": module})["herons"]

    assert "def count(pond: str, *rest: Annotated[int, Range(1)])\n```" in page
    assert "Count them.\n\n**Parameters**\n\n- pond: Where to look.\n  \n  Any.\n" in page


def test_a_docstring_begins_with_its_summary(tmp_path: Path) -> None:
    module = (
        "def count(pond):\n    '''count(pond, minutes=5) -> int\n\n    Count them.'''\n"
        "def wade():\n    '''!!! abstract \"Guide\"\n        See there.\n\n    Walk in.\n    Slowly.'''\n"
    )

    page = pages_of(tmp_path, {"herons.py": module})["herons"]

    assert "def count(pond)\n```\n\nCount them.\n" in page
    assert (
        "def wade()\n```\n\nWalk in.\nSlowly.\n\n\n:::abstract\n\n**Guide**\n\nSee there." in page
    )


def test_a_section_of_numpys_style_ends_the_one_before() -> None:
    docstring = (
        "Count.\n\nParameters\n----------\npond : str\n    Where.\n\nNotes\n-----\nSlow, but\nsure.\n\n"
        "Examples\n--------\n>>> count()\n"
    )

    written = docstring_markdown(docstring)

    assert "- pond : str\n  Where.\n\n**Notes**\n\nSlow, but\nsure.\n\n\n**Examples**\n" in written


def test_the_prose_of_a_section_of_googles_style_stays_together() -> None:
    docstring = (
        "Count.\n\nReturns:\n    How many there\n    are.\n\n    >>> 3\n\nArgs:\n    a: One.\n"
    )

    assert docstring_markdown(docstring) == (
        "Count.\n\n\n**Returns**\n\nHow many there\nare.\n\n\n```pycon\n>>> 3\n```\n\n\n**Args**\n\n- a: One."
    )


def test_a_testing_package_is_for_users(tmp_path: Path) -> None:
    files = {
        "herons/testing/__init__.py": "def watch():\n    'Watch.'\n",
        "herons/tests/a.py": "class A: ...",
    }

    assert list(pages_of(tmp_path, files)) == ["herons.testing"]


def test_another_name_for_a_module_is_a_symbol_of_its_package(tmp_path: Path) -> None:
    pages = pages_of(
        tmp_path,
        {
            "herons/__init__.py": '"""Herons."""\nfrom herons import expressions as exp, ponds\nimport os as system\n',
            "herons/expressions.py": '"""What is asked."""\n',
            "herons/ponds.py": '"""Where they are."""\n',
        },
    )

    assert pages["herons"].endswith(
        "Herons.\n\n## `herons.exp` {#exp}\n\n```python\nimport herons.expressions as exp\n```\n"
    )
