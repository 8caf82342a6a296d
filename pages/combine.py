"""Combine: several owners make one release of their records by files that go from one to another."""

from core.ui.combine_plan import write_plan_view
from core.ui.combine_steps import put_together_view, take_part_view
from core.ui.frame.marks import choose_one
from core.ui.frame.navigation import COMBINE
from core.ui.surroundings import frame

VIEWS = {"Take part": take_part_view, "Write the plan": write_plan_view, "Put shares together": put_together_view}

with frame(COMBINE) as visitor:
    view = choose_one("View", list(VIEWS), "combine-view", "Take part", linked=True, silent=True)
    VIEWS[view](visitor)
