"""The statements that PostgreSQL runs, with parameters as its driver writes them."""

from __future__ import annotations

from citewell.store.sql import load_statements, to_pyformat

SQL = {name: to_pyformat(text) for name, text in load_statements("postgres").items()}
