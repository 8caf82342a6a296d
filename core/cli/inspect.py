"""`inspect`: what a release is and what it promises, in words."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from .output import print_json
from .reading import ReleaseArgument


def inspect(
    release: ReleaseArgument,
    json: Annotated[bool, Option("--json", help="Print the manifest and the same facts as JSON.")] = False,
) -> None:
    """Say what a release is, what it promises to whom, and what noise was added."""
    from ..release_file import load
    from ..report.label import describe, to_json

    opened, content = load(release), release.read_bytes()
    if json:
        print_json(to_json(opened, content))
    else:
        print("\n".join(describe(opened, content)))
