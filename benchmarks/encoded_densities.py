"""Closeness in many columns behind an encoder that a declared public sample teaches, beside none, at equal ε.

    python -m benchmarks.encoded_densities [FOLDER]

Made-up points near a plane in 8, 32 and 128 columns, scikit-learn's digits, and, from Parquet files in FOLDER, MNIST
in squares of four by four pixels and CLIP embeddings of ten dishes. The kernel is Gaussian with half the median
distance of the public points; at most 5,000 are private. Without an encoder random waves of the size that the forecast
chooses, the only ones of ours for this kernel in so many columns; behind one what `recommend_encoder` proposes, asked
whatever it would have to beat. Errors are of sums in all columns, at places of their own, in shares of the mean sum;
without δ means of three releases; and what was forecast.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_digits

from core import Budget, Closeness, Domain, Features, kernels, recommend_encoder, release
from core.domain.numeric import Vector

PUBLIC, PLACES, MOST = 500, 100, 5_000
DRAWS = {
    "0.000001": 1,
    "0": 3,
}  # Releases that a figure is the mean of, by δ: with one, tables are large and noise is small.


def near_a_plane(width: int, records: int = 20_000) -> np.ndarray:
    """Three groups along two directions, in [-1, 1], and a twentieth of that in all others."""
    random = np.random.default_rng(width)
    centres = np.array([[0.5, 0.0], [-0.4, 0.4], [-0.2, -0.5]])
    plane = centres[random.integers(3, size=records)] + 0.12 * random.normal(size=(records, 2))
    directions = np.linalg.qr(random.normal(size=(width, 2)))[0]
    return plane @ directions.T + 0.05 * random.normal(size=(records, width)) / np.sqrt(width)


def sets(folder: Path | None) -> Iterator[tuple[str, np.ndarray, float, float]]:
    """Name, points in random order, and the public bounds of their numbers."""
    for width in (8, 32, 128):
        yield f"near a plane, {width} columns", np.clip(near_a_plane(width), -1, 1), -1.0, 1.0
    random = np.random.default_rng(0)
    yield "digits, 64", random.permutation(load_digits().data / 16), 0.0, 1.0
    if folder is None:
        return
    images = pd.read_parquet(folder / "mnist.parquet", columns=["image"]).image
    pixels = np.frombuffer(b"".join(images), np.uint8).reshape(len(images), 7, 4, 7, 4) / 255
    yield "MNIST, 49", random.permutation(pixels.mean(axis=(2, 4)).reshape(len(images), -1)), 0.0, 1.0
    food = pd.read_parquet(folder / "clip_food10.parquet").filter(regex=r"^e\d").to_numpy(float)
    yield "dishes, 512", random.permutation(food), -1.0, 1.0


def main(folder: Path | None) -> None:
    """Print the errors, without and behind, at (1, 1e-6) and at ε = 1."""
    for name, points, low, high in sets(folder):
        public, places, own = np.split(points[: PUBLIC + PLACES + MOST], [PUBLIC, PUBLIC + PLACES])
        kernel = kernels.Gaussian(float(np.median(pdist(public))) / 2)
        exact = np.exp(-(cdist(places, own) ** 2) / (2 * kernel.bandwidth**2)).sum(axis=1)
        domain = Domain((Vector("x", points.shape[1], low, high),))
        print(f"{name}: {len(own):,} records, mean sum {exact.mean():,.0f}", flush=True)
        for budget in (Budget(1, "1e-6"), Budget(1)):
            known = domain, len(own), budget, Closeness(kernel), {"x": list(public)}
            behind = recommend_encoder(*known, otherwise=float(len(own)))
            for sketch in (Features(domain, kernel), *(() if behind is None else (behind.sketch,))):
                made = [
                    release(sketch, {"x": list(own)}, budget, records=len(own))
                    for _ in range(DRAWS[f"{budget.delta:f}"])
                ]
                errors = [np.abs(one.estimate({"x": list(places)}) - exact).mean() for one in made]
                foretold = behind.outlook.standard_error if behind is not None and sketch is behind.sketch else np.nan
                said = f"{np.mean(errors) / exact.mean():.4f} (forecast {foretold / exact.mean():.4f})"
                print(f"  {budget}: {sketch.name} in {sketch.domain.columns[0].width} {said}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
