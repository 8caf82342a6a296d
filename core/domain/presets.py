"""Bounds that anyone knows without looking at data: what an age, a percentage or a week can be."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """Public facts about a kind of number, and where they come from.

    Attributes
    ----------
    low, high, unit, step : float, float, str, float
        As of a column of numbers.
    because : str
        Why anyone's value lies there, to be said wherever the facts are filled in.
    names : tuple[str, ...]
        Names that columns of the kind commonly have, in words separated by underscores.
    """

    low: float
    high: float
    unit: str
    step: float
    because: str
    names: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, object]:
        """The facts as a declaration states them."""
        facts: dict[str, object] = {"low": self.low, "high": self.high}
        return facts | ({"unit": self.unit} if self.unit else {}) | ({"step": self.step} if self.step else {})


PRESETS = {
    "age": Preset(0, 120, "years", 1, "hardly anyone was ever older than 120", ("age", "alter", "age_years")),
    "percent": Preset(0, 100, "%", 0, "a percentage of a whole", ("percent", "percentage", "pct")),
    "share": Preset(0, 1, "", 0, "a part of a whole", ("share", "proportion", "fraction")),
    "year": Preset(1900, 2100, "", 1, "years that records of people speak of", ("year", "jahr", "annee")),
    "birth_year": Preset(1900, 2030, "", 1, "nobody born before 1900 lives", ("birth_year", "year_of_birth", "yob")),
    "pay": Preset(
        0,
        200_000,
        "a year",
        0,
        "few earn more than 200,000 a year in dollars or euros; higher pay is moved to that",
        ("pay", "salary", "income", "wage", "earnings"),
    ),
    "hours_per_week": Preset(
        0, 168, "hours", 1, "a week has 168 hours", ("hours_per_week", "hoursperweek", "weekly_hours")
    ),
    "hours_per_day": Preset(
        0, 24, "hours", 0, "a day has 24 hours", ("hours_per_day", "hours_of_sleep", "sleep_hours")
    ),
    "height_cm": Preset(30, 250, "cm", 0, "from newborn to the tallest people", ("height_cm", "height", "body_height")),
    "weight_kg": Preset(0, 300, "kg", 0, "nearly everyone weighs less than 300 kg", ("weight_kg", "body_weight")),
    "body_mass_index": Preset(10, 80, "kg/m²", 0, "what people survive", ("bmi", "body_mass_index")),
    "blood_pressure": Preset(
        30, 300, "mmHg", 1, "what is ever measured", ("blood_pressure", "sbp", "dbp", "systolic", "diastolic")
    ),
    "heart_rate": Preset(20, 250, "a minute", 1, "what is ever measured", ("heart_rate", "pulse", "heartrate")),
    "body_temperature": Preset(25, 45, "°C", 0, "what people survive", ("body_temperature",)),
    "air_temperature": Preset(-60, 60, "°C", 0, "what people live in", ("air_temperature",)),
    "household_size": Preset(1, 20, "people", 1, "nearly all households", ("household_size", "hh_size")),
    "children": Preset(0, 20, "", 1, "nearly all parents", ("children", "n_children", "kids", "num_children")),
    "school_years": Preset(0, 30, "years", 1, "nearly everyone", ("school_years", "years_of_schooling")),
    "score_0_10": Preset(0, 10, "", 0, "the ends of the scale", ("nps", "score_0_10")),
    "stars": Preset(1, 5, "stars", 0, "the ends of the scale", ("stars", "star_rating")),
    "month_number": Preset(1, 12, "", 1, "a year has twelve months", ("month_number",)),
}
LATITUDES, LONGITUDES = ("latitude", "lat", "y_lat"), ("longitude", "lon", "lng", "long", "x_lon")
"""Names that the two columns of a place commonly have."""
CODED = ("sex", "gender", "geschlecht", "sexe", "race", "region", "country", "marital_status", "zip", "postcode")
"""Names of columns whose numbers commonly are codes, and count nothing."""
DATED = ("date", "day", "datum", "birthday", "dob", "timestamp")
"""Words in the names of columns that commonly hold dates."""


def tidy_name(name: str) -> str:
    """A name in lower case, its words separated by underscores: "HoursPerWeek" and "hours-per.week" alike."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")


def kind_for(name: str) -> str | None:
    """What columns of this name commonly hold: "number", "category", "date", "latitude" or "longitude"; or None."""
    tidy = tidy_name(name)
    if tidy in LATITUDES or tidy in LONGITUDES:
        return "latitude" if tidy in LATITUDES else "longitude"
    if preset_for(name) is not None:
        return "number"
    if tidy in CODED:
        return "category"
    return "date" if set(tidy.split("_")) & set(DATED) else None


def preset_for(name: str) -> str | None:
    """The preset that columns of this name commonly follow, or None."""
    tidy = tidy_name(name)
    return next((key for key, preset in PRESETS.items() if tidy == key or tidy in preset.names), None)


def preset_sentence(name: str, preset: str) -> str:
    """Where bounds came from that a preset filled in."""
    known = PRESETS[preset]
    unit = f" {known.unit}" if known.unit else ""
    return f"{name}: {known.low:,g} to {known.high:,g}{unit} by common knowledge, as {known.because}."
