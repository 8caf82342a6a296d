"""Kernels, each with its exact closed form: the truth that sketches estimate.

A kernel is a value: it says how close two points are, from 1 (the same) down to 0 (far apart), and knows nothing of
hashing or privacy. A kernel that is the collision probability of a hash family lets a table of counts stand for its
sums (`core.geometry.hash_families`, RACE); one that is an average of cosines lets sums of cosines and sines do so
(`core.geometry.frequencies`, random features). Several are both.
"""

from .composite import (
    KERNEL,
    KERNELS,
    MAX_PARTS,
    KernelKind,
    Mixture,
    Product,
    kernel_from_dict,
    of_coordinates,
    of_straight_lines,
)
from .kernel import (
    MAX_POWER,
    Angular,
    Bandwidth,
    Euclidean,
    Exponential,
    Gaussian,
    Jaccard,
    Kernel,
    Laplacian,
    Manhattan,
    Smooth,
    SmoothL1,
    SmoothSquared,
    Stationary,
    coordinate_bandwidths,
    stationary,
    stretched,
)

__all__ = [
    "KERNEL",
    "KERNELS",
    "MAX_PARTS",
    "MAX_POWER",
    "Angular",
    "Bandwidth",
    "Euclidean",
    "Exponential",
    "Gaussian",
    "Jaccard",
    "Kernel",
    "KernelKind",
    "Laplacian",
    "Manhattan",
    "Mixture",
    "Product",
    "Smooth",
    "SmoothL1",
    "SmoothSquared",
    "Stationary",
    "coordinate_bandwidths",
    "kernel_from_dict",
    "of_coordinates",
    "of_straight_lines",
    "stationary",
    "stretched",
]
