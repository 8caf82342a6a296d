"""A made-up class, to see how close a poll comes: chance decides who says what, and it is no secret afterwards."""

from __future__ import annotations

import numpy as np


def class_of(students: int, answers: int) -> list[int]:
    """How many of so many made-up students give each answer: shares drawn at random, then students by these shares."""
    chance = np.random.default_rng()
    return [int(count) for count in chance.multinomial(students, chance.dirichlet(np.ones(answers)))]
