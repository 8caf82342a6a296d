"""Which files of the server an owner who has signed in may name: those in places that the configuration gives them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path, PurePath

from ..errors import RequestError

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
REFUSED = "That is in none of the places that you may read from on this server."
"""The same sentence for what is elsewhere and for what does not exist, so that it tells nothing of either."""


def check_named(name: str, places: Collection[str]) -> None:
    """Refuse a path, pattern, database table or address outside of places, before anything is looked at.

    Parameters
    ----------
    name : str
        As it was typed.
    places : Collection[str]
        Folders, and addresses that end with a stroke.

    Raises
    ------
    RequestError
        The same for whatever is refused.
    """
    if not any(_inside(name, place) for place in places):
        raise RequestError(REFUSED)


def check_found(files: Collection[str], places: Collection[str]) -> None:
    """Refuse files that a name has led to by a link out of its place.

    Raises
    ------
    RequestError
        The same as for a name outside.
    """
    roots = [os.path.realpath(place) for place in places if not ADDRESS.match(place)]
    for file in files:
        real = Path(os.path.realpath(file))
        if not any(real.is_relative_to(root) for root in roots):
            raise RequestError(REFUSED)


def _inside(name: str, place: str) -> bool:
    if not name.isprintable():
        return False
    if ADDRESS.match(place):
        # A stroke ends it, so s3://a/b is not in s3://a/bc; what an address may escape into is not asked, but refused.
        return place.endswith("/") and name.startswith(place) and not re.search(r"\.\.|[%\\?#@:]", name[len(place) :])
    path = PurePath(name.partition("::")[0])
    return path.is_absolute() and ".." not in path.parts and path.is_relative_to(place)
