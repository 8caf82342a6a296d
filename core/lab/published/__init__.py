"""Published mechanisms that the others are measured against: the same promise, built the way their papers say.

They are sketches like any other, so that a comparison is one of mechanisms and not of programs.
"""
