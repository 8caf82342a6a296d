"""Local reports: answers are randomised where they are given. Ask a class, be one person, be the collector."""

from core.ui.frame.marks import choose_one
from core.ui.frame.navigation import LOCAL
from core.ui.local_page import collector_view, person_view, poll_view
from core.ui.surroundings import frame

VIEWS = {"Be one person": person_view, "Be the collector": collector_view, "Ask a class": poll_view}

with frame(LOCAL):
    view = choose_one("View", list(VIEWS), "local-view", "Be one person", linked=True, silent=True)
    VIEWS[view]()
