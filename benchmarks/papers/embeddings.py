"""Figures 2 to 4 of the ICLR 2024 paper: projections before kernel sums, and classification by the nearest mean."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from .. import nearest_mean, projected_kernels
from ..tables import Sheet
from ..words import duration
from .pictures import Claim, Picture, Section, lines_figure, of_repetitions
from .work import DONE, Record, Settings, Work

PROJECTION, MEAN = "projection", "nearest-mean"
MEMORY = 3 << 30
EMBEDDINGS = "clip_food10"
TRIALS = 30
"""About so many trials are one piece of work here."""
DRAWS = 5
"""Of projections, frequencies and noise; every one is asked hundreds of questions."""


def projection_first(settings: Settings) -> list[Work]:
    """One piece of work a data set."""
    names = ("digits",) if settings.quick else tuple(_projected_sets(settings.data))
    return [Work(PROJECTION, name, "features", None, "1", "1e-6", 0, False, settings.quick) for name in names]


def projection_measure(work: Work, settings: Settings) -> dict:
    """Errors and times against the projected dimension."""
    draws = min(settings.repetitions, DRAWS)
    rows = projected_kernels.measure(_projected_sets(settings.data)[work.data], draws)
    return {"rows": [asdict(row) for row in rows]}


def _projected_sets(folder: Path | None) -> dict[str, projected_kernels.Data]:
    files = (None, None) if folder is None else (folder / f"{EMBEDDINGS}.parquet", folder / "mnist.parquet")
    found = projected_kernels.data_sets(*files)
    return dict(zip((one.name.split(",")[0].split()[0].lower() for one in found), found, strict=True))


def projection_section(settings: Settings, records: list[Record]) -> Section:
    """Error, time to build and time to ask, against the dimensions that are left."""
    panels: dict[str, dict[str, list]] = {"error": {}, "seconds to build": {}, "seconds a question": {}}
    sheets, claims = [], []
    for record in (one for one in records if one.outcome == DONE):
        rows = record.found["rows"]
        whole = next(row for row in rows if row["projection"] == "none")
        for kind in ("fast", "gaussian"):
            own = [row for row in rows if row["projection"] == kind] + [whole]
            for title, column in zip(panels, ("error", "build_seconds", "query_seconds"), strict=True):
                found = {row["dimensions"]: [row[column]] for row in own}
                key = f"{record.work.data}, {kind}"
                panels[title][key] = of_repetitions(key, key, found)
        sheets.append(_projection_sheet(record.work.data, rows))
        claims.append(_projection_claim(record.work.data, rows, whole))
    names = dict.fromkeys(key for lines in panels.values() for key in lines)
    pictures = [
        Picture(
            f"{title[:1].upper()}{title[1:]} against the dimensions that are left; the last one is no projection.",
            lines_figure({"": list(lines.values())}, {key: key for key in names}, "dimensions", title, percent=False),
        )
        for title, lines in panels.items()
        if lines
    ]
    return Section(
        "A projection before a kernel sum",
        "Efficiently Computing Similarities (ICLR 2024), figure 2",
        (
            "Gaussian kernel sums of one class by random features at (1, 1e-6), with and without a random projection "
            "before them. The paper uses Inception embeddings of CIFAR-10; here are those that the folder of data has, "
            "and scikit-learn's digits.",
        ),
        tuple(claims),
        tuple(pictures),
        tuple(sheets),
    )


def _projection_claim(name: str, rows: list[dict], whole: dict) -> Claim:
    half = min(
        (row for row in rows if row["projection"] == "fast"),
        key=lambda row: abs(row["dimensions"] * 4 - whole["dimensions"]),
    )
    gain = whole["build_seconds"] / half["build_seconds"]
    more = half["error"] - whole["error"]
    return Claim(
        f"Projecting costs little accuracy and saves time ({name}).",
        more < 0.05 and gain > 1,
        f"From {whole['dimensions']:,} to {half['dimensions']:,} dimensions the error goes from {whole['error']:.2%} "
        f"to {half['error']:.2%}, and building takes 1/{gain:.1f} of the time.",
    )


def _projection_sheet(name: str, rows: list[dict]) -> Sheet:
    heads = ("projection", "dimensions", "error without noise", "error", "to build", "a question")
    cells = tuple(
        (
            row["projection"],
            f"{row['dimensions']:,}",
            f"{row['error_without_noise']:.2%}",
            f"{row['error']:.2%}",
            duration(row["build_seconds"]),
            duration(row["query_seconds"]),
        )
        for row in rows
    )
    return Sheet(f"Projection: {name}", heads, cells)


def mean_first(settings: Settings) -> list[Work]:
    """One piece of work: all promises and all draws take seconds."""
    name = EMBEDDINGS if _embeddings_file(settings.data) is not None and not settings.quick else "digits"
    return [Work(MEAN, name, "nearest-mean", None, "1", "1e-6", 0, False, settings.quick)]


def mean_measure(work: Work, settings: Settings) -> dict:
    """Accuracy at every promise, and times."""
    file = _embeddings_file(settings.data)
    data = nearest_mean.digits() if work.data == "digits" or file is None else nearest_mean.embeddings(file)
    rows = list(nearest_mean.run(data, max(2, settings.repetitions)))
    return {"rows": rows, "reference": data.reference}


def _embeddings_file(folder: Path | None) -> Path | None:
    path = None if folder is None else folder / f"{EMBEDDINGS}.parquet"
    return path if path is not None and path.is_file() else None


def mean_section(settings: Settings, records: list[Record]) -> Section:
    """Accuracy against ε by every way to a nearest mean."""
    pictures, sheets, claims = [], [], []
    for record in (one for one in records if one.outcome == DONE):
        rows, reference = record.found["rows"], record.found["reference"]
        panels = {}
        for delta, title in ((0.0, "pure ε"), (1e-6, "(ε, 1e-6)")):
            ways = dict.fromkeys(row["way"] for row in rows)
            panels[title] = [
                of_repetitions(
                    way,
                    way,
                    {row["epsilon"]: _around(row) for row in rows if (row["way"], row["delta"]) == (way, delta)},
                )
                for way in ways
            ]
            panels[title].append(
                of_repetitions(
                    "reference", "nearest mean, not private", {row["epsilon"]: [reference] for row in rows}, dashed=True
                )
            )
        names = {row["way"]: row["way"] for row in rows}
        figure = lines_figure(panels, names, "ε", "accuracy", log_y=False)
        pictures.append(Picture(f"{record.work.data}: accuracy; bands are the mean ± 1.3 standard errors.", figure))
        claims.append(_mean_claim(record.work.data, rows, reference))
        sheets.append(_mean_sheet(record.work.data, rows))
    return Section(
        "Classification by the nearest mean",
        "Efficiently Computing Similarities (ICLR 2024), figures 3 and 4",
        (
            "A noisy mean of every class; a place belongs to the nearest. The paper's rivals are deep networks trained "
            "with noisy gradients on a graphics processor for hours; they are not run here. Its data are embeddings of "
            "CIFAR-10; here are those of ten kinds of food where the folder of data has them, else handwritten digits.",
        ),
        tuple(claims),
        tuple(pictures),
        tuple(sheets),
    )


def _around(row: dict) -> list[float]:
    """Two values whose mean and band are those of the row."""
    off = 1.3 * row["standard_error"]
    return [row["accuracy"] - off, row["accuracy"] + off]


def _mean_claim(name: str, rows: list[dict], reference: float) -> Claim:
    best = max((row for row in rows if row["epsilon"] == 1.0), key=lambda row: row["accuracy"])
    return Claim(
        f"Private class means come close to those without privacy, and are made in milliseconds ({name}).",
        best["accuracy"] > reference - 0.02 and best["build_seconds"] < 1.0,
        f"At ε = 1 the best way, {best['way']} under δ = {best['delta']:g}, has {best['accuracy']:.1%} against "
        f"{reference:.1%} without privacy, and is made in {duration(best['build_seconds'])}.",
    )


def _mean_sheet(name: str, rows: list[dict]) -> Sheet:
    heads = ("promise", "way", "accuracy", "± s.e.", "to build", "a question")
    cells = tuple(
        (
            f"ε = {row['epsilon']:g}" + (f", δ = {row['delta']:g}" if row["delta"] else ""),
            row["way"],
            f"{row['accuracy']:.2%}",
            f"{row['standard_error']:.2%}",
            duration(row["build_seconds"]),
            duration(row["query_seconds"]),
        )
        for row in rows
    )
    return Sheet(f"Nearest mean: {name}", heads, cells)
