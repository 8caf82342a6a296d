"""The time, by which releases and entries of a ledger are dated; an audit that repeats a release stops it."""

from datetime import UTC, datetime


def utc() -> datetime:
    """Now, in coordinated universal time."""
    return datetime.now(UTC)
