"""What people may do where the app is served to others, and which page needs it: all in one place.

A page that is not in `NEEDS` is nobody's, and who has no role sees nothing but the way to sign in. What a role may do
beyond looking at a page is asked where it is done, by `Visitor.has`.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from types import MappingProxyType


class Role(StrEnum):
    """What someone is trusted with."""

    OWNER = "owner"
    """Describes data, releases it, and sees the ledger: of their own data sets only."""
    ANALYST = "analyst"
    """Explores what was released."""
    STEWARD = "steward"
    """Says yes or no to releases above the limit, never to their own; explores what was released."""


ANYONE = frozenset(Role)
OWNERS = frozenset({Role.OWNER})

NEEDS = MappingProxyType(
    {
        "app.py": ANYONE,
        "pages/data.py": OWNERS,
        "pages/release.py": OWNERS,
        "pages/train.py": OWNERS,
        "pages/ledger.py": OWNERS,
        "pages/compare.py": OWNERS,
        "pages/local.py": OWNERS,
        "pages/explore.py": ANYONE,
        "pages/classify.py": ANYONE,
        "pages/learn.py": ANYONE,
        "pages/approve.py": frozenset({Role.STEWARD}),
    }
)
"""The roles of which one is enough to open a page, by its file."""


def may_open(page: str, roles: Collection[Role]) -> bool:
    """Whether somebody with these roles may open a page; nobody may open one that no line above names."""
    return not NEEDS.get(page, frozenset()).isdisjoint(roles)
