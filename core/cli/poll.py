"""`poll`: polls of a class, on its own network, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import RequestError
from .output import say


def poll(
    surveys: Annotated[
        list[Path] | None,
        Argument(metavar="SURVEYS", help="Survey files to make polls of; without any, those there are."),
    ] = None,
    host: Annotated[
        str, Option(help="Where it listens: this computer's address in the class's network.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=1, max=65_535, help="Its port.")] = 8502,
    polls: Annotated[Path | None, Option(metavar="FILE", help="Where polls are kept.")] = None,
    export: Annotated[
        str | None, Option(metavar="POLL", help="Write a poll's reports to --out instead, and end.", show_default=False)
    ] = None,
    close: Annotated[
        str | None, Option(metavar="POLL", help="Close a poll instead, and end.", show_default=False)
    ] = None,
    reveal: Annotated[
        str | None, Option(metavar="POLL", help="Reveal a made-up class instead, and end.", show_default=False)
    ] = None,
    made_up: Annotated[
        int | None,
        Option(
            metavar="STUDENTS",
            help="So many made-up students answer the polls of SURVEYS, each as chance has it; nobody else can.",
            min=1,
            max=100_000,
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="For --export, a .parquet file.")] = None,
) -> None:
    """Serve polls to a class: coins are flipped in the browsers of those who answer, and only reports travel."""
    from ..local.poll.link import link
    from ..local.poll.made_up import class_of
    from ..local.poll.server import PollServer
    from ..local.poll.store import Polls, usual_file
    from ..local.survey import Survey, read_survey
    from .output import check_writable

    kept = Polls(polls or usual_file())
    if close is not None:
        kept.poll(close)
        kept.close(close)
        say(f"The poll {close} is closed.")
        return
    if reveal is not None:
        kept.reveal(reveal)
        say(f"What the made-up class of the poll {reveal} said is revealed on its projector's page.")
        return
    if export is not None:
        if out is None or out.suffix.lower() != ".parquet":
            raise RequestError("Say by --out to which .parquet file the reports go.")
        check_writable(out)
        say(f"{kept.export(export, out):,} reports were written.")
        return
    for path in surveys or ():
        survey = read_survey(path)
        if not isinstance(survey, Survey):
            raise RequestError("A poll has a list of answers, and not texts.")
        if made_up is None:
            kept.make(survey)
        else:
            kept.make_up(survey, class_of(made_up, len(survey.answers)))
    names = kept.every()
    if not names:
        raise RequestError("There is no poll to serve; name a survey file.")
    try:
        server = PollServer(kept, host, port)
    except OSError as problem:
        raise RequestError(f"Nothing can listen at {host}:{port}: {problem.strerror or problem}.") from None
    for name in names:
        way = link(f"{host}:{port}", *server.listens, name)
        print(f"{kept.poll(name).survey.question}: {way} (projector: …/{name}/show)", flush=True)
    with server:
        server.serve_forever()
