"""Citewell: cited, verbatim, bounded evidence from web pages, for language models."""

__version__ = "0.1.0"
