"""What the lessons of the app compute: small experiments on made-up records, one lesson a file.

Sketches, noise and releases are the real ones; only the source of randomness is seeded, so that a class sees what the
teacher saw, and a release made so says that it is not private. `floating_point` alone draws noise of its own, to show
what is wrong with it; nothing below this package can reach it.
"""
