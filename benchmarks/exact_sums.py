"""Kernel sums of a million records without privacy: random records until an error is kept, beside trees and all.

    python -m benchmarks.exact_sums

Made-up groups in 3 and 32 columns, a Gaussian kernel with half the median distance, 50 questions. Seconds are of the
processor, with what a tree takes to be made apart; errors are the largest, in shares of the number of records.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from KDEpy import TreeKDE
from scipy.spatial.distance import pdist
from sklearn.neighbors import KernelDensity

from core.geometry.kernels import Gaussian
from core.lab.comparison_trials import kernel_sums

RECORDS, ASKED = 1_000_000, 50
ERRORS = 0.05, 0.01


def main() -> None:
    """Print seconds and errors."""
    for width in (3, 32):
        random = np.random.default_rng(width)
        points = random.normal(size=(8, width))[random.integers(8, size=RECORDS)] + random.normal(
            scale=0.5, size=(RECORDS, width)
        )
        queries, bandwidth = points[:ASKED], float(np.median(pdist(points[:1_000]))) / 2
        start = process_time()
        exact = kernel_sums(Gaussian(bandwidth), queries, points) / RECORDS
        print(f"{width} columns, mean {exact.mean():.3f}; exact {process_time() - start:.2f} s", flush=True)
        for error in ERRORS:
            start = process_time()
            found = kernel_sums(Gaussian(bandwidth), queries, points, error) / RECORDS
            took = process_time() - start
            print(f"  random records, {error}: {took:.2f} s, off by {np.abs(found - exact).max():.4f}", flush=True)
        if width > 3:
            continue
        height = (2.0 * np.pi) ** (width / 2) * bandwidth**width
        for error in ERRORS:
            start = process_time()
            tree = KernelDensity(bandwidth=bandwidth, atol=error / height, rtol=0).fit(points)
            made = process_time() - start
            start = process_time()
            found = height * np.exp(tree.score_samples(queries))
            took = process_time() - start
            print(
                f"  KDTree, {error}: {took:.2f} s and {made:.2f} for the tree, off by {np.abs(found - exact).max():.4f}"
            )
        start = process_time()
        found = height * TreeKDE(bw=bandwidth).fit(points).evaluate(queries)
        print(f"  KDEpy TreeKDE: {process_time() - start:.2f} s, off by {np.abs(found - exact).max():.4f}", flush=True)


if __name__ == "__main__":
    main()
