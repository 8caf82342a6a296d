"""Approve: releases above the limit wait here for the yes of somebody else than their owner."""

from core.ui.approve_page import waiting
from core.ui.frame.navigation import APPROVE
from core.ui.surroundings import frame

with frame(APPROVE):
    waiting()
