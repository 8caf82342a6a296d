"""`train --method choose`: the classifier that predicts best, chosen among several under one promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..words.numbers import percent
from ..words.phrases import listed
from .output import check_writable, say

if TYPE_CHECKING:
    from ..domain import Domain
    from ..models.contest.choice import Choice
    from ..privacy.budget import Budget
    from ..releases.payment import Payer
    from ..sources import Source

ENDINGS = (".npz", ".json")
OF_TABLES = 16 << 20
"""Bytes of room for tables of classes, whose size is known only when what it follows from was bought."""


def check_places(out: Path, overwrite: bool) -> None:
    """RequestError when one of the two files that may come out has no place."""
    for ending in ENDINGS:
        check_writable(out.with_suffix(ending), overwrite)


def choose(
    source: Source, domain: Domain, target: str, budget: Budget, payer: Payer, records: int | None, out: Path
) -> Path:
    """Choose, write the file with the ending of its kind, and say what it is.

    Returns
    -------
    Path
        Where it was written.
    """
    from ..models.contest.choice import choose_classifier, chosen_among
    from ..models.linear_model import LinearModel
    from ..models.opening import most_bytes
    from ..models.records import Task
    from ..releases.file import room_for

    # Under its own name once its kind is known, which takes no room.
    nameless = out.with_name(f".{out.stem}.chosen")
    with room_for("classifier", nameless, most_bytes(Task(domain, target)) + OF_TABLES) as file:
        made = choose_classifier(source, domain, target, budget, payer, records, _announce)
        model = isinstance(made, LinearModel)
        if isinstance(made, LinearModel):
            file.write(made.to_bytes())
        else:
            made.write_to(file)
    place = nameless.replace(out.with_suffix(".json" if model else ".npz"))
    among = chosen_among(made)
    if among:
        say(f"It was chosen by records held out, as far as noise lets one tell, among {listed(among)}.")
    for sentence in made.card() if isinstance(made, LinearModel) else []:
        say(sentence)
    kind = "a model: ask it by `predict" if model else "a release with a table for each class: ask it by `classify"
    say(f"It is {kind} {place} QUERIES`.")
    return place


def _announce(choice: Choice) -> None:
    """What is worth making, before anything is spent on it."""
    from ..models.class_counts import SAME_FOR_ALL

    forecast = choice.prospect
    alone = "; ".join(f"{one.title} {percent(learnt, 2)}" for one, learnt in forecast.alone)
    say(f"Learnt of made-up records, beyond always the most common class, by itself under this promise: {alone}.")
    names = [one.title for one in forecast.entrants]
    if choice.counts_alone:
        say("Nothing is worth its price under this promise: the classes are counted, and the largest is the answer.")
    elif len(names) == 1:
        say(
            f"More than one would leave too little for each, so the whole promise goes to {names[0]}, compared on "
            f"records held out with {SAME_FOR_ALL}."
        )
    else:
        say(f"Made and compared on records held out: {listed([*names, SAME_FOR_ALL])}.")
