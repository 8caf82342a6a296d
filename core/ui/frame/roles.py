"""What screen readers are told by Streamlit's own parts, put right where it contradicts itself."""

from __future__ import annotations

import streamlit as st

ROLES = """
window.fgRoles ||= (() => {
  let due = 0;
  const drop = "[data-testid=stFileUploaderDropzone][role=presentation]";
  const mend = () => {
    document.querySelectorAll(drop).forEach(one => one.setAttribute("role", "group"));
    const over = document.querySelector("#stFloatingOverlayPortal:not([role])");
    over?.setAttribute("role", "region");
    over?.setAttribute("aria-label", "Help and lists that are open");
    due ||= requestAnimationFrame(sides);
  };
  const sides = () => {
    due = 0;
    document.querySelectorAll("[class*=st-key-fg-side-]").forEach(side => {
      if (side.scrollHeight <= side.clientHeight + 1) return side.removeAttribute("tabindex");
      side.tabIndex = 0;
      side.setAttribute("role", "group");
      side.setAttribute("aria-label", side.querySelector(".fg-mark")?.innerText ?? "Beside the page");
    });
  };
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", mend);
  mend();
  return true;
})();
"""
"""A place to drop a file has a name and says that it has no meaning; it is a group: of a button and what it takes. What
opens over the page, such as help, lies in no part of it; it is one of its own. The side of a page that is taller than
the window can be scrolled by keys once it can be come to."""


def mend_roles() -> None:
    """Watch for such parts in the browser; the script runs once there, however often a page does."""
    with st.container(key="fg-roles"):
        st.html(f"<script>{ROLES}</script>", unsafe_allow_javascript=True)
