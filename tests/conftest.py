"""Shared by all tests: profiles of Hypothesis that give the same examples on every run."""

from hypothesis import settings

settings.register_profile("frostglass", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("frostglass")
