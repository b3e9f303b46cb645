"""reStructuredText as canonical Markdown, by way of the HTML that docutils makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en
from docutils.readers import standalone
from docutils.transforms import Transform
from typing_extensions import override

from citewell.core.errors import EmptyPage
from citewell.ingest.extract.characters import clean_plain_text
from citewell.ingest.extract.html.page import extract_html
from citewell.ingest.extract.text import extract_text

if TYPE_CHECKING:
    from docutils.parsers.rst.states import Inliner

    from citewell.core.records import ExtractedPage, FetchedPage

# docutils takes some milliseconds a kilobyte, and for each name that is not defined it looks
# through all others; longer files are kept as plain text.
_MAX_CHARACTERS = 300_000
_MAX_REFERENCES = 3_000
_MAX_NAMES = 200
# What substitutions insert into a page, those that they refer to included.
_MAX_SUBSTITUTED_CHARACTERS = 100_000
_SETTINGS = {
    # Nothing of this machine and no HTML of the page's own gets in.
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "halt_level": 5,
    "report_level": 1,
    "warning_stream": False,
    "input_encoding": "unicode",
    "output_encoding": "unicode",
    "doctitle_xform": False,
    "sectsubtitle_xform": False,
    "docinfo_xform": False,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "math_output": "LaTeX",
    "syntax_highlight": "none",
    "initial_header_level": 1,
    "line_length_limit": 20_000,
}
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+([\w:+.-]{1,60})::", re.MULTILINE)
_ROLE = re.compile(r":([\w:+.-]{1,60}):`")
_TARGET = re.compile(r"([^<]{1,500}+)<[^<>]{1,500}+>")
# Parts of the machinery of a site, which say nothing to a reader, and what only some builds show.
_SILENT = frozenset(
    "index currentmodule module py:module py:currentmodule highlight tabularcolumns only "
    "sectionauthor codeauthor testsetup testcleanup default-domain toctree ifconfig todo "
    "todolist comment ifslides nextslide cssclass rst-class literalinclude".split()
)
_OWN = frozenset({"include", "raw", "csv-table"})
_REFUSED = re.compile(
    r"\s*(?:\.\.[ \t]+)?(?:\|[^|\n]{1,200}\|[ \t]+)?"
    r"(?:include|raw|csv-table|default-role)[ \t]*::",
    re.IGNORECASE,
)
_ROLE_OF = re.compile(
    r"^[ \t]*\.\.[ \t]+role::[ \t]*([\w:+.-]{1,60})[ \t]*\([ \t]*([\w:+.-]{1,60})",
    re.MULTILINE | re.IGNORECASE,
)


def extract_restructured_text(fetched: FetchedPage) -> ExtractedPage:
    """Return a reStructuredText file; directives and roles of Sphinx keep their text.

    Raises:
        EmptyPage: there is no text.
    """
    source = clean_plain_text(fetched.text)
    references = source.count("|") // 2 + source.count("`_") + source.count("]_")
    if len(source) > _MAX_CHARACTERS or references > _MAX_REFERENCES:
        return replace(extract_text(fetched), kind="rst")
    _register_unknown(source)
    try:
        html = _as_html(source)
        page = replace(fetched, text=f"<main>{html}</main>", kind="html", rendered=True)
        return replace(extract_html(page), kind="rst")
    except (EmptyPage, RecursionError, ValueError, AttributeError, IndexError, AssertionError):
        # Its parser gives up on some malformed files; their text is still there.
        return replace(extract_text(fetched), kind="rst")


def _as_html(source: str) -> str:
    tree = publish_doctree(source, reader=_Reader(), settings_overrides=_SETTINGS)
    for message in list(tree.findall(nodes.system_message)):
        # What was not understood, such as an unknown option or a crooked table, stays as it is.
        source_block = next(message.findall(nodes.literal_block), None)
        if source_block is None or _REFUSED.match(source_block.astext()):
            message.parent.remove(message)
        else:
            message.replace_self(source_block)
    _drop_raw_roles(tree, source)
    tree.parse_messages, tree.transform_messages = [], []
    for literal in tree.findall(nodes.literal):
        # Without the class, the writer makes a span of it.
        literal["classes"].append("code")
    for formula in [*tree.findall(nodes.math), *tree.findall(nodes.math_block)]:
        mark = "$" if isinstance(formula, nodes.math) else "$$"
        text = nodes.Text(f"{mark}{formula.astext()}{mark}")
        formula.replace_self(text if mark == "$" else nodes.paragraph("", "", text))
    html = publish_from_doctree(tree, writer="html5", settings_overrides=_SETTINGS)
    return str(html.partition("<body")[2].partition(">")[2].rpartition("</body>")[0])


def _drop_raw_roles(tree: nodes.document, source: str) -> None:
    """Leave out text in roles made from `raw`: HTML of the page's own, which is not let in."""
    raw = {"raw"}
    for name, base in _ROLE_OF.findall(source):
        if base.lower() in raw:
            raw.add(name.lower())
    for problem in list(tree.findall(nodes.problematic)):
        named = _ROLE.match(problem.astext())
        if named is not None and named.group(1).lower() in raw:
            problem.parent.remove(problem)


