"""Mechanisms side by side, on public data: error, time and size of each, ours and every published rival.

Errors are measured against the truth here, which is only ever done to data that is public. Noise is seeded, so that
whoever repeats a comparison gets the same curves; nothing made here calls itself private.
"""
