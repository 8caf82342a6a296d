"""What an owner may say of the records beforehand, checked: how many there are, how far apart, and how close."""

from __future__ import annotations

from ...errors import RequestError


def checked_records(records: float | None) -> float:
    """A public number of records, at least so many as are said; RequestError when it is left out or out of range."""
    if records is None:
        raise RequestError(
            "How many records there are at least must be said (records=...), as errors and sizes follow from it; a "
            "number that anybody may know, not one that was counted."
        )
    if not 1 <= records <= 1e15:
        raise RequestError("The guess of the number of records must lie between 1 and 1e15.")
    return float(records)


def checked_density(density: float | None) -> None:
    """RequestError when a guess of the average closeness of records is out of range."""
    if density is not None and not 0.0 < density < 1.0:
        raise RequestError("The density level must lie strictly between 0 and 1: the average closeness of records.")


def checked_spread(spread: float) -> float:
    """A guess of a column's standard deviation as a share of its bounds; RequestError when it is out of range."""
    if not 0.001 <= spread <= 0.5:
        raise RequestError(
            "The spread of the records must lie between 0.001 and 0.5: a typical column's standard deviation as a "
            "share of its bounds, which cannot be more than half of them."
        )
    return float(spread)
