"""Home: what Frostglass is, and three doors into it."""

from core.ui.frame.navigation import HOME
from core.ui.surroundings import frame, hero, touring

with frame(HOME) as visitor:
    if not touring():
        hero()
        # What follows takes seconds to load for the first visitor of all, who has something to read meanwhile.
        from core.ui.home_page import below

        below(visitor)
    else:
        from core.ui.tour import tour

        tour(visitor)
