"""What screen readers are told by Streamlit's own parts, put right where it contradicts itself."""

from __future__ import annotations

import streamlit as st

ROLES = """
window.fgRoles ||= (() => {
  const beside = "#stFloatingOverlayPortal, [data-testid=portal]";
  const scrolled = "[class*=st-key-fg-side-], [data-testid=stCode] pre";
  let due = 0;
  const drop = "[data-testid=stFileUploaderDropzone][role=presentation]";
  const folding = ".st-key-fg-folding details", open = "[open]:not([data-folded])", folded = "[data-folded]";
  const mend = () => {
    document.querySelectorAll(drop).forEach(one => one.setAttribute("role", "group"));
    const over = document.querySelector("#stFloatingOverlayPortal:not([role])");
    over?.setAttribute("role", "region");
    over?.setAttribute("aria-label", "Help and lists that are open");
    const narrow = innerWidth < 769;
    document.querySelectorAll(folding + (narrow ? open : folded)).forEach(one => {
      one.toggleAttribute("data-folded", narrow);
      if (one.open === narrow) one.querySelector("summary").click();
    });
    due ||= requestAnimationFrame(look);
  };
  const look = () => {
    due = 0;
    const app = document.querySelector(".stApp"), scheme = app ? getComputedStyle(app).colorScheme : "";
    document.querySelectorAll(beside).forEach(one => one.style.colorScheme = scheme);
    document.querySelectorAll(scrolled).forEach(one => {
      if (one.scrollHeight <= one.clientHeight + 1 && one.scrollWidth <= one.clientWidth + 1) {
        return one.removeAttribute("tabindex");
      }
      one.tabIndex = 0;
      one.setAttribute("role", "group");
      one.setAttribute("aria-label", one.querySelector(".fg-mark")?.innerText ?? "Code");
    });
  };
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", mend);
  mend();
  return true;
})();
"""
"""A place to drop a file has a name and says that it has no meaning; it is a group: of a button and what it takes.
What opens over the page, such as help, lies in no part of it; it is one of its own, and as light or dark as the page.
The side of a page that is taller than the window, and code that is wider, can be scrolled by keys once they can be
come to. A narrow window folds what is chosen about a picture, once, so that the picture is in view; one that is made
wide, as a phone that is turned, has no line to click and shows it again."""


def mend_roles() -> None:
    """Watch for such parts in the browser; the script runs once there, however often a page does."""
    with st.container(key="fg-roles"):
        st.html(f"<script>{ROLES}</script>", unsafe_allow_javascript=True)
