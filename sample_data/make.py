"""Make the sample data: python sample_data/make.py

Every record is drawn by the formulas below from a fixed seed; none is, or resembles, a real person. The public facts
(bounds, categories, who one person is) stand in catalogue.toml and were written from general knowledge, not read off
the data. Files change only when this script or NumPy's generators do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent


def salaries(rng: np.random.Generator) -> pd.DataFrame:
    """Monthly pay: a log-normal body with a long tail, sharp peaks at round numbers and at two legal limits."""
    body = rng.lognormal(np.log(3150), 0.42, 15_200)
    tail = 6500 * (1 + rng.pareto(2.6, 1_100))
    part_time = rng.normal(1150, 260, 1_300)
    pay = np.concatenate([body, tail, part_time])
    agreed = rng.random(len(pay))  # people agree on round numbers, and on rounder ones when they earn more
    step = np.select([agreed < 0.22, agreed < 0.36, agreed < 0.46], [500, 250, 100], 1)
    step = np.where((pay > 6000) & (agreed < 0.30), 1000, step)
    pay = np.round(pay / step) * step
    minimum_wage = np.round(2160 + rng.normal(0, 6, 1_300))
    mini_job = np.round(538 - rng.exponential(5, 1_100))
    everyone = np.concatenate([pay, minimum_wage, mini_job])
    return pd.DataFrame({"salary": rng.permutation(np.maximum(everyone, 80)).astype(np.int32)})


def river(x: np.ndarray) -> np.ndarray:
    """Northing of the river's middle at an easting, in km."""
    return 7.2 + 1.5 * np.sin(x / 3.1 + 0.6) + 0.35 * np.sin(x / 1.1)


BRIDGES = (5.2, 8.6, 10.1, 11.7, 15.4)
CENTRE = np.array([10.0, 9.6])


def city(rng: np.random.Generator) -> pd.DataFrame:
    """Where bicycles were left one evening: streets, a ring road, suburbs; a river with bridges, a park, a lake."""
    parts = [_ring(rng, 4.1, 4_600, 0.045), _ring(rng, 1.35, 2_100, 0.035), _radials(rng, 6_400), _grid(rng, 9_000)]
    for east, north, spread, count in [
        (3.4, 12.9, 0.55, 1_500),
        (16.6, 12.4, 0.65, 1_700),
        (4.1, 3.0, 0.6, 1_400),
        (12.9, 2.6, 0.5, 1_200),
        (17.6, 5.2, 0.45, 900),
        (8.3, 14.3, 0.4, 700),
    ]:
        parts.append(_suburb(rng, east, north, spread, count))
    parts += [_bridge(rng, east, 240) for east in BRIDGES]
    parts.append(_bank(rng, 2_600))
    parts.append(rng.normal(CENTRE, [2.9, 2.4], (1_900, 2)))
    parts.append(rng.normal([10.15, 9.75], 0.13, (900, 2)))  # the square
    parts.append(rng.normal([13.05, 10.9], [0.22, 0.1], (700, 2)))  # the station
    points = np.concatenate(parts)
    points = points[_on_land(points)]
    points = rng.permutation(points)[:30_000]
    return pd.DataFrame(np.round(points, 2).astype(np.float32), columns=["east", "north"])


def _ring(rng: np.random.Generator, radius: float, count: int, width: float) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, count)
    reach = radius * (1 + 0.06 * np.sin(3 * angle + 1)) + rng.normal(0, width, count)
    return CENTRE + np.stack([1.15 * reach * np.cos(angle), 0.95 * reach * np.sin(angle)], axis=1)


def _radials(rng: np.random.Generator, count: int) -> np.ndarray:
    """Roads out of town, which bend a little and thin out."""
    road = rng.integers(0, 9, count)
    along = rng.gamma(1.7, 2.3, count) + 0.4
    angle = 2 * np.pi * road / 9 + 0.3 + 0.10 * np.sin(along + road) + 0.02 * along * (-1.0) ** road
    middle = CENTRE + np.stack([1.15 * along * np.cos(angle), 0.95 * along * np.sin(angle)], axis=1)
    return middle + rng.normal(0, 0.045, (count, 2))


def _grid(rng: np.random.Generator, count: int) -> np.ndarray:
    """The centre's streets, turned by a quarter of a right angle, denser in the middle."""
    blocks = 0.46
    place = rng.normal(0, [1.9, 1.6], (count, 2))
    along_first = rng.random(count) < 0.5
    snapped = np.round(place / blocks) * blocks + rng.normal(0, 0.035, (count, 2))
    place = np.where(np.stack([along_first, ~along_first], axis=1), snapped, place)
    turn = np.pi / 8
    return CENTRE + place @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])


def _suburb(rng: np.random.Generator, east: float, north: float, spread: float, count: int) -> np.ndarray:
    place = rng.normal(0, spread, (count, 2))
    streets = np.round(place / 0.3) * 0.3 + rng.normal(0, 0.04, (count, 2))
    along_first = rng.random(count) < 0.5
    return np.array([east, north]) + np.where(np.stack([along_first, ~along_first], axis=1), streets, place)


