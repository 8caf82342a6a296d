"""Packages that only some users need, and that may be missing."""

from __future__ import annotations

from importlib.util import find_spec

from ..errors import RequestError


def check_extra(package: str, extra: str, what: str) -> None:
    """RequestError where a package is missing that an extra of the installation brings.

    Parameters
    ----------
    package : str
        What is imported.
    extra : str
        As pyproject.toml names it.
    what : str
        Needs the package, with a capital.
    """
    if find_spec(package) is None:
        raise RequestError(f"{what} needs the package {package}: install Frostglass with its extra {extra!r}.")
