"""Count sketches (Charikar, Chen, Farach-Colton 2002) under local noise.

A value has a public sign in each row beside its cell, and cell and sign together are reported by an oracle over 2m
signed cells. The difference of a cell's two counts, times the sign of x, has mean f_x: others come with either sign
equally often. Frequent candidates are taken off first (`explaining`). With v and w as for `count_min`, and an oracle
whose estimates of two cells are as good as uncorrelated, the variance is

    2nv + (f_x + (n - f_x)/m) w + Σf_x'(1/m)(1 - 1/k) + Σf_x'²/(km).
"""

from __future__ import annotations

from dataclasses import dataclass

from .cells import CellSketch
from .sketch import ALIKE, collisions


@dataclass(frozen=True)
class CountSketch(CellSketch):
    """Cells are counted with signs."""

    name = "count-sketch"
    title = "count sketch"
    paper = "Charikar, Chen, Farach-Colton 2002"
    signed = True

    @property
    def reach(self) -> tuple[float, float]:
        down, up = self.inner.reach
        return down - up, up - down

    def line(self, people: float, alike: float = ALIKE) -> tuple[float, float]:
        noise, more = self.single
        chance = 1 / self.width
        nothing = people * (2 * noise + more / self.width) + collisions(people, alike, self.rows, chance)
        return nothing, more * (1 - 1 / self.width) - chance * (1 - 1 / self.rows)