def _bridge(rng: np.random.Generator, east: float, count: int) -> np.ndarray:
    return np.stack(
        [rng.normal(east, 0.04, count), river(np.full(count, east)) + rng.uniform(-0.9, 0.9, count)], axis=1
    )


def _bank(rng: np.random.Generator, count: int) -> np.ndarray:
    """The promenades on both sides of the river."""
    east = np.clip(rng.normal(10, 4.3, count), 0.2, 19.8)
    side = rng.choice([-1.0, 1.0], count, p=[0.35, 0.65])
    return np.stack([east, river(east) + side * (0.42 + rng.exponential(0.05, count))], axis=1)


def _on_land(points: np.ndarray) -> np.ndarray:
    """Inside the map, and neither in the river (off its bridges), nor the park, nor the lake."""
    east, north = points.T
    inside = (east > 0) & (east < 20) & (north > 0) & (north < 16)
    bridge = np.min(np.abs(east[:, None] - np.array(BRIDGES)), axis=1) < 0.11
    wet = (np.abs(north - river(east)) < 0.36) & ~bridge
    park = ((east - 7.3) / 0.95) ** 2 + ((north - 11.2) / 0.6) ** 2 < 1
    lake = ((east - 14.3) / 1.2) ** 2 + ((north - 13.9) / 0.7) ** 2 < 1
    return inside & ~wet & ~park & ~lake


def colours(rng: np.random.Generator) -> pd.DataFrame:
    """Pixels of an imagined evening at the sea: each thing in it is a line from its shade to its light."""
    things = [  # dark end, bright end, spread across the line, pixels
        ((36, 60, 128), (142, 190, 236), 5, 4_200),  # sky
        ((150, 62, 84), (255, 196, 120), 7, 3_300),  # sunset
        ((8, 44, 66), (64, 168, 176), 6, 3_700),  # sea
        ((104, 78, 52), (240, 216, 170), 6, 3_300),  # sand
        ((16, 38, 20), (124, 170, 74), 7, 2_400),  # pines
        ((62, 40, 34), (214, 158, 128), 6, 1_300),  # driftwood
        ((208, 212, 222), (255, 253, 246), 4, 1_100),  # foam
        ((150, 18, 34), (232, 48, 52), 4, 700),  # a red boat
    ]
    pixels = []
    for dark, bright, spread, count in things:
        light = rng.beta(2.2, 1.6, count)[:, None]
        pixels.append(np.array(dark) * (1 - light) + np.array(bright) * light + rng.normal(0, spread, (count, 3)))
    rgb = rng.permutation(np.clip(np.round(np.concatenate(pixels)), 0, 255).astype(np.uint8))
    return pd.DataFrame(rgb, columns=["red", "green", "blue"])


def heart(rng: np.random.Generator) -> pd.DataFrame:
    """Check-ups of invented patients: a hidden risk drives the measurements, and the disease follows the risk."""
    count = 6_000
    male = rng.random(count) < 0.54
    age = np.clip(np.where(rng.random(count) < 0.7, rng.normal(58, 9, count), rng.normal(41, 8, count)), 22, 92)
    risk = 0.055 * (age - 52) + 0.7 * male + rng.normal(0, 1.3, count)
    ill = rng.random(count) < 1 / (1 + np.exp(-1.9 * (risk - 0.55)))
    pressure = 118 + 0.33 * (age - 50) + 4.5 * risk + 7 * ill + rng.normal(0, 11, count)
    cholesterol = 196 + 0.5 * (age - 50) + 9 * risk + 16 * ill + rng.gamma(4, 9, count) - 20
    heart_rate = 206 - 0.72 * age - 17 * ill - 3 * risk + rng.normal(0, 11, count)
    depression = np.where(ill, rng.gamma(2.6, 0.62, count), rng.exponential(0.32, count))
    pains = np.array(["none", "atypical", "typical", "other"])
    odds = np.where(ill[:, None], [0.52, 0.10, 0.26, 0.12], [0.14, 0.34, 0.12, 0.40])
    pain = pains[(rng.random(count)[:, None] > odds.cumsum(axis=1)).sum(axis=1).clip(0, 3)]
    return pd.DataFrame(
        {
            "age": np.round(age).astype(np.int16),
            "sex": np.where(male, "male", "female"),
            "chest_pain": pain,
            "pressure": np.round(np.clip(pressure, 82, 215)).astype(np.int16),
            "cholesterol": np.round(np.clip(cholesterol, 110, 420)).astype(np.int16),
            "heart_rate": np.round(np.clip(heart_rate, 70, 215)).astype(np.int16),
            "st_depression": np.round(np.clip(depression, 0, 6.2), 1).astype(np.float32),
            "disease": np.where(ill, "yes", "no"),
        }
    )