class _BoundSubstitutions(Transform):
    """Refuses a page whose substitutions refer to each other until they fill the memory."""

    default_priority = 219
    """Just before docutils substitutes; the limit that it has is for each reference alone."""

    def apply(self) -> None:
        """Measure what all references insert.

        Raises:
            ValueError: it is too much, or a substitution contains itself.
        """
        self._sizes: dict[str, int] = {}
        if self._inserted_by(self.document) > _MAX_SUBSTITUTED_CHARACTERS:
            raise ValueError("the substitutions insert too much text")

    def _inserted_by(self, node: nodes.Element) -> int:
        references = node.findall(nodes.substitution_reference)
        return sum(self._size_of(reference["refname"]) for reference in references)

    def _size_of(self, name: str) -> int:
        definitions = self.document.substitution_defs
        key = name if name in definitions else self.document.substitution_names.get(name.lower())
        if key is None:
            return 0
        if key not in self._sizes:
            # Whoever asks for it before it is known asks from inside of it.
            self._sizes[key] = _MAX_SUBSTITUTED_CHARACTERS + 1
            definition = definitions[key]
            self._sizes[key] = len(definition.rawsource) + self._inserted_by(definition)
        return self._sizes[key]


class _Reader(standalone.Reader):  # type: ignore[type-arg] # generic in its stubs only
    @override
    def get_transforms(self) -> list[type[Transform]]:
        return [*super().get_transforms(), _BoundSubstitutions]


class _AnyOptions(dict[str, Callable[[str], object]]):
    """Options of which each is taken as it is."""

    def __missing__(self, name: str) -> Callable[[str], object]:
        return directives.unchanged


class _Code(Directive):
    """A block of code, with whatever options Sphinx knows."""

    optional_arguments = 1
    has_content = True
    option_spec = _AnyOptions(name=directives.unchanged)

    @override
    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        # The writer makes of "language-python" a human language's lang attribute.
        block = nodes.literal_block(text, text, classes=["code", *self.arguments])
        caption = self.options.get("caption")
        return [*([nodes.paragraph("", caption)] if caption else []), block]


class _AnyDirective(Directive):
    """A directive that is not known: its arguments and its content are text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOptions(name=directives.unchanged)

    @override
    def run(self) -> list[nodes.Node]:
        # `hide` is what Sphinx has for tests that only run.
        if self.name.lower() in _SILENT or "hide" in self.options:
            return []
        container = nodes.container()
        argument, _, rest = " ".join(self.arguments).partition("\n")
        if ":" in self.name or self.name.startswith("auto"):
            # A signature, as Sphinx documents functions and classes.
            container += nodes.paragraph("", "", nodes.literal("", argument))
        elif argument or self.name in ("seealso", "deprecated"):
            label = {
                "seealso": "See also",
                "versionadded": "Added in",
                "versionchanged": "Changed in",
            }
            title = label.get(self.name, self.name.capitalize())
            container += nodes.paragraph("", "", nodes.strong("", f"{title} {argument}".strip()))
        if rest.strip():
            container += nodes.paragraph("", "", nodes.Text(" ".join(rest.split())))
        self.state.nested_parse(self.content, self.content_offset, container)
        return [container]


def _any_role(
    name: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Inliner,
    options: dict[str, object] | None = None,
    content: list[str] | None = None,
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return the text of a role that is not known: a title with its target left out, or code."""
    titled = _TARGET.fullmatch(text)
    if titled:
        return [nodes.inline("", titled.group(1).rstrip())], []
    plain = text.lstrip("!~")
    if name.rpartition(":")[2] in ("ref", "doc", "term", "abbr", "guilabel", "menuselection"):
        return [nodes.inline("", plain)], []
    return [nodes.literal("", plain)], []


def _register_unknown(source: str) -> None:
    """Let docutils know the names of directives and roles that a file uses."""
    for name in ("code", "code-block", "sourcecode", "highlight-block"):
        directives.register_directive(name, _Code)
    for name in sorted(set(_DIRECTIVE.findall(source)))[:_MAX_NAMES]:
        if name.lower() not in en.directives and name.lower() not in _OWN:
            directives.register_directive(name, _AnyDirective)
    for name in sorted(set(_ROLE.findall(source)))[:_MAX_NAMES]:
        if name.lower() not in en.roles:
            # The stubs of docutils have roles return references only.
            roles.register_local_role(name.lower(), cast("Any", _any_role))
