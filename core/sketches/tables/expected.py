"""How exact the answers of some tables will be, all together: the sum that the best weights make least."""

from __future__ import annotations

import math

from .optimum import parts_of
from .reading import Noise


def mean_variance(noise: Noise, single: float = 1.0) -> float:
    """The sum over all tables and margins of the mean variance of their cells; see `optimum`.

    Parameters
    ----------
    noise : Noise
        Of what was measured.
    single : float
        What the table of a single column counts, where a table of several counts 1.
    """
    layout = noise.layout
    spread = [float(noise.axis_spread(place).mean()) for place in range(len(layout.axes))]
    total = 0.0
    for (which, level), part in parts_of(layout, single).items():
        if level:
            size = layout.axes[which[0]].fine // (layout.axes[which[0]].cells << (level - 1))
            total += part.variance * noise.halving_variance(which[0], level) / size
        else:
            factor = part.variance / part.square
            total += factor * noise.variances[which] * math.prod(spread[i] for i in which)
    return total