def stars(rng: np.random.Generator) -> pd.DataFrame:
    """Stars near an imagined sun: main sequence, giants and white dwarfs, by textbook relations with scatter."""
    counts = {"main sequence": 10_800, "giant": 3_000, "white dwarf": 1_200}
    kinds = np.repeat(list(counts), list(counts.values()))
    dwarf, giant = kinds == "white dwarf", kinds == "giant"
    count = len(kinds)
    colour = -0.3 + 2.3 * rng.beta(2.6, 2.6, count)
    clump = rng.random(count) < 0.55
    colour = np.where(giant, np.where(clump, rng.normal(1.02, 0.06, count), 0.95 + rng.gamma(2.2, 0.19, count)), colour)
    colour = np.where(dwarf, np.clip(rng.normal(0.22, 0.24, count), -0.35, 1.2), colour)
    sequence = 1.1 + 6.2 * colour - 2.2 * np.clip(colour - 0.55, 0, None) + 3.2 * np.clip(colour - 1.35, 0, None) ** 2
    branch = np.where(clump, rng.normal(0.85, 0.22, count), 3.4 - 3.1 * (colour - 0.85))
    magnitude = np.select([dwarf, giant], [11.3 + 3.0 * colour, branch], sequence) + rng.normal(0, 0.28, count)
    temperature = 4600 * (1 / (0.92 * colour + 1.7) + 1 / (0.92 * colour + 0.62))  # Ballesteros 2012
    luminosity = 0.4 * (4.7 - magnitude)
    radius = luminosity / 2 - 2 * np.log10(temperature / 5772)
    old = rng.random(count) < 0.18 + 0.25 * giant
    age = np.clip(np.where(old, rng.normal(10.2, 1.3, count), rng.gamma(2.2, 1.9, count)), 0.05, 13.7)
    metals = np.where(old, rng.normal(-0.75, 0.35, count), rng.normal(-0.03, 0.17, count)) - 0.01 * age
    height = rng.laplace(0, np.where(old, 620, 190), count)
    velocity = rng.normal(0, np.where(old, 78, 27), count)
    table = pd.DataFrame(
        {
            "colour": np.round(colour, 2),
            "magnitude": np.round(magnitude, 1),
            "temperature": np.round(temperature, -1),
            "log_radius": np.round(radius, 2),
            "metallicity": np.round(metals, 2),
            "age": np.round(age, 1),
            "height": np.round(height, -1),
            "velocity": np.round(velocity),
            "kind": kinds,
        }
    ).astype(dict.fromkeys(["colour", "magnitude", "log_radius", "metallicity", "age"], np.float32))
    return table.sample(frac=1, random_state=rng).reset_index(drop=True)


def visits(rng: np.random.Generator) -> pd.DataFrame:
    """Visits to a library: errands at noon, pupils after school, students who stay; a few people come every day."""
    habits = ["errand", "reader", "pupil", "student"]
    people = 2_700
    habit = rng.choice(habits, people, p=[0.42, 0.27, 0.18, 0.13])
    often = np.ceil(rng.pareto(1.6, people) * np.where(habit == "student", 4.2, 2.0)).clip(1, 90).astype(int)
    person = np.repeat(np.arange(people), often)
    what, rows = habit[person], len(person)
    lunch = rng.random(rows) < 0.55
    hour = np.select(
        [what == "errand", what == "reader", what == "pupil"],
        [
            np.where(lunch, rng.normal(12.4, 0.5, rows), rng.normal(17.3, 0.8, rows)),
            rng.normal(10.2, 0.7, rows),
            rng.normal(14.6, 0.45, rows),
        ],
        np.where(lunch, rng.normal(9.3, 0.4, rows), rng.normal(18.6, 0.7, rows)),
    )
    minutes = np.select(
        [what == "errand", what == "reader", what == "pupil"],
        [rng.gamma(4, 2.6, rows), rng.normal(75, 22, rows), rng.normal(48, 11, rows)],
        rng.normal(168, 34, rows) - 8 * (hour - 9),
    )
    minutes = np.clip(minutes, 2, (21.9 - hour) * 60)
    names = np.array([f"v{number:04d}" for number in rng.permutation(people)])
    table = pd.DataFrame(
        {"visitor": names[person], "hour": np.round(hour.clip(7.5, 21.5), 2), "minutes": np.round(minutes)}
    )
    return table.astype({"minutes": int}).sample(frac=1, random_state=rng).iloc[:10_000].reset_index(drop=True)


def main() -> None:
    """Write every file, each from a generator of its own, so that changing one leaves the others as they are."""
    for number, make in enumerate([salaries, city, colours, heart, stars, visits]):
        table = make(np.random.default_rng([2026, number]))
        if make is visits:
            table.to_csv(HERE / "visits.csv", index=False)
        else:
            plain = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
            pq.write_table(plain, HERE / f"{make.__name__}.parquet", compression="zstd", compression_level=19)


if __name__ == "__main__":
    main()
