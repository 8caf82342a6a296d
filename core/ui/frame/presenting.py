"""Presenting on a projector: large type, no side bar, and arrow keys or a clicker that go from lesson to lesson."""

from __future__ import annotations

import streamlit as st

from .markup import draw

PRESENT = "present"
"""Key of the switch, and its name in the address."""
KEYS = """
window.fgPresenting ||= addEventListener("keydown", event => {
  if (!document.querySelector(".fg-presenting") || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") return document.querySelector(".st-key-present-end button")?.click();
  if (event.target.closest("input, textarea, select, [role=slider], [role=radio], [role=combobox], [role=tab]")) return;
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  const lessons = [...document.querySelectorAll(".st-key-lesson button")];
  const here = lessons.findIndex(one => one.matches("[data-selected], [aria-checked=true]"));
  if (!step || here < 0) return;
  event.preventDefault();
  lessons[here + step]?.click();
  document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
}) || true;
"""
"""A clicker sends PageDown and PageUp. Whoever is in a field or on a slider moves that; Escape ends it all."""


def offer_presenting() -> None:
    """The switch; its address begins a presentation on any page, ``?present=true``."""
    st.toggle(
        "Present",
        key=PRESENT,
        bind="query-params",
        persist_state="session",
        help="Large type, no side bar. On Learn the arrow keys or a clicker go from lesson to lesson. Escape ends it.",
    )


def presentation() -> None:
    """While it lasts: the mark that the style sheet looks for, the keys, and a button that ends it."""
    if not st.session_state.get(PRESENT):
        return
    draw('<i class="fg-presenting"></i>')
    st.html(f"<script>{KEYS}</script>", unsafe_allow_javascript=True)
    st.button("End presentation", key="present-end", type="tertiary", on_click=_end)


def _end() -> None:
    st.session_state[PRESENT] = False
