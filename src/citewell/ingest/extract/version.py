"""The version of everything between a response and the stored page."""

EXTRACTOR_VERSION = 31
"""To be raised by one whenever what is stored of the same response changes.

Stored pages of an older version are then read again from the responses kept beside them.
"""
