"""`inspect`: what a release is and what it promises, in words."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from .output import print_json, say
from .reading import ReleaseArgument


def inspect(
    release: ReleaseArgument,
    json: Annotated[bool, Option("--json", help="Print the manifest and the same facts as JSON.")] = False,
    verify: Annotated[
        bool,
        Option(
            "--verify", help="Read all of a large release's table too, compare its checksum and give the fingerprint."
        ),
    ] = False,
    program: Annotated[
        bool, Option("--program", help="Print a Python program that makes the release once more, of other records.")
    ] = False,
) -> None:
    """Say what a release is, what it promises to whom, and what noise was added."""
    import mmap

    from ..figures.report.label import describe, to_json
    from ..machine.tables import Table
    from ..releases.release import load

    opened = load(release, verify=verify)
    if program:
        from ..figures.report.programs import command_for, program_for

        print(program_for(opened), end="")
        say(f"The same by a command, beside the file: {command_for(opened, release.name)}")
        return
    # A file that is read through for its fingerprint need not be in memory for that.
    with release.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        content = None if isinstance(opened.counters, Table) and not verify else mapped
        if json:
            print_json(to_json(opened, content))
        else:
            print("\n".join(describe(opened, content)))
    if verify:
        say("The whole file was read, and its checksum is right.")
