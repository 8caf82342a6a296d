"""The three ways in which Frostglass says no.

Every message is one sentence for a person: what is wrong, what the limit is, and why there is one. A message may
name columns, types and row numbers; it never repeats a value of the private data.
"""


class RequestError(ValueError):
    """What was asked for cannot be done as asked; nothing was released and nothing was spent (exit code 2)."""


class BudgetError(RequestError):
    """The privacy budget of the data set does not allow the release; nothing was spent (exit code 3)."""


class ReleaseFileError(RequestError):
    """A file that claims to be a release is damaged, hostile, or of a kind this version does not know."""
