"""Attacks on Citewell, in groups; `python -m bench.redteam [GROUP …]` prints tried and held."""
