"""What a shared page shows of a file: its populations one by one, each decoded by the page or worked out beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri

from ...local.released import LocalAnswers
from ...models.linear_model import LinearModel
from ...models.number_model import NumberModel
from ...releases.release import Release
from ...sketches.classes import Classes
from ..distances import distance_unit
from ..report.words import counted
from .counts import local_facts, table_facts
from .files import PublicFile
from .grids import grid_facts
from .lattices import LEVEL, lattice_facts
from .models import model_facts, number_facts, regression_facts

MOST_SUBJECTS = 40
"""Questions and groups that a page shows."""
EVERYONE = "everyone together"


@dataclass(frozen=True)
class Subject:
    """One population that a file answers for.

    Attributes
    ----------
    name : str
        Question and group in words; "" where the file has one of them.
    release : Release
        Of this population alone.
    member : str
        The array of the file that holds its counters.
    slabs : tuple[int, ...]
        Which classes of it are added up; none where it holds no classes.
    """

    name: str
    release: Release
    member: str
    slabs: tuple[int, ...] = ()


def contents(file: PublicFile) -> list[dict[str, Any]]:
    """Everything that a page shows, as values for JSON.

    Parameters
    ----------
    file : PublicFile
        Any release or model.
    """
    if isinstance(file, LinearModel):
        return [{"name": "", **model_facts(file)}]
    if isinstance(file, NumberModel):
        return [{"name": "", **number_facts(file)}]
    if isinstance(file, LocalAnswers):
        people = {"counted": "people", "records": float(file.people), "reach": float(ndtri(0.5 + LEVEL / 2.0))}
        return [{"name": "", **people, **local_facts(file)}]
    found = subjects(file)[:MOST_SUBJECTS]
    return [facts for one in found if (facts := _facts(one, 1.0 / len(found)))]


def subjects(release: Release) -> list[Subject]:
    """The populations of a release: of every question each group, and all of them together."""
    each = [(name, part, f"table_{place}") for place, (name, part) in enumerate(release.parts.items(), start=1)] or [
        ("", release, "table")
    ]
    return [subject for name, part, member in each for subject in _groups(name, part, member)]


def _groups(name: str, release: Release, member: str) -> list[Subject]:
    if not isinstance(release.sketch, Classes):
        return [Subject(name, release, member)]
    classes = release.sketch.categories
    each = [Subject(_named(name, one), release.of_class(one), member, (place,)) for place, one in enumerate(classes)]
    everyone = Subject(_named(name, EVERYONE), release.of_everyone(), member, tuple(range(len(classes))))
    return [everyone, *each]


def _named(*names: str) -> str:
    return " · ".join(name for name in names if name)


def _facts(subject: Subject, share: float) -> dict[str, Any] | None:
    """One population; None where there is nothing to draw."""
    release = subject.release
    found = regression_facts(release) or table_facts(release) or grid_facts(release) or lattice_facts(release, share)
    if found is None:
        return None
    distance = release.sketch.answers == "distance"
    facts = {
        "name": subject.name,
        "member": subject.member,
        "slabs": list(subject.slabs),
        "counted": counted(release.domain),
        "records": release.records,
        "error": release.records_error if math.isfinite(release.records_error) else 0.0,
        "reach": float(ndtri(0.5 + LEVEL / 2.0)),
        "answers": "count" if found.get("counts") else release.sketch.answers,
        "unit": distance_unit(release.sketch) if distance else "",
    }
    return facts | found
