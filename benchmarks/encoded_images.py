"""Pictures told apart behind encoders that a declared public sample teaches, beside none, and beside that sample alone.

    python -m benchmarks.encoded_images [FOLDER]

MNIST and CLIP embeddings of ten dishes from Parquet files in FOLDER, and scikit-learn's digits. Of the training
pictures some are public, with their classes; the others make nearest mean directions under ε = 1. Means of three
releases.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from core import Domain, PrivateCentroidClassifier
from core.domain.learned_encoders import learned_encoder

KINDS = (("pca", 32), ("pca", 16), ("whiten", 16), ("lda", None))


def pictures(folder: Path | None):
    """Name, pictures and classes to train on, in a random order, and to test on, how many are public, and radius."""
    random = np.random.default_rng(0)
    x, y = load_digits(return_X_y=True)
    order = random.permutation(len(x))
    x, y = x[order] / 16, y[order]
    yield "digits", x[:1297], y[:1297], x[1297:], y[1297:], 300, 16.0
    for name, public, radius in (("clip_food10", 400, 1.0), ("mnist", 5_000, 16.0)) if folder else ():
        frame = pd.read_parquet(folder / f"{name}.parquet")
        y, trains = frame.label.to_numpy(), frame.split.astype(str).to_numpy() == "train"
        if name == "mnist":
            x = np.frombuffer(b"".join(frame.image), np.uint8).reshape(len(frame), -1) / 255.0
        else:
            x = frame.filter(regex=r"^e\d").to_numpy(float)
        order = random.permutation(int(trains.sum()))
        yield name, x[trains][order], y[trains][order], x[~trains], y[~trains], public, radius


def main(folder: Path | None) -> None:
    """Print how many are told right, at (1, 1e-6) and at ε = 1."""
    for name, x, y, asked, right, public, radius in pictures(folder):
        alone = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(x[:public], y[:public])
        print(f"{name}: the public sample alone {alone.score(asked, right):.3f}")
        for kind, dimensions in ((None, None), *KINDS):
            own, places, length = x[public:], asked, radius
            if kind is not None:
                encoder = learned_encoder(x[:public], kind, dimensions, label=y[:public] if kind == "lda" else None)
                domain = Domain((encoder,))
                own, places = (domain.encode_queries({"x": list(one)}, "l2") for one in (own, asked))
                length = 1.0
            told = []
            for delta in (1e-6, 0):
                facts = {"metric": "cosine", "radius": length, "bounds": (-1, 1), "classes": sorted(set(y.tolist()))}
                fitted = [PrivateCentroidClassifier(epsilon=1, delta=delta, **facts) for _ in range(3)]
                told.append(np.mean([one.fit(own, y[public:]).score(places, right) for one in fitted]))
            print(f"  {kind or 'none'} {own.shape[1]}: {told[0]:.3f} {told[1]:.3f}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
