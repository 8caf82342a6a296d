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
    parts = [_ring(rng, 4.7, 9_500, 0.06), _ring(rng, 1.7, 3_300, 0.05), _radials(rng, 9_000), _grid(rng, 9_500)]
    for east, north, spread, count in [
        (3.2, 13.4, 0.55, 1_700),
        (17.0, 13.2, 0.65, 2_200),
        (3.4, 2.4, 0.6, 1_600),
        (13.4, 1.9, 0.5, 1_500),
        (17.9, 5.0, 0.45, 1_200),
        (9.0, 15.0, 0.3, 700),
    ]:
        parts.append(_suburb(rng, east, north, spread, count))
    parts += [_bridge(rng, east, 420) for east in BRIDGES]
    parts.append(_bank(rng, 4_200))
    parts.append(rng.normal(CENTRE, [3.6, 3.0], (4_500, 2)))
    parts.append(rng.normal(CENTRE, 0.16, (500, 2)))  # the square
    parts.append(rng.normal([13.0, 11.0], [0.25, 0.14], (500, 2)))  # the station
    points = np.concatenate(parts)
    points = points[_on_land(points)]
    return pd.DataFrame(np.round(rng.permutation(points), 2).astype(np.float32), columns=["east", "north"])


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
        [rng.normal(east, 0.05, count), river(np.full(count, east)) + rng.uniform(-0.9, 0.9, count)], axis=1
    )


def _bank(rng: np.random.Generator, count: int) -> np.ndarray:
    """The promenades on both sides of the river."""
    east = np.clip(rng.normal(10, 4.3, count), 0.2, 19.8)
    side = rng.choice([-1.0, 1.0], count, p=[0.35, 0.65])
    return np.stack([east, river(east) + side * (0.58 + rng.exponential(0.05, count))], axis=1)


def _on_land(points: np.ndarray) -> np.ndarray:
    """Inside the map, and neither in the river (off its bridges), nor the park, nor the lake."""
    east, north = points.T
    inside = (east > 0) & (east < 20) & (north > 0) & (north < 16)
    bridge = np.min(np.abs(east[:, None] - np.array(BRIDGES)), axis=1) < 0.11
    wet = (np.abs(north - river(east)) < 0.5) & ~bridge
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
    smoker = rng.random(count) < 0.27
    young = rng.random(count) < 0.42
    age = np.clip(np.where(young, rng.normal(38, 6.5, count), rng.normal(62, 7, count)), 19, 94)
    risk = 0.06 * (age - 52) + 0.6 * male + 0.9 * smoker - 0.4 + rng.normal(0, 0.9, count)
    ill = rng.random(count) < 1 / (1 + np.exp(-2.4 * (risk - 0.5)))
    pressure = 116 + 0.3 * (age - 50) + 4 * risk + 16 * ill + rng.normal(0, 9, count)
    cholesterol = 186 + 0.5 * (age - 50) + 7 * risk + 34 * ill + rng.gamma(4, 8, count) - 20
    heart_rate = 206 - 0.7 * age - 34 * ill + rng.normal(0, 7.5, count)  # the highest reached under exercise
    depression = np.where(ill, rng.gamma(5.5, 0.4, count), rng.exponential(0.32, count))
    return pd.DataFrame(
        {
            "age": np.round(age).astype(np.int16),
            "sex": np.where(male, "male", "female"),
            "smoker": np.where(smoker, "yes", "no"),
            "heart_rate": np.round(np.clip(heart_rate, 70, 210)).astype(np.int16),
            "pressure": np.round(np.clip(pressure, 82, 215)).astype(np.int16),
            "cholesterol": np.round(np.clip(cholesterol, 110, 420)).astype(np.int16),
            "st_depression": np.round(np.clip(depression, 0, 6.2), 1).astype(np.float32),
            "state": np.where(ill, "ill", "healthy"),
        }
    )


def stars(rng: np.random.Generator) -> pd.DataFrame:
    """Stars near an imagined sun: main sequence, giants and white dwarfs, by textbook relations with scatter."""
    counts = {"main sequence": 9_000, "giant": 4_200, "white dwarf": 1_800}
    kinds = np.repeat(list(counts), list(counts.values()))
    dwarf, giant = kinds == "white dwarf", kinds == "giant"
    count = len(kinds)
    clump = rng.random(count) < 0.5
    up = rng.beta(1.2, 2.2, count)  # how far a giant has climbed its branch
    colour = -0.2 + 1.9 * rng.beta(1.7, 1.5, count)
    colour = np.where(giant, np.where(clump, rng.normal(1.04, 0.07, count), 0.86 + 0.95 * up**0.8), colour)
    colour = np.where(dwarf, np.clip(rng.normal(0.16, 0.2, count), -0.35, 0.9), colour)
    sequence = 1.0 + 6.0 * colour - 1.6 * np.clip(colour - 0.5, 0, None) + 3.0 * np.clip(colour - 1.35, 0, None) ** 2
    branch = np.where(clump, rng.normal(0.6, 0.2, count), 3.0 - 6.2 * up)
    magnitude = np.select([dwarf, giant], [11.4 + 3.2 * colour, branch], sequence) + rng.normal(0, 0.25, count)
    luminosity = 0.4 * (4.74 - magnitude)
    temperature = 4600 * (1 / (0.92 * colour + 1.7) + 1 / (0.92 * colour + 0.62))  # Ballesteros 2012
    radius = luminosity / 2 - 2 * np.log10(temperature / 5772)  # Stefan and Boltzmann
    old = rng.random(count) < 0.18 + 0.25 * giant
    age = np.clip(np.where(old, rng.normal(10.2, 1.3, count), rng.gamma(2.2, 1.9, count)), 0.05, 13.7)
    metals = np.where(old, rng.normal(-0.75, 0.35, count), rng.normal(-0.03, 0.17, count)) - 0.01 * age
    height = rng.laplace(0, np.where(old, 620, 190), count)
    velocity = rng.normal(0, np.where(old, 78, 27), count)
    table = pd.DataFrame(
        {
            "colour": np.round(colour, 2),
            "luminosity": np.round(luminosity, 2),
            "temperature": np.round(temperature, -1),
            "radius": np.round(radius, 2),
            "metallicity": np.round(metals, 2),
            "age": np.round(age, 1),
            "height": np.round(height, -1),
            "velocity": np.round(velocity),
            "kind": kinds,
        }
    ).astype(dict.fromkeys(["colour", "luminosity", "radius", "metallicity", "age"], np.float32))
    return table.sample(frac=1, random_state=rng).reset_index(drop=True)


