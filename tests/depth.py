"""How deep the tests go: a few minutes for every change, or every sample and every example of the nightly run.

`make test-deep` sets FROSTGLASS_DEEP. Sizes are asked of `draws`, so that both depths run the same lines; a test that
says something only at its full size is marked ``deep``, and one whose cases are nearly alike ``few`` with how many of
them quick runs take: never one that keeps watch over privacy or over what is paid. A statistical test states its
false-alarm rate, which the depth may not change: fewer draws see less, and accuse no more often.
"""

import os
from collections.abc import Iterable, Sequence

import pytest

DEEP = bool(os.environ.get("FROSTGLASS_DEEP"))


def draws(quick: int, deep: int) -> int:
    """How many samples, examples or cases to take."""
    return deep if DEEP else quick


def deep(*values: object) -> object:
    """A case of a parametrized test that only deep runs take."""
    return pytest.param(*values, marks=pytest.mark.deep)


def crossed(these: Sequence[object], those: Sequence[object]) -> list[object]:
    """Pairs of one of these and one of those, of which quick runs take each with the first of the others only."""
    return [
        (this, that) if this is these[0] or that is those[0] else deep(this, that) for this in these for that in those
    ]


def sampled(cases: Iterable[str], *quick: str) -> list[object]:
    """All cases of a parametrized test, of which quick runs take only those that are named here."""
    cases = list(cases)
    assert set(quick) <= set(cases)
    return [case if case in quick else deep(case) for case in cases]
