"""The version of everything between a response and the stored page."""

EXTRACTOR_VERSION = 13
"""To be raised by one whenever text, sections, links or chunks made of the same response change.

Stored pages of an older version are then read again from the responses kept beside them.
"""
