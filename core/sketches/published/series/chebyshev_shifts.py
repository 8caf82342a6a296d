"""How far a replaced record moves sums of products of cosines: the largest differences, with proofs.

Let u_r = cos(r_1 a_1) ... cos(r_d a_d) for r in {0, ..., t-1}^d, v_r the same for angles b, and
K(s) = 1 + cos s + ... + cos (t-1) s. A product of cosines is the mean, over signs e of the coordinates, of cos(r.ea).
With A = (a + b)/2 and B = (a - b)/2,

    |u_r - v_r| <= mean over e of 2 |sin(r.eA) sin(r.eB)|.

*L1.* By Cauchy and Schwarz, over r and e together, the sum over r is at most 2 sqrt(S(A) S(B)) for
S(A) = mean over e of the sum over r of sin^2(r.eA) = (t^d - K(2 A_1) ... K(2 A_d)) / 2. So it is at most
max over s of t^d - K(s_1) ... K(s_d) = t^d - t^(d-1) min K, as |K| <= t. Angles a = s, b = 0 reach it, where every
v_r is 1.

*L2.* The mean of squares is no less than the square of the mean, so likewise the sum of (u_r - v_r)^2 is at most
max over s of the mean over e of the sum over r of (1 - cos(r.es))^2, which is

    (3/2) t^d - 2 K(s_1) ... K(s_d) + (1/2) K(2 s_1) ... K(2 s_d).

It is linear in each pair (K(s_j), K(2 s_j)) by itself, so its maximum lies at extreme points of the curve of these
pairs: few, which are all tried together. Where only one s_j differs from 0 the bound is the sum itself with b = 0, so
it is reached whenever the maximum lies there.

Both are computed on a grid of 64 t steps. At the best place the gradient is zero, so the nearest grid place falls short
of it by at most half the largest second derivative times the square of half a step.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial import ConvexHull

STEPS_AN_ORDER = 64


def largest_l1_shift(orders: int, dimensions: int) -> float:
    """The largest sum over r of |u_r - v_r|, from above; 0 for a single order."""
    least = float(_kernel(_grid(orders), orders).min())
    slack = 0.5 * float((np.arange(orders) ** 2).sum()) * _half_step(orders) ** 2
    return float(orders ** (dimensions - 1)) * (orders - least + slack)


def largest_l2_shift(orders: int, dimensions: int) -> float:
    """The largest sum over r of (u_r - v_r)^2, from above; 0 for a single order."""
    if orders == 1:
        return 0.0
    grid = _grid(orders)
    curve = np.stack([_kernel(grid, orders), _kernel(2.0 * grid, orders)], axis=1)
    products = extreme = _extreme(curve)
    for _ in range(dimensions - 1):
        products = _extreme((products[:, None] * extreme).reshape(-1, 2))
    largest = float((-2.0 * products[:, 0] + 0.5 * products[:, 1]).max())
    # The second derivative of (1 - cos s)^2 lies between -4 and 2.25.
    lengths = np.indices((orders,) * dimensions).sum(axis=0).astype(np.float64)
    slack = 0.5 * 4.0 * float((lengths**2).sum()) * _half_step(orders) ** 2
    return 1.5 * float(orders**dimensions) + largest + slack


def _extreme(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of points in the plane."""
    return points[ConvexHull(points).vertices]


def _grid(orders: int) -> np.ndarray:
    return np.linspace(0.0, math.pi, STEPS_AN_ORDER * orders + 1)


def _half_step(orders: int) -> float:
    return 0.5 * math.pi / (STEPS_AN_ORDER * orders)


def _kernel(angles: np.ndarray, orders: int) -> np.ndarray:
    """K at angles, by Dirichlet's formula; t at whole turns."""
    sines = np.sin(0.5 * angles)
    whole = np.abs(sines) < 1e-9
    return np.where(whole, orders, 0.5 + np.sin((orders - 0.5) * angles) / (2.0 * np.where(whole, 1.0, sines)))