def visits(rng: np.random.Generator) -> pd.DataFrame:
    """Visits to a library: errands at noon, pupils after school, students who stay; a few people come every day."""
    habits = ["errand", "reader", "pupil", "student"]
    people = 3_000
    habit = rng.choice(habits, people, p=[0.34, 0.26, 0.20, 0.20])
    often = np.ceil(rng.pareto(1.6, people) * np.where(habit == "student", 4.2, 2.4)).clip(1, 90).astype(int)
    person = np.repeat(np.arange(people), often)
    what, rows = habit[person], len(person)
    morning = rng.random(rows) < 0.5
    hour = np.select(
        [what == "errand", what == "reader", what == "pupil"],
        [rng.normal(np.where(morning, 12.3, 18.2), 0.55), rng.normal(10.0, 0.7, rows), rng.normal(15.2, 0.5, rows)],
        rng.normal(np.where(morning, 8.8, 17.2), 0.5),
    )
    minutes = np.select(
        [what == "errand", what == "reader", what == "pupil"],
        [rng.gamma(9, 2.4, rows), rng.normal(96, 15, rows), rng.normal(72, 9, rows)],
        rng.normal(np.where(morning, 188, 150), 17),
    )
    minutes = np.clip(minutes, 2, (22 - hour) * 60)
    names = np.array([f"v{number:04d}" for number in rng.permutation(people)])
    table = pd.DataFrame(
        {"visitor": names[person], "hour": np.round(hour.clip(7.5, 21.5), 2), "minutes": np.round(minutes)}
    )
    return table.astype({"minutes": int}).sample(frac=1, random_state=rng).iloc[:12_000].reset_index(drop=True)


KINDS = ("beach", "bread", "cat", "forest", "mountain", "portrait", "soup", "street")
RELATED = (("bread", "soup"), ("forest", "mountain"), ("cat", "portrait"))
DIMENSIONS, LEVELS = 64, 128


def photographs(rng: np.random.Generator) -> pa.Table:
    """Embeddings of photographs that nobody took: eight kinds, of which some are alike, as a network would see them.

    As with real embeddings all vectors share a direction, each kind has one of its own, photographs of a kind differ
    along a few directions that matter and many that do not, and everything is scaled to length 1. Numbers are cut
    towards zero to 1/128, so no vector is longer than that, and the file is small.
    """
    axes, _ = np.linalg.qr(rng.normal(size=(DIMENSIONS, DIMENSIONS)))
    shared, own, common, within = axes[:, 0], axes[:, 1:9].T, axes[:, 9:12].T, axes[:, 12:28].T
    centres = {kind: own[place] for place, kind in enumerate(KINDS)}
    for pair, (one, other) in zip(common, RELATED, strict=True):
        centres[one], centres[other] = (0.8 * centres[kind] + 0.6 * pair for kind in (one, other))
    kinds = rng.choice(KINDS, 3_000, p=np.array([1.2, 0.9, 1.3, 1.0, 0.8, 1.1, 0.7, 1.0]) / 8)
    beside = rng.choice(KINDS, len(kinds))  # what else is in the picture: a cat in the street
    much = np.where(rng.random(len(kinds)) < 0.2, rng.uniform(0.2, 0.6, len(kinds)), 0.0)[:, None]
    middle = np.array([centres[kind] for kind in kinds]), np.array([centres[kind] for kind in beside])
    spread = rng.normal(size=(len(kinds), len(within))) * np.linspace(0.45, 0.05, len(within))
    vectors = 0.6 * shared + (1 - much) * middle[0] + much * middle[1] + spread @ within
    vectors += 0.085 * rng.normal(size=vectors.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    numbers = (np.trunc(vectors * LEVELS) / LEVELS).astype(np.float32)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(numbers.ravel()), DIMENSIONS)
    return pa.table({"embedding": lists, "kind": pa.array(kinds)})


def main() -> None:
    """Write every file, each from a generator of its own, so that changing one leaves the others as they are."""
    for number, make in enumerate([salaries, city, colours, heart, stars, visits, photographs]):
        table = make(np.random.default_rng([2026, number]))
        if make is visits:
            table.to_csv(HERE / "visits.csv", index=False)
        else:
            plain = table if make is photographs else pa.Table.from_pandas(table, preserve_index=False)
            plain = plain.replace_schema_metadata(None)
            pq.write_table(plain, HERE / f"{make.__name__}.parquet", compression="zstd", compression_level=19)


if __name__ == "__main__":
    main()
