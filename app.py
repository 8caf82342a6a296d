"""Home: what Frostglass is, and three doors into it."""

from core.ui.frame.frame import HOME, frame
from core.ui.home.beginning import hero, touring

with frame(HOME) as visitor:
    if not touring():
        hero()
        # What follows takes seconds to load for the first visitor of all, who has something to read meanwhile.
        from core.ui.home.page import below

        below(visitor)
    else:
        from core.ui.home.tour import tour

        tour(visitor)
