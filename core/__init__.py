"""Frostglass: see the shape, not the people.

A linear sketch turns private records into one small table of integers; noise is added once; from then on anyone may ask
the released file anything, at no further cost in privacy.
"""
